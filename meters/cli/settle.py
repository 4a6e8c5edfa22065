"""The `settle` command: calculates what each round pays, without a server."""

import sys
from io import BufferedReader
from pathlib import Path
from typing import Annotated, cast

import typer

from bonus.errors import UserError
from bonus.settling.settle_round import settle_lines
from meters.floor.floor_file import read_floor
from meters.floor.game_files import read_games


def settle(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FLOOR.toml",
            help="The floor file. Only its directory of games is used: a round names its own"
            " paytables.",
        ),
    ] = None,
    games: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The directory with the game files of the house."),
    ] = None,
) -> None:
    """Settle rounds, one a line, in JSON.

    The command reads rounds from standard input, and writes their settlements to standard output,
    in the same order. If a round cannot be settled, the command writes an error instead, and
    continues with the next round. The exit status is then 1. No server is needed.

    A round is one line. It names the game, the choices of the table, the dealer's hand, and the
    cards and wagers (in cents) of each position:

    - `{"game": "three_card_prime", "paytables": {"bad_beat": "A"},`
      `"positions": [{"position": 2, "cards": ["9s", "9h", "Kd"],`
      `"wagers": {"ante": 500, "play": 500}}], "dealer": ["Qc", "7d", "2h"]}`

    Example: **pitlink settle < rounds.jsonl**

    `deploy/docs/reference/settlement.md` has the choices of every game. Each payout in a settlement
    names the subsection of the regulations that decides it.

    To settle a round of a house game, name the directory of the game's file with `--games`, or use
    a floor file that names it.
    """
    known = read_floor(config).games if config else None
    if games:
        known = read_games(games)
    if sys.stdin is None or sys.stdout is None:
        raise UserError(
            "standard input or output is closed: pipe rounds in, one a line"
            " (`pitlink settle <rounds.jsonl`)"
        )
    try:
        all_settled = settle_lines(
            cast("BufferedReader", sys.stdin.buffer), sys.stdout.buffer, known
        )
    except BrokenPipeError:
        raise  # the program that reads the output has closed the pipe
    except OSError as error:
        raise UserError(f"the settlements cannot be written: {error.strerror}") from None
    if not all_settled:
        raise typer.Exit(1)
