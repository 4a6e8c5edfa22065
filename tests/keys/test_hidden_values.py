"""The hidden value of a must-hit-by meter, looked for with every credential before its win.

A real floor over TLS plays, and everything that somebody can read or receive is searched for the
value and its salt, in each form in which a program could write them. Then the meter is won.
"""

import base64
import itertools
import json
import math
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
import paho.mqtt.client as paho
import pytest
import redis
from paho.mqtt.enums import CallbackAPIVersion
from redis.exceptions import NoPermissionError

from bonus.wagers import MICROS_PER_CENT, MUST_HIT_BY
from meters.floor.key_bundle import (
    CHECK,
    DISPLAY,
    HIDDEN_VALUE_SECRETS_FILE,
    read_secrets,
    service_identity,
    table_identity,
)
from meters.floor.roles import Role
from meters.ledger.redis_layout import LinkKeys
from meters.store.hidden_value_seal import HiddenValues
from meters.store.stored_entries import unpack_entry
from meters.wire.messages import OpenedValue
from tests.deploy.tree import DEPLOY
from tests.floor_text import link_text, meter_text, section_text, table_text
from tests.keys.clients import believing, password_of
from tests.keys.floor import make_keys, write_floor
from tests.keys.servers import OBSERVER, SecuredMosquitto, SecuredRedis
from tests.keys.test_broker import FILTERS
from tests.keys.test_store import PLACES, client
from tests.mqtt.events import encode
from tests.mqtt.stand import Service
from tests.processes import Pitlink, invoke_pitlink
from tests.servers import eventually, free_port
from tests.staff import Colleague, hire
from tests.web.stand import Stand as WebStand
from tests.web.test_roles import routes

pytestmark = [pytest.mark.duty("D20"), pytest.mark.slow]

MINIMUM: Final = 7_315_763_891
"""The meter's minimum in cents: an amount of so many digits occurs nowhere by chance."""
ABOVE_MICROS: Final = 23_456_788
NEXT_ABOVE_MICROS: Final = 4_567_891_234
VALUE_MICROS: Final = MINIMUM * MICROS_PER_CENT + ABOVE_MICROS + 1
VALUE_CENTS: Final = VALUE_MICROS // MICROS_PER_CENT
_WAGERS: Final = ("progressive", "five_card_progressive")
LINKS: Final = (
    link_text(
        "main",
        *map(meter_text, _WAGERS),
        section_text(
            "[[link.meter]]",
            kind=MUST_HIT_BY,
            id="mystery",
            must_hit_by={
                "minimum": MINIMUM, "maximum": MINIMUM + 1_000_000, "rate": "50%",
                "wagers": _WAGERS, "rule": "H.1",
            },
        ),
        table_text("A-1", *_WAGERS, "mystery", asset="1"),
        *(table_text(f"A-{one}", *_WAGERS, "mystery", asset=f"{one}") for one in (2, 3)),
    ),
    link_text("other", meter_text("progressive"), table_text("B-1", "progressive", asset="4")),
)  # fmt: skip
METERS: Final = 4

ADMIN: Final = "facility-admin"
PASSWORD: Final = "everything-is-allowed"  # noqa: S105  (made up)
LISTENERS: Final = (
    *(table_identity(*table) for table in (("main", "A-1"), ("main", "A-3"), ("other", "B-1"))),
    service_identity(2), DISPLAY, CHECK,
)  # fmt: skip
READS: Final = (
    "GET {}", "HGETALL {}", "LRANGE {} 0 -1", "SMEMBERS {}", "ZRANGE {} 0 -1 WITHSCORES",
    "XRANGE {} - +", "XREVRANGE {} + -",
)  # fmt: skip
NO_KEY: Final = ("INFO", "CONFIG GET *")
SEES_COMMANDS: Final = (
    "MONITOR", "SLOWLOG GET", "CLIENT LIST", "CLIENT TRACKING ON BCAST", "LATENCY HISTORY command",
    "SUBSCRIBE __keyspace@0__:*", "PSUBSCRIBE *", "PSYNC ? -1", "SYNC", "REPLCONF listening-port 1",
    "MEMORY DOCTOR", "OBJECT ENCODING a",
)  # fmt: skip
STREAM_S: Final = 0.5
"""How long a stream is read, at least. It begins with everything that a page needs."""
ROLES: Final = {role.value.title(): role for role in Role}
NOT_BEFORE_A_WIN: Final = {"/api/v1/claims/{claim}", "/api/v1/claims/{claim}/slip.pdf"}
NOTHING_THERE: Final = NOT_BEFORE_A_WIN | {
    "/docs/{name}", "/schema/{path}", "/assets/{version}/{name}", "/signage/logo/{version}",
    "/signage/{link}/pays/{table}",
}  # fmt: skip
"""Routes that no request of this test finds: fixed files, and a file that this floor lacks."""

READ_ONCE: Final = {"{preview}": "nobody", "{report}": "Auditor"}
"""Routes that take long, and answer everybody who may use them with the same: who reads them."""
QUERIES: Final = {"/api/v1/rounds": "?table=A-1"}

Seen = dict[str, bytes]
"""Contents by the place where they were seen."""


def in_base64(data: bytes) -> Iterator[bytes]:
    """Yield what base64 of any text with the data has, wherever the data begins in the text."""
    for before in range(3):
        whole = base64.b64encode(bytes(before) + data)
        part = whole[math.ceil(before * 8 / 6) : (before + len(data)) * 8 // 6]
        yield from (part, part.translate(bytes.maketrans(b"+/", b"-_")))


def forms_of(value: OpenedValue) -> Mapping[bytes, str]:
    """Return the forms in which somebody could find a value, with their names."""
    found: dict[bytes, str] = {}

    def add(name: str, *texts: str | bytes) -> None:
        found.update({text.encode() if isinstance(text, str) else text: name for text in texts})

    cents = value.micros // MICROS_PER_CENT
    dollars, rest = divmod(cents, 100)
    separated = (f"{dollars:,}".replace(",", mark) for mark in (",", ".", " ", "\u00a0", "\u202f"))
    add("dollars", f"{dollars}.{rest:02}", f"{dollars},{rest:02}")
    add("dollars", *(f"{each}{point}{rest:02}" for each in separated for point in ".,"))
    for name, number in (("cents", cents), ("micros", value.micros)):
        big = number.to_bytes((number.bit_length() + 7) // 8)
        add(name, str(number), f"{number:,}", *in_base64(str(number).encode()))
        add(f"{name} in hexadecimal digits", f"{number:x}", f"{number:X}")
        add(f"{name} as bytes", big, big[::-1], *in_base64(big), *in_base64(big[::-1]))
    salt = bytes.fromhex(value.salt)
    add("salt", value.salt, value.salt.upper(), salt, *in_base64(salt))
    return found


def found_in(seen: Seen, value: OpenedValue) -> list[tuple[str, str]]:
    """Return places with a form of the value, and the form's name."""
    forms = forms_of(value).items()
    return [(place, name) for place, data in seen.items() for form, name in forms if form in data]


def test_each_form_is_found() -> None:
    value = OpenedValue(VALUE_MICROS, "5a" * 32)
    assert len(forms_of(value)) > 40
    for form, name in forms_of(value).items():
        assert ("here", name) in found_in({"here": b"a" + form + b"b"}, value)
    hidden = {
        "a message": json.dumps({"amount": VALUE_CENTS}).encode(),
        "a page": f"<b>${VALUE_CENTS // 100:,}.{VALUE_CENTS % 100:02}</b>".encode(),
        "a plain seal": base64.b64encode(b"mystery 1 " + VALUE_MICROS.to_bytes(8)),
    }
    assert {place for place, _ in found_in(hidden, value)} == hidden.keys()
    assert found_in({"the meter": str(VALUE_CENTS - 1).encode()}, value) == []


@contextmanager
def listening(
    broker: SecuredMosquitto, keys: Path, username: str, password: str, filters: Sequence[str]
) -> Iterator[paho.Client]:
    """Connect a client that subscribes to all it can, and keeps what it receives in its data."""
    heard: list[tuple[str, bytes]] = []
    one = paho.Client(CallbackAPIVersion.VERSION2, client_id=username, userdata=heard)
    one.tls_set_context(believing(keys))
    one.username_pw_set(username, password)
    one.on_message = lambda _client, _data, message: heard.append(
        (message.topic, bytes(message.payload))
    )
    answered: list[object] = []
    one.on_subscribe = lambda *answer: answered.append(answer)
    one.connect("localhost", broker.password_port)
    one.loop_start()
    try:
        eventually(one.is_connected, what=f"{username} connected")
        for each in filters:
            one.subscribe(each, qos=1)
        eventually(lambda: len(answered) == len(filters), what="all subscriptions")
        yield one
    finally:
        one.disconnect()
        one.loop_stop()


def serving(*arguments: str) -> list[str]:
    """Return the command line of a `pitlink` that draws the values of this test."""
    drawn = (
        "import secrets; below = secrets.randbelow;"
        f" drawn = iter(({ABOVE_MICROS}, {NEXT_ABOVE_MICROS}));"
        f" secrets.randbelow = lambda most: next(drawn) if most > {NEXT_ABOVE_MICROS}"
        " else below(most);"
        " from meters.cli.main import run; run()"
    )
    return [sys.executable, "-c", drawn, *arguments]


@dataclass
class Attacked:
    """A floor over TLS, with everything that listens and looks on it."""

    home: Path
    keys: Path
    broker: SecuredMosquitto
    store: SecuredRedis
    service: Service
    panel: Pitlink
    ears: Mapping[str, paho.Client]
    staff: Mapping[str, Colleague | None]
    answered: set[str] = field(default_factory=set)
    """Routes that answered a request with content."""
    _seq: int = 0

    def play(self, positions: int) -> Sequence[Mapping[str, Any]]:
        """Play a round in which everybody folds; return the replies to the table."""
        everybody, at = range(1, positions + 1), datetime.now(UTC).isoformat()[:23] + "Z"
        common = {"at": at, "round": f"R{self._seq}"}
        bets = [{"position": one, "wagers": dict.fromkeys(_WAGERS, 100)} for one in everybody]
        folds = [{"position": one, "folded": True} for one in everybody]
        return [
            self._ask({"type": "wagers", "positions": bets, **common}),
            self._ask(
                {
                    "type": "result",
                    "positions": folds,
                    "dealer": ["3h", "8d", "Kc"],
                    "community": ["5h", "Ac"],
                    **common,
                }
            ),
        ]

    def _ask(self, event: Mapping[str, object]) -> Mapping[str, Any]:
        self._seq += 1
        table, root = self.ears["table.A-1"], "pitlink/v1/main/table/A-1"
        table.publish(f"{root}/out", encode({"seq": self._seq, **event}), qos=1)

        def reply() -> list[Mapping[str, Any]]:
            heard = [json.loads(data) for topic, data in received(table) if topic == f"{root}/in"]
            return [each for each in heard if each.get("seq") == self._seq]

        found = eventually(reply, what=f"the reply to {event['type']}")[0]
        assert found["status"] == "accepted", found
        return found

    def admin(self) -> redis.Redis:
        return client(self.keys, self.store, "pitlink", username=ADMIN, password=PASSWORD)

    def value(self) -> OpenedValue:
        """Return the present value, as an account with the key bundle can."""
        secrets = read_secrets(self.keys / "services" / "1" / HIDDEN_VALUE_SECRETS_FILE)
        with self.admin() as everything:
            found: Any = everything.hmget(
                LinkKeys("main").meters, "cycle:mystery", "hidden:mystery"
            )
        return HiddenValues(secrets).read("mystery", int(found[0]), found[1].decode())

    def in_redis(self) -> Seen:
        """Read each Redis key as each Redis user, and the ledger as it was before compression."""
        seen: Seen = {}
        with self.admin() as everything:
            every = sorted(everything.scan_iter(count=1_000))
        assert LinkKeys("main").meters.encode() in every
        for name in PLACES:
            with client(self.keys, self.store, name) as user:
                words = [pattern.split() for pattern in READS]
                asked = [[*part[:1], key, *part[2:]] for key in every for part in words]
                for command in [*asked, *(each.split() for each in NO_KEY)]:
                    place = f"redis as {name}: {command}"
                    seen[place] = _told(user, *command)
                    if command[0] == "XRANGE" and seen[place]:
                        entries = user.xrange(command[1])
                        seen[f"{place}, unpacked"] = repr(
                            [unpack_entry(one) for one in entries]
                        ).encode()
        return seen

    def at_broker(self) -> Seen:
        """Return what each MQTT client has received."""
        answered: list[object] = []
        for one in self.ears.values():
            one.on_subscribe = lambda *answer: answered.append(answer)
            one.subscribe("another", qos=1)
        # The broker's answer comes after everything that it sent before.
        eventually(lambda: len(answered) == len(self.ears), what="everything received")
        seen: Seen = {}
        for name, one in self.ears.items():
            for topic, data in received(one):
                place = f"mqtt as {name}: {topic}"
                seen[place] = seen.get(place, b"") + data + b"\n"
        return seen

    def over_http(self) -> Seen:
        """Read each route of the service as each role and without one, and those of a panel."""
        with self.admin() as everything:
            entries = range(1, int(everything.hget(LinkKeys("main").meters, "entries") or 0) + 1)
        auditor = self.staff["Auditor"]
        assert auditor is not None
        day = auditor.get("/api/v1/reports").json()["open"]
        parts: Mapping[str, Sequence[str]] = {
            "link": ("main", "other"), "meter": (*_WAGERS, "mystery"),
            "entry": [*map(str, entries)], "preview": ("closed",),
            "report": [f"day/{day}", f"jackpots/{day}"],
        }  # fmt: skip
        paths = [name.partition(" ")[2] for name in routes(WebStand()) if name.startswith("GET ")]
        seen: Seen = {}
        for name, colleague in self.staff.items():
            headers = colleague.headers if colleague else {}
            with httpx.Client(base_url=self.service.url, headers=headers, timeout=60) as web:
                for path in paths:
                    if any(one in path and name != by for one, by in READ_ONCE.items()):
                        continue
                    for filled in _filled(path, parts):
                        status, content = _content(web, filled)
                        seen[f"http as {name}: {filled}"] = content
                        if status < 400:
                            self.answered.add(path)
        address, key = _panel_address(self.panel)
        with httpx.Client(base_url=address, timeout=60, follow_redirects=True) as tablet:
            for filled in (f"/?key={key}", "/api/v1/table", "/api/v1/table/stream", "/metrics"):
                status, content = _content(tablet, filled)
                assert status == 200, filled
                seen[f"panel: {filled}"] = content
        return seen

    def in_files(self) -> Seen:
        """Return all files of all programs and of a backup, without the secrets themselves."""
        copies = self.home / "backup"
        shutil.rmtree(copies, ignore_errors=True)
        places = {"data": self.home / "data", "redis": self.store.home,
                  "tables": self.home / "none", "config": self.service.config}  # fmt: skip
        if os.geteuid() == 0:
            run = [str(DEPLOY / "backup"), str(copies)]
            done = _ran(*run, *(f"--{name}={place}" for name, place in places.items()))
            assert "appendonlydir" in done, done
            for packed in copies.rglob("*.tar"):
                with tarfile.open(packed) as tar:
                    tar.extractall(packed.with_suffix(""), filter="data")
        with self.admin() as everything:
            everything.config_set("rdbcompression", "no")
            everything.save()
        tops = (self.home, self.store.home, self.broker.home)
        seen = {
            f"file {path}": path.read_bytes()
            for top in tops
            for path in top.rglob("*")
            if path.is_file() and path.name != HIDDEN_VALUE_SECRETS_FILE
        }
        kinds = {"aof", "rdb", "db", "toml", "sqlite"}
        assert kinds <= {place.rpartition(".")[2] for place in seen}
        for name, program in (("serve", self.service.process), ("panel", self.panel)):
            seen |= {f"log of {name}": (program.output + program.errors).encode()}
        assert b"DEBUG" in seen["log of serve"] or b"debug" in seen["log of serve"]
        return seen

    def by_command(self) -> Seen:
        """Run every command that shows a floor."""
        config, seen = ("--config", str(self.service.config)), Seen()
        filing = self.home / f"filing-{self._seq}"
        for command in (
            "status --once --prometheus none", "audit", "audit --json", "check", "archive",
            "report day", "report day --json", "report month", "report jackpots", "report table",
            "odds --wager mystery", "odds --wager mystery --json", "user list",
            f"submit --out {filing}",
        ):  # fmt: skip
            done = invoke_pitlink(*command.split(), *config)
            assert "Usage:" not in done.stderr, done.stderr
            seen[f"pitlink {command}"] = (done.stdout + done.stderr).encode()
        seen["submission"] = (filing / "submission.json").read_bytes()
        assert b"mystery" in seen["submission"]
        return seen


def received(one: paho.Client) -> list[tuple[str, bytes]]:
    return [*one.user_data_get()]


def _told(user: redis.Redis, *command: str | bytes) -> bytes:
    """Return the answer to a command, or nothing if it is refused or fits another type."""
    try:
        return _flat(user.execute_command(*command))  # type: ignore[no-untyped-call]
    except NoPermissionError:
        return b""
    except redis.ResponseError as error:
        if "WRONGTYPE" in str(error):
            return b""
        raise


def _flat(answer: object) -> bytes:
    match answer:
        case bytes():
            return answer
        case dict():
            return b"\n".join(_flat(each) for pair in answer.items() for each in pair)
        case list() | tuple() | set():
            return b"\n".join(map(_flat, answer))
        case _:
            return str(answer).encode()


def _filled(path: str, parts: Mapping[str, Sequence[str]]) -> Iterator[str]:
    named = path.replace("{report}/{days}", "{report}")
    names = re.findall(r"{(\w+)}", named)
    for values in itertools.product(*(parts.get(name, ("none",)) for name in names)):
        yield named.format(**dict(zip(names, values, strict=True))) + QUERIES.get(path, "")


def _content(web: httpx.Client, path: str) -> tuple[int, bytes]:
    """Return the status of an answer, with its headers and content; of a stream its beginning."""
    end_s = time.monotonic() + STREAM_S
    with web.stream("GET", path) as answer:
        head = repr(answer.headers.multi_items()).encode()
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            return answer.status_code, head + answer.read()
        for line in answer.iter_lines():
            head += line.encode() + b"\n"
            if line.startswith(":") or time.monotonic() > end_s:
                break
        return answer.status_code, head


def _panel_address(panel: Pitlink) -> tuple[str, str]:
    found = panel.until(
        lambda: re.search(r"(http://\S+?)/?\?key=([\w-]+)", panel.output),
        what="the panel's address",
    )
    assert found is not None
    return found[1], found[2]


def _ran(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


LOOKS: Final[Mapping[str, Callable[[Attacked], Seen]]] = {
    "Redis": Attacked.in_redis,
    "the broker": Attacked.at_broker,
    "pages": Attacked.over_http,
    "commands": Attacked.by_command,
    "files": Attacked.in_files,
}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    home = tmp_path_factory.mktemp("attacked")
    keys, config = home / "keys", home / "floor.toml"
    make_keys(write_floor(config, links=LINKS), keys, "--services", "2")
    acl = keys / "redis" / "users.acl"
    acl.write_text(f"{acl.read_text()}user {ADMIN} on >{PASSWORD} ~* &* +@all\n")
    port = free_port()
    with ExitStack() as stack:
        broker = stack.enter_context(SecuredMosquitto(keys))
        store = stack.enter_context(SecuredRedis(keys))
        servers = {"broker": broker.url, "redis": store.url, "http": port, "keys": keys}
        write_floor(config, links=LINKS, **servers)  # type: ignore[arg-type]
        service = Service(config, port, "--log-level", "debug", program=serving)
        stack.enter_context(service)
        eventually(lambda: len(service.meters()) == METERS, what="all meters known")
        for name, role in ROLES.items():
            hire(config, name, role.value)
        at = ("--panel", "--at", f"127.0.0.1:{free_port()}")
        panel = stack.enter_context(Pitlink("table", "A-2", "--config", str(config), *at))
        _panel_address(panel)
        users = {party.username: password_of(keys, party) for party in LISTENERS}
        ears = {
            name: stack.enter_context(listening(broker, keys, name, password, FILTERS))
            for name, password in {**users, OBSERVER[0]: OBSERVER[1]}.items()
        }
        staff = {name: Colleague(service.url, name) for name in ROLES}
        yield Attacked(home, keys, broker, store, service, panel, ears, {"nobody": None, **staff})


@dataclass(frozen=True)
class Looked:
    """What everybody saw before a win and after it, with the value won and the next one."""

    floor: Attacked
    value: OpenedValue
    next_value: OpenedValue
    before: Mapping[str, Seen]
    after: Mapping[str, Seen]


@pytest.fixture(scope="module")
def looked(attacked: Attacked) -> Looked:
    replies = attacked.play(1)
    value = attacked.value()
    assert value.micros == VALUE_MICROS
    before = {name: look(attacked) for name, look in LOOKS.items()}
    while not replies[0].get("claims"):
        replies = attacked.play(7)
    assert [one["amount"] for one in replies[0]["claims"]] == [VALUE_CENTS]
    eventually(attacked.service.claims, what="the win on the pages")
    after = {name: look(attacked) for name, look in LOOKS.items()}
    return Looked(attacked, value, attacked.value(), before, after)


@pytest.mark.parametrize("look", LOOKS)
def test_nobody_reads_a_value_before_its_win(looked: Looked, look: str) -> None:
    assert found_in(looked.before[look], looked.value) == []
    assert found_in(looked.after[look], looked.next_value) == []


@pytest.mark.parametrize("look", LOOKS)
def test_the_win_shows_its_value(looked: Looked, look: str) -> None:
    """So the search would have found it before. The ledger has value and salt then."""
    names = {name for _, name in found_in(looked.after[look], looked.value)}
    assert names >= ({"cents", "micros", "salt"} if look in {"Redis", "the broker"} else {"cents"})


def test_every_route_was_read(looked: Looked) -> None:
    paths = {name.partition(" ")[2] for name in routes(WebStand()) if name.startswith("GET ")}
    assert paths - looked.floor.answered <= NOTHING_THERE


def test_each_client_of_the_broker_received_what_it_may(looked: Looked) -> None:
    heard = [place.removeprefix("mqtt as ") for place in looked.after["the broker"]]
    for name in ("table.A-1", "table.A-3", "service.2", "display", "observer"):
        assert f"{name}: pitlink/v1/main/meter/mystery" in heard
    assert not [
        place for place in heard if place.startswith(("check", "table.B-1: pitlink/v1/main"))
    ]


@pytest.mark.parametrize("user", PLACES)
def test_no_redis_user_sees_the_commands_of_others(attacked: Attacked, user: str) -> None:
    with client(attacked.keys, attacked.store, user) as redis_user:
        for command in SEES_COMMANDS:
            with pytest.raises(NoPermissionError):
                redis_user.execute_command(*command.split())


def test_only_its_account_reads_the_secret(looked: Looked) -> None:
    """It is in the bundles of services alone, and in nothing that was read."""
    paths = [*looked.floor.home.rglob(HIDDEN_VALUE_SECRETS_FILE)]
    assert {path.parent.parent for path in paths} == {looked.floor.keys / "services"}
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        secret = path.read_bytes().strip()
        for seen in (*looked.before.values(), *looked.after.values()):
            assert not [place for place, data in seen.items() if secret in data]
