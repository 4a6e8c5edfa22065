"""The PDF of a submission: it has the figures of the JSON, and no text is cut off."""

import hashlib
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import msgspec
import pytest

from bonus.display import money
from bonus.odds.odds_words import GameNames
from meters.process.pdf_pages import LEADING, code_lines, pdf_file
from meters.reports.report_document import page_layout
from meters.reports.submission_contents import Submission, submission_json
from meters.reports.submission_document import submission_pdf
from tests.games.naive import HOUSE
from tests.submission.filings import FLOORS, Filing, pages_of

pytestmark = pytest.mark.slow


def squeezed(text: str) -> str:
    """Return a text without blanks, because lines of a PDF end anywhere."""
    return "".join(text.split())


def plain(text: str) -> str:
    """Return a text without what differs between a name in data and the same name in words."""
    joined = re.sub(r"[\s_-]", "", text).lower()
    return re.sub(r"of(spades|diamonds)", r"\1", joined)


def shown(name: str, value: object) -> Iterator[str]:
    """Yield each figure of a part of the JSON as the PDF must show it."""
    if isinstance(value, dict):
        if "combinations" in value:
            # The PDF has the deals and all deals, which are this probability.
            value = value | {"chance": {"one_in": value["chance"]["one_in"]}}
        for key, each in value.items():
            yield from shown(key, each)
    elif isinstance(value, list):
        for each in value:
            yield from shown(name, each)
    elif isinstance(value, bool) or value is None or name in {"format", "text"}:
        return
    elif isinstance(value, int):
        yield from _number(name, value)
    elif isinstance(value, str):
        yield value


def _number(name: str, value: int) -> Iterator[str]:
    if name.endswith("_cents"):
        yield money(value).removesuffix(".00") if name == "wager_cents" else money(value)
    elif name.endswith("_bps"):
        yield f"{value // 100}.{value % 100:02}%"
    elif name == "percent":
        yield f"{value}%"
    else:
        yield f"{value:,}" if value else "never" if name.endswith("every") else str(value)


@FLOORS
def test_every_figure_of_the_json_is_in_the_pdf(filing: Filing) -> None:
    text = plain(" ".join(filing.pages))
    expected = [*shown("", filing.fields)]
    assert len(expected) > 500
    assert {figure for figure in expected if plain(figure) not in text} == set()


@FLOORS
def test_the_figures_of_each_wager_are_in_its_own_part(filing: Filing) -> None:
    """A figure that only another part has does not count."""
    text = squeezed(" ".join(page_without_foot(page) for page in filing.pages))
    for game, wager in filing.wagers():
        paytable = f", paytable {wager['paytable']}" if wager["paytable"] else ""
        title = f"{game['title']}: {wager['title']}{paytable}Name in files{wager['wager']}Tables"
        _, found, part = text.partition(squeezed(f"{title}{', '.join(wager['tables'])}"))
        assert found, title
        part = part.partition("Nameinfiles")[0]
        odds, names = wager["odds"], GameNames({}, game["titles"])
        for each in (
            odds["house_edge"]["exact"],
            odds["house_edge"]["percent"],
            odds["hit_frequency"]["exact"],
            *([odds["long_run"]["house_edge"]["exact"]] if odds["long_run"] else []),
            *(hand["chance"]["one_in"] for hand in wager["hands"]),
            *(f"{hand['combinations']:,}" for hand in wager["hands"]),
            *(names.cell(cell["pays"]) for hand in wager["hands"] for cell in hand["cells"]),
            *(award["chance"]["exact"] for award in odds["awards"]),
            *(meter["return_at_seed"]["exact"] for meter in odds["meters"]),
            *(money(meter["break_even_cents"]) for meter in odds["meters"]),
            *(money(envy["envy_cents"]) for envy in odds["envy"]),
        ):
            assert squeezed(each) in part, (title, each)


def page_without_foot(page: str) -> str:
    return "\n".join(line for line in page.splitlines() if " · JSON " not in line)


@FLOORS
def test_each_page_has_its_number_and_the_digest_of_the_json(filing: Filing) -> None:
    digest = hashlib.sha256(filing.json).hexdigest()
    for number, page in enumerate(filing.pages, start=1):
        assert f"Page {number} of {len(filing.pages)}" in page
        assert f"JSON {digest}" in page
    assert "Filed for the certificate holder by" in filing.pages[0]


def test_people_read_titles_and_no_empty_columns(house: Filing) -> None:
    """Names of files are only in the lists of names, in links' first lists and in game files."""
    text = "\n".join(house.pages).partition("Full text of")[0]
    for name in ("keystone_mega", "keystone_bonus", "seven_progressive"):
        title = name.replace("_", " ").capitalize()
        assert 0 < text.count(name) <= 2 * len(house.fields["games"]) + 2, name
        assert text.lower().count(title.lower()) > 4
    for nothing in ("Magic Card", "no Envy Bonuses", "not computed", "no choice", "0 community",
                    "0 to the dealer"):  # fmt: skip
        assert nothing not in text


def test_the_whole_text_of_each_house_game_is_in_the_pdf(house: Filing) -> None:
    lines = [line.strip() for page in house.pages for line in page.splitlines()]
    played = [game["file"]["name"] for game in house.fields["games"] if game["text"]]
    assert len(played) > 1
    for path in (HOUSE / name for name in played):
        for line in path.read_text().splitlines():
            assert not line.strip() or line.strip() in lines


def test_a_long_line_of_a_file_continues_and_an_empty_one_remains() -> None:
    words = " ".join(f"word-{number}" for number in range(60))
    layout = page_layout("Keystone", "File", "letter")
    text = f"# {words}\n\n\tname = <b>&amp;\u202e\n"
    elements: list[Any] = list(code_lines(text, 7, layout.inner))
    assert len(elements) == 6
    # Each line has its height, also an empty one.
    assert {element.wrap(500, 500)[1] for element in elements} == {7 * LEADING}
    (page,) = pages_of(pdf_file(layout, elements))
    assert squeezed(f"# {words}") in squeezed(page)
    assert r"name = <b>&amp;\u202e" in page


def test_characters_that_courier_lacks_are_printed() -> None:
    layout = page_layout("Keystone", "File", "letter")
    (page,) = pages_of(pdf_file(layout, list(code_lines('title = "Žižka ♠"', 7, 400))))
    assert 'title = "Žižka ♠"' in page


def test_equal_submissions_are_equal_files(house: Filing) -> None:
    submission = house.submission
    digest = hashlib.sha256(house.json).hexdigest()
    assert submission_pdf(submission, digest) == house.pdf
    later = msgspec.structs.replace(submission, date=date(2031, 2, 3).isoformat())
    data = submission_json(later)
    first, second = house.json.splitlines(), data.splitlines()
    assert [line for line in second if line not in first] == [b'  "date": "2031-02-03",']
    # Apart from the date and the digest of the JSON, the pages are equal too.
    other = hashlib.sha256(data).hexdigest()
    pages = pages_of(submission_pdf(later, other))
    assert [
        page.replace("2031-02-03", submission.date).replace(other, digest) for page in pages
    ] == house.pages


def test_a_demonstration_says_so_on_each_page(house: Filing) -> None:
    demonstration: Submission = msgspec.structs.replace(house.submission, demonstration=True)
    for page in pages_of(submission_pdf(demonstration, "0" * 64)):
        assert "Demonstration: simulated play" in page
