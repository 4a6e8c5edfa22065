"""A primary is killed under load: no answered event is lost, and the floor continues."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx
import pytest

from meters.ledger.redis_layout import LinkKeys
from tests.failover.servers import Cluster, Follower, Watched
from tests.mqtt.players import LINK, Players
from tests.mqtt.stand import Service, service_on
from tests.processes import run_pitlink
from tests.servers import Mosquitto, eventually
from tests.staff import Colleague, hire
from tests.waiting import LONG_S

TABLES: Final = [f"T-{number}" for number in range(1, 9)]
BOOKS: Final = LinkKeys(LINK).meters
_WITHIN_S: Final = 2 * LONG_S


def serving(home: Path, broker: Mosquitto, redis: Watched | Cluster) -> Service:
    return service_on(home, broker=broker.url, redis=redis.url)


def reason(service: Service) -> str:
    answer = httpx.get(f"{service.url}/readyz", timeout=LONG_S)
    return "" if answer.status_code == 200 else answer.text


def until(check: Callable[[], bool]) -> None:
    eventually(check, within_s=_WITHIN_S)


def under_load(players: Players, strike: Callable[[], Follower]) -> tuple[Follower, float]:
    """Play on through a fault; return the server hit, and the seconds to all next answers."""
    with players.playing():
        players.go_on(10)
        struck = strike()
        began = time.monotonic()
        players.go_on(2)
        took_s = time.monotonic() - began
        players.go_on(4)
    return struck, took_s


def check_all(service: Service, players: Players, primary: Follower) -> None:
    """Check that every answer is in the ledger once, and that `pitlink audit` balances.

    Nobody plays during the check, so the ledger has no other entries and does not change.
    """
    kept = players.check_ledger(primary)
    assert len(kept) == players.count
    found = service.audit()
    assert found["balanced"], found["problems"]
    assert found["totals"]["wagered_cents"] == 100 * sum(seq % 2 for _, seq in kept)


def succeeds(service: Service, *command: str) -> None:
    """Run a command until it finds no fault: a sentinel has only a second to answer."""

    def done() -> bool:
        found = run_pitlink(*command, "--config", str(service.config))
        assert found.returncode == 0, found.stdout + found.stderr
        return True

    eventually(done, within_s=_WITHIN_S, what=" ".join(command))


def report_outage(what: str, took_s: float) -> None:
    sys.stdout.write(f"{what}: {took_s:.1f} s until every table was answered\n")


@pytest.mark.duty("D11")
@pytest.mark.parametrize("how", ["killed", pytest.param("frozen", marks=pytest.mark.slow)])
def test_sentinels_promote_a_replica_when_the_primary_is_killed_or_frozen(
    how: str, tmp_path: Path, mosquitto: Mosquitto
) -> None:
    """The old primary comes back as a replica, or thaws and considers itself the primary."""
    players = Players(mosquitto.port, TABLES)
    fault = Follower.kill if how == "killed" else Follower.freeze
    with Watched() as watched, serving(tmp_path, mosquitto, watched) as service:
        hire(service.config, "Ada Lane", "supervisor")
        ada = Colleague(service.url, "Ada Lane")
        old, took_s = under_load(players, lambda: watched.strike(fault))
        report_outage(f"primary {how}, sentinels", took_s)
        (new,) = (one for one in watched.servers if one is not old and one.is_primary)
        if how == "killed":
            check_all(service, players, new)
            old.follow(new.port)
            eventually(lambda: new.replicas() == 2, within_s=_WITHIN_S, what="it as a replica")
        else:
            with players.playing():
                old.thaw()
                # No client uses the old primary, though it still considers itself one.
                players.go_on(4)
            check_all(service, players, new)
        until(lambda: not reason(service))
        assert ada.post(f"/api/v1/links/{LINK}/close", reason="end of day").status_code < 300
        succeeds(service, "check")


def hold_replicas(watched: Watched, service: Service) -> None:
    """Cut the replicas off, while an event is being processed that they do not have.

    On a busy machine the link may have been inoperable for a moment just then.
    """
    while True:
        for wire in watched.wires:
            wire.hold()
        until(lambda: "of 1 replicas" in reason(service))
        if any(entries(watched.primary) > entries(replica) for replica in watched.replicas):
            return
        for wire in watched.wires:
            wire.mend()
        until(lambda: not reason(service))


def entries(server: Follower) -> int:
    return int(server.ask("HGET", BOOKS, "entries"))


@pytest.mark.slow
@pytest.mark.duty("D10")
def test_nothing_is_answered_that_no_replica_has(tmp_path: Path, mosquitto: Mosquitto) -> None:
    """An event that does not reach the replicas is not answered; it is repeated after a promotion.

    The mark of the service does not contain it either. Otherwise the link would need a manual
    repair.
    """
    players = Players(mosquitto.port, TABLES)
    with Watched() as watched, serving(tmp_path, mosquitto, watched) as service:
        with players.playing():
            players.go_on(10)
            replicas = watched.replicas
            hold_replicas(watched, service)
            watched.strike(Follower.kill)
            for wire in watched.wires:
                wire.cut()
            until(lambda: any(replica.is_primary for replica in replicas))
            players.check_ledger(watched.primary)
            players.go_on(10)
        check_all(service, players, watched.primary)


@pytest.mark.slow
@pytest.mark.duty("D13")
def test_a_primary_without_replicas_stops_the_link_until_one_is_back(
    tmp_path: Path, mosquitto: Mosquitto
) -> None:
    """The reason is reported, the books can still be read, and the link recovers by itself."""
    players = Players(mosquitto.port, TABLES)
    with Watched() as watched, serving(tmp_path, mosquitto, watched) as service:
        with players.playing():
            players.go_on(4)
            replicas = watched.replicas
            for replica in replicas:
                replica.kill()
            until(lambda: "0 of 1 replicas are connected and in step" in reason(service))
            assert service.audit()["balanced"]
            replicas[0].start()
            players.go_on(4)
        check_all(service, players, watched.primary)


def _missing(service: Service) -> str:
    lines = httpx.get(f"{service.url}/metrics", timeout=LONG_S).text.splitlines()
    return " ".join(line for line in lines if line.startswith("pitlink_redis_servers_missing{"))


@pytest.mark.slow
def test_a_sentinel_and_a_replica_that_are_gone_are_counted(
    tmp_path: Path, mosquitto: Mosquitto
) -> None:
    """The link operates without them, so an alert uses this metric."""
    with Watched() as watched, serving(tmp_path, mosquitto, watched) as service:
        until(lambda: _missing(service).endswith(" 0.0"))
        gone = watched.sentinels[0], watched.replicas[0]
        for server in gone:
            server.kill()
        until(lambda: _missing(service).endswith(" 2.0"))
        assert not reason(service)
        for server in gone:
            server.start()
        until(lambda: _missing(service).endswith(" 0.0"))
        for event in ("redis servers missing", "redis servers complete"):
            assert event in service.process.errors


@pytest.mark.slow
@pytest.mark.duty("D11")
def test_a_cluster_promotes_a_replica_when_a_links_primary_is_killed(
    tmp_path: Path, mosquitto: Mosquitto
) -> None:
    """Links are on their slots' primaries, users on theirs. Every command finds all of them."""
    players = Players(mosquitto.port, TABLES)
    with Cluster(BOOKS) as cluster, serving(tmp_path, mosquitto, cluster) as service:
        hire(service.config, "Ada Lane", "administrator")
        Colleague(service.url, "Ada Lane")
        primary, took_s = under_load(players, lambda: cluster.strike(Follower.kill))
        report_outage("primary killed, cluster", took_s)
        assert cluster.primary_of(BOOKS) is not primary
        check_all(service, players, cluster.primary_of(BOOKS))
        until(lambda: not reason(service))
        for command in (["check"], ["user", "list"]):
            succeeds(service, *command)
