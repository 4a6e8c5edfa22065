"""What programs need to run agents: the broker's address, outbox files, pages and errors."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import uvloop

from bonus.errors import UserError
from controllers.agent.delivery import BrokerPlace
from meters.floor.floor_file import Floor, Link, Table
from meters.floor.key_bundle import table_identity
from meters.floor.own_credentials import broker_address
from meters.floor.server_addresses import embedded_broker_url, parse_broker_url

_Result = TypeVar("_Result")


def outbox_path(floor: Floor, table_id: str) -> Path:
    return Path(floor.service.data) / "tables" / f"{table_id}.sqlite"


def broker_of(floor: Floor, link: Link, table: Table) -> BrokerPlace:
    """Return a function that gives the broker's address with the table's credentials.

    The agent calls it before each connection, so the next connection uses a renewed key or
    password.

    Raises:
        UserError: the address, the table's keys or the table's password cannot be used, or no
            embedded broker is running.
    """
    service = floor.service
    if service.broker == "embedded":
        data = Path(service.data)
        embedded_broker_url(data)
        return lambda: parse_broker_url(embedded_broker_url(data))
    party = table_identity(link.id, table.id)
    broker_address(service, party)
    return lambda: broker_address(service, party)


def run_agents(main: Coroutine[None, None, _Result]) -> _Result:
    """Run a program with agents. If a task ends with a `UserError`, raise this error."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(main)
    except BaseExceptionGroup as group:
        found: BaseException | None = group.subgroup(UserError)
        while isinstance(found, BaseExceptionGroup):
            found = found.exceptions[0]
        raise found or group from None


@asynccontextmanager
async def served(
    serve: Callable[[asyncio.Event], Coroutine[None, None, None]],
) -> AsyncIterator[asyncio.Task[None]]:
    """Serve pages while the block runs. The block is entered when the pages can be read.

    Raises:
        UserError: an address or the certificate cannot be used.
    """
    ready = asyncio.Event()
    serving, waiting = asyncio.create_task(serve(ready)), asyncio.create_task(ready.wait())
    try:
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
        yield serving
    finally:
        await cancel_all([serving, waiting])


async def cancel_all(tasks: Collection["asyncio.Task[Any]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
