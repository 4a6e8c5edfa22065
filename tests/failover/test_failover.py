"""A primary is killed under load: nothing that was answered is lost, and the floor goes on."""

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.failover.players import LINK, Players
from tests.failover.servers import Cluster, Follower, Watched
from tests.failover.stand import reason, serving, until_ready
from tests.mqtt.stand import Service
from tests.processes import run_pitlink
from tests.servers import Mosquitto, eventually
from tests.staff import Colleague, hire
from tests.waiting import LONG_S

pytestmark = pytest.mark.slow

TABLES: Final = [f"T-{number}" for number in range(1, 9)]
BOOKS: Final = f"pitlink:{{{LINK}}}:meters"
_WITHIN_S: Final = 2 * LONG_S


async def until(check: Callable[[], bool]) -> None:
    """Wait for something while the tables play."""
    await asyncio.to_thread(eventually, check, within_s=_WITHIN_S)


async def go_on(players: Players, events: int) -> None:
    """Wait until every table has had so many further answers."""
    before = players.counts()

    def gone_on() -> bool:
        return all(now - before[table] >= events for table, now in players.counts().items())

    until = time.monotonic() + _WITHIN_S
    while not gone_on():
        assert time.monotonic() < until, (before, players.counts())
        await asyncio.sleep(0.02)


async def under_load(players: Players, strike: Callable[[], Follower]) -> tuple[Follower, float]:
    """Play, strike, and play on.

    Returns who was struck, and the seconds from the strike to the next answer at every table.
    """
    async with players.playing():
        await go_on(players, 10)
        struck = strike()
        began = time.monotonic()
        await go_on(players, 2)
        took_s = time.monotonic() - began
        await go_on(players, 4)
    return struck, took_s


def check_all(service: Service, players: Players, primary: Follower) -> None:
    """Every answer is in the ledger once, and all balances by the command too.

    It is asked when nobody plays: the ledger has nothing else then, and stands still.
    """
    kept = players.check_ledger(primary)
    assert len(kept) == players.count
    found = service.audit()
    assert found["balanced"], found["problems"]
    assert found["totals"]["wagered_cents"] == 100 * sum(seq % 2 for _, seq in kept)


def succeeds(service: Service, *command: str) -> None:
    """Have a command find all in order, be it later: a sentinel has but a second to answer."""

    def done() -> bool:
        found = run_pitlink(*command, "--config", str(service.config))
        assert found.returncode == 0, found.stdout + found.stderr
        return True

    eventually(done, within_s=_WITHIN_S, what=" ".join(command))


def tell(what: str, took_s: float) -> None:
    """Write down how long the floor stood still."""
    sys.stdout.write(f"{what}: {took_s:.1f} s until every table was answered\n")


@pytest.mark.duty("D11")
async def test_sentinels_promote_a_replica_when_the_primary_is_killed(
    tmp_path: Path, mosquitto: Mosquitto
) -> None:
    """Under load, then again by a primary that is frozen and comes back; all by itself."""
    players = Players(mosquitto.port, TABLES)
    with Watched() as watched, serving(tmp_path, mosquitto, watched.url) as service:
        hire(service.config, "Ada Lane", "supervisor")
        ada = Colleague(service.url, "Ada Lane")
        first, took_s = await under_load(players, lambda: watched.strike(Follower.kill))
        tell("primary killed, sentinels", took_s)
        second = watched.primary
        check_all(service, players, second)

        first.follow(second.port)
        eventually(lambda: second.replicas() == 2, within_s=_WITHIN_S, what="it as a replica")
        second, took_s = await under_load(players, lambda: watched.strike(Follower.freeze))
        tell("primary frozen, sentinels", took_s)
        async with players.playing():
            second.thaw()
            # For some seconds it takes itself for the primary still: nobody asks it.
            await go_on(players, 4)
        (third,) = (one for one in watched.servers if one is not second and one.is_primary)
        check_all(service, players, third)

        until_ready(service)
        assert ada.post(f"/api/v1/links/{LINK}/close", reason="end of day").status_code < 300
        succeeds(service, "check")


async def hold_replicas(watched: Watched, service: Service) -> None:
    """Let nothing more reach the replicas, with something under way that they lack.

    On a busy machine the link may have been inoperable for a moment just then.
    """
    while True:
        for wire in watched.wires:
            wire.hold()
        await until(lambda: "of 1 replicas" in reason(service))
        if any(entries(watched.primary) > entries(replica) for replica in watched.replicas):
            return
        for wire in watched.wires:
            wire.mend()
        await until(lambda: not reason(service))


def entries(server: Follower) -> int:
    """How many ledger entries a server has."""
    return int(server.ask("HGET", BOOKS, "entries"))


@pytest.mark.duty("D10")
async def test_nothing_is_answered_that_no_replica_has(
    tmp_path: Path, mosquitto: Mosquitto
) -> None:
    """What no longer reaches the replicas is not answered, and repeated when one is promoted.

    The mark beside the service stays behind it too, or the link would have to be mended by hand.
    """
    players = Players(mosquitto.port, TABLES)
    with Watched() as watched, serving(tmp_path, mosquitto, watched.url) as service:
        async with players.playing():
            await go_on(players, 10)
            replicas = watched.replicas
            await hold_replicas(watched, service)
            watched.strike(Follower.kill)
            for wire in watched.wires:
                wire.cut()
            await until(lambda: any(replica.is_primary for replica in replicas))
            players.check_ledger(watched.primary)
            await go_on(players, 10)
        check_all(service, players, watched.primary)


@pytest.mark.duty("D13")
async def test_a_primary_without_replicas_stops_the_link_until_one_is_back(
    tmp_path: Path, mosquitto: Mosquitto
) -> None:
    """It is said so in words, read all the same, and over by itself."""
    players = Players(mosquitto.port, TABLES)
    with Watched() as watched, serving(tmp_path, mosquitto, watched.url) as service:
        async with players.playing():
            await go_on(players, 4)
            replicas = watched.replicas
            for replica in replicas:
                replica.kill()
            await until(lambda: "0 of 1 replicas are in touch with Redis" in reason(service))
            assert service.audit()["balanced"]
            replicas[0].start()
            await go_on(players, 4)
        check_all(service, players, watched.primary)


@pytest.mark.duty("D11")
async def test_a_cluster_promotes_a_replica_when_a_links_primary_is_killed(
    tmp_path: Path, mosquitto: Mosquitto
) -> None:
    """The links are on their slots' primaries, the people on theirs; every command finds them."""
    players = Players(mosquitto.port, TABLES)
    with Cluster(BOOKS) as cluster, serving(tmp_path, mosquitto, cluster.url) as service:
        hire(service.config, "Ada Lane", "administrator")
        Colleague(service.url, "Ada Lane")
        primary, took_s = await under_load(players, lambda: cluster.strike(Follower.kill))
        tell("primary killed, cluster", took_s)
        assert cluster.primary_of(BOOKS) is not primary
        check_all(service, players, cluster.primary_of(BOOKS))
        until_ready(service)
        for command in (["check"], ["user", "list"]):
            succeeds(service, *command)
