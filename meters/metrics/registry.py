"""The service's metrics, put together in one registry."""

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
    """The service's counters, gauges and histograms, in a registry of their own.

    Args:
        floor: its links, meters and tables are the only ones that get labels of their own, and
            they have them from the start, so that a rate is right from the first wager on.
        now: seconds since the epoch, against which what waits is aged at each reading.

    Attributes:
        play: what the tables play.
        books: what the books hold, and whether they were found in order.
        running: how the service itself does.
    """

    def __init__(self, floor: Floor, now: Callable[[], float] = time.time) -> None:
        # When a counter was made is of no use to anybody, and would double what is read.
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
        """Everything as Prometheus reads it, and the media type that suits what it accepts."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type
