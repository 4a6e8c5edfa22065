"""A whole floor on real parts: redis-server, mosquitto, `pitlink serve`, and test clients."""

import contextlib
import itertools
import json
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

import httpx

from meters.ledger.redis_layout import LinkKeys
from tests.ledgers import read_ledger
from tests.mqtt.events import Event, encode
from tests.mqtt.floors import many_tables_text
from tests.mqtt.stranger import Ear, Heard, publish
from tests.servers import (
    Mosquitto,
    Pitlink,
    RedisServer,
    eventually,
    free_port,
    pitlink_command,
    run_pitlink,
)
from tests.staff import Colleague, hire
from tests.waiting import LONG_S

READY_WITHIN_S: Final = LONG_S
REPEAT_AFTER_S: Final = 3.0
REPEATS_MAX: Final = 10
METERS: Final = 5
LINKS: Final = ("main", "other")
_SAMPLE: Final = re.compile(r"^(\w+)(?:\{([^}]*)\})? ([0-9.e+]+)$", re.MULTILINE)


def shown(meters: list[dict[str, Any]]) -> dict[tuple[str, str], int]:
    return {(row["link"], row["meter"]): row["version"] for row in meters}


def held(books: dict[str, Any]) -> dict[tuple[str, str], int]:
    return {
        (link, name.decode().removeprefix("version:")): int(value)
        for link, of in books.items()
        for name, value in of["meters"].items()
        if name.startswith(b"version:")
    }


def rows_of(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


class Service:
    def __init__(
        self,
        config: Path,
        port: int,
        *options: str,
        program: Callable[..., list[str]] = pitlink_command,
    ) -> None:
        self.config = config
        self.url = f"http://127.0.0.1:{port}"
        self._options = options
        self._program = program
        self._process: Pitlink | None = None
        self._http = httpx.Client(base_url=self.url, timeout=LONG_S)
        self._staff: dict[str, Colleague] = {}

    @property
    def process(self) -> Pitlink:
        assert self._process is not None, "the service was never started"
        return self._process

    def start(self) -> None:
        self.launch()
        self.process.until(self.ready, within_s=READY_WITHIN_S, what="the service ready")

    def launch(self) -> None:
        if self._process is not None:
            self._process.__exit__(None, None, None)
        arguments = ("serve", "--config", str(self.config), *self._options)
        self._process = Pitlink(*arguments, program=self._program)

    def ready(self) -> bool:
        try:
            return self._http.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def readiness(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self._http.get("/readyz").json()
        except httpx.TransportError:
            return {"ready": False, "links": {}}
        return found

    def streamed(self) -> Iterator[tuple[str, str]]:
        """Yield name and data of the events that a display receives, up to the first comment."""
        event = ""
        with self._http.stream("GET", "/api/v1/meters/stream") as answer:
            for line in answer.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    event = value
                elif field == "data":
                    yield event, value
                elif line.startswith(":"):
                    return

    def shown_controller(self) -> dict[str, Any]:
        states = (data for event, data in self.streamed() if event == "controller")
        found: dict[str, Any] = json.loads(next(states))
        return found

    def meters(self) -> list[dict[str, Any]]:
        return rows_of(self._http.get("/api/v1/meters"))

    def meter(self, link: str, meter: str) -> dict[str, Any]:
        rows = [row for row in self.meters() if (row["link"], row["meter"]) == (link, meter)]
        assert len(rows) == 1, rows
        return rows[0]

    def claims(self) -> list[dict[str, Any]]:
        return rows_of(self._http.get("/api/v1/claims"))

    def decide(self, claim: str, act: str, **body: str) -> dict[str, Any]:
        return self._signed_in("C. Ito" if act == "pay" else "B. Reyes").decide(claim, act, **body)

    def confirm(self, claim: str, request: int) -> dict[str, Any]:
        return self._signed_in("C. Ito").decide(claim, "confirm", request=request)

    def asks(self) -> list[dict[str, Any]]:
        return rows_of(self._signed_in("B. Reyes").get("/api/v1/asks"))

    def decide_ask(self, ask: str, act: str, **body: str) -> None:
        answer = self._signed_in("B. Reyes").post(f"/api/v1/asks/{ask}/{act}", **body)
        assert answer.status_code == 200, answer.text

    def _signed_in(self, name: str) -> Colleague:
        if name not in self._staff:
            hire(self.config, name, "floorperson")
            self._staff[name] = Colleague(self.url, name)
        return self._staff[name]

    def counted(self, metric: str, **labels: str) -> float:
        """Return a counter's sum over all label sets with these labels; 0 if there is none."""
        text = self._http.get("/metrics").text
        wanted = {f'{name}="{value}"' for name, value in labels.items()}
        return sum(
            float(value)
            for name, found, value in _SAMPLE.findall(text)
            if name == metric and wanted <= set(found.split(","))
        )

    def audit(self) -> dict[str, Any]:
        done = run_pitlink("audit", "--config", str(self.config), "--json")
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (0 if found["balanced"] else 1), done.stderr
        return found

    def kill(self) -> None:
        self.process.kill()

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        pid = self.process.process.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()
        if self._process is not None:
            self._process.__exit__(None, None, None)
            self._process = None


def service_on(
    home: Path, *options: str, broker: str, redis: str, draws: Mapping[str, int] | None = None
) -> Service:
    port, config = free_port(), home / "floor.toml"
    config.write_text(
        many_tables_text(broker=broker, redis=redis, port=port, data=home / "data", draws=draws)
    )
    return Service(config, port, *options)


class Asker:
    """One table played by a stranger: it repeats unanswered events, as agents do.

    `answers` counts the answers to the last event: several if it had to repeat the event although
    the first answer was only late.
    """

    def __init__(self, stand: "Stand", link: str, table: str) -> None:
        self.answers = 0
        self.stand = stand
        self.link = link
        self.table = table
        self.out = f"pitlink/v1/{link}/table/{table}/out"
        self.into = f"pitlink/v1/{link}/table/{table}/in"

    def ask(self, event: Event | bytes, *, retain: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = self.hear(event, retain=retain).json
        return found

    def hear(self, event: Event | bytes, *, retain: bool = False) -> Heard:
        """Publish an event until it is answered, and return the raw message to the table.

        On a busy machine a service may be inoperable for a moment, and then answers nothing.
        """
        before = len(self.stand.ear.on(self.into))
        answered = _answers_to(event)

        def reply() -> list[Heard]:
            return [heard for heard in self.stand.ear.on(self.into)[before:] if answered(heard)]

        for repeats in range(1, REPEATS_MAX + 1):
            self.publish(event, retain=retain)
            with contextlib.suppress(AssertionError):
                found = eventually(reply, within_s=REPEAT_AFTER_S, what="a reply")[0]
                # Each repeat gets its own answer, unless the link was inoperable. This waits for
                # them, because a late one would look like the answer to the next event.
                with contextlib.suppress(AssertionError):
                    eventually(lambda: len(reply()) == repeats, within_s=REPEAT_AFTER_S)  # noqa: B023
                self.answers = len(reply())
                return found
        raise AssertionError(f"no reply on {self.into} to {event!r}, sent {REPEATS_MAX} times")

    def publish(self, event: Event | bytes, *, retain: bool = False) -> None:
        payload = event if isinstance(event, bytes) else encode(event)
        publish(self.stand.mosquitto.port, self.out, payload, retain=retain)

    def accept(self, *events: Event) -> None:
        for event in events:
            reply = self.ask(event)
            assert reply["status"] == "accepted", reply

    def hello(self) -> tuple[int, str | None]:
        reply = self.ask({"type": "hello"})
        assert reply["type"] == "hello", reply
        return reply["last_seq"], reply["open_round"]


def _answers_to(event: Event | bytes) -> Callable[[Heard], bool]:
    """Return a function that distinguishes an event's replies from late ones to earlier events."""
    try:
        fields = json.loads(event) if isinstance(event, bytes) else event
    except (ValueError, RecursionError):
        fields = None
    about = fields if isinstance(fields, dict) else {}
    seq = about.get("seq")

    def answers(heard: Heard) -> bool:
        reply = heard.json
        if reply.get("type") == "hello":
            return seq is None and about.get("type") == "hello"
        return seq is None or reply["seq"] is None or reply["seq"] == seq

    return answers


class Stand:
    def __init__(
        self, home: Path, *, options: Sequence[str] = (), draws: Mapping[str, int] | None = None
    ) -> None:
        self._draws = draws
        self._options = options
        self._home = home
        self._numbers = itertools.count(1)
        self._up = ExitStack()
        self.redis = RedisServer()
        self.mosquitto = Mosquitto()
        self.service: Service
        self.ear: Ear

    def table(self) -> Asker:
        return self.at("main", f"T-{next(self._numbers)}")

    def another(self, home: Path) -> Service:
        port = free_port()
        config = home / "floor.toml"
        config.write_text(
            re.sub(
                r'http = ".*"\ndata = ".*"',
                f'http = "127.0.0.1:{port}"\ndata = "{home / "data"}"',
                self.service.config.read_text(),
            )
        )
        return Service(config, port)

    def books(self) -> dict[str, Any]:
        """Return every account, count and ledger entry of both links, as the store has them now.

        It waits until the pages show the versions that the store has. It leaves out entries about
        outages, because on a busy machine a link may be inoperable for a moment.
        """

        def read() -> dict[str, Any]:
            with self.redis.client() as store:
                return {
                    link: {
                        "accounts": store.hgetall(LinkKeys(link).accounts),
                        "tallies": store.hgetall(LinkKeys(link).tallies),
                        "meters": {
                            field: value
                            for field, value in store.hgetall(LinkKeys(link).meters).items()
                            if field not in {b"entries", b"chain", b"changes", b"outage"}
                        },
                        "entries": sum(
                            fields["kind"] != b"inoperable"
                            for _, fields in read_ledger(store, link)
                        ),
                    }
                    for link in LINKS
                }

        found = read()
        eventually(lambda: shown(self.service.meters()) == held(found), what="pages up to date")
        return found

    def account(self, link: str, name: bytes) -> int:
        with self.redis.client() as store:
            return int(store.hget(LinkKeys(link).accounts, name.decode()) or 0)

    def ledger(self, link: str) -> list[dict[str, str]]:
        with self.redis.client() as store:
            entries = read_ledger(store, link)
        return [{name: value.decode() for name, value in fields.items()} for _, fields in entries]

    def at(self, link: str, table: str) -> Asker:
        """Return a table by its name, whether the floor has it or not."""
        return Asker(self, link, table)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._build(stack)
            self._up = stack.pop_all()
        return self

    def _build(self, stack: ExitStack) -> None:
        stack.enter_context(self.redis)
        stack.enter_context(self.mosquitto)
        self.ear = stack.enter_context(Ear(self.mosquitto.port, "pitlink/v1/#"))
        urls = {"broker": self.mosquitto.url, "redis": self.redis.url}
        self.service = service_on(self._home, *self._options, **urls, draws=self._draws)
        stack.callback(self.service.close)
        self.service.start()
        eventually(lambda: len(self.service.meters()) == METERS, what="all meters known")

    def __exit__(self, *raised: object) -> None:
        self._up.close()
