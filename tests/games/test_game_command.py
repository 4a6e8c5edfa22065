"""`pitlink game`: a first file from a few answers, and rounds that try a file."""

import json
from collections.abc import Sequence
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec
import pytest

from bonus.odds.odds_words import percent
from controllers.games.trial_floor import read_trial_floor
from controllers.games.trial_rounds import Trial
from controllers.games.trial_text import first_entries, tally_table
from meters.floor.game_files import parse_game
from tests.games.naive import HOUSE, settled
from tests.processes import invoke_pitlink

DEMO: Final = [Path(str(path)) for path in (files("controllers.demo") / "games").iterdir()]
OF_HOUSE: Final = sorted(HOUSE.glob("*.toml"))

FIVE: Final = ("Lucky Five", "cards", "5", "0", "$10,000", "15%")
STUD: Final = ("River Stud", "cards", "2", "3", "500", "12.5%")
THREE: Final = ("Ace High!", "cards", "3", "0", "1000", "10%")
ROLLS: Final = ("Bone Roll", "table", "Twelve, Hard Eight", "1/36", "1/36", "two dice", "100", "9%")
SIDE: Final = ("21 Side", "position", "Suited Trips", "1/400", "the laboratory", "100", "9%")


def answered(directory: Path, answers: Sequence[str]) -> tuple[int, str, str]:
    done = invoke_pitlink("game", "new", str(directory), stdin="\n".join(answers) + "\n")
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("answers", "name"),
    [(FIVE, "lucky_five"), (STUD, "river_stud"), (THREE, "ace_high"), (ROLLS, "bone_roll")],
)
def test_a_few_answers_make_a_file_that_can_be_tried(
    tmp_path: Path, answers: Sequence[str], name: str
) -> None:
    path = tmp_path / "games" / f"{name}.toml"
    status, said, wrong = answered(path.parent, answers)
    assert (status, wrong) == (0, "")
    assert f"pitlink game try {path}" in said
    game = parse_game(path.read_text())
    assert (game.game, game.title) == (name, answers[0])
    done = invoke_pitlink("game", "try", str(path), "--rounds", "40", "--seed", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert "in the long run" in done.stdout
    assert "in the long run" in said
    assert ("the house loses" in said) is (name == "bone_roll")
    again = invoke_pitlink("game", "try", str(path), "--rounds", "40", "--seed", "3")
    assert again.stdout == done.stdout
    written = path.read_bytes()
    status, _, wrong = answered(path.parent, answers[:1])
    assert (status, path.read_bytes()) == (1, written)
    assert "exists already: give the game another name" in wrong


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (SIDE, "a name begins with a letter"),
        (("Q", "dice"), "answer cards, table or position"),
        (("Q", "cards", "9"), "write a whole number from 1 to 7"),
        (("Q", "cards", "3", "1"), "4 cards form no hand here: together, 3 or 5 to 9 do"),
        (("Q", "table", "A, a"), "write different names"),
        (("Q", "table", "A", "2%"), "write a fraction such as 1/38"),
        (("Q", "table", "A, B", "1/2", "1/2"), "must leave a chance for Other: less than 1/2"),
        (("Q", "table", "A", "1/2", 'the "lab"'), "write a text without quotes"),
        (("Q", "cards", "5", "0", "0"), "write a whole number from 1 to 10,000,000"),
        (("Q", "cards", "5", "0", "9", "100%"), "'100%' is not a rate"),
    ],
)
def test_a_wrong_answer_says_what_to_write_and_leaves_no_file(
    tmp_path: Path, answers: Sequence[str], reason: str
) -> None:
    status, _, wrong = answered(tmp_path / "games", answers)
    assert status == 1
    assert reason in wrong
    assert not (tmp_path / "games").exists()


@pytest.mark.parametrize("path", [*DEMO, *OF_HOUSE], ids=lambda path: path.stem)
def test_every_game_can_be_tried_with_and_without_a_jackpot(path: Path) -> None:
    trial = Trial.of(read_trial_floor(path), 11)
    game = parse_game(path.read_text())
    won = 0
    for number in range(60):
        tried = trial.play(stacked=number % 2 == 0)
        won += any(line.percent or "envy" in line.item for line in tried.lines)
        assert number % 2 or any(line.paid or line.percent for line in tried.lines)
        whole = not game.deal.community or "community" in tried.fields
        if path in OF_HOUSE and game.main is None and whole:
            lines, _ = settled(json.loads(msgspec.json.encode(tried.fields)))
            assert json.loads(msgspec.json.encode(tried.lines)) == lines
    assert won > 5
    assert all(cents > 0 for cents in trial.meters_cents.values())
    assert all(tally.wagered_cents >= 0 for tally in trial.tallies.values())


def test_a_trial_counts_what_comes_back() -> None:
    """Only rounds without a stacked deck count; the eight bet pays back 34 of 36 on average."""
    trial = Trial.of(read_trial_floor(HOUSE / "keystone_dice.toml"), 4)
    trial.play(stacked=True)
    assert not any(tally.wagers for tally in trial.tallies.values())
    for _ in range(3_000):
        trial.play()
    assert float(trial.tallies["eight_bet"].returned) == pytest.approx(34 / 36, abs=0.15)
    dice = trial.tallies["dice_bet"]
    assert dice.by_players.total() == dice.wagers
    (entry, _) = first_entries(trial.layout.rules.chapter)
    text = "".join(str(column._cells[0]) for column in tally_table(trial, [entry]).columns)
    edges = [share.house_edge_long_run for share in entry.when_shared]
    returned = (n * (1 - edges[players - 1]) for players, n in dice.by_players.items())
    expected = sum(returned, Fraction())
    assert percent(expected / dice.wagers) in text
    assert float(dice.returned) == pytest.approx(float(expected / dice.wagers), abs=0.35)
    assert dice.wagered_cents == 100 * dice.wagers > 0
    assert Fraction(dice.back_cents, dice.wagered_cents) == dice.returned


def test_the_conversation_plays_what_is_asked(tmp_path: Path) -> None:
    path = str(HOUSE / "keystone_dice.toml")
    done = invoke_pitlink("game", "try", path, "--seed", "2", stdin="\nj\n7\nwhat\nq\n")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Keystone Dice, seed 2: Dice Jackpot $20.00")
    assert [line for line in lines if line.startswith(("Round", "After"))][:2] == [
        "Round 1",
        "Round 2, with a jackpot, so the sums at the end leave it out",
    ]
    assert any(line.startswith("After 9 rounds: Dice Jackpot $") for line in lines)
    assert "'what' is none of these" in done.stderr
    (tmp_path / "wrong.toml").write_text('chapter = "X"\n')
    done = invoke_pitlink("game", "try", path, "--wager", "2500", "--rounds", "1")
    assert ": Dice Jackpot $500.00" in done.stdout
    done = invoke_pitlink("game", "try", path, stdin="")
    assert done.returncode == 2
    assert "no round was played: write --rounds 1000" in done.stderr
    assert invoke_pitlink("game", "try", path, stdin="q\n").returncode == 0
    stud = str(HOUSE / "keystone_stud.toml")
    done = invoke_pitlink("game", "try", stud, "--wager", "500", "--rounds", "1")
    assert done.returncode == 1
    assert "--wager 500: keystone_mega: the wager is $1, not 500 cents" in done.stderr
    assert "keystone_stud" not in done.stderr
    done = invoke_pitlink("game", "try", str(tmp_path / "wrong.toml"))
    assert done.returncode == 1
    assert "wrong.toml:1: " in done.stderr
