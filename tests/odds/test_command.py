import os
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pytest
import typer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from typer.testing import CliRunner, Result

from bonus.errors import UserError
from meters.cli.odds import odds
from meters.floor.floor_file import parse_floor
from meters.selfcheck.floor_offers import floor_offers
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.odds.test_edges import EDGES

CONTRACT: Final = {"game", "wager", "paytable", "house_edge", "house_edge_decimal", "hands"}

FLOOR: Final = floor_text(
    link_text(
        "one",
        meter_text("progressive", 500, paytable="B"),
        meter_text("five_card_hand_bonus", 25, magic_card_every=100, lucky_every=40),
        table_text(
            "TCP-01", "progressive", "five_card_hand_bonus",
            asset="1", positions=6,
            paytables={"ante_bonus": "b-C", "pair_plus": "D", "mini_royal": {"pair_plus": 60}},
        ),
        table_text(
            "TCP-02", "progressive", "five_card_hand_bonus",
            asset="2", paytables={"ante_bonus": "c-B", "version": "1"},
        ),
        table_text(
            "TCPR-01",
            asset="3", game="three_card_prime", positions=6, paytables={"bad_beat": "C"},
        ),
        table_text(
            "FCP-01",
            asset="4", game="four_card_prime", positions=6,
            paytables={"aces_bonus": "H", "aces_bonus_reading": "best_four", "prime": "B"},
        ),
        table_text(
            "FCP-02",
            asset="5", game="four_card_prime", positions=6, paytables={"aces_bonus": "H"},
        ),
        name="One",
    ),
    name="Keystone Casino",
)  # fmt: skip

Run = Callable[..., Result]


@pytest.fixture
def run(counts_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command with its own cache, filled with the shared counts."""
    cache = tmp_path / "cache"
    cache.mkdir()
    counts_directory.mkdir(parents=True, exist_ok=True)
    (cache / "pitlink").symlink_to(counts_directory)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    app = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
    app.command("odds")(odds)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    return invoke


def listed(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return msgspec.json.decode(result.stdout, type=list[dict[str, Any]])


def refused(result: Result) -> UserError:
    assert isinstance(result.exception, UserError), result.output
    return result.exception


def test_json_is_a_list_of_what_the_contract_promises(run: Run) -> None:
    found = listed(run("--json", "--wager", "pair_plus", "--wager", "prime"))
    assert [(entry["game"], entry["wager"], entry["paytable"]) for entry in found[::2]] == [
        *(("three_card_poker", "pair_plus", letter) for letter in "ABCDE"),
        ("three_card_prime", "prime", None), ("four_card_prime", "prime", "B"),
    ]  # fmt: skip
    for entry in found:
        assert set(entry) >= CONTRACT
        edge = Fraction(str(entry["house_edge"]))
        assert abs(Fraction(str(entry["house_edge_decimal"])) - edge) <= Fraction(1, 2_000_000)
        hands = entry["hands"]
        for line in hands:
            assert {"hand", "combinations", "of", "pays"} <= set(line)


@pytest.mark.slow
def test_everything_is_listed_together_and_fits_the_page(run: Run) -> None:
    found = Counter((str(entry["game"]), str(entry["wager"])) for entry in listed(run("--json")))
    assert found == {wager: len(edges) for wager, edges in EDGES.items()}
    assert found.total() == 71
    shown = run()
    assert (shown.exit_code, max(map(len, shown.stdout.splitlines()))) <= (0, 100)
    words = " ".join(shown.stdout.split())
    for text in (
        "Three Card Poker (58 Pa. Code 649a)",
        "Play with queen-six-four or better.",
        "House edge 3.3730% 3.6083% 3.8255%",
        "686689/20358520",
        "2.0147%",
        "mini-royal of spades",
        "1 in 22,100",
        "3.2579%",
        "$10,080.00",
        "$160,530.55",
        "Note on c-A, c-B, c-C: This paytable is for tables with a version of 649a.7(e).",
        "This paytable is for tables without a version of 649a.7(e).",
        "2.7931%",
        "Raise 1 time the Ante with the rest down to a pair of threes.",
        "Aces bonus, judged on all five cards, according to the text",
    ):
        assert text in words, text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--game", "blackjack"], "it is one of three_card_poker, three_card_prime"),
        (["--wager", "pair_plu"], "is pair_plus meant?"),
        (["--game", "three_card_prime", "--wager", "pair_plus"], "ante, prime, pair_bonus"),
        (["--wager", "raise"], "raise is part of ante"),
        (["--wager", "ante_bonus"], "ante_bonus is part of ante"),
        (["--game", "three_card_prime", "--wager", "bad_beat"], "bad_beat is part of ante"),
        (["--wager", "pair_plus", "--paytable", "F"], "it is one of A, B, C, D, E"),
        (["--wager", "five_card_progressive", "--paytable", "A"], "no paytable to choose"),
        (["--mini-royal-ante-bonus", "4"], "at least 5 to 1 for ante_bonus (649a.12(g)(1))"),
        (["--mini-royal-pair-plus", "39"], "at least 40 to 1 for pair_plus (649a.12(g)(2))"),
        (["--mini-royal-ante-bonus", "200001"], "at most 200,000 to 1"),
        (["--wager", "progressive", "--plot", "/"], "ends in .png"),
        (["--wager", "pair_plus", "--plot", "x.png"], "nothing to plot"),
        (["--wager", "progressive", "--plot", "x.nothing"], "ends in .png, .svg, .pdf"),
    ],
)
@pytest.mark.section("649a.12(g)(1)")
@pytest.mark.section("649a.12(g)(2)")
def test_wrong_usage_is_refused_with_what_there_is(
    arguments: list[str], says: str, run: Run
) -> None:
    error = refused(run(*arguments))
    assert says in str(error)
    assert error.exit_status == 2


@pytest.mark.section("649a.12(g)")
@pytest.mark.reading("T4")
def test_the_odds_of_a_mini_royal_may_be_given(run: Run) -> None:
    _, entry = listed(
        run("--json", "--wager", "pair_plus", "--paytable", "D", "--mini-royal-pair-plus", "1000")
    )
    assert entry["mini_royal"] == "1,000 to 1"
    # Four hands of 22,100 pay 960 to 1 more.
    assert Fraction(str(entry["house_edge"])) == Fraction(128, 5_525) - Fraction(4 * 960, 22_100)


@pytest.mark.section("649a.12(i)(3)")
@pytest.mark.reading("T19")
def test_draws_may_be_given(run: Run) -> None:
    (entry,) = listed(
        run(
            *("--json", "--wager", "five_card_hand_bonus", "--positions", "4"),
            *("--magic-card-every", "50", "--lucky-every", "20"),
        )
    )
    drawn = Fraction(100, 52 * 50) + Fraction(5, 5 * 20)
    assert Fraction(str(entry["house_edge"])) == Fraction(5_647, 9_282) - drawn
    assert entry["positions"] == 4


def test_a_floor_is_shown_with_its_own_choices(run: Run, tmp_path: Path) -> None:
    floor = tmp_path / "floor.toml"
    floor.write_text(FLOOR)
    found = listed(
        run(
            *("--config", str(floor), "--json", "--game", "three_card_poker"),
            *("--game", "three_card_prime"),
        )
    )
    text = [(entry["wager"], entry["paytable"], entry["tables"]) for entry in found]
    assert text == [
        ("ante", "b-C", ["TCP-01"]),
        ("ante", "c-B", ["TCP-02"]),
        ("pair_plus", "D", ["TCP-01"]),
        ("progressive", "B", ["TCP-01", "TCP-02"]),
        ("five_card_hand_bonus", None, ["TCP-01"]),
        ("five_card_hand_bonus", None, ["TCP-02"]),
        ("five_card_hand_bonus_dealer", None, ["TCP-01"]),
        ("five_card_hand_bonus_dealer", None, ["TCP-02"]),
        ("ante", "C", ["TCPR-01"]),
        ("prime", None, ["TCPR-01"]),
    ]
    assert found[2]["mini_royal"] == "60 to 1"
    assert "mini_royal" not in found[0]
    assert found[3]["break_even_meter"] == {"500": 5_760_000}
    assert [entry["positions"] for entry in found[4:6]] == [6, 7]
    assert found[4]["seed_meter"] == {"25": 250_000}


@pytest.mark.reading("F12")
def test_a_floor_offers_the_aces_bonus_in_the_reading_it_has_chosen() -> None:
    offers = [
        (offer.wager, offer.paytable, offer.reading, offer.ranking, offer.at)
        for offer in floor_offers(parse_floor(FLOOR))
        if offer.chapter.game == "four_card_prime"
    ]
    assert offers == [
        ("prime", "B", "", "five_prime", ("FCP-01",)),
        ("aces_bonus", "H", "best_four", "aces_best_four", ("FCP-01",)),
        ("aces_bonus", "H", "five_cards", "aces", ("FCP-02",)),
    ]


def test_a_floor_file_and_draws_contradict_each_other(run: Run, tmp_path: Path) -> None:
    floor = tmp_path / "floor.toml"
    floor.write_text(FLOOR)
    error = refused(run("--config", str(floor), "--lucky-every", "3"))
    assert "--config already sets the draws" in str(error)
    assert error.exit_status == 2
    assert refused(run("--config", str(tmp_path / "none.toml"))).exit_status == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        ("--wager", "progressive"),
        ("--wager", "five_card_hand_bonus_dealer"),
        ("--games", str(HOUSE), "--wager", "keystone_bonus", "--wager", "progressive"),
    ],
)
def test_a_plot_is_drawn_besides_the_printed_table_and_leaves_out_wagers_with_tiers(
    chosen: tuple[str, ...], run: Run, tmp_path: Path
) -> None:
    plot = tmp_path / "edge.png"
    assert listed(run("--json", "--plot", str(plot), *chosen))
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_a_plot_names_its_axes_and_marks_where_the_house_has_nothing_left(
    run: Run, tmp_path: Path
) -> None:
    plot = tmp_path / "edge.svg"
    run("--json", "--plot", str(plot), "--wager", "progressive", "--paytable", "A")
    # Text is drawn as shapes, with the words in a comment above.
    drawn = plot.read_text()
    for said in ("Amount of the meter, in dollars ($1 wager)", "House edge, in % of the wager",
                 "without Envy Bonuses", "with Envy Bonuses, 6 other players", "in the long run",
                 "$10,080", "$9,030", "seed $1,000"):  # fmt: skip
        assert f"<!-- {said} -->" in drawn


def points(line: Line2D) -> list[list[float]]:
    found: list[list[float]] = np.asarray(line.get_xydata(), float).tolist()
    return found


def test_lines_of_a_plot_cross_zero_where_they_are_marked(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    run("--plot", str(tmp_path / "edge.png"), "--wager", "progressive")
    (figure,) = drawn
    assert len(figure.axes) == 2
    for panel in figure.axes:
        _, _, alone, at_alone, envied, at_envied, lasting = panel.lines
        ((_, kept), (_, end_kept)) = points(lasting)
        assert kept == end_kept
        for line, mark in ((alone, at_alone), (envied, at_envied)):
            (start, high), (end, low) = points(line)
            ((meter, zero),) = points(mark)
            assert zero == 0
            assert high + (low - high) * (meter - start) / (end - start) == pytest.approx(0)
    assert points(figure.axes[0].lines[6])[0] == [0, pytest.approx(45_400 / 1_105 - 14)]
    assert points(figure.axes[0].lines[3]) == [[10_080, 0]]
    assert points(figure.axes[0].lines[5]) == [[9_030, 0]]


@pytest.mark.parametrize(
    ("plot", "chosen", "says"),
    [
        ("nowhere/edge.png", ("--wager", "progressive"), "there is no directory"),
        *(
            (
                "edge.png",
                ("--games", str(HOUSE), "--wager", "keystone_bonus", *others),
                "a plot needs a wager whose edge depends on one meter alone",
            )
            for others in ((), ("--wager", "pair_plus"))
        ),
    ],
    ids=["no directory", "tiers", "tiers and a wager without a meter"],
)
def test_a_plot_that_cannot_be_drawn_is_refused(
    plot: str, chosen: tuple[str, ...], says: str, run: Run, tmp_path: Path
) -> None:
    error = refused(run(*chosen, "--plot", str(tmp_path / plot)))
    assert says in str(error)
    assert error.exit_status == 2
    assert not (tmp_path / plot).exists()


def test_counts_are_kept_in_the_cache_directory_by_default(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "other"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    listed(run("--json", "--wager", "pair_plus", "--no-cache"))
    assert not cache.exists()
    first = run("--json", "--wager", "pair_plus")
    assert [file.suffix for file in (cache / "pitlink").iterdir()] == [".counts"]
    assert run("--json", "--wager", "pair_plus").stdout == first.stdout


@pytest.mark.parametrize("named", ["", "relative/path", None])
def test_without_an_absolute_cache_directory_it_is_that_of_the_home(
    named: str | None, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if named is None:
        monkeypatch.delenv("XDG_CACHE_HOME")
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.setenv("HOME", str(tmp_path))
    listed(run("--json", "--wager", "pair_plus"))
    assert (tmp_path / ".cache" / "pitlink").is_dir()


def test_a_cache_that_cannot_be_written_is_noticed_and_no_more(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("no directory")
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(in_the_way))
    result = run("--json", "--wager", "pair_plus")
    assert listed(result)
    assert "nothing can be stored in" in result.stderr.replace("\n", " ")


def test_the_command_prints_times_for_people_and_for_programs(run: Run) -> None:
    asked = ("--wager", "progressive", "--paytable", "A", "--rounds-per-hour", "600")
    text = run(*asked).stdout
    assert "With 600 wagers an hour, all in this game" in text
    row = next(line for line in text.splitlines() if line.split()[:2] == ["progressive,", "whole"])
    assert row.split()[2:] == ["about", "once", "in", "37", "hours"]
    (entry,) = listed(run(*asked, "--json"))
    times = entry["hit_times"]
    assert times["wagers_per_hour"] == 600
    assert times["meters"] == [{"meter": "progressive", "hours": "221/6", "hours_whole": "221/6"}]
    without = listed(run("--wager", "pair_plus", "--rounds-per-hour", "9", "--json"))
    assert "hit_times" not in [*listed(run(*asked[:4], "--json")), *without][-1]


@pytest.mark.slow
def test_times_of_a_shared_meter_are_those_of_one_game(run: Run) -> None:
    """Two games share the meter, and have different chances. So the command names its condition."""
    asked = ("--games", str(HOUSE), "--rounds-per-hour", "600", "--game", "keystone_stud",
             "--game", "river_duel")  # fmt: skip
    minor = {
        meter["hours"]
        for entry in listed(run(*asked, "--json"))
        for meter in entry.get("hit_times", {"meters": ()})["meters"]
        if meter["meter"] == "keystone_minor"
    }
    assert len(minor) == 2
    assert run(*asked).stdout.count("With 600 wagers an hour, all in this game") == 2
    help_text = " ".join(run("--help").stdout.replace("│", " ").split())
    assert "all N are wagers of this game" in help_text


def test_help_teaches(run: Run) -> None:
    text = run("--help").stdout
    for part in ("--plot", "--mini-royal-pair-plus", "pitlink odds --wager pair_plus"):
        assert part in text
