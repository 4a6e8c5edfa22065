"""The PDF form of a submission, which the house signs and files."""

from collections.abc import Iterator, Sequence
from typing import Final

from reportlab.platypus import (  # type: ignore[import-untyped]
    CondPageBreak,
    KeepTogether,
    PageBreak,
    Spacer,
)

from meters.floor.facility import DEMONSTRATION_MARK
from meters.pdf.flowables import HUSH, INK, code_lines, paragraph, rule, signature_lines
from meters.pdf.pages import pdf_file
from meters.reports.pdf import Format, head_elements, inner_width, page_layout, part_elements
from meters.submission.contents import GameFiling, Submission
from meters.submission.document import TITLE, submission_document

_SIGNERS: Final = ("Prepared by", "Filed for the certificate holder by")


def submission_pdf(submission: Submission, json_sha256: str, size: Format = "letter") -> bytes:
    """Make the PDF of a submission. Equal submissions make equal files.

    Each page shows the facility's name, the title, the page number, and the SHA-256 of the file
    with the JSON.
    """
    mark = DEMONSTRATION_MARK if submission.demonstration else ""
    title = f"{TITLE} · {submission.date} · JSON {json_sha256}"
    layout = page_layout(submission.facility, title, size, mark=mark)
    inner = inner_width(layout)
    return pdf_file(layout, list(_contents(submission, json_sha256, inner)))


def _contents(submission: Submission, json_sha256: str, inner: float) -> Iterator[object]:
    document = submission_document(submission, json_sha256)
    overview, *parts = document.parts
    yield from head_elements(document, inner)
    yield from part_elements(overview, inner)
    yield _signing(_SIGNERS, inner)
    yield PageBreak()
    for part in parts:
        yield from part_elements(part, inner)
    for game in submission.games:
        if game.text is not None:
            yield from _game_text(game, game.text, inner)


def _game_text(game: GameFiling, text: str, inner: float) -> Iterator[object]:
    yield CondPageBreak(150)
    yield rule(INK, before=10, after=0)
    yield paragraph(f"Full text of {game.file.name}: {game.title}", 12, bold=True, before=3)
    yield paragraph(f"SHA-256 {game.file.sha256}", 8, gray=HUSH)
    note = "A line that is too long continues in the next line, after four blanks."
    yield paragraph(note, 8, gray=HUSH)
    yield Spacer(0, 4)
    yield from code_lines(text, 7, inner)


def _signing(signers: Sequence[str], inner: float) -> object:
    words = [f"{who}: name, title, signature, date" for who in signers]
    lines = signature_lines(words, inner, gap=24, apart=48)
    return KeepTogether([Spacer(0, 48), lines])
