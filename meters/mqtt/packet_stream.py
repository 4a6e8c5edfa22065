"""Decoding of a connection's bytes to MQTT 5 packets, and sending of encoded packets.

The codec `mqtt5` is written in Rust: one read can bring a few hundred packets, so the time for one
packet decides how many events a service can read.
"""

import asyncio
from collections.abc import Callable
from typing import Final, cast

import mqtt5

from meters.mqtt.connection import UNSENT_BYTES_MAX, BrokerError

PACKET_BYTES_MAX: Final = 16_777_216
"""Longest packet that the client accepts. It is far above the longest event, so that the service
can refuse a longer event with a reply."""
_PIECE_BYTES: Final = 32_768
"""Bytes read in one turn of the event loop. They are a few milliseconds of work, so other tasks
run even during a flood."""
_LENGTH_BYTES_MAX: Final = 4
_PUBACK: Final = 0x40
_TOO_LARGE_CODE: Final = mqtt5.DisconnectReasonCode.PACKET_TOO_LARGE.value
TOO_LARGE: Final = "packet too large"
"""Text of an acknowledgement with which the broker refuses a message that is too long."""


class PacketError(BrokerError):
    """The broker sent bytes that are not allowed.

    `code` is the reason in MQTT; `head` has the first bytes of a packet that cannot be decoded.
    """

    def __init__(self, text: str, code: mqtt5.DisconnectReasonCode, head: bytes = b"") -> None:
        super().__init__(text)
        self.code = code
        self.head = head


class PacketStream(asyncio.BufferedProtocol):
    """Packets over a TCP or TLS connection.

    Written packets are sent together at the end of the event loop's turn. `hear` processes a
    packet; if it raises a `PacketError`, the connection ends. `end` is called once, at the end of
    the connection. `received_s` and `written_s` are the times of the last received and the last
    written bytes, by the event loop's clock.
    """

    def __init__(
        self, hear: Callable[[mqtt5.Packet], None], end: Callable[[BrokerError], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._hear = hear
        self._end = end
        self._transports: list[asyncio.Transport] = []
        self._view = memoryview(bytearray(_PIECE_BYTES))
        self._filled = 0
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0
        self._flushed_bytes = 0
        self._flushing: asyncio.Handle | None = None
        self._ended = False
        self.closed: asyncio.Future[None] = self._loop.create_future()
        self.received_s = self.written_s = self._loop.time()

    def use(self, transport: asyncio.Transport) -> None:
        """Write to this transport from now on, such as the TLS layer above the first transport."""
        self._transports.append(transport)

    @property
    def unsent_bytes(self) -> int:
        if self._ended:
            return 0
        return self._unsent_bytes + self._count_flushed_bytes()

    def _count_flushed_bytes(self) -> int:
        return sum(transport.get_write_buffer_size() for transport in self._transports)

    def write(self, packet: bytes) -> bool:
        """Accept a packet for sending; return False if the connection has ended, or ends now."""
        if self._ended:
            return False
        self._unsent.append(packet)
        self._unsent_bytes += len(packet)
        if self._flushing is None:
            self._flushing = self._loop.call_soon(self._flush)
        too_many = self._unsent_bytes + self._flushed_bytes > UNSENT_BYTES_MAX
        if too_many and self.unsent_bytes > UNSENT_BYTES_MAX:  # counted again
            self.abort(BrokerError("the broker accepts no more data"))
            return False
        return True

    async def close(self, last: bytes, within_s: float) -> None:
        try:
            if self.write(last):
                self._flush()
                self._stop()
                self._transports[-1].close()
                await asyncio.wait({self.closed}, timeout=within_s)
        finally:
            self.abort(BrokerError("the connection was closed"))

    def abort(self, error: BrokerError) -> None:
        """End the connection because of this error. Unsent bytes are lost."""
        if not self._ended and isinstance(error, PacketError):
            # The broker can write this reason to its log.
            self._unsent.append(mqtt5.DisconnectPacket(reason_code=error.code).write())
            self._flush()
            self._stop()
            self._transports[-1].close()
            self._end(error)
            return
        if not self._ended:
            self._stop()
            self._end(error)
        for transport in reversed(self._transports):
            transport.abort()

    def _stop(self) -> None:
        self._ended = True
        self._filled = 0
        self._unsent.clear()
        self._unsent_bytes = 0
        if self._flushing is not None:
            self._flushing.cancel()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The transports of uvloop are no subclasses of asyncio.Transport.
        self.use(cast("asyncio.Transport", transport))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)
        reason = f": {exc}" if exc is not None else ""
        self.abort(BrokerError(f"the connection to the broker broke{reason}"))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._view[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        if self._ended:
            return
        self.received_s = self._loop.time()
        filled = self._filled + nbytes
        was_full = filled == len(self._view)
        try:
            self._keep(filled, self._decode(filled))
        except BrokerError as error:
            self.abort(error)
        if was_full and not self._ended:
            # More data has probably come. The pause lets other tasks run before it is read.
            self._transports[-1].pause_reading()
            self._loop.call_soon(self._read_on)

    def _decode(self, filled: int) -> int:
        view, begin = self._view[:filled], 0
        while begin < filled and not self._ended:
            try:
                packet, size = mqtt5.read(view[begin:])
            except IndexError:
                break  # the rest of the packet is still to come
            except ValueError as error:
                packet, size = _too_large(view[begin:], error)
            except (Exception, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # a panic of the codec, at a string that is not UTF-8
                raise _malformed(view[begin:], error) from None
            begin += size
            self._hear(packet)
        return begin

    def _keep(self, filled: int, begin: int) -> None:
        """Keep the beginning of an incomplete packet, and make room for the whole packet."""
        left = filled - begin
        self._filled = left
        room = len(self._view)
        if left == room:
            room = _packet_bytes(self._view)
            if room > PACKET_BYTES_MAX:
                text = f"the broker sent a packet of {room:,} bytes"
                raise PacketError(text, mqtt5.DisconnectReasonCode.PACKET_TOO_LARGE)
        elif not left:
            room = _PIECE_BYTES
        if room == len(self._view):
            if begin:
                self._view[:left] = self._view[begin:filled]
            return
        grown = memoryview(bytearray(room))
        grown[:left] = self._view[begin:filled]
        self._view = grown

    def _read_on(self) -> None:
        if not self._ended and not self._transports[-1].is_closing():
            self._transports[-1].resume_reading()

    def _flush(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        if self._unsent:
            self.written_s = self._loop.time()
            self._transports[-1].write(b"".join(self._unsent))
            self._unsent.clear()
            self._unsent_bytes = 0
            self._flushed_bytes = self._count_flushed_bytes()


def _too_large(start: memoryview, error: ValueError) -> tuple[mqtt5.PubAckPacket, int]:
    """Return the acknowledgement of a message that is too long, and its size; or raise the error.

    mosquitto refuses a message above its message_size_limit with a code that MQTT allows only in
    DISCONNECT, and that the codec does not know.
    """
    if len(start) < 5 or start[0] != _PUBACK or start[4] != _TOO_LARGE_CODE:
        raise _malformed(start, error) from None
    refusal = mqtt5.PubAckPacket(
        int.from_bytes(start[2:4], "big"),
        reason_code=mqtt5.PubAckReasonCode.IMPLEMENTATION_SPECIFIC_ERROR,
        reason_str=TOO_LARGE,
    )
    return refusal, _packet_bytes(start)


def _malformed(packet: memoryview, error: BaseException) -> PacketError:
    return PacketError(
        f"the broker sent bytes that are not MQTT 5: {error}",
        mqtt5.DisconnectReasonCode.MALFORMED_PACKET,
        bytes(packet[:_LENGTH_BYTES_MAX]),
    )


def _packet_bytes(start: memoryview) -> int:
    length = 0
    for place in range(_LENGTH_BYTES_MAX):
        byte = start[1 + place]
        length |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    return length + 2 + place
