"""Settlement of a round in the order of its chapter, and its effects on the meters.

The order follows 649a.11(c), 679a.11(c) and (d), 682a.11(d) and (e). ``settle_round`` needs no
meter balance: it only records percentages of a meter, which ``resolve`` subtracts in paying order.
The meter service does not use ``resolve``: it subtracts the percentages itself.

Cents times a rate in basis points are micros, so contributions are never rounded. Payouts are
rounded down to the cent, and the rest stays on the meter (reading G3).
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
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
    SettledPosition,
    Settlement,
    kept_wagers,
)
from bonus.settling.payouts import JudgedCards, SettlingStep, Turns, paying_order
from bonus.settling.table_rules import TableRules
from bonus.wagers import MICROS_PER_CENT


def contributions(
    positions: Sequence[RoundPosition],
    rules: TableRules,
    terms: Mapping[str, MeterTerms],
    holdings: Mapping[str, MeterHolding] = MappingProxyType({}),
    reserves: Collection[str] = (),
) -> dict[str, MeterHolding]:
    """Return the contributions of a round's wagers to each meter and its reserve, in micros.

    The wagers of folded hands also contribute (reading T14). A meter without a wager is left out.
    ``holdings`` are the meters with these contributions. They decide the rates of a meter whose
    rates change at a balance; a meter that is not in ``holdings`` counts as below this balance.
    Near this balance, both rates can be right. Then the rates above it count, unless the meter's
    reserve has less; ``reserves`` are the meters with a reserve in ``holdings``.
    """
    wagered_cents: dict[str, int] = {}
    for box in positions:
        for wager, amount_cents in box.wagers.items():
            for meter in rules.placings[wager].meters:
                wagered_cents[meter] = wagered_cents.get(meter, 0) + amount_cents
    added: dict[str, MeterHolding] = {}
    for kind, cents in wagered_cents.items():
        of, before_micros = terms[kind], 0
        if of.threshold_cents and (after := holdings.get(kind)):
            below = kind in reserves and after.reserve_micros < cents * of.reserve_above_bps
            off_bps = of.primary_bps if below else of.primary_above_bps
            held_micros = after.amount_micros + after.overflow_micros - cents * off_bps
            before_micros = at_limit(after, held_micros, reserve_micros=0).amount_micros
        primary_bps, reserve_bps = of.rates_bps(before_micros)
        added[kind] = MeterHolding(cents * primary_bps, cents * reserve_bps)
    return added


def take_off(
    holding: MeterHolding, take: PercentWon, terms: MeterTerms, of_micros: int | None = None
) -> tuple[int, MeterHolding]:
    """Subtract a percentage from a meter; return one player's share in cents, and the balances.

    ``of_micros`` is the balance of which the percentage is; if it is left out, the present balance.

    The amount, and then each share of the amount, is rounded down to the cent. Fractions of a cent,
    and cents that cannot be divided equally, stay on the meter (readings G3, T17).

    After a win of 100%, the meter is immediately reseeded: it receives its whole reserve and the
    reseed amount of the chapter. So it is after several percentages of one hand, or of a bad beat,
    that are 100% together. The reserve restarts from 0 (readings T15, T21; 649a.12(e)(3),
    (h)(3), (i)(4), (j)(3)). After every win, the overflow refills the meter up to its payout limit,
    so the next win of the round is paid from the refilled meter.

    Raises:
        ValueError: ``take`` and ``terms`` are for different meters.
    """
    if take.meter != terms.kind:
        raise ValueError(f"a percentage of {take.meter} by the terms of {terms.kind}")
    of_micros = holding.amount_micros if of_micros is None else of_micros
    jackpot_cents = of_micros * take.percent // (100 * MICROS_PER_CENT)
    share_cents = jackpot_cents // take.shares
    left_micros = holding.amount_micros - share_cents * take.paid * MICROS_PER_CENT
    reserve_micros = holding.reserve_micros
    if take.reseeds:
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
    (h)(4), (j)(4)). The Five Card Hand Bonus follows the same rule (reading T16). A percentage that
    continues another is of the balance of the other.
    """
    after = dict(holdings)
    of_micros: dict[str, int] = {}
    share_cents: list[int] = []
    for take in settlement.takes:
        held, own = after[take.meter], terms[take.meter]
        if not take.continues:
            of_micros[take.meter] = held.amount_micros
        share, after[take.meter] = take_off(held, take, own, of_micros[take.meter])
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
    dealer's hand are returned, and the other wagers are settled (readings P8, F10). A bad beat
    follows the last position.

    Raises:
        RoundError: cards are missing, because ``check_round`` did not check the round.
    """
    turns = Turns(played, rules.survivors, terms, rules.limit)
    plans = _plans(rules, tuple(terms.items()), turns.made, played.dealer_exposed)
    settled: list[SettledPosition] = []
    for box in turns.boxes():
        wagers = kept_wagers(box.wagers)
        plan = _plan_of(plans, box.position, wagers, box.folded, box.kept, box.no_win)
        facts = [fact(turns, box) for fact in plan.facts]
        decided = (*facts, *[turns.hand(judged) for judged in plan.judged])
        lines = plan.known.get(decided)
        if lines is None or (lines.limited_cents and not turns.may_repeat(lines)):
            lines = plan.settle(turns, decided)
        if lines.dues:
            settled.append(lines)
    bad_beats = () if played.dealer_exposed else rules.bad_beats
    settled += [SettledPosition.of(dues) for beat in bad_beats if (dues := beat.dues(turns))]
    return Settlement(tuple(settled), tuple(turns.takes))


@dataclass(frozen=True, slots=True, eq=False)
class _Plans:
    """The steps for rounds with certain wagers. ``exposed`` is true after an exposed card."""

    rules: TableRules
    steps: tuple[SettlingStep, ...]
    exposed: bool


@lru_cache(maxsize=256)
def _plans(
    rules: TableRules,
    _terms: tuple[tuple[str, MeterTerms], ...],  # the lines of a plan depend on them
    made: frozenset[str],
    exposed: bool,  # noqa: FBT001  (the cache is slower with keyword arguments)
) -> _Plans:
    every = rules.exposed_steps if exposed else rules.steps
    return _Plans(rules, tuple(step for step in every if step.concerns(made)), exposed)


_KNOWN_MAX: Final = 64


class _Plan:
    """The steps for positions with the same wagers, and the lines of earlier rounds.

    The lines follow from the values of the functions in ``facts``, and from the hands of the cards
    in ``judged``. ``known`` has the lines by these values and hands.
    """

    __slots__ = ("_plans", "facts", "judged", "known")

    def __init__(self, plans: _Plans, box: RoundPosition) -> None:
        self._plans: Final = plans
        shown = box.shows_cards(plans.rules.survivors)
        deciding = [step.decided_by(box, shown=shown) for step in plans.steps]
        self.judged: Final = tuple(
            dict.fromkeys(each for each in deciding if isinstance(each, JudgedCards))
        )
        self.facts: Final = tuple(
            each for each in deciding if each and not isinstance(each, JudgedCards)
        )
        self.known: Final[dict[tuple[Hashable, ...], SettledPosition]] = {}

    def settle(self, turns: Turns, decided: tuple[Hashable, ...]) -> SettledPosition:
        """Settle the position whose turn it is. Keep its lines if only ``decided`` decides them."""
        box, plans = turns.box, self._plans
        turns.dues, turns.repeats, turns.limited_cents = [], True, 0
        if plans.exposed:
            irregular = plans.rules.chapter.irregular
            for wager in plans.rules.placings:
                if wager in box.wagers and wager not in irregular.settled:
                    turns.give_back(wager, irregular.dealer_exposed)
        for step in plans.steps:
            step.settle(turns, box)
        settled = SettledPosition.of(turns.dues, turns.limited_cents)
        if turns.repeats:
            if len(self.known) == _KNOWN_MAX:
                self.known.clear()
            self.known[decided] = settled
        return settled


# Players often repeat their wagers, so the lines of the same wagers are kept: this saves a third of
# the time of a settlement.
@lru_cache(maxsize=1_024)
def _plan_of(  # noqa: PLR0917  (the cache is slower with one tuple)
    plans: _Plans,
    position: int,
    wagers: KeptWagers,
    folded: bool,  # noqa: FBT001  (the cache is slower with keyword arguments)
    kept: bool,  # noqa: FBT001
    no_win: bool,  # noqa: FBT001
) -> _Plan:
    box = RoundPosition(position, None, None, folded, wagers, kept=kept, no_win=no_win)
    return _Plan(plans, box)


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
