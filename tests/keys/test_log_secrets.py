"""The operators' log of a floor over TLS, and holders of its Redis password for users."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from meters.floor.floor_file import read_floor
from meters.floor.roles import Role
from meters.keys.keyring import Keyring, holders
from meters.store.credentials import log_secrets
from meters.store.redis_clients import ShardedRedis, redis_of
from meters.store.redis_connect import open_redis
from meters.store.user_keys import USERS_TAG
from meters.users.log_audit import LogMark
from meters.users.users import UserDirectory
from tests.keys.machines import running, service_at
from tests.keys.servers import SecuredMosquitto, SecuredRedis
from tests.mqtt.stand import Service
from tests.servers import eventually, run_pitlink
from tests.staff import hire
from tests.users.staff import BY_COMMAND, PIN, Register, register_with
from tests.users.tampering import forge_administrator

pytestmark = [pytest.mark.duty("D17"), pytest.mark.slow]


@pytest.fixture
def service(keys: Path, mine: Path, broker: SecuredMosquitto) -> Iterator[Service]:
    with (
        SecuredRedis(keys) as store,
        running(service_at(mine.parent, broker, store.url)) as service,
    ):
        yield service


def said(command: str, service: Service) -> tuple[int, str]:
    done = run_pitlink(command, "--config", str(service.config))
    lines = done.stdout.splitlines()
    return done.returncode, "\n".join(line for line in lines if "operators' log" in line)


@asynccontextmanager
async def register_of(service: Service) -> AsyncIterator[Register]:
    """Yield the users' key names, for a holder of their password without a secret."""
    async with open_redis(read_floor(service.config)) as redis:
        assert isinstance(redis, ShardedRedis)
        client = redis_of(redis, USERS_TAG)
        yield Register(client, UserDirectory(client, 5))


async def test_log_is_sound_across_a_kill_and_a_renewal_and_thieves_are_named(
    service: Service, mine: Path
) -> None:
    """An entry is named even if its digest is right, and a killed service sees it too."""

    def marked() -> int:
        return LogMark(service.config.parent / "data").seen.entries

    eventually(lambda: marked() > 0, what="the mark")
    service.process.kill()
    had = marked()
    for name in ("Ann", "Ben"):
        hire(service.config, name, "auditor")
    assert marked() == had, "nobody notes what a command does while no service runs"
    assert said("audit", service)[0] == 0
    floor = read_floor(service.config)
    (old,) = log_secrets(floor.service)
    copy = shutil.copytree(mine, mine.with_name("renewed"))
    Keyring(copy, floor).fill(holders(floor, 1, (), ()), {"service.1"})
    # The passwords are unchanged, because Redis loaded its list with them.
    file = Path("services", "1", "log-secrets")
    shutil.copy(copy / file, mine / file)
    new, _ = log_secrets(floor.service)
    service.start()
    hire(service.config, "Zoe", "auditor")
    status, problems = said("audit", service)
    assert (status, problems.split(", ")[-1]) == (0, "unaltered")
    async with register_of(service) as register:
        await register.redis.hdel(register.keys.log_head, "mac_by")
        thief = register_with(register.redis, old)
        await thief.users.add("Eve", Role.ADMINISTRATOR, PIN, BY_COMMAND)
    assert old != new
    status, problems = said("audit", service)
    assert status == 1
    assert "has the MAC of a secret that had been renewed" in problems
    async with register_of(service) as register:
        number = await forge_administrator(register)
    problem = f"the operators' log: entry {number} has no MAC: no service wrote it"
    for _ in range(2):
        for command in ("audit", "check"):
            status, problems = said(command, service)
            assert (status, problem in problems) == (1, True), problems
        service.process.kill()
        service.start()
