from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from meters.archive.day_file import entry_of
from meters.archive.day_lines import EntryLine
from meters.books.correction_requests import merged
from meters.books.entry_messages import placed_in
from meters.books.expected_transfers import Added
from meters.books.stored_tables import REPLIES_KEPT
from meters.books.table_evidence import REPEATED_CLAIMS_MAX
from meters.restore.restored_tables import TableSnapshot
from meters.wire.messages import EnteredCards

_REPLIED: Final = ("seq", "event", "reply")
"""The fields of a ledger entry that are needed to store the reply to its event."""


class LastEvents:
    """The last events of each table, and the claims whose state the service reports again."""

    def __init__(self) -> None:
        self._replied: dict[str, deque[tuple[str, str, str]]] = {}
        self._last: dict[str, EntryLine] = {}
        self._open: dict[str, EntryLine] = {}
        self._known: dict[str, tuple[EnteredCards, ...]] = {}
        self._over: dict[str, str] = {}
        # A dictionary keeps the order, and finds a claim faster than a list.
        self._repeated: dict[str, dict[str, None]] = {}

    @property
    def open_rounds(self) -> Mapping[str, bytes]:
        return {table: line.event.encode() for table, line in self._open.items()}

    @property
    def repeated_claims(self) -> Iterable[Iterable[str]]:
        return self._repeated.values()

    def has_open_round(self, table: str) -> bool:
        return table in self._open

    def add(self, line: EntryLine) -> None:
        table = line.table
        replied = self._replied.get(table)
        if replied is None:
            replied = self._replied[table] = deque(maxlen=REPLIES_KEPT)
        replied.append((line.seq, line.event, line.reply))
        self._last[table] = line
        self._known.pop(table, None)
        if line.kind == "wagers" or (
            line.kind == "correct_wager" and placed_in(line.event.encode()).positions
        ):
            self._open[table] = line
        else:
            self._open.pop(table, None)
            self._over[table] = line.round

    def know_entered(self, table: str, entered: Sequence[EnteredCards]) -> None:
        """Add the ledger entry of a decision. `entered` has the cards in the correction request."""
        self._known[table] = merged(self._known.get(table, ()), entered)

    def repeat_claims(self, table: str, claims: Sequence[str]) -> None:
        known = self._repeated.setdefault(table, {})
        for claim in claims:
            known.pop(claim, None)
            known[claim] = None
        while len(known) > REPEATED_CLAIMS_MAX:
            del known[next(iter(known))]

    def put(self, tables: TableSnapshot, rounds: Mapping[str, Sequence[Added]]) -> None:
        """Write the tables into a snapshot. `rounds` has what each open round contributed."""
        for table, line in self._last.items():
            *earlier, _ = self._replied[table]
            tables.keep_replies(table, [_fields(one) for one in earlier])
            if table in self._open:
                tables.note_over(table, self._over.get(table, ""))
                tables.open_round(table, entry_of(line)[1], rounds[table])
                tables.know_entered(table, self._known.get(table, ()))
            else:
                tables.end_round(table, entry_of(line)[1], ())
        for table, claims in self._repeated.items():
            tables.repeat_claims(table, [*claims])


def _fields(replied: Sequence[str]) -> Mapping[str, bytes]:
    return {name: text.encode() for name, text in zip(_REPLIED, replied, strict=True)}
