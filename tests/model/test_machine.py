"""Two sets of books, one real and one simple, under any sequence of events on a floor.

The runs are the same every time. `PITLINK_MODEL_PROFILE=long` tries many more floors, other ones
each time, and prints what repeats a failure.
"""

import os
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from hypothesis.strategies import DataObject

import meters.store.old_entries
from tests.model.machine import Floor
from tests.model.model_floor import CARDS, HIDDEN, LINK, MIXED, POKER, RESULTS, TABLES, ModelFloor
from tests.redis_versions import OldestRedis
from tests.servers import RedisServer

_NAMED: Final = {"poker": POKER, "mixed": MIXED, "hidden": HIDDEN, "results": RESULTS}
FLOORS: Final = pytest.mark.parametrize("floor", _NAMED.values(), ids=_NAMED)
AND_CARDS: Final = pytest.mark.parametrize(
    "floor", [*_NAMED.values(), CARDS, LINK], ids=[*_NAMED, "cards", "link"]
)
"""Also floors whose games differ only in the cards that decide a wager, or in who divides."""
_CHECKS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

_SHORT: Final = settings(
    max_examples=4,
    stateful_step_count=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=_CHECKS,
)
_DEFAULT: Final = settings(_SHORT, max_examples=65)
_LONG: Final = settings(
    _SHORT, max_examples=3_000, stateful_step_count=100, derandomize=False, print_blob=True
)


@pytest.mark.duty("D6", "D2", proof=True)
@pytest.mark.section("649a.12(e)(4)")
@pytest.mark.reading("T15")
@AND_CARDS
@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(_SHORT, id="short"),
        pytest.param(
            _LONG if os.environ.get("PITLINK_MODEL_PROFILE") == "long" else _DEFAULT,
            id="default",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_two_sets_of_books_agree_to_the_micro(
    memory_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    floor: ModelFloor,
    profile: settings,
) -> None:
    # Then `pitlink archive` also compresses the few entries of a short run.
    monkeypatch.setattr(meters.store.old_entries, "PLAIN_ENTRIES", 5)
    monkeypatch.setattr(meters.store.old_entries, "BLOCK_ENTRIES", 4)
    run_state_machine_as_test(_machine(memory_server, floor), settings=profile)


@pytest.mark.slow
def test_the_oldest_redis_keeps_the_same_books() -> None:
    with OldestRedis() as server:
        run_state_machine_as_test(_machine(server, POKER), settings=_SHORT)


Story = Callable[[Floor, DataObject], object]


def _reopening(meanwhile: str, again: str) -> Story:
    return lambda floor, data: floor.reject_and_reopen(
        data, TABLES[0], meanwhile, again, envy_too=again != "no"
    )


def _correcting(*, decided: bool | None) -> Story:
    return lambda floor, data: floor.correct_a_wager(data, TABLES[0], 0, 1, decided=decided)


def _correcting_at_other_rates(*, voids: bool) -> Story:
    def story(floor: Floor, data: DataObject) -> None:
        for table in TABLES if any(one.law.above for one in floor.books.meters.values()) else ():
            floor.correct_after_the_rates_changed(data, table, 0, voids=voids)

    return story


STORIES: Final[dict[str, Story]] = {
    **{
        f"a rejected win is reopened, meanwhile {meanwhile}, rejected again: {again}": (
            _reopening(meanwhile, again)
        )
        for meanwhile in ("nothing", "all", "a part", "a round", "a day", "a lapse")
        for again in ("no", "yes", "with Envy")
    },
    **{
        f"a wager is corrected, confirmed: {decided}": _correcting(decided=decided)
        for decided in (True, False, None)
    },
    **{
        f"the rates change, then a wager is corrected, and void: {voids}": (
            _correcting_at_other_rates(voids=voids)
        )
        for voids in (True, False)
    },
    "a round is void after a win of its meter": (
        lambda floor, data: floor.void_after_a_win(data, list(TABLES), 0)
    ),
    "slips are corrected": lambda floor, data: floor.pay_and_correct_slips(data, ["A-1", "A-2"]),
    "all hands are required": lambda floor, data: floor.require_all_hands(data, TABLES[0], 0),
    "a meter is raised": lambda floor, data: floor.adjust(data, 12_345),
    "a meter is lowered": lambda floor, data: floor.adjust(data, -15),
    "the link is closed for a while": lambda floor, data: floor.close_for_a_while(data, TABLES[0]),
    "promotions start, and other services look for them too": (
        lambda floor, data: [floor.promote(worker, 6) for worker in (0, 1, 0)]
    ),
    "copies come in one batch": lambda floor, data: floor.play_with_copies(data, 0),
    "copies come to both workers": lambda floor, data: floor.race(data, TABLES[0]),
}
"""What the machine plays by chance at each commit, and here for certain."""


@pytest.mark.duty("D2", "D3", "D6", "D15", proof=True)
@pytest.mark.duty("D4")
@pytest.mark.section("649a.13")
@FLOORS
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_each_story_leaves_two_sets_of_books_that_agree(
    memory_server: RedisServer, floor: ModelFloor, story: Story
) -> None:
    _play(memory_server, floor, story)


def _play(server: RedisServer, floor: ModelFloor, story: Story) -> None:
    """Have the state machine play one story, on a simple floor and on one by chance."""

    @settings(_SHORT, max_examples=2, phases=[Phase.generate])
    @given(st.data())
    def play(data: DataObject) -> None:
        played = _machine(server, floor)()
        try:
            played.open(1)
            story(played, data)
            played.check()
            played.decide_all_that_waits()
            played.settle_all_envy()
            played.check()
        finally:
            played.teardown()

    play()


def _machine(server: RedisServer, floor: ModelFloor) -> type[Floor]:
    return type("FloorOnThisRedis", (Floor,), {"url": server.url, "floor": floor})
