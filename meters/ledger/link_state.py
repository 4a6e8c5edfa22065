from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

Act = Literal["validate", "reject", "pay"]
"""A floorperson's decision on a claim."""

ClaimRequest = Literal["request_reject", "request_reopen", "withdraw_request"]
"""A request about a claim, which a second person must confirm; or the withdrawal of a request."""

ClaimChange = Literal["reopen", "correct_slip"]
"""A change of a claim that was finally decided."""

EnvyAct = Literal["pay_envy", "reject_envy"]
"""A floorperson's decision on the Envy Bonuses that are owed under a claim."""


@dataclass(frozen=True, slots=True)
class TableRecord:
    """The state of a table in Redis.

    `basis` is the sequence number of the event with the open round's wagers. `fed` are the meters
    to which the round contributed, and `known` are the cards that the round's correction requests
    named. When the table sends a hello event, the service reports the state of `claims`.
    """

    last_seq: int
    open_round: str | None
    basis: int
    wagers: bytes
    draw: bytes
    fed: tuple[str, ...]
    claims: tuple[str, ...]
    known: str


@dataclass(frozen=True, slots=True)
class LedgerHead:
    """The number and the digest of a ledger's last entry. The number is 0 if there is no entry.

    Both values are from the Redis hash of meters. `in_ledger` is True if the ledger itself ends
    with this entry.
    """

    entry: int
    chain: str
    in_ledger: bool = True


@dataclass(frozen=True, slots=True)
class MeterBalances:
    """The meter balances in micros after the ledger entry `entry`, which has the digest `chain`."""

    entry: int
    chain: str
    micros: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class OpenDay:
    """The open and the last closed gaming day, as dates. Without such a day, the text is empty."""

    open: str
    closed: str


@dataclass(frozen=True, slots=True)
class MeterState:
    """A meter in Redis. `pending` is true if a win of a percentage waits for a floorperson."""

    meter: str
    amount_cents: int
    version: int
    cycle: int
    pending: bool


@dataclass(frozen=True, slots=True)
class Closure:
    reason: str
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class LinkState:
    """The state of a link at one moment.

    `meters` are in the order of the floor file. `closure` is None while the link is open.
    `rounds_open` counts the rounds that have wagers and no result or void yet. `floor_changes`
    rises with each change that the floor page shows, such as a new win.
    """

    meters: tuple[MeterState, ...]
    closure: Closure | None
    rounds_open: int
    floor_changes: int
    head: LedgerHead
    day: OpenDay


@dataclass(frozen=True, slots=True)
class IndexPart:
    """The part of a link's indexes that an audit compares: new entries, and some older entries.

    The indexes of a large floor have millions of members, and an audit that runs every minute must
    not read all members. The part has the members for all ledger entries after `new_after`, and for
    the entries after `old_after` up to and including `old_to`. `meters` are the meters whose wins
    are read.
    """

    new_after: int
    old_after: int
    old_to: int
    meters: tuple[str, ...]

    def has(self, entry: int) -> bool:
        return entry > self.new_after or self.old_after < entry <= self.old_to


class IndexCounts(NamedTuple):
    """Numbers of members of the indexes: undecided claims, wins, acts and payout slips."""

    waiting: int = 0
    wins: int = 0
    acts: int = 0
    slips: int = 0


_NO_MEMBERS: Final = IndexCounts()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A link's account balances in micros, its accounting meters and its indexes, at one moment.

    The fields from `waiting` on are empty if the indexes were not read. `waiting` are undecided
    claims and `proposals` are undecided proposals, each with the number of its ledger entry. `acts`
    has the entries that are acts, with their places. `slips` is the Redis hash of payout slips.
    `misplaced` is the count of wins at a wrong place in the index of wins. `approved` has the
    fields of the last approved configuration.

    If only a part of the indexes was read, `part` is this part. Then `waiting`, `wins` and `acts`
    have only members of this part, and `slips` is empty. `counts` are the numbers of all members.
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
    part: IndexPart | None = None
    counts: IndexCounts = _NO_MEMBERS

    @property
    def last_entry(self) -> int:
        return int(self.meters.get("entries", "0"))

    @property
    def is_opened(self) -> bool:
        """True if the link was ever opened: it has accounts, or terms of a meter."""
        return bool(self.accounts) or any(name.startswith("terms") for name in self.meters)


@dataclass(frozen=True, slots=True)
class DecisionResult:
    state: str
    amount_cents: int
    meter_after_cents: int
    entry: int
