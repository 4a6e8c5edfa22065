"""A small floor for the table side's tests, and a table played by its rules alone."""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final, Literal, TypeVar, cast

import msgspec
from msgspec.structs import replace

from bonus.rounds import Line, Outcome
from bonus.wagers import PaidFrom
from controllers.panel.settlement_view import held_views
from controllers.table.device_events import (
    DeviceAnswer,
    DeviceRefusal,
    name_in,
    parse_event,
    refused,
)
from controllers.table.open_settlements import due_lines, line_state, open_lines
from controllers.table.replies import absorb, reconcile
from controllers.table.state import Layout, PlacedWager, SettledRound, TableState
from controllers.table.transitions import SentStep, Stamp, play
from controllers.table.win_decisions import hear_win
from meters.floor.floor_file import Link, Table, parse_floor
from meters.wire.messages import (
    ClaimOpened,
    DrawMade,
    ErrorDetail,
    Jackpot,
    MoneyEvent,
    Reply,
    Result,
    Void,
    WagerCorrection,
    Wagers,
)
from tests.floor_text import METERS, floor_text, link_text, meter_text, table_text

Sent = TypeVar("Sent", bound=MoneyEvent)

FLOOR: Final = floor_text(
    link_text(
        "one",
        *(meter_text(kind) for kind in METERS[:-1]),
        meter_text("five_card_hand_bonus", 200),
        table_text("T-1", *METERS, asset="1"),
        table_text("T-2", "progressive", asset="2", positions=5),
        table_text("T-3", asset="3", game="four_card_prime", positions=6),
        name="One Dollar",
    )
)


def link_and_table(table_id: str = "T-1") -> tuple[Link, Table]:
    found = parse_floor(FLOOR).find_table(table_id)
    assert found is not None
    return found


def refusal_code(answer: DeviceAnswer) -> str | None:
    return None if answer.ok else getattr(answer.error, "code", "")


class HandTable:
    """A table without agent or service: device events go through the rules alone.

    Events for the service are collected in `sent`. Each is accepted immediately unless `replies`
    has another reply.
    """

    def __init__(self, table_id: str = "T-1", layout: Layout | None = None) -> None:
        self.layout = layout or Layout.of(*link_and_table(table_id))
        self.state = TableState()
        self.seq = 0
        self.sent: list[MoneyEvent] = []
        self.replies: list[Reply] = []
        self.fault: DeviceRefusal | None = None
        self.answer = DeviceAnswer(event=None, ok=False)

    def say(self, event: str, **fields: object) -> DeviceAnswer:
        return self.say_line(msgspec.json.encode({"event": event, **fields}))

    def say_line(self, line: bytes) -> DeviceAnswer:
        stamp = Stamp(self.seq + 1, datetime(2026, 11, 20, 2, 14, 7, tzinfo=UTC))
        try:
            step = play(self.layout, self.state, parse_event(line), stamp, self.fault)
        except DeviceRefusal as refusal:
            return refused(name_in(line), refusal)
        if isinstance(step, SentStep):
            self.seq += 1
            self.sent.append(step.send)
            reply = self.replies.pop(0) if self.replies else accepted(self.seq)
            step = absorb(self.layout, step.state, step.send, replace(reply, seq=self.seq))
        self.state = step.state
        return step.answer

    def say_all(self, text: str) -> DeviceAnswer:
        """Send several device events in short form, such as ``wager 3 progressive; lockout``."""
        self.play(text)
        return self.answer

    def say_short(self, text: str) -> DeviceAnswer:
        return self.say_line(line_of(text))

    def refusal(self, text: str) -> str | None:
        return refusal_code(self.say_short(text))

    def last(self, kind: type[Sent]) -> Sent:
        sent = self.sent[-1]
        assert isinstance(sent, kind)
        return sent

    def play(self, story: str) -> None:
        """Play a story. Its steps are lines, or parts of a line with `;` between them.

        ``hand 3 As Ks Qs``: a device event, which must be accepted.
        ``hand 3 As Ks -> wrong_cards``: one that must be refused, with its code. If the table
        refuses it, nothing is sent and nothing changes, except that a wrong count is visible.
        ``phase: dealt``: a fact of the table, one of `FACTS`.
        ``service refuses CODE``, ``service pays LINE + LINE`` and ``service draws CARD POSITION``:
        the reply to the next event that is sent. A line is ``3 progressive hand_pay C1`` or, if
        another position's hand brings it, ``5 progressive_envy table_inventory of=3``.
        ``service knows R41``: the open round in the reply to a hello.
        ``fault link_down``: why no new wager is accepted now, or ``fault none``.
        ``C1 validated``: the service's message about a win; about an Envy Bonus it names the
        position and the item: ``C1-envy paid 5 progressive_envy``. With ``-> same`` it must change
        nothing.
        """
        for step in steps_of(story):
            self._step(step)
            kept = msgspec.json.decode(msgspec.json.encode(self.state), type=TableState)
            assert kept == self.state, f"{step}: a restarted agent would have another state"

    def _step(self, step: str) -> None:
        fact, is_fact, value = step.partition(": ")
        words = step.split()
        if words[0] == "service":
            self.prepare(words[1], words[2:])
        elif is_fact:
            found = written(FACTS[fact](self))
            assert found == value.strip(), f"{step}, but it was: {found}"
        elif words[0] == "fault":
            self.fault = None if words[1] == "none" else DeviceRefusal(words[1], "of this test")
        elif {*words[1:2]} & {"hit", "validated", "rejected", "paid"}:
            before, heard = self.state, step.removesuffix(" -> same")
            self.hear(*heard.split())
            assert heard == step or self.state == before, f"{step}, but it changed something"
        else:
            self._say_step(step)

    def _say_step(self, step: str) -> None:
        text, _, code = step.partition(" -> ")
        state, sent = self.state, len(self.sent)
        self.answer = self.say_short(text)
        found = refusal_code(self.answer)
        assert found == (code or None), (step, self.answer)
        if code and sent == len(self.sent) and code != "chips_differ":
            assert self.state == state, f"{step}: it was refused and changed something"
            assert isinstance(self.answer.error, ErrorDetail)
            assert self.answer.error.message

    def prepare(self, what: str, words: list[str]) -> None:
        match what:
            case "knows":
                self.state = reconcile(self.state, None if words[0] == "none" else words[0])
            case "refuses":
                error = ErrorDetail(code=words[0], message=" ".join(words[1:]) or "not like this")
                self.replies.append(Reply(seq=0, status="refused", error=error))
            case "holds":
                error = ErrorDetail(code="held", message="the table is held")
                claims = tuple(_claim(claim, 3, "progressive") for claim in words)
                self.replies.append(Reply(seq=0, status="refused", claims=claims, error=error))
            case "draws":
                card, lucky = (None if word == "none" else word for word in words)
                draw = DrawMade(magic_card=card, lucky_position=_position(lucky))
                self.replies.append(Reply(seq=0, status="accepted", draw=draw))
            case "pays":
                lines, claims = paid_lines(" ".join(words))
                self.replies.append(accepted(0, lines, claims))
            case _:
                raise ValueError(f"no service {what}")

    def hear(self, claim: str, *words: str) -> None:
        self.state = hear_win(self.layout, self.state, published_win(claim, *words))

    @property
    def settlement(self) -> SettledRound:
        """The settlement that the panel shows: the last one, or else the only one that waits."""
        here = [each for each in (self.state.settled, *self.state.waiting) if each is not None]
        found = [each for each in here if each.claims] or here
        assert len(found) == 1, "the panel shows no settlement, or several"
        return found[0]


def steps_of(story: str) -> list[str]:
    return [step.strip() for step in story.replace("\n", ";").split(";") if step.strip()]


def _positions(table: HandTable) -> Iterator[str]:
    sent = table.sent[-1]
    if isinstance(sent, Result):
        for dealt in sent.positions:
            ends = ["folded"] * dealt.folded + ["no_win"] * (dealt.no_win is True)
            yield " ".join([str(dealt.position), *(dealt.cards or ()), *ends])
    elif isinstance(sent, Wagers | WagerCorrection):
        for placed in sent.positions:
            wagers = (f"{wager} {cents}" for wager, cents in placed.wagers.items())
            yield " ".join([str(placed.position), *wagers])


def _entered(table: HandTable) -> Iterator[str]:
    """Yield the cards that the last event reports besides those of the round's result."""
    sent = table.sent[-1]
    found = sent.entered if isinstance(sent, Void) else table.last(Result).entered_before
    for each in found or ():
        at = [str(each.position)] if each.position is not None else []
        ends = ["no_win"] * each.no_win + ["taken back"] * each.taken_back + [each.reason or ""]
        yield " ".join([each.what, *at, *each.cards, *ends]).strip()


def _lit(wagers: Iterable[PlacedWager]) -> list[str]:
    return [f"{placed.position} {placed.wager}" for placed in wagers]


def written(value: object) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str):
        value = ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None or value == "" else str(value)


FACTS: Final[Mapping[str, Callable[[HandTable], object]]] = {
    "phase": lambda table: table.state.phase,
    "round": lambda table: table.state.round,
    "differs": lambda table: table.state.differs,
    "lit": lambda table: _lit(table.state.wagers),
    "last wagers": lambda table: _lit(table.state.last_wagers),
    "returned": lambda table: table.state.returned and _lit(table.state.returned.wagers),
    "returned because": lambda table: table.state.returned and table.state.returned.reason,
    "returned by a void": lambda table: table.state.returned and table.state.returned.void,
    "why": lambda table: table.state.reason,
    "refusal": lambda table: (
        table.state.refusal and f"{table.state.refusal.event} {table.state.refusal.message}"
    ),
    "asks": lambda table: table.state.asking and table.state.asking.event,
    "draw": lambda table: table.state.draw and table.state.draw.magic_card,
    "joined": lambda table: table.state.joined,
    "hands": lambda table: [f"{h.position} {' '.join(h.cards)}" for h in table.state.hands],
    "folded": lambda table: table.state.folded,
    "collected": lambda table: table.state.collected,
    "no win": lambda table: table.state.no_win,
    "held": lambda table: table.state.held,
    "held view": lambda table: [
        f"{each.claim} {each.position} {each.item} {each.amount}" + " validated" * each.validated
        for each in held_views(table.layout, table.state)
    ],
    "claims wait": lambda table: any(one.undecided for one in table.state.shown),
    "waiting": lambda table: [f"{w.round} {len(w.undecided)}" for w in table.state.waiting],
    "open": lambda table: [
        " ".join(map(str, (each.round, *open_lines(each)))) for each in table.state.waiting
    ],
    "lines": lambda table: _states(table.settlement),
    "last lines": lambda table: table.state.last_settled and _states(table.state.last_settled),
    "due": lambda table: due_lines(table.settlement),
    "done": lambda table: table.settlement.done,
    "settled": lambda table: table.state.settled and table.state.settled.round,
    "last settled": lambda table: table.state.last_settled and table.state.last_settled.round,
    "decided": lambda table: [f"{each.claim} {each.event}" for each in table.settlement.decided],
    "sent": lambda table: [f"{type(e).__name__} {e.round} {e.seq}" for e in table.sent],
    "positions": _positions,
    "patrons": lambda table: [
        f"{at.position} {at.patron}"
        for at in cast("Wagers | Result | WagerCorrection", table.sent[-1]).positions
    ],
    "dealer": lambda table: " ".join(table.last(Result).dealer),
    "community": lambda table: " ".join(table.last(Result).community or ()),
    "reported": _entered,
    "light": lambda table: table.answer.light,
    "chips": lambda table: table.answer.chips,
    "declared": lambda table: table.answer.positions,
    "says": lambda table: cast("ErrorDetail", table.answer.error).message,
    "answer held": lambda table: table.answer.held,
}
"""Facts of a table that a story can state; lists have commas, and nothing is ``none``."""


def jackpot(claim: str, event: str, **fields: object) -> Jackpot:
    """Return the service's message about a win: of the Progressive at position 3 of table T-1."""
    usual = {
        "event": event, "claim": claim, "meter": "progressive", "table": "T-1", "position": 3,
        "item": "progressive", "hand": "mini_royal_spades", "amount": 5000,
        "meter_after": 100_000, "at": "2026-11-20T02:14:07Z",
    }  # fmt: skip
    return msgspec.convert(usual | fields, Jackpot)


def published_win(claim: str, event: str, *words: str) -> Jackpot:
    """Return a message about a win from a story: ``C1 paid``, or ``C1 paid 5 progressive_envy``."""
    named = dict(word.split("=") for word in words if "=" in word)
    plain = [word for word in words if "=" not in word]
    fields = dict(zip(("position", "item", "hand"), plain, strict=False))
    at = {"position": int(fields["position"])} if plain else {}
    return jackpot(claim, event, **named | fields | at)


def _position(word: str | None) -> int | Literal["dealer"] | None:
    return "dealer" if word == "dealer" else None if word is None else int(word)


def _states(settled: SettledRound) -> list[str]:
    return [line_state(settled, number) for number in range(len(settled.lines))]


def _claim(claim: str, position: int, item: str) -> ClaimOpened:
    return ClaimOpened(claim=claim, position=position, item=item, amount=5000)


def paid_lines(text: str) -> tuple[tuple[Line, ...], tuple[ClaimOpened, ...]]:
    """Return the lines and claims of a settlement: see `HandTable.play`."""
    lines, claims = [], []
    for part in text.split(" + "):
        position, item, paid_from, *more = part.split()
        line = Line(
            position=int(position), item=item, outcome=Outcome.PAID, wagered=100, paid=5000,
            returned=0, paid_from=PaidFrom(paid_from), rule="649a.12(e)(1)",
        )  # fmt: skip
        for word in more:
            if word.startswith("of="):
                line = replace(line, envy_of=int(word.removeprefix("of=")))
            else:
                claims.append(_claim(word, int(position), item))
        lines.append(line)
    return tuple(lines), tuple(claims)


_SHORT: Final[Mapping[str, str]] = {
    "wager": "position wager amount", "withdraw": "position wager",
    "correct_wager": "action position wager", "hand": "position cards", "dealer": "cards",
    "community": "cards", "fold": "position", "no_win": "position", "same_player": "position",
    "chips": "count", "void": "reason", "done": "round", "retract": "what position",
}  # fmt: skip
"""Fields of the device events in short form, in the order of their words."""
_USUAL: Final[Mapping[str, Mapping[str, object]]] = {
    "correct_wager": {"reason": "light without a chip"},
    "void": {"reason": "misdeal"},
    "same_player": {"same": True},
}


def line_of(text: str) -> bytes:
    """Return a device event in short form as a line; ``name=value`` adds a field, or changes it."""
    name, *words = (word for word in text.split() if "=" not in word)
    fields = {"event": name, **_USUAL.get(name, {})}
    for place, field in enumerate(_SHORT.get(name, "").split()):
        if field == "cards":
            fields[field] = words[place:]
        elif place < len(words):
            numeric = field in {"position", "amount", "count"}
            fields[field] = int(words[place]) if numeric else words[place]
    if name == "wager":
        fields.setdefault("amount", 200 if "hand" in words[1] else 100)
    for word in text.split():
        field, found, value = word.partition("=")
        if found:
            with contextlib.suppress(ValueError):
                value = json.loads(value)
            fields[field] = value
    return msgspec.json.encode(fields)


def accepted(seq: int, lines: tuple[Line, ...] = (), claims: tuple[ClaimOpened, ...] = ()) -> Reply:
    return Reply(seq=seq, status="accepted", lines=lines, claims=claims)
