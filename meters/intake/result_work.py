"""A settled round put as work for the script: the reply, what is due, and the claims it opens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from bonus.settling.lines import METER_OF_ITEM, Due, Item, Line
from meters.books.steps import DueStep
from meters.known import KnownTable
from meters.wire.messages import ClaimOpened, DrawMade, Result, Wagers

_ALWAYS_VALIDATED: Final = frozenset(
    {Item.PROGRESSIVE, Item.FIVE_CARD_PROGRESSIVE, Item.FIVE_OF_SIX_PROGRESSIVE}
)
_HAND_BONUS: Final = frozenset({Item.FIVE_CARD_HAND_BONUS, Item.FIVE_CARD_HAND_BONUS_DEALER})
_HAND_BONUS_VERIFIED_ODDS: Final = 500
"""649a.11(c)(8)(ii): a floorperson verifies a payout of 500 for 1."""


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round whose wagers were accepted and that has no result yet; `fed` are its meters."""

    basis: int
    wagers: Wagers
    draw: DrawMade | None
    fed: tuple[str, ...]


class AcceptedWagers(msgspec.Struct, frozen=True):
    """What a position had wagered at lock-out, in cents by wager: evidence for a floorperson."""

    position: int
    patron: str | None
    wagers: dict[str, int]


class OwedEnvy(msgspec.Struct, frozen=True):
    """An Envy Bonus that a win brings to another position; the amount in cents."""

    position: int
    patron: str | None
    item: str
    amount: int


class ClaimRecord(msgspec.Struct, frozen=True):
    """What a floorperson needs to know of a win; `claim` names it for ever.

    `turn` is its turn among the `turns` of its round that wait for a floorperson.
    """

    claim: str
    link: str
    meter: str
    table: str
    asset: str
    position: int
    patron: str | None
    item: str
    hand: str
    cards: tuple[str, ...]
    dealer: tuple[str, ...]
    community: tuple[str, ...]
    percent: int | None
    paid_from: str
    rule: str
    wagered: int
    round: str
    turn: int
    turns: int
    wagers: tuple[AcceptedWagers, ...]
    envy: tuple[OwedEnvy, ...]


@dataclass(frozen=True, slots=True)
class OpenedClaim:
    """A claim that a result opens, and the due it is for (from 0)."""

    record: ClaimRecord
    due: int


class Records:
    """Writes the records of a result's wins that wait, each in its turn.

    Args:
        event: the result.
        wagers: the round's.
        settled: all lines of its settlement.
        waiting: those that wait for a floorperson.
        link: the link's id.
        table: the table's id.
        asset: the number by which the facility knows it.
        meter_of: gives the id of the meter that an item is paid from.
    """

    def __init__(
        self,
        event: Result,
        wagers: Wagers,
        settled: Sequence[Line],
        waiting: Sequence[Line],
        *,
        link: str,
        table: str,
        asset: str,
        meter_of: Callable[[str], str],
    ) -> None:
        self._link, self._table, self._asset = link, table, asset
        self._meter_of = meter_of
        self._event = event
        self._settled = settled
        self._turns = len(waiting)
        self._claimed = {(line.position, METER_OF_ITEM[line.item]) for line in waiting}
        self._wagers = tuple(
            AcceptedWagers(bet.position, bet.patron, bet.wagers) for bet in wagers.positions
        )
        self._hands = {dealt.position: dealt for dealt in event.positions}
        self._patrons = {bet.position: bet.patron for bet in wagers.positions}
        self._opened: list[int] = []

    def record(self, line: Line) -> ClaimRecord:
        """The record of the next win that waits."""
        event = self._event
        hand = self._hands[line.position]
        turn = len(self._opened) + 1
        made = ClaimRecord(
            # The link is in it: a table that moves to another link begins its numbers anew.
            claim=f"{self._link}.{self._table}-{event.seq}-{turn}",
            link=self._link,
            meter=self._meter_of(line.item),
            table=self._table,
            asset=self._asset,
            position=line.position,
            patron=self._patron(line.position),
            item=line.item,
            hand=line.hand or "",
            cards=tuple(hand.cards or ()),
            dealer=tuple(event.dealer),
            community=tuple(event.community or ()),
            percent=line.percent,
            paid_from=line.paid_from or "",
            rule=line.rule or "",
            wagered=line.wagered,
            round=event.round,
            turn=turn,
            turns=self._turns,
            wagers=self._wagers,
            envy=tuple(
                OwedEnvy(owed.position, self._patron(owed.position), owed.item, owed.paid)
                for owed in self._settled
                if owed.envy_of == line.position and self._hangs_on(owed, line)
            ),
        )
        self._opened.append(line.position)
        return made

    def _hangs_on(self, envy: Line, win: Line) -> bool:
        """Whether a floorperson who looks at a win decides on an Envy Bonus for its hand as well.

        The holder of a hand need not have wagered on its meter (reading T10): an Envy Bonus that no
        win of the same meter brings hangs on the first win of the hand that waits.
        """
        kind = METER_OF_ITEM[envy.item]
        if (win.position, kind) in self._claimed:
            return METER_OF_ITEM[win.item] is kind
        return win.position not in self._opened

    def _patron(self, position: int) -> str | None:
        return self._patrons.get(position) or self._hands[position].patron


class ResultWriter:
    """Puts the dues of a settlement as steps, and the reply with gaps where shares will stand."""

    def __init__(
        self, known: KnownTable, event: Result, opened: OpenRound, settled: Sequence[Due]
    ) -> None:
        self._known = known
        self._event = event
        self._records = Records(
            event,
            opened.wagers,
            [due.line for due in settled],
            [due.line for due in settled if self._pays(due) and self._waits(due)],
            link=known.link,
            table=known.table.id,
            asset=known.table.asset,
            meter_of=self._meter_id,
        )
        self._lines: list[str | int] = []
        self._opened: list[str | int] = []
        self.dues: list[DueStep] = []
        self.claims: list[OpenedClaim] = []

    @staticmethod
    def _pays(due: Due) -> bool:
        return due.line.paid > 0 or due.take is not None

    def put(self, due: Due) -> None:
        """Add one line of the settlement, and what is due by it."""
        line = due.line
        text = msgspec.json.encode(line).decode()
        if not self._pays(due):
            self._lines += [",", text]
            return
        record = self._records.record(line) if self._waits(due) else None
        self.dues.append(
            DueStep(
                take=0 if due.take is None else due.take + 1,
                fixed_cents=line.paid,
                meter=self._meter_id(line.item),
                claim_key=1 if record else 0,
                claim=record.claim if record else "",
                record=msgspec.json.encode(record).decode() if record else "",
            )
        )
        number = len(self.dues)
        self._lines.append(",")
        self._lines += [text] if due.take is None else _gap(text, '"paid":', number)
        if record:
            opened = ClaimOpened(
                claim=record.claim, position=line.position, item=line.item, amount=0
            )
            self._opened.append(",")
            self._opened += _gap(msgspec.json.encode(opened).decode(), '"amount":', number)
            self.claims.append(OpenedClaim(record, number - 1))

    def reply(self) -> tuple[str | int, ...]:
        """The reply in parts: text, and the numbers of the dues whose cents stand between."""
        return tuple(
            _joined(
                f'{{"seq":{self._event.seq},"status":"accepted","lines":[',
                *self._lines[1:],
                '],"claims":[',
                *self._opened[1:],
                "]}",
            )
        )

    def _waits(self, due: Due) -> bool:
        """Whether a floorperson validates it (649a.11(c)(5), (7), (8), (9); `validate_from`)."""
        line = due.line
        if due.take is not None:
            return True
        if line.paid < self._known.validate_from_cents:
            return False
        if line.item in _HAND_BONUS:
            return line.paid >= line.wagered * _HAND_BONUS_VERIFIED_ODDS
        return line.item in _ALWAYS_VALIDATED

    def _meter_id(self, item: str) -> str:
        kind = METER_OF_ITEM[item]
        return self._known.meters[kind].meter_id


def _gap(text: str, field: str, due: int) -> list[str | int]:
    """A record's text with the due's number in place of the 0 of a field.

    The field's name cannot stand in the text earlier: every string in the record is a name of
    ours without quotes in it.
    """
    head, tail = text.split(f"{field}0", 1)
    return [head + field, due, tail]


def _joined(*parts: str | int) -> Iterator[str | int]:
    run = ""
    for part in parts:
        if isinstance(part, int):
            yield run
            yield part
            run = ""
        else:
            run += part
    yield run
