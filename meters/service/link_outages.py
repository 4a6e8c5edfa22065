"""Outages of a link: reason and start, kept in a file until the ledger has them (duty D17).

While a link is inoperable, its data in Redis is possibly missing or altered, so nothing is written
there. A file in the data directory keeps the outage, even if the service is killed. When the link
operates again, the outage becomes one ledger entry. A link that fails and recovers repeatedly adds
at most one such entry a minute, with the number of failures since the previous entry.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import msgspec
import structlog

from bonus.json_input import UNREADABLE
from meters.ledger.entry_messages import OUTAGE, Outage
from meters.process.clock import now_text
from meters.process.private_files import replace_private_file

log = structlog.get_logger()

NOTED_EVERY_S: Final = 60.0
REASONS_MAX: Final = 3
REASON_LENGTH_MAX: Final = 300


class Outages:
    def __init__(self, path: Path, note: Callable[[Outage], Awaitable[None]]) -> None:
        self._path = path
        self._note = note
        self._not_before_s = 0.0
        self._waiting = self._read()

    def begin(self, reason: str, *, again: bool) -> None:
        """Record in the file that the link does not operate.

        `again` is true if the link operated until now.
        """
        reason, had = reason[:REASON_LENGTH_MAX], self._waiting
        if had is None:
            self._keep(Outage(secrets.token_hex(8), now_text(), (reason,)))
            return
        reasons = had.reasons
        if reason not in reasons and len(reasons) < REASONS_MAX:
            reasons = (*reasons, reason)
        times = had.times + int(again)
        if (reasons, times) != (had.reasons, had.times):
            self._keep(msgspec.structs.replace(had, reasons=reasons, times=times))

    async def note(self) -> None:
        """Write the outage to the link's ledger, unless an outage was written in the last minute.

        Call this only when the link operates again. If writing fails, the outage stays in the file.
        """
        now_s = asyncio.get_running_loop().time()
        if self._waiting is None or now_s < self._not_before_s:
            return
        await self._note(self._waiting)
        self._waiting = None
        self._not_before_s = now_s + NOTED_EVERY_S
        self._try(lambda: self._path.unlink(missing_ok=True))

    def _keep(self, outage: Outage) -> None:
        self._waiting = outage
        self._try(lambda: replace_private_file(self._path, [msgspec.json.encode(outage)]))

    def _try(self, act: Callable[[], None]) -> None:
        """Run a file operation. A failure is only logged, because the outage is also in memory."""
        try:
            act()
        except OSError as error:
            log.warning("outage not kept", file=str(self._path), reason=str(error))

    def _read(self) -> Outage | None:
        try:
            return OUTAGE.decode(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, *UNREADABLE) as error:
            log.warning("outage not read", file=str(self._path), reason=str(error))
            return None
