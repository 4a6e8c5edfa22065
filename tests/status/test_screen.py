"""The screen of `pitlink status`: what is left out in a small terminal, and the live screen."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from rich.console import ConsoleDimensions

import meters.selfcheck.record_checks
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor, read_floor
from meters.process.console import PlainConsole
from meters.selfcheck.check_result import Check
from meters.selfcheck.record_checks import check_archived_days
from meters.selfcheck.status_screen import (
    FloorStatus,
    LinkStatus,
    StoredLink,
    fitting_screen,
    status_lines,
)
from tests.floor_text import Value, floor_text, link_text, section_text, table_text
from tests.servers import eventually, free_port, pitlink_command
from tests.waiting import LONG_S

_REASON: Final = "Redis does not answer: Connection refused"
_AT: Final = datetime(2026, 11, 20, 2, 14, 7, tzinfo=UTC)
_TODAY: Final = date(2026, 11, 20)


def floor_of(links: int) -> FloorStatus:
    """Return a floor with two tables a link; one link is inoperable, and one check warns."""
    meters = (("Progressive", 112_362), ("Five-Card Progressive", 1_000_000))
    each = LinkStatus("", "Open", "", 2, (), StoredLink(meters=meters, wins=1, oldest_s=40.0))
    made = [replace(each, link=f"link-{number}") for number in range(links)]
    made[1:2] = [replace(one, state="Inoperable", reason=_REASON) for one in made[1:2]]
    checks = (Check(f"check-{number}", number != 3, "as it is", warns=True) for number in range(9))
    return FloorStatus("Keystone", "America/New_York", _AT, tuple(made), tuple(checks))


def drawn(status: FloorStatus, width: int, height: int) -> list[str]:
    console = PlainConsole()
    console.size = ConsoleDimensions(width, height)
    with console.capture() as captured:
        console.print(fitting_screen(status, console))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_small_floor_fits_into_80_by_24() -> None:
    lines = drawn(floor_of(3), 80, 24)
    assert lines[0] == "Keystone, 2026-11-19 21:14:07 EST: 3 wins and 2 lines need a person"
    assert lines[1:3] == [
        "ok    link-0  Open        2 of 2 tables online  1 win waits, oldest 40 s",
        "      Progressive $1,123.62, Five-Card Progressive $10,000.00",
    ]
    assert f"      {_REASON}" in lines
    assert "warn  check-3: as it is" in lines
    assert len(lines) == 1 + 7 + 9


def test_a_floor_of_20_links_leaves_out_its_meters_first_and_never_its_problems() -> None:
    status = floor_of(20)
    whole = drawn(status, 160, 60)
    assert sum("Progressive" in line for line in whole) == 20
    without_meters = drawn(status, 160, 40)
    assert sum("tables online" in line for line in without_meters) == 20
    assert not any("Progressive" in line for line in without_meters)
    assert drawn(status, 80, 24)[1:] == [
        "FAIL  link-1   Inoperable  2 of 2 tables online  1 win waits, oldest 40 s",
        f"      {_REASON}",
        "ok    19 other links, with all their tables online, 19 wins wait",
        "warn  check-3: as it is",
        "ok    8 other checks",
    ]
    cut = drawn(status, 80, 4)
    assert len(cut) == 4
    assert cut[-1] == "      … more in a larger window"
    assert sum(line.text.startswith("check-") for line in status_lines(status)) == 9


def test_a_screen_of_many_problems_is_drawn_at_once() -> None:
    """Each link of a large floor has a problem if the broker fails."""
    one = floor_of(2).links[1]
    status = replace(floor_of(1), links=tuple(replace(one, link=f"l-{each}") for each in range(99)))
    before = time.process_time()
    assert len(drawn(status, 80, 24)) == 24
    assert time.process_time() - before < 2.0


@pytest.fixture
def floor(tmp_path: Path) -> Floor:
    config = tmp_path / "floor.toml"
    archive = section_text("[archive]", directory=tmp_path / "archive")
    links = [link_text(link, table_text(f"T-{link}")) for link in ("a", "b")]
    service: dict[str, Value] = {"http": f"127.0.0.1:{free_port()}", "data": tmp_path / "data"}
    config.write_text(floor_text(*links, archive, service=service))
    return read_floor(config)


@pytest.mark.parametrize(
    ("behind", "holds", "seen"),
    [
        ((0, 0), True, "up to 2026-11-20"),
        ((0, 1), True, "up to 2026-11-19; one closed day waits"),
        ((0, 4), False, "b is 4 days behind, its last file is 2026-11-16; run `pitlink archive`"),
        ((0, None), False, "b has no file, and 2026-11-20 is closed; run `pitlink archive`"),
    ],
)
def test_closed_days_without_a_file_are_counted(
    floor: Floor, behind: tuple[int, int | None], *, holds: bool, seen: str
) -> None:
    for link, days in zip("ab", behind, strict=True):
        directory = Path(floor.archive.directory, link)
        directory.mkdir(parents=True)
        (directory / "of-another-program.jsonl.zst").touch()
        if days is not None:
            (directory / f"{_TODAY - timedelta(days + 1)}.jsonl.zst").touch()
            (directory / f"{_TODAY - timedelta(days)}.jsonl.zst").touch()
    closed = dict.fromkeys("ab", _TODAY.isoformat())
    assert check_archived_days(floor, closed) == Check(
        "archived days", holds, seen, warns=not holds
    )


def test_the_first_gaming_day_has_an_hour_to_be_archived(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, closed_at = GamingDays.of_facility(floor.facility).bounds(_TODAY)
    for minutes, holds in ((59, True), (61, False)):
        moment = closed_at + timedelta(minutes=minutes)
        monkeypatch.setattr(meters.selfcheck.record_checks, "now", lambda moment=moment: moment)
        assert check_archived_days(floor, {"a": _TODAY.isoformat()}).holds is holds


def test_an_archive_that_cannot_be_read_is_said(floor: Floor) -> None:
    archive = Path(floor.archive.directory)
    archive.write_text("no directory")
    found = check_archived_days(floor, {"a": _TODAY.isoformat()})
    assert (found.holds, found.seen) == (False, f"{archive} cannot be read: Not a directory")


@pytest.mark.slow
def test_the_live_screen_is_drawn_again_until_ctrl_c(floor: Floor, tmp_path: Path) -> None:
    terminal, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = pitlink_command("status", "--config", str(tmp_path / "floor.toml"))
    environment = os.environ | {"TERM": "xterm"}
    seen, links = bytearray(), len(floor.link)

    def drawn_twice() -> bool:
        seen.extend(os.read(terminal, 65_536))  # raises a BlockingIOError if there is nothing
        shown = seen.count(b"no service answers") >= 2 * links
        return shown and b"Redis does not answer" in seen

    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        os.set_blocking(terminal, False)
        eventually(drawn_twice, what="two screens of two links")
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG_S) == 0
    os.close(terminal)
    assert b"Traceback" not in seen
