from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import msgspec

from meters.archive.archive_days import (
    Advance,
    ArchiveFiles,
    archived_and_read,
    archived_days,
    day_of,
)
from meters.archive.day_file import ArchiveError, Day, DayFile, DayWriter
from meters.archive.day_summaries import summary_path, write_summary
from meters.ledger.checkpoint import Checkpoint, CheckpointError
from meters.ledger.claim_evidence import CLAIM_ACTS, CORRECTION_FIELDS
from meters.ledger.day_summary import DayFold
from meters.ledger.entry_messages import DECIDED, Archived, Expired
from meters.ledger.ledger_replay import Replay
from meters.store.link_store import LinkStore
from meters.store.old_entries import compress_entries, keep_texts

ARCHIVER: Final = "archive"
"""The name of the actor in ledger entries about archiving."""

_PAGE: Final = 250
_WINS_AT_ONCE: Final = 500
_CUT: Final = 5_000
"""Number of ledger entries that one call deletes. This takes some milliseconds, for which tables
wait."""


@dataclass(frozen=True, slots=True)
class ArchiveResult:
    """The result of archiving one link: the files of this run, and what the run did in Redis.

    `trimmed_to` is the number of the last ledger entry that this or an earlier run deleted from
    Redis. `trimmed` and `compressed` count only the entries of this run.
    """

    written: Sequence[DayFile]
    trimmed_to: int
    trimmed: int
    compressed: int


class Archiver:
    def __init__(self, store: LinkStore, archive: ArchiveFiles, live_days: int) -> None:
        self._store = store
        self._archive = archive
        self._live_days = live_days

    async def run(self, advance: Advance, *, lost: bool = False) -> ArchiveResult:
        """Archive each closed gaming day, and delete old archived days from Redis.

        The floor file says how long archived days remain in Redis. A run can be interrupted at any
        moment and repeated. When the file of a day is complete, a ledger entry records it. Entries
        are deleted from Redis only after the file with them was read completely. If the last files
        of the archive are `lost`, the run writes them again, with the same content, from the
        entries that are still in Redis. `advance` receives the count of finished entries and of
        all entries.

        Raises:
            ArchiveError: the ledger has a problem; a file cannot be written; a file that was
                written a second time differs from the lost file; or the data in Redis has the
                layout of another release.
        """
        if other := await self._store.schema_problem():
            raise ArchiveError(other)
        closed = (await self._store.checkpoint()).closed_day
        # Redis has the entries of the later days. Earlier files are neither written nor deleted.
        since = date.fromisoformat(closed) if closed else None
        files = list(self._archive.files(since))
        written = await self._write(files, advance, lost=lost)
        before = (await self._store.checkpoint()).entries
        trimmed_to = await self._give_up(files)
        compressed = await compress_entries(self._store)
        return ArchiveResult(written, trimmed_to, trimmed_to - before, compressed)

    async def _write(self, files: list[DayFile], advance: Advance, *, lost: bool) -> list[DayFile]:
        archived, last = await archived_and_read(self._store)
        known = [file for file in files if file.head.last <= archived]
        if archived and not lost and (not known or known[-1].head.last != archived):
            raise ArchiveError(
                f"the ledger of link {self._store.link.id} was archived up to entry {archived}, but"
                f" {self._archive.directory} lacks the last files: name the directory that has"
                " them, run this on the machine that has them, or use --lost to write again the"
                " entries that are still in Redis"
            )
        try:
            replay = Replay.after(await self._begins_after(known))
        except CheckpointError as error:
            raise ArchiveError(f"the files of link {self._store.link.id}: {error}") from None
        begun, written = replay.entries, []
        while replay.entries < last:
            file, is_new = await self._write_next(
                replay, files, lambda at: advance(at - begun, last - begun)
            )
            if file.head.last > archived:
                await self._note_day(file, archived)
                archived = file.head.last
            else:
                try:
                    await self._noted_by(file)
                except ArchiveError:
                    file.path.unlink()
                    raise ArchiveError(
                        f"the entries of {file.head.day} in Redis are not those that were archived:"
                        " the day was not written again"
                    ) from None
            if is_new:
                written.append(file)
        return written

    async def _begins_after(self, known: Sequence[DayFile]) -> Checkpoint:
        checkpoint = await self._store.checkpoint()
        if not known:
            return checkpoint
        if known[-1].head.last < checkpoint.entries:
            raise ArchiveError(
                f"entries {known[-1].head.last + 1} to {checkpoint.entries} are neither in Redis"
                f" nor in {self._archive.directory}: move the files elsewhere, and the archive"
                " continues with the entries in Redis"
            )
        return known[-1].day.closing

    async def _write_next(
        self, replay: Replay, files: list[DayFile], advance: Callable[[int], None]
    ) -> tuple[DayFile, bool]:
        """Write the file of the next closed gaming day, or compare it with an existing file."""
        opening, decided = replay.checkpoint, set[str]()
        fold = DayFold.after(self._store.link.id, replay.checkpoint)
        with DayWriter(self._archive.directory / "next-day.new") as writer:
            while replay.closed_day == opening.closed_day:
                page = await self._store.entries(replay.entries, _PAGE)
                if not page or page[0][0] != replay.entries + 1:
                    raise ArchiveError(f"the ledger lacks the entries after {replay.entries}")
                for number, fields in page:
                    writer.add((number, fields))
                    replay.apply_entry(number, fields)
                    fold.add(number, fields)
                    if fields["kind"] in CLAIM_ACTS:
                        decided.add(DECIDED.decode(fields["event"]).claim)
                    if fields["kind"] == b"reading":
                        break
                advance(replay.entries)
                if replay.problems:
                    raise ArchiveError(
                        f"the ledger of link {self._store.link.id} has a problem, so the next"
                        " gaming day was not archived, and nothing was deleted from Redis:"
                        f" {replay.problems[0]}"
                    )
            closing = replay.checkpoint
            previous = await self._digest_at(opening.entries, files)
            day = Day(
                self._store.link.id,
                date.fromisoformat(closing.closed_day),
                opening.entries + 1,
                closing.entries,
                previous,
                opening,
                closing,
            )
            await self._compare_claims(replay, decided)
            file, is_new = self._put(writer, day, files)
        write_summary(file, fold.summary())
        return file, is_new

    async def _compare_claims(self, replay: Replay, decided: set[str]) -> None:
        """Check that Redis and ledger agree about the claims finally decided on the day."""
        claims = replay.evidence.claims
        final = sorted((decided - replay.books.waiting) & claims.keys())
        for claim, fields in zip(final, await self._store.claims(final), strict=True):
            # The slip number can have been corrected after the close.
            corrected = {name: claims[claim].get(name) for name in CORRECTION_FIELDS}
            held = {name: one for name, one in (fields | corrected).items() if one is not None}
            if found := replay.evidence.differences(claim, held if fields else {}):
                raise ArchiveError(
                    f"the claims of link {self._store.link.id} differ from its ledger, so gaming"
                    f" day {replay.closed_day} was not archived, and nothing was deleted from"
                    f" Redis: {found[0]}"
                )

    def _put(self, writer: DayWriter, day: Day, files: list[DayFile]) -> tuple[DayFile, bool]:
        path = self._archive.path(day.day.isoformat())
        existing = next((file for file in files if file.path == path), None)
        if existing is None:
            files.append(writer.finish(day, path))
            return files[-1], True
        # An earlier run wrote the file, but was interrupted before it wrote the ledger entry.
        existing.verify()
        if existing.head.digest != day.digest:
            raise ArchiveError(
                f"{path} differs from the ledger of this day: keep the file, and find out which of"
                " the two is right before you trust either"
            )
        return existing, False

    async def _note_day(self, file: DayFile, archived: int) -> None:
        day = file.day
        event = Archived(day.day, day.first, day.last, file.head.digest, day.closing.digest)
        answer = await self._store.call(
            "note_archive", ARCHIVER, archived, day.last, msgspec.json.encode(event)
        )
        if answer[0] != "done":
            raise ArchiveError(
                f"{file.path} was written, but is not in the ledger: another run has archived the"
                f" ledger up to entry {answer[1]} meanwhile"
            )

    async def _give_up(self, files: Sequence[DayFile]) -> int:
        """Delete old archived days from Redis. Return the number of the last deleted entry."""
        store = self._store
        held = await store.checkpoint()
        # `LinkStore.state` is not used here, because it fails if a meter's parameters in Redis
        # differ from the floor file.
        today = await store.open_day()
        if today is None:
            return held.entries
        newest = today - timedelta(days=1 + self._live_days)
        due = [f for f in files if f.head.day <= newest and f.head.last > held.entries]
        if due:
            for file in due:
                file.verify()
            await self._carry_over(due[-1].day.closing, await self._noted_by(due[-1]))
            held = due[-1].day.closing
        # If an earlier run was interrupted, this also finishes its work.
        await self._forget_wins(held)
        await self._cut(held.entries)
        return held.entries

    async def _noted_by(self, file: DayFile) -> int:
        """Return the number of the ledger entry that records the archiving of a day's file.

        Only an entry with the digests of the file counts.
        """
        async for number, noted in archived_days(self._store):
            recorded = (noted.last, noted.digest, noted.books)
            if recorded == (file.head.last, file.head.digest, file.head.closing):
                return number
        raise ArchiveError(f"no entry of the ledger says that {file.path} was archived")

    async def _digest_at(self, last: int, files: Sequence[DayFile]) -> str:
        """Return the digest of the file that ends with entry `last`; empty if it is not known."""
        for file in files:
            if file.head.last == last:
                return file.head.digest
        async for _, noted in archived_days(self._store):
            if noted.last == last:
                return noted.digest
        return ""

    async def _carry_over(self, checkpoint: Checkpoint, by: int) -> None:
        store = self._store
        answer = await store.call(
            "trim_ledger",
            checkpoint.entries,
            by,
            checkpoint.text,
            keys=[store.keys.checkpoint, store.keys.ledger_blocks],
        )
        if answer[0] == "not_archived":
            raise ArchiveError(f"the ledger was archived only up to entry {answer[1]}")

    async def _forget_wins(self, checkpoint: Checkpoint) -> None:
        store, wins = self._store, await self._wins_given_up(checkpoint)
        for begin in range(0, len(wins), _WINS_AT_ONCE):
            some = wins[begin : begin + _WINS_AT_ONCE]
            await store.call(
                "forget_wins",
                *(t for meter, order, claim in some for t in (claim, meter, f"{order:016d}")),
                keys=[store.keys.claim(claim) for _, _, claim in some],
            )

    async def _wins_given_up(self, checkpoint: Checkpoint) -> list[tuple[str, int, str]]:
        """Return the wins before the checkpoint that are no longer in the checkpoint."""
        found = list[tuple[str, int, str]]()
        for meter in (meter.meter_id for meter in self._store.link.meter):
            # `_wins_before` reads the list that has every win of the meter.
            wins = await self._wins_before(meter, checkpoint.entries)
            found += [(meter, order, claim) for order, claim in wins]
        return [win for win in found if win[2] not in checkpoint.claims]

    async def _wins_before(self, meter: str, last: int) -> list[tuple[int, str]]:
        found = list[tuple[int, str]]()
        before = last + 1
        while page := await self._store.wins(meter, before, _PAGE, meter_awards=False):
            found += page
            # Wins of one result have the same entry number, and a page can end between these wins.
            before = page[-1][0] + (len(page) == _PAGE and page[0][0] != page[-1][0])
            found = list(dict.fromkeys(found))
            if len(page) < _PAGE:
                break
        return found

    async def _cut(self, last: int) -> None:
        """Delete the entries up to `last` from Redis in pieces."""
        redis, keys = self._store.redis, self._store.keys
        if not 0 < await self._store.first_number() <= last:
            return
        await keep_texts(self._store, last)
        await redis.xtrim(keys.ledger_blocks, minid=f"{last + 1}-0", approximate=False)
        while (end := await self._store.first_end()) and end <= last:
            onward = min(end + _CUT, last + 1)
            await redis.xtrim(keys.ledger, minid=f"{onward}-0", approximate=False)


def expired(archive: ArchiveFiles, today: date, keep_years: int) -> Sequence[DayFile]:
    """Return the archive files that are old enough to be deleted, the oldest first.

    The last file is never deleted.
    """
    year, leaps = today.year - keep_years, (today.month, today.day) == (2, 29)
    # The anniversary of February 29 is February 28.
    until = today.replace(year=year, day=28) if leaps else today.replace(year=year)
    return [DayFile(path) for path in archive.paths()[:-1] if day_of(path) < until.isoformat()]


async def delete(store: LinkStore, files: Sequence[DayFile]) -> None:
    """Delete the oldest files of an archive, after the ledger has recorded the deletion.

    Raises:
        ArchiveError: Redis still has ledger entries of these files, or a file cannot be deleted.
    """
    if not files:
        return
    first, last = files[0].day, files[-1].day
    event = Expired(first.day, last.day, last.last, files[-1].head.digest)
    answer = await store.call(
        "note_expiry", ARCHIVER, last.last, msgspec.json.encode(event), keys=[store.keys.checkpoint]
    )
    if answer[0] == "live":
        raise ArchiveError(f"{files[-1].path} is not deleted: Redis still has entries of this file")
    for file in files:
        try:
            summary_path(file).unlink(missing_ok=True)
            file.path.unlink(missing_ok=True)
        except OSError as error:
            raise ArchiveError(f"{file.path} cannot be deleted: {error.strerror}") from None
