"""Real servers for the tests, each private to the test that starts it.

Every server has free ports or a Unix socket, and its own directory, so tests run in parallel and in
any order. A server that is killed and restarted keeps its port and its data.

This module also exports the helpers for waiting and for `pitlink` processes.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final, Self

import redis

from tests.processes import Pitlink, pitlink_command, run_pitlink
from tests.waiting import LONG_S, dies_with_us, eventually, eventually_async, free_port, require

__all__ = [
    "Mosquitto",
    "Pitlink",
    "RedisServer",
    "Server",
    "answering",
    "eventually",
    "eventually_async",
    "free_port",
    "pitlink_command",
    "require",
    "run_pitlink",
]

START_WITHIN_S: Final = LONG_S
STOP_WITHIN_S: Final = LONG_S
_PORT_TRIES: Final = 5


@contextlib.contextmanager
def answering(answer: Callable[[str, Message], tuple[int, str]]) -> Iterator[int]:
    """Yield a port for GET requests. `answer` makes a status and body from path and headers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answer(self.path, self.headers)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class Server(ABC):
    """Server process in its own directory, started on entry and ended on exit."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="plt-"))
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def _command(self) -> list[str]: ...

    @abstractmethod
    def _answers(self) -> bool: ...

    @abstractmethod
    def _choose_port(self) -> None:
        """Choose a port, on the first start only."""

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server is not running"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        path = self.home / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self) -> None:
        """Start it, or restart it with the same port and data; return when it answers."""
        assert not self.running, "the server is running already"
        with (self.home / "log").open("ab") as log:
            self._process = subprocess.Popen(
                dies_with_us(self._command()),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.home,
                start_new_session=True,
            )
        try:
            eventually(
                lambda: not self.running or self._answers(),
                within_s=START_WITHIN_S,
                what=f"{type(self).__name__} answering",
            )
        except AssertionError:
            self.kill()
            raise
        if not self.running:
            self._process = None
            raise OSError(f"{type(self).__name__} ended at its start:\n{self.log}")

    def kill(self) -> None:
        """Kill it with SIGKILL. Do nothing if it is not running."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Stop it cleanly with SIGTERM. Do nothing if it is not running."""
        self._end(signal.SIGTERM)

    def freeze(self) -> None:
        """Suspend it with SIGSTOP; its connections stay open."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self) -> Self:
        try:
            for tries_left in reversed(range(_PORT_TRIES)):
                self._choose_port()
                try:
                    self.start()
                except OSError:
                    if not tries_left:
                        raise
                else:
                    break
        except BaseException:
            shutil.rmtree(self.home, ignore_errors=True)
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self.kill()
        shutil.rmtree(self.home, ignore_errors=True)


class RedisServer(Server):
    """Private redis-server that syncs every write to disk before it answers.

    Options such as ``{"maxmemory": "4mb"}`` come before the defaults. With `tcp` it listens on a
    free loopback port too.
    """

    def __init__(self, *, tcp: bool = False, options: Mapping[str, str] | None = None) -> None:
        self._program = require("redis-server")
        super().__init__()
        self._tcp = tcp
        self._options = dict(options or {})
        self.port = 0

    @property
    def socket_path(self) -> Path:
        return self.home / "redis.sock"

    def client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.socket_path))

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0" if self._tcp else f"unix://{self.socket_path}"

    def _choose_port(self) -> None:
        self.port = free_port() if self._tcp else 0

    def _command(self) -> list[str]:
        settings = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "unixsocket": str(self.socket_path),
            "dir": str(self.home),
            "appendonly": "yes",
            "appendfsync": "always",
            "maxmemory-policy": "noeviction",
            "save": "",
            "daemonize": "no",
        } | self._options
        return [
            self._program,
            *(part for name, value in settings.items() for part in (f"--{name}", value)),
        ]

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(1)
            connection.connect(str(self.socket_path))
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")


class Mosquitto(Server):
    """Private mosquitto without queue limits; options are lines, such as ``max_connections 4``."""

    def __init__(self, *, options: Sequence[str] = ()) -> None:
        self._program = require("mosquitto")
        super().__init__()
        self._options = tuple(options)
        self.port = 0

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def _choose_port(self) -> None:
        self.port = free_port()

    def _command(self) -> list[str]:
        lines = [
            f"listener {self.port} 127.0.0.1",
            "allow_anonymous true",
            "max_inflight_messages 0",
            "max_queued_messages 0",
            "set_tcp_nodelay true",
            "persistence true",
            f"persistence_location {self.home}/",
            "log_dest stderr",
            *(["user root"] if os.geteuid() == 0 else []),
            *self._options,
        ]
        conf = self.home / "mosquitto.conf"
        conf.write_text("\n".join(lines) + "\n")
        return [self._program, "-c", str(conf)]

    def _answers(self) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
            # This is an MQTT 3.1.1 CONNECT: clean session, no keep-alive, client id "probe".
            connection.sendall(b"\x10\x11\x00\x04MQTT\x04\x02\x00\x00\x00\x05probe")
            return connection.recv(4) == b"\x20\x02\x00\x00"
