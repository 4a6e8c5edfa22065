"""A round at a simulated table as `pitlink settle` reads it, and its settlement beside it.

A table is told what its meters paid, not what they held. What they held is worked out from what
they paid, so that the round can be settled again and must come to the same lines.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from bonus.law.meter_terms import MeterTerms
from bonus.settling.meter_holdings import take_off
from bonus.settling.rounds import RoundError
from bonus.settling.settle import SettlementText, settle_line
from bonus.settling.settlement_lines import METER_OF_ITEM, Line, MeterHolding, PercentWon
from bonus.wagers import MICROS_PER_CENT, MeterKind, Wager

_ENCODER: Final = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """A round after it was settled at a table.

    Attributes:
        table: the table's id.
        told: the round in the contract's form, but for its meters.
        terms: the terms of the meters that were wagered on.
        lines: the settlement's lines of progressive wagers, as the service gave them.
    """

    table: str
    told: Mapping[str, object]
    terms: Mapping[MeterKind, MeterTerms]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class SettledRecord:
    """A record settled again.

    Attributes:
        round: the round as a line for `pitlink settle`.
        settlement: what the table's players were paid, as a line, the service's lines among it.
        same: whether `pitlink settle` comes to the same lines.
    """

    round: bytes
    settlement: bytes
    same: bool


def settle_again(record: RoundRecord, shown_cents: Mapping[MeterKind, int]) -> SettledRecord:
    """Settle a record's round anew and put the service's lines in their places.

    Args:
        record: the record.
        shown_cents: what the meters showed about then, for those that paid no percentage.
    """
    meters: dict[str, dict[str, int]] = {}
    for kind, terms in record.terms.items():
        held = held_before(terms, record.lines) or MeterHolding(
            shown_cents.get(kind, terms.seed_cents) * MICROS_PER_CENT
        )
        meters[kind.value] = {
            "wager": terms.wager_cents,
            "amount": held.amount_micros // MICROS_PER_CENT,
        }
        if terms.reserve_bps:
            meters[kind.value]["reserve"] = held.reserve_micros // MICROS_PER_CENT
    fields = dict(record.told)
    if meters:
        fields["meters"] = meters
    line = _ENCODER.encode(fields)
    try:
        settled = settle_line(line)
    except RoundError as error:
        refused = {"code": error.code, "message": error.message, "field": error.field}
        return SettledRecord(line, _ENCODER.encode({"error": refused}), same=False)
    lines = tuple(_merged(settled.lines, record.lines))
    settlement = _ENCODER.encode(SettlementText(lines, settled.meters))
    return SettledRecord(line, settlement, same=lines == settled.lines)


def held_before(terms: MeterTerms, lines: Sequence[Line]) -> MeterHolding | None:
    """The least that a meter can have held to pay its percentages of a round, in whole cents.

    None where it paid none, or where nothing that it can have held explains what it paid.
    """
    takes = list(_takes(terms.kind, lines))
    if not takes:
        return None
    whole = next((at for at, (take, _) in enumerate(takes) if take.percent == 100), len(takes))
    reserves = range(1)
    if terms.reserve_bps and takes[whole + 1 :]:
        # What is paid after the whole meter was is paid out of the reserve that followed it.
        reserves = _amounts(*takes[whole + 1])
    for amount_cents in _amounts(*takes[0]):
        for reserve_cents in reserves:
            held = MeterHolding(amount_cents * MICROS_PER_CENT, reserve_cents * MICROS_PER_CENT)
            if _explains(held, takes, terms):
                return held
    return None


def _amounts(take: PercentWon, share_cents: int) -> range:
    """What a meter can have held so that a share of a take came to so much, in cents."""
    least_cents = -(-share_cents * take.shares * 100 // take.percent)
    return range(least_cents, least_cents + (100 * take.shares) // take.percent + 1)


def _explains(
    held: MeterHolding, takes: Sequence[tuple[PercentWon, int]], terms: MeterTerms
) -> bool:
    for take, share_cents in takes:
        cents, held = take_off(held, take, terms)
        if cents != share_cents:
            return False
    return True


def _takes(kind: MeterKind, lines: Sequence[Line]) -> Iterator[tuple[PercentWon, int]]:
    """The percentages that a meter paid, in order, with what one share of each came to."""
    divided = [
        line
        for line in lines
        if line.percent and line.item == Wager.FIVE_CARD_HAND_BONUS_DEALER.value
    ]
    for line in lines:
        if not line.percent or METER_OF_ITEM[line.item] is not kind:
            continue
        if line in divided:
            if line is divided[0]:
                yield PercentWon(kind, line.percent, len(divided)), line.paid
        else:
            yield PercentWon(kind, line.percent), line.paid


def _merged(settled: Sequence[Line], lines: Sequence[Line]) -> Iterator[Line]:
    """The lines settled anew, those of progressive wagers replaced by what the service gave."""
    given = list(lines)
    for line in settled:
        if line.item not in METER_OF_ITEM:
            yield line
        elif given:
            yield given.pop(0)
    yield from given
