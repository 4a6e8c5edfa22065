"""The services of a floor, read at their addresses; and alerts and lag, read from Prometheus."""

import asyncio
import math
import ssl
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeVar

import httpx
import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from prometheus_client.parser import text_string_to_metric_families

from bonus.errors import UserError
from meters.selfcheck.check_result import Check, age_text, failure, passed, warning

_WITHIN_S: Final = 3.0
_BYTES_MAX: Final = 64 * 1024 * 1024
_LATE_BEAT_S: Final = 10.0
"""An older heartbeat is late, as for the alert PitlinkNoBeat."""

_OURS: Final = "Pitlink"
"""The beginning of the names of pitlink's alerts."""
_JOB: Final = 'up{job="pitlink"}'
_UNANSWERED: Final = "sum(pitlink_agent_unanswered_events)"
_OLDEST: Final = "max(pitlink_agent_unanswered_age_seconds)"
_REPLIES: Final = (
    "histogram_quantile(0.99, sum by (le) (rate(pitlink_reply_seconds_bucket[5m]))) >= 0"
)
_LATE_S: Final = 30.0
_SLOW_S: Final = 0.5
"""The limits of the alerts PitlinkEventUnanswered and PitlinkRepliesSlow."""


def open_client(certificate: str | None) -> httpx.AsyncClient:
    """Return a client without a proxy. With `certificate`, the client trusts no other certificate.

    Raises:
        UserError: the file has no certificate.
        OSError: the file cannot be read.
    """
    return httpx.AsyncClient(timeout=_WITHIN_S, trust_env=False, verify=_trust(certificate))


async def get(
    client: httpx.AsyncClient,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
) -> httpx.Response:
    """Return the whole answer to a request, within limits of time and length.

    The limits of httpx are for each part of an answer, so httpx would wait for ever for an answer
    of many slow parts.

    Raises:
        httpx.HTTPError, httpx.InvalidURL: there is no answer, or it is too slow or too long.
    """
    data = bytearray()
    try:
        async with (
            asyncio.timeout(_WITHIN_S),
            client.stream("GET", url, headers=headers, params=params) as answer,
        ):
            async for part in answer.aiter_bytes():
                data += part
                if len(data) > _BYTES_MAX:
                    raise httpx.RemoteProtocolError("its answer is too long")
    except TimeoutError:
        raise httpx.ReadTimeout("") from None
    return httpx.Response(answer.status_code, content=bytes(data), request=answer.request)


def failure_text(error: httpx.HTTPError | httpx.InvalidURL) -> str:
    if isinstance(error, httpx.TimeoutException):
        return f"no answer within {_WITHIN_S:.0f} s"
    if isinstance(error, httpx.HTTPStatusError):
        return f"it answers with status {error.response.status_code}"
    return str(error) or type(error).__name__


def _trust(certificate: str | None) -> ssl.SSLContext:
    """Return TLS settings that accept exactly this certificate.

    Services have addresses that certificates need not name. Further certificates in the file are
    not used: they are authorities, which also sign certificates of others.
    """
    if certificate is None:
        return ssl.create_default_context()
    try:
        own = x509.load_pem_x509_certificate(Path(certificate).read_bytes())
    except ValueError:
        raise UserError(f"{certificate} is not a certificate") from None
    context = ssl.create_default_context(cadata=own.public_bytes(Encoding.DER))
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.check_hostname = False
    return context


class _Readiness(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    ready: bool
    links: dict[str, str]


@dataclass(frozen=True, slots=True)
class ServiceReading:
    """The state of one service, or its `failure`.

    `inoperable` has the reason for each link that the service does not operate. `online` has, for
    each link, the tables whose agents are connected. `beat_s` is the age of the oldest heartbeat.
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
    """Read each service. `addresses` has a token of `/metrics`, or None, for each address."""
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
        return ServiceReading(address, f"is not reachable: {failure_text(error)}")
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
            ("pitlink_auditor_up", "its auditor does not run: see its log (`auditor ended`)"),
            ("pitlink_broker_connected", "it has no connection to the broker"),
            ("pitlink_self_check_passed", "its self-check has not passed: run `pitlink check`"),
            (
                "pitlink_operators_log_holds",
                "the operators' log or the users' data has a fault: run `pitlink audit`",
            ),
        )
        if single.get(name) == 0
    ]
    oldest_s = min(beats, default=0.0)
    beat_s = time.time() - oldest_s if oldest_s else None
    return ServiceReading(
        address, "", readiness.links, online, beat_s=beat_s, problems=tuple(problems)
    )


def check_service(reading: ServiceReading, elsewhere: Collection[str]) -> Check:
    """Check one service. `elsewhere` has the links that another service operates instead."""
    what = f"service {reading.address}"
    if reading.failure:
        return failure(what, reading.failure)
    beat_s, words = reading.beat_s, list(reading.problems)
    words += [f"does not operate {link}: {reading.inoperable[link]}" for link in sorted(elsewhere)]
    late = beat_s is None or beat_s > _LATE_BEAT_S
    beat = "no heartbeat yet" if beat_s is None else f"last heartbeat {age_text(beat_s)} ago"
    return Check(what, holds=not (late or words), seen="; ".join([beat, *words]), warns=not late)


class _Alert(msgspec.Struct, frozen=True):
    state: Literal["firing", "pending", "inactive"]
    labels: Mapping[str, str]
    annotations: Mapping[str, str] = {}


class _Alerts(msgspec.Struct, frozen=True):
    alerts: tuple[_Alert, ...]


class _Sample(msgspec.Struct, frozen=True):
    metric: Mapping[str, str]
    value: tuple[float, str]


class _Vector(msgspec.Struct, frozen=True):
    result: tuple[_Sample, ...]


class _Rule(msgspec.Struct, frozen=True):
    name: str


class _Group(msgspec.Struct, frozen=True):
    rules: tuple[_Rule, ...]


class _Groups(msgspec.Struct, frozen=True):
    groups: tuple[_Group, ...]


class _Answer(msgspec.Struct, frozen=True):
    data: msgspec.Raw


_Data = TypeVar("_Data", _Alerts, _Groups, _Vector)


async def read_prometheus(
    client: httpx.AsyncClient, url: str
) -> tuple[Sequence[str], Sequence[Check]]:
    """Return the services that Prometheus reads, and checks of its alerts and the tables' lag.

    Critical alerts come first.
    """
    base = url.rstrip("/")
    try:
        alerts = (await _ask(client, f"{base}/api/v1/alerts", _Alerts)).alerts
        groups = (await _ask(client, f"{base}/api/v1/rules", _Groups)).groups
        jobs = await _query(client, base, _JOB)
        services = sorted(one.metric["instance"] for one in jobs if "instance" in one.metric)
        lag = await _check_lag(client, base)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return (), [_not_known(f"is not reachable at {url}: {failure_text(error)}")]
    except (msgspec.MsgspecError, ValueError):
        return (), [_not_known(f"is not what answers at {url}")]
    if not services:
        return (), [_not_known(f"at {url} reads no service: its job pitlink has no address")]
    if any(rule.name.startswith(_OURS) for group in groups for rule in group.rules):
        return services, [*_check_alerts(alerts), lag]
    lacks = f"Prometheus at {url} has no alerts of pitlink: it needs deploy/prometheus/alerts.yml"
    return services, [warning("alerts", lacks), lag]


def _not_known(reason: str) -> Check:
    return warning("alerts", f"Prometheus {reason}. Alerts and the lag of the tables are not known")


async def _ask(client: httpx.AsyncClient, url: str, of: type[_Data], **parameters: str) -> _Data:
    answer = (await get(client, url, params=parameters)).raise_for_status()
    return msgspec.json.decode(msgspec.json.decode(answer.content, type=_Answer).data, type=of)


async def _query(client: httpx.AsyncClient, base: str, query: str) -> Sequence[_Sample]:
    return (await _ask(client, f"{base}/api/v1/query", _Vector, query=query)).result


async def _value(client: httpx.AsyncClient, base: str, query: str) -> float | None:
    found = await _query(client, base, query)
    value = float(found[0].value[1]) if found else math.nan
    return value if math.isfinite(value) else None


def _check_alerts(alerts: Sequence[_Alert]) -> Sequence[Check]:
    firing = [
        Check(
            alert.labels.get("alertname", "alert"),
            holds=False,
            seen=alert.annotations.get("summary", ""),
            warns=alert.labels.get("severity") != "critical",
        )
        for alert in alerts
        if alert.state == "firing"
    ]
    firing.sort(key=lambda check: (check.warns, check.what, check.seen))
    return firing or [passed("alerts", "none")]


async def _check_lag(client: httpx.AsyncClient, base: str) -> Check:
    waiting = await _value(client, base, _UNANSWERED)
    oldest_s = await _value(client, base, _OLDEST)
    replies_s = await _value(client, base, _REPLIES)
    words = []
    if waiting is not None and oldest_s is not None:
        words.append(f"{waiting:.0f} events wait for a reply")
        if waiting:
            words.append(f"the oldest for {age_text(oldest_s)}")
    if replies_s is not None:
        words.append(f"99 of 100 replies take at most {replies_s * 1000:.0f} ms")
    if not words:
        seen = "not known: Prometheus reads no agent. Write the agents' addresses in its tables.yml"
        return warning("lag", seen)
    late, slow = (oldest_s or 0.0) > _LATE_S, (replies_s or 0.0) > _SLOW_S
    return Check("lag", holds=not (late or slow), seen=", ".join(words), warns=not late)
