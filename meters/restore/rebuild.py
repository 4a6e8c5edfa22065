"""Rebuild of a link's Redis data in memory from the link's ledger, entry by entry (duty D11)."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

from meters.floor.facility import GamingDays
from meters.floor.floor_file import Link
from meters.ledger.checkpoint import EMPTY, Checkpoint
from meters.ledger.entry_messages import VERSIONS_RAISED, Archived
from meters.ledger.ledger_replay import Replay
from meters.ledger.link_rows import LatestEntries, LinkRows, link_rows
from meters.ledger.redis_layout import LinkKeys
from meters.ledger.table_corrections import OF_TABLES
from meters.wire.messages import UNREADABLE

_RESTORED_MOST: Final = 1_000
"""The assumed largest number of earlier restores of a link. Each raised the version numbers of the
link's meters, so the rebuilt ones begin at the sum of all these raises."""


class RebuildError(Exception):
    """A rebuild that failed. The text has the problems of the ledger."""


class NotedDay(NamedTuple):
    """The number of the ledger entry that records an archived gaming day, and its event."""

    entry: int
    archived: Archived


class Rebuild:
    """A link's Redis data that results from the ledger entries that were applied so far.

    `noted` are the entries that record archived gaming days, by the last entry of the day. A
    rebuild can continue from a `replay` that has the evidence of all earlier entries, and the
    `latest` of them.
    """

    def __init__(
        self,
        link: Link,
        days: GamingDays,
        replay: Replay | None = None,
        latest: LatestEntries | None = None,
    ) -> None:
        replay = replay or replay_after(link)
        self.noted: dict[int, NotedDay] = {}
        self._keys = LinkKeys(link.id)
        self._days = days
        self._replay = replay
        self._latest = latest or LatestEntries()
        self._day = date.min
        if reading_at := replay.link.standing.get("reading_at"):
            self._open_day(reading_at)
        elif replay.closed_day:
            self._day = date.fromisoformat(replay.closed_day) + timedelta(days=1)

    @property
    def entries(self) -> int:
        return self._replay.entries

    @property
    def chain(self) -> str:
        return self._replay.chain

    @property
    def checkpoint(self) -> Checkpoint:
        return self._replay.checkpoint

    @property
    def open_day(self) -> date:
        """The gaming day that the service would open after the last reading, or entry."""
        return self._day

    def apply_entry(self, number: int, fields: Mapping[str, bytes]) -> None:
        """Apply the next ledger entry.

        Raises:
            RebuildError: the entry is wrong, or cannot be read.
        """
        replay = self._replay
        replay.apply_entry(number, fields)
        if problems := replay.problems:
            raise RebuildError("; ".join(problems[:3]))
        kind = fields["kind"]
        try:
            if kind in OF_TABLES:
                self._latest.add(number, fields)
        except (*UNREADABLE, ValueError) as error:
            raise RebuildError(f"entry {number} cannot be read: {error!r}") from None
        if kind == b"archive":
            archived = replay.archived[-1]
            self.noted[archived.last] = NotedDay(number, archived)
        if kind == b"reading" or not replay.closed_day:
            self._open_day(fields["at"].decode())

    def rows(self) -> LinkRows:
        """Return all rows that Redis must hold, except the ledger entries.

        Raises:
            RebuildError: a claim is undecided, but no ledger entry contains it; or an approved
                floor file cannot be read.
        """
        replay = self._replay
        if unknown := sorted(replay.books.waiting - replay.evidence.claims.keys()):
            raise RebuildError(f"win {unknown[0]} waits, and its entry is not in the archive")
        try:
            return link_rows(self._keys, replay, self._latest, self._day.isoformat())
        except (*UNREADABLE, ValueError) as error:
            raise RebuildError(f"an approved floor file cannot be read: {error}") from None

    def _open_day(self, at: str) -> None:
        day, closed = self._days.of(datetime.fromisoformat(at)), self._replay.closed_day
        if closed:
            day = max(day, date.fromisoformat(closed) + timedelta(days=1))
        self._day = day


def replay_after(link: Link, checkpoint: Checkpoint = EMPTY) -> Replay:
    """Make a replay that begins before the first entry of an archive, after `checkpoint`.

    If earlier gaming days of the archive were deleted, the rows of that moment are derived from the
    balances and undecided claims. The rest is lost, but years old: replies, payout slips, decided
    wins and proposals, dealt cards, the last outage, and each table's last round and repeated
    claims.

    For wins that are older than the first approval of a floor file, the asset numbers of the tables
    of `link`, from the floor file, are used.
    """
    replay = Replay.after(checkpoint)
    for table in link.table:
        replay.evidence.assets.setdefault(table.id, [table.asset])
    if not checkpoint.entries:
        return replay
    state, last = replay.link, str(checkpoint.entries)
    state.versions_raised = _RESTORED_MOST * VERSIONS_RAISED
    state.standing |= {"reading": last, "archived": last}
    if checkpoint.closed:
        next_day = date.fromisoformat(checkpoint.closed_day) + timedelta(days=1)
        state.standing |= {"closed": f"before {next_day}", "closed_by": ""}
    if state.approved:
        state.approved["at"] = ""
    return replay
