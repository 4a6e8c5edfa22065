"""Ledger entries that the service itself writes: readings, outages, restores (duties D17, D19)."""

import time
from collections.abc import Callable
from datetime import date, datetime, timedelta

import msgspec
import structlog

from meters.floor.facility import GamingDays
from meters.ledger.entry_messages import Outage, RestoreEntry
from meters.ledger.link_state import OpenDay
from meters.process.logs import ThrottledLog
from meters.store.link_store import LinkStore
from meters.wire.clock import now, now_text

log = structlog.get_logger()


class CloseReadings:
    def __init__(
        self, store: LinkStore, days: GamingDays, by: str, clock: Callable[[], datetime] = now
    ) -> None:
        self._store = store
        self._days = days
        self._by = by
        self._clock = clock
        self._off = ThrottledLog()

    async def keep(self, day: OpenDay) -> None:
        """Close the open gaming day if it is over.

        A gaming day that is opened is always later than all closed ones, even if the clock changes.
        If the clock was ahead and is corrected, the gaming days that were closed too early remain
        closed, and later entries belong to the open gaming day. If the service's clock differs from
        that of Redis by more than five minutes, no day is closed.

        Raises:
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
        """
        due = self._due(day)
        if due == day.open:
            return
        store = self._store
        match await store.call(
            "read_meters", store.terms.digest, self._by, day.open, due, int(time.time())
        ):
            case ["clock", off_s] if (more := self._off.due("")) is not None:
                log.warning(
                    "clock differs",
                    link=store.link.id,
                    off_s=int(off_s),
                    kept_back=more,
                )
            case ["done", entry]:
                log.info("gaming day closed", link=store.link.id, day=day.open, entry=int(entry))

    def _due(self, day: OpenDay) -> str:
        today = self._days.of(self._clock())
        if day.closed:
            today = max(today, date.fromisoformat(day.closed) + timedelta(days=1))
        return today.isoformat()


class OutageBook:
    def __init__(self, store: LinkStore, by: str) -> None:
        self._store = store
        self._by = by

    async def note(self, outage: Outage) -> None:
        """Write a ledger entry about an outage that is over.

        Write nothing if the last outage in the ledger has the same id.

        Raises:
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
        """
        event = msgspec.json.encode(msgspec.structs.replace(outage, until=now_text()))
        store = self._store
        await store.call("note_outage", store.terms.digest, self._by, outage.id, event)


async def note_restore(store: LinkStore, restoring: RestoreEntry, by: str) -> None:
    """Write the ledger entry of a restore.

    Raises:
        TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
    """
    event, raised = msgspec.json.encode(restoring), restoring.versions_raised
    await store.act("note_restore", by, event, raised, keys=[store.keys.slips])
