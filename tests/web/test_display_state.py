import asyncio
import gc
from collections.abc import Sequence

import pytest

from meters.floor.floor_file import parse_floor
from meters.web import display_state
from meters.web.display_state import (
    LATE_S,
    DisplayRow,
    DisplayState,
    DisplayUpdates,
    JackpotRow,
    LinkRow,
    MeterRow,
    MeterState,
    TooManyWatchersError,
    Watcher,
)
from meters.wire.messages import ControllerBeat
from tests.web.stand import AT, FLOOR, jackpot, row

THE_FLOOR = parse_floor(FLOOR)
LATER = "2026-11-20T02:14:08.000Z"
EARLIER = "2026-11-20T02:14:06.000Z"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def meter(amount: int, version: int, *, state: MeterState = "open", at: str = AT) -> MeterRow:
    return row(amount, version, floor=THE_FLOOR, state=state, at=at)


def beat(state: str = "operable") -> ControllerBeat:
    assert state in {"operable", "inoperable", "closed"}
    return ControllerBeat(state="operable", reason="", beat=1, at=AT)


async def taken(watch: DisplayUpdates) -> list[DisplayRow]:
    async with asyncio.timeout(5):
        return list(await anext(watch))


@pytest.mark.parametrize(
    ("version", "state", "at", "shown"),
    [
        pytest.param(8, "open", AT, True, id="higher version"),
        pytest.param(6, "open", LATER, False, id="lower version"),
        pytest.param(6, "inoperable", LATER, False, id="lower version in another state"),
        pytest.param(7, "open", LATER, False, id="same version again"),
        pytest.param(7, "inoperable", LATER, True, id="same version, later in another state"),
        pytest.param(7, "pending", AT, True, id="same version, at once in another state"),
        pytest.param(7, "pending", EARLIER, False, id="same version, earlier in another state"),
    ],
)
def test_put_meter_shows_only_what_is_newer(
    version: int, state: MeterState, at: str, *, shown: bool
) -> None:
    displays = DisplayState()
    displays.put_meter(meter(500, 7))
    assert displays.put_meter(meter(400, version, state=state, at=at)) is shown
    assert [each.amount for each in displays.rows()] == [400 if shown else 500]


@pytest.mark.duty("D14")
def test_duty_d14_a_link_that_fails_after_its_clock_was_set_back_is_shown_so() -> None:
    """A state with an earlier time counts as late only for a limited time."""
    clock = Clock()
    displays = DisplayState(clock)
    displays.put_meter(meter(500, 7))
    clock.now += LATE_S - 0.1
    assert not displays.put_meter(meter(500, 7, state="inoperable", at=EARLIER))
    clock.now += 0.1
    assert displays.put_meter(meter(500, 7, state="inoperable", at=EARLIER))
    assert [each.state for each in displays.rows()] == ["inoperable"]


async def test_a_link_is_shown_with_the_age_of_its_last_heartbeat_until_this_is_too_old() -> None:
    """Thus a display that has just connected keeps a number no longer than the others."""
    clock = Clock()
    displays = DisplayState(clock)
    displays.put_controller("tcp-main", beat())
    displays.put_meter(meter(500, 7))
    clock.now += 3.5
    _, link = await taken(displays.follow())
    assert isinstance(link, LinkRow)
    assert link.age_ms == 3500
    clock.now += 0.4
    assert [each.link for each in displays.links()] == ["tcp-main"]
    clock.now += 0.2
    assert displays.links() == []
    assert [type(each) for each in await taken(displays.follow())] == [MeterRow]


async def test_a_slow_reader_gets_the_latest_of_each_meter_once() -> None:
    displays = DisplayState()
    watch = displays.follow()
    await taken(watch)
    for version in range(1, 1001):
        displays.put_meter(meter(version * 10, version))
    assert [each.amount for each in await taken(watch) if isinstance(each, MeterRow)] == [10_000]


@pytest.mark.parametrize(
    ("script", "heard", "shown"),
    [
        pytest.param("hit c1, hit c2, rejected c1", "rejected c1 0", "hit c2 20000", id="no news"),
        pytest.param("hit c1, rejected c1, hit c1", "", "", id="decided before"),
        pytest.param("hit c1, hit c2, validated c1", "validated c1 60000",
                     "hit c2 20000, validated c1 60000", id="a good decision is news"),
        pytest.param("hit c1, paid c1", "paid c1 60000", "paid c1 60000", id="so is a payment"),
        pytest.param("hit c1, validated c1, 59", "", "validated c1 1000", id="for a while"),
        pytest.param("hit c1, validated c1, 60", "", "", id="and then no more"),
        pytest.param("hit c1, validated c1, 50, paid c1", "paid c1 10000", "paid c1 10000",
                     id="a later payment no longer than its validation"),
        pytest.param("hit c1, validated c1, 60, paid c1", "paid c1 0", "", id="nor after it"),
        pytest.param("validated c1", "validated c1 0", "", id="repeated when a table reconnects"),
        pytest.param("hit c1, before c2", "hit c2 0", "hit c1 20000, hit c2 0", id="of before"),
        pytest.param("hit c1, 12, hit c1", "", "hit c1 8000", id="a hit is news"),
        pytest.param("hit c1, 20", "", "hit c1 0", id="for a shorter while"),
    ],
)  # fmt: skip
async def test_a_hit_is_held_until_it_is_decided_and_a_good_decision_is_news(
    script: str, heard: str, shown: str
) -> None:
    """Who watches hears the last event; who comes later sees what is pending, and what is news."""
    clock = Clock()
    displays = DisplayState(clock)
    watch = displays.follow()
    rows: list[JackpotRow] = []
    for version, step in enumerate(script.split(", ")):
        displays.put_meter(meter(500, version))
        event, _, claim = step.partition(" ")
        rows = []
        if claim:
            put = jackpot("hit" if event == "before" else event, claim)
            displays.put_jackpot("tcp-main", put, news=event != "before")
            rows = [each for each in await taken(watch) if isinstance(each, JackpotRow)]
        else:
            clock.now += int(event)
    assert words_of(rows) == heard
    assert words_of([*displays.pending_jackpots(), *displays.validated()]) == shown
    later = [each for each in await taken(displays.follow()) if isinstance(each, JackpotRow)]
    assert words_of(later) == shown


def words_of(rows: Sequence[JackpotRow]) -> str:
    return ", ".join(f"{row.event} {row.claim} {row.news_ms}" for row in rows)


async def test_no_more_hits_are_held_than_the_limit_and_who_misses_one_is_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(display_state, "HITS_MAX", 3)
    displays = DisplayState()
    watch = displays.follow()
    for number in range(7):
        if number == 3:
            assert len(await taken(watch)) == 3
        displays.put_jackpot("tcp-main", jackpot(claim=f"c{number}"))
    assert [hit.claim for hit in displays.pending_jackpots()] == ["c4", "c5", "c6"]
    with pytest.raises(StopAsyncIteration):
        await taken(watch)
    for number in range(50):
        displays.put_jackpot("tcp-main", jackpot(claim=f"d{number}"))
        displays.put_jackpot("tcp-main", jackpot("validated", claim=f"d{number}"))
    assert [hit.claim for hit in displays.validated()] == ["d47", "d48", "d49"]


def test_one_display_has_only_so_many_streams_and_the_staff_have_places_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(display_state, "WATCHERS_MAX", 3)
    monkeypatch.setattr(display_state, "WATCHERS_OF_ONE_MAX", 2)
    displays = DisplayState()
    crowd = [displays.follow(by=Watcher("203.0.113.7")) for _ in range(2)]
    with pytest.raises(TooManyWatchersError) as of_one:
        displays.follow(by=Watcher("203.0.113.7"))
    crowd.append(displays.follow(by=Watcher("203.0.113.8")))
    crowd.append(displays.follow(by=Watcher("203.0.113.9")))
    with pytest.raises(TooManyWatchersError) as of_all:
        displays.follow(by=Watcher("203.0.113.10"))
    assert (of_one.value.of_one, of_all.value.of_one) == (True, False)
    crowd += [displays.follow(by=Watcher("Flo", staff=True)) for _ in range(2)]
    with pytest.raises(TooManyWatchersError):
        displays.follow(by=Watcher("Flo", staff=True))
    crowd.append(displays.follow(by=Watcher("Finn", staff=True)))
    assert len(crowd) == 7
    del crowd[2]
    gc.collect()
    displays.follow(by=Watcher("203.0.113.10"))


async def test_a_few_addresses_with_many_streams_keep_no_display_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(display_state, "WATCHERS_MAX", 16)
    monkeypatch.setattr(display_state, "WATCHERS_OF_ONE_MAX", 8)
    displays = DisplayState()
    display = displays.follow(by=Watcher("192.0.2.1"))
    crowd = [
        displays.follow(by=Watcher(f"203.0.113.{at}")) for at, of_one in ((7, 8), (8, 7))
        for _ in range(of_one)
    ]  # fmt: skip
    again = [displays.follow(by=Watcher("192.0.2.2")) for _ in range(5)]
    assert displays.watchers(staff=False) == 16
    ended = {crowd[at] for at in range(15) if not crowd[at].open}
    assert ended == {*crowd[5:8], *crowd[13:15]}
    assert all(each.open for each in (display, *again))
    for by in ("203.0.113.7", "203.0.113.8", "192.0.2.2"):
        with pytest.raises(TooManyWatchersError):
            displays.follow(by=Watcher(by))
