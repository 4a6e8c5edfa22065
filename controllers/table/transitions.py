"""Changes of a table's state by device events, which the table refuses, accepts or passes on."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from controllers.table.betting import (
    check_open,
    correct_wager,
    count_chips,
    place_wager,
    record_same_player,
    repeat_wagers,
    withdraw_wager,
)
from controllers.table.card_entry import check_dealt, declare, enter, retract
from controllers.table.device_events import (
    BettingLocked,
    ChipsCounted,
    CorrectionWithdrawn,
    DeviceAnswer,
    DeviceEvent,
    DeviceRefusal,
    EntryEvent,
    NextRound,
    NoWinDeclared,
    Repeated,
    Retracted,
    RoundDone,
    SamePlayer,
    SettlePressed,
    VoidPressed,
    WagerCorrected,
    WagerPlaced,
    WagerWithdrawn,
    name_of,
)
from controllers.table.open_settlements import acknowledge, begin, end, go_on
from controllers.table.state import Layout, Phase, PlacedWager, Returned, TableState, WagerToCorrect
from meters.floor.game_files import GAME_NOT_IN_EFFECT
from meters.wire.messages import (
    DealtPosition,
    EnteredCards,
    MoneyEvent,
    Result,
    Void,
    WagerCorrection,
    WageredPosition,
    Wagers,
    Withdrawal,
    cards_to_compare,
)

EVENTS_LOST: Final = "events_lost"
"""The service has lost events to which it had replied."""

UNCONFIRMED: Final = "unconfirmed"
"""A correction waits for a floorperson. The service and the table use this code."""

ASKED: Final = "a correction request waits for a floorperson: wait, or withdraw it"

_UNKNOWN_WAGERS: Final = (
    "The table does not know which progressive wagers were accepted: return every chip on the"
    " layout, and every electronic wager"
)


DEVICE_EVENT: Final[Mapping[type[MoneyEvent], str]] = {
    Wagers: "lockout",
    Result: "settle",
    Void: "void",
    WagerCorrection: "correct_wager",
    Withdrawal: "withdraw_correction",
}
"""The device events that cause the events for the service."""


class AnsweredStep(msgspec.Struct, frozen=True):
    """Result of an event that the table alone decides, or of the service's reply to an event.

    If the table refuses a device event, `state` is as before, except that a wrong count of chips is
    recorded.
    """

    state: TableState
    answer: DeviceAnswer


class SentStep(msgspec.Struct, frozen=True):
    """Result of a device event that depends on the service's reply to `send`."""

    state: TableState
    send: MoneyEvent


class Stamp(NamedTuple):
    """Number and time (UTC) for the next event that is sent to the service."""

    seq: int
    at: datetime


def play(
    layout: Layout,
    state: TableState,
    event: DeviceEvent,
    stamp: Stamp,
    fault: DeviceRefusal | None = None,
) -> AnsweredStep | SentStep:
    """Apply one device event to a table.

    If the state does not know the number of the last round, a new round gets the number of its
    wagers event. `fault` stops new progressive wagers (duty D13).
    """
    try:
        step = _play(layout, state, event, stamp, fault)
    except DeviceRefusal as refusal:
        answer = answer_to(state, event, refusal)
        if isinstance(event, ChipsCounted) and refusal.code == "chips_differ":
            state = replace(state, differs=event.count)
        return AnsweredStep(state, answer)
    return replace(step, state=replace(step.state, refusal=None))


def _play(
    layout: Layout, state: TableState, event: DeviceEvent, stamp: Stamp, fault: DeviceRefusal | None
) -> AnsweredStep | SentStep:
    if state.asking is not None and not isinstance(event, CorrectionWithdrawn | RoundDone):
        raise DeviceRefusal(UNCONFIRMED, ASKED)
    step: AnsweredStep | SentStep
    match event:
        case CorrectionWithdrawn():
            step = _withdraw(state, stamp)
        case BettingLocked():
            step = _lock(state, stamp, fault)
        case NoWinDeclared():
            declared, positions = declare(layout, state, event)
            step = AnsweredStep(declared, replace(answer_to(state, event), positions=positions))
        case SettlePressed():
            step = _settle(layout, state, stamp, confirm=event.confirm)
        case VoidPressed():
            step = _void(state, event.reason, stamp, confirm=event.confirm)
        case WagerCorrected():
            step = _correct(layout, state, event, event.reason, stamp)
            if event.action == "add" and fault is not None:
                raise fault
        case _:
            entered = _enter(layout, state, event, fault)
            step = AnsweredStep(entered, answer_to(entered, event))
    return step


def play_alone(
    layout: Layout, state: TableState, event: RoundDone | WagerWithdrawn
) -> AnsweredStep:
    try:
        entered = _enter(layout, state, event, None)
    except DeviceRefusal as refusal:
        return AnsweredStep(state, answer_to(state, event, refusal))
    return AnsweredStep(replace(entered, refusal=None), answer_to(entered, event))


def _enter(
    layout: Layout, state: TableState, event: EntryEvent, fault: DeviceRefusal | None
) -> TableState:
    match event:
        case WagerPlaced():
            entered = place_wager(layout, state, event, fault)
        case WagerWithdrawn():
            entered = withdraw_wager(layout, state, event)
        case ChipsCounted():
            entered = count_chips(layout, state, event.count)
        case Retracted():
            entered = retract(layout, state, event)
        case NextRound():
            entered = go_on(state, event.done, event.round)
        case RoundDone():
            entered = acknowledge(state, event.round, event.line, event.lines)
        case SamePlayer():
            entered = record_same_player(layout, state, event)
        case Repeated():
            entered = repeat_wagers(layout, state, fault)
        case _:
            entered = enter(layout, state, event)
    return entered


def answer_to(
    state: TableState, event: DeviceEvent, refusal: DeviceRefusal | None = None
) -> DeviceAnswer:
    error = refusal.detail if refusal else UNSET
    answer = DeviceAnswer(event=name_of(event), ok=refusal is None, error=error)
    if not isinstance(event, WagerPlaced | WagerWithdrawn):
        return answer
    light = state.lit_wager(event.position, event.wager) is not None
    return replace(answer, position=event.position, wager=event.wager[:40], light=light)


def _lock(state: TableState, stamp: Stamp, fault: DeviceRefusal | None) -> AnsweredStep | SentStep:
    """Lock betting and send the accepted wagers to the service before a card is dealt.

    The rules are 649a.8(b), 649a.9(a)(3) and 649a.10(a)(2). Without a progressive wager, nothing is
    sent. The lock-out is refused if the game is not in effect today, or if the service has lost
    earlier events and would refuse the wagers.
    """
    check_open(state)
    if fault is not None and fault.code == GAME_NOT_IN_EFFECT:
        raise fault
    if state.wagers and fault is not None and fault.code == EVENTS_LOST:
        raise fault
    state = replace(begin(state), returned=None, last_wagers=state.wagers)
    # The service compares the patrons in the result with those of these wagers, so the positions
    # of one player must keep their patron.
    wagers = (replace(placed, patron=state.patron_at(placed.position)) for placed in state.wagers)
    state = replace(state, wagers=tuple(wagers))
    if not state.wagers:
        answer = DeviceAnswer(event="lockout", ok=True, draw=None, chips=0)
        return AnsweredStep(replace(state, phase=Phase.LOCKED), answer)
    # A round's number is never higher than the `stamp.seq` of its wagers event. So if the state was
    # lost, the present `stamp.seq` is a new number.
    number = state.rounds + 1 if state.rounds else stamp.seq
    name = f"R{number}"
    positions = _wagered(state.wagers)
    event = Wagers(seq=stamp.seq, at=stamp.at, round=name, positions=positions)
    locked = replace(state, phase=Phase.LOCKED, round=name, rounds=number)
    return SentStep(locked, event)


def _wagered(wagers: tuple[PlacedWager, ...]) -> list[WageredPosition]:
    by_position: dict[int, dict[str, int]] = {}
    patrons = {placed.position: placed.patron for placed in wagers}
    for placed in wagers:
        by_position.setdefault(placed.position, {})[placed.wager] = placed.amount_cents
    return [
        WageredPosition(position=position, patron=patrons[position], wagers=by_position[position])
        for position in sorted(by_position)
    ]


def _correct(
    layout: Layout,
    state: TableState,
    event: WagerCorrected | WagerToCorrect,
    reason: str,
    stamp: Stamp,
) -> SentStep:
    placed, wagers = correct_wager(layout, state, event)
    correction = WagerCorrection(
        seq=stamp.seq,
        at=stamp.at,
        round=state.round or "",
        action=event.action,
        position=placed.position,
        wager=placed.wager,
        amount=placed.amount_cents,
        reason=reason,
        positions=_wagered(wagers),
    )
    return SentStep(state, correction)


def corrected(state: TableState, sent: WagerCorrection) -> TableState:
    """Return the state of a table after an accepted correction of a wager.

    The dealer counts the chips again. If no wager is left, the round continues without progressive
    wagers, and is over for the service.
    """
    wagers = tuple(
        PlacedWager(at.position, wager, cents, at.patron)
        for at in sent.positions
        for wager, cents in at.wagers.items()
    )
    state = replace(
        state, phase=Phase.LOCKED, wagers=wagers, last_wagers=wagers, differs=None, asking=None
    )
    return state if wagers else replace(state, round=None, draw=None)


def ask_again(layout: Layout, state: TableState, stamp: Stamp) -> SentStep:
    """Repeat the event that waits for a floorperson; refuse if it is no longer possible."""
    asking = state.asking
    if asking is None or state.round is None:
        raise DeviceRefusal("nothing_asked", "there is no correction request")
    if asking.event == "settle":
        _check_entered(layout, state)
        return _result(layout, state, state.round, stamp, confirm=asking.confirm)
    if asking.wager is not None:
        return _correct(layout, state, asking.wager, asking.reason, stamp)
    return _void_of(state, state.round, asking.reason, stamp, confirm=asking.confirm)


def _withdraw(state: TableState, stamp: Stamp) -> SentStep:
    """Withdraw the correction request at the service, so that nobody can confirm it later."""
    if state.asking is None or state.round is None:
        raise DeviceRefusal("nothing_asked", "there is no correction request")
    return SentStep(state, Withdrawal(seq=stamp.seq, at=stamp.at, round=state.round))


def _settle(
    layout: Layout, state: TableState, stamp: Stamp, *, confirm: bool
) -> AnsweredStep | SentStep:
    _check_entered(layout, state)
    if state.round is None:
        over = end(state)
        answer = DeviceAnswer(event="settle", ok=True, lines=(), claims=(), held=over.held or UNSET)
        return AnsweredStep(over, answer)
    return _result(layout, state, state.round, stamp, confirm=confirm)


def _check_entered(layout: Layout, state: TableState) -> None:
    check_dealt(state)
    missing = list(state.unread(layout))
    if hands := [each for each in missing if isinstance(each, int)]:
        raise DeviceRefusal("hand_missing", f"position {min(hands)} has a wager but no hand yet")
    if "dealer" in missing:
        what = "the table's result" if layout.has_results else "the dealer's hand"
        raise DeviceRefusal("dealer_missing", f"{what} is not entered yet")
    if missing:
        rule = layout.deal.rule
        raise DeviceRefusal("community_missing", f"a wager needs the community cards ({rule})")


def _result(
    layout: Layout, state: TableState, round_id: str, stamp: Stamp, *, confirm: bool
) -> SentStep:
    before = [each for each in state.taken_back if _differs(layout, state, each)]
    dealt = {hand.position for hand in state.hands} | {*state.folded, *state.no_win}
    if not layout.deal.hand:
        dealt |= {*state.lit}
    # A folded hand was entered only if its cards stayed on the table: because of a wager that
    # survives a fold, or of a Six Card Bonus, which no device reports (649a.11(c), reading T8).
    cards = {hand.position: list(hand.cards) for hand in state.hands}
    event = Result(
        seq=stamp.seq,
        at=stamp.at,
        round=round_id,
        positions=[
            DealtPosition(
                position=position,
                patron=state.patron_at(position),
                cards=cards.get(position),
                folded=position in state.folded,
                no_win=True if position in state.no_win else UNSET,
            )
            for position in sorted(dealt)
        ],
        dealer=list(state.dealer or ()),
        community=list(state.community or ()) if state.needs_community(layout) else None,
        entered_before=before or UNSET,
        confirm=confirm and bool(before),
    )
    return SentStep(replace(state, phase=Phase.SETTLING), event)


def _void(
    state: TableState, reason: str, stamp: Stamp, *, confirm: bool
) -> AnsweredStep | SentStep:
    """Void the round: all its wagers are returned (649a.13, reading T28).

    The void is sent only if the service has wagers of the round.
    """
    if state.phase is Phase.OPEN:
        raise DeviceRefusal("not_locked", "there is no locked round to void")
    if state.phase in {Phase.SETTLING, Phase.HELD}:
        raise DeviceRefusal("round_over", "a round with a result cannot be voided")
    if state.round is None:
        return AnsweredStep(voided(state, reason), DeviceAnswer(event="void", ok=True))
    return _void_of(state, state.round, reason, stamp, confirm=confirm)


def _void_of(
    state: TableState, round_id: str, reason: str, stamp: Stamp, *, confirm: bool
) -> SentStep:
    entered = _entered(state)
    event = Void(
        seq=stamp.seq,
        at=stamp.at,
        round=round_id,
        reason=reason,
        entered=entered or UNSET,
        confirm=confirm and bool(entered),
    )
    return SentStep(state, event)


def voided(state: TableState, reason: str) -> TableState:
    """Return the state of a table after a void.

    If only the service knew the round, the table does not know which wagers are returned.
    """
    wagers, why = state.wagers, f"The round is void: {reason}"
    if state.phase is Phase.LOCKED_OUT and not wagers and state.returned is None:
        why = f"{why}. {_UNKNOWN_WAGERS}"
    if not wagers and state.returned is not None:
        wagers = state.returned.wagers
        if state.phase is not Phase.LOCKED_OUT:
            # The dealer can have returned the chips of these wagers at the count.
            why = f"{why}. {state.returned.reason}"
    return end(state, returned=Returned(why, wagers, void=True))


def _entered(state: TableState) -> list[EnteredCards]:
    found = [
        *state.taken_back,
        *(
            EnteredCards(what="hand", position=hand.position, cards=list(hand.cards))
            for hand in (*state.collected_hands, *state.hands)
        ),
        *(EnteredCards(what="hand", position=position, no_win=True) for position in state.no_win),
    ]
    if state.dealer is not None:
        found.append(EnteredCards(what="dealer", cards=list(state.dealer)))
    if state.community is not None:
        found.append(EnteredCards(what="community", cards=list(state.community)))
    return found


def _differs(layout: Layout, state: TableState, back: EnteredCards) -> bool:
    """Return whether retracted cards differ from the cards entered now.

    A retracted "no win" differs if the hand is not declared as "no win" now.
    """
    if back.no_win:
        return back.position not in state.no_win
    hands = {hand.position: hand.cards for hand in (*state.collected_hands, *state.hands)}
    at_hand = hands.get(back.position) if back.position is not None else None
    entered = {"hand": at_hand, "dealer": state.dealer, "community": state.community}[back.what]
    compared = partial(
        cards_to_compare, back.what, community_ordered=layout.rules.chapter.community_ordered
    )
    return compared(entered or ()) != compared(back.cards)
