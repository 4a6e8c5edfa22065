"""`pitlink restore` on a real floor whose Redis was killed and lost its data."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from meters.floor.floor_file import read_floor
from meters.store.redis_connect import open_redis
from tests.approving import approve_first
from tests.chaos.driven import play_lines
from tests.chaos.recording import LINKS, lines_of, write_floor
from tests.chaos.test_torn_store import incr, last_step
from tests.mqtt.stand import Service
from tests.processes import run_pitlink
from tests.servers import Mosquitto, RedisServer, eventually, free_port
from tests.waiting import LONG_S

LINK: Final = "tcp-five"
TABLES: Final = ("TCP-05", "TCP-06")
OTHERS: Final = tuple(table for link in LINKS for table in link if table not in TABLES)
ROUNDS: Final = (3, 8, 10)
"""Lines played until Redis's file is copied, until it is lost, and at the end."""


class Pit:
    """Two tables that play the recorded shift in turn, and a technician who restores their link."""

    def __init__(self, config: Path, service: Service) -> None:
        self.config = config
        self.service = service
        self._played = dict.fromkeys(TABLES, 0)

    def play(self, rounds: int) -> None:
        """Play on to the end of a round; the first table has then begun the next one."""
        for table in TABLES:
            end = len(lines_of(table, rounds))
            if table == TABLES[0]:
                onward = lines_of(table, rounds + 5)[end:]
                end += 1 + next(
                    n for n, line in enumerate(onward) if json.loads(line)["event"] == "lockout"
                )
            lines = lines_of(table, rounds + 5)[self._played[table] : end]
            play_lines(self.config, table, lines, within_s=4 * LONG_S)
            self._played[table] = end

    def lose(self, server: RedisServer, copy: Path | None = None) -> None:
        """Kill Redis and delete its directory; a copy comes back with its last step torn."""
        assert self.service.process.stop() == 0
        server.kill()
        shutil.rmtree(server.home / "appendonlydir")
        if copy:
            shutil.copytree(copy, server.home / "appendonlydir")
            data = incr(server).read_bytes()
            incr(server).write_bytes(data[: data.index(b"tallies", last_step(data)) + 20])
        server.start()

    def restore(self, *options: str) -> subprocess.CompletedProcess[str]:
        return run_pitlink("restore", "--config", str(self.config), "--by", "tess", *options)

    def meters(self) -> object:
        eventually(lambda: self.service.claims() == [], what="no claim waiting")
        found = self.service.audit()
        assert found["balanced"], found["problems"]
        return found["links"][LINK], found["totals"]


async def approve_lost(config: Path) -> None:
    floor = read_floor(config)
    async with open_redis(floor) as redis:
        await approve_first(floor, redis)


@pytest.fixture
def pit(tmp_path: Path, redis_server: RedisServer, mosquitto: Mosquitto) -> Iterator[Pit]:
    port = free_port()
    config = write_floor(tmp_path, broker=mosquitto.url, redis=redis_server.url, port=port)
    service = Service(config, port, "--auto-floor")
    try:
        service.start()
        yield Pit(config, service)
    finally:
        service.close()


@pytest.mark.duty("D11")
def test_a_floor_goes_on_as_if_its_redis_had_not_been_lost(
    pit: Pit, redis_server: RedisServer, tmp_path: Path
) -> None:
    """First an older copy is left, torn at its end. Later only the outboxes are left."""
    pit.play(ROUNDS[0])
    shutil.copytree(redis_server.home / "appendonlydir", tmp_path / "copy")
    pit.play(ROUNDS[1])
    was = pit.meters()
    refused = pit.restore("--yes")
    assert refused.returncode == 1
    assert "a service runs on" in refused.stderr
    given_up = [part for table in OTHERS for part in ("--without", table)]

    pit.lose(redis_server, tmp_path / "copy")
    missing = pit.restore("--yes", "--services-stopped")
    assert missing.returncode == 1
    assert "MISSING TCP-07: the events after 0 are in no outbox" in missing.stdout
    assert "--without TCP-07 --without TCP-08" in missing.stdout
    done = pit.restore("--yes", *given_up)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "balances to the micro; the mark is reset" in done.stdout
    assert "OTHERWISE" not in done.stdout
    assert "PENDING" in done.stdout, "what the simulated floorperson decided waits again"
    pit.service.start()
    assert pit.meters() == was

    pit.lose(redis_server)
    refused = pit.restore("--yes", "--services-stopped", *given_up)
    assert refused.returncode == 1
    assert "approve it with `pitlink approve`" in refused.stderr
    asyncio.run(approve_lost(pit.config))
    done = pit.restore("--yes", "--services-stopped", *given_up)
    assert done.returncode == 0, (done.stdout, done.stderr)
    pit.service.start()
    (lost,) = pit.service.audit()["problems"]
    assert lost.startswith("the operators' log holds "), "it is in no outbox"
    (tmp_path / "data" / "marks" / "operators.log-mark.json").unlink()
    assert pit.meters() == was
    pit.play(ROUNDS[2])
    assert "events_lost" not in pit.service.process.errors
    assert pit.meters() != was


@pytest.mark.slow
def test_errors_are_reported_in_words(tmp_path: Path) -> None:
    config = write_floor(
        tmp_path, broker=f"mqtt://127.0.0.1:{free_port()}", redis="redis://127.0.0.1:1", port=1
    )
    for options, message in (
        (["--link", "tcp-fivr"], "there is no link tcp-fivr: is tcp-five meant?"),
        (["--without", "TCP-99"], "--without TCP-99: there is no such table"),
        ([], "the broker cannot be asked whether a service runs"),
        (["--services-stopped"], "Redis does not answer"),
    ):
        done = run_pitlink("restore", "--config", str(config), "--yes", *options)
        assert done.returncode == 1
        assert message in done.stderr
        assert "Traceback" not in done.stderr
