"""The operators' log of a floor over TLS, and holders of its Redis password for users."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from meters.floor.floor_file import read_floor
from meters.keys.holders import holders
from meters.keys.keyring import Keyring
from meters.redis_client.connect import open_redis
from meters.redis_client.credentials import log_secrets
from meters.redis_client.shards import ShardedRedis, redis_of
from meters.redis_client.user_keys import USERS_TAG
from meters.users.directory import UserDirectory
from meters.users.log_mark import LogMark
from meters.users.roles import Role
from tests.keys.floor import write_floor
from tests.keys.servers import SecuredMosquitto, SecuredRedis
from tests.mqtt.stand import Service
from tests.servers import eventually, free_port, run_pitlink
from tests.users.staff import BY_COMMAND, PIN, Register, register_with
from tests.users.tampering import forge_administrator

pytestmark = [pytest.mark.duty("D17"), pytest.mark.slow]


@dataclass(frozen=True, slots=True)
class House:
    """A running floor with its own keys."""

    config: Path
    keys: Path
    service: Service

    def said(self, command: str) -> tuple[int, str]:
        """Return a command's exit status, and what it says of the operators' log."""
        done = run_pitlink(command, "--config", str(self.config))
        lines = done.stdout.splitlines()
        return done.returncode, "\n".join(line for line in lines if "operators' log" in line)

    def marked(self) -> int:
        return LogMark(self.config.parent / "data").seen.entries

    @asynccontextmanager
    async def register(self) -> AsyncIterator[Register]:
        """Yield the users' key names, for a holder of their password without a secret."""
        async with open_redis(read_floor(self.config)) as redis:
            assert isinstance(redis, ShardedRedis)
            client = redis_of(redis, USERS_TAG)
            yield Register(client, UserDirectory.of(client, 5))

    def add(self, name: str) -> None:
        asked = ["user", "add", name, "--role", "auditor", "--config", str(self.config)]
        done = run_pitlink(*asked, stdin=f"{PIN}\n")
        assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def house(tmp_path: Path, keys: Path, mine: Path, broker: SecuredMosquitto) -> Iterator[House]:
    port = free_port()
    with SecuredRedis(keys) as store:
        config = write_floor(
            tmp_path / "floor.toml",
            broker=broker.url,
            redis=store.url,
            http=port,
            keys=Path("keys"),
            data=tmp_path / "data",
        )
        service = Service(config, port)
        try:
            service.start()
            yield House(config, mine, service)
        finally:
            service.close()


async def test_log_is_sound_across_a_kill_and_a_renewal_and_thieves_are_named(
    house: House,
) -> None:
    """An entry is named even if its digest is right, and a killed service sees it too."""
    eventually(lambda: house.marked() > 0, what="the mark")
    house.service.process.kill()
    had = house.marked()
    for name in ("Ann", "Ben"):
        house.add(name)
    assert house.marked() == had, "nobody notes what a command does while no service runs"
    assert house.said("audit")[0] == 0
    floor = read_floor(house.config)
    (old,) = log_secrets(floor.service)
    copy = shutil.copytree(house.keys, house.keys.with_name("renewed"))
    Keyring(copy, floor).fill(holders(floor, 1, (), ()), {"service.1"})
    # The passwords are unchanged, because Redis loaded its list with them.
    file = Path("services", "1", "log-secrets")
    shutil.copy(copy / file, house.keys / file)
    new, _ = log_secrets(floor.service)
    house.service.start()
    house.add("Zoe")
    status, said = house.said("audit")
    assert (status, said.split(", ")[-1]) == (0, "unaltered")
    async with house.register() as register:
        await register.redis.hdel(register.keys.log_head, "mac_by")
        thief = register_with(register.redis, old)
        await thief.users.add("Eve", Role.ADMINISTRATOR, PIN, BY_COMMAND)
    assert old != new
    status, said = house.said("audit")
    assert status == 1
    assert "has the MAC of a secret that had been renewed" in said
    async with house.register() as register:
        number = await forge_administrator(register)
    problem = f"the operators' log: entry {number} has no MAC: no service wrote it"
    for _ in range(2):
        for command in ("audit", "check"):
            status, said = house.said(command)
            assert (status, problem in said) == (1, True), said
        house.service.process.kill()
        house.service.start()
