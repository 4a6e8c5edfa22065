"""Rebuild of a link's Redis data in memory from the link's ledger, entry by entry (duty D11)."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from bonus.json_input import UNREADABLE
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Link
from meters.ledger.checkpoint import Checkpoint
from meters.ledger.entry_messages import ARCHIVED, Archived
from meters.ledger.ledger_replay import Replay
from meters.ledger.link_rows import EntryRows, LinkRows, link_rows
from meters.ledger.redis_layout import LinkKeys


class RebuildError(Exception):
    """A link's data cannot be rebuilt from the archive and the ledger. The text says why."""


class NotedDay(NamedTuple):
    """The number of a ledger entry that records an archived gaming day, and its event."""

    entry: int
    archived: Archived


class Rebuild:
    """A link's Redis data as the applied ledger entries describe it.

    `noted` has the entries that record archived gaming days, by the last entry of each day.
    """

    def __init__(self, link: Link, days: GamingDays, begin: Checkpoint) -> None:
        """Begin with the state of the link at the beginning of the archive."""
        self.noted: dict[int, NotedDay] = {}
        self._keys = LinkKeys(link.id)
        self._days = days
        self._single = EntryRows()
        self._day = date.min
        self.go_on_after(begin)

    def go_on_after(self, closing: Checkpoint) -> None:
        """Continue with the state at the close of a gaming day whose entries were passed.

        Raises:
            RebuildError: the state cannot be read.
        """
        try:
            self.replay = Replay.after(closing)
            if closing.closed_day:
                self._open_day(self.replay.link.standing.get("reading_at") or "")
        except (ValueError, TypeError, OverflowError) as error:
            raise RebuildError(
                f"nothing can be rebuilt after entry {closing.entries}: {error}"
            ) from None

    @property
    def open_day(self) -> date:
        """The gaming day that a service would open after the last meter reading or entry."""
        return self._day

    def pass_entry(self, number: int, fields: Mapping[str, bytes]) -> None:
        """Take from an entry what no checkpoint has. `go_on_after` provides the rest.

        Raises:
            RebuildError: the entry cannot be read.
        """
        try:
            self._single.add(number, fields)
            if fields["kind"] == b"archive":
                archived = ARCHIVED.decode(fields["event"])
                self.noted[archived.last] = NotedDay(number, archived)
        except (*UNREADABLE, ValueError, KeyError) as error:
            raise RebuildError(f"entry {number} cannot be read: {error!r}") from None

    def apply_entry(self, number: int, fields: Mapping[str, bytes]) -> None:
        """Apply the next ledger entry.

        Raises:
            RebuildError: the entry is wrong, or cannot be read.
        """
        replay = self.replay
        replay.apply_entry(number, fields)
        if problems := replay.problems:
            raise RebuildError("; ".join(problems[:3]))
        self.pass_entry(number, fields)
        if fields["kind"] == b"reading" or not replay.closed_day:
            self._open_day(fields["at"].decode())

    def rows(self) -> LinkRows:
        """Return all rows that Redis must hold, except the ledger entries.

        Raises:
            RebuildError: the state at the beginning of the archive lacks something.
        """
        try:
            return link_rows(self._keys, self.replay, self._single, self._day.isoformat())
        except (*UNREADABLE, ValueError, KeyError) as error:
            raise RebuildError(f"the state in the archive is wrong: {error!r}") from None

    def _open_day(self, at: str) -> None:
        day, closed = self._days.of(datetime.fromisoformat(at)), self.replay.closed_day
        if closed:
            day = max(day, date.fromisoformat(closed) + timedelta(days=1))
        self._day = day
