"""The `serve` command: the meter service."""

from typing import Annotated

import typer
import uvloop
from msgspec.structs import replace

from meters.floor.floor_file import ConfigOption, Floor, read_own_floor
from meters.floor.server_addresses import is_listening_address
from meters.process.logs import LogLevel, LogLevelOption, LogOption, log_to_stderr
from meters.service.meter_service import ServeOptions
from meters.service.serving import serve as run


def serve(
    config: ConfigOption,
    *,
    auto_floor: Annotated[
        bool,
        typer.Option(
            "--auto-floor",
            help="For replays and demonstrations only: simulated people validate and pay wins, and"
            " confirm correction requests. Until a person approves a floor file, a simulated person"
            " also approves the floor file.",
        ),
    ] = False,
    auto_floor_after: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="How many seconds a win or a correction request waits before --auto-floor decides"
            " it.",
        ),
    ] = 0.0,
    demo_users: Annotated[
        bool,
        typer.Option(
            "--demo-people",
            help="Let the users of a demonstration sign in; everybody knows their PIN. This works"
            " only if the floor file says `demonstration` and no person has approved it.",
        ),
    ] = False,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="The address of the pages, instead of the floor file's `http`: several services on"
            " one machine need different ports.",
        ),
    ] = None,
    log: LogOption = None,
    log_level: LogLevelOption = LogLevel.INFO,
) -> None:
    """Run the service: meters, ledger, wins and pages.

    The service runs until Ctrl-C or SIGTERM. Tables connect to it through the broker that the floor
    file names. The service logs to standard error.

    Example: **pitlink serve --config floor.toml**
    """
    floor = read_own_floor(config)
    if http is not None:
        floor = _with_pages_at(floor, http)
    if demo_users and not floor.facility.demonstration:
        raise typer.BadParameter(
            f"--demo-people: {config} does not say `demonstration = true` under [facility]"
        )
    log_to_stderr(log, log_level)
    uvloop.run(run(floor, ServeOptions(auto_floor, auto_floor_after, demo_users)))


def _with_pages_at(floor: Floor, http: str) -> Floor:
    if not is_listening_address(http):
        raise typer.BadParameter(
            f'--http {http}: write an address and a port, such as "127.0.0.1:8081"'
        )
    return replace(floor, service=replace(floor.service, http=http))
