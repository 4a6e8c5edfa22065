"""The words of patron pages in each language, and the fonts that have their signs."""

import re
from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction
from importlib.resources import files
from io import BytesIO
from string import ascii_letters, digits
from typing import Final, get_args
from unicodedata import normalize

import msgspec
import pytest
from babel.messages.pofile import read_po
from fontTools.ttLib import TTFont

import bonus.hands.rankings
from bonus.display import hand_words
from bonus.law.games import Games
from bonus.wagers import MUST_HIT_BY
from meters.floor.branding import Branding, BrandingText, Language
from meters.floor.floor_file import parse_floor
from meters.floor.must_hit_by_settings import MUST_HIT_BY_TITLE
from meters.floor.patron_words import PatronWords, patron_words
from tests.floor_text import floor_text, link_text, meter_text

OTHERS: Final[tuple[Language, ...]] = tuple(each for each in get_args(Language) if each != "en")
TEXT_FONTS: Final = {
    "es": ("archivo-latin",),
    "vi": ("archivo-latin", "archivo-vietnamese"),
    "zh-Hans": ("archivo-latin", "noto-sans-sc-words"),
}
TITLE_FONTS: Final = {
    "es": (("cinzel-latin",), ("tilt-neon-latin",), ("classic-serif-latin",)),
    "vi": tuple((f"{name}-latin", f"{name}-vietnamese") for name in ("tilt-neon", "classic-serif")),
    "zh-Hans": (("cinzel-latin", "noto-sans-sc-words"),),
}
OF_DATES: Final = {"es": "", "vi": "", "zh-Hans": "年月日上午下午"}


def texts() -> Iterator[tuple[str | None, str]]:
    for name, value in msgspec.structs.asdict(PatronWords()).items():
        if name not in {"language", "hands", "meters"} and value:
            yield from ((None, text) for text in (value if isinstance(value, tuple) else [value]))
    for ranking in vars(bonus.hands.rankings).values():
        if isinstance(ranking, type) and issubclass(ranking, StrEnum):
            yield from (("hand", hand_words(hand)) for hand in ranking)
    yield "hand", hand_words(MUST_HIT_BY)
    yield "meter", MUST_HIT_BY_TITLE
    for game in Games().values():
        yield from (("meter", meter.title) for meter in game.meter)


def catalog(language: Language) -> dict[tuple[str | None, str], str]:
    path = files("meters.floor") / "catalogs" / f"{language.replace('-', '_')}.po"
    entries = [entry for entry in read_po(BytesIO(path.read_bytes())) if entry.id]
    assert not any(entry.fuzzy for entry in entries)
    return {(entry.context, str(entry.id)): str(entry.string) for entry in entries}


def signs_of(font: str) -> set[str]:
    path = files("meters.web") / "assets" / "fonts" / f"{font}.woff2"
    return {chr(code) for code in TTFont(BytesIO(path.read_bytes())).getBestCmap()}


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalog_has_each_text_once_with_the_same_places(language: Language) -> None:
    found = catalog(language)
    assert set(found) == set(texts())
    for (_, english), text in found.items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", english))
        assert normalize("NFC", text).strip() == text != ""
        assert text.count("\n") == english.count("\n")


@pytest.mark.parametrize("language", OTHERS)
def test_the_fonts_have_the_signs_of_every_text(language: Language) -> None:
    texts = "".join(catalog(language).values()).replace("\n", "")
    signs = set(texts + OF_DATES[language] + ascii_letters + digits)
    for fonts in (TEXT_FONTS[language], *TITLE_FONTS[language]):
        lacking = signs - set().union(*map(signs_of, fonts))
        assert not lacking, (fonts, "".join(sorted(lacking)))


def test_a_facilitys_words_are_in_its_first_language() -> None:
    own = BrandingText(closed="Cerrado hoy", foot="21+")
    branding = Branding(languages=("es", "en"), title="Botes", wording=own)
    spanish, english = patron_words(branding, "es"), patron_words(branding, "en")
    assert (spanish.closed, spanish.wins_all, spanish.foot) == (
        "Cerrado hoy", "se lo lleva todo", "21+",
    )  # fmt: skip
    assert (english.closed, english.foot, english.title) == ("Closed", "21+", "Botes")
    assert (spanish.closed_head, english.closed_head) == ("Cerrado hoy", "Jackpots are closed")
    assert spanish.unavailable_head == "Un momento, por favor"
    assert spanish.hand_text("royal_flush") == "Escalera real"
    assert spanish.hand_text("dragon_seven") == english.hand_text("dragon_seven") == "Dragon seven"
    assert (spanish.number(3), english.number(3)) == ("tres", "three")


def test_a_meter_has_the_name_that_the_floor_file_gives_it() -> None:
    big = meter_text("progressive", name="Big", id="big")
    floor = parse_floor(floor_text(link_text("main", meter_text("progressive"), big)))
    spanish = patron_words(floor.signage, "es")
    assert [spanish.meter_title(meter) for meter in floor.link[0].meter] == ["Progresivo", "Big"]


def test_a_percentage_is_written_as_in_the_language() -> None:
    written = [patron_words(Branding(), each).percent(Fraction(25, 2)) for each in (*OTHERS, "en")]
    assert written == ["12.5", "12.5", "12,5", "12.5"]
