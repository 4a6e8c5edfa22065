"""The summaries of archived gaming days, each in a file beside the archive file of its day.

`pitlink archive` writes a summary with each archive file. If a summary is missing, or belongs to
another archive file, it is made again from the archive file. So anybody can delete a summary at any
time.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from bonus.json_input import UNREADABLE
from meters.archive.day_file import ENDING, ArchiveError, DayFile, entry_of
from meters.ledger.day_summary import DayFold, DaySummary
from meters.process.private_files import replace_private_file

SUMMARY_ENDING: Final = ".summary.json"


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A summary with the digest of its archive file."""

    digest: str
    summary: DaySummary


_WRITTEN: Final = msgspec.json.Decoder(_Written)


def summary_path(file: DayFile) -> Path:
    return file.path.with_name(file.path.name.removesuffix(ENDING) + SUMMARY_ENDING)


def written_summary(file: DayFile) -> DaySummary | None:
    """Return the summary beside an archive file; None if no valid summary of this file exists.

    Raises:
        ArchiveError: the archive file cannot be read.
    """
    digest = file.head.digest
    try:
        found = _WRITTEN.decode(summary_path(file).read_bytes())
    except (OSError, *UNREADABLE):
        return None
    return found.summary if found.digest == digest else None


def write_summary(file: DayFile, summary: DaySummary) -> None:
    """Write a summary beside its archive file, if this process can write there."""
    with suppress(OSError):
        text = msgspec.json.encode(_Written(file.head.digest, summary))
        replace_private_file(summary_path(file), [text])


def read_summary(file: DayFile, given_up: Callable[[], bool] = lambda: False) -> DaySummary:
    """Return the summary of an archived day, from its own file or else from the archive file.

    To read the archive file takes seconds; meanwhile, `given_up` says if nobody needs the summary
    any more.

    Raises:
        ArchiveError: the archive file cannot be read, or nobody needs the summary.
    """
    found = written_summary(file)
    if found is None:
        fold = DayFold.after(file.head.link, file.day.opening)
        for line in file.lines():
            fold.add(*entry_of(line))
            if given_up():
                raise ArchiveError(f"{file.path} was not read to its end")
        found = fold.summary()
        write_summary(file, found)
    return found
