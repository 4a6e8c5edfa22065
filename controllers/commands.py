"""The commands of the table side."""

from pathlib import Path
from typing import Annotated

import typer


def table(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The table's id in the floor file.")
    ],
    config: Annotated[Path, typer.Option("--config", metavar="FLOOR.toml", help="The floor file.")],
    events: Annotated[  # noqa: FBT002  (the signature that typer calls)
        bool,
        typer.Option(
            "--events", help="Take device events from standard input, one JSON object a line."
        ),
    ] = False,
    outbox: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The table's outbox; DATA/tables/TABLE.sqlite unless given."
        ),
    ] = None,
) -> None:
    """Run the agent of one table.

    Each device event is answered on standard output with one line of JSON; what else there is to
    tell goes to standard error. The outbox keeps what was accepted: an agent that is killed and
    started again goes on where it was. Ends at the end of input, with status 1 where an event was
    refused.
    """
    from controllers.station import run_station  # so that other commands start without it

    if not events:
        raise typer.BadParameter(
            "give --events: device events on standard input are what this version takes"
        )
    if not run_station(table, config, outbox):
        raise typer.Exit(1)


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
) -> None:
    """Run a whole simulated floor on this machine, and show its signage.

    Starts a broker, a Redis and the service, and bot tables that play Three Card Poker with the
    four progressive wagers. Ctrl-C, or the time given, ends it and prints a summary. Exit status 0
    where the ledger balances.
    """
    from controllers.demo import DemoOptions, run_demo  # so that other commands start without it

    options = DemoOptions(tables, speed, port, data, for_s, auto_floor)
    if not run_demo(options):
        raise typer.Exit(1)
