"""A link whose tables keep outboxes, as agents do, and whose store is lost and restored."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from redis.asyncio import Redis

from controllers.agent.outbox import Outbox
from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from meters.archive.day_file import DayFile
from meters.restore.copy_reading import ArchivedLedger
from meters.restore.findings import StoreCondition
from meters.restore.link_restore import LinkRestore, RestorePlan, RestoreResult
from meters.restore.outboxes import OutboxCopy, read_outboxes
from meters.store.floor_file_approval import Configuration
from meters.store.hidden_value_seal import HiddenValues
from meters.store.ledger_mark import LedgerMark
from meters.store.link_store import LinkStore
from meters.wire.messages import Reply, seq_of
from tests.approving import approve
from tests.model.pit import FLOOR, HIDDEN_VALUES, SERVICES_SECRET, Pit
from tests.restore.stores import Kept


class KeptPit(Pit):
    """Link that writes each event to its table's outbox before sending it, and the reply after.

    `home` has the outboxes, in ``tables``, and the marks; `clock` is what the tables' clocks show.
    """

    def __init__(
        self,
        redis: Redis,
        home: Path,
        floor_text: str = FLOOR,
        *,
        hidden: HiddenValues = HIDDEN_VALUES,
    ) -> None:
        super().__init__(redis, floor_text, hidden=hidden)
        self.home = home
        self.mark = LedgerMark(home, self.link.id)
        self.clock = datetime(2026, 11, 20, 2, 14, 7, tzinfo=UTC)
        # Tables here play on while a hand pay waits. The restored store must equal the old one for
        # every order of events.
        self.restart(replays=True)

    async def open(self) -> None:
        configuration = Configuration(self.floor, self.store)
        await approve(configuration)
        await super().open()

    async def event(self, table: str, kind: str, round_id: str, **fields: object) -> Reply:
        self.clock += timedelta(seconds=1)
        return await super().event(table, kind, round_id, at=self.clock, **fields)

    def outbox_path(self, table: str) -> Path:
        return self.home / "tables" / f"{table}.sqlite"

    async def send(self, table: str, payload: bytes, *, worker: int = 0) -> bytes | None:
        seq = seq_of(payload)
        assert seq is not None
        outbox = Outbox.open(self.outbox_path(table), self.link.id, table)
        try:
            if outbox.pending is None:
                outbox.write_event(seq, payload, b"", b"")
            reply = await super().send(table, payload, worker=worker)
            if reply is not None:
                outbox.write_reply(seq, reply, b"", b"")
        finally:
            outbox.close()
        await self.note()
        return reply

    @property
    def files(self) -> ArchiveFiles:
        return ArchiveFiles(self.home / "archive", self.link.id)

    @property
    def archived(self) -> ArchivedLedger:
        return ArchivedLedger(self.home / "archive", self.link.id)

    async def archive(self, live_days: int | None = None) -> Sequence[DayFile]:
        live_days = self.floor.archive.live_days if live_days is None else live_days
        outcome = await Archiver(self.store, self.files, live_days).run(lambda *_: None)
        return outcome.written

    async def note(self) -> None:
        head = (await self.store.state()).head
        self.mark.note(head.entry, head.chain)

    def restoring(self, copy: ArchivedLedger | None = None, *without: str) -> "Attempt":
        """Return the restoring that a technician starts: it knows what is on disk, and no more."""
        return Attempt(self, copy, without)

    async def lost_and_restored(
        self, copy: ArchivedLedger | None = None, *without: str, older: Kept | None = None
    ) -> RestoreResult:
        """Lose the store, or put an older file of it back; restore it, and check its audit."""
        if older is None:
            await self.redis.flushall()
        else:
            await older.put_back(self.redis)
        restored = await self.restoring(copy, *without).run()
        assert restored.finding.problems == ()
        return restored

    async def goes_on(self) -> None:
        await self.open()
        await self.adopt()
        for worker in range(len(self.intakes)):
            self.restart(worker)


class Attempt:
    def __init__(self, pit: KeptPit, copy: ArchivedLedger | None, without: tuple[str, ...]) -> None:
        self._pit = pit
        self._copy = copy
        self._without = without

    async def look(self) -> tuple[RestorePlan, bool]:
        with read_outboxes([self._pit.home / "tables"], self._pit.link.id) as outboxes:
            restoring = self._restoring(outboxes)
            found = await restoring.inspect(_ignore_progress)
            return found, restoring.is_due(found)

    async def run(self, *, approved: bool = True) -> RestoreResult:
        """Run all of it. With `approved`, people have approved the floor file of a lost link."""
        with read_outboxes([self._pit.home / "tables"], self._pit.link.id) as outboxes:
            restoring = self._restoring(outboxes)
            found = await restoring.inspect(_ignore_progress)
            assert restoring.is_due(found)
            if approved and found.held.standing is StoreCondition.EMPTY:
                await approve(Configuration(self._pit.floor, self._pit.store))
            return await restoring.carry_out(found, "tess", _ignore_progress)

    def _restoring(self, outboxes: Mapping[str, OutboxCopy]) -> LinkRestore:
        pit = self._pit
        return LinkRestore(
            pit.floor,
            LinkStore(pit.redis, pit.link, HiddenValues([SERVICES_SECRET])),
            LedgerMark(pit.home, pit.link.id),
            self._copy,
            outboxes,
            without=self._without,
        )


def _ignore_progress(what: str, done: int, of: int) -> None:
    assert 0 <= done <= of, what
