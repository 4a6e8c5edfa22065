"""Titles of the wagers of house games: read, refused, and shown to people."""

from importlib.resources import files
from pathlib import Path

import pytest

from bonus.law.games import Games, chapter_games
from meters.floor.game_files import GameError, parse_game, read_games
from tests.games.naive import HOUSE

STUD = (HOUSE / "keystone_stud.toml").read_text()
NAMES = 'names = ["keystone_bonus"]\n'
TITLED = (
    STUD.replace(NAMES, f'{NAMES}title = "Key Wager"\n')
    .replace('title = "Keystone Mega"', 'title = "Mega"')
    .replace('title = "Keystone Minor"', 'title = "Minor Jackpot"')
)


def test_a_wager_its_envy_bonus_and_its_jackpots_have_titles() -> None:
    assert Games([(parse_game(TITLED), "0")]).titles == {
        "keystone_bonus": "Key Wager",
        "keystone_bonus_envy": "Key Wager Envy Bonus",
        "keystone_mega_jackpot": "Mega Jackpot",
        "keystone_major_jackpot": "Keystone Major Jackpot",
        "keystone_minor_jackpot": "Minor Jackpot",
    }


def test_both_parts_of_an_envy_bonus_are_named_envy_bonus() -> None:
    bonus = '"$200", royal_flush = "$100"'
    assert bonus in TITLED
    shared = TITLED.replace(bonus, '"$200", royal_flush = "1% of keystone_minor"')
    titles = Games([(parse_game(shared), "0")]).titles
    assert titles["keystone_bonus_envy"] == "Key Wager Envy Bonus"
    assert titles["keystone_minor_envy_share"] == "Minor Jackpot Envy Bonus (share)"


def test_wagers_of_the_chapters_have_the_names_of_the_law() -> None:
    assert chapter_games().titles == {}
    assert Games([(parse_game(STUD), "0")]).titles == {}


def test_a_wager_with_two_titles_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TITLED)
    duel = (HOUSE / "river_duel.toml").read_text()
    (tmp_path / "b.toml").write_text(duel.replace(NAMES, f'{NAMES}title = "Duel Bonus"\n'))
    with pytest.raises(GameError, match=r"b\.toml:.*keystone_bonus has the title 'Duel Bonus'"):
        read_games(tmp_path)


def test_a_title_for_several_wagers_is_refused(tmp_path: Path) -> None:
    text = files("bonus.law").joinpath("chapters", "649a.toml").read_text("utf-8")
    names = 'names = ["five_card_hand_bonus", "five_card_hand_bonus_dealer"]\n'
    assert names in text
    text = text.replace(names, f'{names}title = "Hand Bonus"\n')
    (tmp_path / "a.toml").write_text(text.replace('game = "three_card_poker"', 'game = "copy"'))
    with pytest.raises(GameError, match="five_card_hand_bonus: a title is for one wager"):
        read_games(tmp_path)
