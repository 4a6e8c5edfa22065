"""What a ledger says of each table: the last event that it counted, and the round that is open."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

OF_TABLES: Final = frozenset({b"wagers", b"result", b"void"})
"""The kinds of entries that are tables' events; all others are acts."""


@dataclass(frozen=True, slots=True)
class OpenedRound:
    """The wagers of a table's open round: their number, their event and the reply to them."""

    seq: int
    round: str
    event: bytes
    reply: bytes


@dataclass
class TableEvidence:
    """What the entries so far say of tables.

    Attributes:
        last: the number of the last event that was counted, by table.
        rounds: the open rounds, by table; only of those whose wagers were replayed.
    """

    last: dict[str, int] = field(default_factory=dict)
    rounds: dict[str, OpenedRound] = field(default_factory=dict)

    def take(self, fields: Mapping[str, bytes]) -> str | None:
        """Take an entry that was replayed; what is wrong with the number of its event, in words.

        Raises:
            ValueError: it has no number.
        """
        kind = fields["kind"]
        if kind not in OF_TABLES:
            return None
        table, seq = fields["table"].decode(), int(fields["seq"])
        if kind == b"wagers":
            opened = OpenedRound(seq, fields["round"].decode(), fields["event"], fields["reply"])
            self.rounds[table] = opened
        else:
            self.rounds.pop(table, None)
        before = self.last.get(table, 0)
        self.last[table] = max(seq, before)
        if seq > before:
            return None
        return f"event {seq} of table {table} follows its event {before}: it was counted again"
