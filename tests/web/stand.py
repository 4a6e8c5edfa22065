"""The real application on a free port, with in-memory versions of what it uses."""

import asyncio
import itertools
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Final, Self

import httpx
import msgspec
from litestar import Litestar
from redis.asyncio import Redis

from meters.floor.floor_file import Floor, parse_floor
from meters.floor.roles import Role
from meters.http.middleware import ServerSettings
from meters.http.server import serve_web
from meters.reports.floor_reports import FloorReports
from meters.service.service_metrics import Metrics
from meters.store.user_keys import UserKeys
from meters.users.operators_log import LogSeal
from meters.users.pins import PinHashing
from meters.users.users import Actor, UserDirectory
from meters.web.display_state import DisplayState, MeterRow, MeterState, WinningHand
from meters.web.security import CSRF_HEADER
from meters.web.streams import ChangeSignal
from meters.web.table_states import TableStates
from meters.web.user_routes import Me
from meters.web.web_app import create_app
from meters.wire.messages import ControllerBeat, Jackpot
from tests.floor_text import floor_text, link_text, meter_text
from tests.servers import RedisServer
from tests.waiting import LONG_S, free_port, served
from tests.web.in_memory import (
    AT,
    CLAIM,
    SMALL,
    AsksInMemory,
    ClaimsInMemory,
    HistoryInMemory,
    LinksInMemory,
    ReportsInMemory,
)

__all__ = ["AT", "CLAIM", "SMALL"]

SIGN_IN: Final = "/api/v1/sign-in"
PIN: Final = "730482"

STAFF: Final[Mapping[str, Role]] = {
    "Dana": Role.DEALER,
    "Flo": Role.FLOORPERSON,
    "Finn": Role.FLOORPERSON,
    "Sue": Role.SUPERVISOR,
    "Sam": Role.SUPERVISOR,
    "Audrey": Role.AUDITOR,
    "Ada": Role.ADMINISTRATOR,
}

_DATABASE: Final = 9
_NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For HTTP alone: a context of their own would have clients read all authorities each time."""
_NOWHERE: Final = "unix:///nowhere/redis.sock"

FLOOR: Final = floor_text(
    link_text(
        "tcp-main",
        meter_text("progressive"),
        meter_text("five_card_hand_bonus", 500, name="Hand Bonus <b>Grand</b>"),
        name="Three Card Poker Jackpot",
    ),
    link_text("pit-2", meter_text("progressive", 500), name="Pit 2"),
    service={"hosts": ["pit.example"]},
    name="Keystone <Casino> & Resort",
)


class Vitals:
    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def inoperable(self) -> Mapping[str, str]:
        return self.reasons


class Staff:
    def __init__(self, client: httpx.AsyncClient, me: Me) -> None:
        self.client = client
        self.me = me

    async def get(self, path: str) -> httpx.Response:
        return await self.client.get(path)

    async def post(self, path: str, body: object = None) -> httpx.Response:
        """Post a body: bytes and texts as they are, anything else as JSON."""
        if isinstance(body, bytes | str):
            headers = {"Content-Type": "application/json"}
            return await self.client.post(path, content=body, headers=headers)
        return await self.client.post(path, json={} if body is None else body)


class Stand:
    """Without a `redis` for its users nobody can sign in, as when the store fails."""

    def __init__(self, floor_text: str = FLOOR, redis: RedisServer | None = None) -> None:
        self.floor: Floor = parse_floor(floor_text)
        self.bell = ChangeSignal()
        self.asks = AsksInMemory(self.bell)
        self.claims = ClaimsInMemory(self.bell)
        self.links = LinksInMemory(self.floor, self.bell)
        self.history = HistoryInMemory(self.floor)
        self.reports: FloorReports = ReportsInMemory()
        self.tables = TableStates(self.floor)
        self.health = Vitals()
        self.metrics = Metrics(self.floor)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.displays = DisplayState()
        self.redis: Redis = Redis.from_url(f"{redis.url}?db={_DATABASE}" if redis else _NOWHERE)
        self.user_directory = UserDirectory(
            self.redis,
            self.floor.service.idle_minutes,
            # These settings resist no attack, and are fast.
            PinHashing(time_cost=1, memory_kib=8),
            count_refused=partial(self.metrics.count, "sign_ins_refused"),
        )
        self.user_keys = UserKeys()
        self._redis = redis
        self._beats = itertools.count(1)
        self._serving: AbstractAsyncContextManager[None] | None = None
        self._beating: asyncio.Task[None] | None = None

    def app(self) -> Litestar:
        return create_app(
            self.floor, self.displays, claims=self.claims, asks=self.asks,
            links=self.links, history=self.history, reports=self.reports, tables=self.tables,
            changes=self.bell, user_directory=self.user_directory,
            log_seal=lambda: LogSeal(sealed_entry=34, seal="0b57" * 16),
            inoperable=self.health.inoperable, exposition=self.metrics.exposition,
        )  # fmt: skip

    async def start(self) -> None:
        self.displays = DisplayState()
        self._serving = served(
            lambda ready: serve_web(
                self.app(), "127.0.0.1", self.port, ready, self.displays.close,
                settings=ServerSettings.of(self.floor.service),
            )
        )  # fmt: skip
        await self._serving.__aenter__()

    async def reset(self, *staff: str) -> None:
        """Serve as at the start, with these users alone, whatever an earlier test has left."""
        self.hush()
        self.claims.reset()
        self.asks.reset()
        self.links.reset()
        self.history.reset()
        vars(self.tables)["_statuses"].clear()
        self.health.reasons = {}
        if self._redis is not None:
            await self.redis.flushdb()
        if self._serving is None:
            await self.start()
        else:
            self.displays.close()
            DisplayState.__init__(self.displays)
        for name in staff:
            await self.add(name, STAFF[name])

    async def add(self, name: str, role: Role) -> None:
        """Add a user with the PIN `PIN`, which counts as their own."""
        await self.user_directory.users.add(name, role, PIN, Actor("the test"), own=True)

    async def idle(self, staff: Staff, ms: int = 300_000) -> int:
        """Have a session be idle for some time longer; return when it was used last."""
        return await self.redis.hincrby(self.session_key(staff), "touched", -ms)

    def session_key(self, staff: Staff) -> str:
        return self.user_keys.session_of(staff.client.headers["Cookie"].partition("=")[2])

    def client(self, headers: Mapping[str, str] | None = None) -> httpx.AsyncClient:
        # A connection that is idle for as long as the server keeps one may end as it is used.
        limits = httpx.Limits(keepalive_expiry=2)
        return httpx.AsyncClient(
            base_url=self.url, timeout=LONG_S, verify=_NO_TLS, limits=limits, headers=headers
        )

    async def try_to_sign_in(
        self, name: str = "Flo", pin: str = PIN, **headers: str
    ) -> httpx.Response:
        """Try to sign a user in, with headers as a proxy adds them: ``X_Forwarded_For``."""
        async with self.client() as client:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            return await client.post(SIGN_IN, json={"name": name, "pin": pin}, headers=sent)

    @asynccontextmanager
    async def signed_in(self, name: str, pin: str = PIN) -> AsyncIterator[Staff]:
        async with self.client() as client:
            answer = await client.post(SIGN_IN, json={"name": name, "pin": pin})
            assert answer.status_code == 200, answer.text
            # A browser sends a secure cookie to a loopback address. This client does not.
            token = answer.headers["set-cookie"].partition(";")[0]
            me = msgspec.json.decode(answer.content, type=Me)
            client.headers.update({"Cookie": token, CSRF_HEADER: me.csrf})
            yield Staff(client, me)

    @asynccontextmanager
    async def running(self, *staff: str, beating: bool = False) -> AsyncIterator[Self]:
        await self.reset(*staff)
        if beating:
            self.keep_beating()
        try:
            yield self
        finally:
            await self.stop()

    async def stop(self) -> None:
        self.hush()
        if self._serving is not None:
            await self._serving.__aexit__(None, None, None)
            self._serving = None
        await self.redis.aclose()

    def beat(self, link: str, state: str = "operable", reason: str = "") -> None:
        message = {"state": state, "reason": reason, "beat": next(self._beats), "at": AT}
        self.displays.put_controller(link, msgspec.convert(message, ControllerBeat))

    def keep_beating(self, **states: str) -> None:
        """Publish heartbeats for every link, several times a second, until `hush` or another call.

        `states` names links with an underscore instead of the hyphen: ``pit_2="inoperable"``.
        """
        self.hush()
        self._beating = asyncio.create_task(self._beat_on(states))

    async def _beat_on(self, states: Mapping[str, str]) -> None:
        while True:
            for link in self.floor.link:
                self.beat(link.id, states.get(link.id.replace("-", "_"), "operable"))
            await asyncio.sleep(0.3)

    def hush(self) -> None:
        if self._beating is not None:
            self._beating.cancel()
            self._beating = None

    def put(
        self, amount: int, version: int, *, link: str = "tcp-main", meter: str = "progressive",
        cycle: int = 1, state: MeterState = "open",
    ) -> bool:  # fmt: skip
        made = row(
            amount, version, floor=self.floor, link=link, meter=meter, cycle=cycle, state=state
        )
        return self.displays.put_meter(made)

    def hit(
        self, event: str = "hit", claim: str = "c1", *, percent: int | None = 100, cards: str = "",
        **changed: object,
    ) -> None:  # fmt: skip
        hand = WinningHand(tuple(cards.split()), percent)
        self.displays.put_jackpot("tcp-main", jackpot(event, claim, **changed), hand)

    async def get(self, path: str, **headers: str) -> httpx.Response:
        async with self.client() as client:
            return await client.get(path, headers=headers)


def row(
    amount: int, version: int, *, floor: Floor, link: str = "tcp-main",
    meter: str = "progressive", cycle: int = 1, state: MeterState = "open", at: str = AT,
) -> MeterRow:  # fmt: skip
    found = next(
        each for of in floor.link if of.id == link for each in of.meter if each.meter_id == meter
    )
    return MeterRow(
        link=link, meter=meter, kind=found.kind, name=found.title, wager=found.wager,
        amount=amount, version=version, cycle=cycle, state=state, at=at,
    )  # fmt: skip


def jackpot(event: str = "hit", claim: str = "c1", **changed: object) -> Jackpot:
    fields = {
        "event": event, "claim": claim, "meter": "progressive", "table": "TCP-03",
        "position": 3, "item": "progressive", "hand": "mini_royal_spades", "amount": 151_000,
        "meter_after": 100_000, "at": AT,
    }  # fmt: skip
    return msgspec.convert(fields | changed, Jackpot)
