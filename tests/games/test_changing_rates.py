"""Rates that change at an amount of the meter: the file, the terms, void rounds, and the odds."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
import pytest

from bonus.law.chapter_file import Chapter
from bonus.law.games import Games, chapter_games, read_chapter
from bonus.law.meter_terms import meter_terms
from bonus.law.paytables import ChapterError
from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from bonus.rounds import RoundError
from bonus.settling.settle_round import settle_line
from meters.floor.floor_file import FloorError, parse_floor
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.games.rounds import GAMES

DICE, METER = "keystone_dice", "dice_jackpot"
TEXT: Final = (HOUSE / f"{DICE}.toml").read_text()
ABOVE: Final = """[wager.table.progression.above]
amount = "$21 for 1"
primary = "7.5%"
reserve = "17.5%"
"""
MICROS: Final = 10_000


def test_terms_have_the_amount_for_the_wager_and_both_rates() -> None:
    terms = meter_terms(METER, 100, None, DICE, GAMES)
    assert terms.pool == (2_000, 1_000, 2_000, 500, 2_100, 750, 1_750)
    assert terms.rates_bps(2_100 * MICROS - 1) == (2_000, 500)
    assert terms.rates_bps(2_100 * MICROS) == (750, 1_750)
    seven = meter_terms("seven_jackpot", 500, "B", "lucky_seven", GAMES)
    assert seven.pool[4:] == (5_001 * 500, 1_005, 1_270)


def test_no_rate_of_the_law_changes() -> None:
    games = chapter_games()
    for kind in games.meters.titles:
        assert meter_terms(kind, 100, "A" if kind == "progressive" else None).threshold_cents == 0


def test_a_reserve_that_only_a_high_meter_feeds_is_a_reserve() -> None:
    text = TEXT.replace('reserve = "5%"\n', "").replace("17.5%", "12.5%")
    chapter = read_chapter(text)
    terms = meter_terms(METER, 100, None, DICE, _games(chapter))
    assert (terms.reserve_bps, terms.has_reserve) == (0, True)
    played = {
        "game": DICE, "positions": [{"position": 1, "wagers": {"dice_bet": 100}}],
        "dealer": ["twelve"], "meters": {METER: {"wager": 100, "amount": 5_000, "reserve": 70}},
    }  # fmt: skip
    after = settle_line(json.dumps(played).encode(), _games(chapter)).meters[METER]
    assert (after.amount, after.reserve) == (1_070, 0)


def _games(chapter: Chapter) -> Games:
    return Games([(chapter, "x")])


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        ('"$21 for 1"', '"$20 for 1"', "amount must be above the seed and the reseed"),
        ('reseed = "$10', 'reseed = "$21', "amount must be above the seed and the reseed"),
        ('"$21 for 1"', '"$0"', "above: amount: '$0' is no amount of a meter: write '$N for 1'"),
        ('"$21 for 1"', '"$21"', "above: amount: '$21' is no amount of a meter"),
        ('"$21 for 1"', '""', "write no empty text"),
        ('"7.5%"', '"20%"', "primary must be below 20%"),
        ('"7.5%"', '"7.555%"', "'7.555%' is not a rate"),
        ('"17.5%"', '"17.49%"', "primary and reserve together must be as much as 20% and 5%"),
        ('"17.5%"', '"17.51%"', "primary and reserve together must be as much as 20% and 5%"),
        ('"$21 for 1"', '["$21 for 1", "$22 for 1"]', "write one cell for each choice"),
    ],
)
def test_a_wrong_change_of_rates_is_refused(was: str, becomes: str, reason: str) -> None:
    assert was in TEXT
    with pytest.raises(ChapterError) as refused:
        read_chapter(TEXT.replace(was, becomes, 1))
    assert reason in str(refused.value)


def floor_of(directory: Path, **texts: str) -> str:
    for game, text in texts.items():
        (directory / f"{game}.toml").write_text(text.replace(DICE, game))
    tables = (
        table_text(f"T-{number}", METER, game=game, positions=8)
        for number, game in enumerate(texts, start=1)
    )
    return floor_text(link_text("one", meter_text(METER), *tables), games=str(directory))


def test_games_that_share_a_meter_change_its_rates_at_the_same_amount(tmp_path: Path) -> None:
    text = floor_of(tmp_path, one=TEXT, two=TEXT.replace(ABOVE, ""))
    with pytest.raises(FloorError) as refused:
        parse_floor(text)
    reason = "its amount from which other rates apply is $0.00 in two, but $21.00 in one"
    assert reason in str(refused.value)


def test_a_reserve_that_nobody_can_win_is_refused(tmp_path: Path) -> None:
    text = floor_of(tmp_path, one=TEXT.replace('"100% of meter"', '"50% of meter"'))
    with pytest.raises(FloorError, match="no hand wins the whole meter, so nobody would win its"):
        parse_floor(text)


@pytest.mark.parametrize(("limit", "refused"), [(2_099, True), (2_100, False)])
def test_a_limit_below_the_amount_is_refused(tmp_path: Path, limit: int, refused: bool) -> None:  # noqa: FBT001
    """The meter could never have the amount."""
    text = floor_of(tmp_path, one=TEXT).replace("wager = 100", f"wager = 100\nlimit = {limit}")
    if not refused:
        parse_floor(text)
        return
    with pytest.raises(
        FloorError, match=r"limit of \$20.99 is below \$21.00, the amount from which"
    ):
        parse_floor(text)


@pytest.mark.parametrize(
    ("before", "limit", "added", "reserve"),
    [
        (2_000, None, (40, 10), 300),
        (2_074, None, (40, 10), 300),
        (2_200, None, (15, 35), 300),
        (2_200, None, (15, 35), None),
        (2_100, 2_100, (15, 35), 300),
        (2_090, None, (40, 10), 0),
        (2_090, None, (40, 10), 24),
        (2_110, None, (15, 35), 0),
    ],
)
def test_a_void_round_takes_off_what_its_wagers_added(
    before: int, limit: int | None, added: tuple[int, int], reserve: int | None
) -> None:
    """Two wagers, and a meter with what they added; what is above its limit is its overflow.

    From $20.75 to $21, only the ledger has the rates: both lead to the same amounts. The rates from
    $21 count, unless the reserve is too small for them.
    """
    held = before + added[0]
    meter: dict[str, int] = {"wager": 100, "amount": held}
    if reserve is not None:
        meter |= {"reserve": reserve + added[1]}
    if limit:
        meter |= {"limit": limit, "amount": limit, "overflow": held - limit}
    after = settle_line(json.dumps(void_of(meter)).encode(), GAMES).meters[METER]
    assert (after.amount + (after.overflow or 0), after.reserve) == (before, reserve or 0)


def test_a_void_round_of_a_high_meter_needs_its_reserve() -> None:
    meter = {"wager": 100, "amount": 2_300, "reserve": 34}
    with pytest.raises(RoundError, match="lower than this round's contributions"):
        settle_line(json.dumps(void_of(meter)).encode(), GAMES)


def void_of(meter: Mapping[str, int]) -> dict[str, object]:
    return {
        "game": DICE, "irregularity": "void", "meters": {METER: meter},
        "positions": [{"position": n, "wagers": {"dice_bet": 100}} for n in (1, 2)],
    }  # fmt: skip


def odds_of(text: str) -> OddsEntry:
    offers = offers_of(read_chapter(text), {}, DrawOdds())
    return entry_of(next(each for each in offers if each.wager == "dice_bet"), Enumerator())


@pytest.mark.parametrize(
    ("primary", "reserve"), [("0.01%", "24.99%"), ("7.5%", "17.5%"), ("19.99%", "5.01%")]
)
def test_the_odds_are_the_same_and_say_both_rates(primary: str, reserve: str) -> None:
    above = ABOVE.replace('"17.5%"', f'"{reserve}"').replace('"7.5%"', f'"{primary}"')
    plain, changing = (odds_of(TEXT.replace(ABOVE, each)) for each in ("", above))
    assert msgspec.structs.replace(changing, note=plain.note) == plain
    words = f"While the meter has $21 or more for each dollar of the wager, {primary} of a wager"
    assert words in changing.note
    assert "While" not in plain.note
