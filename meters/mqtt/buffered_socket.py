"""Socket that reads and writes large pieces of data for a client that uses small pieces.

The client is paho. It reads each packet in three steps: first byte, length and body. It sends each
packet in its own call. With thousands of messages a second, these calls used a fifth of the
service's time.
"""

import asyncio
import socket
import ssl
from typing import Final

_PIECE_BYTES: Final = 32_768
"""Number of bytes read in one call, and in one turn of the event loop. They contain a few hundred
messages, which take a few milliseconds to process."""
_UNSENT_BYTES_MAX: Final = 1_048_576
"""Number of unsent bytes above which the writer has to wait, as with any full socket buffer."""
_PUSHED_BYTES_MAX: Final = 67_108_864
"""Number of unsent bytes above which `push` accepts no more. `push` does not wait: it treats a
broker that leaves so many bytes unread as lost."""
_RETRY_S: Final = 0.002


class BufferedSocket:
    """Replacement for a connected, non-blocking socket.

    Written bytes are sent at the end of the event loop's turn. Only one piece is read in each turn.
    paho reads as long as there is data. Without this limit, a flood of messages would stop all
    other tasks. If sending fails, the next call raises the error, as the kernel does for a broken
    connection.
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
        """Return up to `size` received bytes. The errors are those of `socket.recv`."""
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
        """Return the number of received bytes that the client has not read yet."""
        return len(self._arrived) - self._taken + self._beneath()

    def _beneath(self) -> int:
        """Return the number of bytes in the TLS buffer. The kernel does not report these bytes."""
        inner = self._inner
        return inner.pending() if isinstance(inner, ssl.SSLSocket) else 0

    def _next_turn(self) -> None:
        self._had_piece = False

    def send(self, data: bytes | bytearray) -> int:
        """Accept bytes for sending; return their number.

        Raises:
            BlockingIOError: too many bytes are unsent.
            OSError: the connection is broken.
        """
        self._raise_if_broken()
        if len(self._unsent) > _UNSENT_BYTES_MAX:
            raise BlockingIOError
        self._unsent += data
        if self._flushing is None:
            self._flushing = self._loop.call_soon(self._flush)
        return len(data)

    def push(self, data: bytes) -> bool:
        """Accept bytes for sending, without waiting.

        Return False if the connection is broken or if far too many bytes are unsent.
        """
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
        """Send as many bytes as possible without waiting, then close the socket."""
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
