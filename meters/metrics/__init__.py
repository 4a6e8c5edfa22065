"""Metrics of the service, for Prometheus.

``deploy/docs/reference/metrics.md`` describes each metric.

Metrics are not accounting records. When a worker starts, its counters start at zero, and count only
what this worker does. A loss of metrics is harmless, because accounting uses the ledger and its
reports. Gauges of the books are the same in every worker. Money is in cents, because an amount in
dollars, Prometheus's base unit, would be a fraction.

Every label has a limited set of values: the links, meters and tables of the floor file. A message
with any other name is counted as ``unknown``. A metric that changes with many events is looked up
only once, and kept.
"""

from meters.metrics.play_metrics import CODES_MAX
from meters.metrics.registry import Metrics

__all__ = ["CODES_MAX", "Metrics"]
