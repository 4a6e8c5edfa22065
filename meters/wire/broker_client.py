"""The MQTT client that both sides use."""

import asyncio
from typing import Protocol

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
    """An aiomqtt client that has no socket watched that is closed by the time the loop comes to it.

    A connection may break between the wish to write and the loop's next turn; the socket's number
    is then nobody's, or already that of another connection.
    """

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
