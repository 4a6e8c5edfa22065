"""Entry and correction of a round's cards, folds, and declarations that a hand wins nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from msgspec.structs import replace

from bonus.rounds import Line, Outcome, Round, RoundPosition
from bonus.settling.settlement import settle_round
from controllers.table.betting import check_locked, check_position
from controllers.table.device_events import (
    CommunityRead,
    DealerRead,
    DeviceRefusal,
    HandFolded,
    HandRead,
    NoWinDeclared,
    Retracted,
)
from controllers.table.state import Hand, Layout, Phase, TableState
from meters.wire.messages import EnteredCards

TAKEN_BACK_MAX: Final = 10
"""How often cards can be retracted in one round, so that one event has room for all these cards."""

_OWN_CARDS: Final = frozenset({"hand", "hand_and_community", "hand_and_dealer"})


def check_dealt(state: TableState) -> None:
    check_locked(state)
    if state.phase is not Phase.DEALT:
        raise DeviceRefusal("chips_first", "count the value chips before cards are dealt")


def enter(
    layout: Layout, state: TableState, event: HandRead | HandFolded | DealerRead | CommunityRead
) -> TableState:
    check_dealt(state)
    match event:
        case HandRead():
            return _hand(layout, state, event)
        case HandFolded():
            return _fold(layout, state, event)
        case DealerRead():
            if layout.deal.dealer == 0:
                raise DeviceRefusal("wrong_cards", f"{layout.game} has no dealer's hand")
            if state.dealer is not None:
                raise DeviceRefusal("hand_twice", "the dealer's hand was entered already")
            return replace(state, dealer=_cards(layout, state, event.cards, layout.deal.dealer))
        case CommunityRead():
            if state.community is not None:
                raise DeviceRefusal("hand_twice", "the community cards were entered already")
            cards = _cards(layout, state, event.cards, layout.deal.community)
            return replace(state, community=cards)


def _hand(layout: Layout, state: TableState, event: HandRead) -> TableState:
    check_position(layout, event.position)
    if state.cards_at(event.position) is not None:
        raise _twice(event.position)
    if event.position in state.collected:
        reason = f"the cards of position {event.position} were collected: take its fold back first"
        raise DeviceRefusal("cards_collected", reason)
    _check_undeclared(state, event.position)
    if not layout.deal.hand:
        raise _no_hands(layout)
    hand = Hand(event.position, _cards(layout, state, event.cards, layout.deal.hand))
    return replace(state, hands=(*state.hands, hand))


def _fold(layout: Layout, state: TableState, event: HandFolded) -> TableState:
    """Enter a fold.

    The cards of a folded hand are collected without being read, unless a wager keeps them on the
    table (649a.11(c), reading T8). A Six Card Bonus wager keeps them there too, but only the
    dealer sees this wager: no device reports it to pitlink.
    """
    position = event.position
    check_position(layout, position)
    if position in state.folded:
        raise DeviceRefusal("fold_twice", f"position {position} folded already")
    _check_undeclared(state, position)
    keeps, entered = state.keeps_cards(layout, position), state.cards_at(position) is not None
    if (keeps or event.cards == "stay") and not entered:
        why = "has a wager that survives a fold" if keeps else "folds, and its cards stay"
        raise DeviceRefusal("hand_missing", f"position {position} {why}: enter its hand first")
    folded = replace(state, folded=(*state.folded, position))
    if event.cards != "collected":
        return folded
    if keeps:
        reason = f"position {position} has a wager that survives a fold: its cards stay"
        raise DeviceRefusal("cards_stay", reason)
    own = tuple(hand for hand in state.hands if hand.position == position)
    return replace(
        folded,
        hands=tuple(hand for hand in state.hands if hand not in own),
        collected=(*state.collected, position),
        collected_hands=(*state.collected_hands, *own),
    )


def declare(
    layout: Layout, state: TableState, event: NoWinDeclared
) -> tuple[TableState, tuple[int, ...]]:
    """Declare that one hand, or each hand whose cards are neither entered nor needed, wins nothing.

    Return the new state, and the positions of the declared hands.

    Raises:
        DeviceRefusal: ``all_hands``: the floor file requires the cards of every hand.
            ``cards_needed``: the cards of the position are needed as evidence.
    """
    check_dealt(state)
    if layout.require_all_hands:
        raise DeviceRefusal("all_hands", "the house requires the cards of every hand")
    if event.position is None:
        waiting = [each for each in state.lit if not state.is_entered(each)]
        waiting = waiting if layout.deal.hand else []
        if not waiting:
            raise DeviceRefusal("nothing_there", "every hand with a wager is entered")
    else:
        check_position(layout, event.position)
        waiting = [event.position]
        if not layout.deal.hand:
            raise _no_hands(layout)
        if state.is_entered(event.position):
            raise _twice(event.position)
    declared = tuple(each for each in waiting if not state.needs_cards(layout, each))
    if not declared:
        raise DeviceRefusal(
            "cards_needed",
            f"a Magic Card or a Lucky Bonus is drawn: enter the cards of position {waiting[0]}",
        )
    return replace(state, no_win=tuple(sorted((*state.no_win, *declared)))), declared


def _no_hands(layout: Layout) -> DeviceRefusal:
    return DeviceRefusal("wrong_cards", f"in {layout.game}, one result is for all positions")


def _twice(position: int) -> DeviceRefusal:
    return DeviceRefusal("hand_twice", f"the hand of position {position} was entered already")


def _check_undeclared(state: TableState, position: int) -> None:
    if position in state.no_win:
        reason = f"position {position} is declared to win nothing: take the declaration back first"
        raise DeviceRefusal("declared_no_win", reason)


def _cards(layout: Layout, state: TableState, names: Sequence[str], count: int) -> tuple[str, ...]:
    deck = layout.rules.deck
    if len(names) != count:
        raise DeviceRefusal(
            "wrong_cards", f"{len(names)} cards were entered, but {count} are dealt"
        )
    try:
        deck.parse(names)
    except ValueError as error:
        raise DeviceRefusal("bad_card", str(error)) from None
    if twice := deck.too_often([*state.cards_shown(), *names]):
        times = "twice" if deck.copies == 1 else f"more than {deck.copies} times"
        raise DeviceRefusal("card_twice", f"{min(twice)} was entered {times}: correct one of them")
    return tuple(names)


def retract(layout: Layout, state: TableState, event: Retracted) -> TableState:
    """Retract an entry before it is sent to the service; refuse if another entry depends on it."""
    check_dealt(state)
    match event.what:
        case "hand":
            return _retract_hand(layout, state, event, _position_of(event))
        case "fold":
            return _retract_fold(layout, state, _position_of(event))
        case "no_win":
            return _retract_no_win(state, event)
        case "dealer":
            if state.dealer is None:
                raise DeviceRefusal("nothing_there", "the dealer's hand is not entered")
            return replace(_noted(state, event, "dealer", state.dealer), dealer=None)
        case "community":
            if state.community is None:
                raise DeviceRefusal("nothing_there", "the community cards are not entered")
            return replace(_noted(state, event, "community", state.community), community=None)
        case "chips":
            if state.folded or state.no_win or state.cards_shown():
                raise DeviceRefusal("cards_first", "first take back the entered cards and folds")
            return replace(state, phase=Phase.LOCKED)


def _noted(
    state: TableState,
    event: Retracted,
    what: Literal["hand", "dealer", "community"],
    cards: tuple[str, ...],
) -> TableState:
    """Record retracted cards, which the ledger must contain.

    Empty `cards` mean that a declaration was retracted.
    """
    if len(state.taken_back) >= TAKEN_BACK_MAX:
        reason = f"cards were taken back {TAKEN_BACK_MAX} times: settle the round or void it"
        raise DeviceRefusal("taken_back_often", reason)
    noted = EnteredCards(
        what=what,
        position=event.position if what == "hand" else None,
        cards=list(cards),
        taken_back=True,
        reason=event.reason,
        no_win=not cards,
    )
    return replace(state, taken_back=(*state.taken_back, noted))


def _retract_no_win(state: TableState, event: Retracted) -> TableState:
    """Retract the declaration of one position, or all declarations.

    Only the first retraction for a position is recorded. So the ledger shows that the hand was
    declared to win nothing before its cards were entered.
    """
    back = state.no_win if event.position is None else (event.position,)
    if not back or not set(back).issubset(state.no_win):
        raise DeviceRefusal("nothing_there", "there is no such declaration to take back")
    noted = {each.position for each in state.taken_back if each.no_win}
    for position in back:
        if position not in noted:
            state = _noted(state, replace(event, position=position), "hand", ())
    return replace(state, no_win=tuple(each for each in state.no_win if each not in back))


def _retract_fold(layout: Layout, state: TableState, position: int) -> TableState:
    if position not in state.folded:
        raise DeviceRefusal("nothing_there", f"position {position} has not folded")
    back = tuple(hand for hand in state.collected_hands if hand.position == position)
    again = [card for hand in back for card in hand.cards]
    if twice := layout.rules.deck.too_often([*state.cards_shown(), *again]):
        reason = f"{min(twice)} of this hand was entered elsewhere since: take it back there first"
        raise DeviceRefusal("card_twice", reason)
    return replace(
        state,
        folded=tuple(each for each in state.folded if each != position),
        collected=tuple(each for each in state.collected if each != position),
        hands=(*state.hands, *back),
        collected_hands=tuple(hand for hand in state.collected_hands if hand not in back),
    )


def _retract_hand(layout: Layout, state: TableState, event: Retracted, position: int) -> TableState:
    cards = state.cards_at(position)
    if cards is None:
        raise DeviceRefusal("nothing_there", f"position {position} has no hand")
    if position in state.folded and state.keeps_cards(layout, position):
        raise DeviceRefusal(
            "fold_first", f"position {position} folded this hand: take the fold back"
        )
    return replace(
        _noted(state, event, "hand", cards),
        hands=tuple(hand for hand in state.hands if hand.position != position),
    )


def _position_of(event: Retracted) -> int:
    if event.position is None:
        raise DeviceRefusal("no_position", f"the position of the {event.what} is missing")
    return event.position


@dataclass(frozen=True, slots=True)
class DeclaredWin:
    """A hand that was declared to win nothing, and cards with which one of its wagers would win.

    `line` says what this wager would win. The cards were entered in this round, at the position
    `entered_at`, and taken back.
    """

    position: int
    cards: tuple[str, ...]
    entered_at: int
    line: Line


def declared_wins(layout: Layout, state: TableState) -> Iterator[DeclaredWin]:
    """Yield the hands that were declared to win nothing, but would win with cards taken back.

    The table knows the cards that were entered in this round and taken back. If the same cards are
    entered for a hand now, they were only typed at the wrong position before. Cards that were taken
    back from a declared hand belong to this hand. Cards that were taken back from another hand can
    belong to any declared hand, under two conditions: none of the cards is on the table now, and
    the other hand was entered or has no wager.
    """
    # With several decks, an equal card on the table can be another card.
    seen = frozenset(state.cards_shown()) if layout.rules.deck.copies == 1 else frozenset()
    for back in state.taken_back:
        cards = sorted(back.cards)
        there = any(cards == sorted(hand.cards) for hand in state.hands)
        if back.what != "hand" or back.position is None or not cards or there:
            continue
        own = back.position in state.no_win
        lit = back.position in state.lit
        if not own and (seen.intersection(cards) or (lit and not state.is_entered(back.position))):
            continue
        for position in (back.position,) if own else state.no_win:
            line = _win_of(layout, state, position, back.cards)
            if line is not None:
                yield DeclaredWin(position, tuple(back.cards), back.position, line)


def _win_of(layout: Layout, state: TableState, position: int, cards: Sequence[str]) -> Line | None:
    deck = layout.rules.deck
    community = None if state.community is None else deck.parse(state.community)
    dealer = None if state.dealer is None else deck.parse(state.dealer)
    missing = {"hand_and_community"} if community is None else set[str]()
    missing |= {"hand_and_dealer"} if dealer is None else set()
    wagers = {
        placed.wager: placed.amount_cents
        for placed in state.wagers_at(position)
        if (decided := layout.rules.placings[placed.wager].cards) in _OWN_CARDS
        and decided not in missing
    }
    box = RoundPosition(position, None, deck.parse(cards), folded=False, wagers=wagers)
    alone = Round((box,), dealer, community)
    dues = settle_round(alone, layout.rules, layout.terms).dues if wagers else ()
    return next((due.line for due in dues if due.line.outcome is Outcome.PAID), None)
