"""The panel's view of a table: state, meters and faults."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from bonus.display import coin_money, hand_words, money
from controllers.panel import views
from controllers.panel.settlement_view import held_views, settled_view
from controllers.panel.views import Said
from controllers.table.card_entry import declared_wins
from controllers.table.device_events import NOT_PASSED_ON, DeviceRefusal
from controllers.table.open_settlements import WAITING_MAX
from controllers.table.state import Asking, Layout, Phase, Returned, TableState
from meters.floor.floor_file import Meter
from meters.floor.game_files import GAME_NOT_IN_EFFECT
from meters.wire.messages import MeterValue

_TITLES: Final[Mapping[str, Said]] = {
    "link_down": Said("Link down"),
    "inoperable": Said("Link inoperable"),
    "closed": Said("Link closed"),
    NOT_PASSED_ON: Said("Call a technician"),
    "events_lost": Said("Call a floorperson"),
    "locked_out": Said("Table locked out"),
    GAME_NOT_IN_EFFECT: Said("Game not in effect"),
}
_REASONS: Final[Mapping[str, Said]] = {
    # This text has no seconds, which would change the page every second.
    "link_down": Said("No signal arrives from the service"),
    NOT_PASSED_ON: Said("What this table sends does not arrive"),
    "events_lost": Said("The service has lost what this table sent"),
}
_LIT: Final = (Said("Lit wagers may be withdrawn."),) * 2
_RETURN: Final = Said("Return the lit wagers: they do not count while this lasts.")
_REFUSED_LIT: Final = frozenset({"closed", "events_lost", GAME_NOT_IN_EFFECT})
"""The faults with which lit wagers are refused at lock-out."""
_ROUND: Final = (
    Said("This round continues: enter it. It is settled when the link is back."),
    Said("This round continues: enter it. It is settled as usual."),
)
_THEN: Final[Mapping[Phase, tuple[Said, Said]]] = {
    Phase.LOCKED: _ROUND,
    Phase.DEALT: _ROUND,
    Phase.HELD: (
        Said("The table is released when the link is back and the win is paid or rejected."),
        Said("The table is released when the win is paid or rejected."),
    ),
    Phase.LOCKED_OUT: (Said("Leave the cards on the table, and call a floorperson."),) * 2,
}
"""What follows for the round. The second sentence is for a link that is only closed, or a game that
is not in effect; the first is for any other fault."""
_SENT: Final = (
    Said("Your last step is completed when the link is back."),
    Said("The service still completes your last step."),
)
_PASSED_ON: Final = Said("Your last step is completed when a technician has corrected this.")
_EVERY_OTHER: Final = Said("Ante, Play and all other wagers too.")
_CURRENT: Final = frozenset({"open", "pending"})
_JOINABLE: Final = frozenset({Phase.OPEN, Phase.LOCKED, Phase.DEALT})


def view_table(
    layout: Layout,
    state: TableState,
    *,
    fault: DeviceRefusal | None,
    values: Mapping[str, MeterValue],
    unanswered: str | None = None,
    demonstration: bool = False,
) -> views.View:
    """Return the view of a table.

    `fault` stops new progressive wagers (duty D13). `values` has only current meter values.
    `unanswered` is the event that waits for the service's reply.
    """
    wagers = list(_wagers(layout))
    asking = state.asking
    if asking is not None:
        # Each repeated correction request waits a moment for the service's reply. To show this
        # would make the page flicker.
        unanswered = None
        if state.phase is Phase.SETTLING:
            state = replace(state, phase=Phase.DEALT)
    unread = list(state.unread(layout)) if state.phase is Phase.DEALT else []
    return views.View(
        table=layout.table,
        link=layout.link_name,
        game=layout.rules.chapter.title,
        linked=bool(layout.meters),
        demonstration=demonstration,
        phase=state.phase.value,
        round=state.round,
        controller=_controller(fault),
        shut=_closed_view(state, fault, unanswered) if layout.meters else None,
        unanswered=unanswered,
        waiting=[settled_view(layout, settled) for settled in state.waiting],
        meters=list(_meters(layout, values, fault)),
        wagers=wagers,
        positions=[
            _position(layout, state, position, busy=unanswered is not None or asking is not None)
            for position in range(1, layout.positions + 1)
        ],
        draw=state.draw,
        chips=state.chips_due(layout),
        chips_returned=state.returned_chips,
        lit=list(_lit(layout, state)),
        results=layout.rules.deck.names if layout.has_results else (),
        decks=layout.rules.deck.copies,
        hand_cards=layout.deal.hand,
        dealer_cards=layout.deal.dealer,
        community_dealt=layout.deal.community,
        dealer=state.dealer,
        community=state.community,
        needs_community=state.needs_community(layout),
        seen=state.cards_shown(),
        next=str(unread[0]) if unread else None,
        missing=list(_missing(layout, unread)),
        envy_unread=state.phase is Phase.DEALT and _envy_unread(layout, state),
        declared_wins=[
            views.DeclaredWinView(
                position=win.position,
                cards=win.cards,
                entered_at=win.entered_at,
                wager=layout.words(win.line.item),
                hand=hand_words(win.line.hand or ""),
            )
            for win in declared_wins(layout, state)
        ],
        can=_can(layout, state, fault, unread) if layout.meters and unanswered is None else [],
        repeat=[(placed.position, placed.wager) for placed in state.last_wagers],
        settled=settled_view(layout, state.settled) if state.settled else None,
        last=settled_view(layout, state.last_settled) if state.last_settled else None,
        returned=_returned(layout, state.returned) if state.returned else None,
        refusal=state.refusal,
        differs=None if state.differs is None else views.DiffersView(counted=state.differs),
        held=held_views(layout, state),
        asking=_asking(layout, asking) if asking else None,
        first_community_cards=layout.rules.chapter.first_community_cards,
        joker=layout.deal.jokers > 0,
    )


def _wagers(layout: Layout) -> Iterator[views.WagerView]:
    for wager, tables in layout.rules.meters.terms.items():
        if amounts_cents := layout.amounts_cents(wager):
            yield views.WagerView(
                wager=wager,
                name=layout.words(wager),
                short=tables.short[tables.names.index(wager)],
                amounts=amounts_cents,
                correctable=not (tables.electronic or tables.draws),
            )


def _asking(layout: Layout, asking: Asking) -> views.AskingView:
    said = None
    if (wager := asking.wager) is not None:
        words = layout.words(wager.wager)
        if wager.amount_cents and len(layout.amounts_cents(wager.wager)) > 1:
            words += f" {money(wager.amount_cents)}"
        which = {"position": str(wager.position), "wager": words}
        said = (
            Said("Add: position {position}, {wager}", which)
            if wager.action == "add"
            else Said("Take back: position {position}, {wager}", which)
        )
    return views.AskingView(
        event=asking.event, wager=said, reason=asking.reason, since=asking.since
    )


def _controller(fault: DeviceRefusal | None) -> str:
    if fault is None or fault.code == GAME_NOT_IN_EFFECT:
        return "operable"
    return fault.code if fault.code in {"inoperable", "closed"} else "not reached"


def _closed_view(
    state: TableState, fault: DeviceRefusal | None, unanswered: str | None
) -> views.ClosedView | None:
    """Return the notice that a fault stops progressive wagers (duties D13 and D14).

    If only the phase of the round stops betting, there is no notice.
    """
    if state.phase is Phase.LOCKED_OUT:
        fault = DeviceRefusal("locked_out", state.reason)
    if fault is None:
        return None
    told = f"{fault.message[:1].upper()}{fault.message[1:]}"
    return views.ClosedView(
        code=fault.code,
        title=_TITLES.get(fault.code, Said("Shut")),
        reason=_REASONS.get(fault.code, told),
        then=_then(state, fault.code, unanswered),
    )


def _then(state: TableState, code: str, unanswered: str | None) -> Said:
    # A closed link, or a game that has expired, accepts no wagers but continues open rounds.
    is_closed = code in {"closed", GAME_NOT_IN_EFFECT}
    if unanswered is not None:
        return _PASSED_ON if code == NOT_PASSED_ON else _SENT[is_closed]
    if state.phase is Phase.OPEN and state.wagers and code in _REFUSED_LIT:
        return _RETURN
    return _THEN.get(state.phase, _LIT)[is_closed]


def _meters(
    layout: Layout, values: Mapping[str, MeterValue], fault: DeviceRefusal | None
) -> Iterator[views.MeterView]:
    """Yield the meters. A meter has an amount only while its value is known to be current (D1)."""
    for meter in layout.meters:
        value = values.get(meter.meter_id) if fault is None else None
        yield views.MeterView(
            meter=meter.meter_id,
            name=meter.title,
            wager=_wager_words(meter),
            amount=value.amount if value is not None and value.state in _CURRENT else None,
            pending=value is not None and value.state == "pending",
        )


def _wager_words(meter: Meter) -> Said:
    if hit_by := meter.must_hit_by:
        return Said("must hit by {amount}", {"amount": coin_money(hit_by.maximum)})
    amounts = " / ".join(map(coin_money, sorted(meter.wagers_cents)))
    return Said("{amount} wager", {"amount": amounts})


def _position(
    layout: Layout, state: TableState, position: int, *, busy: bool
) -> views.PositionView:
    cards, folded = state.cards_at(position), position in state.folded
    declared, entered = position in state.no_win, state.is_entered(position)
    stays = state.keeps_cards(layout, position) and not layout.has_results
    amounts = {placed.wager: placed.amount_cents for placed in state.wagers_at(position)}
    lit = list(amounts)
    joined, open_hand = position in state.joined, not folded and not declared
    folds = not layout.has_results
    can: dict[str, bool] = {}
    if state.phase is Phase.DEALT and not busy:
        can = {
            "hand": not entered and layout.deal.hand > 0,
            "fold": folds and open_hand and not stays and (cards is not None or bool(lit)),
            "fold stay": folds and not folded and cards is not None,
            "retract no_win": declared,
            "retract fold": folded,
            "retract hand": cards is not None and not folded,
        }
    if state.phase in _JOINABLE and not busy and layout.meters and position < layout.positions:
        can["part" if joined else "join"] = True
    return views.PositionView(
        position=position,
        lit=lit,
        amounts=amounts,
        cards=cards,
        folded=folded,
        no_win=declared,
        needs=position in state.unread(layout) and state.phase is Phase.DEALT,
        stays=stays,
        lucky=state.draw is not None and state.draw.lucky_position == position,
        joined_next=joined,
        can=[act for act, allowed in can.items() if allowed],
    )


def _returned(layout: Layout, returned: Returned) -> views.ReturnedView:
    """Return the returned wagers by position; electronic wagers become credits (649a.7(d)(7))."""
    items: dict[int, list[Said]] = {}
    credits_cents: dict[int, list[int]] = {}
    for placed in returned.wagers:
        electronic = layout.is_electronic(placed.wager)
        back = {"wager": layout.words(placed.wager), "amount": money(placed.amount_cents)}
        items.setdefault(placed.position, []).append(
            Said("{wager}: credit {amount} to the game account", back)
            if electronic
            else Said("{wager}: 1 chip", back)
        )
        credits_cents.setdefault(placed.position, []).extend([placed.amount_cents] * electronic)
    return views.ReturnedView(
        reason=returned.reason,
        others=_EVERY_OTHER if returned.void else None,
        positions=[
            views.ReturnedPositionView(
                position=position,
                chips=len(items[position]) - len(credits_cents[position]),
                credit_cents=sum(credits_cents[position]),
                items=items[position],
            )
            for position in sorted(items)
        ],
    )


def _lit(layout: Layout, state: TableState) -> Iterator[views.LitView]:
    for position in state.lit:
        wagers = (placed.wager for placed in state.wagers_at(position))
        if chips := [layout.words(wager) for wager in wagers if not layout.is_electronic(wager)]:
            yield views.LitView(position=position, wagers=chips)


def _missing(layout: Layout, unread: Sequence[str | int]) -> Iterator[Said]:
    if "dealer" in unread:
        yield Said("the table's result") if layout.has_results else Said("the dealer's hand")
    if hands := [str(each) for each in unread if isinstance(each, int)]:
        which = {"positions": ", ".join(hands)}
        if layout.has_results:
            yield Said("result of position {positions}", which)
        else:
            yield Said("hand or fold of position {positions}", which)
    if "community" in unread:
        yield Said("the community cards")


def _envy_unread(layout: Layout, state: TableState) -> bool:
    """Return whether other players' wins can depend on cards that are not entered (reading T10).

    They can if a hand is not entered, and another position has a wager with Envy Bonuses or
    community shares that the hand's position lacks. A hand that was declared to win nothing also
    counts as not entered if it has a progressive wager: the declaration says nothing about these.
    """
    terms, lit = layout.rules.meters.terms, state.lit
    with_envy = {
        placed.wager
        for placed in state.wagers
        if terms[placed.wager].envy or terms[placed.wager].community
    }
    return any(
        with_envy.difference(placed.wager for placed in state.wagers_at(position))
        and (not state.is_entered(position) or (position in state.no_win and position in lit))
        for position in range(1, layout.positions + 1)
    )


def _can(
    layout: Layout, state: TableState, fault: DeviceRefusal | None, unread: Sequence[str | int]
) -> list[str]:
    if state.asking is not None:
        return ["withdraw"]
    can_correct = state.round is not None and not state.has_entries
    match state.phase:
        case Phase.OPEN:
            may = {
                "lockout": fault is None or fault.code != GAME_NOT_IN_EFFECT,
                "next": state.settled is not None
                and not (state.settled.undecided and len(state.waiting) >= WAITING_MAX),
                "repeat": bool(state.last_wagers) and not state.wagers and fault is None,
            }
        case Phase.DEALT:
            may = {
                "void": True,
                "settle": not unread,
                "no_win": not layout.require_all_hands
                and any(
                    isinstance(each, int) and not state.needs_cards(layout, each) for each in unread
                ),
                "retract dealer": state.dealer is not None,
                "retract community": state.community is not None,
                "correct_wager": can_correct,
                "retract chips": not state.folded and not state.no_win and not state.cards_shown(),
            }
        case _:
            may = {
                "chips": state.phase is Phase.LOCKED,
                "correct_wager": state.phase is Phase.LOCKED and can_correct,
                "void": state.phase in {Phase.LOCKED, Phase.LOCKED_OUT},
            }
    return [act for act, allowed in may.items() if allowed]
