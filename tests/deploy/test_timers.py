"""The timers follow the facility's gaming day, in any time zone of the machine."""

import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
import pytest

from meters.cli.audit import DAILY_AUDIT_NOTE, done_since_close
from meters.floor.facility import Facility, GamingDays
from tests.deploy.tree import DEPLOY, containers, manifests, typed_in_text
from tests.mqtt.stand import Stand
from tests.servers import require, run_pitlink

SOON: Final = timedelta(minutes=40)
NEW_YORK: Final = Facility(name="Test House", timezone="America/New_York")
TIMERS: Final = ("pitlink-archive", "pitlink-audit")


def runs_of(timer: str, zone: str) -> list[datetime]:
    """Return when systemd would run a timer in 2026, on a machine in a time zone."""
    text = (DEPLOY / "systemd" / f"{timer}.timer").read_text()
    found = re.search(r"^OnCalendar=(.+)$", text, re.MULTILINE)
    assert found is not None
    done = subprocess.run(
        [require("systemd-analyze"), "calendar", "--base-time=2026-01-01", "--iterations=18000",
         found[1]],
        capture_output=True, text=True, check=True, env={**os.environ, "TZ": zone},
    )  # fmt: skip
    said = re.findall(r"(?:in UTC\)|Next elapse|Iter. #\d+): \w+ (\S+ \S+) UTC", done.stdout)
    return [datetime.fromisoformat(each).replace(tzinfo=UTC) for each in said]


@pytest.mark.parametrize("timer", TIMERS)
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo", "Asia/Kolkata"])
def test_a_timer_runs_soon_after_the_facility_s_close(timer: str, zone: str) -> None:
    """This holds in nights with a clock change. By the machine's zone it could be 23 hours late."""
    runs = runs_of(timer, zone)
    for closes in ("06:00", "03:30", "12:00"):
        days = GamingDays.of_facility(msgspec.structs.replace(NEW_YORK, day_starts=closes))
        for day in ("2026-01-15", "2026-03-08", "2026-07-15", "2026-11-01"):
            closed, _ = days.bounds(datetime.fromisoformat(day).date())
            assert next(run for run in runs if run >= closed) - closed <= SOON, (closes, day)


def test_the_cluster_s_jobs_do_what_the_units_do_when_their_timers_do() -> None:
    """They name no time zone, because in some clusters it would differ from the facility's."""
    jobs = {each["metadata"]["name"]: each for each in manifests() if each["kind"] == "CronJob"}
    timers = {path.stem for path in (DEPLOY / "systemd").glob("*.timer")}
    assert jobs.keys() == timers >= {*TIMERS}
    for name, job in jobs.items():
        (typed,) = typed_in_text(DEPLOY / "systemd" / f"{name}.service")
        assert [container["args"] for container in containers(job)] == [typed]
        timer = (DEPLOY / "systemd" / f"{name}.timer").read_text()
        found = re.search(r"^OnCalendar=\*-\*-(\S+) (\S+):(\S+):00$", timer, re.MULTILINE)
        assert found is not None
        day, hour, minute = (str(int(one)) if one.isdigit() else one for one in found.groups())
        assert job["spec"]["schedule"] == f"{minute} {hour} {day} * *"
        assert "timeZone" not in job["spec"]
        # A retry of a daily audit would find it already done, and a failed one would count as done.
        assert "audit" not in name or job["spec"]["jobTemplate"]["spec"]["backoffLimit"] == 0


@pytest.mark.parametrize(
    ("done", "now", "is_done"),
    [
        (None, "2026-01-15T12:00", False),
        # 06:00 in New York is 11:00 UTC in January and 10:00 in July.
        ("2026-01-15T10:59", "2026-01-15T11:00", False),
        ("2026-01-15T11:00", "2026-01-15T11:30", True),
        ("2026-01-15T11:30", "2026-01-16T10:59", True),
        ("2026-01-15T11:30", "2026-01-16T11:00", False),
        ("2026-07-15T09:59", "2026-07-15T10:01", False),
        ("2026-07-15T10:00", "2026-07-15T10:01", True),
        # The clock that wrote this note was ahead.
        ("2026-01-17T12:00", "2026-01-15T12:00", False),
    ],
)
def test_work_is_due_once_after_each_close(done: str | None, now: str, *, is_done: bool) -> None:
    moments = [datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (done or now, now)]
    assert done_since_close(NEW_YORK, moments[0] if done else None, moments[1]) == is_done


@pytest.mark.slow
def test_a_daily_audit_is_done_once_after_each_close(tmp_path: Path) -> None:
    """An unreadable store is tried again. A ledger that does not balance is reported once."""
    with Stand(tmp_path) as stand:
        config = str(stand.service.config)
        note = tmp_path / "data" / DAILY_AUDIT_NOTE
        daily = ("audit", "--daily", "--config", config)
        first = run_pitlink(*daily)
        assert (first.returncode, first.stderr) == (0, "")
        assert "nothing to do" not in first.stdout
        assert "nothing to do" in run_pitlink(*daily).stdout
        assert "nothing to do" not in run_pitlink("audit", "--config", config).stdout
        os.utime(note, (note.stat().st_atime, note.stat().st_mtime - 86_400))
        assert "nothing to do" not in run_pitlink(*daily).stdout
        assert "nothing to do" in run_pitlink(*daily).stdout
        note.unlink()
        stand.service.close()
        stand.redis.stop()
        assert run_pitlink(*daily).returncode == 1
        assert not note.exists()
