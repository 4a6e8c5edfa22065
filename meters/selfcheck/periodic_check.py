"""Self-check of a running service: before any link operates, and every hour after that."""

import asyncio
from typing import Final

import structlog

from meters.floor.floor_file import Floor
from meters.selfcheck.check_result import Check
from meters.selfcheck.floor_checks import date_checks, facility_checks
from meters.selfcheck.software import Software, read_software

log = structlog.get_logger()

SOFTWARE_EVERY_S: Final = 3_600.0

UNDER_WAY: Final = "the self-check is under way"


class SelfCheck:
    """The checks of the whole service. `pitlink check` makes the same checks.

    After one failure, every link is inoperable until the service is restarted, even if somebody
    restores an altered file of the software: nobody knows which contents of the file this process
    has loaded.
    """

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._problem: str | None = UNDER_WAY

    @property
    def problem(self) -> str | None:
        return self._problem

    async def run(self) -> None:
        """Check everything once, then the software and the games' dates every hour (D9, D10).

        Dates are logged only when a game has come to one of them.
        """
        started = await asyncio.to_thread(read_software)
        dates = date_checks(self._floor)
        checks = [started.check, *await asyncio.to_thread(facility_checks, self._floor)]
        self._settle(checks)
        while self._problem is None:
            await asyncio.sleep(SOFTWARE_EVERY_S)
            software = since(started, await asyncio.to_thread(read_software))
            before, dates = dates, date_checks(self._floor)
            self._settle([software, *(check for check in dates if check not in before)])
        await asyncio.Event().wait()

    def _settle(self, checks: list[Check]) -> None:
        for check in checks:
            if check.fails:
                log.error("self-check failed", what=check.what, seen=check.seen)
            elif check.holds:
                log.info("self-check holds", what=check.what, seen=check.seen)
            else:
                log.warning("self-check warns", what=check.what, seen=check.seen)
        failed = [f"{check.what}: {check.seen}" for check in checks if check.fails]
        self._problem = f"self-check failed: {'; '.join(failed)}" if failed else None


def since(started: Software, now: Software) -> Check:
    """Check that the installed software has not changed since this process started (D9)."""
    check = now.check
    if check.holds and now.digest != started.digest:
        seen = "another release was installed since the start: restart the service"
        return Check(check.what, holds=False, seen=seen)
    return check
