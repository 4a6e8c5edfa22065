from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from meters.wire.messages import WagerCorrection, Wagers

REPLY_SECONDS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0
)  # fmt: skip
"""Upper bounds (inclusive) of the buckets of reply times."""


@dataclass(slots=True)
class DeliveryStats:
    """Counts since the start of the agent, for monitoring; not accounting records.

    `repeats` counts events that were published again. `waits` has the replies for each range of
    times that `REPLY_SECONDS` bounds, and at the end those of all longer times.
    """

    replies: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("accepted", "refused", "out_of_order"), 0)
    )
    repeats: int = 0
    waits: list[int] = field(default_factory=lambda: [0] * (len(REPLY_SECONDS) + 1))
    waited_s: float = 0.0

    def count_reply(self, status: str) -> None:
        self.replies[status] += 1

    def count_wait(self, seconds: float) -> None:
        self.waits[bisect_left(REPLY_SECONDS, seconds)] += 1
        self.waited_s += seconds


@dataclass(slots=True)
class Accepted:
    """Progressive wagers that the service accepted since the agent started."""

    wagers: int = 0
    wagered_cents: int = 0

    def count(self, event: Wagers | WagerCorrection) -> None:
        """Count the wagers of a round, or the one that a correction added."""
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

    `playable` is true if progressive wagers can be accepted (duty D13). `beat_age_s` is infinite
    before the service's first heartbeat; `beats_missed` counts those that did not arrive when they
    were due. `unanswered` is 0 or 1, because a table sends one event at a time; `waiting` counts
    device events that are not handled yet.
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
        """For each time in `REPLY_SECONDS`, the replies that arrived within it."""
        counts = self.deliveries.waits
        return {bound: sum(counts[: index + 1]) for index, bound in enumerate(REPLY_SECONDS)}
