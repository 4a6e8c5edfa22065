"""Records of wins that wait for a floorperson, with the evidence for the decision (duty D16)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Final

import msgspec
from msgspec.structs import replace

from bonus.rounds import Line, WrittenPercent, cause_of
from bonus.wagers import (
    MUST_HIT_BY,
    PaidFrom,
    is_bad_beat,
    is_community_share,
    is_envy,
    jackpot_item,
)
from meters.ledger.script_steps import EnvyCents
from meters.wire.messages import (
    ClaimOpened,
    Result,
    WagerCorrection,
    WageredPosition,
    Wagers,
    envy_claim_name,
    holds_table,
)


def hand_record_name(link: str, table: str, round_id: str, position: int) -> str:
    """Return the name that all claims of one winning hand share."""
    return f"{link}.{table}-{round_id}-p{position}"


class AcceptedWagers(msgspec.Struct, frozen=True):
    """The wagers of a table position at lock-out, in cents, as evidence for a floorperson."""

    position: int
    patron: str | None
    wagers: dict[str, int]


class OwedEnvy(msgspec.Struct, frozen=True, omit_defaults=True):
    """An Envy Bonus that is owed to a table position for the winning hand of another position.

    `amount` is in cents. If the claim has the same meter, `meter` is empty.
    """

    position: int
    patron: str | None
    item: str
    amount: int
    meter: str = ""


class ClaimRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The facts about a win that a floorperson needs for a decision.

    `claim` is the permanent name of the claim. In the round, `turns` wins wait for a floorperson,
    and `turn` is the place of this win, from 1. If `item` is an Envy Bonus, the hand has no win
    that waits: only the Envy Bonuses in `envy` are owed. `no_win` has the positions whose hands the
    dealer declared to win nothing. If a wager won a must-hit-by meter, `wager` is its name. If the
    win is a share of a meter that a hand brings to other players, `hand_of` is the position of this
    hand, and `hand` and `cards` are of this hand. If the hand was dealt at another table of the
    link, `hand_table` and `hand_round` are this table and its round.
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
    percent: WrittenPercent | None
    paid_from: str
    rule: str
    wagered: int
    round: str
    turn: int
    turns: int
    wagers: tuple[AcceptedWagers, ...]
    envy: tuple[OwedEnvy, ...]
    no_win: tuple[int, ...] = ()
    wager: str = ""
    hand_of: int | None = None
    hand_table: str = ""
    hand_round: str = ""

    @property
    def holder(self) -> int:
        """The position of the hand that wins."""
        return self.hand_of or self.position

    @property
    def hand_record(self) -> str:
        table, round_id = self.hand_table or self.table, self.hand_round or self.round
        return hand_record_name(self.link, table, round_id, self.holder)

    @property
    def shown_percent(self) -> WrittenPercent | None:
        """The percentage that displays show beside the amount; None if players can divide it.

        The amount is only one player's part of a community share, or of a bad beat.
        """
        divided = is_community_share(self.item) or is_bad_beat(self.item)
        return None if divided else self.percent

    @property
    def only_envy(self) -> bool:
        """True if Envy Bonuses are owed for the hand, but no win of the hand waits."""
        return is_envy(self.item)

    @property
    def is_must_hit_by(self) -> bool:
        """True if a wager took a must-hit-by meter to its hidden value, whatever the cards."""
        return self.hand == MUST_HIT_BY

    @property
    def holds_table(self) -> bool:
        """True if the cards of the win must stay on the table until the win is paid."""
        return holds_table(self.paid_from) and not (self.is_must_hit_by or self.hand_table)

    @property
    def is_hand_pay(self) -> bool:
        return self.paid_from == "hand_pay"

    def opened(self, amount_cents: int) -> ClaimOpened:
        """Return the win as replies to tables show it."""
        return ClaimOpened(
            claim=self.claim,
            position=self.position,
            item=self.item,
            hand_of=self.hand_of,
            amount=amount_cents,
        )

    def envy_by_meter(self) -> tuple[EnvyCents, ...]:
        """Return the cents of the claim's Envy Bonuses for each meter, in the order of `envy`."""
        cents: dict[str, int] = {}
        for owed in self.envy:
            meter = owed.meter or self.meter
            cents[meter] = cents.get(meter, 0) + owed.amount
        return tuple(starmap(EnvyCents, cents.items()))


_RECORD: Final = msgspec.json.Decoder(ClaimRecord)


def must_hit_by_record(
    event: Wagers | WagerCorrection, position: int, wager: str, *,
    meter: str, rule: str, link: str, table: str, asset: str, turn: int, turns: int,
) -> ClaimRecord:  # fmt: skip
    """Make the record of the win of a must-hit-by meter by one wager of an event.

    `turns` wagers of the event win such a meter, and `turn` is the place of this one, from 1.
    """
    won = next(one for one in event.positions if one.position == position)
    return ClaimRecord(
        claim=claim_name(link, table, event.seq, turn),
        link=link,
        meter=meter,
        table=table,
        asset=asset,
        position=position,
        patron=won.patron,
        item=jackpot_item(meter),
        hand=MUST_HIT_BY,
        cards=(),
        dealer=(),
        community=(),
        percent=100,
        paid_from=PaidFrom.HAND_PAY,
        rule=rule,
        wagered=won.wagers[wager],
        round=event.round,
        turn=turn,
        turns=turns,
        wagers=accepted_wagers(event.positions),
        envy=(),
        wager=wager,
    )


def claim_name(link: str, table: str, seq: int, turn: int) -> str:
    """Return the name of the claim for the win at the place `turn`, from 1, in an event.

    The name includes the link, because sequence numbers restart from 1 if the table moves to
    another link.
    """
    return f"{link}.{table}-{seq}-{turn}"


class LinkRound(msgspec.Struct, frozen=True):
    """The open round of another table, whose players can get parts of a community share."""

    table: str
    asset: str
    round: str
    basis: int
    positions: Sequence[WageredPosition]
    fed: tuple[str, ...]

    def players(self, wager: str) -> Iterator[WageredPosition]:
        """Yield the position at which each player with a wager gets a share (reading T17).

        A patron with several positions gets it at the one that is paid first: the highest.
        """
        seen: set[str] = set()
        for one in sorted(self.positions, key=lambda one: -one.position):
            if wager in one.wagers and (one.patron is None or one.patron not in seen):
                yield one
                seen.update([one.patron] if one.patron else [])


def accepted_wagers(positions: Sequence[WageredPosition]) -> tuple[AcceptedWagers, ...]:
    return tuple([AcceptedWagers(bet.position, bet.patron, bet.wagers) for bet in positions])


def record_of(fields: Mapping[str, str]) -> ClaimRecord:
    return _RECORD.decode(fields["record"])


class Records:
    """Maker of the claim records of a round's result: of wins that wait, and of Envy Bonuses.

    `wagers` are the wagers at lock-out. `waiting` are the settlement lines of the wins that wait
    for a floorperson, in the order of payment.
    """

    def __init__(
        self,
        event: Result,
        wagers: Sequence[WageredPosition],
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
        self._waiting = waiting
        self._envy = [line for line in settled if line.envy_of is not None]
        self._causes = [cause_of(line, waiting, settled) for line in self._envy]
        self._wagers = accepted_wagers(wagers)
        self._hands = {dealt.position: dealt for dealt in event.positions}
        self._patrons = {bet.position: bet.patron for bet in wagers}
        self._no_win = tuple([dealt.position for dealt in event.positions if dealt.declared])
        self._opened = self._on_link = 0

    def record(self, line: Line) -> ClaimRecord:
        """Make the record of the next win that waits, from its settlement line."""
        self._opened += 1
        turn = self._opened
        envy = [
            owed for owed, cause in zip(self._envy, self._causes, strict=True) if cause == turn - 1
        ]
        return self._made(
            self.claim_of(turn), line, line.position, envy, turn=turn, turns=len(self._waiting)
        )

    def link_record(
        self, like: Line, at: LinkRound, won: WageredPosition, wager: str
    ) -> ClaimRecord:
        """Make the record of the next part of a community share at another table.

        `like` is the line of a part at this table.
        """
        self._on_link += 1
        line = replace(like, position=won.position, wagered=won.wagers[wager])
        claim = self.claim_of(len(self._waiting) + self._on_link)
        record = self._made(claim, line, won.position, (), turn=1, turns=1)
        return replace(
            record,
            table=at.table,
            asset=at.asset,
            patron=won.patron,
            round=at.round,
            wagers=accepted_wagers(at.positions),
            no_win=(),
            hand_table=self._table,
            hand_round=self._event.round,
        )

    def envy_record(self, holder: int, envy: Sequence[Line]) -> ClaimRecord:
        """Make the record for a hand without a win that waits, but with owed Envy Bonuses."""
        return self._made(self.envy_claim_of(holder), envy[0], holder, envy, turn=1, turns=1)

    def claim_of(self, turn: int) -> str:
        return claim_name(self._link, self._table, self._event.seq, turn)

    def envy_claim_of(self, holder: int) -> str:
        """Return the name of a claim with only Envy Bonuses, for the hand of position `holder`."""
        return envy_claim_name(f"{self._link}.{self._table}-{self._event.seq}", holder)

    def claim_under(self, envy: Line) -> str | None:
        """Return the claim that must be decided before an Envy Bonus is paid.

        This is the claim of the hand that causes the bonus, or None if no win of this hand waits.
        """
        cause = self._causes[next(at for at, one in enumerate(self._envy) if one is envy)]
        return None if cause is None else self.claim_of(cause + 1)

    def _made(
        self, claim: str, line: Line, position: int, envy: Sequence[Line], *, turn: int, turns: int
    ) -> ClaimRecord:
        event, meter = self._event, self._meter_of(line.item)
        hand = self._hands[line.hand_of or position]
        return ClaimRecord(
            claim=claim,
            link=self._link,
            meter=meter,
            table=self._table,
            asset=self._asset,
            position=position,
            patron=self._patron(position),
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
            turns=turns,
            wagers=self._wagers,
            envy=tuple(self._owed(owed, meter) for owed in envy),
            no_win=self._no_win,
            hand_of=line.hand_of,
        )

    def _owed(self, envy: Line, claims_meter: str) -> OwedEnvy:
        meter = self._meter_of(envy.item)
        return OwedEnvy(
            position=envy.position,
            patron=self._patron(envy.position),
            item=envy.item,
            amount=envy.paid,
            meter=meter if meter != claims_meter else "",
        )

    def _patron(self, position: int) -> str | None:
        dealt = self._hands.get(position)
        return self._patrons.get(position) or (dealt.patron if dealt else None)
