"""Reading of the whole floor: all sources are read at the same time, and each can fail alone."""

import asyncio
import contextlib
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bonus.errors import UserError
from bonus.wagers import MICROS_PER_CENT
from meters.floor.floor_file import Floor, Link
from meters.floor.key_bundle import read_secret
from meters.floor.own_credentials import keys_directory
from meters.floor.server_addresses import is_listening_address
from meters.ledger.accounts import meter_account
from meters.ledger.link_state import Snapshot
from meters.process.clock import now
from meters.selfcheck.check_result import Check, failure
from meters.selfcheck.key_checks import check_keys, check_page_certificate, is_here
from meters.selfcheck.record_checks import check_archived_days, disk_checks, note_checks, unreadable
from meters.selfcheck.server_checks import broker_check, check_replicas, redis_check
from meters.selfcheck.status_screen import FloorStatus, LinkStatus, StoredLink
from meters.selfcheck.web_readings import (
    ServiceReading,
    check_service,
    open_client,
    read_prometheus,
    read_services,
)
from meters.store.link_stats import LinkStatsReader
from meters.store.link_store import LinkStore
from meters.store.primary_discovery import NoPrimaryError
from meters.store.redis_clients import AnyRedis, ReplicatedRedis, every_redis
from meters.store.redis_connect import open_redis
from meters.store.slip_register import SLIPS_TAG

_WITHIN_S: Final = 6.0
"""If one source takes longer, the others are shown without it."""
_BROKER_EVERY_S: Final = 10.0
"""At least this much time passes between two connections to the broker.

The broker allows one client with the keys of `pitlink check`. So a connection of `pitlink status`
can end a connection of `pitlink check`.
"""
_SEARCHES: Final = 3
_MOMENT: Final = "%b %d, %H:%M %Z"
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104  (listening addresses)


class StatusReader:
    """The reader of a floor's state. It changes no data, and starts no server.

    If `services` is empty, the reader uses the addresses of services that Prometheus reads, or else
    the address in the floor file.
    """

    def __init__(self, floor: Floor, prometheus: str | None, services: Sequence[str]) -> None:
        self._floor = floor
        self._prometheus = prometheus
        self._given = services
        self._services = services
        self._broker: tuple[float, Check] | None = None

    async def read(self) -> FloorStatus:
        floor = self._floor
        (of_redis, stored), (of_prometheus, services), broker, files = await asyncio.gather(
            _read_redis(floor),
            self._read_web(),
            self._read_broker(),
            asyncio.to_thread(_check_files, floor),
        )
        links = [_link_status(link, stored.get(link.id), services) for link in floor.link]
        operated = {one.link for one in links if one.state in {"Open", "Closed"}}
        closed = {link: one.day_closed for link, one in stored.items() if one.day_closed}
        archived = [await asyncio.to_thread(check_archived_days, floor, closed)] if closed else []
        checks = [
            *of_prometheus,
            *(check_service(one, operated & set(one.inoperable)) for one in services),
            broker,
            *of_redis,
            *files,
            *archived,
        ]
        house = floor.facility
        return FloorStatus(house.name, house.timezone, now(), tuple(links), tuple(checks))

    async def _read_broker(self) -> Check:
        at_s = time.monotonic()
        if self._broker is None or at_s - self._broker[0] > _BROKER_EVERY_S:
            self._broker = at_s, await broker_check(self._floor, listens=False)
        return self._broker[1]

    async def _read_web(self) -> tuple[Sequence[Check], Sequence[ServiceReading]]:
        service = self._floor.service
        checks: Sequence[Check] = ()
        try:
            token = read_secret(Path(service.metrics_token)) if service.metrics_token else None
            async with open_client(service.certificate) as client:
                if self._prometheus is not None:
                    services, checks = await read_prometheus(client, self._prometheus)
                    if services and not self._given:
                        self._services = services
                host, _, port = service.http.rpartition(":")
                own = f"{_EVERYWHERE.get(host, host)}:{port}"
                named = {
                    address: token if self._is_ours(address) else None
                    for address in self._services or [own]
                }
                scheme = "https" if service.certificate else "http"
                return checks, await read_services(client, scheme, named)
        except (UserError, OSError) as error:
            return checks, [ServiceReading(service.http, str(error))]

    def _is_ours(self, address: str) -> bool:
        """Return whether the token of `/metrics` may be sent to an address.

        The addresses in Prometheus are not from the floor file: at such an address, another program
        can answer. Over HTTPS, only a service with our certificate gets the token.
        """
        service, host = self._floor.service, _host(address)
        ours = {_host(service.http), *(name.lower() for name in service.hosts)}
        known = address in self._given or host in ours
        return known or service.certificate is not None or is_here(host or "")


def _host(address: str) -> str | None:
    return urlsplit(f"//{address}").hostname if is_listening_address(address) else None


def _check_files(floor: Floor) -> Sequence[Check]:
    found = [*note_checks(floor), *disk_checks(floor), *check_page_certificate(floor.service)]
    keys = keys_directory(floor.service)
    try:
        return [*found, *(check_keys(keys) if keys else ())]
    except OSError as error:
        return [*found, unreadable("keys", keys, error)]


def _link_status(
    link: Link, stored: StoredLink | None, services: Sequence[ServiceReading]
) -> LinkStatus:
    # A link is operable if any service operates it. A table is online if any service sees its
    # agent.
    answering = [one for one in services if not one.failure]
    if not answering:
        return LinkStatus(link.id, "Unknown", "no service answers", len(link.table), None, stored)
    online = {table for one in answering for table in one.online.get(link.id, ())}
    offline = tuple(table.id for table in link.table if table.id not in online)
    reasons = [one.inoperable.get(link.id) for one in answering]
    state, reason = "Open", ""
    if all(reasons):
        state, reason = "Inoperable", "; ".join(dict.fromkeys(filter(None, reasons)))
    elif stored and stored.closure is not None:
        state, reason = "Closed", stored.closure
    return LinkStatus(link.id, state, reason, len(link.table), offline, stored)


async def _read_redis(floor: Floor) -> tuple[Sequence[Check], Mapping[str, StoredLink]]:
    """Check Redis, and read its links. Do not start an embedded Redis.

    In a cluster, a link is left out if its primary is down.
    """
    try:
        async with (
            asyncio.timeout(_WITHIN_S),
            open_redis(floor, only_reads=True, starts=False) as redis,
        ):
            clients = every_redis(redis, [SLIPS_TAG, *(link.id for link in floor.link)])
            await _find_primaries(clients)
            check, links, replicas = await asyncio.gather(
                redis_check(clients), _read_links(floor, redis), _check_replicas(clients)
            )
            return [check, *replicas], links
    except TimeoutError:
        seen = f"no answer within {_WITHIN_S:.0f} seconds"
    except (RedisError, OSError, UserError) as error:
        seen = str(error)
    except ValueError as error:
        seen = f"its data is damaged: {error}"
    return [failure("redis", seen)], {}


async def _find_primaries(clients: Iterable[Redis]) -> None:
    """Connect to sentinels or cluster nodes before anything is read.

    `pitlink status` makes many TLS connections in its first second. On a busy machine, the first
    search for the primary can then take too long, so it is repeated.
    """
    for client in clients:
        for _ in range(_SEARCHES):
            if not isinstance(client, ReplicatedRedis):
                break
            with contextlib.suppress(NoPrimaryError):
                await client.discovery.primary()
                break


async def _check_replicas(clients: Iterable[Redis]) -> Sequence[Check]:
    # If Redis does not answer, its own check says so.
    with contextlib.suppress(RedisError, OSError):
        return await check_replicas(clients)
    return ()


async def _read_links(floor: Floor, redis: AnyRedis) -> Mapping[str, StoredLink]:
    found = {}
    for link in floor.link:
        with contextlib.suppress(RedisError, OSError):
            found[link.id] = await _read_link(floor, redis, link)
    return found


async def _read_link(floor: Floor, redis: AnyRedis, link: Link) -> StoredLink:
    store = LinkStore(redis, link)
    books = await store.snapshot()
    figures = await LinkStatsReader(store).read(int(books.meters.get("changes", "0")))
    since_s = figures.claims.since_s
    amounts = (
        (meter.title, books.accounts.get(meter_account(meter.meter_id), 0) // MICROS_PER_CENT)
        for meter in link.meter
    )
    return StoredLink(
        closure=_closure(floor, books),
        meters=tuple(amounts) if books.meters else (),
        wins=figures.claims.count,
        oldest_s=0.0 if since_s is None else max(0.0, time.time() - since_s),
        requests=figures.corrections.count,
        day_closed=books.meters.get("day_closed", ""),
    )


def _closure(floor: Floor, books: Snapshot) -> str | None:
    reason = books.meters.get("closed")
    if reason is None:
        return None
    by, at = books.meters.get("closed_by"), books.meters.get("closed_at")
    if not by or not at:
        return reason
    zone = ZoneInfo(floor.facility.timezone)
    return f"closed by {by}, {datetime.fromisoformat(at).astimezone(zone):{_MOMENT}}: {reason}"
