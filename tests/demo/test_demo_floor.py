"""The demonstration's floor and its figures, without a process."""

import re
import textwrap
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from rich.console import Console

from bonus.errors import UserError
from bonus.odds.enumerations import Enumerator
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from controllers.demo.bot_tables import BotOptions, TableBooks
from controllers.demo.demo_floor import FLOOR_FILE, PANEL_TABLE, playing_tables, write_demo_floor
from controllers.demo.demo_report import progress_line, show_summary
from controllers.demo.demo_service import AuditReport, LedgerTotals, MeterShown
from controllers.demo.demonstration_run import DemoOptions
from meters.floor.branding import read_logo
from meters.floor.floor_file import read_floor
from meters.floor.themes import read_theme
from tests.deploy.tree import DOCS

FOUR = {"progressive", "five_card_progressive", "five_of_six_progressive", "five_card_hand_bonus"}


def places(path: Path) -> dict[str, str]:
    return {table.id: link.id for link in read_floor(path).link for table in link.table}


def test_floor_has_two_links_of_the_chapters_with_all_four_meters(tmp_path: Path) -> None:
    _, floor = write_demo_floor(tmp_path, 12, 8080)
    assert [link.name for link in floor.link] == [
        "One Dollar Jackpot", "Five Dollar Jackpot", "Liberty Jackpot",
    ]  # fmt: skip
    for link in floor.link[:2]:
        assert {meter.kind for meter in link.meter} == FOUR
        for table in link.table:
            assert set(table.meters) == (FOUR if table.game == "three_card_poker" else set())
            assert table.paytables
    games = Counter(table.game for link in floor.link for table in link.table)
    assert games == {
        "three_card_poker": 5, "three_card_prime": 2, "four_card_prime": 2,
        "three_rivers": 2, "liberty_five": 2,
    }  # fmt: skip
    assert [len(link.table) for link in floor.link] == [5, 4, 4], "one table is played by hand"
    assert floor.service.broker == floor.service.redis == "embedded"
    # The third link has three tiers, which two house games share.
    third = floor.link[2]
    assert [meter.title for meter in third.meter] == ["Mega", "Major", "Minor"]
    tiers = {meter.kind for meter in third.meter}
    assert all(set(table.meters) == tiers for table in third.table)


def test_progressives_of_the_house_games_keep_a_sensible_share(tmp_path: Path) -> None:
    """At the seeds, the house keeps between 10% and 30% of these wagers, and 4% to 5% of others."""
    _, floor = write_demo_floor(tmp_path, 6, 8080)
    enumerator = Enumerator()
    edges = {
        (game, offer.wager): Fraction(entry_of(offer, enumerator).house_edge)
        for game in ("three_rivers", "liberty_five")
        for offer in offers_of(floor.games[game], {}, DrawOdds())
    }
    assert {wager for _, wager in edges} == {"rivers_wager", "five_wager", "liberty_progressive"}
    for (_, wager), edge in edges.items():
        low, high = (10, 30) if wager == "liberty_progressive" else (4, 5)
        assert Fraction(low, 100) < edge < Fraction(high, 100)


def test_tables_stay_on_their_link_and_never_go(tmp_path: Path) -> None:
    """The ledger has their entries permanently, and an audit needs their rates."""
    path, _ = write_demo_floor(tmp_path, 5, 8080)
    first = places(path)
    write_demo_floor(tmp_path, 9, 8081)
    more = places(path)
    assert first.items() <= more.items()
    write_demo_floor(tmp_path, 2, 8080)
    assert places(path) == more


def test_bots_play_at_as_many_tables_as_asked_for(tmp_path: Path) -> None:
    """One table leaves a link without any; another one is played by hand."""
    _, floor = write_demo_floor(tmp_path, 1, 8080)
    assert [len(link.table) for link in floor.link] == [2, 0, 0]
    _, floor = write_demo_floor(tmp_path, 99, 8080)
    for tables in (1, 2, 3, 5, 6, 99):
        playing = playing_tables(floor, tables)
        assert len({table.id for _, table in playing}) == tables
        assert PANEL_TABLE not in {table.id for _, table in playing}


@pytest.mark.parametrize("name", ['a "quoted" one', "back\\slash", "line\nfeed", "naïve ☃"])
def test_any_data_directory_can_be_written_down(tmp_path: Path, name: str) -> None:
    data = tmp_path / name
    data.mkdir()
    _, floor = write_demo_floor(data, 1, 8080)
    assert floor.service.data == str(data)


def test_the_displays_look_as_another_floor_file_says(tmp_path: Path) -> None:
    brand = tmp_path / "brand.toml"
    brand.write_text(
        '[facility]\nname = "Otter Bay"\n[signage]\ntheme = "./house"\nlogo = "logo.svg"\n'
        'languages = ["en", "es"]\ncelebrate_from = 2500\n'
        'night = { starts = "02:00", ends = "08:00" }\n[signage.wording]\nfoot = "A \\"word\\""\n'
    )
    data = tmp_path / "data"
    data.mkdir()
    path, floor = write_demo_floor(data, 1, 8080, brand)
    look = read_floor(path).signage
    assert look == floor.signage
    assert (look.theme, look.logo) == (str(tmp_path / "house"), str(tmp_path / "logo.svg"))
    assert (look.languages, look.celebrate_from) == (("en", "es"), 2500)
    assert look.night is not None
    assert look.wording.foot == 'A "word"'
    brand.write_text('[signage]\ntitel = "Jackpots"\n')
    with pytest.raises(UserError, match=r"brand.toml:2: .*title"):
        write_demo_floor(data, 1, 8080, brand)
    assert write_demo_floor(data, 1, 8080)[1].signage.theme == "gold"


def test_the_look_that_the_page_about_signage_writes_is_one(tmp_path: Path) -> None:
    page = (DOCS / "run" / "players.md").read_text()
    look, theme = re.findall(r"^   ```toml\n(.*?)^   ```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "theme.toml").write_text(textwrap.dedent(theme))
    (tmp_path / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    brand = tmp_path / "brand.toml"
    brand.write_text(textwrap.dedent(look))
    _, floor = write_demo_floor(tmp_path, 1, 8080, brand)
    assert read_theme(floor.signage.theme).sheet
    assert read_logo(floor.signage) is not None


def test_floor_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / FLOOR_FILE).write_text("nonsense")
    with pytest.raises(UserError, match=FLOOR_FILE):
        write_demo_floor(tmp_path, 1, 8080)


def test_floorperson_comes_after_seconds_that_can_be_seen() -> None:
    def after(speed: float, *, auto_floor: bool = True) -> float | None:
        bots = BotOptions(speed, None, 0)
        return DemoOptions(bots, 12, 8080, Path(), auto_floor).auto_floor_after_s

    assert after(1.0) == 20.0
    assert after(4.0) == 5.0
    assert after(100.0) == 1.0
    assert after(1.0, auto_floor=False) is None


def test_progress_names_the_highest_meter() -> None:
    low = MeterShown("tcp-one", "progressive", "Progressive", 101_234, "open")
    high = MeterShown("tcp-one", "five_card_progressive", "Five Card", 1_000_000, "open")
    line = progress_line(75.2, TableBooks(rounds=1200, wagers=9000, wins=3), [low, high])
    assert line == "01:15  1,200 rounds, 9,000 wagers, 3 wins; Five Card at $10,000.00"
    assert progress_line(0, TableBooks(), []) == "00:00  0 rounds, 0 wagers, 0 wins"


def test_summary_says_what_does_not_balance(capsys: pytest.CaptureFixture[str]) -> None:
    totals = LedgerTotals(1, 2, 200, 480_000, 0, 0)
    report = AuditReport(balanced=False, entries=3, totals=totals, problems=("tcp-one: off by +7",))
    assert not show_summary(Console(), TableBooks(rounds=1), LedgerTotals(), report, None)
    shown = capsys.readouterr().out
    assert "DOES NOT BALANCE" in shown
    assert "tcp-one: off by +7" in shown
    assert "balances to the micro" not in shown
