"""The reading of the whole floor: all sources at the same time, each with its own failure."""

import asyncio
import ipaddress
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from bonus.errors import UserError
from meters.floor.addresses import is_listening_address
from meters.floor.floor_file import Floor, Link
from meters.http.middleware import ServerSettings
from meters.selfcheck.check_result import Check
from meters.selfcheck.server_checks import broker_check
from meters.status.file_reading import check_archived_days, read_files
from meters.status.floor_status import FloorStatus, LinkStatus
from meters.status.http_client import open_client
from meters.status.prometheus import PrometheusReading, read_prometheus
from meters.status.redis_reading import RedisReading, StoredLink, read_redis
from meters.status.services import (
    ServiceReading,
    check_service,
    link_state,
    offline_tables,
    read_services,
)
from meters.wire.clock import now

_WITHIN_S: Final = 6.0
"""Longest time for one source; then the rest is shown without it."""
_BROKER_EVERY_S: Final = 10.0
"""Seconds between two connections to the broker.

It allows one client with the keys of `pitlink check`, so a connection of `pitlink status` can end
one of `pitlink check`.
"""
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104  (listening addresses)


@dataclass(frozen=True, slots=True)
class StatusOptions:
    """The options of `pitlink status`; without services, they are those that Prometheus reads."""

    prometheus: str | None
    services: tuple[str, ...] = ()


class StatusReader:
    """The reader of a floor's state. It only reads, and starts no server."""

    def __init__(self, floor: Floor, options: StatusOptions) -> None:
        self._floor = floor
        self._options = options
        self._services = options.services
        self._broker: tuple[float, Check] | None = None

    async def read(self) -> FloorStatus:
        """Read all sources. A source that fails is a failed check; the others are still shown."""
        floor = self._floor
        store, web, broker, files = await asyncio.gather(
            self._read_redis(), self._read_web(), self._read_broker(), self._read_files()
        )
        services, prometheus = web
        links = [_link_status(link, store, services) for link in floor.link]
        operated = {one.link for one in links if one.state in {"Open", "Closed"}}
        closed = {link: one.day_closed for link, one in store.links.items() if one.day_closed}
        archived = [await asyncio.to_thread(check_archived_days, floor, closed)] if closed else []
        checks = [
            *prometheus.checks,
            *(check_service(one, operated & set(one.inoperable)) for one in services),
            broker,
            *store.checks,
            *files,
            *archived,
        ]
        house = floor.facility
        return FloorStatus(house.name, house.timezone, now(), tuple(links), tuple(checks))

    async def _read_redis(self) -> RedisReading:
        try:
            async with asyncio.timeout(_WITHIN_S):
                return await read_redis(self._floor)
        except TimeoutError:
            seen = f"no answer within {_WITHIN_S:.0f} seconds"
            return RedisReading((Check("redis", holds=False, seen=seen),), {})

    async def _read_broker(self) -> Check:
        """Connect to the broker, and disconnect. A recent result is used again."""
        at_s = time.monotonic()
        if self._broker is None or at_s - self._broker[0] > _BROKER_EVERY_S:
            self._broker = at_s, await broker_check(self._floor, listens=False)
        return self._broker[1]

    async def _read_web(self) -> tuple[Sequence[ServiceReading], PrometheusReading]:
        service, url = self._floor.service, self._options.prometheus
        prometheus = PrometheusReading((), ())
        try:
            settings = ServerSettings.of(service)
            async with open_client(settings) as client:
                if url is not None:
                    prometheus = await read_prometheus(client, url)
                if prometheus.services and not self._options.services:
                    self._services = prometheus.services
                at = self._services or (_own_address(service.http),)
                named = {
                    address: settings.metrics_token if self._is_ours(address) else None
                    for address in at
                }
                return await read_services(client, settings.scheme, named), prometheus
        except (UserError, OSError) as error:
            return (ServiceReading(service.http, str(error)),), prometheus

    def _is_ours(self, address: str) -> bool:
        """Return True if the token of `/metrics` may be sent to an address.

        The addresses that Prometheus names are not from the floor file, and another program can
        answer in its place. Over HTTPS, only a service with our certificate gets the token.
        """
        service, host = self._floor.service, _host(address)
        ours = {"localhost", _host(service.http), *(name.lower() for name in service.hosts)}
        known = address in self._options.services or host in ours
        return known or service.certificate is not None or _is_loopback(host or "")

    async def _read_files(self) -> Sequence[Check]:
        return await asyncio.to_thread(lambda: list(read_files(self._floor)))


def _host(address: str) -> str | None:
    return urlsplit(f"//{address}").hostname if is_listening_address(address) else None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _own_address(http: str) -> str:
    """Return the address at which this machine reaches a server on a listening address."""
    host, _, port = http.rpartition(":")
    return f"{_EVERYWHERE.get(host, host)}:{port}"


_NOT_READ: Final = StoredLink(
    opened=False, closure=None, meters=(), wins=0, oldest_s=0.0, requests=0, day_closed=""
)


def _link_status(link: Link, store: RedisReading, services: Sequence[ServiceReading]) -> LinkStatus:
    stored = store.links.get(link.id, _NOT_READ)
    state, reason = link_state(link, services, stored.closure)
    return LinkStatus(
        link=link.id,
        state=state,
        reason=reason,
        tables=len(link.table),
        offline=offline_tables(link, services),
        wins=stored.wins if link.id in store.links else None,
        oldest_s=stored.oldest_s,
        requests=stored.requests,
        meters=stored.meters,
    )
