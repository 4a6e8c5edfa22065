"""The embedded servers: which are preferred, which keep running, and who ends them."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aiomqtt
import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from bonus.errors import UserError
from meters.embedded.broker import embedded_address, embedded_broker
from meters.embedded.redis_server import embedded_redis
from meters.embedded.supervisor import SUPERVISOR_LOCK, try_lock
from meters.floor.server_addresses import BROKER_URL_FILE
from meters.mqtt.broker_connect import connect_broker
from meters.mqtt.connection import Message
from tests.keys.raw import connect_packet, takes_huge_packet
from tests.waiting import LONG_S, dies_with_us, eventually, eventually_async, require


@pytest.fixture
def parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    which: str = request.param
    if which == "carried along":
        monkeypatch.setenv("PATH", "")
    else:
        places = {str(Path(require(name)).parent) for name in ("redis-server", "mosquitto")}
        monkeypatch.setenv("PATH", os.pathsep.join(places))
    return which


def has_supervisor(home: Path) -> bool:
    lock = try_lock(home / SUPERVISOR_LOCK, 1)
    if lock is None:
        return True
    lock.close()
    return False


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


@contextlib.contextmanager
def user_process(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run another process that uses both servers until its input ends."""
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from meters.embedded.broker import embedded_broker\n"
        "from meters.embedded.redis_server import embedded_redis\n"
        "async def main(data):\n"
        "    async with embedded_redis(data), embedded_broker(data):\n"
        "        print('ready', flush=True)\n"
        "        await asyncio.to_thread(sys.stdin.read)\n"
        "asyncio.run(main(Path(sys.argv[1])))\n"
    )
    command = dies_with_us([sys.executable, "-c", script, str(data)])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process
        if process.poll() is None:
            process.kill()


@pytest.mark.parametrize("parts", ["on PATH", "carried along"], indirect=True)
async def test_redis_keeps_its_data_from_one_run_to_the_next(parts: str, tmp_path: Path) -> None:
    for run in range(2):
        async with embedded_redis(tmp_path / "data") as url, Redis.from_url(url) as client:
            assert await client.incr("runs") == run + 1
            assert await client.config_get("appendfsync") == {"appendfsync": "always"}
            assert await client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            assert await client.config_get("port") == {"port": "0"}
            version = (await client.info("server"))["redis_version"]
            assert version.startswith("6.2") == (parts == "carried along")
        assert not has_supervisor(tmp_path / "data" / "redis")


async def test_redis_in_a_deep_directory_gets_a_short_private_socket(tmp_path: Path) -> None:
    """The path of a Unix socket has at most 107 bytes."""
    data = tmp_path.joinpath(*["a-long-name-for-a-directory"] * 5)
    async with embedded_redis(data) as url, Redis.from_url(url) as client:
        await client.set("here", "yes")
        path = Path(url.removeprefix("unix://"))
        assert not path.is_relative_to(data)
        assert len(os.fsencode(path)) < 104
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    async with embedded_redis(data) as again, Redis.from_url(again) as client:
        assert again == url
        assert await client.get("here") == b"yes"
    shutil.rmtree(path.parent)


async def test_redis_is_shared_and_ends_with_its_last_user(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with user_process(data) as other:
        async with embedded_redis(data) as url, Redis.from_url(url) as client:
            first = (await client.info("server"))["process_id"]
            assert other.stdin is not None
            other.stdin.close()
            assert await asyncio.to_thread(other.wait, 30) == 0
            assert (await client.info("server"))["process_id"] == first
        assert not has_supervisor(data / "redis")


async def test_parts_end_when_their_user_is_killed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with user_process(data) as other:
        port = int((data / BROKER_URL_FILE).read_text().rsplit(":", 1)[1])
        other.send_signal(signal.SIGKILL)
        other.wait()
        eventually(lambda: not has_supervisor(data / "redis"), what="Redis ending")
        eventually(lambda: not has_supervisor(data / "broker"), what="the broker ending")
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), timeout=1)
    async with embedded_redis(data), embedded_broker(data):
        pass


async def test_redis_that_is_killed_comes_back_with_its_data(tmp_path: Path) -> None:
    async with embedded_redis(tmp_path) as url, Redis.from_url(url) as client:
        await client.set("kept", "yes")
        os.kill((await client.info("server"))["process_id"], signal.SIGKILL)

        async def kept() -> bool:
            try:
                return bool(await client.get("kept") == b"yes")
            except RedisConnectionError:
                return False

        await eventually_async(kept, what="Redis coming back")


async def test_redis_left_by_a_killed_supervisor_is_replaced(tmp_path: Path) -> None:
    """Two servers on the same files would corrupt them."""
    async with embedded_redis(tmp_path) as url, Redis.from_url(url) as client:
        await client.set("kept", "yes")
        redis = (await client.info("server"))["process_id"]
        os.kill(parent_of(redis), signal.SIGKILL)
        async with embedded_redis(tmp_path) as again, Redis.from_url(again) as second:
            assert await second.get("kept") == b"yes"
            assert (await second.info("server"))["process_id"] != redis
            eventually(lambda: not Path(f"/proc/{redis}").exists(), what="the old one ending")


async def test_redis_too_old_for_the_data_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not read the files of a later version, and every meter would begin again."""
    monkeypatch.setenv("PATH", "")
    (tmp_path / "redis" / "appendonlydir").mkdir(parents=True)
    with pytest.raises(UserError, match="Redis 7 or later wrote"):
        async with embedded_redis(tmp_path):
            pytest.fail("it started")


async def test_redis_that_cannot_start_says_why(tmp_path: Path) -> None:
    async with embedded_redis(tmp_path) as url, Redis.from_url(url) as client:
        await client.set("kept", "yes")
    for file in (tmp_path / "redis").rglob("*.aof"):
        file.write_bytes(b"nonsense\r\n")
    with pytest.raises(UserError, match=r"(?s)ended at its start.*Bad file format"):
        async with embedded_redis(tmp_path):
            pytest.fail("it started")
    assert not has_supervisor(tmp_path / "redis")


@pytest.mark.slow
@pytest.mark.parametrize("parts", ["on PATH", "carried along"], indirect=True)
async def test_broker_carries_retained_values_wills_and_qos_1(parts: str, tmp_path: Path) -> None:
    async with embedded_broker(tmp_path) as url:
        assert (tmp_path / BROKER_URL_FILE).read_text() == f"{url}\n"
        port = int(url.rsplit(":", 1)[1])
        will = aiomqtt.Will("status", b"gone", qos=1, retain=True)
        dying = aiomqtt.Client("127.0.0.1", port, will=will)
        await dying.__aenter__()
        await dying.publish("status", b"here", qos=1, retain=True)
        no_delay = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
        async with (
            aiomqtt.Client("127.0.0.1", port, socket_options=no_delay) as client,
            asyncio.timeout(LONG_S),
        ):
            await client.subscribe("status", qos=1)
            messages = aiter(client.messages)
            first = await anext(messages)
            assert (first.payload, first.retain) == (b"here", True)
            connection = dying._client.socket()
            assert isinstance(connection, socket.socket)
            connection.shutdown(socket.SHUT_RDWR)
            last = await anext(messages)
            assert (last.payload, last.qos) == (b"gone", 1)
            await client.publish("in", b"ignored", qos=1)
            await client.subscribe("many/#", qos=1)
            for number in range(200):
                await client.publish("many/x", str(number).encode(), qos=1)
            got = [(await anext(messages)).payload for _ in range(200)]
            assert got == [str(number).encode() for number in range(200)]
        with contextlib.suppress(aiomqtt.MqttError):
            await dying.__aexit__(None, None, None)
    assert not (tmp_path / BROKER_URL_FILE).exists()
    assert not has_supervisor(tmp_path / "broker")


@pytest.mark.parametrize("parts", ["on PATH", "carried along"], indirect=True)
async def test_a_service_uses_the_newest_mqtt_that_the_broker_supports(
    parts: str, tmp_path: Path
) -> None:
    async with (
        asyncio.timeout(LONG_S),
        embedded_broker(tmp_path) as url,
        connect_broker(embedded_address(url), "one") as one,
        connect_broker(embedded_address(url), "two") as two,
    ):
        assert one.mqtt == ("5" if parts == "on PATH" else "3.1.1")
        # amqtt has no shared subscriptions, and confirms a message before it passes it on.
        replies = "$share/group/b" if one.mqtt == "5" else "b"
        if one.mqtt == "5":
            one.post("a/kept", b"0", retain=True)
            await one.publish("a/other", b"nobody hears this")
        await two.subscribe("a/+", replies)
        if one.mqtt == "5":
            assert await two.batch(9) == [Message("a/kept", b"0", retain=True)]
        one.post("a/kept", b"1", retain=True, expires_s=3)
        assert await two.batch(9) == [Message("a/kept", b"1", retain=False)]
        one.reply("b", b"2")
        assert await two.batch(9) == [Message("b", b"2", retain=False)]
        await two.unsubscribe(replies)
        await one.publish("b", b"3")
        await one.publish("a/other", b"4")
        assert await two.batch(9) == [Message("a/other", b"4", retain=False)]
        await eventually_async(lambda: one.unsent_bytes == 0)


async def test_broker_takes_its_port_again(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        (tmp_path / "broker").mkdir()
        (tmp_path / "broker" / "port").write_text(f"{taken.getsockname()[1]}\n")
        async with embedded_broker(tmp_path) as first:
            assert first != f"mqtt://127.0.0.1:{taken.getsockname()[1]}"
    async with embedded_broker(tmp_path) as second:
        assert second == first


@pytest.mark.slow
async def test_brokers_that_start_at_once_get_a_port_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each checks its own broker: one may start slowly while another is already running."""
    monkeypatch.setenv("PATH", "")
    async with contextlib.AsyncExitStack() as stack:
        urls = await asyncio.gather(
            *(stack.enter_async_context(embedded_broker(tmp_path / name)) for name in "abc")
        )
        assert len(set(urls)) == 3


async def test_broker_serves_one_service_only(tmp_path: Path) -> None:
    async with embedded_broker(tmp_path):
        with pytest.raises(UserError, match="another pitlink service"):
            async with embedded_broker(tmp_path):
                pytest.fail("two at once")


@pytest.mark.parametrize("parts", ["on PATH", "carried along"], indirect=True)
async def test_a_packet_that_is_too_long_is_not_read(parts: str, tmp_path: Path) -> None:
    """Anybody on the machine could fill the broker's memory with it."""

    def refused(port: int) -> bool:
        with socket.create_connection(("127.0.0.1", port), LONG_S) as connection:
            connection.sendall(connect_packet("any"))
            assert connection.recv(4) == b"\x20\x02\x00\x00"
            return not takes_huge_packet(connection, b"\x32")

    async with embedded_broker(tmp_path) as url:
        assert await asyncio.to_thread(refused, int(url.rsplit(":", 1)[1]))
        async with connect_broker(embedded_address(url), "other") as other:
            await other.publish("a", b"1")


async def test_data_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(UserError, match="cannot be used"):
        async with embedded_redis(tmp_path / "data"):
            pytest.fail("it started")
