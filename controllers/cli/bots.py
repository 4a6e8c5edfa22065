from typing import Annotated

import typer

from controllers.cli.table import listening_address
from controllers.demo.bot_tables import BotOptions, run_bot_tables
from controllers.demo.dealer_bots import STACK_EVERY, STACK_OFTEN
from meters.floor.floor_file import ConfigOption


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
    speed: Annotated[
        float, typer.Option(min=0.1, max=1000, help="Speed relative to a real table.")
    ] = 1.0,
    for_s: Annotated[
        float | None,
        typer.Option("--for", min=1, metavar="SECONDS", help="Stop after this time."),
    ] = None,
    stack_deck: Annotated[
        bool,
        typer.Option("--stack-deck", help="Stack one deck in four, so jackpots are frequent."),
    ] = False,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address of all tables' /metrics for Prometheus."),
    ] = None,
) -> None:
    """Let bots play at the tables of a floor file; the floor's broker and service must be running.

    Each table has a real agent with an outbox and keys. The ledger keeps the bots' wagers, so the
    floor file must say `demonstration = true`. Ctrl-C, SIGTERM or the end of the time stops the
    bots after the current rounds. The command then prints how many rounds were played.
    """
    stack_every = STACK_OFTEN if stack_deck else STACK_EVERY
    at = listening_address("--metrics", metrics) if metrics else None
    run_bot_tables(config, table or (), BotOptions(speed, for_s, stack_every), at)
