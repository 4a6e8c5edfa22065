"""Metrics of the service, for Prometheus.

``deploy/docs/reference/metrics.md`` describes each of them.

They are never the ledger. Counters start at zero with each start and count what this worker did.
Their loss is harmless, because accounting uses the ledger and its reports. Gauges of the books are
the same in every worker. Money is in cents, not in Prometheus's base unit, which would be a
fraction.

Every label has a limited set of values: links, meters and tables are those of the floor file, and
anything else that a stranger may send is counted as ``unknown``. The metrics of the hot path are
looked up once and kept.
"""

from meters.metrics.play_metrics import CODES_MAX
from meters.metrics.registry import Metrics

__all__ = ["CODES_MAX", "Metrics"]
