"""A floor with one table, for the trial of a game file."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bonus.law.chapter_file import Chapter
from bonus.law.choices import offered
from bonus.law.paytables import read_cents
from meters.floor.floor_file import Floor, FloorError, parse_floor
from meters.floor.game_files import GameError, parse_game
from meters.floor.toml_errors import read_file

TRIAL_TABLE: Final = "TRY-01"
_USUAL_CENTS: Final = 100
_GAMES: Final = "games"


def read_trial_floor(path: Path, wagers_cents: Sequence[int] = ()) -> Floor:
    """Return a floor with one table of the game in a file, and with its first paytables.

    Wagers on meters have one of `wagers_cents`; by default, the first amount with Envy Bonuses, or
    $1.

    Raises:
        GameError: the file cannot be read, or has an error; the message has the line.
        FloorError: the game does not allow the amounts.
    """
    text = read_file(path, GameError)
    game = parse_game(text, str(path))
    with tempfile.TemporaryDirectory(prefix="pitlink-game-") as made:
        games = Path(made) / _GAMES
        games.mkdir()
        (games / "game.toml").write_text(text, encoding="utf-8")
        try:
            return parse_floor(_floor_text(game, wagers_cents), str(path), Path(made))
        except FloorError as error:
            # Nobody wrote the lines of this floor file.
            reason = str(error).removeprefix(f"{path}:").partition(": ")[2]
            where = " ".join(f"--wager {cents}" for cents in wagers_cents) or path
            raise FloorError(f"{where}: {reason}") from None


def _floor_text(game: Chapter, wagers_cents: Sequence[int]) -> str:
    chosen = {name: next(iter(options)) for name, options in offered(game).items()}
    meters: list[str] = []
    fed: list[str] = []
    for tables in (each for each in game.wager if each.fed):
        usual = read_cents(tables.envy.schedule[0].wager) if tables.envy else _USUAL_CENTS
        largest, *smaller = sorted({*wagers_cents} or {usual}, reverse=True)
        choice = chosen.pop(tables.names[0], None)
        for meter in tables.fed:
            fed.append(meter)
            keys: dict[str, object] = {"kind": meter, "wager": largest, "smaller_wagers": smaller}
            keys |= {"paytable": choice} if choice else {}
            meters.append("[[link.meter]]\n" + _keys(keys))
    facility = _keys({"name": "Trial", "timezone": "UTC", "games": _GAMES})
    table = {
        "id": TRIAL_TABLE,
        "asset": TRIAL_TABLE,
        "game": game.game,
        "positions": game.deal.positions,
        "meters": fed,
    }
    choices = ", ".join(f"{name} = {json.dumps(choice)}" for name, choice in chosen.items())
    return "\n".join(
        [
            f"[facility]\n{facility}",
            "[[link]]\n" + _keys({"id": "trial", "name": game.title}),
            *meters,
            f"[[link.table]]\n{_keys(table)}paytables = {{ {choices} }}",
        ]
    )


def _keys(values: dict[str, object]) -> str:
    """Return lines of TOML. Its strings, numbers and lists here are those of JSON."""
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
