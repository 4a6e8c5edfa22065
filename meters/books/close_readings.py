"""Readings of a link's meters at the close of each gaming day (duty D19)."""

import time
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Final

import msgspec
import structlog

from meters.books.link_state import OpenDay
from meters.books.script_loader import load_script
from meters.books.store import TERMS_CHANGED, LinkStore, TermsError, texts
from meters.floor.facility import GamingDays
from meters.process.logs import ThrottledLog
from meters.wire.clock import now, now_text

log = structlog.get_logger()


class CloseReading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The meters' reading at a day's close: accounts in micros, accounting meters by name."""

    day: date
    accounts: dict[str, int]
    tallies: dict[str, int]


READING: Final = msgspec.json.Decoder(CloseReading)


class CloseReadings:
    def __init__(
        self, store: LinkStore, days: GamingDays, by: str, clock: Callable[[], datetime] = now
    ) -> None:
        self._store = store
        self._days = days
        self._by = by
        self._clock = clock
        self._off = ThrottledLog()
        self._script = store.redis.register_script(load_script("read_meters"))

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
        match texts(
            await self._script(
                keys=list(self._store.fixed_keys),
                args=[
                    now_text(),
                    self._store.terms.digest,
                    self._by,
                    day.open,
                    due,
                    int(time.time()),
                ],
            )
        ):
            case ["terms"]:
                raise TermsError(TERMS_CHANGED)
            case ["clock", off_s] if (more := self._off.due("")) is not None:
                log.warning(
                    "clock differs",
                    link=self._store.link.id,
                    off_s=int(off_s),
                    kept_back=more,
                )
            case ["done", entry]:
                log.info(
                    "gaming day closed", link=self._store.link.id, day=day.open, entry=int(entry)
                )

    def _due(self, day: OpenDay) -> str:
        today = self._days.of(self._clock())
        if day.closed:
            today = max(today, date.fromisoformat(day.closed) + timedelta(days=1))
        return today.isoformat()
