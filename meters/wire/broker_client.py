"""MQTT client of the service and the agents, and the pauses between connection attempts."""

import asyncio
import math
import secrets
import selectors
import ssl
from collections.abc import Awaitable
from typing import Any, Final, Protocol, Self, TypeVar

import aiomqtt
from paho.mqtt.client import MQTT_ERR_KEEPALIVE as _SILENT
from paho.mqtt.client import MQTT_ERR_SUCCESS as _DONE
from paho.mqtt.client import time_func

Answer = TypeVar("Answer")

FIRST_ANSWER_WITHIN_S: Final = 1.2
"""Longest wait for the TCP connection, and then for the broker's first byte (of TLS or MQTT).

If the broker behind a proxy is down, the proxy can accept a connection and send no byte.
"""
CONNECTED_WITHIN_S: Final = 5.0
"""Longest wait for the rest of a TLS handshake, and then for the broker's CONNACK.

If a whole floor connects at the same time, a slow broker works on all handshakes together. With a
shorter wait, all clients would disconnect before any handshake is finished, and begin again.
"""
ASKED_AFTER_S: Final = 1.5
"""If the broker sends nothing for this time, the client sends a ping."""
SILENT_S: Final = 3.0
"""If the broker sends nothing for this time, the connection counts as lost.

By then, a table accepts no progressive wagers any more, because the service's heartbeat is missing.
"""

_LOOK_EVERY_S: Final = 0.5
_STEADY_S: Final = 5.0
_jitter: Final = secrets.SystemRandom()


class _Watched(Protocol):
    def fileno(self) -> int: ...


class _Writing(Protocol):
    def loop_write(self) -> object: ...


class _BrokerTlsSocket(ssl.SSLSocket):
    """TLS socket with two time limits: one for the broker's first byte, one for the handshake."""

    def do_handshake(self, block: bool = False) -> None:  # noqa: FBT001, FBT002  (the library's own)
        """Limit the wait for the first byte to the socket's own timeout."""
        first_within_s = self.gettimeout()
        self.settimeout(0.0)
        try:
            try:
                super().do_handshake(block)
            except ssl.SSLWantReadError:
                self._wait_for_answer(first_within_s)
                self.settimeout(CONNECTED_WITHIN_S)
                super().do_handshake(block)
            self.settimeout(first_within_s)
        except BaseException:
            # No other code has the socket yet, so nobody else can close it.
            self.close()
            raise

    def _wait_for_answer(self, within_s: float | None) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_READ)
            if not selector.select(within_s):
                raise TimeoutError(f"the broker has not answered within {within_s:g} s")


class BrokerClient(aiomqtt.Client):
    """An aiomqtt client that detects a broken connection quickly and then releases its resources.

    Each client is for one connection. When the connection ends, every wait for the broker ends;
    aiomqtt alone would wait until its timeout, even for the CONNACK. If nothing arrives for
    `SILENT_S` seconds, the connection counts as lost; aiomqtt alone would need twice the keep-alive
    time.

    A connection can break after a write was requested and before the event loop writes. Then the
    file descriptor is closed, or already belongs to another connection; this class handles both
    cases. If a connection attempt is canceled before the broker has answered, this class closes the
    socket; aiomqtt alone would keep socket and task until the process ends.
    """

    _thread_connects = False
    _given_up = False

    def __init__(
        self,
        *args: Any,  # noqa: ANN401  (the library's own)
        tls_context: ssl.SSLContext | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        if tls_context is not None:
            tls_context.sslsocket_class = _BrokerTlsSocket
        super().__init__(*args, tls_context=tls_context, **options)
        self._client.connect_timeout = FIRST_ANSWER_WITHIN_S
        self._connack_within_s = CONNECTED_WITHIN_S if tls_context else FIRST_ANSWER_WITHIN_S
        # Errors are raised, so paho's log is not needed. With the log, paho formats two lines for
        # each message.
        self._client.disable_logger()

    async def __aenter__(self) -> Self:
        """Connect to the broker.

        Raises:
            aiomqtt.MqttError: the broker cannot be reached, refuses the connection, or does not
                answer.
        """
        try:
            await super().__aenter__()
        except BaseException:
            self._given_up = True
            self._let_go()
            raise
        if self._client.socket() is None:
            # aiomqtt has forgotten the socket: it mistakes this loss for the loss of an earlier
            # connection.
            raise aiomqtt.MqttError("the connection broke as soon as it was made")
        return self

    async def _wait_for(self, fut: Awaitable[Answer], timeout: float | None) -> Answer:  # noqa: ASYNC109
        limit_s = self.timeout if timeout is None else timeout
        if fut is self._connected:
            limit_s = min(limit_s, self._connack_within_s)
        answer = asyncio.ensure_future(fut)
        try:
            ends: set[asyncio.Future[Any]] = {answer, self._disconnected}
            await asyncio.wait(
                ends,
                timeout=None if limit_s == math.inf else limit_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if answer.done():
                return answer.result()
        finally:
            answer.cancel()
        if self._disconnected.done():
            raise aiomqtt.MqttError("the connection broke before the broker answered")
        raise aiomqtt.MqttError(f"the broker has not answered within {limit_s:g} s")

    def _on_disconnect(self, *args: Any) -> None:  # noqa: ANN401  (the library's own)
        super()._on_disconnect(*args)
        if not self._disconnected.done():
            # aiomqtt does not report a loss before the broker has answered.
            self._disconnected.set_exception(aiomqtt.MqttError("the connection broke"))
        if not self._disconnected.cancelled():
            # asyncio logs each exception that nobody reads. Perhaps nobody waits for this one.
            self._disconnected.exception()

    def _on_subscribe(self, *args: Any) -> None:  # noqa: ANN401  (the library's own)
        # The broker can answer a subscription for which nobody waits any more, for example at the
        # end of a program. aiomqtt would log this answer as an error, with a traceback.
        if args[2] in self._pending_subscribes:
            super()._on_subscribe(*args)

    async def _misc_loop(self) -> None:
        """While the connection lasts, run paho's periodic duties and check that data arrives."""
        paho = self._client
        while paho.loop_misc() == _DONE:
            looked_s = self._loop.time()
            await asyncio.sleep(_LOOK_EVERY_S)
            if self._loop.time() - looked_s > 2 * _LOOK_EVERY_S or not self._connected.done():
                # This process was delayed. There can be data that it has not read yet.
                continue
            # paho has no public functions for the time of the last byte, a ping, or the end of a
            # connection.
            silent_s = time_func() - paho._last_bytes_received  # noqa: SLF001
            if silent_s >= SILENT_S:
                paho._loop_rc_handle(_SILENT)  # noqa: SLF001
            elif silent_s >= ASKED_AFTER_S and not paho._ping_t:  # noqa: SLF001
                paho._send_pingreq()  # noqa: SLF001

    def _client_connect(self) -> None:
        # paho connects in a thread, which continues if the wait for it is canceled.
        self._thread_connects = True
        try:
            super()._client_connect()
        finally:
            self._loop.call_soon_threadsafe(self._thread_has_connected)

    def _thread_has_connected(self) -> None:
        # The thread has requested other calls about its socket, which have run before this one.
        self._thread_connects = False
        self._let_go()

    def _let_go(self) -> None:
        if self._given_up and not self._thread_connects:
            # paho has no public way to close a connection before the broker's first answer.
            self._client._sock_close()  # noqa: SLF001

    def _on_socket_register_write(
        self, client: _Writing, userdata: object, sock: _Watched | None
    ) -> None:
        disconnected: asyncio.Future[None] = self._disconnected

        def broken(error: Exception) -> None:
            if not disconnected.done():
                disconnected.set_exception(aiomqtt.MqttError(f"the connection broke: {error}"))

        def write() -> None:
            try:
                client.loop_write()
            except Exception as error:
                broken(error)

        def watch() -> None:
            # If another thread of paho has just closed the socket, paho passes None.
            if sock is None or sock.fileno() < 0:
                return
            try:
                self._loop.add_writer(sock.fileno(), write)
            except (OSError, RuntimeError) as error:
                # The event loop has detected the loss first, and has released the socket.
                broken(error)

        # paho can be in its own thread here.
        self._loop.call_soon_threadsafe(watch)


class ConnectPace:
    """The pauses between attempts to connect to a server, from `first_s` to `cap_s`.

    A pause begins with the attempt and includes its duration. After each failed attempt, the pause
    doubles; a connection that lasted only a short time counts as a failed attempt.
    """

    def __init__(self, first_s: float = 0.1, cap_s: float = 1.0) -> None:
        self._first_s = first_s
        self._cap_s = cap_s
        self._delay_s = first_s
        self._began_s = 0.0

    def begin(self) -> None:
        self._began_s = asyncio.get_running_loop().time()

    async def pause(self) -> None:
        took_s = asyncio.get_running_loop().time() - self._began_s
        if took_s >= _STEADY_S:
            self._delay_s = self._first_s
        delay_s, self._delay_s = self._delay_s, min(self._delay_s * 2, self._cap_s)
        await asyncio.sleep(max(jittered(self._first_s), jittered(delay_s) - took_s))


def jittered(delay_s: float) -> float:
    """Change a delay at random by up to a quarter, so that clients retry at different times."""
    return delay_s * _jitter.uniform(0.75, 1.25)
