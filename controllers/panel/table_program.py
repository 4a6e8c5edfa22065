"""`pitlink table`: the agent of one table, with device events and pages."""

import asyncio
import concurrent.futures
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, TextIO

import typer

from bonus.errors import UserError, nearest
from bonus.printable import escape_in_json
from controllers.agent.agent import Agent
from controllers.agent.agent_metrics import AgentMetrics, serve_metrics
from controllers.agent.startup import broker_of, outbox_path, run_agents, served
from controllers.panel.access import panel_key, panel_key_path, replace_panel_key
from controllers.panel.panel_pages import serve_panel
from controllers.table.device_events import LINE_BYTES_MAX, DeviceAnswer, encode_answer
from meters.floor.floor_file import ConfigOption, Floor, Link, Table, read_own_floor
from meters.floor.server_addresses import HostPort, is_listening_address
from meters.http.middleware import ServerSettings
from meters.process.logs import LogLevel, LogLevelOption, LogOption, log_to_stderr
from meters.process.printing import print_text
from meters.process.signals import on_stop

LIVE_WITHIN_S: Final = 30.0
"""How long the first device event waits for the link's state. After that, wagers are refused."""
_CHUNK_BYTES: Final = 65_536

DeviceHandler = Callable[[bytes], Coroutine[object, None, DeviceAnswer]]


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
        bool, typer.Option("--panel", help="Serve the dealer's panel until Ctrl-C or SIGTERM.")
    ] = False,
    at: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Address of the panel.")
    ] = "127.0.0.1:8090",
    metrics: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Address of /metrics for Prometheus.")
    ] = None,
    outbox: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The table's outbox. Default: DATA/tables/TABLE.sqlite."),
    ] = None,
    renew_panel_key: Annotated[
        bool,
        typer.Option(
            "--renew-panel-key",
            help="Replace the panel's key; a restart of the agent then ends all sessions. You can"
            " give this option alone.",
        ),
    ] = False,
    log: LogOption = None,
    log_level: LogLevelOption = LogLevel.INFO,
) -> None:
    """Run the agent of one table.

    With --panel, the agent serves the dealer's page and prints the address that opens the page. The
    address contains a key, which is stored in DATA/tables/TABLE.panel-key. A tablet that opens the
    address can use the panel for the next 30 days. If a stranger can know the key, or if a tablet
    is lost, use --renew-panel-key and restart the agent.

    Example: **pitlink table TCP-01 --panel --config floor.toml**

    Prometheus reads /metrics at the address of the panel or of --metrics.

    With --events, each device event is answered on standard output with one line of JSON, and all
    other messages go to standard error. The command ends at the end of input. The exit status is 1
    if an event was refused.

    The outbox stores each accepted event, so an agent that was killed continues after its restart
    where it stopped.
    """
    if not (events or panel or renew_panel_key):
        raise typer.BadParameter(
            "give --panel for the dealer's page, --events for device events on standard input, or "
            "both"
        )
    panel_at = listening_address("--at", at) if panel else None
    metrics_at = listening_address("--metrics", metrics) if metrics else None
    floor = read_own_floor(config)
    found = floor.find_table(table)
    if found is None:
        known = [each.id for link in floor.link for each in link.table]
        raise UserError(f"{config}: there is no table {table}{nearest(table, known)}")
    if renew_panel_key:
        replace_panel_key(panel_key_path(floor, table))
        print_text(f"{table}: the panel has a new key; restart its agent to use it")
    if not (events or panel):
        return
    log_to_stderr(log, log_level)
    path = outbox or outbox_path(floor, table)
    serving = _serve(floor, found, path, events=events, panel=panel_at, metrics_at=metrics_at)
    if not _run(serving, events=events):
        raise typer.Exit(1)


def listening_address(option: str, text: str) -> HostPort:
    """Return the address in an option; raise `typer.BadParameter` if it is not HOST:PORT."""
    if not is_listening_address(text):
        raise typer.BadParameter(
            f'{option} {text}: write an address and a port, such as "127.0.0.1:8090"'
        )
    return HostPort.of(text)


def _run(serving: Coroutine[None, None, bool], *, events: bool) -> bool:
    try:
        return run_agents(serving)
    except asyncio.CancelledError:
        return True
    except KeyboardInterrupt:
        if events:
            raise
        return True
    except OSError as error:
        raise UserError(f"device events: {error.strerror}") from None


async def _serve(
    floor: Floor,
    found: tuple[Link, Table],
    path: Path,
    *,
    events: bool,
    panel: HostPort | None,
    metrics_at: HostPort | None,
) -> bool:
    task = asyncio.current_task()
    if task is not None:
        on_stop(task.cancel, [signal.SIGTERM])
    facility, settings = floor.facility, ServerSettings.of(floor.service)
    async with AsyncExitStack() as stack:
        agent = await stack.enter_async_context(
            Agent(
                *found,
                broker_of(floor, *found),
                path,
                require_all_hands=facility.require_all_hands,
                timezone=facility.timezone,
            )
        )
        metrics = AgentMetrics()
        metrics.add(agent)
        serving = []
        if panel is not None:
            key = panel_key(panel_key_path(floor, agent.layout.table))
            serve = partial(
                serve_panel,
                floor,
                agent,
                panel.host,
                panel.port,
                key=key,
                metrics=metrics,
                demonstration=facility.demonstration,
                settings=settings,
            )
            serving.append(await stack.enter_async_context(served(serve)))
        if metrics_at is not None:
            at = metrics_at.host, metrics_at.port
            serve = partial(serve_metrics, metrics, *at, settings=settings)
            serving.append(await stack.enter_async_context(served(serve)))
        if panel is not None:
            url = f"{settings.scheme}://{_reached_at(panel)}/?key={key}"
            _print_address(agent, panel, url, sys.stderr if events else sys.stdout)
        return await _until(serving, _read_lines(agent) if events else asyncio.Event().wait())


async def _read_lines(agent: Agent) -> bool:
    await agent.wait_for_status(LIVE_WITHIN_S)
    return await answer_lines(agent.handle, sys.stdin.fileno(), sys.stdout.fileno())


async def _until(serving: Sequence[asyncio.Task[None]], done: Coroutine[Any, Any, bool]) -> bool:
    task = asyncio.create_task(done)
    try:
        await asyncio.wait({*serving, task}, return_when=asyncio.FIRST_COMPLETED)
        for ended in serving:
            if ended.done():
                ended.result()
        return await task
    finally:
        task.cancel()


def _reached_at(panel: HostPort) -> HostPort:
    everywhere = panel.host in {"0.0.0.0", "[::]"}  # noqa: S104  (what the user asked for)
    return HostPort(socket.gethostname(), panel.port) if everywhere else panel


def _print_address(agent: Agent, panel: HostPort, url: str, stream: TextIO) -> None:
    stream.write(f"Panel of table {agent.layout.table}: {url}\n")
    if panel.host in {"127.0.0.1", "[::1]", "localhost"}:
        stream.write(
            "Only a browser on this machine reaches this panel. For a tablet, add --at"
            f" 0.0.0.0:{panel.port}\n"
        )
    stream.flush()


def read_lines(descriptor: int) -> Iterator[bytes]:
    """Yield the lines of a file descriptor without line ends.

    A line that is too long is cut just after the limit, so that the caller can detect this.
    """
    held = b""
    passing = False
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        *lines, rest = (held + chunk).split(b"\n")
        for line in lines:
            if not passing:
                yield line[: LINE_BYTES_MAX + 1]
            passing = False
        held = b"" if passing else rest
        if len(held) > LINE_BYTES_MAX:
            yield held[: LINE_BYTES_MAX + 1]
            held, passing = b"", True
    if held and not passing:
        yield held


async def answer_lines(handle: DeviceHandler, source: int, sink: int) -> bool:
    """Answer the device events from file descriptor `source`; return True if all were accepted.

    Each line waits for the answer to the previous line. A separate thread reads and writes, because
    files, pipes and terminals can block. A blocked thread cannot be stopped, so it is left running
    if this call is canceled.

    Raises:
        OSError: the lines cannot be read, or the answers cannot be written.
    """
    loop = asyncio.get_running_loop()
    ended: concurrent.futures.Future[bool] = concurrent.futures.Future()

    def converse() -> bool:
        all_taken = True
        for line in read_lines(source):
            answer = asyncio.run_coroutine_threadsafe(handle(line), loop).result()
            text = escape_in_json(encode_answer(answer).decode())
            _write_all(sink, f"{text}\n".encode())
            all_taken = all_taken and answer.ok
        return all_taken

    def work() -> None:
        # From now on, a cancellation of the waiting task does not stop this thread.
        ended.set_running_or_notify_cancel()
        try:
            ended.set_result(converse())
        except (OSError, RuntimeError, concurrent.futures.CancelledError) as error:
            ended.set_exception(error)

    threading.Thread(target=work, name="device-lines", daemon=True).start()
    return await asyncio.wrap_future(ended)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
