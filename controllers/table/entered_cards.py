"""The cards entered in a round that are not in its result, as the service is told. Pure."""

from collections.abc import Sequence

from controllers.table.state import Hand, TableState, TakenBack
from meters.wire.messages import EnteredCards


def entered_before(state: TableState) -> list[EnteredCards]:
    """The cards of a round to be settled that were taken back and entered differently."""
    return [_taken_back(each) for each in state.taken_back if _differs(state, each)]


def entered_until_void(state: TableState) -> list[EnteredCards]:
    """All cards that were entered in a round that is to be void."""
    found = [_taken_back(each) for each in state.taken_back]
    found += [_hand(hand) for hand in (*state.collected_hands, *state.hands)]
    if state.dealer is not None:
        found.append(EnteredCards(what="dealer", cards=list(state.dealer)))
    if state.community is not None:
        found.append(EnteredCards(what="community", cards=list(state.community)))
    return found


def _differs(state: TableState, back: TakenBack) -> bool:
    """Whether what was taken back was not entered again, whatever the order of its cards."""
    entered: Sequence[str] | None
    match back.what:
        case "hand":
            hands = (*state.hands, *state.collected_hands)
            entered = next((hand.cards for hand in hands if hand.position == back.position), None)
        case "dealer":
            entered = state.dealer
        case "community":
            entered = state.community
    return sorted(entered or ()) != sorted(back.cards)


def _taken_back(back: TakenBack) -> EnteredCards:
    return EnteredCards(
        what=back.what,
        position=back.position,
        cards=list(back.cards),
        taken_back=True,
        reason=back.reason,
    )


def _hand(hand: Hand) -> EnteredCards:
    return EnteredCards(what="hand", position=hand.position, cards=list(hand.cards))
