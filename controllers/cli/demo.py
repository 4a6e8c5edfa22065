"""The `demo` command: a complete simulated floor."""

from pathlib import Path
from typing import Annotated

import typer

from controllers.bots.bots import STACK_EVERY, STACK_OFTEN
from controllers.demo.run import DemoOptions, run_demo


def demo(
    *,
    tables: Annotated[
        int, typer.Option(min=1, max=99, help="How many tables play, over two links.")
    ] = 12,
    speed: Annotated[
        float, typer.Option(min=0.1, max=1000, help="How many times as fast as at a real table.")
    ] = 1.0,
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="Where the pages are, on this machine only.")
    ] = 8080,
    panel_port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Where the panel is; the port after --port if not given."
        ),
    ] = None,
    data: Annotated[
        Path,
        typer.Option(metavar="DIRECTORY", help="Keeps the meters from one run to the next."),
    ] = Path("pitlink-data"),
    for_s: Annotated[
        float | None,
        typer.Option("--for", min=1, metavar="SECONDS", help="End by itself after so long."),
    ] = None,
    auto_floor: Annotated[
        bool,
        typer.Option(
            "--auto-floor/--no-auto-floor",
            help="A simulated floorperson validates the wins, or they wait for people.",
        ),
    ] = True,
    stack_deck: Annotated[
        bool,
        typer.Option("--stack-deck", help="Stack one deck in four, so that jackpots come often."),
    ] = False,
) -> None:
    """Run a whole simulated floor on this machine: signage, the floorpersons' page, a panel.

    Starts a broker, a Redis and the service, bot tables of all three games, and one table that is
    yours to deal at. It prints the addresses, and as whom to sign in. Ctrl-C, or the time given,
    ends it and prints a summary. Exit status 0 where the ledger balances.
    """
    options = DemoOptions(
        tables,
        speed,
        port,
        data,
        for_s,
        auto_floor,
        stack_every=STACK_OFTEN if stack_deck else STACK_EVERY,
        panel_port=panel_port,
    )
    if not run_demo(options):
        raise typer.Exit(1)
