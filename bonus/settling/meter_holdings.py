"""Changes of meter balances by a round: contributions of its wagers, and percentages that it wins.

Balances are in micros, ten-thousandths of a cent. Cents times a rate in basis points are micros, so
contributions are never rounded. Payouts are rounded down to the cent, and the rest stays on the
meter (reading G3).
"""

from collections.abc import Mapping, Sequence

import msgspec

from bonus.law.meter_terms import MeterTerms
from bonus.settling.rounds import RoundPosition
from bonus.settling.settlement_lines import Due, MeterHolding, PercentWon, Settlement
from bonus.settling.table_rules import TableRules
from bonus.wagers import MICROS_PER_CENT


def contributions(
    positions: Sequence[RoundPosition], rules: TableRules, terms: Mapping[str, MeterTerms]
) -> dict[str, MeterHolding]:
    """Return the contributions of a round's wagers to each meter and its reserve, in micros.

    The wagers of folded hands also contribute (reading T14). A meter without any is left out.
    """
    wagered_cents: dict[str, int] = {}
    for box in positions:
        for wager, amount_cents in box.wagers.items():
            for meter in rules.placings[wager].meters:
                wagered_cents[meter] = wagered_cents.get(meter, 0) + amount_cents
    return {
        kind: MeterHolding(cents * terms[kind].primary_bps, cents * terms[kind].reserve_bps)
        for kind, cents in wagered_cents.items()
    }


def take_off(
    holding: MeterHolding, take: PercentWon, terms: MeterTerms
) -> tuple[int, MeterHolding]:
    """Subtract a percentage from a meter; return one player's share in cents, and the balances.

    The amount, and then each share of it, is rounded down to the cent. Fractions of a cent, and
    cents that cannot be divided equally, stay on the meter (readings G3, T17).

    After a win of 100%, the meter is immediately reseeded: it receives its whole reserve and the
    reseed amount of the chapter, and the reserve restarts from 0 (readings T15, T21; 649a.12(e)(3),
    (h)(3), (i)(4), (j)(3)).

    After every win, the overflow refills the meter up to its payout limit, at once like a reseed,
    so the next win of the round is paid from the refilled meter.

    Raises:
        ValueError: ``take`` and ``terms`` are for different meters.
    """
    if take.meter != terms.kind:
        raise ValueError(f"a take off {take.meter} by the terms of {terms.kind}")
    jackpot_cents = holding.amount_micros * take.percent // (100 * MICROS_PER_CENT)
    share_cents = jackpot_cents // take.shares
    left_micros = holding.amount_micros - share_cents * take.shares * MICROS_PER_CENT
    reserve_micros = holding.reserve_micros
    if take.percent == 100:
        left_micros += terms.reseed_cents * MICROS_PER_CENT + reserve_micros
        reserve_micros = 0
    return share_cents, at_limit(
        holding, left_micros + holding.overflow_micros, reserve_micros=reserve_micros
    )


def at_limit(holding: MeterHolding, held_micros: int, *, reserve_micros: int) -> MeterHolding:
    """Return a meter that holds ``held_micros``; what is over the payout limit is its overflow."""
    limit_micros = holding.limit_micros
    amount_micros = min(held_micros, limit_micros) if limit_micros else held_micros
    return MeterHolding(amount_micros, reserve_micros, held_micros - amount_micros, limit_micros)


def resolve(
    settlement: Settlement,
    holdings: Mapping[str, MeterHolding],
    terms: Mapping[str, MeterTerms],
) -> tuple[Sequence[Due], dict[str, MeterHolding]]:
    """Return the settlement lines with their final amounts, and the meter balances after the round.

    The percentages are subtracted one by one, each from the balance at that moment (649a.12(e)(4),
    (h)(4), (j)(4)). The Five Card Hand Bonus follows the same rule (reading T16).
    """
    after = dict(holdings)
    if not settlement.takes:
        return settlement.dues, after
    share_cents: list[int] = []
    for take in settlement.takes:
        share, after[take.meter] = take_off(after[take.meter], take, terms[take.meter])
        share_cents.append(share)
    final = [
        due
        if due.take is None
        else Due(msgspec.structs.replace(due.line, paid=share_cents[due.take]))
        for due in settlement.dues
    ]
    return final, after
