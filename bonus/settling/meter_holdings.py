"""Meter balances: the contributions of a round, and the percentages that it wins, in micros.

A micro is a ten-thousandth of a cent. Cents times basis points are micros, so contributions are
never rounded. Payouts are rounded down to the cent; the rest stays on the meter (reading G3).
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
    """Return the contributions of a round's wagers to each meter and its reserve.

    Wagers of folded hands also contribute (reading T14). Meters without a contribution are not
    included.
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
    """Subtract a percentage from a meter; return one share in cents, and the new balances.

    The percentage is rounded down to the cent, then each share is rounded down to the cent. The
    fractions and undivided cents stay on the meter (readings G3, T17). After a win of the whole
    meter, it is immediately reseeded with the chapter's amount and its whole reserve. The reserve
    then starts from 0 (readings T15, T21; 649a.12(e)(3), (h)(3), (i)(4), (j)(3)).

    Raises:
        ValueError: ``take`` and ``terms`` are for different meters.
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
    """Return the lines of a settlement with all sums, and the meter balances after it.

    The percentages are taken in order, each from the balance that the previous one left:
    649a.12(e)(4), (h)(4), (j)(4), and for the Five Card Hand Bonus under the same rule (reading
    T16).
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
