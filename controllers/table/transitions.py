"""How a table's state goes on with each device event: what is taken, refused, and sent. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_step
from datetime import datetime
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from controllers.table.betting import (
    check_open,
    count_chips,
    place_wager,
    repeat_wagers,
    tell_player,
    withdraw_wager,
)
from controllers.table.cards import check_dealt, enter, retract
from controllers.table.device_events import (
    BettingLocked,
    ChipsCounted,
    CommunityRead,
    CorrectionWithdrawn,
    DealerRead,
    DeviceAnswer,
    DeviceEvent,
    DeviceRefusal,
    HandFolded,
    HandRead,
    NextRound,
    Repeated,
    Retracted,
    RoundDone,
    SamePlayer,
    SettlePressed,
    VoidPressed,
    WagerPlaced,
    WagerWithdrawn,
    name_of,
)
from controllers.table.pending_claims import acknowledge, begin, end, go_on
from controllers.table.state import Hand, Layout, Phase, Returned, TableState, TakenBack
from meters.wire.messages import (
    DealtPosition,
    EnteredCards,
    MoneyEvent,
    Result,
    Void,
    WageredPosition,
    Wagers,
    Withdrawal,
)

_Entry = (
    ChipsCounted
    | HandRead
    | HandFolded
    | DealerRead
    | CommunityRead
    | Retracted
    | NextRound
    | RoundDone
    | SamePlayer
    | Repeated
)
"""What the table alone decides about, beside the wagers."""


EVENTS_LOST: Final = "events_lost"
"""The fault of a table whose service does not know events that it answered."""

UNCONFIRMED: Final = "unconfirmed"
"""The code of a correction that waits for a floorperson, at the service and here."""

ASKED: Final = "a floorperson is asked to confirm a correction: wait, or withdraw it"


@dataclass(frozen=True, slots=True)
class Transition:
    """What one device event did.

    Attributes:
        state: the table afterwards; the same where the event was refused, save for a wrong count.
        answer: the answer to the device, or None where it depends on the service's reply.
        send: the event that goes to the service, or None.
    """

    state: TableState
    answer: DeviceAnswer | None
    send: MoneyEvent | None = None


@dataclass(frozen=True, slots=True)
class Stamp:
    """What marks an event that goes to the service: its number, and the time, in UTC."""

    seq: int
    at: datetime


def play(
    layout: Layout,
    state: TableState,
    event: DeviceEvent,
    stamp: Stamp,
    fault: DeviceRefusal | None = None,
) -> Transition:
    """Take one device event at a table.

    `stamp` is for the event that may go to the service: a round is named after its number. `fault`
    says why no new progressive wager may be taken now (duty D13), or is None.
    """
    try:
        step = _play(layout, state, event, stamp, fault)
    except DeviceRefusal as refusal:
        answer = failed(state, event, refusal)
        if isinstance(event, ChipsCounted) and refusal.code == "chips_differ":
            state = replace(state, differs=event.count)
        return Transition(state, answer)
    return replace_step(step, state=replace(step.state, refusal=None))


def _play(
    layout: Layout,
    state: TableState,
    event: DeviceEvent,
    stamp: Stamp,
    fault: DeviceRefusal | None,
) -> Transition:
    if isinstance(event, CorrectionWithdrawn):
        return _withdraw(state, stamp)
    if state.asking is not None and not isinstance(event, RoundDone):
        raise DeviceRefusal(UNCONFIRMED, ASKED)
    match event:
        case WagerPlaced():
            step = _lit(place_wager(layout, state, event, fault), event)
        case WagerWithdrawn():
            step = _lit(withdraw_wager(layout, state, event), event)
        case BettingLocked():
            step = _lock(state, stamp, fault)
        case SettlePressed():
            step = _settle(state, stamp, confirm=event.confirm)
        case VoidPressed():
            step = _void(state, event.reason, stamp, confirm=event.confirm)
        case _:
            answer = DeviceAnswer(event=name_of(event), ok=True)
            step = Transition(_enter(layout, state, event, fault), answer)
    return step


def _enter(
    layout: Layout, state: TableState, event: _Entry, fault: DeviceRefusal | None
) -> TableState:
    match event:
        case ChipsCounted():
            entered = count_chips(state, event.count)
        case HandRead() | HandFolded() | DealerRead() | CommunityRead():
            entered = enter(layout, state, event)
        case Retracted():
            entered = retract(state, event)
        case NextRound():
            entered = go_on(state, event.done, event.round)
        case RoundDone():
            entered = acknowledge(state, event.round, event.line, event.lines)
        case SamePlayer():
            entered = tell_player(layout, state, event)
        case Repeated():
            entered = repeat_wagers(layout, state, fault)
    return entered


def failed(state: TableState, event: DeviceEvent, refusal: DeviceRefusal) -> DeviceAnswer:
    """The answer to an event that left the table as it was, the light of a wager included."""
    answer = DeviceAnswer(event=name_of(event), ok=False, error=refusal.detail)
    if isinstance(event, WagerPlaced | WagerWithdrawn):
        return replace(answer, **_light(state, event))
    return answer


def _light(state: TableState, event: WagerPlaced | WagerWithdrawn) -> dict[str, int | str | bool]:
    lit = state.is_lit(event.position, event.wager)
    return {"position": event.position, "wager": event.wager[:40], "light": lit}


def _lit(state: TableState, event: WagerPlaced | WagerWithdrawn) -> Transition:
    answer = DeviceAnswer(event=name_of(event), ok=True)
    return Transition(state, replace(answer, **_light(state, event)))


def _lock(state: TableState, stamp: Stamp, fault: DeviceRefusal | None) -> Transition:
    """Betting is locked and what was accepted goes to the service, before a card is dealt.

    A round without a progressive wager sends nothing. 649a.8(b), 649a.9(a)(3), 649a.10(a)(2).
    Wagers that the service will never take, since it lost events before them, are not sent.
    """
    check_open(state)
    if state.wagers and fault is not None and fault.code == EVENTS_LOST:
        raise fault
    state = replace(begin(state), returned=None, last_wagers=state.wagers)
    # The service holds the result against who wagered: boxes that were one player's stay so.
    wagers = (replace(placed, patron=state.patron_at(placed.position)) for placed in state.wagers)
    state = replace(state, wagers=tuple(wagers))
    if not state.wagers:
        answer = DeviceAnswer(event="lockout", ok=True, draw=None, chips=0)
        return Transition(replace(state, phase=Phase.LOCKED), answer)
    name = f"R{stamp.seq}"
    positions = [
        WageredPosition(
            position=position,
            patron=state.patron_at(position),
            wagers={
                placed.wager.value: placed.amount_cents
                for placed in state.wagers
                if placed.position == position
            },
        )
        for position in sorted({placed.position for placed in state.wagers})
    ]
    event = Wagers(seq=stamp.seq, at=stamp.at, round=name, positions=positions)
    return Transition(replace(state, phase=Phase.LOCKED, round=name), None, event)


def try_again(state: TableState, stamp: Stamp) -> Transition:
    """Try once more what a floorperson is asked to confirm.

    Raises:
        Refusal: the round is no longer one to which that applies.
    """
    asking = state.asking
    if asking is None:
        raise DeviceRefusal("nothing_asked", "no floorperson is asked for anything")
    if asking.event == "settle":
        return _settle(state, stamp, confirm=asking.confirm)
    return _void(state, asking.reason, stamp, confirm=asking.confirm)


def _withdraw(state: TableState, stamp: Stamp) -> Transition:
    """The service is told, so that nobody confirms what the table does not want any more."""
    if state.asking is None or state.round is None:
        raise DeviceRefusal("nothing_asked", "no floorperson is asked for anything")
    return Transition(state, None, Withdrawal(seq=stamp.seq, at=stamp.at, round=state.round))


def _settle(state: TableState, stamp: Stamp, *, confirm: bool) -> Transition:
    """The result of the round goes to the service; without progressive wagers nothing does."""
    check_dealt(state)
    dealt = {hand.position for hand in state.hands} | set(state.folded)
    missing = sorted({placed.position for placed in state.wagers} - dealt)
    if missing:
        raise DeviceRefusal("hand_missing", f"position {missing[0]} wagered, and has no hand yet")
    if state.dealer is None:
        raise DeviceRefusal("dealer_missing", "the dealer's hand is not entered yet")
    if state.needs_community and state.community is None:
        raise DeviceRefusal("community_missing", "a wager needs the community cards (649a.8(d))")
    if state.round is None:
        answer = DeviceAnswer(event="settle", ok=True, lines=(), claims=())
        return Transition(end(state), answer)
    before = entered_before(state)
    event = Result(
        seq=stamp.seq,
        at=stamp.at,
        round=state.round,
        positions=_dealt_positions(state, sorted(dealt)),
        dealer=list(state.dealer),
        community=list(state.community or ()) if state.needs_community else None,
        entered_before=before or UNSET,
        confirm=confirm and bool(before),
    )
    return Transition(replace(state, phase=Phase.SETTLING), None, event)


def _dealt_positions(state: TableState, positions: Iterable[int]) -> list[DealtPosition]:
    dealt: list[DealtPosition] = []
    for position in positions:
        # A folded hand that was entered stayed on the table, for a wager of its own or for a Six
        # Card Bonus, which is no business of this system (649a.11(c), reading T8).
        cards = state.cards_at(position)
        dealt.append(
            DealtPosition(
                position=position,
                patron=state.patron_at(position),
                cards=None if cards is None else list(cards),
                folded=position in state.folded,
            )
        )
    return dealt


def _void(state: TableState, reason: str, stamp: Stamp, *, confirm: bool) -> Transition:
    """All wagers of the round go back (649a.13, reading T28); only the service's are told to it."""
    if state.phase is Phase.OPEN:
        raise DeviceRefusal("not_locked", "there is no locked round to void")
    if state.phase in {Phase.SETTLING, Phase.HELD}:
        raise DeviceRefusal("round_over", "a round with a result cannot be void")
    if state.round is None:
        return Transition(voided(state, reason), DeviceAnswer(event="void", ok=True))
    entered = entered_until_void(state)
    event = Void(
        seq=stamp.seq,
        at=stamp.at,
        round=state.round,
        reason=reason,
        entered=entered or UNSET,
        confirm=confirm and bool(entered),
    )
    return Transition(state, None, event)


def voided(state: TableState, reason: str) -> TableState:
    """The table once a round is void: every wager of it goes back (649a.13, reading T28)."""
    wagers, why = state.wagers, f"The round is void: {reason}"
    if not wagers and state.returned is not None:
        wagers = state.returned.wagers
        if state.phase is not Phase.LOCKED_OUT:
            # Their chips may have gone back already, at the count.
            why = f"{why}. {state.returned.reason}"
    return end(state, returned=Returned(why, wagers, void=True))


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
