"""Restore of a link's data from a copy of its ledger and its tables' outboxes (duty D11).

A restore can be interrupted at any point, and repeated. If the data in Redis is half-written, the
next restore writes all data from the start. If Redis already has an event of an outbox, the event
is not applied again. At the end, the restore sets the ledger mark. Until then, no service operates
the link.
"""

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from bonus.json_input import UNREADABLE
from meters.archive.day_file import ArchiveError
from meters.audit.link_audit import Finding, LinkAudit
from meters.floor.floor_file import Floor, Meter
from meters.ledger.approved_configuration import APPROVED_FLOOR, ApprovedTable, LinkConfiguration
from meters.ledger.entry_messages import RestoreEntry, SwitchRecord
from meters.ledger.link_rows import LinkRows
from meters.ledger.redis_layout import StoredTable, reply_fields
from meters.process.clock import now_text
from meters.restore.copy_reading import Advance, ArchivedLedger, CopyReader, LinkCopy
from meters.restore.findings import (
    StoreCondition,
    StoreFindings,
    TableFindings,
    TableFound,
    hold_against_copy,
    inspect_store,
    inspect_tables,
    missing_outboxes,
)
from meters.restore.outbox_replay import OutboxReplay, Replayed, in_order
from meters.restore.outboxes import Answered, OutboxCopy, RestoreError
from meters.restore.rebuild import RebuildError
from meters.restore.store_writing import StoreWriter
from meters.store.approval_book import ApprovalBook, ForgedError
from meters.store.ledger_mark import LedgerMark
from meters.store.link_acts import note_restore, switch_link
from meters.store.link_store import LinkStore
from meters.wire.messages import MoneyEvent, OpenedValue, WagerCorrection, Wagers

_APPROVE: Final = "approve it with `pitlink approve`, then run this command again"
_WITH_OLD: Final = (
    "put back the floor file that had the table there, and run `pitlink restore --link {link}`"
)
_REOPENED: Final = "wagers were accepted after the link had been closed"


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """The state of a link before a restore, and the work that the restore must do.

    `seen` is the number of the last ledger entry that the ledger mark names. `copied` is the number
    of the last entry in the copy of the ledger. If `writes` is true, the restore must write all
    data from this copy. `tables` has the comparison of each outbox with Redis, or with this
    copy. `kept` has the reserved slip numbers whose claims Redis has lost, each with its claim.
    """

    held: StoreFindings
    seen: int
    copied: int
    writes: bool
    tables: tuple[TableFound, ...]
    kept: Mapping[str, str]

    @property
    def again(self) -> int:
        """How many events from all outboxes the restore must apply."""
        return sum(one.again for one in self.tables)


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The result of a restore.

    `found` is the plan, with the state before the restore. `entries` does not count the ledger
    entry about the restore itself. `waiting` has the fields of the undecided claims. `finding` is
    the result of the last audit. `kept` has the slip numbers that stay reserved although no
    restored payment has them, each with its claim.
    """

    found: RestorePlan
    replayed: Replayed
    entries: int
    waiting: tuple[Mapping[str, str], ...]
    finding: Finding
    kept: Mapping[str, str]


class LinkRestore:
    """The restore of one link.

    The tables in `without` are restored even if some of their events are in no outbox. These events
    stay lost.
    """

    def __init__(
        self,
        floor: Floor,
        store: LinkStore,
        mark: LedgerMark,
        copy: ArchivedLedger | None,
        outboxes: Mapping[str, OutboxCopy],
        *,
        without: Collection[str] = (),
    ) -> None:
        self._floor = floor
        self._store = store
        self._mark = mark
        self._copy = copy
        self._outboxes = outboxes
        self._without = frozenset(without)
        self._read_copy: LinkCopy | None = None

    async def inspect(self, advance: Advance) -> RestorePlan:
        """Compare Redis, the copy of the ledger and the outboxes, without changing them.

        Raises:
            RestoreError: the data in Redis, the copy and the outboxes do not belong together.
        """
        store, mark = self._store, self._mark.seen
        held = await inspect_store(store, mark)
        copied = self._copy.last if self._copy else 0
        writes = held.standing is StoreCondition.HALF or copied > held.entries
        if held.standing is StoreCondition.HALF and not copied:
            raise RestoreError(
                f"{store.link.id}: a restore from an archive was interrupted while it wrote the"
                " data: use the same archive again"
            )
        if self._copy and copied:
            self._read_copy = await self._read(self._copy, held.entries, advance)
        if not writes and (problem := await store.schema_problem()):
            raise RestoreError(problem)
        read = self._read_copy
        if writes and read:
            before = _approved_tables(read.rows.at(store.keys.approved).get("text", b""))
            findings = {table: _stand(_stored(read.rows, table)) for table in self._tables(before)}
        else:
            text = cast("bytes | None", await store.redis.hget(store.keys.approved, "text"))
            before = _approved_tables(text)
            findings = await self._stands_held(self._tables(before))
        # A table of a game without progressive wagers sends nothing, and has no outbox.
        plays = {table.id for table in store.link.table if table.meters}
        plays |= {table for table, one in before.items() if one.meters}
        idle = {each for each in {*findings} - plays - {*self._outboxes} if not findings[each].last}
        tables = inspect_tables(
            {each: stand for each, stand in findings.items() if each not in idle}, self._outboxes
        )
        lost = (
            writes or held.interrupted or held.lost_some(mark) or any(one.again for one in tables)
        )
        known = self._known(tables, lost=lost)
        kept = {} if writes else await self._kept_of_lost_claims()
        return RestorePlan(held, mark.entries, copied, writes, known, kept)

    def _tables(self, before: Collection[str]) -> list[str]:
        """Return the tables of the link, and former tables.

        Former tables are those in `before` (in the approved floor file of the restored data), and
        those whose outboxes were found.
        """
        ids = [table.id for table in self._store.link.table]
        return [*ids, *sorted({*self._outboxes, *before} - {*ids})]

    def _known(self, tables: Collection[TableFound], *, lost: bool) -> tuple[TableFound, ...]:
        """Return the tables that the floor file has on the link.

        A table without an outbox lacks nothing, unless data is `lost`.

        Raises:
            RestoreError: Redis lacks events, or can lack events, of a table that the floor file
                does not have on the link. Without the table's game, nobody can apply the events.
        """
        link = self._store.link
        ids = {table.id for table in link.table}
        for one in tables:
            outbox = self._outboxes.get(one.table)
            if one.table in ids or not (one.again or (one.missing and (outbox or lost))):
                continue
            gone = "and the floor file no longer has this table on the link"
            with_old = _WITH_OLD.format(link=link.id)
            if outbox:
                raise RestoreError(
                    f"{link.id}: {outbox.path} has events of table {one.table} that the ledger"
                    f" lacks, {gone}: {with_old}"
                )
            raise RestoreError(
                f"{link.id}: the events of table {one.table} after {one.last} are in no outbox that"
                f" was found, {gone}: find the outbox. If it is lost, {with_old}, with `--without"
                f" {one.table}`"
            )
        return tuple(one for one in tables if one.table in ids)

    def is_due(self, found: RestorePlan) -> bool:
        held = found.held
        due = held.interrupted or held.lost_some(self._mark.seen)
        return due or found.writes or found.again > 0 or bool(found.kept)

    async def carry_out(
        self, found: RestorePlan, by: str, advance: Advance, *, confirmed: bool = False
    ) -> RestoreResult:
        """Restore the link as planned. `found` is the plan that `inspect` has just returned.

        `by` is the person who restores the link, for the ledger. `confirmed` is true if the person
        has confirmed their name with their PIN.

        Raises:
            RestoreError: an outbox is missing, the floor file is not the approved one, or the data
                in Redis has changed since the plan.
            RedisError, TermsError, MarkError: the restore stopped. What is done stays done, and the
                restore can be repeated.
        """
        store, seen = self._store, self._mark.seen
        # While a person reads the plan, others can restore the link, and tables can play.
        if await inspect_store(store, seen) != found.held:
            raise RestoreError(
                f"{store.link.id}: Redis has changed since this command looked: run the command"
                " again"
            )
        if missing := missing_outboxes(found.tables, self._without):
            raise RestoreError(f"{store.link.id}: {'; '.join(missing)}")
        await self.check_approved(found)
        writer = StoreWriter(store.redis, store.keys)
        await writer.begin(by, now_text())
        if found.writes and self._copy and self._read_copy:
            await self._write(writer, self._copy, self._read_copy, advance)
        # Only during a restore, `pitlink approve` accepts a ledger that has lost entries.
        await self._check_approved()
        self._tell_hidden_values()
        await store.open(by)
        replayed = await self._replay_outboxes(found, by, advance)
        entries = (await store.snapshot()).last_entry
        kept = await store.slip_register.unpaid_of(store.link.id)
        noted = found.held.restored_from == (seen.entries, seen.chain)
        if found.writes or found.again or kept or not noted:
            restoring = RestoreEntry(
                seen=seen.entries,
                chain=seen.chain,
                held=max(found.held.entries, found.copied if found.writes else 0),
                copied=found.writes,
                events=replayed.events,
                differing=tuple(f"{one.table} {one.seq}" for one in replayed.differing),
                without=tuple(sorted(self._without)),
                kept=kept,
                confirmed=confirmed,
            )
            await note_restore(store, restoring, by)
        finding = await LinkAudit(store).run(
            advance=lambda done, of: advance("comparing the data with the ledger", done, of),
            restoring=True,
        )
        await store.slip_register.reserve_paid(finding.unreserved)
        if finding.balanced:
            head = (await store.state()).head
            self._mark.reset(head.entry, head.chain, finding.seal)
            await writer.end()
        waiting = await store.claims(await store.waiting(1_000))
        return RestoreResult(found, replayed, entries, tuple(waiting), finding, kept)

    async def _read(self, copy: ArchivedLedger, held: int, advance: Advance) -> LinkCopy:
        common = min(copy.last, held)
        try:
            read = await CopyReader(self._floor, self._store.link, copy, common, advance).read()
        except (ArchiveError, RebuildError) as error:
            raise RestoreError(
                f"{self._store.link.id}: the archive has a problem: {error}. Nothing was done."
            ) from None
        await hold_against_copy(self._store, common, read.chain)
        return read

    async def _write(
        self, writer: StoreWriter, copy: ArchivedLedger, read: LinkCopy, advance: Advance
    ) -> None:
        rows, keys, after = read.rows, self._store.keys, 0
        if trimmed := read.trimmed:
            after = trimmed.closing.entries
            rows.put(keys.checkpoint, {"entries": after, "by": trimmed.by})
            rows.put(keys.checkpoint, {"text": trimmed.closing.text})
            rows.drop(keys.acts, [act for act in rows.at(keys.acts) if int(act) <= after])
        # Two restores from one archive would begin with the same version numbers, which must rise.
        # Microseconds rise faster than versions, and stay below 2^53 until the year 2255.
        least = time.time_ns() // 1_000
        meters = rows.at(keys.meters).items()
        versions = {name: int(text) for name, text in meters if name.startswith("version:")}
        rows.put(keys.meters, {name: max(version, least) for name, version in versions.items()})
        await writer.clear()
        async for number in writer.write_ledger(copy.entries(after), copy.last):
            advance("writing the data", number - after, copy.last - after)
        await writer.write_rows(rows)
        # If all of Redis was lost, the reservations of slip numbers were lost too.
        await self._store.slip_register.reserve_all_of(self._store.link.id)

    async def check_approved(self, found: RestorePlan) -> None:
        """Check that people have approved what the floor file says about the link.

        A restore approves nothing. If Redis has lost all data of a link, people must approve the
        link again. An approval in the archive does not count then, because the person who restores
        the link could have written the archive.

        If Redis still has data of the link, the last approval can be in the archive, or lost. So
        this approval is checked after the archive's data was written. If it is lost, people can
        then approve again, and the new ledger entries follow the archive's entries.

        Raises:
            RestoreError: the floor file is not approved.
        """
        if found.held.standing is StoreCondition.EMPTY:
            await self._check_approved()

    async def _check_approved(self) -> None:
        link, book = self._store.link, ApprovalBook(self._store)
        try:
            approved = await book.current()
        except ForgedError as error:
            raise RestoreError(f"{link.id}: {error}: {_APPROVE}") from None
        if approved is None:
            raise RestoreError(
                f"{link.id}: Redis has no approval of the link's settings in the floor file:"
                f" {_APPROVE}"
            )
        if approved.digest != LinkConfiguration.of(self._floor, link).digest:
            raise RestoreError(f"{link.id}: the floor file is not as approved: {_APPROVE}")

    async def _replay_outboxes(self, found: RestorePlan, by: str, advance: Advance) -> Replayed:
        again = [one for one in found.tables if one.again]
        if not again:
            return Replayed()
        events = in_order(self._outboxes[one.table].after(one.last) for one in again)
        await self._open_link(again, by)
        replay = OutboxReplay(self._floor, self._store)
        replay.needs(each for one in again for each in self._outboxes[one.table].after(one.last))
        return await replay.replay(
            events, lambda done: advance("applying events of outboxes again", done, found.again)
        )

    def _tell_hidden_values(self) -> None:
        """Tell the store what the outboxes say about the hidden values of must-hit-by meters.

        A meter whose first value is lost gets the same value again, if a wager has reached it.
        Every other value that is lost becomes one that no wager in the outboxes has reached.
        """
        first: dict[str, OpenedValue] = {}
        played_micros = Counter[str]()
        for table in self._store.link.table:
            fed = self._store.link.must_hit_by_of(table)
            outbox = self._outboxes.get(table.id) if fed else None
            for answered in outbox.after(0) if outbox else ():
                for drawn in answered.reply.drawn or ():
                    if drawn.cycle == 2 and drawn.opened:
                        first[drawn.meter] = drawn.opened
                if _is_accepted_wagers(answered):
                    for meter in fed:
                        played_micros[meter.meter_id] += _most_added(meter, answered.event)
        values = self._store.hidden_values
        values.first, values.played_micros = first, played_micros

    async def _open_link(self, again: Collection[TableFound], by: str) -> None:
        """Open a closed link if an outbox has wagers that were accepted after the link was closed.

        The wagers prove that a person opened the link, although the ledger entry of the opening is
        lost.
        """
        state = await self._store.state()
        if state.closure is None:
            return
        if any(
            _is_accepted_wagers(answered)
            for one in again
            for answered in self._outboxes[one.table].after(one.last)
        ):
            event = msgspec.json.encode(SwitchRecord("open", by, _REOPENED))
            await switch_link(self._store, "open", by, "", event)

    async def _kept_of_lost_claims(self) -> Mapping[str, str]:
        """Return the reserved slip numbers whose claims Redis has lost.

        The audit reports such a number until a restore records that it stays reserved.
        """
        store = self._store
        unpaid = await store.slip_register.unpaid_of(store.link.id)
        _, rows = await store.claims_at([*unpaid.values()])
        pairs = zip(unpaid.items(), rows, strict=True)
        return {slip: claim for (slip, claim), fields in pairs if not fields}

    async def _stands_held(self, tables: Sequence[str]) -> dict[str, TableFindings]:
        _, rows = await self._store.tables_at(tables, replies=True)
        try:
            return {table: _stand(row) for table, row in zip(tables, rows, strict=True)}
        except ValueError as error:
            raise RestoreError(
                f"{self._store.link.id}: the data of a table in Redis is damaged: {error}"
            ) from None


def _approved_tables(text: bytes | None) -> Mapping[str, ApprovedTable]:
    try:
        return APPROVED_FLOOR.decode((text or b"").decode()).tables
    except UNREADABLE:
        return {}


def _stored(rows: LinkRows, table: str) -> StoredTable:
    keys = rows.keys
    replies = rows.at(keys.replies)
    kept = [replies.get(field) for field in reply_fields(table)]
    return StoredTable(rows.at(keys.tables).get(table), kept=kept)


def _stand(stored: StoredTable) -> TableFindings:
    last = stored.state.last
    return TableFindings(last, stored.replies.get(last))


def _most_added(meter: Meter, event: MoneyEvent) -> int:
    """Return the most micros that an event's wagers can have added to a must-hit-by meter."""
    if isinstance(event, WagerCorrection):
        return event.amount * meter.terms.primary_bps if event.wager in meter.wagers else 0
    if not isinstance(event, Wagers):
        return 0
    cents = sum(one.wagers.get(wager, 0) for one in event.positions for wager in meter.wagers)
    return cents * meter.terms.primary_bps


def _is_accepted_wagers(answered: Answered) -> bool:
    event = answered.event
    adds = isinstance(event, Wagers) or (isinstance(event, WagerCorrection) and event.adds)
    return adds and answered.reply.status == "accepted"
