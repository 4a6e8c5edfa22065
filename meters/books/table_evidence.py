"""What a ledger says of each table: the last event that it counted, and the round that is open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from meters.books.asks import (
    ASK_ACTS,
    ASK_DECISION,
    CONFIRMS,
    confirmed_by,
    correction_in,
)
from meters.books.entered import OF_TABLES


@dataclass(frozen=True, slots=True)
class OpenedRound:
    """The wagers of a table's open round: their number, their event and the reply to them."""

    seq: int
    round: str
    event: bytes
    reply: bytes


@dataclass(frozen=True, slots=True)
class DecidedAsk:
    """What somebody decided about a correction that a table asked for."""

    state: str
    round: str
    digest: str
    by: str


@dataclass
class TableEvidence:
    """What the entries so far say of tables.

    Attributes:
        last: the number of the last event that was counted, by table.
        rounds: the open rounds, by table; only of those whose wagers were replayed.
        decided: what was decided last about a correction of the open round, by table.
    """

    last: dict[str, int] = field(default_factory=dict)
    rounds: dict[str, OpenedRound] = field(default_factory=dict)
    decided: dict[str, DecidedAsk] = field(default_factory=dict)

    def take(self, fields: Mapping[str, bytes]) -> Sequence[str]:
        """Take an entry that was replayed; what is wrong with it as an event, in words.

        Raises:
            ValueError: it has no number.
            msgspec.DecodeError: it cannot be read.
        """
        kind = fields["kind"]
        if kind not in OF_TABLES:
            self._take_decision(fields)
            return ()
        table, seq = fields["table"].decode(), int(fields["seq"])
        faults = self._unconfirmed(table, fields)
        self.decided.pop(table, None)
        if kind == b"wagers":
            opened = OpenedRound(seq, fields["round"].decode(), fields["event"], fields["reply"])
            self.rounds[table] = opened
        else:
            self.rounds.pop(table, None)
        before = self.last.get(table, 0)
        self.last[table] = max(seq, before)
        if seq <= before:
            told = f"event {seq} of table {table} follows its event {before}"
            faults.append(f"{told}: it was counted again")
        return faults

    def _take_decision(self, fields: Mapping[str, bytes]) -> None:
        if fields["kind"] not in ASK_ACTS:
            return
        decision = ASK_DECISION.decode(fields["event"])
        state = "confirmed" if fields["kind"] == CONFIRMS else "refused"
        self.decided[fields["table"].decode()] = DecidedAsk(
            state, decision.round, decision.digest, fields["by"].decode()
        )

    def _unconfirmed(self, table: str, fields: Mapping[str, bytes]) -> list[str]:
        """Where an entry says that somebody confirmed it, and none before it says so."""
        who = confirmed_by(fields["by"].decode())
        # Of a round that began before the first entry that was replayed, that one is not known.
        if not who or table not in self.rounds:
            return []
        correction = correction_in(fields["event"])
        digest = correction.digest if correction else ""
        due = DecidedAsk("confirmed", fields["round"].decode(), digest, who)
        if self.decided.get(table) == due:
            return []
        return [f"it says that {who} confirmed it, and no entry of this round does"]
