"""One table's agent as a process: the floor file, its broker, its outbox, its devices."""

import asyncio
import logging
import signal
import sys
from pathlib import Path
from typing import Final

import structlog
import uvloop

from bonus.errors import UserError
from controllers.agent import Agent
from controllers.courier import BrokerUrl
from controllers.devices import answer_lines
from meters.wire.address import embedded_broker_url, parse_broker_url
from meters.wire.floor import Floor, Link, Table, read_floor

LIVE_WITHIN_S: Final = 30.0
"""So long the first device event waits for the link at the start; then wagers are refused."""


def run_station(table_id: str, config: Path, outbox: Path | None) -> bool:
    """Run the agent of a table on standard input until that ends, or until it is told to stop.

    Returns:
        Whether every device event was taken.

    Raises:
        UserError: the floor file, the table, the broker's address or the outbox cannot be used.
    """
    log_to_stderr()
    floor = read_floor(config)
    found = floor.find_table(table_id)
    if found is None:
        raise UserError(f"{config}: there is no table {table_id}")
    path = outbox or outbox_path(floor, table_id)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_serve(*found, broker_of(floor), path))
    except asyncio.CancelledError:
        return True
    except BaseExceptionGroup as group:
        raise _user_error_in(group) or group from None
    except OSError as error:
        raise UserError(f"device events: {error.strerror}") from None


def outbox_path(floor: Floor, table_id: str) -> Path:
    """Where a table's outbox is unless said otherwise: under the floor's data directory."""
    return Path(floor.service.data) / "tables" / f"{table_id}.sqlite"


def broker_of(floor: Floor) -> BrokerUrl:
    """The broker's address: the floor file's, or what tells that of the embedded one.

    Raises:
        UserError: it is no address, or no embedded broker runs.
    """
    if floor.service.broker != "embedded":
        parse_broker_url(floor.service.broker)
        return floor.service.broker
    data = Path(floor.service.data)
    embedded_broker_url(data)
    return lambda: embedded_broker_url(data)


def log_to_stderr() -> None:
    """Log one line of JSON an event to standard error; standard output is for answers."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


async def _serve(link: Link, table: Table, broker_url: BrokerUrl, path: Path) -> bool:
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with Agent(link, table, broker_url, path) as agent:
        await agent.wait_live(LIVE_WITHIN_S)
        return await answer_lines(agent, sys.stdin.fileno(), sys.stdout.fileno())


def _user_error_in(group: BaseExceptionGroup[BaseException]) -> UserError | None:
    found = group.subgroup(UserError)
    while found is not None:
        first = found.exceptions[0]
        if isinstance(first, UserError):
            return first
        found = first if isinstance(first, BaseExceptionGroup) else None
    return None
