"""The wins that a floorperson decides, collected from the ledger (duties D7, D16).

Each Envy Bonus is a separate win. A bonus with a claim waits until a floorperson decides the win
that causes it, and then until somebody records the payment.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from msgspec.structs import replace as replace_line

from bonus.rounds import WrittenPercent
from bonus.wagers import MUST_HIT_BY, PaidFrom
from meters.ledger.claim_evidence import decided_claim, table_of
from meters.ledger.claim_records import hand_record_name
from meters.ledger.entry_messages import DECIDED, DecisionRecord
from meters.ledger.expected_transfers import ExpectedBooks, HeldEnvy, HeldWin
from meters.wire.messages import ClaimOpened, Reply, parts_elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Win:
    """A win that a floorperson decides (duty D16), in its state at some moment.

    The fields have the names and the order of the columns in JSON. Times are RFC 3339 in UTC.

    Attributes:
        day: the gaming day of the win.
        at: the time of the win.
        order: the number of the win's ledger entry. An earlier win has a lower number (duty D7). 0
            if the entry is older than every entry that can be read.
        claim: the claim. For an Envy Bonus, the claim under which it is owed; empty if it was
            recorded as paid without a claim.
        asset: the facility's number for the table.
        position: the position that is paid.
        wager: the wager, or the bonus that the wager can win.
        percent: the percentage of the meter; empty for a fixed amount.
        amount_cents: the amount of the win. The wager is neither subtracted nor returned.
        paid_from: `hand_pay`, `table_inventory` or `game_account`; empty if unknown.
        state: `pending`, `validated`, `paid` or `rejected`.
        rejection_requested_by: who requested the rejection that `rejected_by` confirmed.
        reason: why the win was rejected.
        envy_taken_back_cents: the Envy Bonuses that were taken back with the rejected win.
        paid_by: who recorded the payment.
        slip: the number of the payout slip.
        envy_of: for an Envy Bonus that is a fixed sum, the position whose hand causes it; otherwise
            empty.
        hand_of: for a share of a meter, the position whose hand brings it; otherwise empty.
        hand_table: the table of this hand, if it is another table of the link; otherwise empty.
        hand_round: the round of this hand, if it is at another table; otherwise empty.
    """

    day: date = date.min
    at: str = ""
    link: str
    order: int = 0
    claim: str
    table: str
    asset: str = ""
    round: str = ""
    position: int = 0
    meter: str
    wager: str
    hand: str = ""
    percent: WrittenPercent | None = None
    amount_cents: int
    paid_from: str
    state: str = "pending"
    validated_by: str = ""
    validated_at: str = ""
    rejected_by: str = ""
    rejection_requested_by: str = ""
    rejected_at: str = ""
    reason: str = ""
    envy_taken_back_cents: int = 0
    paid_by: str = ""
    paid_at: str = ""
    slip: str = ""
    envy_of: int | None = None
    hand_of: int | None = None
    hand_table: str = ""
    hand_round: str = ""

    @property
    def hand_position(self) -> int:
        """The position of the hand that won. An Envy Bonus is paid to another position."""
        return self.envy_of or self.hand_of or self.position

    @property
    def hand_record(self) -> str:
        """The name that all wins and Envy Bonuses of one hand share in a report.

        If the ledger entry of the win is not known, the name is the id of the claim.
        """
        if not self.round:
            return self.claim
        table, round_id = self.hand_table or self.table, self.hand_round or self.round
        return hand_record_name(self.link, table, round_id, self.hand_position)

    @property
    def payment(self) -> str:
        """`percentage` of the meter, `fixed` amount, or `envy` (an Envy Bonus)."""
        if self.envy_of is not None:
            return "envy"
        return "percentage" if self.percent else "fixed"

    @property
    def decided(self) -> bool:
        """True if the win is rejected or paid, or validated and paid without a record."""
        return self.state != "pending" and not (self.state == "validated" and self.to_be_paid)

    @property
    def to_be_paid(self) -> bool:
        """True for a hand pay or Envy Bonus. Any other win counts as paid when it is validated."""
        return self.paid_from == "hand_pay" or self.envy_of is not None


def wins_by_hand(wins: Iterable[Win]) -> list[list[Win]]:
    """Return wins in groups, one for each hand, in the order in which the hands won.

    In a group, percentages of a meter come first, then fixed amounts, then Envy Bonuses.
    """
    hands: dict[tuple[str, int], list[Win]] = {}
    for win in wins:
        hands.setdefault((win.hand_record, win.order), []).append(win)
    return [sorted(hand, key=lambda win: _PAYMENTS.index(win.payment)) for hand in hands.values()]


_PAYMENTS: Final = ("percentage", "fixed", "envy")


class WinBook:
    """The wins of one link, collected while the ledger is replayed.

    If a win already waits at the start of the replay, `books` has its claim, but its ledger entry
    is not available.
    """

    def __init__(self, link: str, books: ExpectedBooks) -> None:
        self._link = link
        self._wins: list[Win] = []
        self._of: dict[str, list[int]] = defaultdict(list)
        """For each claim, the places of its win and its Envy Bonuses in `_wins`."""
        self._states: dict[str, dict[str, str]] = {}
        """For each claim, the states and decisions as in its Redis hash, with an empty `record`."""
        self._kept: list[int] = []
        self._decided: dict[int, None] = {}
        for claim, held in books.claims.items():
            self._add(
                Win(
                    claim=claim,
                    link=link,
                    meter=held.meter,
                    table=held.table or table_of(claim),
                    wager=held.meter,
                    amount_cents=held.cents,
                    paid_from="hand_pay" if held.hand_pay else "",
                    state=held.state,
                    validated_by=held.by,
                )
            )
        for claim, envy in books.envy.items():
            self._owe(claim, envy)
            for one in envy.bonuses:
                self._add(
                    Win(
                        claim=claim,
                        link=link,
                        meter=one.meter,
                        table=table_of(claim),
                        position=one.position,
                        wager=one.item,
                        hand=one.hand,
                        amount_cents=one.cents,
                        paid_from="table_inventory",
                        state=envy.state,
                        validated_by=envy.by,
                        envy_of=one.holder,
                    )
                )
        self._first_today = len(self._wins)

    def _add(self, win: Win) -> None:
        self._of[win.claim].append(len(self._wins))
        self._wins.append(win)
        if win.envy_of is None:
            self._states[win.claim] = {"record": "", "state": win.state}

    def _owe(self, claim: str, envy: HeldEnvy) -> None:
        states = self._states.setdefault(claim, {"record": "", "state": envy.state})
        states["envy"] = envy.state

    def won(
        self,
        order: int,
        fields: Mapping[str, bytes],
        reply: Reply,
        *,
        meters: Mapping[str, str],
        assets: Mapping[str, str],
        envy: Mapping[str, HeldEnvy],
    ) -> None:
        """Add the wins of a round's result. `order` is the number of its ledger entry.

        `meters` has the meter of each item. `envy` has the Envy Bonuses that are owed after the
        result. `assets` has the asset number of each table.

        Raises:
            KeyError: a claim has no settlement line, or a settlement line has no meter.
        """
        at, new = fields["at"].decode(), envy.keys() - self._states.keys()
        table, round_id = fields["table"].decode(), fields["round"].decode()
        owed = {
            (one.position, one.item, one.holder): claim
            for claim in new
            for one in envy[claim].bonuses
        }
        lines = {(line.position, line.item, line.hand_of): line for line in reply.lines or ()}
        won = [
            (lines[one.position, one.item, one.hand_of], one.claim, one.amount)
            for one in reply.claims or ()
        ]
        for line in reply.lines or ():
            if line.envy_of is not None and line.paid:
                claim = owed.get((line.position, line.item, line.envy_of), "")
                won.append((line, claim, line.paid))
        places: dict[str, tuple[str, str]] = {}
        like = {(line.item, line.hand_of): line for line in reply.lines or ()}
        for one in parts_elsewhere(reply):
            line = replace_line(like[one.item, one.hand_of], position=one.position)
            won.append((line, one.claim, one.amount))
            places[one.claim] = one.table, one.round
        for line, claim, cents in won:
            own_table, own_round = places.get(claim, (table, round_id))
            win = Win(
                claim=claim,
                order=order,
                at=at,
                link=self._link,
                meter=meters[line.item],
                table=own_table,
                asset=assets.get(own_table, ""),
                round=own_round,
                position=line.position,
                wager=line.item,
                hand=line.hand or "",
                amount_cents=cents,
                percent=line.percent,
                paid_from=line.paid_from or "",
                envy_of=line.envy_of,
                hand_of=line.hand_of,
                hand_table=table if claim in places else "",
                hand_round=round_id if claim in places else "",
            )
            if not claim:
                # The bonus is below `validate_from`, so it is already recorded as paid.
                win = replace(win, state="paid", paid_at=at)
            elif line.envy_of is not None:
                win = replace(win, state=envy[claim].state)
            self._add(win)
        for claim in new:
            self._owe(claim, envy[claim])

    def must_hit_by(
        self,
        order: int,
        fields: Mapping[str, bytes],
        opened: ClaimOpened,
        held: HeldWin,
        asset: str,
    ) -> None:
        """Add the win of a must-hit-by meter by a wager. `order` is the number of its entry."""
        self._add(
            Win(
                claim=opened.claim,
                order=order,
                at=fields["at"].decode(),
                link=self._link,
                meter=held.meter,
                table=fields["table"].decode(),
                asset=asset,
                round=fields["round"].decode(),
                position=opened.position,
                wager=held.wager,
                hand=MUST_HIT_BY,
                amount_cents=held.cents,
                percent=100,
                paid_from=PaidFrom.HAND_PAY,
            )
        )

    def decide(self, number: int, fields: Mapping[str, bytes]) -> Win | None:
        """Apply a floorperson's decision on a claim, or a change of a decided claim.

        Return the win in its new state. Return None if only Envy Bonuses of the claim are known, or
        if the payment of a corrected slip is older than the first replayed entry.

        Raises:
            KeyError: nothing is known of the claim.
        """
        decision = DECIDED.decode(fields["event"])
        by, at, claim = fields["by"].decode(), fields["at"].decode(), decision.claim
        changed: Win | None = None
        if decision.act == "correct_slip" and claim not in self._states:
            return None
        due = self._states[claim]
        states = self._states[claim] = decided_claim(due, decision, by, number, fields)
        for place in self._of[claim]:
            win = self._wins[place]
            state = states["state" if win.envy_of is None else "envy"]
            now = _decided(win, state, decision, by, at)
            if win.envy_of is None:
                changed = now
            if now != win:
                self._wins[place] = now
                if place < self._first_today:
                    self._decided[place] = None
        return changed

    def close(self, day: date, *, keep: bool) -> tuple[tuple[Win, ...], tuple[Win, ...]]:
        """Close a gaming day. Return its wins, and the earlier wins decided on this day."""
        today = range(self._first_today, len(self._wins))
        for place in today:
            self._wins[place] = replace(self._wins[place], day=day)
        decided = tuple(self._wins[place] for place in self._decided)
        if keep:
            self._kept += today
        self._first_today, self._decided = len(self._wins), {}
        return tuple(self._wins[place] for place in today), decided

    def latest(self) -> tuple[Win, ...]:
        """Return the wins of the kept days, in their present state."""
        return tuple(self._wins[place] for place in self._kept)


def _decided(win: Win, state: str, decision: DecisionRecord, by: str, at: str) -> Win:
    if win.envy_of is None:
        win = replace(win, slip=decision.slip or win.slip)
    if state == win.state:
        return win
    match state:
        case "validated":
            return replace(win, state=state, validated_by=by, validated_at=at)
        case "paid":
            return replace(win, state=state, paid_by=by, paid_at=at)
        case "rejected":
            back = decision.envy_back if win.envy_of is None else 0
            return replace(
                win,
                state=state,
                rejected_by=by,
                rejected_at=at,
                reason=decision.reason or "",
                rejection_requested_by=decision.requested_by or "",
                envy_taken_back_cents=back,
            )
    if win.envy_of is not None:
        win = replace(win, validated_by="", validated_at="")
    return replace(
        win,
        state=state,
        rejected_by="",
        rejected_at="",
        reason="",
        rejection_requested_by="",
        envy_taken_back_cents=0,
    )
