"""The data of a link at the close of an archived gaming day, without a replay of its ledger.

The archive files are verified completely: each entry, each digest, and the connection of each day
with the day before. So the balances at the close of the last day need no calculation: they are in
its file. The rest of the link's data is in few entries, such as the last events of each table and
the acts of people, and in the decided wins of each file.

A win that still waits at the close of the last day is in no file as a record. So the gaming days on
which it was opened, or on which somebody acted on it, are rebuilt entry by entry.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from meters.archive.day_file import DayFile, entry_of
from meters.archive.day_lines import EntryLine
from meters.books.accounts import ENVY
from meters.books.checkpoint import Checkpoint
from meters.books.claim_evidence import CLAIM_ACTS, DECIDED
from meters.books.correction_requests import ASK_DECISION
from meters.books.dealt_cards import dealt_digest
from meters.books.expected_transfers import transfers_in
from meters.books.slip_numbers import fold_slip
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Link
from meters.redis_client.link_keys import LinkKeys
from meters.restore.openings import opening_rows
from meters.restore.rebuild import Rebuild, RebuildError
from meters.restore.restored_link import LinkSnapshot, NotedDay, seeded
from meters.restore.restored_tables import TableSnapshot
from meters.restore.sealed_tables import LastEvents
from meters.restore.sealed_wins import DecidedWins, UndecidedWins
from meters.restore.store_snapshot import Row, StoreSnapshot
from meters.wire.messages import UNREADABLE, Result

_CLAIM_ACTS: Final = frozenset(kind.decode() for kind in CLAIM_ACTS)
_REPEATED: Final = frozenset({"validate", "reject", "pay", "reopen"})
"""The decisions on a claim after which the service reports its state to the table again."""

_WITH_SLIP: Final = frozenset({"validate", "reject", "pay", "correct_slip"})
"""The acts on a claim that can use the number of a payout slip."""


class _Claim(msgspec.Struct, frozen=True):
    claim: str


class _Opened(msgspec.Struct, frozen=True):
    claims: tuple[_Claim, ...] | None = None


_RESULT: Final = msgspec.json.Decoder(Result)
_OPENED: Final = msgspec.json.Decoder(_Opened)


class SealedDays:
    """A link's Redis data at the close of the last of some archived gaming days.

    `link` is in the floor file. `opening` are the balances and claims before the first of these
    days, `closing` those at the close of the last one.
    """

    def __init__(
        self, link: Link, days: GamingDays, opening: Checkpoint, closing: Checkpoint
    ) -> None:
        self._floor_link, self._days = link, days
        self._opening, self._closing = opening, closing
        self._keys: Final = LinkKeys(link.id)
        self._snapshot = StoreSnapshot(self._keys, opening_rows(self._keys, opening))
        self._link = LinkSnapshot(self._keys, self._snapshot, days)
        self._tables = LastEvents()
        self._decided = DecidedWins()
        self._waiting = UndecidedWins(self._keys, closing)
        self._meters = dict.fromkeys(opening.terms)

    @property
    def noted(self) -> Mapping[int, NotedDay]:
        return self._link.noted

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
        before, acted = [*self._rows_before()], False
        for line in lines:
            try:
                acted |= self._take(line)
            except (*UNREADABLE, ValueError, KeyError) as error:
                raise RebuildError(f"entry {line.number} cannot be read: {error!r}") from None
            advance(line)
        self._link.open_day(file.head.last, line.at.encode(), file.head.day.isoformat())
        for claim in file.claim_lines():
            self._decided.add(claim.claim, claim.fields)
        self._decided.forget(self._tables.repeated_claims)
        if acted:
            opening = file.day.opening
            rebuild = Rebuild(self._floor_link, self._days, opening, before)
            self._waiting.take_day(file, rebuild)

    def rows(self) -> Iterator[Row]:
        """Yield the Redis rows at the close of the last day, except balances and ledger."""
        image, keys, closing = self._snapshot, self._keys, self._closing
        for meter in closing.terms:
            # An entry raises the version number of a meter by 1 at most.
            rise = closing.entries - self._opening.entries
            image.add(keys.meters, f"version:{meter}", rise)
        tables = TableSnapshot(keys, image)
        self._tables.put(tables, closing.rounds)
        tables.put_holds(self._waiting.held)
        self._decided.forget(self._tables.repeated_claims, now=True)
        self._decided.put(image, keys)
        yield from image.rows()
        yield from self._waiting.rows()

    def _rows_before(self) -> Iterator[Row]:
        """Yield the rows that a rebuild of the next day needs to find the waiting wins."""
        keys, image = self._keys, StoreSnapshot(self._keys, self._waiting.rows())
        image.put(keys.approved, self._snapshot.at(keys.approved))
        image.put(keys.rounds, self._tables.open_rounds)
        TableSnapshot(keys, image).put_holds(self._waiting.held)
        return image.rows()

    def _take(self, line: EntryLine) -> bool:
        """Take an entry. Return True if it is about a win that still waits at the end."""
        match line.kind:
            case "wagers" | "void" | "correct_wager":
                self._tables.add(line)
            case "result":
                return self._take_result(line)
            case "confirm_correction" | "refuse_correction":
                self._tables.know_entered(line.table, ASK_DECISION.decode(line.event).entered)
                self._link.ring()
            case kind if kind in _CLAIM_ACTS:
                return self._take_decision(line)
            case kind:
                number, fields = entry_of(line)
                if kind == "seed":
                    self._meters[seeded(fields["transfers"])] = None
                self._link.apply_act(kind.encode(), number, fields, self._meters)
        return False

    def _take_result(self, line: EntryLine) -> bool:
        table = line.table
        self._link.note_dealt(dealt_digest(_RESULT.decode(line.event)), table, line.number)
        has_wagers = self._tables.has_open_round(table)
        self._tables.add(line)
        claims = [one.claim for one in _OPENED.decode(line.reply).claims or ()]
        if ENVY in line.transfers:
            claims = [*dict.fromkeys([*claims, *_owed_envy(line)])]
        if not claims:
            return False
        self._tables.repeat_claims(table, claims)
        if has_wagers:
            self._link.ring(len(claims))
        return f"{table}-{line.seq}" in self._waiting.results

    def _take_decision(self, line: EntryLine) -> bool:
        decided = DECIDED.decode(line.event)
        self._link.ring()
        if line.kind in _REPEATED:
            self._tables.repeat_claims(line.table, (decided.claim,))
        if decided.slip and line.kind in _WITH_SLIP:
            self._snapshot.put(self._keys.slips, {fold_slip(decided.slip): decided.claim})
        if line.kind == "correct_slip":
            self._decided.correct_slip(decided.claim, line)
        return decided.claim in self._waiting.claims


def _owed_envy(line: EntryLine) -> Iterator[str]:
    """Yield the claims of the Envy Bonuses that a result owes, in their order."""
    for moved in transfers_in(line.transfers.encode()):
        if moved.target.startswith(ENVY):
            yield moved.target.removeprefix(ENVY)
