from pathlib import Path
from typing import Annotated

import typer

from controllers.demo.dealer_bots import STACK_EVERY, STACK_OFTEN
from controllers.demo.demonstration_run import DemoOptions, run_demo


def demo(
    *,
    tables: Annotated[
        int, typer.Option(min=1, max=99, help="Number of tables that play, on three links.")
    ] = 12,
    speed: Annotated[
        float, typer.Option(min=0.1, max=1000, help="Speed relative to a real table.")
    ] = 1.0,
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
            metavar="DIRECTORY", help="Data directory, which keeps the meters between runs."
        ),
    ] = Path("pitlink-data"),
    for_s: Annotated[
        float | None,
        typer.Option("--for", min=1, metavar="SECONDS", help="Stop after this time."),
    ] = None,
    auto_floor: Annotated[
        bool,
        typer.Option(
            "--auto-floor/--no-auto-floor",
            help="A simulated floorperson validates the wins; otherwise they wait for people.",
        ),
    ] = True,
    stack_deck: Annotated[
        bool,
        typer.Option("--stack-deck", help="Stack one deck in four, so jackpots are frequent."),
    ] = False,
) -> None:
    """Run a complete simulated floor on this machine: signage, the floor page, a panel.

    The command starts a broker, a Redis server, the service, and bot tables. The tables play the
    three games of the chapters and two games of the house. You can deal at one more table. The
    command prints the addresses and the names for signing in.
    The simulated floor runs until Ctrl-C, or for the time of the option `--for`. Then the command
    prints a summary. The exit status is 0 if the ledger balances and a second settlement of every
    round has the same result.
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
