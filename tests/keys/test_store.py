"""Who may do what at a real Redis over TLS: the service keeps its books, and no more."""

import re
import ssl
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest
import redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import NoPermissionError, RedisError, ResponseError
from redis.retry import Retry

from meters.keys.authority import Authority
from meters.keys.redis_files import ARCHIVE_COMMANDS, COMMANDS, users
from tests.keys.servers import SecuredRedis

USER: Final = "pitlink"
_CALL: Final = re.compile(r"redis\.p?call\(\s*['\"]([A-Za-z]+)['\"]")
_REFUSED: Final = r"can't access|can't run|ACL|permission"
"""How Redis 6.2 to 8 say that a script may not do something."""
_ASKED: Final = re.compile(
    r"\b(?:redis|pipe)\.((?:[hxzs][a-z]+|get|set|del|exists|info|config_get))\("
)


def password_of(keys: Path) -> str:
    return (keys / "services" / "1" / "redis-password").read_text().strip()


def client(keys: Path, store: SecuredRedis, **changed: str | None) -> redis.Redis:
    """A client with the service's keys, but for what is changed."""
    home = keys / "services" / "1"
    settings: dict[str, Any] = {
        "host": "localhost",
        "port": store.port,
        "username": USER,
        "password": password_of(keys),
        "ssl": True,
        "ssl_ca_certs": str(home / "ca.crt"),
        "ssl_certfile": str(home / "service.crt"),
        "ssl_keyfile": str(home / "service.key"),
        "socket_timeout": 30,
        "retry": Retry(NoBackoff(), 0),
    }
    return redis.Redis(**settings | changed)


@pytest.fixture
def service(keys: Path, store: SecuredRedis) -> Iterator[redis.Redis]:
    with client(keys, store) as service:
        yield service


@pytest.mark.duty("D20")
@pytest.mark.parametrize(
    "command",
    [
        "FLUSHALL", "FLUSHDB", "CONFIG SET appendonly no", "CONFIG REWRITE", "CONFIG RESETSTAT",
        "KEYS *", "KEYS pitlink:*", "SCAN 0", "RANDOMKEY", "DBSIZE", "SWAPDB 0 1", "MOVE a 1",
        "SHUTDOWN NOSAVE", "BGREWRITEAOF", "BGSAVE", "SAVE", "REPLICAOF NO ONE",
        "SLAVEOF localhost 1", "FAILOVER", "MIGRATE localhost 1 a 0 1", "RESTORE pitlink:a 0 x",
        "DUMP pitlink:a", "RENAME pitlink:a pitlink:b", "COPY pitlink:a pitlink:b",
        "XDEL pitlink:a 1-1", "XTRIM pitlink:a MAXLEN 0", "XSETID pitlink:a 1-1", "MONITOR",
        "SUBSCRIBE a", "PUBLISH a b", "CLIENT KILL ID 1", "CLIENT LIST", "SLOWLOG GET", "ACL LIST",
        "ACL SETUSER guest on nopass ~* +@all", "ACL WHOAMI", "ACL LOAD", "MODULE LIST",
        "SCRIPT FLUSH", "SCRIPT KILL", "FUNCTION LIST", "EVAL return(1) 0", "LATENCY RESET",
        "CLUSTER RESET", "MEMORY PURGE",
    ],
)  # fmt: skip
def test_what_the_service_need_not_do_it_may_not(service: redis.Redis, command: str) -> None:
    """Emptying, configuring, listing and rewriting are none of its business."""
    with pytest.raises(NoPermissionError):
        service.execute_command(*command.split())  # type: ignore[no-untyped-call]


@pytest.mark.duty("D20")
def test_the_archive_alone_may_cut_off_a_ledger_s_beginning(
    keys: Path, store: SecuredRedis
) -> None:
    home = keys / "archive"
    with client(
        keys,
        store,
        username="pitlink-archive",
        password=(home / "redis-password").read_text().strip(),
        ssl_certfile=str(home / "archive.crt"),
        ssl_keyfile=str(home / "archive.key"),
    ) as archive:
        archive.xadd("pitlink:cut", {"a": "1"}, id="1-0")
        archive.xadd("pitlink:cut", {"a": "2"}, id="2-0")
        assert archive.xtrim("pitlink:cut", minid="2-0", approximate=False) == 1
        archive.delete("pitlink:cut")
        for command in ("FLUSHALL", "XDEL pitlink:cut 1-1", "CONFIG SET appendonly no", "KEYS *"):
            with pytest.raises(NoPermissionError):
                archive.execute_command(*command.split())


@pytest.mark.duty("D20")
def test_only_its_own_keys(service: redis.Redis) -> None:
    """Neither directly nor by a script."""
    service.hset("pitlink:own", "field", "1")
    assert service.hget("pitlink:own", "field") == b"1"
    for key in ("others", "pitlin", "xpitlink:own"):
        with pytest.raises(NoPermissionError):
            service.hset(key, "field", "1")
        with pytest.raises(NoPermissionError):
            service.hgetall(key)
    mine = service.register_script("return redis.call('HGET', KEYS[1], 'field')")
    assert mine(keys=["pitlink:own"]) == b"1"
    with pytest.raises(NoPermissionError):
        mine(keys=["others"])
    hidden = service.register_script("return redis.call('HSET', 'others', 'field', '1')")
    with pytest.raises(ResponseError, match=_REFUSED):
        hidden(keys=["pitlink:own"])
    emptying = service.register_script("return redis.call('FLUSHALL')")
    with pytest.raises(ResponseError, match=_REFUSED):
        emptying(keys=["pitlink:own"])
    service.delete("pitlink:own")


@pytest.mark.duty("D20")
def test_who_is_not_let_in(keys: Path, store: SecuredRedis, tmp_path: Path) -> None:
    """Without user, password, certificate or TLS nothing is answered."""
    with client(keys, store) as right:
        assert right.ping()
    forged = Authority.found("Test House")[0].issue_client("service.1")
    (tmp_path / "crt").write_bytes(forged.certificate)
    (tmp_path / "key").write_bytes(forged.key)
    table = (keys / "tables" / "main.A-1" / "password").read_text().strip()
    changes: list[dict[str, str | None]] = [
        {"username": None, "password": None},
        {"username": "default", "password": ""},
        {"username": "default", "password": password_of(keys)},
        {"password": "wrong"},
        {"password": table},
        {"ssl_certfile": None, "ssl_keyfile": None},
        {"ssl_certfile": str(tmp_path / "crt"), "ssl_keyfile": str(tmp_path / "key")},
    ]
    for changed in changes:
        with client(keys, store, **changed) as wrong, pytest.raises(RedisError) as refused:
            wrong.ping()
        assert password_of(keys) not in str(refused.value)
    plain = redis.Redis(port=store.port, password=password_of(keys), retry=Retry(NoBackoff(), 0))
    with plain, pytest.raises(RedisError):
        plain.ping()


@pytest.mark.duty("D11")
def test_what_was_written_is_there_after_a_restart(keys: Path) -> None:
    """Redis reads its file in the name of a user who may not be barred from anything in it."""
    with SecuredRedis(keys) as store:
        with client(keys, store) as service:
            twice = service.register_script(
                "redis.call('HSET', KEYS[1], 'a', '1'); redis.call('SADD', KEYS[2], 'b')"
            )
            twice(keys=["pitlink:{x}:one", "pitlink:{x}:two"])
            with service.pipeline(transaction=True) as pipe:
                pipe.zadd("pitlink:three", {"c": 1}).set("pitlink:four", "d", px=600_000).execute()
        store.kill()
        store.start()
        with client(keys, store) as service:
            assert service.hgetall("pitlink:{x}:one") == {b"a": b"1"}
            there = service.exists("pitlink:{x}:two", "pitlink:three", "pitlink:four")
            assert there == 3


def test_a_redis_that_is_not_ours_is_not_spoken_to(keys: Path, store: SecuredRedis) -> None:
    """The floor's authority alone is believed."""
    system = ssl.get_default_verify_paths().cafile
    with client(keys, store, ssl_ca_certs=system) as wrong, pytest.raises(NotConnected):
        wrong.ping()


def test_the_house_s_own_users_stay(keys: Path) -> None:
    """What it added to the file of users is there when the file is written anew."""
    house = "user backup on #aa ~* +@read"
    before = (keys / "redis" / "users.acl").read_text() + house + "\nnonsense\n"
    lines = users(["one", "two"], "three", before).splitlines()
    assert [line.split()[1] for line in lines] == ["default", USER, "pitlink-archive", "backup"]
    assert lines[3] == house
    assert lines[1].count("#") == 2


def test_no_more_is_allowed_than_what_the_code_asks_for() -> None:
    """Each command of a script or of the service is on the list, and each of the list is used."""
    used = {"auth", "hello", "ping", "select", "client|setname", "evalsha", "script|load"}
    used |= {"script|exists", "multi", "exec", "cluster|slots", "role", "wait"}
    for package in ("meters.books", "meters.people"):
        for path in (files(package) / "scripts").iterdir():
            if path.name.endswith(".lua"):
                used |= {call.lower() for call in _CALL.findall(path.read_text())}
    includes = files("meters.books") / "scripts" / "includes"
    for path in includes.iterdir():
        used |= {call.lower() for call in _CALL.findall(path.read_text())}
    for source in Path(str(files("meters"))).rglob("*.py"):
        if "bench" in source.parts:
            continue
        found = _ASKED.findall(source.read_text())
        used |= {name.replace("config_get", "config|get") for name in found}
    assert set(ARCHIVE_COMMANDS) == used
    assert used - set(COMMANDS) == {"xtrim"}, "which only the archive may"
