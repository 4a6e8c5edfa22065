"""`pitlink check` names each replica, and says if it has the same data as the primary."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.failover.servers import Cluster, Follower, Sentinel, Watched
from tests.mqtt.floors import many_tables_text
from tests.processes import run_pitlink
from tests.servers import eventually

pytestmark = pytest.mark.slow

USERS_KEY: Final = "pitlink:{@people}:log"


class Checked:
    def __init__(self, home: Path, url: str) -> None:
        self._config = home / "floor.toml"
        self._config.write_text(
            many_tables_text(broker="embedded", redis=url, port=8080, data=home / "data")
        )

    def replicas(self) -> list[str]:
        """Return the lines about replicas. A sentinel has only a second to answer."""

        def lines() -> list[str]:
            done = run_pitlink("check", "--config", str(self._config))
            assert "redis: Redis does not answer" not in done.stdout, done.stdout
            return done.stdout.splitlines()

        return [line for line in eventually(lines, what="Redis") if line[6:].startswith("replicas")]


@pytest.fixture
def followed() -> Iterator[tuple[Follower, Follower]]:
    with Follower({"min-replicas-to-write": "0"}) as primary, Follower() as replica:
        replica.follow(primary.port)
        eventually(lambda: primary.ask("ROLE")[2], what="the replica")
        yield primary, replica


def named(server: Follower | Sentinel) -> str:
    return f"127.0.0.1:{server.port}"


def test_replicas_behind_sentinels_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    """Play continues in each of these cases, so only this line says what the next failure does."""
    with Watched() as watched, Follower() as other:
        floor, primary = Checked(tmp_path, watched.url), watched.primary

        def until_well() -> None:
            eventually(lambda: floor.replicas()[0].startswith("ok"), what="all well again")

        (line,) = floor.replicas()
        assert line.startswith(f"ok    replicas of {named(primary)}: ")
        assert all(f"{named(replica)} in step" in line for replica in watched.replicas)

        for wire in watched.wires:
            wire.hold()
        primary.ask("SET", "of-this-test", "x" * 5_000)
        (line,) = floor.replicas()
        assert line.startswith(f"warn  replicas of {named(primary)}: ")
        assert line.count(" bytes behind") == 2
        assert "in step" not in line
        for wire in watched.wires:
            wire.mend()
        until_well()

        # A replica answers the sentinels, but it has no connection to the primary.
        watched.wires[0].cut()
        eventually(
            lambda: "does not copy the primary's data" in warning(floor), what="the replica named"
        )
        watched.wires[0].mend()
        until_well()

        gone, silent = watched.replicas[0], watched.sentinels[0]
        gone.kill()
        silent.kill()

        def reported() -> bool:
            line = warning(floor)
            return (
                f"sentinel {named(silent)} does not answer" in line
                and line.count("is down") == 1
                and line.count("in step") == 1
            )

        eventually(reported, what="both named")
        silent.start()
        gone.start()
        until_well()

        # Its machine was installed with a wrong address. The other two agree.
        odd = watched.sentinels[0]
        odd.watch(other)
        line = warning(floor)
        assert line.startswith(f"warn  replicas of {named(watched.primary)}: ")
        assert f"sentinel {named(odd)} names another primary, {named(other)}" in line
        assert line.count("in step") == 2


def warning(floor: Checked) -> str:
    (line,) = floor.replicas()
    return line if line.startswith("warn  ") else ""


def test_replicas_of_each_primary_of_a_cluster(tmp_path: Path) -> None:
    with Cluster(USERS_KEY) as cluster:
        lines = Checked(tmp_path, cluster.url).replicas()
        primary = named(cluster.primary_of(USERS_KEY))
        (line,) = (line for line in lines if f"replicas of {primary}: " in line)
        assert line.count("in step") == 2
        assert len(set(lines)) == len(lines) > 1


def test_a_replica_of_a_single_redis(tmp_path: Path, followed: tuple[Follower, Follower]) -> None:
    primary, replica = followed
    floor = Checked(tmp_path, primary.url)
    assert floor.replicas() == [f"ok    replicas: {named(replica)} in step"]
    replica.kill()
    eventually(lambda: not floor.replicas(), what="the replica gone")
