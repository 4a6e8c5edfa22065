"""Events for the state machine, from stacked decks: percentages and reseeds are frequent."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.games.stacks import DECK, Stack, deal_stack
from tests.model.second_books import SecondTable

T = TypeVar("T")
Draw = Callable[[SearchStrategy[T]], T]
Event = dict[str, Any]
Amounts = Mapping[str, Sequence[int]]
"""The amounts that a wager can have, in cents."""

# A game takes as many of these cards as it deals, from the left.
_COMMUNITIES: Final = (
    "Js Ts Qs 2d 3h",
    "Jh Th Qh 4c 6s",
    "9s 8s 7s 2d Kh",
    "9d 9c 5h 6s 2h",
    "2c 7d Jc 4s Th",
)
_HANDS: Final = (
    "As Ks Qs",
    "9s 8s 7s",
    "Ah Kh Qh",
    "9h 8h 7h",
    "Qs Js Ts",
    "2s 5s 7s",
    "9h 9s 4d",
    "5c 5d 5h",
    "6c 7h 8d",
    "Ad Kd Qd",
    "3d 6h Kc",
)
_SEVENS: Final = (
    "3s 4s 5s 6s 7s 8s 9s",
    "5d 6d 7d Jk 9d Td Jd",
    "As Ah Ad Ac Jk 2c 3d",
    "Th Jh Qh Kh Jk 2s 4d",
    "8c 8d 8h 8s 2h 5c Kc",
    "2d 6c 9h Js Qc Kd 4h",
)
_FIVES: Final = (
    "9s 8s 7s 6s 5s",
    "Kc Kd Kh Ks 3c",
    "2d 5d 7d 9d Jd",
    "Ac 2h 3h 4s 5h",
    "4c 4d 4h 8c 8d",
    "Tc Td 2s 3s Qc",
    "Th Ts 3d 2c Qd",
    "5c 7h 9c Jc Qh",
)
"""All of different cards. Nearly any two are a bad beat; the two pairs are equal."""
_DEALERS: Final = (
    "Js Ts 2c",
    "9h 8h 7h",
    "Jh Th 3c",
    "Qs Ks As",
    "4c 8d Kd",
    "Jd Td 4h",
    "9d 9c 5s",
)

_WAGER_FLAWS: Final = ("amount", "meter", "twice", "far")
_RESULT_FLAWS: Final = (
    "card",
    "missing",
    "patron",
    "no cards",
    "no community",
    "no_win",
    "folded no_win",
)


def _amount(draw: Draw[Any], amounts: Amounts, wager: str) -> int:
    cents: int = amounts[wager][0]
    return draw(st.sampled_from(amounts[wager])) if len(amounts[wager]) > 1 else cents


def correction_event(
    draw: Draw[Any], table: SecondTable, amounts: Amounts, *, stray: bool
) -> Event | None:
    """Return the correction of a chip wager of the open round, or None if there is none.

    With `stray`, the wager can be there already, or be missing.
    """
    chips = [wager for wager in table.offered if "hand_bonus" not in wager]
    placed = [(at, wager) for at, bet in table.bets.items() for wager in bet["wagers"]]
    every = [(at, wager) for at in range(1, table.positions + 1) for wager in chips]
    adds = draw(st.booleans())
    fits = [one for one in every if stray or (one not in placed) == adds]
    if not fits:
        return None
    position, wager = draw(st.sampled_from(fits))
    bets = {at: {**bet, "wagers": dict(bet["wagers"])} for at, bet in table.bets.items()}
    wagers = bets.setdefault(position, {"position": position, "wagers": {}})["wagers"]
    cents = _amount(draw, amounts, wager) if adds else wagers.pop(wager, amounts[wager][0])
    if adds:
        wagers[wager] = cents
    return {
        "type": "correct_wager", "action": "add" if adds else "take_back", "position": position,
        "wager": wager, "amount": cents,
        "reason": draw(st.sampled_from(("chip", "light"))),
        "positions": [bet for bet in bets.values() if bet["wagers"]],
    }  # fmt: skip


def wagers_event(draw: Draw[Any], table: SecondTable, amounts: Amounts, *, flawed: bool) -> Event:
    """Return wagers of a few positions, with one flaw if asked; `amounts` has cents by wager."""
    offered = table.offered
    places = draw(st.lists(st.integers(1, table.positions), min_size=1, max_size=4, unique=True))
    positions: list[Event] = []
    for place in places:
        made = draw(st.lists(st.sampled_from(offered), min_size=1, unique=True))
        wagers = {wager: _amount(draw, amounts, wager) for wager in made}
        bet: Event = {"position": place, "wagers": wagers}
        if patron := draw(st.sampled_from((None, "ann", "bob"))):
            bet["patron"] = patron
        positions.append(bet)
    if flawed:
        match draw(st.sampled_from(_WAGER_FLAWS)):
            case "amount":
                wager = next(iter(positions[-1]["wagers"]))
                positions[-1]["wagers"][wager] += 1
            case "meter" if "five_card_progressive" not in offered:
                positions[-1]["wagers"]["five_card_progressive"] = 100
            case "twice":
                positions.append(positions[0])
            case _:
                positions[-1]["position"] = table.positions + 1
    return {"type": "wagers", "positions": positions}


def result_event(draw: Draw[Any], table: SecondTable, *, flawed: bool) -> Event:
    """Return a `result` for all who wagered and some who did not; with one flaw if requested."""
    others = draw(st.lists(st.integers(1, table.positions), max_size=2, unique=True))
    places = sorted({*table.bets, *others}) or [1]
    used: set[str] = set()
    wanted = {wager for bet in table.bets.values() for wager in bet["wagers"]}
    deal = table.game.deal
    repeats = deal.results != () or deal.decks > 1
    community = _deal(draw, deal.results or _COMMUNITIES, used, deal.community, repeats=repeats)
    dealer = _deal(draw, deal.results or _DEALERS, used, deal.dealer, repeats=repeats)
    positions = [_box(draw, table, place, used) for place in places]
    event: Event = {"type": "result", "positions": positions, "dealer": dealer}
    if community and (wanted.intersection(table.game.needs_community) or draw(st.booleans())):
        event["community"] = community
    if flawed:
        _spoil(event, draw(st.sampled_from(_RESULT_FLAWS)), deal.hand)
    return event


def stacked_event(table: SecondTable, stack: Stack, *, to_dealer: bool = False) -> Event:
    """Return a deal with stacked cards for the highest positions that wagered.

    With `to_dealer`, the dealer gets the cards of the first hand, if a wager of the game depends on
    the dealer's cards.
    """
    places = sorted(table.bets, reverse=True)
    game = table.game
    dealt = deal_stack(stack, game.deal, places, to_dealer=to_dealer and game.on_dealer != "")
    event: Event = {
        "type": "result",
        "positions": [
            {"position": place, "folded": False} | ({"cards": list(cards)} if cards else {})
            for place, cards in dealt.hands.items()
        ],
        "dealer": list(dealt.dealer),
    }
    return event | ({"community": list(dealt.community)} if dealt.community else {})


def wagers_on_the_dealer(draw: Draw[Any], table: SecondTable, amounts: Amounts) -> Event:
    """Return wagers on the dealer's hand at two to four positions, or others if there are none."""
    wager = table.game.on_dealer or table.offered[0]
    places = draw(st.lists(st.integers(1, table.positions), min_size=2, max_size=4, unique=True))
    patrons = draw(st.lists(st.sampled_from(("ann", "bob", None)), min_size=4, max_size=4))
    return {
        "type": "wagers",
        "positions": [
            {"position": place, "wagers": {wager: _amount(draw, amounts, wager)}}
            | ({"patron": patron} if patron else {})
            for place, patron in zip(places, patrons, strict=False)
        ],
    }


def _box(draw: Draw[Any], table: SecondTable, place: int, used: set[str]) -> Event:
    bet = table.bets.get(place, {"wagers": {}})
    if draw(st.integers(0, 5)) == 0:
        return {"position": place, "no_win": True}
    folded = draw(st.integers(0, 4)) == 0
    box: Event = {"position": place, "folded": folded}
    kept = any(wager in table.game.live for wager in bet["wagers"])
    deal = table.game.deal
    if deal.hand and (not folded or kept or draw(st.booleans())):
        repeats = deal.results != () or deal.decks > 1
        hands = {5: _FIVES, 7: _SEVENS}.get(deal.hand, _HANDS)
        box["cards"] = _deal(draw, deal.results or hands, used, deal.hand, repeats=repeats)
    if draw(st.booleans()):
        box["patron"] = bet.get("patron") or draw(st.sampled_from(("ann", "cyd")))
    return box


def _deal(
    draw: Draw[Any], stacked: Sequence[str], used: set[str], count: int, *, repeats: bool = False
) -> list[str]:
    """Deal those of the stacked cards that are still there, otherwise the next of the deck.

    If a card `repeats`, because it is a result or there are several decks, it can be dealt again.
    """
    chosen: list[str] = draw(st.sampled_from(stacked)).split()[:count]
    if repeats:
        return chosen
    if used.intersection(chosen):
        chosen = [card for card in DECK if card not in used][:count]
    used.update(chosen)
    return chosen


def _spoil(event: Event, flaw: str, hand: int) -> None:
    first = event["positions"][0]
    match flaw:
        case "card":
            # This is no flaw for a result, or if there are several decks.
            for pile in [name for name in ("dealer", "community") if event.get(name)][:1]:
                event[pile] = [*event[pile][:-1], event[pile][0]]
        case "missing":
            event["positions"] = event["positions"][1:] or [first | {"position": 1}]
        case "patron":
            first["patron"] = "somebody else"
        case "no_win":
            cards = {"cards": [*DECK[:hand]]} if hand else {}
            event["positions"][0] = first | {"no_win": True} | cards
        case "folded no_win":
            event["positions"][0] = {"position": first["position"], "no_win": True, "folded": True}
        case "no cards":
            first.pop("cards", None)
        case _:
            event.pop("community", None)
