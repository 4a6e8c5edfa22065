"""`pitlink archive` next to a running service: days leave Redis, nothing stops or is lost."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.archive.day_content import DayContent
from tests.floor_text import link_text, meter_text
from tests.mqtt.events import result, wagers
from tests.mqtt.stand import Asker, Stand
from tests.servers import eventually, run_pitlink

pytestmark = pytest.mark.slow
LONG_AGO = "2026-01-02"


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    with Stand(tmp_path) as stand:
        yield stand


def _play(table: Asker, rounds: range) -> None:
    for number in rounds:
        table.accept(wagers(2 * number + 1, f"R{number}"), result(2 * number + 2, f"R{number}"))


def _close_the_day(stand: Stand) -> None:
    with redis.Redis(unix_socket_path=str(stand.redis.socket_path), decode_responses=True) as store:
        for link in ("main", "other"):
            store.hset(f"pitlink:{{{link}}}:meters", "day", LONG_AGO)
        eventually(
            lambda: all(
                store.hget(f"pitlink:{{{link}}}:meters", "day_closed") == LONG_AGO
                for link in ("main", "other")
            ),
            what="the days closed",
        )


def _ledger(stand: Stand) -> int:
    with redis.Redis(unix_socket_path=str(stand.redis.socket_path)) as store:
        return int(store.xlen("pitlink:{main}:ledger"))


@pytest.mark.duty("D17", "D19")
def test_a_day_is_archived_and_trimmed_while_tables_play(stand: Stand) -> None:
    """The service continues and can restart on the rest. Audits cover archive and Redis."""
    config, table = str(stand.service.config), stand.table()
    _play(table, range(10))
    before = stand.service.audit()
    _close_the_day(stand)
    entries = _ledger(stand)
    done = run_pitlink("archive", "--config", config)
    assert done.returncode == 0, done.stderr
    assert f"main: {LONG_AGO} archived, entries 1 to " in done.stdout
    assert _ledger(stand) < entries
    _play(table, range(10, 12))
    after = stand.service.audit()
    assert after["balanced"]
    assert after["entries"] > before["entries"]
    assert after["totals"]["wagers"] == before["totals"]["wagers"] + 2
    assert stand.service.process.stop() == 0
    stand.service.start()
    _play(table, range(12, 13))
    assert stand.service.audit()["balanced"]

    again = run_pitlink("archive", "--config", config)
    assert (again.returncode, "no closed gaming day" in again.stdout) == (0, True)
    (file,) = (Path(config).parent / "pitlink-archive" / "main").glob("*.jsonl.zst")
    archived = DayContent.read(file).entries
    assert [entry["kind"] for entry in archived].count("wagers") == 10

    elsewhere = file.rename(file.with_name("moved"))
    missing = run_pitlink("audit", "--config", config, "--json")
    assert missing.returncode == 1
    problems = " ".join(json.loads(missing.stdout)["problems"])
    assert "only the later entries were audited" in problems
    elsewhere.rename(file)
    assert stand.service.audit()["balanced"]


def test_a_link_whose_store_is_damaged_holds_up_no_other(stand: Stand) -> None:
    _close_the_day(stand)
    with redis.Redis(unix_socket_path=str(stand.redis.socket_path)) as store:
        store.hset("pitlink:{main}:checkpoint", mapping={"text": "no books", "by": 1})
    done = run_pitlink("archive", "--config", str(stand.service.config))
    assert done.returncode == 1
    assert (
        "main: the data in Redis is damaged: the state at a day's close cannot be read"
        in done.stderr
    )
    assert f"other: {LONG_AGO} archived" in done.stdout


@pytest.mark.duty("D17")
def test_the_floor_file_s_terms_are_nothing_to_the_archive(stand: Stand) -> None:
    """A link's terms may differ by proposal, or be missing. Its days still leave Redis."""
    _play(stand.table(), range(3))
    _close_the_day(stand)
    filed = stand.service.config.read_text()
    config = stand.service.config.with_name("otherwise.toml")
    config.write_text(
        filed.replace("wager = 100\npaytable", "wager = 500\npaytable")
        + link_text("new", meter_text("progressive"))
    )
    before = _ledger(stand)
    done = run_pitlink("archive", "--config", str(config))
    assert done.returncode == 0, done.stderr
    assert "new: no closed gaming day" in done.stdout
    assert _ledger(stand) < before
    assert stand.service.audit()["balanced"]
