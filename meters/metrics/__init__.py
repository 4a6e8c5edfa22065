"""Metrics of the service, for Prometheus; ``deploy/docs/reference/metrics.md`` describes each.

They are not accounting records. When a worker starts, its counters start at zero, and count only
what this worker does. A loss of metrics is harmless, because accounting uses the ledger and its
reports. Gauges of links' data are the same in every worker. Money is in cents, although Prometheus
prefers base units, because amounts in dollars would be fractions.

Every label has a limited set of values: the links, meters and tables of the floor file. A message
with any other name is counted as ``unknown``. A metric that changes with many events is looked up
only once, to save time.
"""

from meters.metrics.link_metrics import CODES_MAX
from meters.metrics.process_metrics import Metrics

__all__ = ["CODES_MAX", "Metrics"]
