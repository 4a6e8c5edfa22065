"""Search of wins: the latest wins of a meter, or all wins that meet conditions (duty D16)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from bonus.display import money
from meters.acts.act_refusals import ActError, RunningLink
from meters.acts.claim_types import ClaimRow, WinPage, WinSearch
from meters.acts.claim_views import ClaimRows
from meters.floor.floor_file import Floor

_PAGE: Final = 100
_CLOCKS_SET: Final = timedelta(days=1)
LOOKED_AT_MAX: Final = 5_000
"""Largest number of wins that are read for one page of a search. The next page begins after
these wins."""


class History:
    def __init__(self, floor: Floor, links: Mapping[str, RunningLink], rows: ClaimRows) -> None:
        self._meters = {
            link.id: frozenset(meter.meter_id for meter in link.meter) for link in floor.link
        }
        self._links = links
        self._rows = rows

    async def page(self, search: WinSearch) -> WinPage:
        links = self._searched(search)
        wanted = _Wanted(search)
        cursor = _read_cursor(search.before)
        found: list[ClaimRow] = []
        looked_at = 0
        sources = [self._latest_first(link, search, cursor.get(link)) for link in links]
        async for row in _merged(sources):
            looked_at += 1
            cursor[row.link] = _place(row)
            if wanted.is_over(row):
                break
            if wanted.takes(row):
                found.append(row)
            if len(found) == search.limit or looked_at == LOOKED_AT_MAX:
                return WinPage(wins=tuple(found), next=_cursor(cursor))
        return WinPage(wins=tuple(found), next=None)

    def _searched(self, search: WinSearch) -> list[str]:
        if search.link is not None and search.link not in self._meters:
            raise ActError("unknown_link", f"there is no link {search.link}")
        links = [search.link] if search.link else list(self._meters)
        if search.meter is None:
            return links
        having = [link for link in links if search.meter in self._meters[link]]
        if not having:
            raise ActError("unknown_meter", f"there is no meter {search.meter}")
        return having

    async def _latest_first(
        self, link: str, search: WinSearch, cursor: "_Place | None"
    ) -> AsyncIterator[ClaimRow]:
        """Yield the wins of a link that come after the previous page, the latest first."""
        store = self._links[link].store
        meters = [search.meter] if search.meter else sorted(self._meters[link])
        before = None if cursor is None else 1 - cursor[0]
        while True:
            pages = [
                await store.wins(meter, before, _PAGE, meter_awards=search.meter_awards)
                for meter in meters
            ]
            # A meter with a full page can have more wins after this page.
            known_to = max((page[-1][0] for page in pages if len(page) == _PAGE), default=-1)
            wins = sorted((-order, claim) for page in pages for order, claim in page)
            wins = [win for win in wins if -win[0] > known_to]
            if cursor is not None:
                wins = [win for win in wins if win > cursor]
            for row in self._rows.rows(await store.claims([claim for _, claim in wins])):
                yield row
            if known_to < 0:
                return
            before = known_to + 1


class _Wanted:
    def __init__(self, search: WinSearch) -> None:
        self._search = search
        self._words = (search.words or "").casefold().split()
        self._since = _parse_moment(search.since, "since")
        self._until = _parse_moment(search.until, "until")

    def is_over(self, row: ClaimRow) -> bool:
        """Check if all further wins are before `since`, even if a clock was wrong by a day."""
        return self._since is not None and _moment(row.at) + _CLOCKS_SET < self._since

    def takes(self, row: ClaimRow) -> bool:
        search, at = self._search, _moment(row.at)
        if self._since is not None and at < self._since:
            return False
        if self._until is not None and at >= self._until:
            return False
        if search.table is not None and row.table.casefold() != search.table.casefold():
            return False
        if search.state is not None and row.state != search.state:
            return False
        shown = (
            row.claim, row.table, row.asset, row.patron, row.item_name, row.hand_name,
            row.meter_name, row.slip, row.reason, row.decided_by, row.validated_by, row.paid_by,
            f"round {row.round}", f"position {row.position}", money(row.amount),
        )  # fmt: skip
        text = " ".join(filter(None, shown)).casefold()
        return all(word in text for word in self._words)


_Place = tuple[int, str]
"""The place of a win among the wins of its link, the latest first. The ledger determines the place:
times do not, because a clock can be set back."""


def _place(row: ClaimRow) -> _Place:
    return -int(row.order), row.claim


def _cursor(last_wins: Mapping[str, _Place]) -> str:
    return ",".join(f"{link}:{-win[0]}:{win[1]}" for link, win in last_wins.items())


def _read_cursor(text: str | None) -> dict[str, _Place]:
    if text is None:
        return {}
    try:
        parts = [part.split(":") for part in text.split(",")]
        return {link: (-int(order), claim) for link, order, claim in parts}
    except ValueError:
        raise ActError("bad_value", "this page is not valid: start the search again") from None


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _parse_moment(text: str | None, name: str) -> datetime | None:
    if text is None:
        return None
    try:
        moment = _moment(text)
    except ValueError:
        raise ActError(
            "bad_value", f"write `{name}` as a time such as 2026-11-20T02:14:07Z"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


async def _merged(sources: Sequence[AsyncIterator[ClaimRow]]) -> AsyncIterator[ClaimRow]:
    """Yield the wins of several links, the latest first. Wins of one link remain in their order."""
    heads: dict[int, ClaimRow] = {}
    for number, source in enumerate(sources):
        async for row in source:
            heads[number] = row
            break
    while heads:
        number = max(heads, key=lambda each: _moment(heads[each].at))
        yield heads.pop(number)
        async for row in sources[number]:
            heads[number] = row
            break
