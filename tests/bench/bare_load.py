"""Load for the bare subscriber: the bytes that the service would receive, with no replies."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from typing import Final

from tests.bench.bare import SUBSCRIBED, WINDOW_TAKEN
from tests.bench.client import LoadClient
from tests.bench.events import EventWriter
from tests.bench.traffic import NoAnswerError, Table, publish_wagers

_WITHIN_S: Final = 60.0
_NS_PER_S: Final = 1e9


class BareLoad:
    """Publishes windows of events and waits until the bare subscriber has received each."""

    def __init__(self, writer: EventWriter) -> None:
        self._writer = writer
        self._client: LoadClient | None = None
        self._listens = asyncio.Event()
        self._taken = asyncio.Event()
        self._taken_at_s = 0.0

    @contextlib.asynccontextmanager
    async def connected(self, port: int) -> AsyncIterator[None]:
        """Connect to the bare subscriber's broker once that subscriber listens.

        Raises:
            PacketError: the broker refused.
            NoAnswerError: the subscriber did not appear.
        """
        client = await LoadClient.connect(
            port, "bench-load", subscribe=[SUBSCRIBED, WINDOW_TAKEN], deliver=self._hear
        )
        with contextlib.closing(client):
            self._client = client
            await _within(self._listens, "the bare subscriber does not listen")
            yield

    def _hear(self, messages: Sequence[tuple[bytes, bytes]]) -> None:
        for topic, payload in messages:
            if topic == SUBSCRIBED.encode():
                self._listens.set()
            else:
                self._taken_at_s = int(payload) / _NS_PER_S
                self._taken.set()

    async def window(self, tables: Sequence[Table]) -> tuple[int, float]:
        """Have all tables publish one `wagers` event each, without waiting between them.

        Returns:
            The number of events, and the seconds from the first publish until the last was
                received.

        Raises:
            NoAnswerError: the subscriber did not receive all of them.
        """
        client = self._client
        if client is None:
            raise NoAnswerError("there is no connection to the bare subscriber's broker")
        self._taken.clear()
        began = time.monotonic()
        await publish_wagers(client, self._writer, tables)
        await _within(self._taken, "the bare subscriber has not taken all messages")
        return len(tables), self._taken_at_s - began


async def _within(event: asyncio.Event, complaint: str) -> None:
    try:
        async with asyncio.timeout(_WITHIN_S):
            await event.wait()
    except TimeoutError:
        raise NoAnswerError(f"{complaint} within {_WITHIN_S:.0f} seconds") from None
