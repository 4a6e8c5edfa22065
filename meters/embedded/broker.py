"""The embedded broker: its command, its port, and its start and end with the service."""

import asyncio
import contextlib
import fcntl
import importlib.util
import os
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.embedded.shared_process import PartFailedError, SharedProcess
from meters.embedded.supervisor import try_lock
from meters.floor.server_addresses import BROKER_URL_FILE, BrokerAddress, parse_broker_url

LOOPBACK: Final = "127.0.0.1"
PACKET_BYTES_MAX: Final = 131_072
"""Longest packet that the embedded broker reads, as in deploy/mosquitto.conf.

Without this limit, any client could fill the memory of the broker.
"""

_MEMORY_BYTES_MAX: Final = 512 * 1024 * 1024
"""If mosquitto uses this much memory, it drops new messages, or ends and is started again.

deploy/mosquitto.conf has the same limit.
"""

_USUAL_PORT: Final = 1883
_PORT_TRIES: Final = 3
_ANSWER_WITHIN_S: Final = 2.0
# A CONNECT packet of MQTT 3.1.1 (client "pitlink-probe", clean session), and the CONNACK packet
# with which a broker accepts it.
_CONNECT: Final = b"\x10\x19\x00\x04MQTT\x04\x02\x00\x3c\x00\x0dpitlink-probe"
_ACCEPTED: Final = b"\x20\x02\x00\x00"
_DISCONNECT: Final = b"\xe0\x00"


@asynccontextmanager
async def embedded_broker(data: Path) -> AsyncIterator[str]:
    """Run the broker of a data directory and yield its address, ``mqtt://127.0.0.1:PORT``.

    The port is that of the last start, or else 1883, or else any free port. While the broker runs,
    the file ``broker.url`` of the data directory has its address. The broker's log is
    ``logs/broker.log``. Missing directories are made.

    Raises:
        UserError: another service uses the data directory, no broker is installed, or the broker
            does not start: then the message has the last lines of the broker's log.
    """
    shared = SharedProcess(data, "broker")
    home, address = shared.home, data / BROKER_URL_FILE
    sole = try_lock(home / "service.lock", fcntl.LOCK_EX)
    if sole is None:
        raise UserError(
            f"another pitlink service uses the data directory {data}: stop that service, or write"
            " another directory into the floor file (`data`)"
        )
    with sole:
        async with contextlib.AsyncExitStack() as stack:
            port = await _start(shared, stack)
            (home / "port").write_text(f"{port}\n", encoding="ascii")
            url = f"mqtt://{LOOPBACK}:{port}"
            address.write_text(f"{url}\n", encoding="utf-8")
            try:
                yield url
            finally:
                address.unlink(missing_ok=True)


async def _start(shared: SharedProcess, stack: contextlib.AsyncExitStack) -> int:
    tries_left = _PORT_TRIES
    while True:
        port: int = stack.enter_context(choose_port(shared.home)).getsockname()[1]
        command = broker_command(shared.home, port)
        running = shared.used(command, answers=partial(broker_answers, port))
        tries_left -= 1
        try:
            await stack.enter_async_context(running)
        except PartFailedError:
            # Another program can have taken the port meanwhile. If the port is still free, the
            # broker itself has failed.
            if not tries_left or port_is_free(port):
                raise
        else:
            return port


def broker_command(home: Path, port: int) -> list[str]:
    """Return the command of mosquitto, or else of amqtt; `UserError` if neither is installed."""
    if mosquitto := shutil.which("mosquitto"):
        lines = [
            "# Written again at each start.",
            f"listener {port} {LOOPBACK}",
            "allow_anonymous true",
            "max_inflight_messages 0",
            "max_queued_messages 0",
            "set_tcp_nodelay true",
            f"max_packet_size {PACKET_BYTES_MAX}",
            f"memory_limit {_MEMORY_BYTES_MAX}",
            "persistence false",
            "log_dest stderr",
            "log_type error",
            "log_type warning",
            # If root starts mosquitto, mosquitto changes to the user `mosquitto`, who does not
            # exist on every machine.
            *(["user root"] if os.geteuid() == 0 else []),
        ]
        conf = home / "mosquitto.conf"
        conf.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return [mosquitto, "-c", str(conf)]
    if importlib.util.find_spec("amqtt") is None:
        raise UserError(
            "mosquitto was not found: install it, or run pip install 'pitlink[embedded]', or write"
            " the address of a broker into the floor file (`broker`)"
        )
    return [sys.executable, "-P", "-m", "meters.embedded.amqtt_broker", LOOPBACK, str(port)]


def embedded_address(url: str) -> BrokerAddress:
    """Return the address of a broker that `broker_command` has started.

    The address says if the broker supports MQTT 5: amqtt never answers a client of MQTT 5.
    """
    return replace(parse_broker_url(url), mqtt5=shutil.which("mosquitto") is not None)


async def broker_answers(port: int) -> bool:
    try:
        async with asyncio.timeout(_ANSWER_WITHIN_S):
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            with contextlib.closing(writer):
                writer.write(_CONNECT)
                accepted = await reader.readexactly(len(_ACCEPTED)) == _ACCEPTED
                writer.write(_DISCONNECT)
                return accepted
    except (OSError, TimeoutError, EOFError):
        return False


def choose_port(home: Path) -> socket.socket:
    """Choose a free port: first the port of the last start, then 1883, then any other.

    While the returned UDP socket with the port's number is open, no other service chooses this
    port. Otherwise, two services that start at the same time could use one broker.
    """
    wishes = [_USUAL_PORT]
    with contextlib.suppress(OSError, ValueError):
        wishes.insert(0, int((home / "port").read_text(encoding="ascii")))
    for port in wishes:
        if (claim := _claim(port)) is not None:
            return claim
    while True:
        with socket.create_server((LOOPBACK, 0)) as listener:
            port = listener.getsockname()[1]
        if (claim := _claim(port)) is not None:
            return claim


def _claim(port: int) -> socket.socket | None:
    claim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with contextlib.suppress(OSError, OverflowError):
        claim.bind((LOOPBACK, port))
        if port_is_free(port):
            return claim
    claim.close()
    return None


def port_is_free(port: int) -> bool:
    try:
        socket.create_server((LOOPBACK, port)).close()
    except (OSError, OverflowError):
        return False
    return True
