"""A socket that reads and writes in large pieces, under a client that does so in small ones.

paho asks for each packet's first byte, its length and its body apart, and sends each packet by
itself. At thousands of messages a second those calls were a fifth of the service's time.
"""

import asyncio
import socket
import ssl
from typing import Final

_PIECE_BYTES: Final = 32_768
"""Read at once, and in one turn of the event loop: some hundred messages, a few milliseconds."""
_UNSENT_BYTES_MAX: Final = 1_048_576
"""With more than this unsent the writer has to wait, as with any socket whose buffer is full."""
_PUSHED_BYTES_MAX: Final = 67_108_864
"""The same where nothing waits: a broker that takes nothing for so long is as good as gone."""
_RETRY_S: Final = 0.002


class BufferedSocket:
    """Stands in for a connected, non-blocking socket.

    What is written is sent at the end of the event loop's turn. One piece is read in a turn, and
    the next one in the next: paho reads on for as long as there is anything, which under a flood
    is for ever, and nothing else would have its turn. An error on the way out is raised
    at the next call, as the kernel does with a connection that breaks.
    """

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self._loop = asyncio.get_running_loop()
        self._arrived = b""
        self._taken = 0
        self._had_piece = False
        self._unsent = bytearray()
        self._flushing: asyncio.Handle | None = None
        self._broken: OSError | None = None

    def recv(self, size: int) -> bytes:
        """Give up to `size` bytes; as `socket.recv`, with its errors."""
        if self._taken == len(self._arrived):
            self._raise_if_broken()
            if self._had_piece and not self._beneath():
                raise BlockingIOError
            self._arrived, self._taken = self._inner.recv(_PIECE_BYTES), 0
            if not self._had_piece:
                self._had_piece = True
                self._loop.call_soon(self._next_turn)
        piece = self._arrived[self._taken : self._taken + size]
        self._taken += len(piece)
        return piece

    def pending(self) -> int:
        """How many bytes have arrived that nobody asked for yet."""
        return len(self._arrived) - self._taken + self._beneath()

    def _beneath(self) -> int:
        """What TLS has read already, of which the kernel says nothing any more."""
        inner = self._inner
        return inner.pending() if isinstance(inner, ssl.SSLSocket) else 0

    def _next_turn(self) -> None:
        self._had_piece = False

    def send(self, data: bytes | bytearray) -> int:
        """Take bytes to be sent.

        Raises:
            BlockingIOError: too much is unsent already.
            OSError: the connection has broken.
        """
        self._raise_if_broken()
        if len(self._unsent) > _UNSENT_BYTES_MAX:
            raise BlockingIOError
        self._unsent += data
        if self._flushing is None:
            self._flushing = self._loop.call_soon(self._flush)
        return len(data)

    def push(self, data: bytes) -> bool:
        """Have bytes sent that nobody waits for; False where far too much is unsent already."""
        if self._broken is not None or len(self._unsent) > _PUSHED_BYTES_MAX:
            return False
        self._unsent += data
        if self._flushing is None:
            self._flushing = self._loop.call_soon(self._flush)
        return True

    @property
    def unsent_bytes(self) -> int:
        """How much waits to be sent."""
        return len(self._unsent)

    def fileno(self) -> int:
        """The socket's file descriptor."""
        return self._inner.fileno()

    def close(self) -> None:
        """Send what can be sent at once, and close."""
        if self._flushing is not None:
            self._flushing.cancel()
            self._flush()
        if self._flushing is not None:
            self._flushing.cancel()
        self._inner.close()

    def _flush(self) -> None:
        self._flushing = None
        try:
            sent = self._inner.send(self._unsent)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            sent = 0
        except OSError as error:
            self._broken = error
            return
        del self._unsent[:sent]
        if self._unsent:
            self._flushing = self._loop.call_later(_RETRY_S, self._flush)

    def _raise_if_broken(self) -> None:
        if self._broken is not None:
            raise self._broken
