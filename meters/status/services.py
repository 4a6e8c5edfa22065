"""The services of a floor, each read at its own address: its links, its heartbeat, its tables."""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import httpx
import msgspec
from prometheus_client.parser import text_string_to_metric_families

from meters.floor.floor_file import Link
from meters.selfcheck.check_result import Check
from meters.status.floor_status import age_text
from meters.status.http_client import failure_text, get

_LATE_S: Final = 10.0
"""Age in seconds above which a heartbeat is late, as for the alert PitlinkNoBeat."""


class _Readiness(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    ready: bool
    links: dict[str, str]


@dataclass(frozen=True, slots=True)
class ServiceReading:
    """The state of one service.

    Attributes:
        failure: why the service could not be read; empty if it was.
        inoperable: the reason for each link that this service does not operate.
        online: the tables whose agents are connected, by link.
        beat_s: the age of the oldest heartbeat of a link; None if there was none.
    """

    address: str
    failure: str = ""
    inoperable: Mapping[str, str] = field(default_factory=dict)
    online: Mapping[str, Collection[str]] = field(default_factory=dict)
    beat_s: float | None = None
    problems: tuple[str, ...] = ()


async def read_services(
    client: httpx.AsyncClient, scheme: str, addresses: Mapping[str, str | None]
) -> Sequence[ServiceReading]:
    """Read each service. One that does not answer has a failure in its reading.

    `addresses` has for each the token of `/metrics` that it may get, or None.
    """
    return await asyncio.gather(
        *(
            _read(client, scheme, address, {"Authorization": f"Bearer {token}"} if token else {})
            for address, token in addresses.items()
        )
    )


async def _read(
    client: httpx.AsyncClient, scheme: str, address: str, headers: Mapping[str, str]
) -> ServiceReading:
    try:
        ready = await get(client, f"{scheme}://{address}/readyz")
        if ready.status_code not in {200, 503}:
            ready.raise_for_status()
        readiness = msgspec.json.decode(ready.content, type=_Readiness)
        metrics = await get(client, f"{scheme}://{address}/metrics", headers=headers)
        return _reading(address, readiness, metrics.raise_for_status().text)
    except httpx.HTTPStatusError as error:
        path = error.request.url.path
        return ServiceReading(address, f"{path}: {failure_text(error)}")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return ServiceReading(address, f"does not answer: {failure_text(error)}")
    except (msgspec.MsgspecError, ValueError):
        return ServiceReading(address, "is not a service of this release")


def _reading(address: str, readiness: _Readiness, metrics: str) -> ServiceReading:
    online: dict[str, set[str]] = {}
    beats: list[float] = []
    single: dict[str, float] = {}
    for family in text_string_to_metric_families(metrics):
        for sample in family.samples:
            labels = sample.labels
            if sample.name == "pitlink_table_online" and sample.value:
                online.setdefault(labels["link"], set()).add(labels["table"])
            elif sample.name == "pitlink_beat_timestamp_seconds":
                beats.append(sample.value)
            elif not labels:
                single[sample.name] = sample.value
    problems = [
        text
        for name, text in (
            ("pitlink_broker_connected", "it has no connection to the broker"),
            ("pitlink_self_check_passed", "its self-check failed: run `pitlink check`"),
            ("pitlink_operators_log_holds", "the operators' log was altered: run `pitlink audit`"),
        )
        if single.get(name) == 0
    ]
    oldest_s = min(beats, default=0.0)
    beat_s = time.time() - oldest_s if oldest_s else None
    return ServiceReading(
        address, "", readiness.links, online, beat_s=beat_s, problems=tuple(problems)
    )


def check_service(reading: ServiceReading, elsewhere: Collection[str]) -> Check:
    """Check one service. `elsewhere` are the inoperable links that another service operates."""
    what = f"service {reading.address}"
    if reading.failure:
        return Check(what, holds=False, seen=reading.failure)
    beat_s, words = reading.beat_s, list(reading.problems)
    words += [f"does not operate {link}: {reading.inoperable[link]}" for link in sorted(elsewhere)]
    late = beat_s is None or beat_s > _LATE_S
    beat = "no heartbeat yet" if beat_s is None else f"last heartbeat {age_text(beat_s)} ago"
    return Check(what, holds=not (late or words), seen="; ".join([beat, *words]), warns=not late)


def link_state(
    link: Link, readings: Sequence[ServiceReading], closure: str | None
) -> tuple[str, str]:
    """Return the state of a link and the reason, in the words of the floor page.

    A link is operable if any service operates it. `closure` is the reason why people closed it.
    """
    answering = [reading for reading in readings if not reading.failure]
    if not answering:
        return "Unknown", "no service answers"
    reasons = [reading.inoperable.get(link.id) for reading in answering]
    if all(reasons):
        return "Inoperable", "; ".join(dict.fromkeys(filter(None, reasons)))
    return ("Open", "") if closure is None else ("Closed", closure)


def offline_tables(link: Link, readings: Sequence[ServiceReading]) -> tuple[str, ...] | None:
    """Return the tables that no service sees connected; None if no service answers."""
    answering = [reading for reading in readings if not reading.failure]
    if not answering:
        return None
    online = {table for reading in answering for table in reading.online.get(link.id, ())}
    return tuple(table.id for table in link.table if table.id not in online)
