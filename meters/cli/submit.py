"""The `submit` command, which writes what a house files with its regulator."""

import hashlib
import os
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Final
from zoneinfo import ZoneInfo

import typer

from bonus.errors import UserError
from meters.floor.floor_file import ConfigOption
from meters.process.clock import now
from meters.process.printing import print_error
from meters.reports.report_document import Format
from meters.reports.submission import build_submission, read_texts
from meters.reports.submission_contents import SoftwareDigest, submission_json
from meters.reports.submission_document import submission_pdf
from meters.selfcheck.odds_counting import count_entries
from meters.selfcheck.software import Software, read_software

JSON_NAME: Final = "submission.json"
PDF_NAME: Final = "submission.pdf"
_NAMED_MOST: Final = 3


def submit(
    config: ConfigOption,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The directory to write: a new one, or an empty one. Its parent must exist.",
        ),
    ],
    *,
    paper: Annotated[Format, typer.Option("--paper", help="The PDF's paper.")] = "letter",
) -> None:
    """Write what a house files with its regulator for a floor.

    The filing is a Rules Submission (58 Pa. Code 601a.2), together with the linked progressives
    (605a.8). The command writes it in two forms with the same contents: **submission.pdf**, to sign
    and file, and **submission.json**, for other programs.

    - Games: rules, chapter or game file with its digest, the text of each game file of the house,
    and every cell of the paytables that the tables chose, with its subsection.
    - Odds: for each wager, the exact house edge, hit frequency, return of each meter, Envy Bonuses,
    break-even, and the probability of each hand that wins a percentage of a meter.
    - Links: meters with seed, reseed, rates and limits; tables with asset numbers; and the games
    that feed each meter.
    - Digests: floor file, game files, settings of each link, and the installed programs.

    The amounts are those of the floor file, not of the meters in Redis. No server is needed. Both
    files list what the house must add by hand, such as layouts.

    Example: **pitlink submit --config floor.toml --out filing-2026-12**

    The first run counts every hand, which can take minutes. It keeps the counts in the user's cache
    directory. The command never replaces a file: if DIR has files, it writes nothing. Two runs on
    the same day, with the same files and programs, write the same bytes.
    """
    check_directory(out)
    texts = read_texts(config)
    day = now().astimezone(ZoneInfo(texts.floor.facility.timezone)).date()
    submission = build_submission(
        texts, submitted(read_software()), day, lambda offers: count_entries(offers, "submit")
    )
    data = submission_json(submission)
    pdf = submission_pdf(submission, hashlib.sha256(data).hexdigest(), paper)
    write_directory(out, {JSON_NAME: data, PDF_NAME: pdf})
    for name in (JSON_NAME, PDF_NAME):
        print_error(f"{out / name} is written")
    if not submission.software.from_wheel:
        print_error(
            "pitlink submit: pitlink runs from its source: install the wheel before you file"
        )
    if submission.demonstration:
        print_error("pitlink submit: the floor file is for a demonstration: do not file this")


def submitted(software: Software) -> SoftwareDigest:
    """Return the digest of the programs, or raise `UserError` if they differ from the wheel."""
    if software.problems:
        more = len(software.problems) - _NAMED_MOST
        named = "; ".join(software.problems[:_NAMED_MOST]) + (f"; {more} more" if more > 0 else "")
        reason = f"the installed programs are not those of their wheel ({named})"
        raise UserError(f"{reason}: install the wheel again")
    return SoftwareDigest(
        version=version("pitlink"),
        files=software.files,
        sha256=software.digest,
        from_wheel=software.recorded,
    )


def check_directory(out: Path) -> None:
    """Raise `UserError` unless a directory is empty, or is missing and can be made."""
    try:
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise UserError(f"{out}: is a file or a symbolic link: name a new directory")
        if out.exists() and any(out.iterdir()):
            raise _not_empty(out)
    except OSError as error:
        raise _not_written(out, error) from None
    parent = out.absolute().parent
    if not parent.is_dir():
        raise UserError(f"{out}: there is no directory {parent}: make it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(f"{out}: {parent} cannot be written: choose another directory")


def write_directory(out: Path, files: Mapping[str, bytes]) -> None:
    """Write all files to a new or empty directory; write none if one cannot be written.

    The files are written to a temporary directory that is then renamed. No file is replaced.
    """
    check_directory(out)
    try:
        made = Path(mkdtemp(prefix=f".{out.name}.", dir=out.absolute().parent))
        try:
            for name, data in files.items():
                with (made / name).open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            # The system does not rename a directory to the name of one that has files.
            made.rename(out)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except OSError as error:
        if out.is_dir() and any(out.iterdir()):
            raise _not_empty(out) from None
        raise _not_written(out, error) from None


def _not_empty(out: Path) -> UserError:
    return UserError(f"{out}: the directory has files, and none is replaced: name a new directory")


def _not_written(out: Path, error: OSError) -> UserError:
    return UserError(f"{out}: cannot be written: {error.strerror}: nothing was written")
