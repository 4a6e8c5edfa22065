"""`pitlink demo` and `pitlink bots`."""

from enum import StrEnum, auto
from pathlib import Path
from typing import Annotated

import typer

from bonus.errors import UserError
from controllers.demo.bot_tables import BotOptions, run_bot_tables
from controllers.demo.dealer_bots import STACK_EVERY, STACK_OFTEN
from controllers.demo.demonstration_run import DemoOptions, run_demo
from controllers.panel.table_program import listening_address
from meters.floor.floor_file import ConfigOption

_Speed = Annotated[float, typer.Option(min=0.1, max=1000, help="Speed relative to a real table.")]
_Seconds = Annotated[
    float | None, typer.Option("--for", min=1, metavar="SECONDS", help="Stop after this time.")
]


class DemoGames(StrEnum):
    """The games that bots play: three of the law and two of the house, or all example games."""

    FIVE = auto()
    ALL = auto()


_StackDeck = Annotated[
    bool, typer.Option("--stack-deck", help="Stack one deck in four, so jackpots are frequent.")
]


def demo(
    *,
    tables: Annotated[
        int, typer.Option(min=1, max=99, help="Number of tables that play, on three links.")
    ] = 12,
    speed: _Speed = 1.0,
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port of the pages, on this machine only.")
    ] = 8080,
    panel_port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port of the panel. Default: the port after --port."),
    ] = None,
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIRECTORY",
            help="Data directory, which keeps the meters between runs; delete it to begin anew.",
        ),
    ] = Path("pitlink-data"),
    signage: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A floor file whose [signage] decides how the displays look."
        ),
    ] = None,
    for_s: _Seconds = None,
    auto_floor: Annotated[
        bool,
        typer.Option(
            "--auto-floor/--no-auto-floor",
            help="A simulated floorperson validates the wins; otherwise they wait for people.",
        ),
    ] = True,
    stack_deck: _StackDeck = False,
    games: Annotated[
        DemoGames,
        typer.Option(
            help="`all`: nine more games of the house, of blackjack, baccarat, dice, a wheel and"
            " others, each at a table of its own beside `--tables`."
        ),
    ] = DemoGames.FIVE,
    tour: Annotated[
        bool,
        typer.Option(
            "--tour",
            help="Show one jackpot step by step, from the light to the audit. Press Enter for each"
            " next step.",
        ),
    ] = False,
    kill: Annotated[
        bool,
        typer.Option(
            "--kill",
            help="Kill the service, Redis and the broker in turn while the tables play, and compare"
            " the tables' wagers with the ledger at the end.",
        ),
    ] = False,
) -> None:
    """Run a whole simulated floor: signage, floor page, panel.

    The command starts a broker, a Redis server, the service, and tables with bots, which play the
    three games of the law and two games of the house. You can deal at one more table. The command
    prints the addresses, and the names and the PIN for signing in.

    Examples: **pitlink demo --stack-deck**, in which jackpots are frequent; **pitlink demo --games
    all**.

    The simulated floor runs until Ctrl-C, or for the time of the option `--for`. Then the command
    prints a summary. The exit status is 0 if the ledger balances and a second settlement of each
    round of the bots has the same result. With `--kill`, the ledger must also have what the tables
    counted.
    """
    if tour and kill:
        raise UserError("--tour and --kill: choose one of them")
    options = BotOptions(speed, for_s, STACK_OFTEN if stack_deck else STACK_EVERY)
    demonstration = DemoOptions(
        options, tables, port, data, auto_floor, panel_port, signage,
        tour=tour, kill=kill, all_games=games is DemoGames.ALL,
    )  # fmt: skip
    if not run_demo(demonstration):
        raise typer.Exit(1)


def bots(
    config: ConfigOption,
    *,
    table: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE",
            help="A table at which bots play. Repeat it for several tables. Default: all tables of"
            " the floor file.",
        ),
    ] = None,
    speed: _Speed = 1.0,
    for_s: _Seconds = None,
    stack_deck: _StackDeck = False,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address of all tables' /metrics for Prometheus."),
    ] = None,
) -> None:
    """Let bots play on a demonstration floor that runs.

    Each table has a real agent with an outbox and keys. The ledger keeps the bots' wagers, so the
    floor file must say `demonstration = true`. On Ctrl-C or SIGTERM, or when the time of `--for` is
    over, the bots stop after their current rounds.

    Example: **pitlink bots --table TCP-01 --speed 10 --config floor.toml**
    """
    options = BotOptions(speed, for_s, STACK_OFTEN if stack_deck else STACK_EVERY)
    at = listening_address("--metrics", metrics) if metrics else None
    run_bot_tables(config, table or (), options, at)
