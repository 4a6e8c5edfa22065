"""Settlement of a round in the order of its chapter, and its effects on the meters.

The order follows 649a.11(c), 679a.11(c) and (d), 682a.11(d) and (e). ``settle_round`` needs no
meter balance: it only records percentages of a meter, which ``resolve`` subtracts in paying order.
The meter service subtracts them itself.

Cents times a rate in basis points are micros, so contributions are never rounded. Payouts are
rounded down to the cent, and the rest stays on the meter (reading G3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import msgspec

from bonus.law.meter_terms import MeterTerms
from bonus.rounds import (
    Due,
    KeptWagers,
    Line,
    MeterHolding,
    Outcome,
    PercentWon,
    Round,
    RoundPosition,
    Settlement,
    encode_line,
    kept_wagers,
)
from bonus.settling.payouts import PlainLines, SettlingStep, Turns, paying_order
from bonus.settling.table_rules import TableRules
from bonus.wagers import MICROS_PER_CENT


def contributions(
    positions: Sequence[RoundPosition], rules: TableRules, terms: Mapping[str, MeterTerms]
) -> dict[str, MeterHolding]:
    """Return the contributions of a round's wagers to each meter and its reserve, in micros.

    The wagers of folded hands also contribute (reading T14). A meter that gets none is left out.
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

    The amount, and then each share of the amount, is rounded down to the cent. Fractions of a cent,
    and cents that cannot be divided equally, stay on the meter (readings G3, T17).

    After a win of 100%, the meter is immediately reseeded: it receives its whole reserve and the
    reseed amount of the chapter, and the reserve restarts from 0 (readings T15, T21; 649a.12(e)(3),
    (h)(3), (i)(4), (j)(3)). After every win, the overflow refills the meter up to its payout limit,
    so the next win of the round is paid from the refilled meter.

    Raises:
        ValueError: ``take`` and ``terms`` are for different meters.
    """
    if take.meter != terms.kind:
        raise ValueError(f"a percentage of {take.meter} by the terms of {terms.kind}")
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
    """Return a meter with ``held_micros`` in all; the money above the limit is its overflow."""
    limit_micros = holding.limit_micros
    amount_micros = min(held_micros, limit_micros) if limit_micros else held_micros
    return MeterHolding(amount_micros, reserve_micros, held_micros - amount_micros, limit_micros)


def resolve(
    settlement: Settlement, holdings: Mapping[str, MeterHolding], terms: Mapping[str, MeterTerms]
) -> tuple[Sequence[Due], dict[str, MeterHolding]]:
    """Return the lines with their final amounts, and the balances after the round.

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


def settle_round(played: Round, rules: TableRules, terms: Mapping[str, MeterTerms]) -> Settlement:
    """Settle a round that ``check_round`` has accepted.

    The position with the highest number is paid first (reading G1). At each position, all wagers
    are settled in turn (reading T13). The Envy Bonuses that a hand brings to other players follow
    right after its progressive wager. If a dealer's card was exposed, the wagers against the
    dealer's hand are returned, and the others settled (readings P8, F10).

    Raises:
        RoundError: cards are missing, because ``check_round`` did not check the round.
    """
    turns = Turns(played, rules.survivors, terms, rules.limit)
    irregular = rules.chapter.irregular
    every = rules.exposed_steps if played.dealer_exposed else rules.steps
    steps = _concerned(every, turns.made)
    plans = _plans(steps, tuple(terms.items()))
    for box in turns.boxes():
        if played.dealer_exposed:
            for wager in rules.placings:
                if wager in box.wagers and wager not in irregular.settled:
                    turns.give_back(wager, irregular.dealer_exposed)
        plan = _planned_steps(plans, box)
        if plan is None:
            for step in steps:
                step.settle(turns, box)
            continue
        hands, dues = turns.hands, turns.dues
        for each in plan:
            if each.judged is None:
                each.step.settle(turns, box)
                continue
            # This code is not a method of the step: calls would take a third of the time.
            hand = hands.get(each.judged) or turns.name_hand(each.judged)
            due = each.known.get(hand)
            if due is None:
                each.settle_first(turns, hand)
            else:
                dues.append(due)
    return Settlement(tuple(turns.dues), tuple(turns.takes))


@lru_cache(maxsize=1_024)
def _concerned(steps: tuple[SettlingStep, ...], made: frozenset[str]) -> tuple[SettlingStep, ...]:
    return tuple(step for step in steps if step.concerns(made))


def _planned_steps(plans: "_Plans", box: RoundPosition) -> "tuple[_PlannedStep, ...] | None":
    """Return the planned steps; None if each step must look at the wagers itself."""
    if box.folded or box.no_win:
        return None
    return _plan_of(plans, box.position, kept_wagers(box.wagers))


@dataclass(frozen=True, slots=True, eq=False)
class _Plans:
    steps: tuple[SettlingStep, ...]
    terms: Mapping[str, MeterTerms]


@lru_cache(maxsize=256)
def _plans(steps: tuple[SettlingStep, ...], terms: tuple[tuple[str, MeterTerms], ...]) -> _Plans:
    return _Plans(steps, dict(terms))


class _PlannedStep:
    """A step for a position with certain wagers, and the line of each hand that has occurred.

    ``judged`` is None if the hand alone never decides the line.
    """

    __slots__ = ("_line_of", "judged", "known", "step")

    def __init__(self, step: SettlingStep, plain: PlainLines | None) -> None:
        self.step: Final = step
        self.judged: Final = plain[0] if plain else None
        self._line_of: Final = plain[1] if plain else None
        self.known: Final[dict[str, Due]] = {}

    def settle_first(self, turns: Turns, hand: str) -> None:
        """Settle a hand without a known line, and keep the line if the hand decides it."""
        line = self._line_of(hand) if self._line_of else None
        if line is None:
            self.step.settle(turns, turns.box)
        else:
            self.known[hand] = due = Due(line, text=encode_line(line))
            turns.dues.append(due)


# Players often repeat their wagers, so the plans and lines of the same wagers are kept: this saves
# a seventh of a result's time. Plans share the steps and lines of wagers of the same amount, so
# there are fewer, and they stay in the processor's cache.
@lru_cache(maxsize=2_048)
def _plan_of(plans: _Plans, position: int, wagers: KeptWagers) -> "tuple[_PlannedStep, ...]":
    return tuple(
        _planned_step(plans, step, position, wagers.get(step.wager)) for step in plans.steps
    )


@lru_cache(maxsize=4_096)
def _planned_step(
    plans: _Plans, step: SettlingStep, position: int, wagered_cents: int | None
) -> _PlannedStep:
    plain = None
    if wagered_cents is not None:
        plain = step.plain(position, wagered_cents, plans.terms)
    return _PlannedStep(step, plain)


def void_lines(
    positions: Sequence[RoundPosition], rules: TableRules, rule: str
) -> tuple[Line, ...]:
    """Return the lines of a void round: all wagers are returned.

    The rules are 649a.13, 679a.13, 682a.13 and reading T28. ``rule`` is the subsection about the
    irregularity, such as 649a.13(d).
    """
    return tuple(
        Line(
            position=box.position,
            item=wager,
            outcome=Outcome.RETURNED,
            wagered=box.wagers[wager],
            paid=0,
            returned=box.wagers[wager],
            rule=rule,
        )
        for box in paying_order(positions)
        for wager in rules.placings
        if wager in box.wagers
    )
