"""All metrics of the service in one registry."""

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

    Args:
        floor: only its links, meters and tables get their own labels. They have them from the
            start, so a rate is right from the first wager.
        now: returns seconds since the epoch, for the age of waiting claims at each reading.

    Attributes:
        play: metrics of the tables' play.
        books: metrics of the books and their audits.
        running: metrics of the service itself.
    """

    def __init__(self, floor: Floor, now: Callable[[], float] = time.time) -> None:
        # The creation time of a counter is useless, and would double the size of the output.
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
        """Return all metrics for Prometheus, and the media type that suits the `accept` header."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type
