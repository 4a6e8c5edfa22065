"""The data of a link at the close of an archived gaming day, without a replay of its ledger.

The archive files are verified completely: each entry, each digest, and the connection of each day
with the day before. So the balances at the close of the last day need no calculation: they are in
its file. The rest of the link's data is in few entries, such as the last events of each table and
the acts of people, and in the decided wins of each file.

A win that still waits at the close of the last day is in no file as a record. So the gaming days on
which it was opened, or on which somebody acted on it, are replayed entry by entry.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from meters.archive.day_file import DayFile, entry_of
from meters.archive.day_lines import EntryLine
from meters.floor.floor_file import Link
from meters.ledger.accounts import ENVY
from meters.ledger.checkpoint import Checkpoint
from meters.ledger.claim_evidence import CLAIM_ACTS, DECIDED
from meters.ledger.correction_requests import ASK_ACTS
from meters.ledger.entered_cards import OF_TABLES
from meters.ledger.entry_messages import ARCHIVED, RESTORING, placed_in
from meters.ledger.expected_transfers import transfers_in
from meters.ledger.ledger_replay import Replay
from meters.ledger.link_evidence import LinkEvidence
from meters.ledger.link_rows import LatestEntries
from meters.ledger.slip_numbers import fold_slip, kept_for
from meters.ledger.table_evidence import TableEvidence
from meters.restore.decided_wins import DecidedWins
from meters.restore.rebuild import NotedDay, RebuildError, replay_after
from meters.wire.messages import UNREADABLE

_REPEATED: Final = frozenset({b"validate", b"reject", b"pay", b"reopen"})
"""The decisions on a claim after which the service reports its state to the table again."""

_WITH_SLIP: Final = frozenset({b"validate", b"reject", b"pay", b"correct_slip"})
"""The acts on a claim that can use the number of a payout slip."""


class _Claim(msgspec.Struct, frozen=True):
    claim: str


class _Opened(msgspec.Struct, frozen=True):
    claims: tuple[_Claim, ...] | None = None


_OPENED: Final = msgspec.json.Decoder(_Opened)


class SealedDays:
    """A link's data at the close of the last of some archived gaming days.

    `link` is in the floor file. `opening` are the balances and claims before the first of these
    days, `closing` those at the close of the last one. `noted` are the entries that record archived
    days, by the last entry of the day.
    """

    def __init__(self, link: Link, opening: Checkpoint, closing: Checkpoint) -> None:
        self.latest = LatestEntries()
        self.noted: dict[int, NotedDay] = {}
        self._floor_link = link
        self._closing = closing
        self._link: LinkEvidence = replay_after(link, opening).link
        self._tables = TableEvidence()
        self._slips: dict[str, str] = {}
        self._decided = DecidedWins()
        self._waiting: dict[str, dict[str, str]] = {}
        self._undecided: Final = frozenset(closing.waiting)
        self._results: Final = frozenset(
            claim.partition(".")[2].rpartition("-")[0] for claim in self._undecided
        )

    def read(
        self, file: DayFile, lines: Iterable[EntryLine], advance: Callable[[EntryLine], None]
    ) -> None:
        """Take from the file of the next gaming day what Redis still has later.

        `lines` are the entries of the file, which must be verified after the last line. `advance`
        is called with each entry.

        Raises:
            ArchiveError: the file was changed after it was written.
            RebuildError: an entry is wrong, or cannot be read.
        """
        opening = file.day.opening
        begun = {
            table: (opened.event, tuple(one.meter for one in opening.rounds[table]))
            for table, opened in self._tables.rounds.items()
        }
        acted = False
        for line in lines:
            try:
                acted |= self._take(*entry_of(line))
            except (*UNREADABLE, ValueError, KeyError) as error:
                raise RebuildError(f"entry {line.number} cannot be read: {error!r}") from None
            advance(line)
        for claim in file.claim_lines():
            self._decided.add(claim.claim, claim.fields)
        self._decided.forget(self._tables.repeated_claims.values())
        if acted:
            self._replay_day(file, opening, begun)

    def replay(self) -> Replay:
        """Return a replay at the close of the last day, with the evidence of all its entries."""
        replay = Replay.after(self._closing)
        self._decided.forget(self._tables.repeated_claims.values(), now=True)
        evidence = replay.evidence
        for table in self._floor_link.table:
            evidence.assets.setdefault(table.id, [table.asset])
        evidence.resume(self._decided.claims() | self._waiting)
        evidence.slips.update(self._slips)
        evidence.begun.update(
            (table, (opened.event, tuple(one.meter for one in self._closing.rounds[table])))
            for table, opened in self._tables.rounds.items()
        )
        replay.tables, replay.link = self._tables, self._link
        return replay

    def _replay_day(
        self,
        file: DayFile,
        opening: Checkpoint,
        begun: Mapping[str, tuple[bytes, tuple[str, ...]]],
    ) -> None:
        """Replay a gaming day, and take the claims that wait at the end from the result."""
        replay = replay_after(self._floor_link, opening)
        replay.evidence.resume(self._waiting)
        replay.evidence.begun.update(begun)
        for number, fields in file.entries():
            replay.apply_entry(number, fields)
            if replay.problems:
                raise RebuildError(replay.problems[0])
        claims = replay.evidence.claims
        self._waiting = {claim: claims[claim] for claim in self._undecided if claim in claims}

    def _take(self, number: int, fields: Mapping[str, bytes]) -> bool:
        """Take an entry. Return True if it is about a win that still waits at the end."""
        kind, table = fields["kind"], fields["table"].decode()
        if kind in OF_TABLES:
            return self._take_event(number, table, kind, fields)
        if kind in ASK_ACTS:
            self._tables.decide(fields)
        elif kind in CLAIM_ACTS:
            return self._take_decision(table, kind, fields)
        else:
            self._link.add_entry(number, fields)
        if kind == b"archive":
            archived = ARCHIVED.decode(fields["event"])
            self.noted[archived.last] = NotedDay(number, archived)
        elif kind == b"restore":
            kept = RESTORING.decode(fields["event"]).kept
            self._slips |= {slip: kept_for(claim, number) for slip, claim in kept.items()}
        return False

    def _take_event(
        self, number: int, table: str, kind: bytes, fields: Mapping[str, bytes]
    ) -> bool:
        self.latest.add(number, fields)
        corrects = kind == b"correct_wager"
        if kind == b"wagers" or (corrects and placed_in(fields["event"]).positions):
            self._tables.open_round(table, number, fields)
            return False
        self._tables.end_round(table, fields)
        if kind != b"result":
            return False
        claims = [one.claim for one in _OPENED.decode(fields["reply"]).claims or ()]
        if ENVY.encode() in fields["transfers"]:
            claims = [*dict.fromkeys([*claims, *_owed_envy(fields["transfers"])])]
        if claims:
            self._tables.repeat_claims(table, claims)
        return f"{table}-{int(fields['seq'])}" in self._results

    def _take_decision(self, table: str, kind: bytes, fields: Mapping[str, bytes]) -> bool:
        decided = DECIDED.decode(fields["event"])
        if kind in _REPEATED:
            self._tables.repeat_claims(table, (decided.claim,))
        if decided.slip and kind in _WITH_SLIP:
            self._slips[fold_slip(decided.slip)] = decided.claim
        if kind == b"correct_slip":
            self._decided.correct_slip(decided.claim, fields)
        return decided.claim in self._undecided


def _owed_envy(transfers: bytes) -> Iterator[str]:
    """Yield the claims of the Envy Bonuses that a result owes, in their order."""
    for moved in transfers_in(transfers):
        if moved.target.startswith(ENVY):
            yield moved.target.removeprefix(ENVY)
