"""Data classes for a link's books: the state of tables, meters and the link itself."""

from dataclasses import dataclass, field
from typing import Literal

Act = Literal["validate", "reject", "pay"]
"""A floorperson's decision on a claim."""

EnvyAct = Literal["pay_envy", "reject_envy"]
"""A floorperson's decision on the Envy Bonuses that are owed under a claim."""


@dataclass(frozen=True, slots=True)
class TableRecord:
    """The state of a table: its last seq, its open round, the claims of its last results.

    `fed` are the meters that the open round added to.
    """

    last_seq: int
    open_round: str | None
    basis: int
    wagers: bytes
    draw: bytes
    fed: tuple[str, ...]
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LedgerHead:
    """The number of a ledger's last entry, 0 for none, and its digest.

    Both are kept outside the ledger. `in_ledger` says whether the ledger's last entry is that one.
    """

    entry: int
    chain: str
    in_ledger: bool = True


@dataclass(frozen=True, slots=True)
class OpenDay:
    """The open gaming day, and the last one that was closed, as dates; empty if there is none."""

    open: str
    closed: str


@dataclass(frozen=True, slots=True)
class MeterState:
    """A meter as the store has it; the amount in whole cents."""

    meter: str
    amount_cents: int
    version: int
    cycle: int
    pending: bool


@dataclass(frozen=True, slots=True)
class Closure:
    """The reason why a link is closed, the person who closed it, and the time."""

    reason: str
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class LinkState:
    """A link at one moment.

    Attributes:
        meters: its meters, in the order of the floor file.
        closure: the reason why it is closed, or None while it is open.
        rounds_open: the count of rounds that have wagers and no result yet.
        desk: a count that rises with each change that floorpersons see.
        head: the last ledger entry.
        day: the gaming day that is open.
    """

    meters: tuple[MeterState, ...]
    closure: Closure | None
    rounds_open: int
    desk: int
    head: LedgerHead
    day: OpenDay


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A link's accounts in micros and its counts, all of one moment.

    If the indexes were asked for, `waiting`, `wins` and `slips` are those of its claims, and `acts`
    is the index of what people did. `misplaced` counts the wins that are out of their order.
    `proposals` are those that wait for a decision, with the entry that made them. `approved` is the
    last approved configuration.
    """

    accounts: dict[str, int]
    tallies: dict[str, int]
    meters: dict[str, str]
    waiting: dict[str, int] = field(default_factory=dict)
    wins: frozenset[str] = frozenset()
    slips: dict[str, str] = field(default_factory=dict)
    acts: dict[str, int] = field(default_factory=dict)
    misplaced: int = 0
    proposals: dict[str, int] = field(default_factory=dict)
    approved: dict[str, str] = field(default_factory=dict)

    @property
    def last_entry(self) -> int:
        """The number of the last ledger entry."""
        return int(self.meters.get("entries", "0"))


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """The result of a decision, in cents."""

    state: str
    amount_cents: int
    meter_after_cents: int
    entry: int
