"""Settlement of a round, in the order that its chapter requires of the dealer.

The order is that of 649a.11(c), 679a.11(c) and (d), 682a.11(d) and (e). ``settle_round`` determines
all wins and needs no meter balance: it only records a percentage of a meter, whose amount depends
on the balance when it is subtracted. ``resolve`` subtracts the recorded percentages in paying
order. The meter service does not use it, and subtracts them itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from bonus.law.meter_terms import MeterTerms
from bonus.settling.payouts import PlainLines, SettlingStep, Turns, paying_order
from bonus.settling.rounds import KeptWagers, Round, RoundPosition, kept_wagers
from bonus.settling.settlement_lines import Due, Line, Outcome, Settlement, encode_line
from bonus.settling.table_rules import TableRules


def settle_round(played: Round, rules: TableRules, terms: Mapping[str, MeterTerms]) -> Settlement:
    """Settle a round that ``check_round`` has accepted.

    The position with the highest number is paid first (reading G1). At each position, all wagers
    are settled in turn (reading T13), and right after its progressive wager, the Envy Bonuses that
    its hand brings are paid to the other players.

    If a dealer's card was exposed, the wagers against the dealer's hand are returned, and the
    others settled (readings P8, F10).

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
            # A call for each wager would take a third of the time.
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
    """Return the planned steps of a position; None if each step must look at the wagers itself."""
    if box.folded or box.no_win:
        return None
    return _plan_of(plans, box.position, kept_wagers(box.wagers)).steps()


@dataclass(frozen=True, slots=True, eq=False)
class _Plans:
    """The steps and the terms of meters from which plans are made; compared by identity."""

    steps: tuple[SettlingStep, ...]
    terms: Mapping[str, MeterTerms]


@lru_cache(maxsize=256)
def _plans(steps: tuple[SettlingStep, ...], terms: tuple[tuple[str, MeterTerms], ...]) -> _Plans:
    return _Plans(steps, dict(terms))


class _PlannedStep:
    """A step for a position with certain wagers, and the lines that it has added.

    ``judged`` is None if the hand alone never decides the line. ``known`` are the lines by hand.
    """

    __slots__ = ("_line_of", "judged", "known", "step")

    def __init__(self, step: SettlingStep, plain: PlainLines | None) -> None:
        self.step: Final = step
        self.judged: Final = plain[0] if plain else None
        self._line_of: Final = plain[1] if plain else None
        self.known: Final[dict[str, Due]] = {}

    def settle_first(self, turns: Turns, hand: str) -> None:
        """Settle the step for a hand without a known line. Keep the line if the hand decides it."""
        line = self._line_of(hand) if self._line_of else None
        if line is None:
            self.step.settle(turns, turns.box)
        else:
            self.known[hand] = due = Due(line, text=encode_line(line))
            turns.dues.append(due)


class _Plan:
    """The planned steps for a position with certain wagers, made at the second use.

    To make them takes longer than to settle the wagers, and many wagers are never repeated.
    """

    __slots__ = ("_plans", "_position", "_steps", "_used", "_wagers")

    def __init__(self, plans: _Plans, position: int, wagers: KeptWagers) -> None:
        self._plans = plans
        self._position = position
        self._wagers = wagers
        self._used = False
        self._steps: tuple[_PlannedStep, ...] | None = None

    def steps(self) -> tuple[_PlannedStep, ...] | None:
        if self._steps is None:
            if self._used:
                self._steps = tuple(self._planned())
            self._used = True
        return self._steps

    def _planned(self) -> Iterator[_PlannedStep]:
        for step in self._plans.steps:
            cents = self._wagers.get(step.wager)
            yield _planned_step(self._plans, step, self._position, cents)


# Players often repeat their wagers, so the plans and lines of the same wagers are kept. Plans share
# the steps and lines of wagers of the same amount: fewer stay in the processor's cache.
@lru_cache(maxsize=2_048)
def _plan_of(plans: _Plans, position: int, wagers: KeptWagers) -> _Plan:
    return _Plan(plans, position, wagers)


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
    """Return the settlement lines of a void round: all wagers are returned.

    649a.13, 679a.13, 682a.13, reading T28. ``rule`` is the subsection about the irregularity, such
    as 649a.13(d), if it is known why the round is void.
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
