"""The whole benchmark with real parts: what it prints, and that it leaves nothing behind."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Pitlink, bench_command, run_pitlink
from tests.waiting import eventually, require

pytestmark = pytest.mark.slow


@pytest.fixture
def surroundings(short_path: Path) -> dict[str, str]:
    daemons = [
        str(Path(require(name)).parent) for name in ("mosquitto", "mosquitto_sub", "redis-server")
    ]
    path = os.pathsep.join([os.environ["PATH"], *daemons])
    return {**os.environ, "PATH": path, "TMPDIR": str(short_path)}


def processes_in(short_path: Path) -> set[str]:
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink().is_relative_to(short_path):
                found.add((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def test_quick_prints_every_figure_and_the_books_agree(
    short_path: Path, surroundings: dict[str, str]
) -> None:
    """It prints tables, and one JSON object on standard output, however busy the machine is."""
    done = run_pitlink("--quick", program=bench_command, env=surroundings, timeout_s=600)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("?") >= 6  # a question begins each table
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["nothing_lost"] is True
    # Speed, replies, four arrangements, idle.
    assert len(report["books"]) == 7
    for books in report["books"]:
        assert all(books[name] is True for name in ("balanced", "meters_equal", "counts_equal"))
        assert books["events_sent"] == books["events_accepted"] + books["events_held"] > 0
        assert books["refusals"] == {}
        # Besides the events, the ledger has the approval of each link and the seeds of its
        # meters, one with its hidden value. On a busy machine it may also record that a link was
        # inoperable for a moment.
        assert 3 <= books["ledger_entries"] - books["events_accepted"] <= 20

    assert report["settings"]["wagers_an_event"] == 14
    wagers, sustained = report["wagers"], report["sustained"]
    assert abs(wagers["wagers_per_s"] - 14 * wagers["events_per_s"]) <= 14
    assert report["rounds"]["rounds_per_s"] > 0
    processes = {"load", "mosquitto", "service", "auditor", "redis"}
    for used in (
        wagers["cpu_us_per_event"],
        sustained["cpu_us_per_event"],
        report["rounds"]["cpu_us_per_round"],
        report["replies"]["at_200"]["cpu_us_per_round"],
        report["idle"]["percent_of_a_core"],
    ):
        assert used.keys() == processes
        assert all(used[name] > 0 for name in processes - {"auditor"})
    assert sustained["cpu_us_per_event"]["auditor"] > 0
    assert sustained["audit_kept_up"] is True
    assert sustained["events_per_s"] == report["as_fast_as_answered"]["events_per_s"] > 0
    lag = sustained["audit_lag"]
    assert 0 <= lag["unread_first_half"] < lag["unsealed"] <= report["books"][0]["ledger_entries"]
    for baseline in ("c_pipe", "bare"):
        for events in ("wagers", "wagers_and_voids"):
            assert report[baseline][events]["events_per_s"] > 0
            assert all(used > 0 for used in report[baseline][events]["cpu_us_per_event"].values())
        for what in ("wagers", "sustained"):
            assert report["ratios"][f"{what}_to_{baseline}"] > 0

    for pace in ("at_200", "at_1000"):
        for waited in ("wagers_to_reply", "result_to_reply", "wagers_to_meter_seen"):
            figures = report["replies"][pace][waited]
            assert figures["samples"] > 0
            assert 0 < figures["p50_ms"] <= figures["p99_ms"] <= figures["longest_ms"]
    more = {
        "one_service": set[str](),
        "one_service_with_must_hit_by": set(),
        "two_services_of_one_link": {"service_2", "auditor_2"},
        "two_links_on_two_redis": {"mosquitto_2", "service_2", "auditor_2", "redis_2"},
    }
    for name, arrangement in report["arrangements"].items():
        assert arrangement["cpu_us_per_event"].keys() == processes | more.pop(name)
        # Each service takes a part of the events, and each auditor reads its ledgers.
        assert all(used > 0 for used in arrangement["cpu_us_per_event"].values())
        assert arrangement["events_per_s_with_a_core_each"] > 0
    assert not more
    assert all(figure > 0 for figure in report["commands"].values())

    assert processes_in(short_path) == set()
    assert list(short_path.iterdir()) == []


def test_quick_sizing_measures_everything_and_leaves_nothing(
    short_path: Path, surroundings: dict[str, str]
) -> None:
    """Figures of so few wagers mean little, but each that sizing.md has must be there."""
    done = run_pitlink(
        "--sizing", "--quick", program=bench_command, env=surroundings, timeout_s=600
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert {"redis_bytes"} < report["links"]["per 1 links"].keys()
    assert {"redis_bytes"} < report["meters"]["per 1 meters"].keys()
    assert report["redis_bytes_for_ever"].keys() == {"operators_log_entry", "slip", "proposal"}
    mix = report["full_table"]
    assert mix["tables"]["per 1 tables"]["redis_bytes_replies"] > 0
    assert mix["per 1,000 rounds"]["entries"] >= 2_000
    live = mix["per 1,000,000 wagers"]
    assert {"redis_bytes", "redis_bytes_ledger", "redis_bytes_wins", "redis_bytes_indexes"} < {
        *live
    }
    assert live["file_bytes_as_written"] > live["file_bytes_rewritten"] > 0
    assert {"audit_cpu_s", "start_cpu_s"} < mix["per 1,000,000 entries"].keys()
    archived = mix["archived"]
    assert {"writing_cpu_s", "trimming_cpu_s"} < archived["per 1,000,000 entries"].keys()
    assert "audit_cpu_s" in archived["audit"]["per 1,000,000 entries"]
    assert mix["archive"]["per 1,000,000 wagers"]["bytes"] > 0
    for when in ("redis_before_archive", "redis_after_trim", "redis_settled"):
        assert mix[when]["used_bytes"] > 0
    assert report["service"]["smallest"]["rss_bytes"] > 0
    assert report["service"]["smallest"]["auditor_bytes"] > 0
    assert report["outbox"]["agent_rss_bytes"] > 0
    assert report["outbox"]["per 1 events"]["bytes"] > 0
    assert list(short_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("how", "status", "options", "step"),
    [
        (signal.SIGINT, 130, "--tables 50 --seconds 60", "wagers from 50 tables"),
        (signal.SIGTERM, 130, "--sizing", "what 30 tables leave"),
        (signal.SIGTERM, 130, "--tables 50 --seconds 60", "wagers from 50 tables"),
        (signal.SIGKILL, -signal.SIGKILL, "--tables 50 --seconds 60", "wagers from 50 tables"),
    ],
)
def test_interrupted_ends_all_that_it_started(
    short_path: Path,
    surroundings: dict[str, str],
    how: signal.Signals,
    status: int,
    *,
    options: str,
    step: str,
) -> None:
    """Its processes are gone, and its files too, except after SIGKILL.

    SIGTERM is heard although the benchmark was started with signals ignored and blocked.
    """
    deaf = how is signal.SIGTERM
    with Pitlink(*options.split(), program=bench_command, env=surroundings, deaf=deaf) as bench:
        bench.until(
            lambda: step in bench.errors and processes_in(short_path),
            within_s=60,
            what="the benchmark measuring",
        )
        bench.process.send_signal(how)
        assert bench.wait(within_s=90) == status
        assert "Traceback" not in bench.errors
    eventually(lambda: not processes_in(short_path), within_s=30, what="no process left")
    if how is not signal.SIGKILL:
        assert list(short_path.iterdir()) == []


def test_without_mosquitto_says_what_is_missing(
    short_path: Path, surroundings: dict[str, str]
) -> None:
    """A missing part is an error of the user: one line, no traceback, status 1."""
    done = run_pitlink(
        "--quick", program=bench_command, env={**surroundings, "PATH": str(short_path)}
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("python -m tests bench: no mosquitto on PATH")
    assert "Traceback" not in done.stderr


def test_wrong_usage_is_refused() -> None:
    """Fewer than two tables cannot be on two links."""
    done = run_pitlink("--tables", "1", program=bench_command)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
