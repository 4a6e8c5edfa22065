"""An audit names a round that was settled on altered wagers or an altered draw."""

import json
from copy import deepcopy
from typing import Any, Final

import pytest

from tests.model.pit import AT, BONUS, DEALER_BONUS, PROGRESSIVE, RAGS, Pit
from tests.stored_tables import set_table, set_wagers

pytestmark = pytest.mark.duty("D17")

HANDS = {1: RAGS, 3: "Ts Th 5c"}
WAGERS: Final[dict[str, Any]] = {
    "type": "wagers", "seq": 1, "at": AT, "round": "R1",
    "positions": [
        {"position": 1, "wagers": {PROGRESSIVE: 100}},
        {"position": 3, "wagers": {BONUS: 100, DEALER_BONUS: 100}},
    ],
}  # fmt: skip


async def _settled(
    pit: Pit, hands: dict[int, str] = HANDS, **altered: object
) -> tuple[str, ...]:  # fmt: skip
    """Return what the audit finds if fields of the open round were altered until it was settled."""
    await pit.wagers({1: PROGRESSIVE, 3: f"{BONUS} {DEALER_BONUS}"})
    for field, value in altered.items():
        if field == "wagers":
            await set_wagers(pit.store, "T-1", json.dumps(value))
        else:
            await set_table(pit.store, "T-1", **{field: json.dumps(value)})
    pit.restart()
    assert (await pit.result(hands, community="4c Td")).status == "accepted"
    return (await pit.audit()).problems


async def test_round_as_it_was_is_no_difference(pit: Pit) -> None:
    assert await _settled(pit) == ()


async def test_wager_that_was_put_in_until_the_round_was_over_is_named(pit: Pit) -> None:
    """This holds although the wager won nothing that waits for a floorperson."""
    wagers = deepcopy(WAGERS)
    wagers["positions"].append({"position": 5, "wagers": {PROGRESSIVE: 100}})
    (problem,) = await _settled(pit, {**HANDS, 5: "Qh 2d 6h"}, wagers=wagers)
    assert problem.endswith("it settles other wagers than those of event 1, which were counted")


async def test_wager_that_was_taken_away_is_named(pit: Pit) -> None:
    wagers = deepcopy(WAGERS)
    del wagers["positions"][1]["wagers"][DEALER_BONUS]
    (problem,) = await _settled(pit, wagers=wagers)
    assert problem.endswith("it settles other wagers than those of event 1, which were counted")


@pytest.mark.parametrize(
    ("drawn", "item"),
    [
        ({"magic_card": "Ts", "lucky_position": None}, "magic_card"),
        ({"magic_card": None, "lucky_position": 3}, "lucky_bonus"),
    ],
)
async def test_bonus_that_was_not_drawn_is_named(
    pit: Pit, drawn: dict[str, object], item: str
) -> None:
    (problem,) = await _settled(pit, draw=drawn)
    assert problem.endswith(f"it pays {item}, which was not drawn")
