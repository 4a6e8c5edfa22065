"""Rounds and settlement lines in short notation, for the cases that are worked by hand."""

from collections.abc import Callable
from typing import TypedDict, Unpack

import pytest

from tests.naive.produced import settle_by_pitlink
from tests.naive.settle import settle
from tests.naive.shapes import Box, Draw, Line, Meter, Paytables, Round, Settlement

Settler = Callable[[Round], Settlement]

both = pytest.mark.parametrize("settler", [settle, settle_by_pitlink], ids=["naive", "pitlink"])


POKER_PAYTABLES: Paytables = {
    "ante_bonus": "b-A", "pair_plus": "A", "progressive": "A", "six_card_bonus": "A",
}  # fmt: skip


def box(position: int, cards: str | None, *, patron: str | None = None, **wagers: int) -> Box:
    """Make a position that did not fold. ``raised`` is its Raise; Python reserves `raise`."""
    named = {"raise" if wager == "raised" else wager: cents for wager, cents in wagers.items()}
    made: Box = {"position": position, "folded": False, "wagers": named}
    if cards is not None:
        made["cards"] = cards.split()
    if patron is not None:
        made["patron"] = patron
    return made


def folded(position: int, cards: str | None, *, patron: str | None = None, **wagers: int) -> Box:
    """Make a position that folded."""
    made = box(position, cards, patron=patron, **wagers)
    made["folded"] = True
    return made


def with_fourth(made: Box, card: str) -> Box:
    """Make a Three Card Prime position with its fourth card."""
    made["fourth_card"] = card
    return made


class Parts(TypedDict, total=False):
    """The other parts of a round. Community cards are names between blanks."""

    paytables: Paytables
    community: str | None
    draw: Draw
    meters: dict[str, Meter]
    irregularity: str | None


def table(game: str, dealer: str, *boxes: Box, **parts: Unpack[Parts]) -> Round:
    """Make a round."""
    played: Round = {
        "game": game,
        "paytables": parts.get("paytables", {}),
        "positions": list(boxes),
        "dealer": dealer.split(),
    }
    if (community := parts.get("community")) is not None:
        played["community"] = community.split()
    if "draw" in parts:
        played["draw"] = parts["draw"]
    if "meters" in parts:
        played["meters"] = parts["meters"]
    if (irregularity := parts.get("irregularity")) is not None:
        played["irregularity"] = irregularity
    return played


def poker(dealer: str, *boxes: Box, **parts: Unpack[Parts]) -> Round:
    """Make a round of Three Card Poker."""
    parts.setdefault("paytables", POKER_PAYTABLES)
    return table("three_card_poker", dealer, *boxes, **parts)


def line_text(line: Line) -> str:
    """Return a line in words: what is paid, what goes back, and its source if not the tray."""
    words = [f"{line['position']} {line['item']} {line['wagered']} {line['outcome']}"]
    if line["outcome"] == "paid":
        words.append(f"{line['paid']}+{line['returned']}")
        # Where a limit leaves nothing to be paid, there is nowhere that it comes from.
        assert ("paid_from" in line) == (line["paid"] > 0 or "percent" in line), line
        if line.get("paid_from", "table_inventory") != "table_inventory":
            words.append(line["paid_from"])
        if "percent" in line:
            words.append(f"{line['percent']}%")
        if "envy_of" in line:
            words.append(f"envy of {line['envy_of']}")
        if "on" in line:
            words.append(f"on {line['on']}")
        return " ".join(words)
    back = line["wagered"] if line["outcome"] == "returned" else 0
    assert (line["paid"], line["returned"]) == (0, back), line
    assert not {"paid_from", "percent", "envy_of", "on"} & set(line), line
    return words[0]


def check_lines(settler: Settler, played: Round, *expected: str) -> dict[str, Meter]:
    """Settle a round, compare its lines with the expected ones, and return the meters."""
    settled = settler(played)
    assert [line_text(line) for line in settled["lines"]] == list(expected)
    return settled["meters"]
