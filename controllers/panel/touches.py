"""What is touched on a panel goes to the agent, one at a time, and is answered within a bound."""

import asyncio
from typing import Final

from msgspec.structs import replace

from controllers.agent.agent import Agent
from controllers.table.device_events import (
    BettingLocked,
    DeviceAnswer,
    DeviceEvent,
    DeviceRefusal,
    Retracted,
    RoundDone,
    SettlePressed,
    VoidPressed,
    encode_event,
    parse_event,
    refused,
)

ANSWER_WITHIN_S: Final = 4.0
"""After so long a tablet is told that the service has not answered yet; the event stands."""


class PanelEvents:
    """The panel's hand at the agent's door.

    What is touched while something else waits is refused, never put aside to take effect later.
    What was done about a round before is taken all the same.
    """

    def __init__(self, agent: Agent, within_s: float = ANSWER_WITHIN_S) -> None:
        self._agent = agent
        self._within_s = within_s
        self._turn = asyncio.Lock()
        self._under_way: set[asyncio.Task[DeviceAnswer]] = set()

    async def submit(self, line: bytes) -> DeviceAnswer | None:
        """Take one device event; None where it stands and the service has not answered yet."""
        if refusal := _needs_reason(line):
            return refused(line, refusal)
        line = _asking(line)
        if isinstance(_read(line), RoundDone):
            return await self._tick_off(line)
        loop = asyncio.get_running_loop()
        until_s = loop.time() + self._within_s
        try:
            async with asyncio.timeout_at(until_s):
                await self._turn.acquire()
        except TimeoutError:
            return refused(
                line, DeviceRefusal("busy", "the service has not answered what came before")
            )
        task = asyncio.create_task(self._handle(line), name="touch")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait({task}, timeout=max(until_s - loop.time(), 0.0))
        return task.result() if task.done() else None

    async def _tick_off(self, line: bytes) -> DeviceAnswer | None:
        """Take what was done about a round before at once: it waits for no event's answer."""
        task = asyncio.create_task(self._agent.handle_at_once(line), name="tick")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait({task}, timeout=self._within_s)
        return task.result() if task.done() else None

    async def _handle(self, line: bytes) -> DeviceAnswer:
        try:
            if refusal := self._unseen_settlement(line):
                return refused(line, refusal)
            return await self._agent.handle_at_once(line)
        finally:
            self._turn.release()

    def _unseen_settlement(self, line: bytes) -> DeviceRefusal | None:
        """Why a late lock-out is refused: a settlement is in sight, which it did not see.

        A page with a settlement has no button for it, and what is to be paid would pass for paid.
        """
        settled = self._agent.table_state.settled
        if settled is None or not isinstance(_read(line), BettingLocked):
            return None
        message = (
            f"the settlement of round {settled.round} is in sight now: pay it, and go on first"
        )
        return DeviceRefusal("settlement_open", message)

    def close(self) -> None:
        """Wait for no answer any more; what was taken takes its course."""
        for task in self._under_way:
            task.cancel()


def _needs_reason(line: bytes) -> DeviceRefusal | None:
    """Why a touch is refused that takes cards back and does not say why, or None."""
    event = _read(line)
    if isinstance(event, Retracted) and event.takes_cards and not (event.reason or "").strip():
        return DeviceRefusal("reason_missing", "say why the cards are taken back")
    return None


def _read(line: bytes) -> DeviceEvent | None:
    """The event that a line is, or None where it is none: the agent says what is wrong."""
    try:
        return parse_event(line)
    except DeviceRefusal:
        return None


def _asking(line: bytes) -> bytes:
    """The line of a touch, which asks a floorperson to confirm a correction."""
    event = _read(line)
    if isinstance(event, VoidPressed | SettlePressed):
        return encode_event(replace(event, confirm=True))
    return line
