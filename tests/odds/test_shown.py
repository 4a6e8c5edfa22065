import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import OddsEntry, exact
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from meters.cli.odds_tables import show
from meters.floor.game_files import read_games
from tests.games.texts import envy_text, game_text, tier_rows, wager_text
from tests.odds.test_edges import entries as edge_entries

Shown = Callable[..., str]


@pytest.fixture
def shown(counted: Enumerator) -> Shown:
    def print_them(game: str, wager: str, width: int = 100, draws: DrawOdds | None = None) -> str:
        chosen = list(entries(counted, game, wager, draws))
        console = Console(width=width, file=io.StringIO(), highlight=False)
        show(chosen, console)
        written = console.file
        assert isinstance(written, io.StringIO)
        return written.getvalue()

    return print_them


def entries(
    counted: Enumerator, game: str, wager: str, draws: DrawOdds | None = None
) -> list[OddsEntry]:
    return edge_entries(counted, wager, game, draws or DrawOdds())


def columns(text: str) -> list[tuple[list[str], list[str]]]:
    found = []
    head: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["Hand", "Combinations"]:
            head = words[3:]
        if words[:2] == ["House", "edge"] and "%" in line:
            found.append((head, words[2:]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize(
    ("game", "wager"),
    [
        ("three_card_poker", "ante"),
        ("three_card_poker", "pair_plus"),
        ("three_card_prime", "ante"),
        ("three_card_prime", "pair_bonus"),
        ("three_card_prime", "prime"),
    ],
)
def test_each_edge_is_under_its_paytable_and_nothing_is_cut(
    game: str, wager: str, width: int, shown: Shown, counted: Enumerator
) -> None:
    text = shown(game, wager, width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for entry in entries(counted, game, wager):
        assert f" {exact(entry.house_edge)} " in text.replace("\n", " \n")
    edges: dict[str, str] = {}
    for head, foot in columns(text):
        edges |= dict(zip(head[-len(foot) :], foot, strict=True))
    assert edges == {
        (entry.paytable or "Pays") + "+" * bool(entry.mini_royal): percent_of(entry)
        for entry in entries(counted, game, wager)
    }


def percent_of(entry: OddsEntry) -> str:
    return f"{round(entry.house_edge * 10**6) / 10**4:.4f}%"


@pytest.mark.slow
def test_additional_payments_have_a_column(shown: Shown, counted: Enumerator) -> None:
    text = shown("three_card_prime", "ante")
    line = next(line for line in text.splitlines() if "mini-royal" in line)
    assert "10 to 1" in line
    assert "These are the paytables of the bad beat, on the play" in text
    (first, *_) = entries(counted, "three_card_prime", "ante")
    assert {line.hand: line.beside for line in first.hands}["straight"] == {"play": "2 to 1"}


@pytest.mark.slow
def test_a_game_that_rank_alone_does_not_decide_says_what_that_costs(shown: Shown) -> None:
    text = shown("three_card_prime", "ante")
    assert "Best strategy by the rank of the hand alone" in text
    assert "A: 4.5156%, 0.000029 points more" in text
    assert "Best strategy by the rank" not in shown("three_card_poker", "ante")


def test_folding_and_sharing_are_shown(shown: Shown, counted: Enumerator) -> None:
    folding = " ".join(shown("three_card_poker", "five_card_progressive").split())
    assert "the optimal strategy, the house edge is 51.3602% at the seed" in folding
    assert "the break-even meter is $185,635.80 ($1 wager) or $928,178.99 ($5 wager)." in folding
    text = shown("three_card_poker", "five_card_hand_bonus_dealer")
    (entry,) = entries(counted, "three_card_poker", "five_card_hand_bonus_dealer")
    for share in entry.when_shared:
        assert f"{share.players} " in text
    lines = [line.split() for line in text.splitlines()]
    assert [line[1] for line in lines if line and line[0] in set("1234567")] == [
        "60.8382%", "62.3003%", "62.7877%", "63.0314%", "63.1776%", "63.2751%", "63.3447%",
    ]  # fmt: skip


def test_the_long_run_is_shown_beside_the_seed(shown: Shown) -> None:
    text = " ".join(shown("three_card_poker", "progressive").split())
    assert "House edge at the seed 41.0860% 47.6018%" in text
    assert "House edge, long run 27.0860% 27.6018%" in text
    assert "Hit frequency 3.7104% 0.4525%" in text
    assert (
        "In the long run, 54.3891% of the wagers is paid at odds or in fixed sums, and 14.0000%"
        " goes to the meters, where players win all of it. Reseeds cost the house 4.5249% more. The"
        " house keeps 27.0860%, less Envy Bonuses."
    ) in text


def test_draws_by_which_the_house_loses_are_shown_plainly(shown: Shown) -> None:
    text = shown("three_card_poker", "five_card_hand_bonus", draws=DrawOdds(5, 2))
    assert "the house loses at the seed: draw less often" in text
    assert "the house loses" not in shown("three_card_poker", "five_card_hand_bonus")


@pytest.mark.parametrize("width", [80, 100, 200])
def test_cells_of_several_meters_have_their_titles_and_are_not_cut(
    width: int, counted: Enumerator, tmp_path: Path
) -> None:
    rows = tier_rows("the_daily_grand", "the_daily_mini") | {
        "four_of_a_kind": "50% of the_daily_mini + 10% of the_daily_grand + $1,000"
    }
    wager = wager_text("side_bet", "the_daily_grand", "the_daily_mini", rows=rows)
    text = game_text("daily", ["the_daily_grand", "the_daily_mini"], wager)
    text = text.replace('title = "the_daily_grand"', 'title = "Daily Grand"')
    text = text.replace('title = "the_daily_mini"', 'title = "Daily Mini"')
    titled = text.replace('names = ["side_bet"]', 'names = ["side_bet"]\ntitle = "Daily Wager"')
    (tmp_path / "daily.toml").write_text(titled)
    games = read_games(tmp_path)
    offers = offers_of(games["daily"], {}, DrawOdds())
    file = io.StringIO()
    console = Console(width=width, file=file, highlight=False)
    show([entry_of(offer, counted) for offer in offers], console, games)
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(file.getvalue().split())
    assert "…" not in words
    assert "the_daily" not in words
    assert "Daily Wager" in words
    if width > 80:
        assert "50% of Daily Mini + 10% of Daily Grand + $1,000" in words


def shown_of_house(directory: Path, counted: Enumerator, *, after: str, at: str = "") -> str:
    """Return the odds of a wager with six positions; `at` is a casino table that has it."""
    text = game_text("daily", ["grand"], wager_text("side_bet", "grand", after=after))
    (directory / "daily.toml").write_text(text)
    games = read_games(directory)
    offers = [
        replace(offer, at=(at,) if at else ())
        for offer in offers_of(games["daily"], {}, DrawOdds())
    ]
    file = io.StringIO()
    show([entry_of(offer, counted) for offer in offers], Console(width=200, file=file), games)
    return " ".join(file.getvalue().split())


def test_each_kind_of_envy_bonus_is_told_where_it_counts(
    tmp_path: Path, counted: Enumerator
) -> None:
    fixed = envy_text(royal_flush="$300", straight_flush="$10")
    both = envy_text(royal_flush="$300", straight_flush="1% of meter")
    shares = envy_text(royal_flush="N/A", straight_flush="1% of meter")
    text = shown_of_house(tmp_path, counted, after=fixed)
    assert "%, less Envy Bonuses." in text
    assert "The Envy Bonuses of each other player lower the house edge ($1: 0.0600%)." in text
    text = shown_of_house(tmp_path, counted, after=both)
    assert "%, less the Envy Bonuses that are fixed sums." in text
    assert "at the seed ($1: 0.0476%), and in the long run by the fixed sums ($1: 0.0462%)" in text
    assert "(reading T14 in compliance/readings.md)" in text
    text = shown_of_house(tmp_path, counted, after=shares)
    assert "less" not in text
    assert "by the fixed sums ($1: 0.0000%)" in text
    assert "5 other players" in text
    assert "6 other players" not in text
    assert "are examples" not in text


def test_amounts_that_no_file_names_are_examples(tmp_path: Path, counted: Enumerator) -> None:
    told = "The wagers of $1 and $5 are examples: a floor file sets the amount"
    assert told in shown_of_house(tmp_path, counted, after="")
    assert "are examples" not in shown_of_house(tmp_path, counted, after="", at="T-1")
