"""The data of a link at the close of an archived gaming day, without a replay of its ledger.

The archive files are verified completely: each entry, each digest, and the connection of each day
with the day before. So the balances at the close of the last day need no calculation: they are in
its file. The rest of the link's data is in few entries, such as the last events of each table and
the acts of people, and in the decided wins of each file.

A win that still waits at the close of the last day is in no file as a record. So the gaming days on
which it was opened, or on which somebody acted on it, are replayed entry by entry.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heappush, heappushpop
from typing import Final, NamedTuple

import msgspec

from bonus.rounds import WrittenPercent
from meters.archive import archiver
from meters.archive.day_file import DayFile, EntryLine, entry_of
from meters.floor.floor_file import Link
from meters.ledger.accounts import ENVY, transfers_in
from meters.ledger.checkpoint import Checkpoint
from meters.ledger.claim_evidence import CLAIM_ACTS, CORRECTION_FIELDS
from meters.ledger.entry_messages import ARCHIVED, DECIDED, RESTORING, placed_in
from meters.ledger.ledger_replay import Replay
from meters.ledger.link_evidence import LinkEvidence
from meters.ledger.link_rows import LatestEntries
from meters.ledger.slip_numbers import fold_slip, kept_for
from meters.ledger.table_corrections import ASK_ACTS, OF_TABLES
from meters.ledger.table_evidence import TableEvidence
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


class _Record(msgspec.Struct, frozen=True):
    """The fields of a claim's record that decide in which lists of wins Redis has the claim."""

    meter: str
    percent: WrittenPercent | None


class _DecidedWin(msgspec.Struct, frozen=True):
    entry: str
    record: str


class _Place(NamedTuple):
    """The place of a win among the wins of its meter: the order that Redis uses."""

    entry: int
    claim: str


_RECORD: Final = msgspec.json.Decoder(_Record)
_DECIDED: Final = msgspec.json.Decoder(_DecidedWin)
_FIELDS: Final = msgspec.json.Decoder(dict[str, str])
_FORGET_FROM: Final = 10_000
"""Number of decided wins from which the wins that Redis no longer has are looked for."""


class DecidedWins:
    """The decided wins that remain in Redis when their gaming days are no longer there.

    These are the latest wins of each meter, and the wins that the service reports to a table again.
    `pitlink archive` deletes all others.
    """

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}
        self._corrections: dict[str, Mapping[str, bytes]] = {}
        self._latest: dict[tuple[str, bool], list[_Place]] = {}
        self._forget_from = _FORGET_FROM

    def add(self, claim: str, fields: str) -> None:
        """Add a decided win. `fields` is JSON: the fields that Redis had.

        Raises:
            msgspec.DecodeError: the fields are not those of a claim.
        """
        decided = _DECIDED.decode(fields)
        record, place = _RECORD.decode(decided.record), _Place(int(decided.entry), claim)
        self._fields[claim] = fields
        for meter_awards in (False, True) if record.percent else (False,):
            latest = self._latest.setdefault((record.meter, meter_awards), [])
            if place in latest:
                continue
            if len(latest) < archiver.WINS_KEPT:
                heappush(latest, place)
            else:
                heappushpop(latest, place)

    def correct_slip(self, claim: str, entry: Mapping[str, bytes]) -> None:
        self._corrections[claim] = entry

    def forget(self, repeated: Iterable[Iterable[str]], *, now: bool = False) -> None:
        """Forget the wins that Redis no longer has, if there are many of them, or with `now`.

        `repeated` has for each table the claims whose state the service reports again.
        """
        if len(self._fields) < self._forget_from and not now:
            return
        remain = {place.claim for latest in self._latest.values() for place in latest}
        remain.update(*repeated)
        # The slip number of a win can be corrected days before its last Envy Bonus is paid.
        for claim in self._fields.keys() - remain:
            del self._fields[claim]
            self._corrections.pop(claim, None)
        self._forget_from = max(_FORGET_FROM, 2 * len(self._fields))

    def claims(self) -> dict[str, dict[str, str]]:
        """Return the fields of the wins that remain."""
        found = dict[str, dict[str, str]]()
        for claim, text in self._fields.items():
            fields = _FIELDS.decode(text)
            # The file can have a correction that was made before the file was written, but after
            # the close of the last gaming day.
            found[claim] = {
                name: value for name, value in fields.items() if name not in CORRECTION_FIELDS
            }
            if entry := self._corrections.get(claim):
                corrected = (entry[name].decode() for name in ("event", "by", "at"))
                found[claim] |= dict(zip(CORRECTION_FIELDS, corrected, strict=True))
        return found


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
        begun, acted = self._begun(opening), False
        for line in lines:
            try:
                acted |= self._take(*entry_of(line))
            except (*UNREADABLE, ValueError, KeyError) as error:
                raise RebuildError(f"entry {line.number} cannot be read: {error!r}") from None
            advance(line)
        try:
            for claim in file.claim_lines():
                self._decided.add(claim.claim, claim.fields)
        except (*UNREADABLE, ValueError) as error:
            raise RebuildError(f"{file.path}: a decided win cannot be read: {error}") from None
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
        evidence.begun.update(self._begun(self._closing))
        replay.tables, replay.link = self._tables, self._link
        return replay

    def _begun(self, at: Checkpoint) -> dict[str, tuple[bytes, tuple[str, ...]]]:
        """Return the wagers of each open round at a checkpoint, and the meters that they fed."""
        rounds = self._tables.rounds.items()
        return {
            table: (opened.event, tuple(one.meter for one in at.rounds.get(table, ())))
            for table, opened in rounds
        }

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
