"""Checks of a link's archive files: a short check each night, and an audit that replays them.

The check of a night compares the names, sizes and times of the files with those of the last check.
If one of them has changed, or the last check found a problem, the check opens every file. If not,
it opens only the last file of that check, and later files. A file that is opened is compared with
the files before and after it, and with the ledger in Redis.

The last file and a few others are also read completely; the next night continues after these. So
the work of a night does not grow with the archive, and a long archive is still read completely
within months.

An audit reads all files, or those from a gaming day on. Then it reads the ledger entries in Redis
(duties D17, D19).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final

import msgspec

from meters.archive.archive_days import Advance, ArchiveFiles, archived_and_read, day_of
from meters.archive.day_file import ArchiveError, DayFile
from meters.audit.audit_files import ARCHIVE_NOTE, CheckedLink
from meters.audit.link_audit import Finding, LinkAudit, Onlooker
from meters.ledger.checkpoint import CheckpointError, Mark
from meters.ledger.entry_messages import ARCHIVED, EXPIRED, Archived
from meters.ledger.ledger_replay import Replay
from meters.store.ledger_mark import LedgerMark
from meters.store.link_store import LinkStore

READ_A_NIGHT: Final = 7
"""Number of archive files of a link that one night reads completely, in addition to the last
file."""

_PUT_BACK: Final = (
    "if another machine has the archive, run this command there; if not, put a copy back"
    " (deploy/docs/run/archive.md, When files are lost)"
)

_SHOWN_EVERY: Final = 1_000
"""Number of replayed entries after which the progress is shown again."""


async def audit_link(
    store: LinkStore,
    archive: ArchiveFiles,
    seen: Mark,
    advance: Advance,
    onlooker: Onlooker | None = None,
    *,
    since: date | None = None,
    until: date | None = None,
) -> Finding:
    """Replay the archived days, then the later entries in Redis, and compare all balances.

    The ledger has the digest of each archive file, and the file has the state at the close of its
    day. The audit compares both with the replay.

    The replay begins with the state before the gaming day `since`, or before the next archived day
    if `since` is not archived. Files of earlier days are not opened: `pitlink archive` checks them.
    Each replayed entry is passed to `onlooker`.

    If Redis no longer has the gaming day `until`, the replay can end early. Its end is the first
    close, from `until` on, at which no win up to `until` waits for a decision. Then the audit
    compares no data in Redis. If the slip number of a replayed win can have been corrected later,
    the replay does not end early.
    """
    snapshot = await store.snapshot(indexes=True)
    last = snapshot.last_entry
    listed = frozenset(member.rpartition(":")[2] for member in snapshot.wins)
    checkpoint = await store.checkpoint()
    end = _End(until or date.max, checkpoint.entries, snapshot.slips)
    try:
        files, replay = _replayed(
            archive.opened(since),
            seen,
            lambda done: advance(done, last),
            onlooker,
            listed=listed,
            end=end,
        )
        if end.reached:
            return _of_archived_days(store, archive, files, replay, last)
    except ArchiveError as error:
        return (await LinkAudit(store, None, onlooker).run(seen, advance)).also(str(error))
    checkpoint = await store.checkpoint()
    if checkpoint.entries > replay.entries:
        missing = (
            f"the entries up to {checkpoint.entries} are no longer in Redis, and"
            f" {archive.directory} lacks files with some of them: only the later entries were"
            " audited"
        )
        return (await LinkAudit(store, None, onlooker).run(seen, advance)).also(missing)
    finding = await LinkAudit(store, replay, onlooker).run(seen, advance)
    try:
        found = _not_as_noted(archive, files, replay)
    except ArchiveError as error:
        found = [str(error)]
    for problem in found:
        finding = finding.also(problem)
    return replace(finding, first=files[0].head.first) if files else finding


async def audit_marked(
    data: Path,
    archive_directory: Path,
    store: LinkStore,
    advance: Advance,
    onlooker: Onlooker | None = None,
    *,
    since: date | None = None,
    until: date | None = None,
) -> tuple[Finding, Mark]:
    """Audit a link as `audit_link` does, with its ledger mark in the directory `data`.

    Return the finding, and the mark as it was before the audit. The finding says if the mark has
    entries that the ledger lacks.
    """
    mark = LedgerMark(data, store.link.id)
    seen, archive = mark.seen, ArchiveFiles(archive_directory, store.link.id)
    finding = await audit_link(store, archive, seen, advance, onlooker, since=since, until=until)
    return finding.also(mark.problem(finding.stored, seen.entries)), seen


@dataclass
class _End:
    """The end of a replay of archived days, before the replay reaches the entries in Redis.

    `until` is the last gaming day that the caller needs, or the last of all dates. `archived_to` is
    the last ledger entry that Redis no longer has. `slips` are the claims of the payout slips in
    Redis. `waiting` are the wins that waited at the close of `until`, and still wait.
    """

    until: date
    archived_to: int
    slips: Mapping[str, str]
    waiting: set[str] | None = None
    reached: bool = False

    def reach(self, file: DayFile, replay: Replay) -> bool:
        if file.head.day < self.until or file.head.last > self.archived_to:
            return False
        waiting = replay.books.waiting
        self.waiting = waiting if self.waiting is None else self.waiting & waiting
        self.reached = not self.waiting and not self._corrected_later(replay)
        return self.reached

    def _corrected_later(self, replay: Replay) -> bool:
        """Return whether the slip number of a paid win can have been corrected later.

        In this case, Redis has another slip number of the win; or the win has two slip numbers, and
        a later correction can have brought back the first one.
        """
        paid = replay.evidence.slips
        claims = Counter(paid.values())
        return any(count > 1 for count in claims.values()) or any(
            claim in claims and slip not in paid for slip, claim in self.slips.items()
        )


def _of_archived_days(
    store: LinkStore, archive: ArchiveFiles, files: Sequence[DayFile], replay: Replay, last: int
) -> Finding:
    # A later ledger entry can record that earlier files were deleted. So a missing file is no
    # problem.
    problems = (*replay.problems, *_other_digests(archive, files, replay))
    return Finding(
        store.link.id,
        replay.entries,
        replay.seal,
        {},
        problems,
        replay.totals,
        tuple(replay.variances),
        first=files[0].head.first,
        stored=last,
    )


def _replayed(
    files: Iterator[DayFile],
    seen: Mark,
    advance: Callable[[int], None],
    onlooker: Onlooker | None,
    *,
    listed: frozenset[str],
    end: _End,
) -> tuple[list[DayFile], Replay]:
    replay, read = Replay(), list[DayFile]()
    for file in files:
        if not read:
            try:
                replay = Replay.after(file.day.opening)
            except CheckpointError as error:
                raise ArchiveError(f"{file.path} is damaged: {error}") from None
            if onlooker:
                onlooker.began(replay)
        read.append(file)
        for number, fields in file.entries():
            replay.apply_entry(number, fields, seen)
            if onlooker:
                onlooker.took(number, fields, replay)
            if number % _SHOWN_EVERY == 0:
                advance(number)
        _check_close(file, replay)
        replay.evidence.forget_ended(listed | replay.remaining_claims, replay.entries)
        advance(replay.entries)
        if end.reach(file, replay):
            # The next file has the digest of this file. The iterator `files` compares the two.
            next(files, None)
            break
    if onlooker and not read:
        onlooker.began(replay)
    return read, replay


def _check_close(file: DayFile, replay: Replay) -> None:
    # A replay without a problem has found the same digests as `verify` would.
    if replay.problems:
        file.verify()
        return
    file.verify_after(replay.entries, replay.chain, replay.seal)
    if replay.closing_digest != file.head.closing:
        raise ArchiveError(f"{file.path}: the state at its close differs from its entries")


def _not_as_noted(archive: ArchiveFiles, files: Sequence[DayFile], replay: Replay) -> Sequence[str]:
    """Return texts about archive files that are missing or that differ from the ledger's records.

    `replay` has replayed `files`, and the later entries in Redis.

    Raises:
        ArchiveError: a file cannot be read.
    """
    whole = bool(files) and archive.paths()[0] == files[0].path
    if whole and files[0].head.first - 1 > replay.expired_to:
        begins = f"{files[0].head.day}, entry {files[0].head.first}"
        problem = "earlier days are missing, and the ledger does not say that they were deleted"
        return [f"the archive begins with {begins}: {problem}"]
    read = {file.head.last for file in files}
    lost = [
        f"{path} is missing: the ledger says that {one.day} was archived (if another machine has"
        " the archive, run this command there)"
        for one in replay.archived
        if one.last > replay.expired_to
        and one.last not in read
        # A file can be written after the list of files was made. Such a file is not missing.
        and not (path := archive.path(one.day.isoformat())).exists()
    ]
    return [*lost, *_other_digests(archive, files, replay)]


def _other_digests(
    archive: ArchiveFiles, files: Sequence[DayFile], replay: Replay
) -> Sequence[str]:
    noted = {archived.last: archived.digest for archived in replay.archived}
    opened = {file.path for file in files}
    # The replayed entries can record files of days before the replay, which are not open yet.
    earlier = {archive.path(one.day.isoformat()) for one in replay.archived} - opened
    return [
        f"{file.path} is not the file that was archived, which has the digest"
        f" {noted[file.head.last]}"
        for file in (*map(DayFile, sorted(path for path in earlier if path.exists())), *files)
        if noted.get(file.head.last, file.head.digest) != file.head.digest
    ]


async def check_archive_files(
    store: LinkStore, archive: ArchiveFiles, before: CheckedLink, advance: Advance, *, reads: int
) -> tuple[CheckedLink, list[str]]:
    """Check the archive files of a link. Return the new results, and texts about the problems.

    `before` are the results of the last check. `reads` is the number of files to read completely,
    in addition to the last file; 0 for no file, not even the last. Files that were damaged at the
    last check are always read completely. `advance` receives the count of finished files and of all
    files.
    """
    try:
        paths = archive.paths()
        through = day_of(paths[-1]) if paths else ""
        listing = archive.listing(through)
        # If the files of the last check are unchanged, only the last of them is opened again.
        same = before.listing and archive.listing(before.through) == before.listing
        since = date.fromisoformat(before.through) if same else None
        files = archive.files(since)
    except (OSError, ArchiveError) as error:
        return _in_doubt(before), [f"{error}: {_PUT_BACK}"]
    archived, _ = await archived_and_read(store)
    if not files:
        lost = (
            f"{archive.directory} has no file, and the ledger was archived up to entry {archived}"
        )
        return _in_doubt(before), [f"{lost}: {_PUT_BACK}"] if archived else []
    problems = []
    noted, expired_to = await _noted(store)
    if files[-1].head.last < archived:
        recorded = noted.get(archived)
        missing = (
            archive.path(recorded.day.isoformat())
            if recorded
            else f"the file after {files[-1].path}"
        )
        problems.append(
            f"{missing} is missing, and the ledger was archived up to entry {archived}:"
            f" {_PUT_BACK}, or run `pitlink archive --lost`"
        )
    first = files[0].head.first if since is None else before.first
    if before.first and first > max(before.first, expired_to + 1):
        problems.append(
            f"the files in {archive.directory} began with entry {before.first} and now begin with"
            f" entry {first} ({files[0].head.day}), but the ledger does not say that files were"
            f" deleted: {_PUT_BACK}. To continue without these files, remove the note of the last"
            f" check, {archive.directory.parent / ARCHIVE_NOTE}"
        )
    for file in files:
        recorded = noted.get(file.head.last)
        if recorded is not None and recorded.digest != file.head.digest:
            problems.append(f"{file.path} is not the file that was archived: {_PUT_BACK}")
        elif not file.is_whole():
            problems.append(f"{file.path} is damaged (its length has changed): {_PUT_BACK}")
    read, damaged = _read(paths, before, reads, advance)
    checked = CheckedLink(
        first=min(before.first or first, first) if problems else first,
        read=read,
        damaged=tuple(damaged),
        through=through,
        listing=listing,
    )
    wrong = [*problems, *damaged.values()]
    return _in_doubt(checked) if wrong else checked, wrong


def _in_doubt(checked: CheckedLink) -> CheckedLink:
    """Return results after which the next check opens every file."""
    return msgspec.structs.replace(checked, through="", listing="")


def _read(
    paths: Sequence[Path], before: CheckedLink, reads: int, advance: Advance
) -> tuple[str, Mapping[str, str]]:
    """Read some files completely: the next `reads` files, the last file, and damaged files.

    If `reads` is 0, read only damaged files. Return the last gaming day of the next `reads` files,
    and the problems by gaming day.
    """
    by_day = {day_of(path): path for path in paths}
    turn = sorted(by_day, key=lambda day: (day <= before.read, day))[:reads]
    due = [*dict.fromkeys([*turn, *(list(by_day)[-1:] if reads else []), *before.damaged])]
    problems = {}
    for number, day in enumerate(due):
        if day in by_day:
            try:
                DayFile(by_day[day]).verify()
            except ArchiveError as error:
                problems[day] = f"{error}: {_PUT_BACK}"
        advance(number + 1, len(due))
    return turn[-1] if turn else before.read, problems


async def _noted(store: LinkStore) -> tuple[Mapping[int, Archived], int]:
    """Return what the ledger entries in Redis record about the archive.

    Returns:
        The archived days, by the number of each day's last entry. Then the number of the last entry
            whose file was deleted at the end of its retention, or 0.
    """
    archived: dict[int, Archived] = {}
    expired_to = 0
    async for _, fields in store.every_act():
        kind, event = fields["kind"], fields["event"]
        if kind == "archive":
            noted = ARCHIVED.decode(event)
            archived[noted.last] = noted
        elif kind == "expire":
            expired_to = max(expired_to, EXPIRED.decode(event).last)
    return archived, expired_to


def last_day(archive: ArchiveFiles) -> date | None:
    """Return the last archived gaming day, or None if there is none or a file cannot be read."""
    try:
        files = archive.files(date.max)
    except ArchiveError:
        return None
    return files[-1].head.day if files else None
