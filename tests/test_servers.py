"""The servers that the tests start are real and private, and keep their data when killed."""

from pathlib import Path

import aiomqtt
import httpx
import pytest
import redis

from tests import waiting
from tests.servers import Mosquitto, RedisServer, eventually, eventually_async, run_pitlink


def test_redis_keeps_what_it_acknowledged_when_it_is_killed(redis_server: RedisServer) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.set("kept", "yes")
    redis_server.kill()
    assert not redis_server.running
    redis_server.start()
    with redis.Redis.from_url(redis_server.url) as client:
        assert client.get("kept") == b"yes"
        assert client.config_get("appendfsync") == {"appendfsync": "always"}
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


def test_redis_over_tcp_answers_on_its_own_port() -> None:
    with RedisServer(tcp=True, options={"maxmemory": "8mb"}) as server:
        assert server.url.startswith("redis://127.0.0.1:")
        with redis.Redis.from_url(server.url) as client:
            assert client.config_get("maxmemory") == {"maxmemory": str(8 * 1024 * 1024)}


async def test_mosquitto_is_back_on_its_port_when_it_is_killed(mosquitto: Mosquitto) -> None:
    port = mosquitto.port
    mosquitto.kill()
    mosquitto.start()
    assert mosquitto.port == port
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe("a", qos=1)
        await client.publish("a", b"x", qos=1)
        async for message in client.messages:
            assert message.payload == b"x"
            break


def test_server_leaves_no_directory_behind() -> None:
    with RedisServer() as server:
        home = server.home
        assert home.is_dir()
    assert not home.exists()
    assert not server.running


def test_missing_program_skips_here_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception):
        waiting.require("no-such-program")
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception):
        waiting.require("no-such-program")


def test_eventually_returns_what_came_and_fails_when_it_does_not() -> None:
    answers = iter([0, 0, 7])
    assert eventually(lambda: next(answers)) == 7
    with pytest.raises(AssertionError, match="the tide"):
        eventually(lambda: False, within_s=0.05, what="the tide")


@pytest.mark.parametrize(
    "error", [ConnectionRefusedError, httpx.ReadTimeout, redis.ConnectionError, redis.TimeoutError]
)
async def test_a_server_that_is_not_there_yet_is_waited_for(error: type[Exception]) -> None:
    def look() -> bool:
        if next(looks):
            raise error("not yet")
        return True

    looks = iter([True, False, True, False])
    assert eventually(look)
    assert await eventually_async(look)


async def test_eventually_async_takes_plain_and_awaitable_checks() -> None:
    async def yes() -> str:
        return "yes"

    assert await eventually_async(yes) == "yes"
    with pytest.raises(AssertionError, match="the tide"):
        await eventually_async(lambda: False, within_s=0.05, what="the tide")


def test_a_port_is_chosen_once_and_by_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "3")
    parts = []
    for worker in ("gw0", "gw1", "gw2"):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
        parts.append({waiting.free_port() for _ in range(50)})
    assert [len(part) for part in parts] == [50] * 3
    assert max(parts[0]) < min(parts[1])
    assert max(parts[1]) < min(parts[2])


def test_run_pitlink_gives_status_and_text(tmp_path: Path) -> None:
    done = run_pitlink("--version", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("pitlink ")
