"""The `status` command: the state of the whole floor on one screen, for the person on call."""

import asyncio
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer
from rich.live import Live
from rich.text import Text

from bonus.errors import UserError
from meters.floor.floor_file import ConfigOption, read_own_floor
from meters.floor.server_addresses import is_listening_address
from meters.process.console import PlainConsole
from meters.process.signals import on_stop
from meters.selfcheck.floor_reading import StatusReader
from meters.selfcheck.status_screen import FloorStatus, fitting_screen, heading, status_lines

_EVERY_S: Final = 2.0
_NONE: Final = "none"


def status(
    config: ConfigOption,
    *,
    once: Annotated[
        bool,
        typer.Option(
            "--once",
            help="Print the state once. The exit status is 1 if a line begins with `warn` or"
            " `FAIL`.",
        ),
    ] = False,
    prometheus: Annotated[
        str,
        typer.Option(
            "--prometheus",
            metavar="URL",
            help='The address of Prometheus, which has the alerts; "none" if the floor has none.',
        ),
    ] = "http://127.0.0.1:9090",
    service: Annotated[
        list[str] | None,
        typer.Option(
            "--service",
            metavar="HOST:PORT",
            help="The address of a service; may be given several times. By default the services"
            " that Prometheus reads, or else http in the floor file.",
        ),
    ] = None,
) -> None:
    """Show what works and what needs a person, live until Ctrl-C.

    The screen has each link with its state, meters, tables and waiting wins. Below, it has the
    alerts, the lag of the tables, the services, the broker, Redis, the last audits, the backup, the
    archive, the disks and the keys. A line begins with `ok`, `warn` (look at it before the shift
    ends) or `FAIL` (act now). deploy/docs/recover/runbook.md says what to do.

    The command changes nothing and starts no server. If a part cannot be read, its line says so.
    The state is read again every two seconds. Without a terminal, or with --once, it is printed
    once.

    Example: **pitlink status --once --config floor.toml**

    The exit status is 0 after Ctrl-C. When the state is printed once, the status is 1 if a
    line begins with `warn` or `FAIL`.
    """
    at, services = _prometheus_url(prometheus), [*map(_service_address, service or ())]
    floor, console = read_own_floor(config), PlainConsole()
    reader = StatusReader(floor, at, services)
    if console.is_terminal and not once:
        asyncio.run(_show(reader, console))
        return
    found = asyncio.run(reader.read())
    _print(found, console)
    if found.problems:
        raise typer.Exit(1)


async def _show(reader: StatusReader, console: PlainConsole) -> None:
    stop = asyncio.Event()
    on_stop(stop.set)
    stopped = asyncio.create_task(stop.wait(), name="stop")
    begin = Text("Reading the state of the floor …")
    with Live(begin, console=console, screen=True, auto_refresh=False) as live:
        live.refresh()
        while not stopped.done():
            reading = asyncio.create_task(reader.read(), name="status")
            await asyncio.wait({reading, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if stopped.done():
                reading.cancel()
                await asyncio.wait({reading})
                break
            live.update(fitting_screen(reading.result(), console), refresh=True)
            await asyncio.wait({stopped}, timeout=_EVERY_S)


def _print(found: FloorStatus, console: PlainConsole) -> None:
    console.print_line(heading(found))
    for line in status_lines(found):
        console.print_line(f"{line.mark:<4}  {line.text}", style=line.style)


def _prometheus_url(text: str) -> str | None:
    if text == _NONE:
        return None
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UserError(
            f"--prometheus {text}: write an address such as http://127.0.0.1:9090, or {_NONE}"
        )
    return text


def _service_address(text: str) -> str:
    if not is_listening_address(text):
        raise UserError(f"--service {text}: write a host and a port, such as 127.0.0.1:8081")
    return text
