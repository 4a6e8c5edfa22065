"""A relay for tests without an event loop of their own: cut, or silently held back."""

import asyncio
import threading
from contextlib import AsyncExitStack
from typing import Self

from tests.chaos.copies import Copier
from tests.mqtt.relay import Relay
from tests.waiting import LONG_S


class Wire:
    """A relay on a loopback port, run by a thread from entry to exit.

    With `copies`, each event of a table is passed on three times, back to back.
    """

    def __init__(self, to_port: int, *, copies: bool = False) -> None:
        self._relay = Relay(to_port, copier=Copier if copies else None)
        self._up = AsyncExitStack()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="wire", daemon=True)

    @property
    def port(self) -> int:
        return self._relay.port

    def __enter__(self) -> Self:
        self._thread.start()
        running = self._up.enter_async_context(self._relay.running())
        asyncio.run_coroutine_threadsafe(running, self._loop).result(LONG_S)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._up.aclose(), self._loop).result(LONG_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LONG_S)
        self._loop.close()

    def cut(self) -> None:
        """Break every connection, and each new one immediately."""
        self._relay.behavior = "close"
        self._loop.call_soon_threadsafe(self._relay.cut)

    def hold(self) -> None:
        """Let nothing through in either direction; connections stay open."""
        self._loop.call_soon_threadsafe(self._relay.stall)

    def mend(self) -> None:
        self._relay.behavior = "carry"
        self._loop.call_soon_threadsafe(self._relay.flow)
