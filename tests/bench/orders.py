"""What the benchmark tells the load process, and what that answers: one JSON object a line each."""

from typing import Final

import msgspec


class _Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all orders and findings share."""


class Start(_Order, frozen=True, kw_only=True, tag="start"):
    """Connect, and wait until every link operates and the bare subscriber listens.

    Attributes:
        port: the broker's that the service listens to.
        bare_port: the broker's that only the bare subscriber listens to.
        tables: how many tables there are.
        seed: of the cards.
        pids: whose CPU time is measured, by name.
    """

    port: int
    bare_port: int
    tables: int
    seed: int
    pids: dict[str, int]


class MeasureWagers(_Order, frozen=True, kw_only=True, tag="wagers"):
    """Windows in which each of `tables` sends one `wagers`, until `seconds` were timed."""

    tables: int
    seconds: float


class MeasureBare(_Order, frozen=True, kw_only=True, tag="bare"):
    """The same windows, received by the bare subscriber."""

    tables: int
    seconds: float


class MeasureRounds(_Order, frozen=True, kw_only=True, tag="rounds"):
    """Whole rounds at each of `tables`, one after another, for `seconds`."""

    tables: int
    seconds: float


class MeasureLatency(_Order, frozen=True, kw_only=True, tag="latency"):
    """Rounds begun at a steady pace, for `seconds`."""

    tables: int
    rounds_per_s: int
    seconds: float


class Finish(_Order, frozen=True, kw_only=True, tag="finish"):
    """Say what the books must hold now, and end."""


class Ready(_Order, frozen=True, kw_only=True, tag="ready"):
    """The load can begin."""


class Measured(_Order, frozen=True, kw_only=True, tag="measured"):
    """What was done in the time measured.

    Attributes:
        events: how many events were answered, or received bare; of rounds, how many were whole.
        elapsed_s: the time measured, in seconds.
        cpu_s: what each process used in that time, in seconds.
        claims: how many claims the results opened.
    """

    events: int
    elapsed_s: float
    cpu_s: dict[str, float]
    claims: int = 0


class Percentiles(_Order, frozen=True, kw_only=True):
    """A latency's median and 99th percentile in milliseconds, and of how many."""

    p50_ms: float
    p99_ms: float
    samples: int


class LatencyMeasured(_Order, frozen=True, kw_only=True, tag="latency_measured"):
    """From the publish of an event until its reply, and until a meter that covers it was seen."""

    rounds_per_s: float
    wagers_reply: Percentiles
    result_reply: Percentiles
    wagers_meter_seen: Percentiles


class LinkBooks(_Order, frozen=True, kw_only=True):
    """What one link's books must hold, by the replies alone.

    Attributes:
        wagers: wagers accepted, less those of voided rounds.
        rounds: rounds with a result.
        meters_micros: what each meter holds.
    """

    wagers: int
    rounds: int
    meters_micros: dict[str, int]


class Finished(_Order, frozen=True, kw_only=True, tag="finished"):
    """The load's own books.

    Attributes:
        sent: events sent, each counted once.
        accepted: events answered with `accepted`.
        repeated: events that were sent again because no answer came.
        refusals: how many events were answered otherwise, by what the answer said.
        interruptions: how often a link was said to be inoperable, by the reason.
    """

    sent: int
    accepted: int
    repeated: int
    refusals: dict[str, int]
    interruptions: dict[str, int]
    links: dict[str, LinkBooks]


class Failed(_Order, frozen=True, kw_only=True, tag="failed"):
    """The load cannot go on, and why."""

    reason: str


Order = Start | MeasureWagers | MeasureBare | MeasureRounds | MeasureLatency | Finish
Finding = Ready | Measured | LatencyMeasured | Finished | Failed

ORDER: Final = msgspec.json.Decoder(Order)
FINDING: Final = msgspec.json.Decoder(Finding)
