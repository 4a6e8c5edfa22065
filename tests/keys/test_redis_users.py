"""Users and operators' log have a separate Redis user; reports if that is missing."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError

from meters.floor.facility import Service
from meters.floor.floor_file import Floor, read_floor
from meters.floor.roles import Role
from meters.ledger.redis_layout import LinkKeys
from meters.selfcheck.check_result import Check
from meters.selfcheck.server_checks import store_checks
from meters.store.credentials import users_access
from meters.store.link_store import LinkStore
from meters.store.redis_clients import AnyRedis, ShardedRedis, redis_of
from meters.store.redis_connect import open_redis
from meters.store.user_keys import USERS_TAG, UserKeys
from meters.users.pins import generate_pin
from meters.users.sign_in_attempts import Caller
from meters.users.user_store import UsersError
from meters.users.users import Actor, UserDirectory
from tests.failover.servers import Cluster
from tests.keys.floor import write_floor
from tests.keys.servers import SecuredRedis
from tests.servers import RedisServer

WHAT: Final = "users at redis"


@pytest.fixture
def listed_without(keys: Path, tmp_path: Path) -> Iterator[SecuredRedis]:
    """Yield a Redis whose list lacks the Redis user for users."""
    copy = shutil.copytree(keys, tmp_path / "listed")
    acl = copy / "redis" / "users.acl"
    acl.write_text(re.sub(r"^user pitlink-people .*\n", "", acl.read_text(), flags=re.MULTILINE))
    with SecuredRedis(copy, made_at=keys) as server:
        yield server


def floor_at(store: SecuredRedis, home: Path, keys: Path) -> Floor:
    return read_floor(write_floor(home / "floor.toml", redis=store.url, keys=keys))


async def add_user(redis: AnyRedis, name: str) -> None:
    by = Actor("command")
    await UserDirectory(redis, 30).users.add(name, Role.ADMINISTRATOR, generate_pin(), by)


async def looked(floor: Floor) -> dict[str, Check]:
    async with open_redis(floor) as redis:
        return {check.what: check async for check in store_checks(floor, redis)}


@pytest.mark.slow
@pytest.mark.duty("D20")
async def test_users_can_be_asked_all_that_the_pages_ask(
    store: SecuredRedis, keys: Path, tmp_path: Path
) -> None:
    """The Redis user for users may run each command that the pages need, and reads no books."""
    floor, here, pin = floor_at(store, tmp_path, keys), Caller("::1", "pad"), generate_pin()
    async with open_redis(floor) as redis:
        assert isinstance(redis, ShardedRedis)
        books, users = redis_of(redis, "main"), redis_of(redis, USERS_TAG)
        assert books is redis_of(redis, "other")
        with pytest.raises(NoPermissionError):
            await books.hgetall(UserKeys().user("ada"))
        with pytest.raises(NoPermissionError):
            await users.hgetall(LinkKeys("main").accounts)
        user_directory = UserDirectory(redis, 30, secret=b"secret")
        by = Actor("command line (amy)")
        for name in ("Ada", "Eve"):
            await user_directory.users.add(name, Role.ADMINISTRATOR, pin, by)
        with pytest.raises(UsersError, match="wrong"):
            await user_directory.sessions.sign_in("Ada", generate_pin(), here, None)
        opened = await user_directory.sessions.sign_in("Ada", pin, here, None)
        own = generate_pin()
        await user_directory.sessions.choose_pin(opened.token, opened.person, pin, own, here)
        ada = Actor("Ada", "::1", opened.token)
        await user_directory.users.disable("Eve", ada)
        await user_directory.users.enable("Eve", ada)
        await user_directory.users.set_pin("Eve", generate_pin(), ada)
        await user_directory.users.unlock("Eve", ada)
        await user_directory.log.note("slip_printed", by="Ada", about="main.T-1-2-1")
        assert [row.name for row in await user_directory.users.rows()] == ["Ada", "Eve"]
        done = ["user_unlocked", "pin_set", "user_enabled", "user_disabled", "pin_chosen"]
        assert [row.what for row in await user_directory.log.of_account("Ada", 5)] == done
        assert [row.what for row in await user_directory.log.of_account("Eve", 2)] == done[:2]
        assert [row.what for row in await user_directory.log.page(None, 1)] == ["slip_printed"]
        found = await user_directory.sessions.find(opened.token, keep_alive=True, acts=True)
        assert found is not None
        await user_directory.sessions.sign_out(opened.token, "::1")
        assert await user_directory.sessions.find(opened.token, keep_alive=False) is None
        checks = await looked(floor)
        assert (checks[WHAT].holds, checks["operators' log"].holds) == (True, True)


async def test_only_a_program_that_needs_users_signs_in_for_them(
    store: SecuredRedis, keys: Path, tmp_path: Path
) -> None:
    """Reading the books does not sign in as that user, and the archive has no permission."""
    floor = floor_at(store, tmp_path, keys)
    async with open_redis(floor) as redis:
        assert await LinkStore(redis, floor.link[0]).schema() is None
        assert isinstance(redis, ShardedRedis)
        assert await redis_of(redis, "main").ping()
        assert USERS_TAG not in redis.asked_for
    async with open_redis(floor, archives=True) as redis:
        assert isinstance(redis, Redis)
        with pytest.raises(NoPermissionError):
            await redis.hgetall(UserKeys().log_head)


@pytest.mark.parametrize("lacks", ["the list", "the bundle"])
async def test_a_bundle_and_a_list_that_differ_are_reported(
    listed_without: SecuredRedis, store: SecuredRedis, mine: Path, tmp_path: Path, lacks: str
) -> None:
    """Nobody can sign in then. The books are still checked."""
    at, copied = listed_without, "copy redis/"
    if lacks == "the bundle":
        (mine / "services" / "1" / "redis-people-password").unlink()
        at, copied = store, "copy services/"
    floor = floor_at(at, tmp_path, mine)
    async with open_redis(floor) as redis:
        with pytest.raises(UsersError):
            await add_user(redis, "Ada Lane")
    found = await looked(floor)
    assert found[WHAT].fails
    assert copied in found[WHAT].seen
    assert (found["redis"].holds, found["data of main"].holds) == (True, True)
    assert "operators' log" not in found


async def test_a_books_user_that_may_read_users_is_reported(
    keys: Path, mine: Path, tmp_path: Path
) -> None:
    acl = mine / "redis" / "users.acl"
    acl.write_text(acl.read_text().replace("~pitlink:{[^@]*", "~pitlink:*"))
    with SecuredRedis(mine, made_at=keys) as server:
        found = await looked(floor_at(server, tmp_path, mine))
    assert (found[WHAT].warns, found[WHAT].fails) == (True, False)
    assert "run `pitlink keys`, copy redis/" in found[WHAT].seen
    assert found["operators' log"].holds


async def test_a_redis_without_users_has_one_client(tmp_path: Path) -> None:
    with RedisServer() as server:
        text = f"unix://{server.socket_path}"
        floor = read_floor(write_floor(tmp_path / "floor.toml", redis=text))
        async with open_redis(floor) as redis:
            assert isinstance(redis, Redis)
            await add_user(redis, "Ada Lane")
        assert WHAT not in await looked(floor)


@pytest.mark.slow
async def test_each_has_a_user_of_its_own_in_a_cluster(
    keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test uses the generated list; the passwords are in address and environment."""
    lines = (keys / "redis" / "users.acl").read_text().splitlines()
    user_keys = UserKeys()
    with Cluster(user_keys.log) as cluster:
        for server in cluster.servers:
            for line in lines[1:3]:
                _, name, *rules = line.split()
                server.ask("ACL", "SETUSER", name, *rules, ">secret")
        url = cluster.url.replace("//", "//pitlink:secret@")
        floor = read_floor(write_floor(tmp_path / "floor.toml", redis=url))
        monkeypatch.setenv("PITLINK_REDIS_PEOPLE_PASSWORD", "secret")
        async with open_redis(floor) as redis:
            await add_user(redis, "Ada Lane")
            books = redis_of(redis, "main")
            await books.hset(LinkKeys("main").accounts, "a", "1")
            with pytest.raises(NoPermissionError):
                await redis_of(redis, USERS_TAG).hset(LinkKeys("main").accounts, "a", "2")
            with pytest.raises(NoPermissionError):
                await books.hset(user_keys.user("eve"), "role", "administrator")
        found = await looked(floor)
    assert (found["redis"].holds, found[WHAT].holds) == (True, True), found
    assert found["operators' log"].seen.startswith("1 entries")


def test_what_redis_is_shown_for_people(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle's password is used with our user alone, the environment's with any address."""
    mine = (keys / "services" / "1" / "redis-people-password").read_text().strip()

    def given(address: str) -> object:
        found = users_access(Service(redis=address, keys=str(keys)))
        assert found is None or found["username"] == "pitlink-people"
        assert found is None or ("ssl_certfile" in found) == address.startswith("rediss")
        return found and found["password"]

    assert given("rediss://localhost") == given("rediss://pitlink@localhost") == mine
    assert given("unix:///redis.sock") == given("rediss+sentinel://localhost/pitlink") == mine
    assert given("rediss://house:secret@localhost") is None
    assert given("rediss://:secret@localhost") is None
    assert given("redis://localhost") is None
    monkeypatch.setenv("PITLINK_REDIS_PEOPLE_PASSWORD", "another")
    assert given("redis://pit:secret@localhost") == given("rediss://localhost") == "another"
