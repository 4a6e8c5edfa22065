"""The MQTT client that both sides use, and the pace at which they connect again."""

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
"""A connection on which the broker has said nothing by then is left for another one.

It bounds each step alone: the TCP connection, and the broker's first byte on it, of TLS or MQTT. A
proxy whose broker is down may accept a connection and never say a word on it.
"""
CONNECTED_WITHIN_S: Final = 5.0
"""How long a broker that has begun a TLS handshake may take for the rest, and then for its CONNACK.

Where a whole floor connects at once, a slow broker works on all handshakes at the same time. If
clients left before it is done with any, it would begin with all of them again, for ever.
"""
ASKED_AFTER_S: Final = 1.5
"""A broker that has said nothing for so long is asked whether it is there."""
SILENT_S: Final = 3.0
"""A connection over which nothing has come for so long is lost, though nobody has closed it; a
table has locked itself by then."""

_LOOK_EVERY_S: Final = 0.5
_STEADY_S: Final = 5.0
_jitter: Final = secrets.SystemRandom()


class _Watched(Protocol):
    """A socket; its number is below 0 once it is closed."""

    def fileno(self) -> int:
        """The number that the event loop knows it by."""
        ...


class _Writing(Protocol):
    """A client with something left to write."""

    def loop_write(self) -> object:
        """Write what the socket takes."""
        ...


class _BrokerTlsSocket(ssl.SSLSocket):
    """A TLS socket with one bound for the broker's first byte, and another for what follows it."""

    def do_handshake(self, block: bool = False) -> None:  # noqa: FBT001, FBT002  (the library's own)
        """Perform the handshake; the socket's own bound is for its first answer.

        Raises:
            OSError: the connection broke, the broker did not answer, or is not to be trusted.
        """
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
            # Nobody else has it yet.
            self.close()
            raise

    def _wait_for_answer(self, within_s: float | None) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_READ)
            if not selector.select(within_s):
                raise TimeoutError(f"the broker has not answered within {within_s:g} s")


class BrokerClient(aiomqtt.Client):
    """An aiomqtt client that notices at once when its connection breaks, and leaves nothing behind.

    Each client is for one connection. Whatever waits for the broker ends with the connection: the
    library waits on until the time for an answer is up, also for the answer to the connection
    itself. And a connection over which nothing comes is lost after `SILENT_S`, not after twice the
    keep-alive.

    A connection may break between the wish to write and the loop's next turn; the socket's number
    is then nobody's, or already that of another connection. And it may be given up before the
    broker has answered: the library would keep its socket and its task until the process ends.
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
        # What goes wrong is raised. And paho would put together two log lines for each message.
        self._client.disable_logger()

    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            aiomqtt.MqttError: the broker is not reached, or refuses, or does not answer.
        """
        try:
            await super().__aenter__()
        except BaseException:
            self._given_up = True
            self._let_go()
            raise
        if self._client.socket() is None:
            # The library has forgotten it: it takes a loss before this for one of a time before.
            raise aiomqtt.MqttError("the connection broke as soon as it was made")
        return self

    async def _wait_for(self, fut: Awaitable[Answer], timeout: float | None) -> Answer:  # noqa: ASYNC109
        """Wait for what the broker answers, as long as the connection lasts.

        Raises:
            aiomqtt.MqttError: the connection broke, or there was no answer in time.
        """
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
            # The library keeps to itself what happens before the broker has answered.
            self._disconnected.set_exception(aiomqtt.MqttError("the connection broke"))
        if not self._disconnected.cancelled():
            # Whoever waits is told; that nobody may be waiting just now is no mistake.
            self._disconnected.exception()

    async def _misc_loop(self) -> None:
        """Look after the connection while there is one: paho's own duties, and that it carries."""
        paho = self._client
        while paho.loop_misc() == _DONE:
            looked_s = self._loop.time()
            await asyncio.sleep(_LOOK_EVERY_S)
            if self._loop.time() - looked_s > 2 * _LOOK_EVERY_S or not self._connected.done():
                # We were held up, and what has come meanwhile may not be read yet.
                continue
            # Nothing public of paho tells when something came last, asks, or ends a connection.
            silent_s = time_func() - paho._last_bytes_received  # noqa: SLF001
            if silent_s >= SILENT_S:
                paho._loop_rc_handle(_SILENT)  # noqa: SLF001
            elif silent_s >= ASKED_AFTER_S and not paho._ping_t:  # noqa: SLF001
                paho._send_pingreq()  # noqa: SLF001

    def _client_connect(self) -> None:
        # In a thread of paho's own: a cancelled wait for it does not end it.
        self._thread_connects = True
        try:
            super()._client_connect()
        finally:
            self._loop.call_soon_threadsafe(self._thread_has_connected)

    def _thread_has_connected(self) -> None:
        # What the thread had to tell the loop of its socket has been done before this.
        self._thread_connects = False
        self._let_go()

    def _let_go(self) -> None:
        if self._given_up and not self._thread_connects:
            # Nothing public of paho closes a connection that waits for the broker's first answer.
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
            # paho gives none where another thread of its own has closed it at that moment.
            if sock is None or sock.fileno() < 0:
                return
            try:
                self._loop.add_writer(sock.fileno(), write)
            except (OSError, RuntimeError) as error:
                # The loop has found out before us, and has let go of the socket.
                broken(error)

        # paho may be connecting in a thread of its own.
        self._loop.call_soon_threadsafe(watch)


class ConnectPace:
    """The pause before each further attempt to connect.

    It doubles from one attempt to the next, and is counted from when that began: what an attempt
    took is not waited for again. A connection that did not last is an attempt that failed.

    Args:
        first_s: the first pause, and the shortest between two attempts.
        cap_s: the longest.
    """

    def __init__(self, first_s: float = 0.1, cap_s: float = 1.0) -> None:
        self._first_s = first_s
        self._cap_s = cap_s
        self._delay_s = first_s
        self._began_s = 0.0

    def begin(self) -> None:
        """Note that an attempt begins."""
        self._began_s = asyncio.get_running_loop().time()

    async def pause(self) -> None:
        """Wait until the next attempt is due."""
        took_s = asyncio.get_running_loop().time() - self._began_s
        if took_s >= _STEADY_S:
            self._delay_s = self._first_s
        delay_s, self._delay_s = self._delay_s, min(self._delay_s * 2, self._cap_s)
        await asyncio.sleep(max(jittered(self._first_s), jittered(delay_s) - took_s))


def jittered(delay_s: float) -> float:
    """A wait of about so long, so that those who begin together do not go on together."""
    return delay_s * _jitter.uniform(0.75, 1.25)
