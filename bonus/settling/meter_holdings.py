"""What meters hold: what a round adds, and what its percentages take off, to the micro.

A micro is a ten-thousandth of a cent, so cents times basis points are micros and nothing that is
added is ever rounded. What is paid is floored to the cent; the rest stays (reading G3).
"""

from collections.abc import Mapping, Sequence

import msgspec

from bonus.law.meter_terms import MeterTerms
from bonus.settling.rounds import RoundPosition
from bonus.settling.settlement_lines import Line, MeterHolding, PercentWon, Settlement
from bonus.wagers import MICROS_PER_CENT, MeterKind, meter_fed_by


def contributions(
    positions: Sequence[RoundPosition], terms: Mapping[MeterKind, MeterTerms]
) -> dict[MeterKind, MeterHolding]:
    """What the wagers of a round add to each meter and its reserve, folded ones too (reading T14).

    Only meters that are added to are named.
    """
    wagered_cents: dict[MeterKind, int] = {}
    for box in positions:
        for wager, amount_cents in box.wagers.items():
            kind = meter_fed_by(wager)
            if kind is not None:
                wagered_cents[kind] = wagered_cents.get(kind, 0) + amount_cents
    return {
        kind: MeterHolding(cents * terms[kind].primary_bps, cents * terms[kind].reserve_bps)
        for kind, cents in wagered_cents.items()
    }


def take_off(
    holding: MeterHolding, take: PercentWon, terms: MeterTerms
) -> tuple[int, MeterHolding]:
    """Take a percentage off a meter; give one share of it, in cents, and what the meter then holds.

    The percentage is floored to the cent, each share to the cent again; fractions and undivided
    cents stay on the meter (readings G3, T17). After a win of the whole meter it is reseeded at
    once, by what the chapter gives it and by the whole of its reserve, which starts again from
    nothing (readings T15, T21; 649a.12(e)(3), (h)(3), (i)(4), (j)(3)).

    Raises:
        ValueError: the take is off another meter than the terms are for.
    """
    if take.meter != terms.kind:
        raise ValueError(f"a take off {take.meter} by the terms of {terms.kind}")
    jackpot_cents = holding.amount_micros * take.percent // (100 * MICROS_PER_CENT)
    share_cents = jackpot_cents // take.shares
    left_micros = holding.amount_micros - share_cents * take.shares * MICROS_PER_CENT
    if take.percent < 100:
        return share_cents, MeterHolding(left_micros, holding.reserve_micros)
    reseed_micros = terms.reseed_cents * MICROS_PER_CENT + holding.reserve_micros
    return share_cents, MeterHolding(left_micros + reseed_micros, 0)


def resolve(
    settlement: Settlement,
    holdings: Mapping[MeterKind, MeterHolding],
    terms: Mapping[MeterKind, MeterTerms],
) -> tuple[tuple[Line, ...], dict[MeterKind, MeterHolding]]:
    """The lines of a settlement with every sum in them, and what the meters hold after it.

    The takes come off one after the other, each off what the one before it left: 649a.12(e)(4),
    (h)(4), (j)(4), and for the Five Card Hand Bonus by the same rule (reading T16).
    """
    after = dict(holdings)
    share_cents: list[int] = []
    for take in settlement.takes:
        share, after[take.meter] = take_off(after[take.meter], take, terms[take.meter])
        share_cents.append(share)
    lines = tuple(
        due.line
        if due.take is None
        else msgspec.structs.replace(due.line, paid=share_cents[due.take])
        for due in settlement.dues
    )
    return lines, after
