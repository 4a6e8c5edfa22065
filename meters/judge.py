"""What an event comes to, before any book is touched: pure but for the draw it is given.

Each function either gives the work for the script or raises a Refusal.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from bonus.lines import Due, Item, Line
from bonus.paytables import METER_OF, MeterKind, Wager
from bonus.rounds import (
    DealtPosition,
    Draw,
    Round,
    RoundError,
    check_round,
    one_card,
    three_cards,
    two_cards,
)
from bonus.settlement import settle_round
from meters.accounts import MICROS_PER_CENT
from meters.known import KnownTable
from meters.refusals import Refusal
from meters.steps import Contribution, DueStep, ResultWork, TakeStep, WagersWork
from meters.wire.messages import ClaimOpened, DrawMade, Result, Wagers, WagersAccepted

_ALWAYS_VALIDATED: Final = frozenset(
    {Item.PROGRESSIVE, Item.FIVE_CARD_PROGRESSIVE, Item.FIVE_OF_SIX_PROGRESSIVE}
)
_HAND_BONUS: Final = frozenset({Item.FIVE_CARD_HAND_BONUS, Item.FIVE_CARD_HAND_BONUS_DEALER})
_HAND_BONUS_VERIFIED_ODDS: Final = 500
"""649a.11(c)(8)(ii): a floorperson verifies a payout of 500 for 1."""


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round whose wagers were accepted and that has no result yet."""

    basis: int
    wagers: Wagers
    draw: DrawMade | None


class ClaimRecord(msgspec.Struct, frozen=True):
    """What a floorperson needs to know of a win; `claim` names it for ever."""

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


@dataclass(frozen=True, slots=True)
class OpenedClaim:
    """A claim that a result opens, and the due it is for (from 0)."""

    record: ClaimRecord
    due: int


@dataclass(frozen=True, slots=True)
class JudgedResult:
    """A result settled by the rules; its percentages are taken when the script applies it."""

    work: ResultWork
    claims: tuple[OpenedClaim, ...]


def judge_wagers(known: KnownTable, event: Wagers, draw: DrawMade | None) -> WagersWork:
    """What accepted wagers add to each meter: cents times basis points, exactly micros.

    Raises:
        Refusal: a position or a wager that the table has not, twice, or of another amount
            (reading T22).
    """
    seen: set[int] = set()
    counts: dict[str, int] = {}
    offers = known.offers
    for index, position in enumerate(event.positions):
        _check_position(known, position.position, seen, index)
        for wager, cents in position.wagers.items():
            offer = offers.get(wager)
            if offer is None or cents != offer.wager_cents:
                raise _wager_refusal(known, wager, cents, index)
            counts[wager] = counts.get(wager, 0) + 1
    by_meter: dict[str, Contribution] = {}
    for wager, count in counts.items():
        offer = offers[wager]
        cents = count * offer.wager_cents
        before = by_meter.get(offer.meter)
        added = Contribution(
            offer.meter, count, cents, cents * offer.primary_bps, cents * offer.reserve_bps
        )
        by_meter[offer.meter] = _sum(before, added) if before else added
    reply = msgspec.json.encode(WagersAccepted(seq=event.seq, draw=draw)).decode()
    return WagersWork(reply, msgspec.json.encode(draw).decode(), tuple(by_meter.values()))


def _sum(one: Contribution, other: Contribution) -> Contribution:
    return Contribution(
        one.meter,
        one.wagers + other.wagers,
        one.wagered_cents + other.wagered_cents,
        one.meter_micros + other.meter_micros,
        one.reserve_micros + other.reserve_micros,
    )


def _check_position(known: KnownTable, position: int, seen: set[int], index: int) -> None:
    if position > known.table.positions:
        raise Refusal(
            "unknown_position",
            f"table {known.table.id} has positions 1 to {known.table.positions}, not {position}",
            f"positions[{index}].position",
        )
    if position in seen:
        raise Refusal(
            "position_twice",
            f"position {position} stands twice",
            f"positions[{index}].position",
        )
    seen.add(position)


def _wager_refusal(known: KnownTable, wager: str, cents: int, index: int) -> Refusal:
    field = f"positions[{index}].wagers.{wager}"
    try:
        kind = METER_OF.get(Wager(wager))
    except ValueError:
        kind = None
    if kind is None:
        return Refusal("unknown_wager", f"{wager} is no wager that feeds a meter", field)
    offer = known.offers.get(wager)
    if offer is None:
        return Refusal(
            "unknown_meter", f"table {known.table.id} feeds no {kind} meter: {wager} refused", field
        )
    return Refusal(
        "wrong_amount", f"{wager} is offered at {offer.wager_cents} cents, not {cents}", field
    )


def judge_result(known: KnownTable, event: Result, opened: OpenRound) -> JudgedResult:
    """Settle a round by the rules, and put it as work for the script.

    Raises:
        Refusal: positions, cards or patrons that cannot be, or that are not those of the wagers.
    """
    try:
        dealt = _round_of(known, event, opened)
        check_round(dealt, known.terms)
    except RoundError as error:
        raise Refusal(error.code, error.message, error.field) from None
    settlement = settle_round(dealt, known.terms)
    takes = tuple(
        TakeStep(
            known.meters[take.meter].meter_id,
            take.percent,
            take.shares,
            known.terms[take.meter].reseed_cents * MICROS_PER_CENT,
            known.terms[take.meter].reserve_bps > 0,
        )
        for take in settlement.takes
    )
    writer = _ResultWriter(known, event, opened)
    for due in settlement.dues:
        writer.put(due)
    return JudgedResult(ResultWork(writer.reply(), takes, tuple(writer.dues)), tuple(writer.claims))


def _round_of(known: KnownTable, event: Result, opened: OpenRound) -> Round:
    wagered = {position.position: position for position in opened.wagers.positions}
    seen: set[int] = set()
    positions: list[DealtPosition] = []
    for index, dealt in enumerate(event.positions):
        _check_position(known, dealt.position, seen, index)
        bet = wagered.pop(dealt.position, None)
        patron = dealt.patron
        if bet is not None and bet.patron is not None:
            if patron is not None and patron != bet.patron:
                raise Refusal(
                    "patron_differs",
                    f"position {dealt.position} wagered as {bet.patron}, not as {patron}",
                    f"positions[{index}].patron",
                )
            patron = bet.patron
        positions.append(
            DealtPosition(
                position=dealt.position,
                patron=patron,
                cards=three_cards(dealt.cards, f"positions[{index}].cards")
                if dealt.cards
                else None,
                folded=dealt.folded,
                wagers={
                    Wager(wager): cents for wager, cents in (bet.wagers if bet else {}).items()
                },
            )
        )
    if wagered:
        raise Refusal(
            "position_missing",
            f"position {min(wagered)} has a wager in this round and no hand",
            "positions",
        )
    return Round(
        positions=tuple(positions),
        dealer=three_cards(event.dealer, "dealer"),
        community=two_cards(event.community, "community") if event.community else None,
        draw=_draw(opened.draw),
    )


def _draw(draw: DrawMade | None) -> Draw:
    if draw is None:
        return Draw()
    return Draw(
        magic_card=one_card(draw.magic_card, "draw") if draw.magic_card else None,
        lucky_position=draw.lucky_position,
    )


class _ResultWriter:
    """Puts the dues of a settlement as steps, and the reply with gaps where shares will stand."""

    def __init__(self, known: KnownTable, event: Result, opened: OpenRound) -> None:
        self._known = known
        self._event = event
        self._hands = {dealt.position: dealt for dealt in event.positions}
        self._patrons = {bet.position: bet.patron for bet in opened.wagers.positions}
        self._lines: list[str | int] = []
        self._opened: list[str | int] = []
        self.dues: list[DueStep] = []
        self.claims: list[OpenedClaim] = []

    def put(self, due: Due) -> None:
        """Add one line of the settlement, and what is due by it."""
        line = due.line
        text = msgspec.json.encode(line).decode()
        if line.paid == 0 and due.take is None:
            self._lines += [",", text]
            return
        record = self._claim_record(line) if self._waits(due) else None
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
        kind = _METER_OF_ITEM[item]
        return self._known.meters[kind].meter_id

    def _claim_record(self, line: Line) -> ClaimRecord:
        event, table = self._event, self._known.table
        hand = self._hands[line.position]
        return ClaimRecord(
            claim=f"{table.id}-{event.seq}-{len(self.claims) + 1}",
            link=self._known.link,
            meter=self._meter_id(line.item),
            table=table.id,
            asset=table.asset,
            position=line.position,
            patron=self._patrons.get(line.position) or hand.patron,
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
        )


_METER_OF_ITEM: Final[Mapping[str, MeterKind]] = {
    **{wager.value: kind for wager, kind in METER_OF.items()},
    "progressive_envy": MeterKind.PROGRESSIVE,
    "five_card_envy": MeterKind.FIVE_CARD_PROGRESSIVE,
    "five_of_six_envy": MeterKind.FIVE_OF_SIX_PROGRESSIVE,
    "magic_card": MeterKind.FIVE_CARD_HAND_BONUS,
    "lucky_bonus": MeterKind.FIVE_CARD_HAND_BONUS,
}


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
