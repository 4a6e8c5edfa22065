"""Metrics of the agents of one process, for Prometheus (``deploy/docs/reference/metrics.md``).

The counts start from 0 when the agent starts, and are not accounting records.
"""

import asyncio
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from itertools import accumulate
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
from controllers.agent.delivery import REPLY_SECONDS
from controllers.table.state import Phase
from meters.http.middleware import ServerSettings
from meters.http.server import serve_web
from meters.http.strict_requests import WebRequest

STATES: Final = (*(phase.value for phase in Phase), "events_lost")
_TABLE: Final = ("link", "table")
_GAUGES: Final = {
    "broker_connected": "1 while the agent is connected to the broker.",
    "playable": "1 while progressive wagers can be accepted.",
    "beat_age_seconds": "Seconds since the service's last heartbeat.",
    "unanswered_events": "Events in the outbox without a reply.",
    "unanswered_age_seconds": "Age of the oldest event without a reply; 0 if there is none.",
    "waiting_device_events": "Device events that are not handled yet.",
    "last_seq": "Number of the table's last event.",
    "outbox_bytes": "Size of the outbox on the disk.",
}
_COUNTERS: Final = {
    "connections": "How often the agent connected to the broker.",
    "beats_missed": "Heartbeats of the service that did not arrive when they were due.",
    "repeats": "How often an event was repeated because no reply had come.",
    "wagers": "Progressive wagers accepted.",
    "wagered_cents": "Sum of the accepted progressive wagers, in cents.",
}


def _figures(agent: Agent) -> Mapping[str, float]:
    delivery, writer = agent.delivery, agent.writer
    return {
        "broker_connected": delivery.connected,
        "playable": agent.fault() is None,
        "beat_age_seconds": delivery.heartbeat.age_s(asyncio.get_running_loop().time()),
        "unanswered_events": writer.pending is not None,
        "unanswered_age_seconds": writer.unanswered_s(),
        "waiting_device_events": agent.waiting,
        "last_seq": writer.last_seq,
        "outbox_bytes": writer.outbox_bytes(),
        "connections": delivery.connections,
        "beats_missed": delivery.heartbeat.missed,
        "repeats": delivery.repeats,
        "wagers": writer.accepted_wagers,
        "wagered_cents": writer.accepted_cents,
    }


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
    def __init__(self, agents: list[Agent]) -> None:
        self._agents = agents

    def describe(self) -> Iterator[Metric]:
        """Return no metrics, because agents are added after the collector is registered."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        found = [((agent.layout.link, agent.layout.table), agent) for agent in self._agents]
        figures = [(labels, _figures(agent)) for labels, agent in found]
        for kind, described in ((GaugeMetricFamily, _GAUGES), (CounterMetricFamily, _COUNTERS)):
            for name, description in described.items():
                family = kind(f"pitlink_agent_{name}", description, labels=_TABLE)
                for labels, values in figures:
                    family.add_metric(labels, values[name])
                yield family
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
        for labels, agent in found:
            delivery = agent.delivery
            for each in STATES:
                state.add_metric((*labels, each), agent.state == each)
            for status, count in delivery.replies.items():
                replies.add_metric((*labels, status), count)
            bounds = [*map(str, REPLY_SECONDS), "+Inf"]
            buckets = zip(bounds, map(float, accumulate(delivery.waits)), strict=True)
            waits.add_metric(labels, list(buckets), delivery.waited_s)
        yield from (state, replies, waits)
