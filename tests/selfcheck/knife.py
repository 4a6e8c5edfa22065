"""A port to Redis at which a client ends before or after one of its commands, as by kill -9."""

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

READS: Final = frozenset(
    b"HELLO CLIENT SELECT PING INFO CONFIG MULTI EXEC GET HGET HMGET HGETALL HEXISTS HLEN XRANGE"
    b" XREVRANGE XLEN ZRANGE ZCARD ZREVRANGEBYSCORE ZRANGEBYSCORE EXISTS SMEMBERS TIME ROLE ACL"
    b" TYPE".split()
)
"""Commands that change nothing. An end before one of them is an end after the last change."""


class Knife:
    """The port. After the end, it takes no connection.

    `at` says of a command that can change something if the client ends there; if it is `answered`,
    Redis has executed it, but the client does not hear so. `kill` ends the client's process; by
    default the client only loses Redis for good.
    """

    def __init__(self, server: Path, at: Callable[[bytes], bool], *, answered: bool) -> None:
        self._server = server
        self._at = at
        self._answered = answered
        self.kill: Callable[[], None] = lambda: None
        self._ends = threading.Event()
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cut = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._server))
                self._open += [client, server]
                for pump in (self._ask, self._answer):
                    threading.Thread(target=pump, args=(client, server), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), client.makefile("rb") as asked:
            while command := _read_command(asked.readline, asked.read):
                with self._lock:
                    whole, name = command
                    if name not in READS and self._at(whole):
                        self._ends.set()
                        if not self._answered:
                            self._end()
                            return
                    server.sendall(whole)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while answer := server.recv(1 << 20):
                if self._ends.is_set():
                    self._end()
                    return
                client.sendall(answer)

    def _end(self) -> None:
        self.kill()
        self.cut.set()
        self._close()

    def _close(self) -> None:
        for one in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def _read_command(
    line: Callable[[], bytes], read: Callable[[int], bytes]
) -> tuple[bytes, bytes] | None:
    head = line()
    if not head:
        return None
    whole, words = head, []
    for _ in range(int(head[1:])):
        length = line()
        word = read(int(length[1:]) + 2)
        words.append(word[:-2])
        whole += length + word
    return whole, words[0].upper()
