"""Metrics of the agents of one process, for Prometheus.

``deploy/docs/reference/metrics.md`` describes each. The counts start from 0 with the agent and are
not accounting records.
"""

import asyncio
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Final, final

from litestar import Litestar, MediaType, Response, get
from litestar.handlers import HTTPRouteHandler
from prometheus_client import CollectorRegistry, Info, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from controllers.agent.agent import Agent
from controllers.agent.stats import AgentStats
from controllers.table.state import Phase
from meters.http.middleware import ServerSettings
from meters.http.server import serve_web
from meters.http.strict_requests import WebRequest

STATES: Final = (*(phase.value for phase in Phase), "events_lost")
_TABLE: Final = ("link", "table")
_GAUGES: Final[tuple[tuple[str, str, Callable[[AgentStats], float]], ...]] = (
    (
        "broker_connected",
        "1 while the agent is connected to the broker.",
        lambda one: one.connected,
    ),
    ("playable", "1 while progressive wagers can be accepted.", lambda one: one.playable),
    (
        "beat_age_seconds",
        "Seconds since the service's last heartbeat.",
        lambda one: one.beat_age_s,
    ),
    ("unanswered_events", "Events in the outbox without a reply.", lambda one: one.unanswered),
    (
        "unanswered_age_seconds",
        "Age of the oldest event without a reply; 0 if there is none.",
        lambda one: one.unanswered_s,
    ),
    ("waiting_device_events", "Device events that are not handled yet.", lambda one: one.waiting),
    ("last_seq", "Number of the table's last event.", lambda one: one.last_seq),
    ("outbox_bytes", "Size of the outbox on the disk.", lambda one: one.outbox_bytes),
)
_COUNTERS: Final[tuple[tuple[str, str, Callable[[AgentStats], float]], ...]] = (
    ("connections", "How often the agent connected to the broker.", lambda one: one.connections),
    (
        "beats_missed",
        "Heartbeats of the service that did not arrive when they were due.",
        lambda one: one.beats_missed,
    ),
    (
        "repeats",
        "How often an event was repeated because no reply had come.",
        lambda one: one.deliveries.repeats,
    ),
    ("wagers", "Progressive wagers accepted.", lambda one: one.accepted.wagers),
    (
        "wagered_cents",
        "Sum of the accepted progressive wagers, in cents.",
        lambda one: one.accepted.wagered_cents,
    ),
)


@final
class AgentMetrics:
    def __init__(self) -> None:
        self._agents: list[Agent] = []
        self._registry = CollectorRegistry()
        self._registry.register(_Figures(self._agents))
        Info("pitlink_agent_build", "The running version.", registry=self._registry).info(
            {"version": version("pitlink")}
        )
        ProcessCollector(registry=self._registry)

    def add(self, agent: Agent) -> None:
        self._agents.append(agent)

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics in the format that the header `accept` asks for, and its type."""
        encode, media_type = choose_encoder(accept)
        return encode(self._registry), media_type


def metrics_route(metrics: AgentMetrics) -> HTTPRouteHandler:
    @get("/metrics", media_type=MediaType.TEXT, include_in_schema=False, sync_to_thread=False)
    def show_metrics(request: WebRequest) -> Response[bytes]:
        body, media_type = metrics.exposition(request.headers.get("accept", ""))
        return Response(body, media_type=media_type)

    return show_metrics


async def serve_metrics(
    metrics: AgentMetrics,
    host: str,
    port: int,
    ready: asyncio.Event,
    *,
    settings: ServerSettings | None = None,
) -> None:
    """Serve only ``/metrics`` until canceled.

    Raises:
        UserError: the address or the certificate cannot be used.
    """
    app = Litestar([metrics_route(metrics)], openapi_config=None, logging_config=None)
    await serve_web(app, host, port, ready, settings=settings)


class _Figures(Collector):
    """Converts the agents' plain counts when Prometheus reads them."""

    def __init__(self, agents: list[Agent]) -> None:
        self._agents = agents

    def describe(self) -> Iterator[Metric]:
        """Return no metrics, because agents are added only after the collector is registered."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        found = [((agent.layout.link, agent.layout.table), agent.stats) for agent in self._agents]
        for name, description, gauge_of in _GAUGES:
            gauge = GaugeMetricFamily(f"pitlink_agent_{name}", description, labels=_TABLE)
            for labels, stats in found:
                gauge.add_metric(labels, gauge_of(stats))
            yield gauge
        for name, description, count_of in _COUNTERS:
            counter = CounterMetricFamily(f"pitlink_agent_{name}", description, labels=_TABLE)
            for labels, stats in found:
                counter.add_metric(labels, count_of(stats))
            yield counter
        state = GaugeMetricFamily(
            "pitlink_agent_state",
            "1 if the table is in this state; otherwise 0.",
            labels=(*_TABLE, "state"),
        )
        replies = CounterMetricFamily(
            "pitlink_agent_replies", "Replies to events, by status.", labels=(*_TABLE, "status")
        )
        waits = HistogramMetricFamily(
            "pitlink_agent_reply_seconds", "How long events waited for a reply.", labels=_TABLE
        )
        for labels, stats in found:
            for each in STATES:
                state.add_metric((*labels, each), stats.state == each)
            for status, count in stats.deliveries.replies.items():
                replies.add_metric((*labels, status), count)
            waits.add_metric(labels, *_histogram(stats))
        yield from (state, replies, waits)


def _histogram(stats: AgentStats) -> tuple[list[tuple[str, float]], float]:
    """Return the buckets (upper limit, replies within it) and the sum of reply times in seconds."""
    total = sum(stats.deliveries.waits)
    buckets = [(str(bound), float(count)) for bound, count in stats.waits.items()]
    return [*buckets, ("+Inf", float(total))], stats.deliveries.waited_s
