"""How a table's state goes on with each device event: what is taken, refused, and sent. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from bonus.cards import parse_card
from bonus.law.parts import COMMUNITY_CARDS
from controllers.betting import (
    check_locked,
    check_open,
    check_position,
    count_chips,
    place_wager,
    withdraw_wager,
)
from controllers.events import (
    Answer,
    BettingLocked,
    ChipsCounted,
    CommunityRead,
    DealerRead,
    DeviceEvent,
    HandFolded,
    HandRead,
    Refusal,
    SettlePressed,
    VoidPressed,
    WagerPlaced,
    WagerWithdrawn,
    name_of,
)
from controllers.table import Hand, Layout, Phase, TableState
from meters.wire.messages import DealtPosition, MoneyEvent, Result, Void, WageredPosition, Wagers


@dataclass(frozen=True, slots=True)
class Step:
    """What one device event did.

    Attributes:
        state: the table afterwards; the same where the event was refused.
        answer: the answer to the device, or None where it depends on the service's reply.
        send: the event that goes to the service, or None.
    """

    state: TableState
    answer: Answer | None
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
    fault: Refusal | None = None,
) -> Step:
    """Take one device event at a table.

    Args:
        layout: the table.
        state: the table as it stands.
        event: what a device says.
        stamp: for the event that may go to the service; a round is named after its number.
        fault: why no new progressive wager may be taken now (duty D13), or None.
    """
    try:
        return _play(layout, state, event, stamp, fault)
    except Refusal as refusal:
        answer = Answer(event=name_of(event), ok=False, error=refusal.detail)
        if isinstance(event, WagerPlaced | WagerWithdrawn):
            answer = replace(answer, **_light(state, event))
        return Step(state, answer)


def _play(
    layout: Layout,
    state: TableState,
    event: DeviceEvent,
    stamp: Stamp,
    fault: Refusal | None,
) -> Step:
    match event:
        case WagerPlaced():
            step = _lit(place_wager(layout, state, event, fault), event)
        case WagerWithdrawn():
            step = _lit(withdraw_wager(layout, state, event), event)
        case BettingLocked():
            step = _lock(state, stamp)
        case ChipsCounted():
            step = Step(count_chips(state, event.count), Answer(event="chips", ok=True))
        case HandRead() | HandFolded() | DealerRead() | CommunityRead():
            step = Step(_deal(layout, state, event), Answer(event=name_of(event), ok=True))
        case SettlePressed():
            step = _settle(state, stamp)
        case VoidPressed():
            step = _void(state, event.reason, stamp)
    return step


def _light(state: TableState, event: WagerPlaced | WagerWithdrawn) -> dict[str, int | str | bool]:
    lit = state.is_lit(event.position, event.wager)
    return {"position": event.position, "wager": event.wager[:40], "light": lit}


def _lit(state: TableState, event: WagerPlaced | WagerWithdrawn) -> Step:
    answer = Answer(event=name_of(event), ok=True)
    return Step(state, replace(answer, **_light(state, event)))


def _lock(state: TableState, stamp: Stamp) -> Step:
    """Betting is locked and what was accepted goes to the service, before a card is dealt.

    A round without a progressive wager sends nothing. 649a.8(b), 649a.9(a)(3), 649a.10(a)(2).
    """
    check_open(state)
    if not state.wagers:
        answer = Answer(event="lockout", ok=True, draw=None, chips=0)
        return Step(replace(state, phase=Phase.LOCKED), answer)
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
    return Step(replace(state, phase=Phase.LOCKED, round=name), None, event)


def _check_dealt(state: TableState) -> None:
    check_locked(state)
    if state.phase is not Phase.DEALT:
        raise Refusal("chips_first", "the value chips are to be counted before cards are dealt")


def _deal(
    layout: Layout, state: TableState, event: HandRead | HandFolded | DealerRead | CommunityRead
) -> TableState:
    _check_dealt(state)
    match event:
        case HandRead():
            return _hand(layout, state, event)
        case HandFolded():
            return _fold(layout, state, event.position)
        case DealerRead():
            if state.dealer is not None:
                raise Refusal("hand_twice", "the dealer's hand was entered already")
            return replace(state, dealer=_cards(state, event.cards, layout.dealer_cards))
        case CommunityRead():
            if state.community is not None:
                raise Refusal("hand_twice", "the community cards were entered already")
            return replace(state, community=_cards(state, event.cards, COMMUNITY_CARDS))


def _hand(layout: Layout, state: TableState, event: HandRead) -> TableState:
    check_position(layout, event.position)
    if state.cards_at(event.position) is not None:
        raise Refusal("hand_twice", f"the hand of position {event.position} was entered already")
    hand = Hand(event.position, _cards(state, event.cards, layout.hand_cards))
    return replace(state, hands=(*state.hands, hand))


def _fold(layout: Layout, state: TableState, position: int) -> TableState:
    """A folded hand is collected unread, save where a wager keeps it (649a.11(c), reading T8)."""
    check_position(layout, position)
    if position in state.folded:
        raise Refusal("fold_twice", f"position {position} folded already")
    if state.keeps_cards(position) and state.cards_at(position) is None:
        raise Refusal(
            "hand_missing",
            f"position {position} has a wager that survives a fold: enter its hand first",
        )
    return replace(state, folded=(*state.folded, position))


def _cards(state: TableState, names: Sequence[str], count: int) -> tuple[str, ...]:
    if len(names) != count:
        raise Refusal("wrong_cards", f"{len(names)} cards where {count} are dealt")
    for name in names:
        try:
            parse_card(name)
        except ValueError as error:
            raise Refusal("bad_card", str(error)) from None
    twice = set(names) & state.cards_seen() or {name for name in names if names.count(name) > 1}
    if twice:
        raise Refusal("card_twice", f"{min(twice)} is on the table already")
    return tuple(names)


def _settle(state: TableState, stamp: Stamp) -> Step:
    """The result of the round goes to the service; without progressive wagers nothing does."""
    _check_dealt(state)
    dealt = {hand.position for hand in state.hands} | set(state.folded)
    missing = sorted({placed.position for placed in state.wagers} - dealt)
    if missing:
        raise Refusal("hand_missing", f"position {missing[0]} wagered, and has no hand yet")
    if state.dealer is None:
        raise Refusal("dealer_missing", "the dealer's hand is not entered yet")
    if state.needs_community and state.community is None:
        raise Refusal("community_missing", "a wager needs the community cards (649a.8(d))")
    if state.round is None:
        return Step(TableState(), Answer(event="settle", ok=True, lines=(), claims=()))
    event = Result(
        seq=stamp.seq,
        at=stamp.at,
        round=state.round,
        positions=_dealt_positions(state, sorted(dealt)),
        dealer=list(state.dealer),
        community=list(state.community or ()) if state.needs_community else None,
    )
    return Step(replace(state, phase=Phase.SETTLING), None, event)


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


def _void(state: TableState, reason: str, stamp: Stamp) -> Step:
    """All wagers of the round go back (649a.13, reading T28); only the service's are told to it."""
    if state.phase is Phase.OPEN:
        raise Refusal("not_locked", "there is no locked round to void")
    if state.phase in {Phase.SETTLING, Phase.HELD}:
        raise Refusal("round_over", "a round with a result cannot be void")
    if state.round is None:
        return Step(TableState(), Answer(event="void", ok=True))
    return Step(state, None, Void(seq=stamp.seq, at=stamp.at, round=state.round, reason=reason))
