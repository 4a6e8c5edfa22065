"""Meters of house games that the service could not count or settle are refused."""

import re
from pathlib import Path

import pytest

from meters.floor import floor_file
from meters.floor.floor_file import FloorError, Meter, parse_floor
from meters.floor.game_files import GameError, parse_game, read_games
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import ROWS, envy_text, game_text, tier_rows, wager_text

SPADES = {"royal_flush_spades": "100% of meter", **ROWS, "royal_flush": "50% of meter"}
DRAWS = """
[[wager]]
names = ["{0}", "{0}_dealer"]
meter = "{0}_meter"
short = ["Own", "Dlr"]
ranking = "five_card"
cards = ["hand_and_community", "dealer_and_community"]
placing = "H.3"
lowest = "three_of_a_kind"
paid_from = "table_inventory"
divided = "H.4"
validation = {{ rule = "H.5", stays = "H.5" }}
draws = {{ rule = "H.4", magic_card = "1 for 1", lucky_bonus = "5 for 1" }}
"""


def draws_text(name: str) -> str:
    """Return the text of a wager with the Magic Card and the Lucky Bonus."""
    text = wager_text(name, f"{name}_meter")
    return DRAWS.format(name) + text[text.index("[[wager.table]]") :]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            game_text("g", ["m"], wager_text("w_dealer", "m", cards="dealer_and_community"),
                      dealer=2),
            "only a wager with draws can feed a meter and be on the dealer's hand alone",
        ),
        (
            game_text("g", ["m"], wager_text("w", "m", cards="hand_and_all_six"), hand=5,
                      community=0),
            "the All-Six card cannot decide a wager that feeds a meter",
        ),
        (
            game_text("g", ["meter", "m"], wager_text(
                "w", "meter", "m", rows=tier_rows("meter", "m"))),
            "a cell says meter for the only meter of its wager: write another name",
        ),
        (
            game_text("g", ["m"], wager_text("w", "m").replace(
                "placing =", 'readings = { choice = "r", rankings = {} }\nplacing =')),
            "the first of its readings must be its ranking",
        ),
        (
            game_text("g", ["m"], wager_text("w", "m").replace(
                "placing =",
                'readings = { choice = "r", rankings = { r = "five_card" } }\nplacing =')),
            "a wager that feeds a meter has no fourth_card, readings or mini_royal",
        ),
        (
            game_text("g", ["a_meter", "b_meter"], draws_text("a"), draws_text("b"), hand=3,
                      dealer=3, community=2),
            "two wagers have draws, but the system makes one draw in a round",
        ),
        (
            game_text(
                "g", ["a", "b"],
                wager_text("lucky", "a", after=envy_text(royal_flush="$500")),
                wager_text("lucky_progressive", "b", after=envy_text(royal_flush="$50")),
            ),
            "lucky_envy is the name of the Envy Bonuses of two wagers: give one wager another name",
        ),
        (
            game_text("g", ["m"], wager_text("w", "m", rows=SPADES, after=envy_text(
                royal_flush="$500", straight_flush="$50"))),
            "it must begin with royal_flush_spades, as the paytable does",
        ),
    ],
)  # fmt: skip
def test_a_wager_that_the_service_cannot_settle_is_refused(text: str, reason: str) -> None:
    with pytest.raises(GameError, match=re.escape(reason)):
        parse_game(text)


def test_a_game_with_draws_can_be_read() -> None:
    game = game_text("g", ["a_meter"], draws_text("a"), hand=3, dealer=3, community=2)
    assert parse_game(game).meter[0].name == "a_meter"


@pytest.mark.parametrize(
    ("first", "second"), [(("m", "n"), ("m",)), (("m",), ("m", "n")), (("m", "n"), ("n", "m"))]
)
def test_one_wager_feeds_the_same_tiers_in_every_game(
    tmp_path: Path, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    for game, meters in (("a", first), ("b", second)):
        rows = tier_rows(*meters) if len(meters) == 2 else ROWS
        others = [wager_text("other", "n")] if meters == ("m",) else []
        text = game_text(game, ["m", "n"], wager_text("w", *meters, rows=rows), *others)
        (tmp_path / f"{game}.toml").write_text(text)
    with pytest.raises(GameError) as refused:
        read_games(tmp_path)
    expected = f"b.toml:1: w feeds {' and '.join(second)}, but in a it feeds {' and '.join(first)}"
    assert expected in str(refused.value)


@pytest.mark.parametrize("row", ["seed", "odds", "sum"])
def test_amounts_that_the_ledger_cannot_count_are_refused(tmp_path: Path, row: str) -> None:
    seed = "$999,999,999,999 for 1" if row == "seed" else "$100 for 1"
    cell = {"odds": "999,999,999,999 for 1", "sum": "$999,999,999,999"}.get(row, "100 for 1")
    wager = wager_text("w", "m", rows={**ROWS, "four_of_a_kind": cell}, seed=seed)
    (tmp_path / "g.toml").write_text(game_text("g", ["m"], wager))
    table = table_text("T-1", "m", game="g", positions=6)
    text = floor_text(link_text("one", meter_text("m"), table), games=str(tmp_path))
    with pytest.raises(FloorError, match=r"the seed or a win of this wager is more than \$1,000,"):
        parse_floor(text)


def test_terms_are_compared_once_for_all_tables_of_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link can have thousands of tables; each start reads the floor file."""
    compared: list[tuple[str, str, str]] = []

    def watched(meter: Meter, game: str, first: str) -> str | None:
        compared.append((meter.meter_id, game, first))
        return pool_problem(meter, game, first)

    pool_problem = floor_file._pool_problem
    monkeypatch.setattr(floor_file, "_pool_problem", watched)
    kinds = ("progressive", "five_card_progressive")
    tables = (table_text(f"T-{number}", *kinds) for number in range(40))
    parse_floor(floor_text(link_text("main", *map(meter_text, kinds), *tables)))
    assert compared == [(kind, "three_card_poker", "three_card_poker") for kind in kinds]
