from dataclasses import dataclass
from datetime import datetime
from typing import Final

from meters.selfcheck.check_result import Check

WIN_WAITS_S: Final = 900
"""Seconds for which a win can wait without a warning, as for the alert PitlinkClaimWaits."""


@dataclass(frozen=True, slots=True)
class LinkStatus:
    """The state of a link, as the floor page shows it.

    Attributes:
        state: ``Open``, ``Closed``, ``Inoperable`` or ``Unknown``.
        reason: why the link is closed or inoperable, in the words of the floor page.
        tables: the count of tables in the floor file.
        offline: the tables whose agents are not connected; None if no service answers.
        wins: the count of wins that wait for a floorperson; None if Redis cannot be read.
        oldest_s: the age of the oldest of these wins; 0 if there is none.
        requests: the count of correction requests that wait for a floorperson.
        meters: the title and the amount in cents of each meter; empty if Redis cannot be read.
    """

    link: str
    state: str
    reason: str
    tables: int
    offline: tuple[str, ...] | None
    wins: int | None
    oldest_s: float
    requests: int
    meters: tuple[tuple[str, int], ...]

    @property
    def check(self) -> Check:
        """The link as the result of a check: it fails if tables can accept no wagers."""
        works = self.state in {"Open", "Closed"}
        waits = self.oldest_s > WIN_WAITS_S or bool(self.offline)
        return Check(self.link, holds=works and not waits, seen=self.reason, warns=works)


@dataclass(frozen=True, slots=True)
class FloorStatus:
    """The state of a floor at one moment, in UTC; the links are in the order of the floor file."""

    facility: str
    timezone: str
    at: datetime
    links: tuple[LinkStatus, ...]
    checks: tuple[Check, ...]

    @property
    def problems(self) -> int:
        """The count of links and checks that need a person."""
        every = [*(link.check for link in self.links), *self.checks]
        return sum(not check.holds for check in every)


def age_text(seconds: float) -> str:
    """Return an age as text, in its largest unit.

    >>> age_text(9.4), age_text(840), age_text(7_300), age_text(260_000)
    ('9 s', '14 min', '2 h', '3 days')
    """
    if seconds < 60:
        return f"{max(0.0, seconds):.0f} s"
    if seconds < 3_600:
        return f"{seconds // 60:.0f} min"
    if seconds < 48 * 3_600:
        return f"{seconds // 3_600:.0f} h"
    return f"{seconds // 86_400:.0f} days"
