"""Figures of one table's agent, for monitoring.

They are counted from the start of the agent. They are not accounting records.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from meters.wire.messages import WagerCorrection, Wagers

REPLY_SECONDS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0
)  # fmt: skip
"""Upper bounds (inclusive) of the buckets of reply times, in seconds."""


@dataclass(slots=True)
class DeliveryStats:
    """Counts of events sent to the service and of replies.

    Attributes:
        replies: number of replies to events, by status.
        repeats: number of times that an event was published again because no reply arrived.
        waits: number of events for each range of reply times. The upper limits of the ranges are
            `REPLY_SECONDS`. The last number is for all longer reply times.
        waited_s: sum of the reply times, in seconds.
    """

    replies: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("accepted", "refused", "out_of_order"), 0)
    )
    repeats: int = 0
    waits: list[int] = field(default_factory=lambda: [0] * (len(REPLY_SECONDS) + 1))
    waited_s: float = 0.0

    def count_reply(self, status: str) -> None:
        """Count a reply to the unanswered event, by the status of the reply."""
        self.replies[status] += 1

    def count_wait(self, seconds: float) -> None:
        """Count the time that an event waited for its reply."""
        self.waits[bisect_left(REPLY_SECONDS, seconds)] += 1
        self.waited_s += seconds


@dataclass(slots=True)
class Accepted:
    """Number of progressive wagers that the service accepted, and their sum in cents."""

    wagers: int = 0
    wagered_cents: int = 0

    def count(self, event: Wagers | WagerCorrection) -> None:
        """Count the accepted wagers of a round, or the wager that a correction added."""
        if isinstance(event, WagerCorrection):
            self.wagers += event.adds
            self.wagered_cents += event.amount * event.adds
            return
        for at in event.positions:
            self.wagers += len(at.wagers)
            self.wagered_cents += sum(at.wagers.values())


@dataclass(frozen=True, slots=True)
class AgentStats:
    """Figures of an agent at one moment.

    Attributes:
        connected: true while the broker is connected.
        connections: number of connections so far.
        playable: true if progressive wagers can be accepted (duty D13).
        beat_age_s: seconds since the service's last heartbeat; infinite if there was none.
        beats_missed: number of heartbeats that did not arrive when they were due.
        state: state of the table, as in its published status.
        unanswered: number of events without a reply: 0 or 1, because a table sends one event at a
            time.
        unanswered_s: age of the unanswered event in seconds; 0 if there is none.
        waiting: number of device events that are not handled yet.
        last_seq: sequence number of the last event.
        outbox_bytes: size of the outbox on the disk, in bytes.
        deliveries: counts of events and replies.
        accepted: number and sum of the accepted progressive wagers.
    """

    connected: bool
    connections: int
    playable: bool
    beat_age_s: float
    beats_missed: int
    state: str
    unanswered: int
    unanswered_s: float
    waiting: int
    last_seq: int
    outbox_bytes: int
    deliveries: DeliveryStats
    accepted: Accepted

    @property
    def waits(self) -> Mapping[float, int]:
        """For each time in `REPLY_SECONDS`, the number of replies that arrived within it."""
        counts = self.deliveries.waits
        return {bound: sum(counts[: index + 1]) for index, bound in enumerate(REPLY_SECONDS)}
