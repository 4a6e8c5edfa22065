from pathlib import Path
from typing import Annotated

import typer

from bonus.errors import UserError
from controllers.agent.startup import ListeningAddress
from controllers.cli.addresses import check_listening_address
from controllers.cli.table_process import run_agent
from controllers.panel.access import panel_key_path, renew_panel_key
from meters.floor.floor_file import ConfigOption, read_own_floor
from meters.process.logs import LogLevel, LogLevelOption, LogOption, log_to_stderr
from meters.process.printing import print_text


def table(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The table's id in the floor file.")
    ],
    *,
    config: ConfigOption,
    events: Annotated[
        bool,
        typer.Option(
            "--events", help="Read device events from standard input, one JSON object per line."
        ),
    ] = False,
    panel: Annotated[
        bool,
        typer.Option("--panel", help="Serve the dealer's panel until Ctrl-C or SIGTERM."),
    ] = False,
    at: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Address of the panel.")
    ] = "127.0.0.1:8090",
    metrics: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address of /metrics for Prometheus."),
    ] = None,
    outbox: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The table's outbox. Default: DATA/tables/TABLE.sqlite."),
    ] = None,
    renew_panel_key: Annotated[
        bool,
        typer.Option(
            "--renew-panel-key",
            help="Replace the panel's key and end all its sessions. It can be used alone.",
        ),
    ] = False,
    log: LogOption = None,
    log_level: LogLevelOption = LogLevel.INFO,
) -> None:
    """Run the agent of one table.

    With --panel, the agent serves the dealer's page and prints the address that opens the page. The
    address contains a key, which is stored in DATA/tables/TABLE.panel-key. A tablet that opened the
    address can use the panel for 30 days. If the tablet opens the address again, another 30 days
    start. If another person can know the key, or if a tablet is lost, use --renew-panel-key and
    restart the agent.

    Prometheus reads /metrics at the address of the panel or of --metrics.

    With --events, each device event is answered on standard output with one line of JSON. All other
    messages go to standard error. The command ends at the end of input. The exit status is 1 if an
    event was refused.

    The outbox stores each accepted event. So an agent that was killed and restarted continues where
    it stopped.
    """
    if renew_panel_key:
        _renew_panel_key(table, config)
        if not (events or panel):
            return
    if not (events or panel):
        raise typer.BadParameter(
            "give --panel for the dealer's page, --events for device events on standard input, or "
            "both"
        )
    check_listening_address("--at", at)
    check_listening_address("--metrics", metrics)
    panel_at = ListeningAddress.of(at) if panel else None
    metrics_at = ListeningAddress.of(metrics) if metrics else None
    log_to_stderr(log, log_level)
    if not run_agent(table, config, outbox, events=events, panel=panel_at, metrics=metrics_at):
        raise typer.Exit(1)


def _renew_panel_key(table: str, config: Path) -> None:
    floor = read_own_floor(config)
    if floor.find_table(table) is None:
        raise UserError(f"{config}: there is no table {table}")
    renew_panel_key(panel_key_path(floor, table))
    print_text(f"{table}: the panel has a new key; restart its agent to use it")
