"""Audit of a link: its archive files and the ledger entries in Redis (duties D17, D19)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from meters.archive.archive_days import ArchiveFiles
from meters.archive.day_file import ArchiveError, DayFile
from meters.books.audit import Finding, LinkAudit, Onlooker
from meters.books.ledger_mark import Mark
from meters.books.ledger_replay import PROBLEMS_MAX, Replay
from meters.books.store import LinkStore

Advance = Callable[[int, int], None]

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
) -> Finding:
    """Replay the archived days, then the later entries in Redis, and compare all balances.

    The ledger has a digest of each archive file. The audit compares the files with these digests.
    Each file has the balances at the close of its day. The audit compares them with the balances
    that result from the file's entries.

    The replay begins with the balances before the gaming day `since`, or before the next archived
    day after `since`. Files of earlier days are not replayed: only their digests are compared. Each
    replayed entry is passed to `onlooker`.

    Raises:
        RedisError: Redis failed.
    """
    snapshot = await store.snapshot(indexes=True)
    last = snapshot.last_entry
    listed = frozenset(member.rpartition(":")[2] for member in snapshot.wins)
    try:
        files = archive.files()
        begun = [file for file in files if since is None or file.head.day >= since] or files[-1:]
        replay, altered = _replayed(begun, seen, lambda done: advance(done, last), onlooker, listed)
    except ArchiveError as error:
        return (await LinkAudit(store, None, onlooker).run(seen, advance)).also(str(error))
    checkpoint = await store.checkpoint()
    if checkpoint.entries > replay.entries:
        missing = (
            f"the entries up to {checkpoint.entries} are in the archive, which is not in"
            f" {archive.directory}: only the later entries were audited"
        )
        return (await LinkAudit(store, None, onlooker).run(seen, advance)).also(missing)
    finding = await LinkAudit(store, replay, onlooker).run(seen, advance)
    for problem in (*altered, *_not_as_noted(archive, files, begun, replay)):
        finding = finding.also(problem)
    return replace(finding, first=begun[0].head.first) if begun else finding


def _replayed(
    files: Sequence[DayFile],
    seen: Mark,
    advance: Callable[[int], None],
    onlooker: Onlooker | None,
    listed: frozenset[str],
) -> tuple[Replay, list[str]]:
    """Replay archive files. Return the replay, and texts about decided claims that were changed.

    Raises:
        ArchiveError: a file was changed after it was written, or its entries contradict its
            balances.
    """
    replay, altered = Replay.after(files[0].day.opening) if files else Replay(), list[str]()
    if onlooker:
        onlooker.began(replay)
    for file in files:
        for number, fields in file.entries():
            replay.apply_entry(number, fields, seen)
            if onlooker:
                onlooker.took(number, fields, replay)
            if number % _SHOWN_EVERY == 0:
                advance(number)
        # A replay without a problem has found the same digests as `verify` would.
        if replay.problems:
            file.verify()
        else:
            file.verify_after(replay.entries, replay.chain, replay.seal)
        if replay.checkpoint != file.day.closing and not replay.problems:
            raise ArchiveError(f"{file.path}: the balances at its close differ from its entries")
        altered += _altered_claims(file, replay)
        replay.evidence.forget_ended(listed, replay.entries)
        advance(replay.entries)
    return replay, altered[:PROBLEMS_MAX]


def _altered_claims(file: DayFile, replay: Replay) -> list[str]:
    """Return texts about decided claims in a file that differ from the file's ledger entries."""
    held, first = file.claims(), file.head.first
    return [
        f"{file.path}: {problem}"
        for claim, ended in replay.evidence.ended.items()
        if ended >= first
        for problem in replay.evidence.differences(claim, held.get(claim, {}))
    ]


def _not_as_noted(
    archive: ArchiveFiles, files: Sequence[DayFile], begun: Sequence[DayFile], replay: Replay
) -> Sequence[str]:
    """Return texts about archive files that are missing or that differ from the ledger's records.

    Args:
        archive: the archive of a link.
        files: all files of the archive.
        begun: the files that were replayed, a part of `files` or all of them.
        replay: the replay of these files and of the later entries in Redis.
    """
    whole = begun == files
    if whole and files and files[0].head.first - 1 > replay.expired_to:
        begins = f"{files[0].head.day}, entry {files[0].head.first}"
        problem = "earlier days are missing, and the ledger does not say that they were deleted"
        return [f"the archive begins with {begins}: {problem}"]
    noted = {archived.last: archived.digest for archived in replay.archived}
    read = {file.head.last for file in files}
    lost = [
        f"{path} is missing: the ledger says that {one.day} was archived"
        for one in replay.archived
        if one.last > replay.expired_to
        and one.last not in read
        # A file can be written after the list of files was made. Such a file is not missing.
        and not (path := archive.path(one.day.isoformat())).exists()
    ]
    return lost + [
        f"{file.path} is not the file that was archived: the ledger says {noted[file.head.last]}"
        for file in files
        if noted.get(file.head.last, file.digest) != file.digest
    ]
