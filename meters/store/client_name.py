"""Detection of two services that connect to the broker with the same key bundle.

The broker names each client by its credential. If a second client connects with the same name, the
broker ends the first connection. So two such services would end each other's connection several
times a second. A broker of MQTT 5 can report the reason, but not the other program; mosquitto 2.0
does not even report the reason. So each service notes in Redis that it uses its name. If a service
has lost its connection, it reads in Redis which service uses the name now.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import Callable
from typing import Final, cast

import msgspec
import structlog
from redis.exceptions import RedisError

from meters.floor.server_addresses import BrokerAddress
from meters.ledger.redis_layout import LinkKeys
from meters.process.logs import ThrottledLog
from meters.store.redis_clients import AnyRedis, redis_of

log = structlog.get_logger()

HELD_EVERY_S: Final = 2.0
_LOOK_EVERY_S: Final = 2.5
_SILENT_LOOKS: Final = 3
"""After a new note of another service, the name counts as free when this many reads of Redis find
no further note. Before such a new note, one read that finds none suffices."""
_ANSWERED_WITHIN_S: Final = 1.0
_REFUSED_FOR_S: Final = 30
_TICKETS: Final = "tickets"


class _Holder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A process that the broker knows by a name. A newer process has a higher ticket."""

    instance: str
    ticket: int
    host: str
    pid: int
    beat: int


class _Refusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A service's note that it does not connect to the broker. `at_s` is by the clock of Redis."""

    at_s: int
    reason: str
    host: str
    pid: int


_HOLDER: Final = msgspec.json.Decoder(_Holder)
_REFUSAL: Final = msgspec.json.Decoder(_Refusal)
_ENCODE: Final = msgspec.json.Encoder().encode


class ClientName:
    """Name of this process at the broker, from its key bundle. Without a bundle, nothing is done.

    The services note their names in the data of `link`. `problem` is why this service does not
    connect to the broker. `show` is called when `problem` gets a reason.
    """

    def __init__(self, redis: AnyRedis, link: str, show: Callable[[], None]) -> None:
        self._show = show
        self._redis = redis_of(redis, link)
        self._key = LinkKeys(link).services
        self._instance = secrets.token_hex(8)
        self._ticket = 0
        self._beat = 0
        self._heard_of = 0
        self._said = ThrottledLog()
        self.problem: str | None = None

    async def wait_until_free(self, address: BrokerAddress) -> None:
        """Before a connection, wait while an older service uses the name.

        The first connection of a process is made without this check, because the check would find
        the note of the previous process.
        """
        name = address.client_name
        if name is None or not self._ticket:
            return
        silent_looks, last = 0, await self._read(name)
        while last is not None and last.instance != self._instance:
            if last.ticket > self._ticket:
                self._say(name, last)
                break
            await asyncio.sleep(_LOOK_EVERY_S)
            found = await self._read(name)
            if found is not None and found != last:
                silent_looks = 0
                self.problem = self._say(name, found)
                self._show()
                await self._note_refusal(name, self.problem)
            elif self.problem is None or (silent_looks := silent_looks + 1) == _SILENT_LOOKS:
                break
            last = found or last
        self.problem = None

    async def hold(self, address: BrokerAddress) -> None:
        """Note in Redis repeatedly, until canceled, that this service uses the name.

        If another service does not connect because of this note, log which service.
        """
        name = address.client_name
        while name is not None:
            try:
                async with asyncio.timeout(_ANSWERED_WITHIN_S):
                    self._ticket = self._ticket or await self._redis.hincrby(self._key, _TICKETS)
                    self._beat += 1
                    held = _Holder(
                        self._instance, self._ticket, socket.gethostname(), os.getpid(), self._beat
                    )
                    await self._redis.hset(self._key, name, _ENCODE(held))
                    text = await self._redis.hget(self._key, _refused(name))
                refusal = _REFUSAL.decode(text) if text else None
                if refusal is not None and refusal.at_s > self._heard_of:
                    if self._heard_of or self._beat > 1:
                        self._say(name, refusal)
                    self._heard_of = refusal.at_s
            except (RedisError, OSError, msgspec.DecodeError):
                """Without Redis, no link operates, and the link's checks report this."""
            await asyncio.sleep(HELD_EVERY_S)

    async def _read(self, name: str) -> _Holder | None:
        try:
            async with asyncio.timeout(_ANSWERED_WITHIN_S):
                text = await self._redis.hget(self._key, name)
            return None if text is None else _HOLDER.decode(text)
        except (RedisError, OSError, msgspec.DecodeError):
            return None

    async def _note_refusal(self, name: str, reason: str) -> None:
        """Note in Redis that this service does not connect. `pitlink check` reads the note."""
        try:
            async with asyncio.timeout(_ANSWERED_WITHIN_S):
                at_s, _ = await self._redis.time()
                note = _Refusal(int(at_s), reason, socket.gethostname(), os.getpid())
                await self._redis.hset(self._key, _refused(name), _ENCODE(note))
        except (RedisError, OSError):
            """The next check notes the refusal."""

    def _say(self, name: str, other: _Holder | _Refusal) -> str:
        reason = (
            f"another `pitlink serve`, process {other.pid} on {other.host}, uses the same keys,"
            f" {name}: stop one of the two, and give each service a bundle of its own"
            " (`pitlink keys --services N`). On each machine, install only the bundles of its own"
            " services (`pitlink install-keys DIRECTORY service.N`)"
        )
        if (more := self._said.due(name)) is not None:
            log.error("keys used twice", reason=reason, kept_back=more)
        return reason


async def refusals(redis: AnyRedis, link: str) -> list[str]:
    client = redis_of(redis, link)
    now_s, _ = await client.time()
    found = []
    fields = cast("dict[bytes, bytes]", await client.hgetall(LinkKeys(link).services))
    for field, text in fields.items():
        if field.startswith(_refused("").encode()):
            try:
                refusal = _REFUSAL.decode(text)
            except msgspec.DecodeError:
                continue
            if int(now_s) - refusal.at_s < _REFUSED_FOR_S:
                found.append(refusal.reason)
    return found


def _refused(name: str) -> str:
    return f"refused:{name}"
