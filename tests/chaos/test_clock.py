"""A machine whose clock jumps while everything runs on it, by libfaketime.

Wagers and wins keep the order of the ledger's entries under any clock.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.devices import ROUND, Devices
from tests.mqtt.stand import Stand

LIBRARY = "libfaketimeMT.so.1"
HOUR_S = 3_600


class Clock:
    """The machine's wall clock, with an offset in seconds; the monotonic clock is unchanged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.set_off(0)

    def set_off(self, seconds: int) -> None:
        beside = self._path.with_suffix(".new")
        beside.write_text(f"{seconds:+d}\n")
        beside.replace(self._path)


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock of all processes that are started from now on."""
    found = sorted(Path("/usr/lib").glob(f"*/faketime/{LIBRARY}"))
    if not found:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("faketime is not installed")
    path = tmp_path / "clock"
    clock = Clock(path)
    monkeypatch.setenv("LD_PRELOAD", str(found[0]))
    monkeypatch.setenv("FAKETIME_TIMESTAMP_FILE", str(path))
    monkeypatch.setenv("FAKETIME_NO_CACHE", "1")
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    # Its correction for an old glibc makes the threads of a process take turns very slowly.
    monkeypatch.setenv("FAKETIME_FORCE_MONOTONIC_FIX", "0")
    return clock


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    """Yield broker and store on the true clock: libfaketime conflicts with Redis's allocator."""
    with Stand(tmp_path) as stand:
        yield stand


@pytest.mark.slow
@pytest.mark.duty("D7")
def test_duty_d7_a_clock_that_jumps_changes_no_order_and_stops_no_table(
    stand: Stand, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock goes back an hour, then ahead a day, and back again during a service restart."""
    stand.service.process.kill()
    stand.service.start()
    table = stand.table().table
    with Devices(stand.service.config, table) as devices:
        devices.play(ROUND)
        for seconds in (-HOUR_S, 24 * HOUR_S):
            clock.set_off(seconds)
            devices.play(ROUND)
        clock.set_off(-2 * HOUR_S)
        stand.service.process.kill()
        stand.service.start()
        devices.until(lambda: devices.refusal() is None, what="wagers taken again")
        devices.play(ROUND)
    monkeypatch.delenv("LD_PRELOAD")
    stand.books()  # once the pages show what the store holds
    entries = [one for one in stand.ledger("main") if one["kind"] in {"wagers", "result"}]
    assert [one["kind"] for one in entries] == ["wagers", "result"] * 4
    times = [one["at"] for one in entries]
    assert times[2] < times[0] < times[4], "the clock did not jump"
    assert times[6] < times[0]
    assert stand.service.audit()["balanced"]
