from datetime import UTC, datetime
from typing import Final

from meters.books.history import WinIndex
from meters.books.link_state import LinkState
from meters.books.store import LinkStore
from meters.claims.claims import LISTED_MAX
from meters.claims.win_messages import current_jackpot, is_reopened
from meters.service.announcer import Announcer
from meters.web.display_state import HIT_NEWS_S

LATEST_MAX: Final = 25
"""Number of latest wins of a meter that one read returns. In one second, a meter has far fewer
wins."""


class JackpotDisplay:
    """Display of the wins that other workers of the link have recorded (duty D8)."""

    def __init__(self, store: LinkStore, announcer: Announcer) -> None:
        self._store = store
        self._wins = WinIndex(store)
        self._announcer = announcer
        self._floor_changes = -1

    async def show_waiting(self) -> None:
        """Show all wins that already wait when this worker begins to operate the link.

        The displays do not celebrate them, because they are not new.
        """
        for fields in await self._store.claims(await self._store.waiting(LISTED_MAX)):
            hit = current_jackpot(fields) if fields else None
            if hit is not None and hit.event == "hit":
                self._announcer.show_hit(hit, news=False)

    async def refresh(self, state: LinkState) -> None:
        """Show wins and decisions that were recorded since the last call, a second ago."""
        if state.floor_changes == self._floor_changes:
            return
        shown = self._announcer.pending_jackpots()
        found = set(shown)
        for meter in state.meters:
            if meter.pending:
                page = await self._wins.page(meter.meter, None, LATEST_MAX, meter_awards=True)
                found.update(claim for _, claim in page)
        for fields in await self._store.claims(sorted(found)):
            hit = current_jackpot(fields) if fields else None
            if hit is None:
                continue
            if is_reopened(fields):
                self._announcer.show_reopened(hit)
            elif hit.event == "hit":
                self._announcer.show_hit(hit, news=_age_s(fields["at"]) < HIT_NEWS_S)
            elif hit.claim in shown:
                self._announcer.show_decision(hit)
        self._floor_changes = state.floor_changes


def _age_s(at: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
