"""A report on paper: no text of any content or length is cut off."""

from collections import Counter
from dataclasses import replace

import pytest

from meters.reports.report_document import (
    ReportDocument,
    ReportPart,
    ReportSection,
    columns,
    report_pdf,
)
from tests.submission.filings import pages_of

COLUMNS = columns("Day 1 | >Amount 1 | Text 2")
ROWS = [(f"day-{number}", f"${number}.00", f"text-{number}") for number in range(150)]


def _report(*sections: ReportSection, facility: str = "Keystone", name: str = "Pit") -> bytes:
    part = ReportPart("pit", name, [("Link", name)], sections)
    return report_pdf(ReportDocument("Jackpots", facility, [("Made", "today")], [part]))


def _one_line(pdf: bytes) -> str:
    return " ".join(" ".join(pages_of(pdf)).split())


def test_long_list_has_every_row_once_and_column_titles_on_each_page() -> None:
    section = ReportSection("Wins", COLUMNS, [*ROWS, ("150 in all", "$9,999.00", "")], sums=1)
    pages = pages_of(_report(section))
    assert len(pages) > 2
    said = Counter(" ".join(pages).split())
    assert all(said[cell] == 1 for row in ROWS for cell in row)
    for number, page in enumerate(pages, start=1):
        assert page.split().count("Amount") == 1
        assert f"Page {number} of {len(pages)}" in page
    assert "150 in all" in pages[-1]
    assert "Prepared by: name, signature, date" in pages[-1]


@pytest.mark.parametrize("wide", [False, True])
def test_cell_that_is_longer_than_a_page_continues_on_the_next(wide: bool) -> None:  # noqa: FBT001
    titles = columns("Text 2 | " + " | ".join(f">{number} 1" for number in range(12)))
    words = " ".join(f"word-{number}" for number in range(400))
    section = ReportSection("Acts", titles, [(words, *["1"] * 12), ("next", *["2"] * 12)])
    document = ReportDocument("Day", "Keystone", [("Made", "today")], [], wide=wide)
    part = ReportPart("pit", "Pit", [("Link", "pit")], [section])
    text = _one_line(report_pdf(replace(document, parts=[part])))
    missing = [word for word in words.split() if f"{word} " not in text]
    assert not missing
    assert "next" in text


@pytest.mark.slow
def test_title_is_not_left_alone_at_the_foot_of_a_page() -> None:
    for height in range(40, 60):
        first = ReportSection("First", COLUMNS, ROWS[:height])
        second = ReportSection("Second", COLUMNS, [("d", "$1", "w " * 150)])
        (page,) = [page for page in pages_of(_report(first, second)) if "Second" in page]
        assert "$1\n" in page


def test_figure_too_wide_for_its_column_is_whole_on_one_line() -> None:
    titles = columns(" | ".join(f">Amount {number} 1" for number in range(9)))
    figure = "-$123,456,789,012.000000"
    pages = pages_of(_report(ReportSection("", titles, [(figure,) * 9])))
    assert "\n".join(pages).splitlines().count(figure) == 9


@pytest.mark.parametrize(
    "content",
    [
        "<b>bold</b> & <para> &amp; <br/>",
        "Nguyễn Žižka",
        "W" * 200,
        "\x00\x01\x07\x1b[2J\x9b31m\u202etxt",
    ],
)
def test_text_is_printed_unchanged_in_every_place(content: str) -> None:
    """Markup has no effect, and no stored text prevents a report."""
    section = ReportSection(content, COLUMNS, [(content, "$1", content)], note=content)
    text = _one_line(_report(section, facility=content, name=content))
    if content.isprintable():
        joined, wanted = text.replace(" ", ""), content.replace(" ", "")
        assert joined.count(wanted) >= 6
    assert "Page 1 of 1" in text


def test_empty_list_says_that_there_is_none() -> None:
    assert "Wins none" in _one_line(_report(ReportSection("Wins", COLUMNS, [])))
    noted = _one_line(_report(ReportSection("Wins", COLUMNS, [], note="Nothing was read.")))
    assert "Wins Nothing was read." in noted


def test_equal_reports_are_equal_files() -> None:
    sections = [ReportSection("Wins", COLUMNS, rows) for rows in (ROWS, ROWS, ROWS[1:])]
    first, second, other = map(_report, sections)
    assert first == second
    assert first != other


def test_fact_that_is_longer_than_a_page_continues_on_the_next() -> None:
    tables = [f"table-{number}" for number in range(2_000)]
    part = ReportPart("pit", "Pit", [("Tables", ", ".join(tables))], [])
    text = _one_line(report_pdf(ReportDocument("Day", "Keystone", [("Made", "today")], [part])))
    said = Counter(text.replace(",", " ").split())
    assert [table for table in tables if said[table] != 1] == []
