from collections.abc import Sequence
from datetime import date
from itertools import takewhile

import msgspec

from meters.archive.archive_days import ArchiveFiles, day_of
from meters.archive.archiver import ARCHIVER
from meters.archive.day_file import ArchiveError, DayFile
from meters.books.checkpoint import Expired
from meters.books.script_loader import load_script
from meters.books.store import LinkStore, texts
from meters.wire.clock import now_text


def expired(archive: ArchiveFiles, today: date, keep_years: int) -> Sequence[DayFile]:
    """Return the archive files that are old enough to be deleted, the oldest first.

    The last file is never among them. If a win is still undecided, the file of its gaming day and
    all later files are kept, because without them the link's data could not be restored.

    Raises:
        ArchiveError: a file cannot be read, or a file is missing.
    """
    year = today.year - keep_years
    # The anniversary of February 29 is February 28.
    until = today.replace(year=year, day=28) if _leaps(today) else today.replace(year=year)
    old = [DayFile(path) for path in archive.paths()[:-1] if day_of(path) < until.isoformat()]
    if not old:
        return old
    (*_, last) = archive.files(date.max)
    waiting = last.day.closing.waiting
    return [*takewhile(lambda file: not (waiting and waiting & _opened_on(file)), old)]


async def delete(store: LinkStore, files: Sequence[DayFile]) -> None:
    """Delete the oldest files of an archive. First, record the deletion in the ledger.

    Raises:
        ArchiveError: Redis still has ledger entries of these files, or a file cannot be deleted.
    """
    if not files:
        return
    first, last = files[0].day, files[-1].day
    event = Expired(first.day, last.day, last.last, files[-1].digest)
    script = store.redis.register_script(load_script("note_expiry"))
    answer = texts(
        await script(
            keys=[*store.fixed_keys, store.keys.checkpoint],
            args=[now_text(), ARCHIVER, last.last, msgspec.json.encode(event)],
        )
    )
    if answer[0] == "live":
        raise ArchiveError(f"{files[-1].path} is not deleted: Redis holds entries of it still")
    for file in files:
        try:
            file.path.unlink(missing_ok=True)
        except OSError as error:
            raise ArchiveError(f"{file.path} cannot be deleted: {error.strerror}") from None


def _opened_on(file: DayFile) -> set[str]:
    """Return the wins of a gaming day that were not finally decided at the close of the day.

    A win whose Envy Bonuses are not decided is not finally decided.
    """
    day = file.day
    return day.closing.waiting - day.opening.waiting


def _leaps(day: date) -> bool:
    return (day.month, day.day) == (2, 29)
