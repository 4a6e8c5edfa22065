"""The `submit` command, which writes what a house files with its regulator."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final
from zoneinfo import ZoneInfo

import typer

from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import Offer
from meters.floor.floor_file import ConfigOption
from meters.odds.counting import count_entries
from meters.process.printing import print_error
from meters.reports.pdf import Format
from meters.selfcheck.software import read_software
from meters.submission.build import build_submission, read_texts
from meters.submission.contents import submission_json
from meters.submission.directory import check_directory, write_directory
from meters.submission.pdf import submission_pdf
from meters.wire.clock import now

JSON_NAME: Final = "submission.json"
PDF_NAME: Final = "submission.pdf"

OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="DIR",
        help="The directory to write: a new one, or an empty one. Its parent must exist.",
    ),
]
PaperOption = Annotated[Format, typer.Option("--paper", help="The PDF's paper.")]


def submit(config: ConfigOption, out: OutOption, *, paper: PaperOption = "letter") -> None:
    """Write what a house files with its regulator for the games and links of a floor.

    The filing is a Rules Submission (58 Pa. Code 601a.2), together with the linked progressives
    (605a.8). The command writes it in two forms with the same contents: **submission.pdf** to sign
    and file, and **submission.json** for other programs.

    - Games: rules, chapter or game file with its digest, the text of each game file of the house,
    and every cell of the paytables that the tables chose, with its subsection.
    - Odds: for each wager the exact house edge, hit frequency, return of each meter, Envy Bonuses,
    break-even, and the probability of each hand that wins a percentage of a meter.
    - Links: meters with seed, reseed, rates and limits, tables with asset numbers, and the games
    that feed each meter.
    - Digests: floor file, game files, settings of each link, and the installed programs.

    The amounts are those of the floor file, not of the meters in Redis; no server is needed. A list
    in both files names what the house must add by hand, such as layouts.

    Example: **pitlink submit --config floor.toml --out filing-2026-12**

    The first run counts every hand, which can take minutes. Counts are kept in the user's cache
    directory. The command never replaces a file: if DIR has files, it writes nothing. Two runs on
    the same day, with the same files and programs, write the same bytes.
    """
    check_directory(out)
    texts = read_texts(config)
    day = now().astimezone(ZoneInfo(texts.floor.facility.timezone)).date()
    submission = build_submission(texts, read_software(), day, _count)
    data = submission_json(submission)
    pdf = submission_pdf(submission, hashlib.sha256(data).hexdigest(), paper)
    write_directory(out, {JSON_NAME: data, PDF_NAME: pdf})
    for name in (JSON_NAME, PDF_NAME):
        print_error(f"{out / name} is written")
    if not submission.software.from_wheel:
        print_error("pitlink submit: this is a checkout: install the wheel before you file")
    if submission.demonstration:
        print_error("pitlink submit: the floor file is for a demonstration: do not file this")


def _count(offers: Sequence[Offer]) -> list[OddsEntry]:
    return count_entries(offers, "submit")
