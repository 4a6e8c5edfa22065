"""The MQTT client that both sides use."""

import asyncio
from typing import Protocol, Self

import aiomqtt


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


class BrokerClient(aiomqtt.Client):
    """An aiomqtt client whose connections leave nothing behind, whenever they break or are left.

    Each client is for one connection.

    A connection may break between the wish to write and the loop's next turn; the socket's number
    is then nobody's, or already that of another connection. And it may be given up before the
    broker has answered: the library would keep its socket and its task until the process ends.
    """

    _thread_connects = False
    _given_up = False

    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            aiomqtt.MqttError: the broker is not reached, or refuses, or does not answer.
        """
        try:
            return await super().__aenter__()
        except BaseException:
            self._given_up = True
            self._let_go()
            raise

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

    def _on_socket_register_write(self, client: _Writing, userdata: object, sock: _Watched) -> None:
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
            if sock.fileno() < 0:
                return
            try:
                self._loop.add_writer(sock.fileno(), write)
            except (OSError, RuntimeError) as error:
                # The loop has found out before us, and has let go of the socket.
                broken(error)

        # paho may be connecting in a thread of its own.
        self._loop.call_soon_threadsafe(watch)
