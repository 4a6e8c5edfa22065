"""Permissions at a real Redis over TLS: books, users and archive each have a Redis user."""

import contextlib
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
from meters.keys.server_files import (
    ARCHIVE_COMMANDS,
    AUDIT_COMMANDS,
    COMMANDS,
    USERS_COMMANDS,
    redis_users,
)
from meters.ledger.redis_layout import LinkKeys
from meters.store.facility_notes import FACILITY_KEY
from meters.store.slip_register import SLIPS_KEY
from meters.store.user_keys import UserKeys
from tests.keys.servers import SecuredRedis

USER: Final = "pitlink"
USERS_REDIS_USER: Final = "pitlink-people"
AUDIT: Final = "pitlink-audit"
PLACES: Final = {
    USER: ("services/1", "service", "redis-password"),
    USERS_REDIS_USER: ("services/1", "service", "redis-people-password"),
    AUDIT: ("services/1", "service", "redis-audit-password"),
    "pitlink-archive": ("archive", "archive", "redis-password"),
}
"""The directory, the certificate and the password's file of each of our Redis users."""
USERS_KEYS: Final = (
    *UserKeys().log_and_head,
    UserKeys().users,
    UserKeys().administrators,
    UserKeys().pins_set,
    UserKeys().user("eve"),
    UserKeys().account("eve"),
    UserKeys().session("0"),
    UserKeys().lock("eve"),
)
FOREIGN_KEYS: Final = (
    "others", "pitlin", "xpitlink:{own}:x", "pitlink:own", "pitlink:{", "PITLINK:{a}:x",
)  # fmt: skip
BOOKS_KEYS: Final = (
    LinkKeys("main").accounts,
    LinkKeys("main").ledger,
    LinkKeys("main").claim("main.1.1"),
    LinkKeys("main").approved,
    LinkKeys("people").meters,
    LinkKeys("main").event_group,
    SLIPS_KEY,
    FACILITY_KEY,
    "pitlink:probe",
)
_CALL: Final = re.compile(r"redis\.p?call\(\s*['\"]([A-Za-z]+)['\"]")
_REFUSED: Final = r"can't access|can't run|ACL|permission"
"""Messages with which Redis 6.2 to 8 refuse an operation in a script."""
_ASKED: Final = re.compile(
    r"(?:\b(?:redis|pipe)|redis_of\([^()\n]*\))\."
    r"((?!startswith)(?:[hxzs][a-z]+|get|set|del|exists|info|config_get))\("
)


def password_of(keys: Path, user: str = USER) -> str:
    place, _, file = PLACES[user]
    return (keys / place / file).read_text().strip()


def client(
    keys: Path, store: SecuredRedis, user: str = USER, /, **changed: str | None
) -> redis.Redis:
    place, stem, _ = PLACES[user]
    home = keys / place
    settings: dict[str, Any] = {
        "host": "localhost",
        "port": store.port,
        "username": user,
        "password": password_of(keys, user),
        "ssl": True,
        "ssl_ca_certs": str(home / "ca.crt"),
        "ssl_certfile": str(home / f"{stem}.crt"),
        "ssl_keyfile": str(home / f"{stem}.key"),
        "socket_timeout": 30,
        "retry": Retry(NoBackoff(), 0),
    }
    return redis.Redis(**settings | changed)


def writes(key: str) -> list[list[str]]:
    """Return every way to read or change a key that one of our Redis users has."""
    return [
        *(["HSET", key, "a", "1"], ["HDEL", key, "a"], ["HINCRBY", key, "a", "1"]),
        *(["HGET", key, "a"], ["HMGET", key, "a"], ["HGETALL", key]),
        *(["XADD", key, "1-0", "a", "1"], ["XRANGE", key, "-", "+"], ["XREVRANGE", key, "+", "-"]),
        *(["ZADD", key, "0", "eve"], ["ZREM", key, "eve"], ["ZRANGE", key, "0", "-1"]),
        *(["SET", key, "1"], ["DEL", key], ["EXISTS", key]),
    ]


def refuses_all(user: redis.Redis, key: str, own: str) -> None:
    more = [["DEL", own, key], ["EXISTS", own, key], ["RENAME", own, key], ["COPY", own, key]]
    for command in [*writes(key), *more, ["FLUSHALL"]]:
        with pytest.raises(NoPermissionError):
            user.execute_command(*command)  # type: ignore[no-untyped-call]
        called = ", ".join(f"'{word}'" for word in command)
        script = user.register_script(f"return redis.call({called})")
        with pytest.raises(NoPermissionError):
            script(keys=[key])
        with pytest.raises(NoPermissionError):
            script(keys=[own, key])
        with pytest.raises(ResponseError, match=_REFUSED):
            script(keys=[own])
    with user.pipeline(transaction=True) as batch:
        batch.delete(key)
        with pytest.raises(NoPermissionError):
            batch.execute()


@pytest.fixture
def clients(keys: Path, store: SecuredRedis) -> Iterator[dict[str, redis.Redis]]:
    with contextlib.ExitStack() as stack:
        yield {user: stack.enter_context(client(keys, store, user)) for user in PLACES}


@pytest.mark.duty("D20", proof=True)
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
def test_what_the_service_need_not_do_it_may_not(
    clients: dict[str, redis.Redis], command: str
) -> None:
    """It cannot empty, configure, list or rewrite Redis."""
    for user, tag in ((USER, "x"), (USERS_REDIS_USER, "@people")):
        words = command.replace("pitlink:a", f"pitlink:{{{tag}}}:a").split()
        with pytest.raises(NoPermissionError):
            clients[user].execute_command(*words)  # type: ignore[no-untyped-call]


@pytest.mark.duty("D20")
def test_the_archive_alone_may_cut_off_a_ledger_s_beginning(
    clients: dict[str, redis.Redis],
) -> None:
    """This holds for links only. It has no access to users or to the list of slips."""
    archive, ledger = clients["pitlink-archive"], LinkKeys("cut").ledger
    archive.xadd(ledger, {"a": "1"}, id="1-0")
    archive.xadd(ledger, {"a": "2"}, id="2-0")
    assert archive.xtrim(ledger, minid="2-0", approximate=False) == 1
    archive.delete(ledger)
    for command in ("FLUSHALL", f"XDEL {ledger} 1-1", "CONFIG SET appendonly no", "KEYS *"):
        with pytest.raises(NoPermissionError):
            archive.execute_command(*command.split())  # type: ignore[no-untyped-call]
    for key in (*USERS_KEYS, SLIPS_KEY):
        for words in writes(key):
            with pytest.raises(NoPermissionError):
                archive.execute_command(*words)  # type: ignore[no-untyped-call]
    with pytest.raises(NoPermissionError):
        archive.execute_command("XTRIM", UserKeys().log, "MINID", "2-0")  # type: ignore[no-untyped-call]


@pytest.mark.duty("D20")
def test_the_page_says_which_user_can_cut_or_delete_what(clients: dict[str, redis.Redis]) -> None:
    """The page of keys does not promise more than what the permissions hold."""
    page = (Path(__file__).parents[2] / "deploy/docs/reference/keys.md").read_text()
    table = page.partition("### What a Redis user can destroy\n")[2].partition("\n##")[0]
    told = dict(re.findall(r"^\| `(pitlink[a-z-]*)`.* \| (.+) \|$", table, re.MULTILINE))
    ledger, slips, log = LinkKeys("cut").ledger, SLIPS_KEY, UserKeys().log
    named = {ledger: "the ledger", slips: "payout slips", log: "operators' log"}
    for name, user in clients.items():
        for key, words in named.items():
            assert _can_cut_and_delete(user, key) == (words in told[name]), (name, key)
    assert told.keys() == PLACES.keys()


def _can_cut_and_delete(user: redis.Redis, key: str) -> bool:
    """Try it with a new stream of the same name and another end."""
    key = f"{key}:cut"
    try:
        for number in (1, 2):
            user.execute_command("XADD", key, "MAXLEN", "1", f"{number}-0", "a", "1")  # type: ignore[no-untyped-call]
        assert len(user.xrange(key) or ()) == 1
        return user.delete(key) == 1
    except NoPermissionError:
        return False


@pytest.mark.duty("D20")
@pytest.mark.parametrize(
    ("user", "key"),
    [
        *((USER, key) for key in (*USERS_KEYS, *FOREIGN_KEYS)),
        *((USERS_REDIS_USER, key) for key in BOOKS_KEYS),
    ],
)
def test_a_redis_user_touches_nothing_of_others(
    clients: dict[str, redis.Redis], user: str, key: str
) -> None:
    """The books' password adds no administrator or session; that for users changes no ledger."""
    own = "pitlink:{main}:accounts" if user == USER else UserKeys().users
    refuses_all(clients[user], key, own)


@pytest.mark.duty("D20")
def test_who_is_not_let_in(keys: Path, store: SecuredRedis, tmp_path: Path) -> None:
    """Without user, password, certificate or TLS nothing is answered."""
    with client(keys, store) as right:
        assert right.ping()
    forged = Authority.found("Test House")[0].issue("service.1")
    (tmp_path / "crt").write_bytes(forged.certificate)
    (tmp_path / "key").write_bytes(forged.key)
    table = (keys / "tables" / "main.A-1" / "password").read_text().strip()
    changes: list[dict[str, str | None]] = [
        {"username": None, "password": None},
        {"username": "default", "password": ""},
        {"username": "default", "password": password_of(keys)},
        {"password": "wrong"},
        {"username": USERS_REDIS_USER},
        {"password": password_of(keys, USERS_REDIS_USER)},
        {"username": "pitlink-archive"},
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
    """Redis reads its file under a user who must have all permissions that the file needs."""
    with SecuredRedis(keys) as store:
        with client(keys, store) as service:
            twice = service.register_script(
                "redis.call('HSET', KEYS[1], 'a', '1'); redis.call('HSET', KEYS[2], 'b', '1')"
            )
            twice(keys=["pitlink:{x}:one", "pitlink:{x}:two"])
            with service.pipeline(transaction=True) as pipe:
                pipe.zadd("pitlink:{x}:three", {"c": 1})
                pipe.set("pitlink:{x}:four", "d", px=600_000).execute()
        store.kill()
        store.start()
        with client(keys, store) as service:
            assert service.hgetall("pitlink:{x}:one") == {b"a": b"1"}
            there = service.exists("pitlink:{x}:two", "pitlink:{x}:three", "pitlink:{x}:four")
            assert there == 3


def test_no_client_connects_to_a_foreign_redis(keys: Path, store: SecuredRedis) -> None:
    """The client trusts the floor's authority alone."""
    system = ssl.get_default_verify_paths().cafile
    with client(keys, store, ssl_ca_certs=system) as wrong, pytest.raises(NotConnected):
        wrong.ping()


def test_the_operators_own_users_stay(keys: Path) -> None:
    """Users that an operator added to the file are still there after it is written again."""
    house = "user backup on #aa ~* +@read"
    before = (keys / "redis" / "users.acl").read_text() + house + "\nnonsense\n"
    lines = redis_users(books="12", users="34", audit="67", archive="5", before=before).splitlines()
    named = [line.split()[1] for line in lines]
    assert named == ["default", USER, USERS_REDIS_USER, AUDIT, "pitlink-archive", "backup"]
    assert lines[5] == house
    assert [line.count("#") for line in lines[1:5]] == [2, 2, 2, 1]


CONNECTION: Final = frozenset({"health", "primary_discovery", "redis_clients", "redis_connect"})
"""The modules of `meters.store` that connect to Redis, for whatever data."""


def test_no_more_is_allowed_than_what_the_code_asks_for() -> None:
    """Each command of a script or of the service is on the list, and each of the list is used."""
    every = {"auth", "hello", "ping", "select", "client|setname", "evalsha", "script|load"}
    every |= {"script|exists", "multi", "exec", "cluster|slots", "role", "wait"}
    books, user_store = called_by("meters.store"), called_by("meters.users")
    for source in Path(str(files("meters"))).rglob("*.py"):
        found = _ASKED.findall(source.read_text())
        asked = {name.replace("config_get", "config|get") for name in found}
        if source.stem in CONNECTION:
            every |= asked
        elif "users" in source.parts or source.name == "log_auditing.py":
            user_store |= asked
        elif source.name != "redis_users.py":
            books |= asked
    assert set(ARCHIVE_COMMANDS) == books | every
    assert set(ARCHIVE_COMMANDS) - set(COMMANDS) == {"xtrim"}, "which only the archive may"
    assert set(USERS_COMMANDS) == user_store | every
    assert set(AUDIT_COMMANDS) < set(COMMANDS)


def called_by(package: str) -> set[str]:
    scripts = Path(str(files(package) / "scripts")).rglob("*.lua")
    return {call.lower() for path in scripts for call in _CALL.findall(path.read_text())}
