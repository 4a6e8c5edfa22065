"""Connections that Redis or pitlink has closed: none is used again, and a loss is reported."""

import asyncio
from pathlib import Path

import pytest
import uvloop
from redis.exceptions import ConnectionError as RedisConnectionError

from meters.floor.floor_file import Floor, parse_floor
from meters.store.redis_clients import KeptConnections, redis_of
from meters.store.redis_connect import open_redis
from tests.mqtt.floors import many_tables_text
from tests.servers import RedisServer, eventually_async

AT_ONCE = 8


@pytest.mark.parametrize("tcp", [True, False])
async def test_no_command_fails_for_a_connection_that_a_restart_closed(
    tmp_path: Path, *, tcp: bool
) -> None:
    """Each failed command would be another interruption of a link after Redis's return."""
    with RedisServer(tcp=tcp) as server:
        async with open_redis(_floor(server, tmp_path)) as opened:
            redis = redis_of(opened, "main")

            async def ask_all_at_once() -> None:
                waiting = (redis.blpop(["none"], timeout=0.05) for _ in range(AT_ONCE))
                assert await asyncio.gather(*waiting) == [None] * AT_ONCE

            await ask_all_at_once()
            server.kill()
            await asyncio.to_thread(server.start)
            await ask_all_at_once()


@pytest.mark.parametrize("tcp", [True, False])
def test_a_connection_that_is_lost_before_a_command_is_a_failure_of_redis(
    tmp_path: Path, *, tcp: bool
) -> None:
    """The event loop of the service raises an error of its own, which would end the service."""

    async def lose_it(server: RedisServer) -> None:
        async with open_redis(_floor(server, tmp_path)) as opened:
            pool = redis_of(opened, "main").connection_pool
            connection = await pool.get_connection()  # type: ignore[no-untyped-call]
            server.kill()

            def is_noticed() -> bool:
                # Only data that nobody takes shows it.
                writer: asyncio.StreamWriter = connection._writer
                if not writer.is_closing():
                    writer.write(b"\r\n")
                return writer.is_closing()

            await eventually_async(is_noticed, what="the loss noticed")
            with pytest.raises(RedisConnectionError):
                await connection.send_command("PING")
            await pool.release(connection)

    with RedisServer(tcp=tcp) as server:
        uvloop.run(lose_it(server))


async def test_no_command_fails_because_connections_are_replaced(tmp_path: Path) -> None:
    """A command can begin at any moment while other tasks leave their connections."""
    with RedisServer(tcp=True) as server:
        async with open_redis(_floor(server, tmp_path)) as opened:
            redis = redis_of(opened, "main")
            pool = redis.connection_pool
            assert isinstance(pool, KeptConnections)

            async def ask_after(turns: int) -> None:
                for _ in range(turns):
                    await asyncio.sleep(0)
                assert await redis.ping()

            for turns in range(12):
                await redis.ping()
                await asyncio.gather(ask_after(turns), pool.close_all(), ask_after(turns + 1))


def _floor(server: RedisServer, home: Path) -> Floor:
    return parse_floor(
        many_tables_text(broker="mqtt://127.0.0.1:1", redis=server.url, port=1, data=home)
    )
