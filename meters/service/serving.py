import asyncio
import gc
from collections.abc import Set
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Any, Final

import structlog

from bonus.errors import UserError
from meters.floor.floor_file import Floor
from meters.floor.own_credentials import own_identity
from meters.http.middleware import ServerSettings
from meters.mqtt.broker_connect import floor_broker
from meters.process.signals import on_stop
from meters.service.log_auditing import note_stop
from meters.service.meter_service import MeterService, ServeOptions
from meters.store.redis_connect import open_redis

log = structlog.get_logger()

CANCEL_AGAIN_S: Final = 4.0


async def serve(floor: Floor, options: ServeOptions) -> None:
    """Run the service until SIGINT or SIGTERM. Then finish the work in progress.

    Raises:
        UserError: with the settings in the floor file, a part cannot be started or reached.
    """
    tune_collection()
    stop = asyncio.Event()
    on_stop(stop.set)
    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(open_redis(floor))
        identity = own_identity(floor.service)
        broker = await stack.enter_async_context(floor_broker(floor.service, identity))
        ready = asyncio.Event()
        service = MeterService(floor, redis, options)
        tune_collection()
        structlog.contextvars.bind_contextvars(service=service.identifier)
        settings = ServerSettings.of(floor.service)
        log.info(
            "service started",
            version=version("pitlink"),
            links=[each.id for each in floor.link],
            pages=f"{settings.scheme}://{floor.service.http}/",
        )
        spared = asyncio.all_tasks()
        serving = asyncio.create_task(service.run(broker, ready), name="service")
        stopping = asyncio.create_task(stop.wait(), name="stop")
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not serving.done():
                log.info("service stopping")
                await service.stop()
        finally:
            stopping.cancel()
            await end(serving, spared)
            await note_stop(service.user_directory.log)
    log.info("service stopped")


async def end(serving: "asyncio.Task[None]", spared: Set["asyncio.Task[Any]"]) -> None:
    """End the service. If a user's mistake ended the service, raise the error for this mistake.

    A client library can lose a cancellation that arrives with an answer. So every task is canceled
    repeatedly: a task group passes on only the first cancellation.
    """
    serving.cancel()
    while not serving.done():
        done, _ = await asyncio.wait({serving}, timeout=CANCEL_AGAIN_S)
        if not done:
            for task in asyncio.all_tasks() - {*spared, asyncio.current_task()}:
                task.cancel()
    try:
        await serving
    except asyncio.CancelledError:
        return
    except BaseExceptionGroup as group:
        mistakes = group.subgroup(UserError)
        if mistakes is not None:
            first = mistakes.exceptions[0]
            while isinstance(first, BaseExceptionGroup):
                first = first.exceptions[0]
            raise UserError(str(first)) from None
        raise


def tune_collection() -> None:
    """Let Python's garbage collector run less often, and never on objects that exist now.

    Objects of messages are in no cycles. With the default thresholds, the collector nevertheless
    needs a sixth of the service's time. With 20,000 tables, one pass over all long-lived objects
    takes a quarter of a second, in which the service does nothing else.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
