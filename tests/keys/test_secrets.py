"""No secret appears in logs, pages, metrics, errors, or the output of a command."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import httpx
import pytest
import redis

from bonus.errors import UserError
from meters.floor.facility import Service
from meters.floor.floor_file import read_floor
from meters.floor.key_bundle import table_identity
from meters.floor.own_credentials import broker_address
from meters.store.credentials import redis_access
from tests.keys.floor import write_floor
from tests.keys.servers import SecuredMosquitto
from tests.servers import Pitlink, RedisServer, eventually, free_port, run_pitlink

BROKER_SECRET: Final = "br0ker/p@ss#w?rd-7hQ2"  # noqa: S105
REDIS_SECRET: Final = "r3dis/p@ss#w?rd-9kX4"  # noqa: S105
GIVEN: Final = {"PITLINK_BROKER_PASSWORD": BROKER_SECRET}
A1: Final = table_identity("main", "A-1")
PLACES: Final = (
    "/healthz", "/readyz", "/metrics", "/api/v1/meters", "/api/v1/claims", "/signage", "/schema",
)  # fmt: skip


def quoted(secret: str) -> str:
    return "".join(each if each.isalnum() else f"%{ord(each):02X}" for each in secret)


def pieces(secret: str) -> Iterator[str]:
    """Yield the secret in each possible form, and each of its longer parts."""
    yield from (secret, quoted(secret))
    yield from (part for part in re.split(r"[^A-Za-z0-9]+", secret) if len(part) > 3)


def check_silent(texts: Mapping[str, str], *secrets: str) -> None:
    found = [
        (where, piece)
        for where, text in texts.items()
        for secret in secrets
        for piece in pieces(secret)
        if piece in text
    ]
    assert not found


@pytest.fixture(scope="module")
def locked_redis() -> Iterator[RedisServer]:
    with RedisServer(tcp=True) as server:
        with redis.Redis(unix_socket_path=str(server.socket_path)) as client:
            client.config_set("requirepass", "another")
        yield server


def given(
    source: str, home: Path, broker: SecuredMosquitto, store: RedisServer, http: int
) -> tuple[Path, dict[str, str]]:
    """Return a floor file whose servers refuse everybody, and its environment."""
    environment = {**os.environ, "PITLINK_KEYS": str(home / "keys")}
    at_broker, at_redis = "pit@", "pit@"
    if source == "address":
        at_broker, at_redis = f"pit:{quoted(BROKER_SECRET)}@", f"pit:{quoted(REDIS_SECRET)}@"
    else:
        (home / "secret").write_text(REDIS_SECRET + "\n")
        environment |= {
            "PITLINK_BROKER_PASSWORD": BROKER_SECRET,
            "PITLINK_REDIS_PASSWORD_FILE": str(home / "secret"),
        }
    config = write_floor(
        home / "floor.toml",
        broker=broker.password_url.replace("//", f"//{at_broker}"),
        redis=f"redis://{at_redis}127.0.0.1:{store.port}/0",
        http=http,
    )
    return config, environment


@pytest.mark.slow
@pytest.mark.parametrize("source", ["address", "environment"])
def test_a_refusal_is_reported_without_the_secret(
    tmp_path: Path, keys: Path, broker: SecuredMosquitto, locked_redis: RedisServer, source: str
) -> None:
    """Broker and Redis refuse the password. Service, table and commands report that without it."""
    (tmp_path / "keys").symlink_to(keys)
    port = free_port()
    config, environment = given(source, tmp_path, broker, locked_redis, port)
    texts: dict[str, str] = {}
    options = ("--config", str(config), "--log-level", "debug")
    with (
        Pitlink("serve", *options, env=environment) as serve,
        Pitlink("table", "A-1", *options, "--events", stdin=True, env=environment) as table,
    ):
        serve.until(lambda: "broker gone" in serve.errors, what="the broker refusing the service")
        table.until(lambda: "not reached" in table.errors, what="the broker refusing the table")
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as web:
            readiness = eventually(lambda: web.get("/readyz"), what="pages")
            texts |= {place: web.get(place).text for place in PLACES}
            wrong = web.post("/api/v1/sign-in", json={"name": "Ada", "pin": "7264907"})
            texts["sign-in"] = wrong.text
        assert readiness.status_code == 503
        texts |= {"serve": serve.output + serve.errors, "table": table.output + table.errors}
    check = run_pitlink("check", "--config", str(config), env=environment)
    assert "FAIL  redis" in check.stdout
    assert "FAIL  broker" in check.stdout
    commands = {"check": check}
    for command in ("audit", "user list"):
        done = run_pitlink(*command.split(), "--config", str(config), env=environment)
        assert done.returncode == 1, command
        commands[command] = done
    texts |= {name: done.stdout + done.stderr for name, done in commands.items()}
    check_silent(texts, BROKER_SECRET, REDIS_SECRET, "7264907")
    assert all("Traceback" not in text for text in texts.values())


@pytest.mark.parametrize(
    "address",
    [
        'broker = "mqtts://pit:{}@localhost:8884"',
        'redis = "rediss://pit:{}@localhost/0"',
        'redis = "redis://localhost/0?password={}"',
        'redis = "redis://:{}@localhost:6379"',
        'redis = "unix://pit:{}@"',
        'broker = "mqtts://pit:12#{}@localhost"',
        'redis = "redis://pit:12#{}@localhost"',
        'redis = "redis://pit:12?{}@localhost"',
        "broker = mqtts://pit:{}@localhost",
        'broker = "mqtts://pit:{}@localhost',
        'broker = ["mqtts://pit:{}@localhost"]',
        *(
            f'broker = "{url}"'
            for url in ("mqtt://pit@host:{}", "{}", "mqtt://pit:{}@a..b", "mqtt://pit:1\\n{}@a..b")
        ),
    ],
)
def test_an_address_that_is_none_is_not_quoted(tmp_path: Path, address: str) -> None:
    """A password with / ? # in it, unquoted, makes any address invalid. No piece of it is shown."""
    config = write_floor(tmp_path / "floor.toml")
    key = address[:6].strip()
    line = address.format(BROKER_SECRET)
    text = re.sub(rf"(?m)^{key} .*$", lambda _: line, config.read_text())
    config.write_text(text)
    with pytest.raises(UserError) as refused:
        read_floor(config)
    check_silent({"refusal": str(refused.value)}, BROKER_SECRET)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ({"PITLINK_BROKER_PASSWORD_FILE": "none"}, "none: cannot be read: No such file"),
        ({"PITLINK_BROKER_PASSWORD_FILE": "two"}, "must contain exactly one line, the password"),
        (GIVEN | {"PITLINK_BROKER_PASSWORD_FILE": "one"}, "are both set: remove one"),
        (GIVEN | {"ADDRESS": REDIS_SECRET}, "both have a password"),
        ({"PITLINK_KEYS": "nowhere"}, "there are no keys in"),
        ({"PITLINK_KEYS": "spoilt"}, "is not a PEM file of the expected kind"),
    ],
)
def test_what_cannot_be_used_is_named_not_shown(
    tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch, spoil: dict[str, str], said: str
) -> None:
    (tmp_path / "one").write_text(BROKER_SECRET)
    (tmp_path / "two").write_text(f"{BROKER_SECRET}\n{REDIS_SECRET}\n")
    bundle = tmp_path / "spoilt" / A1.place
    bundle.mkdir(parents=True)
    (bundle / "ca.crt").write_bytes((keys / "authority" / "ca.crt").read_bytes())
    (bundle / "table.crt").write_text(BROKER_SECRET)
    (bundle / "table.key").write_text(REDIS_SECRET)
    monkeypatch.chdir(tmp_path)
    at = ""
    for name, value in spoil.items():
        if name == "ADDRESS":
            at = f"pit:{quoted(value)}@"
        else:
            monkeypatch.setenv(name, value)
    service = Service(broker=f"mqtts://{at}localhost")
    with pytest.raises(UserError, match=re.escape(said)) as refused:
        broker_address(service, A1)
    check_silent({"refusal": str(refused.value)}, BROKER_SECRET, REDIS_SECRET)


def test_where_a_password_comes_from(
    tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment has priority over the bundle, a user in the address over the table's name."""
    mine = (keys / A1.place / "password").read_text().strip()

    def given(address: str, *, bundle: bool = True) -> tuple[str | None, str | None]:
        found = broker_address(Service(broker=address, keys=str(keys) if bundle else None), A1)
        assert "secret" not in repr(found)
        return found.username, found.password

    assert given("mqtts://localhost") == ("table.A-1", mine)
    assert given("mqtts://pit:secret@localhost") == ("pit", "secret")
    assert given("mqtts://localhost", bundle=False) == (None, None)
    # Without TLS nothing from a bundle is sent.
    assert given("mqtt://localhost") == (None, None)
    (tmp_path / "password").write_text("secret\n")
    monkeypatch.setenv("PITLINK_BROKER_PASSWORD_FILE", str(tmp_path / "password"))
    assert given("mqtts://localhost") == ("table.A-1", "secret")
    assert given("mqtts://pit@localhost") == ("pit", "secret")
    assert given("mqtt://localhost", bundle=False) == ("table.A-1", "secret")


def test_what_redis_is_shown(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with the broker, the host name is checked, with keys or without."""
    mine = (keys / "services" / "1" / "redis-password").read_text().strip()

    def given(address: str) -> tuple[object, object]:
        found = redis_access(Service(redis=address, keys=str(keys)))
        assert ("ssl_certfile" in found) == address.startswith("rediss")
        return found.get("username"), found.get("password")

    assert given("rediss://localhost") == ("pitlink", mine)
    assert given("rediss://pitlink@localhost") == ("pitlink", mine)
    assert given("rediss://house:secret@localhost") == ("house", "secret")
    assert given("rediss://:secret@localhost") == (None, "secret")
    assert given("unix:///redis.sock") == ("pitlink", mine)
    assert given("redis://localhost") == (None, None)
    assert redis_access(Service(redis="rediss://localhost"))["ssl_check_hostname"] is True
    monkeypatch.setenv("PITLINK_REDIS_PASSWORD", "secret")
    assert given("rediss://localhost") == ("pitlink", "secret")
    assert given("redis://localhost") == (None, "secret")
