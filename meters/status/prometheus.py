"""Firing alerts, and figures that only Prometheus has, read from its HTTP API."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

import httpx
import msgspec

from meters.selfcheck.check_result import Check
from meters.status.floor_status import age_text
from meters.status.http_client import failure_text, get

_WHAT: Final = "Prometheus"
_OURS: Final = "Pitlink"
"""Beginning of the names of all alerts of pitlink."""
_JOB: Final = 'up{job="pitlink"}'
_UNANSWERED: Final = "sum(pitlink_agent_unanswered_events)"
_OLDEST: Final = "max(pitlink_agent_unanswered_age_seconds)"
_REPLIES: Final = (
    "histogram_quantile(0.99, sum by (le) (rate(pitlink_reply_seconds_bucket[5m]))) >= 0"
)
_LATE_S: Final = 30.0
_SLOW_S: Final = 0.5
"""Limits of the alerts PitlinkEventUnanswered and PitlinkRepliesSlow, in seconds."""


class _Alert(msgspec.Struct, frozen=True):
    """An alert in the answer of Prometheus. Other fields of the answer are ignored."""

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


class _RulesAnswer(msgspec.Struct, frozen=True):
    data: _Groups


class _AlertsAnswer(msgspec.Struct, frozen=True):
    data: _Alerts


class _VectorAnswer(msgspec.Struct, frozen=True):
    data: _Vector


_Answer = TypeVar("_Answer", _AlertsAnswer, _RulesAnswer, _VectorAnswer)


@dataclass(frozen=True, slots=True)
class PrometheusReading:
    """The services that Prometheus reads, the firing alerts (the critical first), and the lag."""

    services: tuple[str, ...]
    checks: tuple[Check, ...]


async def read_prometheus(client: httpx.AsyncClient, url: str) -> PrometheusReading:
    """Read Prometheus at an address. A failure is one of the checks in the result."""
    base = url.rstrip("/")
    try:
        alerts = (await _ask(client, f"{base}/api/v1/alerts", _AlertsAnswer)).data.alerts
        groups = (await _ask(client, f"{base}/api/v1/rules", _RulesAnswer)).data.groups
        services = [
            sample.metric["instance"]
            for sample in await _query(client, base, _JOB)
            if "instance" in sample.metric
        ]
        lag = await _check_lag(client, base)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _failed(f"is not reachable at {url}: {failure_text(error)}")
    except (msgspec.MsgspecError, ValueError):
        return _failed(f"is not what answers at {url}")
    if not services:
        return _failed(f"at {url} reads no service: its job pitlink has no address")
    if not any(rule.name.startswith(_OURS) for group in groups for rule in group.rules):
        lacks = f"{_WHAT} at {url} has no alerts of pitlink: it needs deploy/prometheus/alerts.yml"
        alerts_checks: Sequence[Check] = [Check("alerts", holds=False, seen=lacks, warns=True)]
    else:
        alerts_checks = _check_alerts(alerts)
    return PrometheusReading(tuple(sorted(services)), (*alerts_checks, *lag))


def _failed(reason: str) -> PrometheusReading:
    seen = f"{_WHAT} {reason}. Alerts and the lag of the tables are not known"
    return PrometheusReading((), (Check("alerts", holds=False, seen=seen, warns=True),))


async def _ask(
    client: httpx.AsyncClient, url: str, of: type[_Answer], **parameters: str
) -> _Answer:
    answer = await get(client, url, params=parameters)
    return msgspec.json.decode(answer.raise_for_status().content, type=of)


async def _query(client: httpx.AsyncClient, base: str, query: str) -> Sequence[_Sample]:
    return (await _ask(client, f"{base}/api/v1/query", _VectorAnswer, query=query)).data.result


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
    return firing or [Check("alerts", holds=True, seen="none")]


async def _check_lag(client: httpx.AsyncClient, base: str) -> Sequence[Check]:
    """Check how many events wait for a reply, and how long replies take."""
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
        seen = "not known: Prometheus reads no agent. Write the panels in its tables.yml"
        return [Check("lag", holds=False, seen=seen, warns=True)]
    late, slow = (oldest_s or 0.0) > _LATE_S, (replies_s or 0.0) > _SLOW_S
    return [Check("lag", holds=not (late or slow), seen=", ".join(words), warns=not late)]
