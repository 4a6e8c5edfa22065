"""Orders to the load process and its findings: one JSON object on each line."""

from typing import Final, Literal

import msgspec


class _Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all orders and findings."""


class Start(_Order, frozen=True, kw_only=True, tag="start"):
    """Connect, and wait until every link operates."""

    port: int
    pipe_port: int
    pipe_redis: str
    tables: int
    seed: int
    pids: dict[str, int]


class Measure(_Order, frozen=True, kw_only=True, tag="measure"):
    """Measure what a number of tables does, until `seconds` were timed.

    Attributes:
        what: windows in which each table sends one `wagers`; the same windows, written to a Redis
            by a pipe of C programs; or whole rounds at each table, one after another.
    """

    what: Literal["wagers", "pipe", "rounds"]
    tables: int
    seconds: float


class MeasureLatency(_Order, frozen=True, kw_only=True, tag="latency"):
    """Measure rounds that begin at a steady pace, for `seconds`."""

    tables: int
    rounds_per_s: int
    seconds: float


class Finish(_Order, frozen=True, kw_only=True, tag="finish"):
    """Report what the books must hold now, and end."""


class Ready(_Order, frozen=True, kw_only=True, tag="ready"):
    """The load can begin."""


class Measured(_Order, frozen=True, kw_only=True, tag="measured"):
    """Events and CPU time of the time measured."""

    events: int
    elapsed_s: float
    cpu_s: dict[str, float]
    claims: int = 0


class Percentiles(_Order, frozen=True, kw_only=True):
    """Median and 99th percentile of a latency in milliseconds, and the number of samples."""

    p50_ms: float
    p99_ms: float
    samples: int


class LatencyMeasured(_Order, frozen=True, kw_only=True, tag="latency_measured"):
    """Latencies from the publish of an event to its reply, and to a meter value that covers it."""

    rounds_per_s: float
    wagers_reply: Percentiles
    result_reply: Percentiles
    wagers_meter_seen: Percentiles


class LinkBooks(_Order, frozen=True, kw_only=True):
    """Required contents of one link's books, from the replies alone."""

    wagers: int
    rounds: int
    meters_micros: dict[str, int]


class Finished(_Order, frozen=True, kw_only=True, tag="finished"):
    """The load's own books.

    Attributes:
        sent: events sent, each counted once.
        accepted: events answered with `accepted`.
        repeated: events that were sent again because no answer came.
        held: wagers refused because their table waits for a hand pay, which nobody pays here.
        refusals: number of other answers, by their content.
        interruptions: how often a link was reported as inoperable, by the reason.
    """

    sent: int
    accepted: int
    repeated: int
    held: int
    refusals: dict[str, int]
    interruptions: dict[str, int]
    links: dict[str, LinkBooks]


class Failed(_Order, frozen=True, kw_only=True, tag="failed"):
    """The load cannot continue; the message says why."""

    reason: str


Order = Start | Measure | MeasureLatency | Finish
Finding = Ready | Measured | LatencyMeasured | Finished | Failed

ORDER: Final = msgspec.json.Decoder(Order)
FINDING: Final = msgspec.json.Decoder(Finding)
