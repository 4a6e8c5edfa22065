import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from meters.redis_client.replicated import ReplicatedRedis

log = structlog.get_logger()

LOOK_EVERY_S: Final = 15.0


async def watch_servers(redis: ReplicatedRedis, link: str, show: Callable[[int], None]) -> None:
    """Count repeatedly which sentinels, replicas and cluster nodes are missing, until canceled.

    The link operates without them, but possibly not after the next failure. Each change is logged
    once. `show` receives their number.
    """
    before: set[str] = set()
    while True:
        missing = await redis.missing()
        show(len(missing))
        if set(missing) != before:
            before = set(missing)
            if missing:
                log.warning("redis servers missing", link=link, missing=missing)
            else:
                log.info("redis servers complete", link=link)
        await asyncio.sleep(LOOK_EVERY_S)
