"""A socket that reads and writes in large pieces for a client that uses small ones.

paho reads each packet's first byte, its length and its body separately, and sends each packet by
itself. At thousands of messages a second, those calls used a fifth of the service's time.
"""

import asyncio
import socket
import ssl
from typing import Final

_PIECE_BYTES: Final = 32_768
"""Bytes read in one call, and in one turn of the event loop: some hundred messages, a few
milliseconds."""
_UNSENT_BYTES_MAX: Final = 1_048_576
"""With more unsent bytes than this the writer has to wait, as with any full socket buffer."""
_PUSHED_BYTES_MAX: Final = 67_108_864
"""The same limit for `push`, which does not wait: a broker that reads nothing for so long counts as
gone."""
_RETRY_S: Final = 0.002


class BufferedSocket:
    """A replacement for a connected, non-blocking socket.

    Written bytes are sent at the end of the event loop's turn. One piece is read in each turn. paho
    reads as long as there is data, which in a flood is without end, and no other task would run. An
    error during sending is raised at the next call, as the kernel does for a broken connection.
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
        """Return up to `size` bytes; as `socket.recv`, with its errors."""
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
        """Return the number of received bytes that were not read yet."""
        return len(self._arrived) - self._taken + self._beneath()

    def _beneath(self) -> int:
        """Return the bytes that TLS has read already, which the kernel no longer reports."""
        inner = self._inner
        return inner.pending() if isinstance(inner, ssl.SSLSocket) else 0

    def _next_turn(self) -> None:
        self._had_piece = False

    def send(self, data: bytes | bytearray) -> int:
        """Accept bytes to be sent.

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
        """Accept bytes to be sent without a wait; return False if far too much is unsent."""
        if self._broken is not None or len(self._unsent) > _PUSHED_BYTES_MAX:
            return False
        self._unsent += data
        if self._flushing is None:
            self._flushing = self._loop.call_soon(self._flush)
        return True

    @property
    def unsent_bytes(self) -> int:
        """The number of bytes that wait to be sent."""
        return len(self._unsent)

    def fileno(self) -> int:
        """Return the socket's file descriptor."""
        return self._inner.fileno()

    def close(self) -> None:
        """Send as much as possible without waiting, and close."""
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
