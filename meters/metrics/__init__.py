"""Metrics of the service, for Prometheus.

``deploy/docs/reference/metrics.md`` describes each of them.

It is never the ledger. Counters begin at nothing with each start and count what this worker did;
they may be lost without harm, and accounting goes by the ledger and its reports. Gauges of the
books are the same with every worker. Money is in cents, not in Prometheus's base unit, which would
be a fraction.

Every label is bounded: links, meters and tables are those of the floor file, and whatever a
stranger may send is counted as ``unknown``. The children of the hot path are resolved once and
kept.
"""

from meters.metrics.play_metrics import CODES_MAX
from meters.metrics.registry import Metrics

__all__ = ["CODES_MAX", "Metrics"]
