"""Permissions at a real Redis over TLS: books, users and archive each have a Redis user."""

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

from meters.books.facility_note import FACILITY_KEY
from meters.books.script_loader import load_script
from meters.books.slip_numbers import SLIPS_KEY
from meters.keys.authority import Authority
from meters.keys.redis_files import (
    ARCHIVE_COMMANDS,
    COMMANDS,
    USERS_COMMANDS,
    RedisPasswords,
    users,
)
from meters.redis_client.link_keys import LinkKeys
from meters.redis_client.user_keys import UserKeys
from meters.users.log_macs import LogHead, LogSecrets
from tests.keys.servers import SecuredRedis

USER: Final = "pitlink"
USERS_REDIS_USER: Final = "pitlink-people"
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


def password_of(keys: Path) -> str:
    return (keys / "services" / "1" / "redis-password").read_text().strip()


def users_access(keys: Path) -> dict[str, str]:
    """Return the Redis user for users and operators' log."""
    path = keys / "services" / "1" / "redis-people-password"
    return {"username": USERS_REDIS_USER, "password": path.read_text().strip()}


def client(keys: Path, store: SecuredRedis, **changed: str | None) -> redis.Redis:
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
    """Check that a user cannot access a key: alone, with an own key, in a script, in a batch."""
    more = [["DEL", own, key], ["EXISTS", own, key], ["RENAME", own, key], ["COPY", own, key]]
    for command in [*writes(key), *more]:
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
def users_client(keys: Path, store: SecuredRedis) -> Iterator[redis.Redis]:
    """Yield a client with the password for users and operators' log."""
    with client(keys, store, **users_access(keys)) as found:
        yield found


@pytest.fixture
def archive(keys: Path, store: SecuredRedis) -> Iterator[redis.Redis]:
    home = keys / "archive"
    with client(
        keys,
        store,
        username="pitlink-archive",
        password=(home / "redis-password").read_text().strip(),
        ssl_certfile=str(home / "archive.crt"),
        ssl_keyfile=str(home / "archive.key"),
    ) as found:
        yield found


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
def test_what_the_service_need_not_do_it_may_not(
    service: redis.Redis, users_client: redis.Redis, command: str
) -> None:
    """It cannot empty, configure, list or rewrite Redis."""
    for user, tag in ((service, "x"), (users_client, "@people")):
        words = command.replace("pitlink:a", f"pitlink:{{{tag}}}:a").split()
        with pytest.raises(NoPermissionError):
            user.execute_command(*words)  # type: ignore[no-untyped-call]


@pytest.mark.duty("D20")
def test_the_archive_alone_may_cut_off_a_ledger_s_beginning(archive: redis.Redis) -> None:
    """This holds for links only. It has no access to users or to the list of slips."""
    ledger = LinkKeys("cut").ledger
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
def test_the_page_says_which_user_can_cut_or_delete_what(
    service: redis.Redis, users_client: redis.Redis, archive: redis.Redis
) -> None:
    """The page of keys does not promise more than what the permissions hold."""
    page = (Path(__file__).parents[2] / "deploy/docs/reference/keys.md").read_text()
    table = page.partition("### What a Redis user can destroy\n")[2].partition("\n##")[0]
    told = dict(re.findall(r"^\| `(pitlink[a-z-]*)`.* \| (.+) \|$", table, re.MULTILINE))
    ledger, slips, log = LinkKeys("cut").ledger, SLIPS_KEY, UserKeys().log
    named = {ledger: "the ledger", slips: "payout slips", log: "operators' log"}
    for name, user in (
        (USER, service), (USERS_REDIS_USER, users_client), ("pitlink-archive", archive),
    ):  # fmt: skip
        for key, words in named.items():
            assert _can_cut_and_delete(user, key) == (words in told[name]), (name, key)
    assert set(told) == {USER, USERS_REDIS_USER, "pitlink-archive"}


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
@pytest.mark.parametrize("key", USERS_KEYS)
def test_with_the_books_password_nobody_touches_users(service: redis.Redis, key: str) -> None:
    """No administrator can be inserted, no session created, and the operators' log not changed."""
    refuses_all(service, key, "pitlink:{main}:accounts")


@pytest.mark.duty("D20")
@pytest.mark.parametrize("key", BOOKS_KEYS)
def test_with_the_users_password_nobody_touches_books(users_client: redis.Redis, key: str) -> None:
    """It cannot change a link's books, its ledger, or the paid slips."""
    refuses_all(users_client, key, UserKeys().users)


@pytest.mark.duty("D20")
def test_an_administrator_is_not_inserted_by_our_own_script(
    service: redis.Redis, users_client: redis.Redis
) -> None:
    """The script that adds users, loaded and called with the books' password, writes nothing."""
    keys = UserKeys()
    named = [keys.user("eve"), keys.users, keys.administrators, *keys.log_and_head]
    named += [keys.pins_set, keys.account("eve"), keys.account("")]
    at = "2026-01-01T00:00:00Z"
    arguments = ["eve", "Eve", "administrator", "hash", at, "command", "", "", keys.user_prefix]
    arguments += ["0", *map(str, LogSecrets().arguments(LogHead()))]
    add = load_script("add_user", "meters.users")
    with pytest.raises(NoPermissionError):
        service.register_script(add)(keys=named, args=arguments)
    assert not users_client.exists(*named)
    answer = users_client.register_script(add)(keys=named, args=arguments)
    assert answer[-1] == b"ok"
    users_client.delete(*named)


@pytest.mark.duty("D20")
def test_only_its_own_keys(service: redis.Redis) -> None:
    """This holds for direct commands and for scripts."""
    own = "pitlink:{own}:x"
    service.hset(own, "field", "1")
    assert service.hget(own, "field") == b"1"
    for key in (
        "others",
        "pitlin",
        "xpitlink:{own}:x",
        "pitlink:own",
        "pitlink:{",
        "PITLINK:{a}:x",
    ):
        with pytest.raises(NoPermissionError):
            service.hset(key, "field", "1")
        with pytest.raises(NoPermissionError):
            service.hgetall(key)
    mine = service.register_script("return redis.call('HGET', KEYS[1], 'field')")
    assert mine(keys=[own]) == b"1"
    with pytest.raises(NoPermissionError):
        mine(keys=["others"])
    hidden = service.register_script("return redis.call('HSET', 'others', 'field', '1')")
    with pytest.raises(ResponseError, match=_REFUSED):
        hidden(keys=[own])
    emptying = service.register_script("return redis.call('FLUSHALL')")
    with pytest.raises(ResponseError, match=_REFUSED):
        emptying(keys=[own])
    service.delete(own)


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
        {"username": USERS_REDIS_USER},
        {"password": users_access(keys)["password"]},
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
    lines = users(RedisPasswords(["1", "2"], ["3", "4"], "5"), before).splitlines()
    named = [line.split()[1] for line in lines]
    assert named == ["default", USER, USERS_REDIS_USER, "pitlink-archive", "backup"]
    assert lines[4] == house
    assert [line.count("#") for line in lines[1:4]] == [2, 2, 1]


def test_no_more_is_allowed_than_what_the_code_asks_for() -> None:
    """Each command of a script or of the service is on the list, and each of the list is used."""
    every = {"auth", "hello", "ping", "select", "client|setname", "evalsha", "script|load"}
    every |= {"script|exists", "multi", "exec", "cluster|slots", "role", "wait"}
    books, user_store = called_by("meters.books"), called_by("meters.users")
    for source in Path(str(files("meters"))).rglob("*.py"):
        asked = {name.replace("config_get", "config|get") for name in asked_by(source)}
        if "redis_client" in source.parts:
            every |= asked
        elif "users" in source.parts or source.name == "log_auditing.py":
            user_store |= asked
        elif source.name != "redis_users.py":
            books |= asked
    assert set(ARCHIVE_COMMANDS) == books | every
    assert set(ARCHIVE_COMMANDS) - set(COMMANDS) == {"xtrim"}, "which only the archive may"
    assert set(USERS_COMMANDS) == user_store | every


def called_by(package: str) -> set[str]:
    scripts = Path(str(files(package) / "scripts")).rglob("*.lua")
    return {call.lower() for path in scripts for call in _CALL.findall(path.read_text())}


def asked_by(source: Path) -> set[str]:
    return set(_ASKED.findall(source.read_text()))
