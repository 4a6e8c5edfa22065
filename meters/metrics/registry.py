import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Final, final

from prometheus_client import (
    CollectorRegistry,
    Info,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder

from meters.floor.floor_file import Floor
from meters.metrics.families import MetricFamilies
from meters.metrics.link_metrics import LinkMetrics
from meters.metrics.play_metrics import PlayMetrics
from meters.metrics.process_metrics import ProcessMetrics


@final
class Metrics:
    """The service's counters, gauges and histograms, in their own registry.

    Labels for the links, meters and tables of the floor exist from the start with the value 0, so
    Prometheus sees the first increase. `now` returns seconds since the epoch, for the age of
    waiting claims.
    """

    def __init__(self, floor: Floor, now: Callable[[], float] = time.time) -> None:
        # Nobody needs the creation times of counters. They would double the size of the output.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry: Final = CollectorRegistry()
        families = MetricFamilies(self.registry, floor)
        self.play: Final = PlayMetrics(families)
        self.books: Final = LinkMetrics(families, now)
        self.running: Final = ProcessMetrics(
            families, Path(floor.service.data), Path(floor.archive.directory), now
        )
        Info("pitlink_build", "The running version.", registry=self.registry).info(
            {"version": version("pitlink")}
        )
        ProcessCollector(registry=self.registry)

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics for Prometheus, and the media type, which `accept` decides."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type
