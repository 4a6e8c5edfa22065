"""The `archive` command, which moves closed gaming days from Redis to files."""

import asyncio
import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from redis.exceptions import RedisError

from bonus.errors import UserError
from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver, ArchiveResult, delete, expired
from meters.archive.day_file import ArchiveError, DayFile
from meters.audit.archive_audit import READ_A_NIGHT, check_archive_files
from meters.audit.audit_files import (
    ARCHIVE_NOTE,
    PROBLEMS_NOTED,
    ArchiveNote,
    CheckedLink,
    read_note,
    write_note,
)
from meters.floor.floor_file import ConfigOption, Floor, read_own_floor
from meters.process.clock import now_text
from meters.process.console import PlainConsole, begin_bar, progress_bar
from meters.process.private_files import make_private_directory
from meters.selfcheck.opened_store import check_place, open_used_store
from meters.store.failures import command_failure_text
from meters.store.link_store import LinkStore

_READ_EVERY_S: Final = 20 * 3600
"""At least this time passes between two runs that read some archive files completely.

So files are read once a night, even if the command runs more often.
"""


def archive(
    config: ConfigOption,
    *,
    delete_expired: Annotated[
        bool,
        typer.Option(
            "--delete-expired",
            help="Also delete the files of days older than `keep_years`, and record the deletion in"
            " the ledger.",
        ),
    ] = False,
    lost: Annotated[
        bool,
        typer.Option(
            "--lost",
            help="The last files are lost: write them again, with the entries that Redis still"
            " has.",
        ),
    ] = False,
) -> None:
    """Write closed gaming days to files.

    Each closed day of each link becomes one file in the directory under [archive] in the floor
    file. In Redis, the command keeps the ledger entries of the open day and of the last `live_days`
    closed days, and compresses them except the last 2,000. It deletes earlier entries and decided
    wins, but keeps the last 25 wins of each meter. `pitlink audit` and `pitlink report` read the
    earlier days from the files. At the end, the command checks that every file exists and is
    unchanged. Once a night, it reads some files completely.

    Example: **pitlink archive --config floor.toml** once a day, some time after the gaming day
    begins. You can stop the command at any moment, and run it again.

    The exit status is 1 if the ledger has a problem, or if an archive file is missing, altered, or
    cannot be written. The output names the file and says what to do.
    """
    floor = read_own_floor(config)
    directory = Path(floor.archive.directory)
    check_place(floor)
    try:
        with _alone(directory):
            asyncio.run(_archive(floor, directory, delete_expired=delete_expired, lost=lost))
    except RedisError as error:
        raise UserError(command_failure_text(error)) from None
    except OSError as error:
        raise UserError(f"{directory} cannot be used: {error.strerror or error}") from None


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Lock the archive. Raise `UserError` if another `pitlink archive` has locked it."""
    make_private_directory(directory)
    lock = os.open(directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UserError(f"another `pitlink archive` is at work in {directory}") from None
    finally:
        os.close(lock)


async def _archive(floor: Floor, directory: Path, *, delete_expired: bool, lost: bool) -> None:
    failed: list[str] = []
    before = read_note(directory / ARCHIVE_NOTE, ArchiveNote)
    seen = dict(before.links) if before else {}
    read_lately = before is not None and time.time() - before.read_s < _READ_EVERY_S
    read_at = before.read_at if before and read_lately else now_text()
    async with open_used_store(floor, archives=True) as redis:
        with progress_bar() as progress:
            for link in floor.link:
                store, files = LinkStore(redis, link), ArchiveFiles(directory, link.id)
                try:
                    archiver = Archiver(store, files, floor.archive.live_days)
                    outcome = await archiver.run(begin_bar(progress, link.id), lost=lost)
                    _print_result(link.id, outcome)
                    today = await store.open_day()
                    old = expired(files, today, floor.archive.keep_years) if today else ()
                    if delete_expired:
                        await delete(store, old)
                    _print_expired(link.id, old, deleted=delete_expired)
                except ArchiveError as error:
                    failed.append(f"{link.id}: {error}")
                except ValueError as error:
                    failed.append(f"{link.id}: the data in Redis is damaged: {error}")
                try:
                    seen[link.id], wrong = await check_archive_files(
                        store,
                        files,
                        seen.get(link.id, CheckedLink()),
                        begin_bar(progress, f"{link.id}: files", "files"),
                        reads=0 if read_lately else READ_A_NIGHT,
                    )
                except ValueError as error:
                    wrong = [f"the data in Redis is damaged: {error}"]
                lines = [f"{link.id}: {problem}" for problem in wrong]
                # The writing and the check of files can find the same problem, which is printed
                # once.
                failed = [each for each in failed if not any(each in one for one in lines)] + lines
    problems = tuple(failed[:PROBLEMS_NOTED])
    write_note(
        directory / ARCHIVE_NOTE,
        ArchiveNote(at=now_text(), read_at=read_at, problems=problems, links=seen),
    )
    if failed:
        raise UserError("\n".join(failed))


def _print_result(link: str, outcome: ArchiveResult) -> None:
    console = PlainConsole(soft_wrap=True)
    for file in outcome.written:
        day = file.day
        console.print(
            f"{link}: {day.day} archived, entries {day.first} to {day.last}, {file.path}\n"
            f"  digest {file.head.digest}"
        )
    if not outcome.written:
        console.print(f"{link}: no closed gaming day to archive")
    if outcome.trimmed:
        console.print(f"{link}: entries up to {outcome.trimmed_to} left Redis")
    if outcome.compressed:
        console.print(f"{link}: {outcome.compressed} entries compressed in Redis")


def _print_expired(link: str, old: Sequence[DayFile], *, deleted: bool) -> None:
    if old:
        done = "deleted" if deleted else "can be deleted with --delete-expired"
        span = f"{old[0].head.day} to {old[-1].head.day}"
        PlainConsole(soft_wrap=True).print(
            f"{link}: {len(old)} files of {span} were kept long enough, and {done}"
        )
