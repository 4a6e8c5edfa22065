"""Settlement of a round, in the order that its chapter requires of the dealer.

The order is that of 649a.11(c), 679a.11(c) and (d), 682a.11(d) and (e). ``settle_round`` determines
all wins and needs no meter balance. If a win is a percentage of a meter, the amount depends on the
balance when the percentage is subtracted. So ``settle_round`` only records the percentage.
``resolve`` subtracts the recorded percentages from the meters, in paying order. The meter service
does not use ``resolve``: it subtracts the percentages itself.
"""

from collections.abc import Mapping, Sequence

from bonus.law.meter_terms import MeterTerms
from bonus.settling.payouts import Turns, paying_order
from bonus.settling.rounds import Round, RoundPosition
from bonus.settling.settlement_lines import Line, Outcome, Settlement
from bonus.settling.table_rules import TableRules
from bonus.wagers import MeterKind


def settle_round(
    played: Round, rules: TableRules, terms: Mapping[MeterKind, MeterTerms]
) -> Settlement:
    """Settle a round that ``check_round`` has accepted.

    The position with the highest number is paid first (reading G1). At each position, all wagers
    are settled in turn (reading T13). Right after the progressive wager of a position, the Envy
    Bonuses that its hand brings are paid to the other players.

    If a dealer's card was exposed, the wagers against the dealer's hand are returned. The other
    wagers are settled (readings P8, F10).

    Raises:
        RoundError: cards are missing, because ``check_round`` did not check the round.
    """
    turns = Turns(played, rules.survivors, terms, rules.limit)
    irregular = rules.chapter.irregular
    steps = rules.exposed_steps if played.dealer_exposed else rules.steps
    for box in turns.boxes:
        if played.dealer_exposed:
            for wager in rules.placings:
                if wager in box.wagers and wager not in irregular.settled:
                    turns.give_back(box, wager, irregular.dealer_exposed)
        for step in steps:
            step.settle(turns, box)
    return Settlement(tuple(turns.dues), tuple(turns.takes))


def void_lines(
    positions: Sequence[RoundPosition], rules: TableRules, rule: str
) -> tuple[Line, ...]:
    """Return the settlement lines of a void round: all wagers are returned.

    649a.13, 679a.13, 682a.13, reading T28. If it is known why the round is void, ``rule`` is the
    subsection about this irregularity, such as 649a.13(d).
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
