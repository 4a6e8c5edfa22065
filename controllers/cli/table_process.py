import asyncio
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Final, TextIO

import uvloop

from bonus.errors import UserError
from controllers.agent.agent import Agent
from controllers.agent.devices import answer_lines
from controllers.agent.http_address import ListeningAddress
from controllers.agent.setup import broker_of, outbox_path, user_error_in
from controllers.panel.table_pages import TablePages
from meters.floor.floor_file import Floor, Link, Table, read_own_floor
from meters.process.stop_signals import on_stop

LIVE_WITHIN_S: Final = 30.0
"""How long the first device event waits for the link's state; then wagers are refused."""


def run_agent(
    table_id: str,
    config: Path,
    outbox: Path | None,
    *,
    events: bool,
    panel: ListeningAddress | None,
    metrics: ListeningAddress | None = None,
) -> bool:
    """Run an agent until its input ends or it is stopped; return False if it refused an event.

    Raises:
        UserError: the floor file, the table, the broker's address or the outbox cannot be used.
    """
    floor = read_own_floor(config)
    found = floor.find_table(table_id)
    if found is None:
        raise UserError(f"{config}: there is no table {table_id}")
    path = outbox or outbox_path(floor, table_id)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(
                _serve(floor, found, path, events=events, panel=panel, metrics=metrics)
            )
    except asyncio.CancelledError:
        return True
    except BaseExceptionGroup as group:
        raise user_error_in(group) or group from None
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
    panel: ListeningAddress | None,
    metrics: ListeningAddress | None,
) -> bool:
    task = asyncio.current_task()
    if task is not None:
        on_stop(task.cancel, [signal.SIGTERM])
    facility = floor.facility
    async with Agent(
        *found,
        broker_of(floor, *found),
        path,
        require_all_hands=facility.require_all_hands,
        timezone=facility.timezone,
    ) as agent:
        if panel is None and metrics is None:
            return await _read_lines(agent)
        pages = TablePages(floor, agent, panel, metrics)
        serving = asyncio.create_task(pages.serve(), name="pages")
        try:
            await _until(serving, pages.ready())
            if panel is not None:
                _print_address(agent, panel, pages, sys.stderr if events else sys.stdout)
            if not events:
                await serving
                return True
            return await _until(serving, _read_lines(agent))
        finally:
            serving.cancel()
            await asyncio.wait({serving})


async def _read_lines(agent: Agent) -> bool:
    await agent.wait_for_status(LIVE_WITHIN_S)
    return await answer_lines(agent.handle, sys.stdin.fileno(), sys.stdout.fileno())


async def _until(serving: asyncio.Task[None], done: Coroutine[None, None, bool]) -> bool:
    """Wait for `done`, or raise the error with which `serving` ends first."""
    task = asyncio.create_task(done)
    try:
        await asyncio.wait({serving, task}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
        return await task
    finally:
        task.cancel()


def _print_address(
    agent: Agent, panel: ListeningAddress, pages: TablePages, stream: TextIO
) -> None:
    address = panel.panel(pages.key, pages.front.scheme)
    stream.write(f"Panel of table {agent.layout.table}: {address}\n")
    if panel.is_local:
        stream.write(
            "Only a browser on this machine reaches this panel. For a tablet, add --at"
            f" 0.0.0.0:{panel.port}\n"
        )
    stream.flush()
