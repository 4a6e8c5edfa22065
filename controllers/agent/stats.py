"""How one table's agent does, for whoever watches it; counted since its start, and never books."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from meters.wire.messages import Wagers

REPLY_SECONDS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0
)  # fmt: skip
"""The upper bounds, both included, by which the waits for replies are counted."""


@dataclass(slots=True)
class DeliveryStats:
    """What was sent to the service and came back.

    Attributes:
        replies: how many replies to events came, by their status.
        repeats: how often an event was published again for want of a reply.
        waits: how many events waited for their reply up to each of `REPLY_SECONDS`, and longer.
        waited_s: the sum of their waits.
    """

    replies: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("accepted", "refused", "out_of_order"), 0)
    )
    repeats: int = 0
    waits: list[int] = field(default_factory=lambda: [0] * (len(REPLY_SECONDS) + 1))
    waited_s: float = 0.0

    def count_reply(self, status: str) -> None:
        """A reply to the event under way has come."""
        self.replies[status] += 1

    def count_wait(self, seconds: float) -> None:
        """An event has waited so long for its reply."""
        self.waits[bisect_left(REPLY_SECONDS, seconds)] += 1
        self.waited_s += seconds


@dataclass(slots=True)
class Accepted:
    """The progressive wagers that the service accepted: how many, and their amounts in cents."""

    wagers: int = 0
    wagered_cents: int = 0

    def count(self, event: Wagers) -> None:
        """The wagers of a round were accepted."""
        for at in event.positions:
            self.wagers += len(at.wagers)
            self.wagered_cents += sum(at.wagers.values())


@dataclass(frozen=True, slots=True)
class AgentStats:
    """How an agent does at one moment.

    Attributes:
        connected: whether the broker is reached.
        connections: how often it was.
        playable: whether progressive wagers can be taken (duty D13).
        beat_age_s: how long ago the controller's last beat came; infinite where none has.
        beats_missed: how many beats that were due did not come.
        state: the table's state, as its status says it.
        unanswered: how many events of the outbox have no reply; a table sends one at a time.
        unanswered_s: how long the oldest of them has had none; 0 where there is none.
        waiting: device events that wait to be taken.
        last_seq: the number of the last event.
        outbox_bytes: what the outbox takes on the disk.
        deliveries: what was sent and came back.
        accepted: the progressive wagers that were accepted.
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
        """How many events waited for their reply up to each bound, those before it included."""
        counts = self.deliveries.waits
        return {bound: sum(counts[: index + 1]) for index, bound in enumerate(REPLY_SECONDS)}
