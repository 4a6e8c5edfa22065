"""The wins that a floorperson decides, collected from the ledger (duties D7, D16).

Each Envy Bonus is a separate win. It waits until a floorperson decides the win that causes it, and
then until its payment is recorded.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from bonus.rounds import Line, WrittenPercent
from meters.ledger.claim_evidence import table_of
from meters.ledger.claim_records import hand_record_name
from meters.ledger.entry_messages import DecisionRecord
from meters.ledger.expected_transfers import ExpectedBooks, HeldEnvy, HeldWin
from meters.wire.messages import Reply

_Key = tuple[str, int, int, str, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Win:
    """A win that a floorperson must decide or has decided (duty D16), in its state at some moment.

    `order`, the number of the win's ledger entry, shows the order of wins (duty D7). It is 0 if
    this entry is older than every entry that can be read. `day`, the gaming day of the win, is set
    only when it is closed. Times are RFC 3339 in UTC. `percent` is None for a win at odds.

    For an Envy Bonus, `envy_of` is the position whose hand causes the bonus, and `claim` the claim
    under which it is owed, or empty if it was recorded as paid without one. For any other win,
    `envy_of` is None.
    """

    claim: str
    order: int = 0
    at: str = ""
    day: date = date.min
    link: str
    meter: str
    table: str
    asset: str = ""
    round: str = ""
    position: int = 0
    item: str
    hand: str = ""
    cents: int
    percent: WrittenPercent | None = None
    paid_from: str
    state: str = "pending"
    validated_by: str = ""
    validated_at: str = ""
    paid_by: str = ""
    paid_at: str = ""
    rejected_by: str = ""
    rejection_requested_by: str = ""
    rejected_at: str = ""
    reason: str = ""
    slip: str = ""
    envy_back_cents: int = 0
    envy_of: int | None = None

    @property
    def hand_position(self) -> int:
        """The position of the hand that won. An Envy Bonus is paid to another position."""
        return self.position if self.envy_of is None else self.envy_of

    @property
    def hand_record(self) -> str:
        """The name that all wins and Envy Bonuses of one hand share in a report.

        Without the ledger entry of the win, it is the id of the claim.
        """
        if not self.round:
            return self.claim
        return hand_record_name(self.link, self.table, self.round, self.hand_position)

    @property
    def payment(self) -> str:
        if self.envy_of is not None:
            return "envy"
        return "percentage" if self.percent else "fixed"

    @property
    def decided(self) -> bool:
        """True if the win is rejected or paid, or is validated and needs no record of payment."""
        return self.state != "pending" and not (self.state == "validated" and self.to_be_paid)

    @property
    def to_be_paid(self) -> bool:
        """True for a hand pay or Envy Bonus. Any other win counts as paid when it is validated."""
        return self.paid_from == "hand_pay" or self.envy_of is not None


def wins_by_hand(wins: Iterable[Win]) -> list[list[Win]]:
    """Return wins in groups by hand, in the order in which the hands won.

    In a group, percentages of a meter come first, then fixed amounts, then Envy Bonuses.
    """
    hands: dict[tuple[str, int], list[Win]] = {}
    for win in wins:
        hands.setdefault((win.hand_record, win.order), []).append(win)
    return [sorted(hand, key=lambda win: _PAYMENTS.index(win.payment)) for hand in hands.values()]


_PAYMENTS: Final = ("percentage", "fixed", "envy")


class WinBook:
    """The wins of one link, collected while the ledger is replayed.

    These are all wins that wait for a person, and those of the current gaming day and of the
    reported days. For wins that already wait at the start of the replay, ``books`` has the claims,
    but their ledger entries are not available.
    """

    def __init__(self, link: str, books: ExpectedBooks) -> None:
        self._link = link
        self._waiting = {
            claim: _win_of_checkpoint(link, claim, held) for claim, held in books.claims.items()
        }
        self._envy = {
            claim: _envy_of_checkpoint(link, claim, held) for claim, held in books.envy.items()
        }  # fmt: skip
        self._kept: dict[_Key, Win] = {}
        self._today: dict[_Key, Win] = {}
        self._decided: dict[_Key, Win] = {}
        self._rejected: dict[str, tuple[Win, tuple[Win, ...]]] = {}
        self._paid: dict[str, Win] = {}

    def won(
        self,
        order: int,
        fields: Mapping[str, bytes],
        reply: Reply,
        *,
        meter_of: Callable[[Line], str],
        asset: str,
        envy: Mapping[str, HeldEnvy],
    ) -> None:
        """Add the wins of a round's result, whose ledger entry has the number `order`.

        `envy` are the Envy Bonuses that are owed after the result.

        Raises:
            KeyError: a claim has no settlement line, or a settlement line has no meter.
        """

        def win_of(line: Line, claim: str, cents: int) -> Win:
            return Win(
                claim=claim,
                order=order,
                at=fields["at"].decode(),
                link=self._link,
                meter=meter_of(line),
                table=fields["table"].decode(),
                asset=asset,
                round=fields["round"].decode(),
                position=line.position,
                item=line.item,
                hand=line.hand or "",
                cents=cents,
                percent=line.percent,
                paid_from=line.paid_from or "",
                envy_of=line.envy_of,
            )

        claims = reply.claims or ()
        lines = {(line.position, line.item): line for line in reply.lines or ()}
        for claim in claims:
            win = win_of(lines[claim.position, claim.item], claim.claim, claim.amount)
            self._today[_key(win)] = self._waiting[win.claim] = win
        owed = {
            (one.position, one.item, one.holder): claim
            for claim, held in envy.items()
            if claim not in self._envy
            for one in held.bonuses
        }
        for line in reply.lines or ():
            if line.envy_of is None or not line.paid:
                continue
            name = owed.get((line.position, line.item, line.envy_of), "")
            win = win_of(line, name, line.paid)
            if name:
                win = replace(win, state=envy[name].state)
            else:
                # The bonus is below `validate_from`, and so recorded as paid.
                win = replace(win, state="paid", paid_at=win.at)
            self._today[_key(win)] = win
            if name:
                self._envy[name] = (*self._envy.get(name, ()), win)

    def decide(self, decision: DecisionRecord, by: str, at: str) -> Win | None:
        """Apply a floorperson's decision on a claim, or a change of a decided claim.

        Return the win in its new state, or None if the decision is only about Envy Bonuses.

        Raises:
            KeyError: no win with this claim waits, or the win to reopen was not rejected on the
                current gaming day.
        """
        if decision.act == "reopen":
            return self._reopen(decision.claim)
        if decision.act == "correct_slip":
            return self._correct_slip(decision)
        envy = self._envy.get(decision.claim, ())
        self._decide_envy(decision, by, at)
        if decision.act in {"pay_envy", "reject_envy"}:
            return None
        win = self._waiting.pop(decision.claim)
        win = replace(win, slip=decision.slip or win.slip)
        match decision.act:
            case "validate":
                win = replace(win, state="validated", validated_by=by, validated_at=at)
            case "pay":
                win = replace(win, state="paid", paid_by=by, paid_at=at)
            case "reject":
                win = replace(
                    _rejected(win, decision, by, at), envy_back_cents=decision.envy_back
                )  # fmt: skip
        if not win.decided:
            self._waiting[win.claim] = win
        elif decision.act == "reject":
            self._rejected[win.claim] = win, envy if decision.envy_back else ()
        elif decision.act == "pay":
            self._paid[win.claim] = win
        self._note(win)
        return win

    def _reopen(self, claim: str) -> Win:
        """Let a rejected win wait again, with the Envy Bonuses of its hand."""
        rejected, envy = self._rejected.pop(claim)
        win = replace(
            rejected, state="pending", rejected_by="", rejection_requested_by="", rejected_at="",
            reason="", envy_back_cents=0,
        )  # fmt: skip
        self._waiting[claim] = win
        if envy or claim in self._envy:
            waiting = envy or self._envy[claim]
            self._envy[claim] = tuple(
                replace(one, state="pending", validated_by="", validated_at="") for one in waiting
            )
        for one in (win, *self._envy.get(claim, ())):
            self._note(one)
        return win

    def _correct_slip(self, correction: DecisionRecord) -> Win | None:
        """Correct the slip number of a paid win; None if the payment was not replayed."""
        paid = self._paid.get(correction.claim)
        if paid is None:
            return None
        win = self._paid[correction.claim] = replace(paid, slip=correction.slip or "")
        self._note(win)
        return win

    def _decide_envy(self, decision: DecisionRecord, by: str, at: str) -> None:
        act, wins = decision.act, self._envy.pop(decision.claim, ())
        left: list[Win] = []
        for win in wins:
            now = win
            if act == "reject_envy" or (act == "reject" and decision.envy_back):
                now = _rejected(win, decision, by, at)
            elif act == "pay_envy" or decision.envy_paid:
                now = replace(win, state="paid", paid_by=by, paid_at=at)
            elif win.state == "pending":
                now = replace(win, state="validated", validated_by=by, validated_at=at)
            if now != win:
                self._note(now)
            if not now.decided:
                left.append(now)
        if left:
            self._envy[decision.claim] = tuple(left)
        if act == "reject_envy" and decision.claim in self._rejected:
            rejected, _ = self._rejected[decision.claim]
            self._rejected[decision.claim] = rejected, wins

    def _note(self, win: Win) -> None:
        key = _key(win)
        if key in self._kept:
            self._kept[key] = win
        (self._today if key in self._today else self._decided)[key] = win

    def close(self, day: date, *, keep: bool) -> tuple[tuple[Win, ...], tuple[Win, ...]]:
        """Close a gaming day. Return its wins, and the earlier wins decided on that day."""
        won = {key: replace(win, day=day) for key, win in self._today.items()}
        decided = tuple(self._decided.values())
        for key, win in won.items():
            if win.envy_of is None and not win.decided:
                self._waiting[win.claim] = win
            elif win.envy_of is not None and win.claim in self._envy:
                self._envy[win.claim] = tuple(
                    win if _key(one) == key else one for one in self._envy[win.claim]
                )
        for claim, win in self._paid.items():
            self._paid[claim] = won.get(_key(win), win)
        if keep:
            self._kept |= won
        self._rejected = {}
        self._today, self._decided = {}, {}
        return tuple(won.values()), decided

    def latest(self) -> Iterator[Win]:
        yield from self._kept.values()


def _key(win: Win) -> _Key:
    return win.claim, win.order, win.position, win.item, win.envy_of


def _rejected(win: Win, decision: DecisionRecord, by: str, at: str) -> Win:
    return replace(
        win, state="rejected", rejected_by=by, rejection_requested_by=decision.requested_by or "",
        rejected_at=at, reason=decision.reason or "",
    )  # fmt: skip


def _win_of_checkpoint(link: str, claim: str, held: HeldWin) -> Win:
    """Return a waiting win from a checkpoint, without the ledger entry of the win."""
    return Win(
        claim=claim,
        link=link,
        meter=held.meter,
        table=table_of(claim),
        item=held.meter,
        cents=held.cents,
        paid_from="hand_pay" if held.hand_pay else "",
        state=held.state,
        validated_by=held.by,
    )


def _envy_of_checkpoint(link: str, claim: str, held: HeldEnvy) -> tuple[Win, ...]:
    """Return owed Envy Bonuses from a checkpoint, without their ledger entry."""
    return tuple(
        Win(
            claim=claim,
            link=link,
            meter=one.meter,
            table=table_of(claim),
            position=one.position,
            item=one.item,
            hand=one.hand,
            cents=one.cents,
            paid_from="table_inventory",
            state=held.state,
            validated_by=held.by,
            envy_of=one.holder,
        )
        for one in held.bonuses
    )
