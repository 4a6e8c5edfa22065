"""The present states of all tables, for the map of the floor."""

from collections.abc import Callable, Iterator
from typing import Final, Literal

from meters.acts.claim_types import FloorRow
from meters.floor.floor_file import Floor
from meters.process.clock import now
from meters.web.streams import ChangeSignal
from meters.wire.messages import TableStatus

TableState = Literal["betting", "locked", "dealing", "settling", "held", "locked_out", "offline"]

_STATES: Final[dict[str, TableState]] = {
    "open": "betting",
    "locked": "locked",
    "dealt": "dealing",
    "settling": "settling",
    "held": "held",
}
"""The states of MQTT messages. Every other state counts as ``locked_out``."""


class TableRow(FloorRow, frozen=True, kw_only=True):
    """A table on the map.

    Attributes:
        state: ``held`` if the table waits for a hand pay; ``locked_out`` if a fault stops its
            progressive wagers, for example if its agent and the service disagree about the open
            round; ``offline`` if its agent is not connected.
        since: the time of this state, by the clock of the table; null if it is not known.
        round: the table's last round with a progressive wager; null while it is not known.
        round_entry: the ledger entry that begins this round; 0 while it is not known.
    """

    link: str
    table: str
    asset: str
    game: str
    state: TableState
    since: str | None
    round: str | None
    round_entry: int


class FloorTables(FloorRow, frozen=True, kw_only=True):
    """The tables that changed after an earlier answer, or all tables if the request has no `since`.

    Attributes:
        count: the `since` of the next request.
        tables: the tables that changed.
        links: the state of each link. If a link is closed or inoperable, no table of the link
            accepts progressive wagers, whatever the table's own state is.
    """

    count: int
    tables: tuple[TableRow, ...]
    links: dict[str, Literal["operable", "inoperable", "closed"]]


class TableStates:
    """The last status of each table.

    `changed` signals a change of a table's connection or state.
    """

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self.changed = ChangeSignal()
        self._statuses: dict[tuple[str, str], tuple[int, TableStatus]] = {}
        # A later service begins with a higher count, so that no page takes its rows for old ones.
        self._began = self.count = int(now().timestamp() * 1000)

    def note(self, link: str, table: str, status: TableStatus) -> None:
        _, before = self._statuses.get((link, table), (0, None))
        if before is None or (before.online, before.state) != (status.online, status.state):
            self.count += 1
            self._statuses[link, table] = self.count, status
            self.changed.ring()

    def rows(
        self, since: int, last_round: Callable[[str, str], tuple[int, str]]
    ) -> Iterator[TableRow]:
        for link in self._floor.link:
            for table in link.table:
                changed, status = self._statuses.get((link.id, table.id), (self._began, None))
                if changed <= since:
                    continue
                state: TableState = "offline"
                if status is not None and status.online:
                    state = _STATES.get(status.state, "locked_out")
                entry, name = last_round(link.id, table.id)
                yield TableRow(
                    link=link.id,
                    table=table.id,
                    asset=table.asset,
                    game=table.game,
                    state=state,
                    since=status.at if status else None,
                    round=name or None,
                    round_entry=entry,
                )
