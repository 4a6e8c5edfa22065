"""The commands of the table side."""

from pathlib import Path
from typing import Annotated

import typer

from meters.logs.options import LogLevel, LogLevelOption, LogOption


def table(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The table's id in the floor file.")
    ],
    *,
    config: Annotated[Path, typer.Option("--config", metavar="FLOOR.toml", help="The floor file.")],
    events: Annotated[
        bool,
        typer.Option(
            "--events", help="Take device events from standard input, one JSON object a line."
        ),
    ] = False,
    panel: Annotated[
        bool,
        typer.Option("--panel", help="Serve the dealer's panel, until Ctrl-C or SIGTERM."),
    ] = False,
    at: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where the panel is served.")
    ] = "127.0.0.1:8090",
    metrics: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve /metrics for Prometheus there."),
    ] = None,
    outbox: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The table's outbox; DATA/tables/TABLE.sqlite unless given."
        ),
    ] = None,
    renew_panel_key: Annotated[
        bool,
        typer.Option(
            "--renew-panel-key",
            help="Replace the panel's key, which ends all its sessions; by itself, and no more.",
        ),
    ] = False,
    log: LogOption = None,
    log_level: LogLevelOption = LogLevel.INFO,
) -> None:
    """Run the agent of one table.

    With --panel its dealer's page is served; the address that opens it is printed, with a key that
    is kept in DATA/tables/TABLE.panel-key. A tablet that it opened stays open for 30 days, and for
    30 more when the address is opened again. Where the key may be known to others, or a tablet is
    lost: --renew-panel-key, and start the agent again.

    Prometheus reads /metrics of the panel, or where --metrics says.

    With --events each device event is answered on standard output with one line of JSON, and what
    else there is to tell goes to standard error. It ends at the end of input, with status 1 where
    an event was refused.

    The outbox keeps what was accepted: an agent that is killed and started again goes on where it
    was.
    """
    # Here, so that other commands start without it.
    from controllers.agent.http_address import Place
    from controllers.agent.process import run_station
    from meters.logs.setup import log_to_stderr

    if renew_panel_key:
        _renew_panel_key(table, config)
        if not (events or panel):
            return
    if not (events or panel):
        raise typer.BadParameter(
            "give --panel for the dealer's page, --events for device events on standard input, or "
            "both"
        )
    _check_place("--at", at)
    _check_place("--metrics", metrics)
    panel_at = Place.of(at) if panel else None
    metrics_at = Place.of(metrics) if metrics else None
    log_to_stderr(log, log_level)
    if not run_station(table, config, outbox, events=events, panel=panel_at, metrics=metrics_at):
        raise typer.Exit(1)


def _renew_panel_key(table: str, config: Path) -> None:
    from bonus.errors import UserError
    from controllers.panel.access import renew_panel_key
    from controllers.panel.table_pages import panel_key_path
    from meters.floor.floor_file import read_floor
    from meters.terminal.printing import print_text

    floor = read_floor(config)
    if floor.find_table(table) is None:
        raise UserError(f"{config}: there is no table {table}")
    renew_panel_key(panel_key_path(floor, table))
    print_text(f"{table}: the panel has another key, once its agent is started again")


def bots(
    config: Annotated[Path, typer.Option("--config", metavar="FLOOR.toml", help="The floor file.")],
    *,
    table: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE",
            help="A table at which bots play; all of the floor file unless given. May be given"
            " several times.",
        ),
    ] = None,
    speed: Annotated[
        float, typer.Option(min=0.1, max=1000, help="How many times as fast as at a real table.")
    ] = 1.0,
    for_s: Annotated[
        float | None,
        typer.Option("--for", min=1, metavar="SECONDS", help="End by itself after so long."),
    ] = None,
    stack_deck: Annotated[
        bool,
        typer.Option("--stack-deck", help="Stack one deck in four, so that jackpots come often."),
    ] = False,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve all tables' /metrics for Prometheus there."),
    ] = None,
) -> None:
    """Let bots play at the tables of a floor file, at a broker and a service that run already.

    Each table has a real agent, with its outbox and its keys; what it wagers stands in the ledger.
    So the floor file must say `demonstration = true`. Ctrl-C, SIGTERM or the time given ends the
    rounds in hand, and prints how many were played.
    """
    # So that other commands start without it.
    from controllers.agent.http_address import Place
    from controllers.bots.bots import STACK_EVERY, STACK_OFTEN
    from controllers.demo.tables import BotOptions, run_bot_tables

    _check_place("--metrics", metrics)
    stack_every = STACK_OFTEN if stack_deck else STACK_EVERY
    at = Place.of(metrics) if metrics else None
    run_bot_tables(config, BotOptions(tuple(table or ()), speed, for_s, stack_every, at))


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
    # So that other commands start without it.
    from controllers.bots.bots import STACK_EVERY, STACK_OFTEN
    from controllers.demo.run import DemoOptions, run_demo

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


def _check_place(option: str, text: str | None) -> None:
    from meters.floor.address_checks import is_listening_address

    if text is not None and not is_listening_address(text):
        raise typer.BadParameter(
            f'{option} {text}: it is an address and a port, such as "127.0.0.1:8090"'
        )
