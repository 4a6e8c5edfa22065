"""Connections that a restart of Redis has closed are not used again."""

import asyncio
from pathlib import Path

import pytest

from meters.floor.floor_file import parse_floor
from meters.redis_client.connect import open_redis
from meters.redis_client.shards import redis_of
from tests.mqtt.floors import many_tables_text
from tests.servers import RedisServer

AT_ONCE = 8


@pytest.mark.parametrize("tcp", [True, False])
async def test_no_command_fails_for_a_connection_that_a_restart_closed(
    tmp_path: Path, *, tcp: bool
) -> None:
    """Each failed command would be another interruption of a link after Redis's return."""
    with RedisServer(tcp=tcp) as server:
        floor = parse_floor(
            many_tables_text(broker="mqtt://127.0.0.1:1", redis=server.url, port=1, data=tmp_path)
        )
        async with open_redis(floor) as opened:
            redis = redis_of(opened, "main")

            async def ask_all_at_once() -> None:
                waiting = (redis.blpop(["none"], timeout=0.05) for _ in range(AT_ONCE))
                assert await asyncio.gather(*waiting) == [None] * AT_ONCE

            await ask_all_at_once()
            server.kill()
            await asyncio.to_thread(server.start)
            await ask_all_at_once()
