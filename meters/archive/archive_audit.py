"""Audit of a link: its archive files and the ledger entries in Redis (duties D17, D19)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from meters.archive.archive_days import ArchiveFiles
from meters.archive.day_file import ArchiveError, DayFile
from meters.audit.link_audit import Finding, LinkAudit, Onlooker
from meters.ledger.checkpoint import Mark
from meters.ledger.ledger_replay import PROBLEMS_MAX, Replay
from meters.store.link_store import LinkStore

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
    until: date | None = None,
) -> Finding:
    """Replay the archived days, then the later entries in Redis, and compare all balances.

    Each archive file has a digest in the ledger, and the balances at the close of its day. The
    audit compares both with what results from the file's entries.

    The replay begins with the balances before the gaming day `since`, or before the next archived
    day after it. Files of earlier days are not opened: `pitlink archive` checks them. Each replayed
    entry is passed to `onlooker`.

    If Redis no longer has the gaming day `until`, the replay can end early, at the close of a later
    day: when nobody has to decide a win of `until` or before any more. The audit then compares no
    data in Redis. It does not end early if somebody can have corrected the slip of a replayed win
    later.
    """
    snapshot = await store.snapshot(indexes=True)
    last = snapshot.last_entry
    listed = frozenset(member.rpartition(":")[2] for member in snapshot.wins)
    checkpoint = await store.checkpoint()
    end = _End(until or date.max, checkpoint.entries, snapshot.slips)
    try:
        files, replay, altered = _replayed(
            archive.opened(since),
            seen,
            lambda done: advance(done, last),
            onlooker,
            listed=listed,
            end=end,
        )
        if end.reached:
            return _of_archived_days(store, archive, files, replay, altered=altered, last=last)
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
    try:
        found = (*altered, *_not_as_noted(archive, files, replay))
    except ArchiveError as error:
        found = (*altered, str(error))
    for problem in found:
        finding = finding.also(problem)
    return replace(finding, first=files[0].head.first) if files else finding


@dataclass
class _End:
    """The end of a replay of archived days, before it reaches the entries in Redis.

    `until` is the last gaming day that the caller needs; the last date of all for all files.
    `archived_to` is the last ledger entry that Redis no longer has. `slips` are the claims of the
    payout slips in Redis. `waiting` are the wins that waited at the close of `until`, and that wait
    still.
    """

    until: date
    archived_to: int
    slips: Mapping[str, str]
    waiting: set[str] | None = None
    reached: bool = False

    def reach(self, file: DayFile, replay: Replay) -> bool:
        if file.head.day < self.until or file.head.last > self.archived_to:
            return False
        waiting = replay.checkpoint.waiting
        self.waiting = waiting if self.waiting is None else self.waiting & waiting
        self.reached = not self.waiting and not self._corrected_later(replay)
        return self.reached

    def _corrected_later(self, replay: Replay) -> bool:
        """Return whether the slip number of a win that was paid can have been corrected later.

        Redis then has another number of the win. Or the win has two numbers, and a later correction
        can have brought back the first one.
        """
        paid = replay.evidence.slips
        claims = Counter(paid.values())
        return any(count > 1 for count in claims.values()) or any(
            claim in claims and slip not in paid for slip, claim in self.slips.items()
        )


def _of_archived_days(
    store: LinkStore,
    archive: ArchiveFiles,
    files: Sequence[DayFile],
    replay: Replay,
    *,
    altered: Sequence[str],
    last: int,
) -> Finding:
    # The ledger can record later that earlier files were deleted. So a missing file is no problem.
    problems = (*replay.problems, *altered, *_other_digests(archive, files, replay))
    return Finding(
        store.link.id, replay.entries, replay.seal, {}, problems, replay.totals,
        tuple(replay.variances), first=files[0].head.first, stored=last,
    )  # fmt: skip


def _replayed(
    files: Iterator[DayFile],
    seen: Mark,
    advance: Callable[[int], None],
    onlooker: Onlooker | None,
    *,
    listed: frozenset[str],
    end: _End,
) -> tuple[list[DayFile], Replay, list[str]]:
    """Replay archive files up to `end`.

    Returns:
        The replayed files, the replay, and texts about decided claims that were changed.

    Raises:
        ArchiveError: a file was changed after it was written, or its entries contradict its
            balances.
    """
    replay, altered, read = Replay(), list[str](), list[DayFile]()
    for file in files:
        if not read:
            replay = Replay.after(file.day.opening)
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
        altered += _altered_claims(file, replay)
        replay.evidence.forget_ended(listed, replay.entries)
        advance(replay.entries)
        if end.reach(file, replay):
            # The next file has the digest of this one. `files` compares the two.
            next(files, None)
            break
    if onlooker and not read:
        onlooker.began(replay)
    return read, replay, altered[:PROBLEMS_MAX]


def _check_close(file: DayFile, replay: Replay) -> None:
    """Compare a file with the replay of its entries.

    Raises:
        ArchiveError: the file was changed, or its entries contradict its balances.
    """
    # A replay without a problem has found the same digests as `verify` would.
    if replay.problems:
        file.verify()
        return
    file.verify_after(replay.entries, replay.chain, replay.seal)
    if replay.checkpoint != file.day.closing:
        raise ArchiveError(f"{file.path}: the balances at its close differ from its entries")


def _altered_claims(file: DayFile, replay: Replay) -> list[str]:
    """Return texts about decided claims in a file that differ from the file's ledger entries."""
    held, first = file.claims(), file.head.first
    return [
        f"{file.path}: {problem}"
        for claim, ended in replay.evidence.ended.items()
        if ended >= first
        for problem in replay.evidence.differences(claim, held.get(claim, {}))
    ]


def _not_as_noted(archive: ArchiveFiles, files: Sequence[DayFile], replay: Replay) -> Sequence[str]:
    """Return texts about archive files that are missing or that differ from the ledger's records.

    `replay` is of `files`, and of the later entries in Redis.

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
        " the archive, run this there)"
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
    """Return texts about archive files whose digest differs from the ledger's records."""
    noted = {archived.last: archived.digest for archived in replay.archived}
    opened = {file.path for file in files}
    # The replayed entries can record files of days before the replay, which are not open yet.
    earlier = {archive.path(one.day.isoformat()) for one in replay.archived} - opened
    return [
        f"{file.path} is not the file that was archived: the ledger says {noted[file.head.last]}"
        for file in (*map(DayFile, sorted(path for path in earlier if path.exists())), *files)
        if noted.get(file.head.last, file.digest) != file.digest
    ]
