from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bonus.cards import parse_cards
from bonus.settling.rounds import Round, RoundPosition
from bonus.settling.settlement import settle_round
from bonus.settling.settlement_lines import Line, Outcome
from controllers.table.state import Layout, TableState

_OWN_CARDS: Final = frozenset({"hand", "hand_and_community"})


@dataclass(frozen=True, slots=True)
class DeclaredWin:
    """A declared hand, and cards with which a wager of the position would have `line`.

    They were entered in this round, at `entered_at`, and taken back.
    """

    position: int
    cards: tuple[str, ...]
    entered_at: int
    line: Line


def declared_wins(layout: Layout, state: TableState) -> Iterator[DeclaredWin]:
    """Yield the declared hands for which the table itself knows cards that win.

    It knows the cards that were entered in this round and taken back. If they are entered for
    another hand now, they were only typed at the wrong place. Cards that were entered for a hand
    without a declaration can be those of any declared hand, if none of them is on the table now,
    and their own hand is not still to be entered.
    """
    seen = state.cards_seen()
    for back in state.taken_back:
        cards = frozenset(back.cards)
        there = any(cards == frozenset(hand.cards) for hand in state.hands)
        if back.what != "hand" or back.position is None or not cards or there:
            continue
        own = back.position in state.no_win
        lit = any(placed.position == back.position for placed in state.wagers)
        if not own and (cards & seen or (lit and not state.is_entered(back.position))):
            continue
        for position in (back.position,) if own else state.no_win:
            line = _win_of(layout, state, position, back.cards)
            if line is not None:
                yield DeclaredWin(position, back.cards, back.position, line)


def _win_of(
    layout: Layout, state: TableState, position: int, cards: tuple[str, ...]
) -> Line | None:  # fmt: skip
    community = None if state.community is None else parse_cards(state.community)
    wagers = {
        placed.wager: placed.amount_cents
        for placed in state.wagers
        if placed.position == position
        and (decided := layout.rules.placings[placed.wager].cards) in _OWN_CARDS
        and (decided == "hand" or community is not None)
    }
    box = RoundPosition(position, None, parse_cards(cards), folded=False, wagers=wagers)
    alone = Round((box,), None, community)
    dues = settle_round(alone, layout.rules, layout.terms).dues if wagers else ()
    return next((due.line for due in dues if due.line.outcome is Outcome.PAID), None)
