"""The only writer of a table's state. A state takes effect only when it is in the outbox."""

import asyncio
import dataclasses
import sqlite3
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, ParamSpec, Self, TypeVar

import msgspec
import structlog
from msgspec.structs import replace

from bonus.json_input import UNREADABLE
from controllers.agent.delivery import Delivered, encode_money_event
from controllers.agent.outbox import Outbox, OutboxError, SavedTable
from controllers.table.device_events import (
    DeviceAnswer,
    DeviceEvent,
    DeviceRefusal,
    RoundDone,
    WagerWithdrawn,
    decode_answer,
    encode_answer,
    name_in,
    parse_event,
    refused,
)
from controllers.table.replies import absorb, reconcile
from controllers.table.state import Layout, Phase, TableState
from controllers.table.transitions import (
    DEVICE_EVENT,
    AnsweredStep,
    SentStep,
    Stamp,
    answer_to,
    ask_again,
    play,
    play_alone,
)
from controllers.table.win_decisions import hear_win
from meters.process.clock import now
from meters.wire.messages import (
    TABLE_EVENT,
    ErrorDetail,
    Hello,
    HelloReply,
    Jackpot,
    MoneyEvent,
    TableEvent,
    WagerCorrection,
    Wagers,
)

_log: Final = structlog.get_logger(__name__)
_STATE: Final = msgspec.json.Decoder(TableState)
_encoder: Final = msgspec.json.Encoder()
_DISK_RETRY_S: Final = 1.0
_PAID: Final = frozenset({"next", "done"})
"""Device events that report payments. They are synced to the disk before they are answered, so that
the dealer is not asked to pay again after a power failure."""

_Given = ParamSpec("_Given")
_Got = TypeVar("_Got")


Deliver = Callable[[int, bytes], Awaitable[Delivered]]
"""Publishes an event (number, bytes) repeatedly until the service replies."""


class Pending(NamedTuple):
    """An event that waits for the service's reply, and its bytes in the outbox."""

    event: MoneyEvent
    payload: bytes


class _Loaded(NamedTuple):
    outbox: Outbox
    saved: SavedTable
    state: TableState
    pending: Pending | None


class TableWriter:
    """Writer of a table's state and outbox; a separate thread writes to the disk.

    Calls must not overlap, except calls of `handle_alone`: a lock ensures that only one call at a
    time changes the state. `accepted_wagers` and `accepted_cents` count the progressive wagers that
    the service accepted since the agent started.
    """

    def __init__(
        self, layout: Layout, path: Path, deliver: Deliver, disk: ThreadPoolExecutor, found: _Loaded
    ) -> None:
        self._layout = layout
        self._outbox_path = path
        self._deliver = deliver
        self._disk = disk
        self._turn = asyncio.Lock()
        self._outbox = found.outbox
        self._kept: SavedTable | None = found.saved
        self._log = _log.bind(link=layout.link, table=layout.table)
        self.state = found.state
        self.last_seq = found.outbox.last_seq
        self.pending = found.pending
        self.accepted_wagers = 0
        self.accepted_cents = 0
        if self.pending is not None or self.state != TableState():
            self._log.info(
                "table resumed",
                phase=str(self.state.phase),
                round=self.state.round,
                seq=self.pending and self.pending.event.seq,
            )

    @classmethod
    async def open(cls, layout: Layout, path: Path, deliver: Deliver) -> Self:
        """Open the outbox and restore the saved state of the table (duty D11).

        Raises:
            OutboxError: the outbox cannot be used.
        """
        disk = ThreadPoolExecutor(1, thread_name_prefix=f"outbox-{layout.table}")
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(disk, _load, layout, path)
        except BaseException:
            disk.shutdown(wait=False)
            raise
        return cls(layout, path, deliver, disk, found)

    @property
    def awaiting(self) -> str | None:
        return None if self.pending is None else DEVICE_EVENT[type(self.pending.event)]

    def unanswered_s(self) -> float:
        if self.pending is None:
            return 0.0
        return max(0.0, (now() - self.pending.event.at).total_seconds())

    def outbox_bytes(self) -> int:
        path = self._outbox_path
        wal = path.with_name(f"{path.name}-wal")
        return sum(each.stat().st_size for each in (path, wal) if each.exists())

    async def close(self) -> None:
        """Close the outbox after the current write has ended."""
        await self._on_disk(self._outbox.close)
        self._disk.shutdown(wait=False)

    async def handle(self, line: bytes, fault: Callable[[], DeviceRefusal | None]) -> DeviceAnswer:
        """Answer one device event. If it is sent to the service, wait for the reply first."""
        earlier, self._kept = self._kept, None
        if earlier is not None and earlier.line == line and earlier.answer is not None:
            answer = decode_answer(earlier.answer)
            # If the service refused a result, a void or a correction, the table did not change, so
            # the repeated event is handled as a new event.
            if answer.ok or answer.event == "lockout":
                return answer
        try:
            event = parse_event(line)
        except DeviceRefusal as refusal:
            return refused(name_in(line), refusal)
        async with self._turn:
            step = play(self._layout, self.state, event, self._stamp(), fault())
            try:
                if isinstance(step, SentStep):
                    pending = await self._write_event(step, line)
                elif step.answer.ok:
                    synced = step.answer.event in _PAID
                    await self._write(step.state, line, encode_answer(step.answer), synced=synced)
                elif step.state != self.state:
                    await self._write(step.state)
            except sqlite3.Error as error:
                return self._unwritten(event, error)
        return step.answer if isinstance(step, AnsweredStep) else await self.finish(pending)

    async def handle_alone(self, event: RoundDone | WagerWithdrawn) -> DeviceAnswer:
        """Handle an event even while another event waits for the service's reply.

        The outbox keeps the line of the waiting event, so that its answer can be stored later.
        """
        async with self._turn:
            step = play_alone(self._layout, self.state, event)
            try:
                if step.answer.ok:
                    await self._write_kept(step.state)
            except sqlite3.Error as error:
                return self._unwritten(event, error)
        return step.answer

    def _unwritten(self, event: DeviceEvent, error: sqlite3.Error) -> DeviceAnswer:
        self._log.exception("outbox not written")
        reason = f"the outbox cannot be written: {error}"
        return answer_to(self.state, event, DeviceRefusal("outbox_failed", reason))

    async def ask_again(self) -> DeviceAnswer | None:
        """Repeat the correction request to a floorperson; return None if the disk fails."""
        async with self._turn:
            try:
                saved = await self._saved()
                try:
                    step = ask_again(self._layout, self.state, self._stamp())
                except DeviceRefusal as refusal:
                    name = self.state.asking.event if self.state.asking else None
                    await self._write(replace(self.state, asking=None))
                    return refused(name, refusal)
                # The device event stays stored, because the device can repeat it.
                pending = await self._write_event(step, saved.line or b"")
            except sqlite3.Error:
                self._log.exception("outbox not written")
                return None
        return await self.finish(pending)

    def _stamp(self) -> Stamp:
        return Stamp(self.last_seq + 1, now())

    async def _write_event(self, step: SentStep, line: bytes) -> Pending:
        payload = encode_money_event(step.send)
        state = _encoder.encode(step.state)
        await self._on_disk(self._outbox.write_event, step.send.seq, payload, state, line)
        self._log.debug("event written", round=step.send.round, seq=step.send.seq)
        self.state, self.last_seq = step.state, step.send.seq
        self.pending = Pending(step.send, payload)
        return self.pending

    async def finish(self, pending: Pending) -> DeviceAnswer:
        """Deliver the pending event, and apply the reply; return the answer for the device."""
        sent = pending.event
        delivered = await self._deliver(sent.seq, pending.payload)
        async with self._turn:
            step = absorb(self._layout, self.state, sent, delivered.reply)
            about = self._log.bind(round=sent.round, seq=sent.seq)
            error = step.answer.error
            if step.state.asking is not None:
                # The correction request is repeated every few seconds, but logged only once.
                if self.state.asking is None:
                    about.info("confirmation awaited", event_asked=step.state.asking.event)
            elif isinstance(error, ErrorDetail):
                about.warning("event refused", code=error.code, reason=error.message)
            if delivered.reply.status == "accepted":
                self._count(sent)
            state, answer = _encoder.encode(step.state), encode_answer(step.answer)
            await self._write_reply(sent.seq, delivered.payload, state, answer)
            about.debug("reply written", status=delivered.reply.status)
            was_locked_out = self.state.phase is Phase.LOCKED_OUT
            self.state, self.pending = step.state, None
            if not was_locked_out:
                self._log_locked_out()
            if self._kept is not None:
                self._kept = SavedTable(None, self._kept.line, answer)
            return step.answer

    def _count(self, accepted: MoneyEvent) -> None:
        if isinstance(accepted, WagerCorrection):
            self.accepted_wagers += accepted.adds
            self.accepted_cents += accepted.amount * accepted.adds
        elif isinstance(accepted, Wagers):
            cents = [cents for at in accepted.positions for cents in at.wagers.values()]
            self.accepted_wagers += len(cents)
            self.accepted_cents += sum(cents)

    async def _write_reply(self, seq: int, reply: bytes, state: bytes, answer: bytes) -> None:
        """Try to write the reply until the disk accepts it; no other event is handled meanwhile."""
        while True:
            try:
                await self._on_disk(self._outbox.write_reply, seq, reply, state, answer)
            except sqlite3.Error:
                self._log.exception("outbox not written", seq=seq)
                await asyncio.sleep(_DISK_RETRY_S)
            else:
                return

    async def reconcile(self, hello: HelloReply) -> bool:
        """Compare the table with a hello reply, at a time when no event waits for a reply.

        If the table's outbox was lost, the event numbers continue from the service's last number.
        If the table and the service have different open rounds, or the table has lost events of the
        open round, the table is locked out. Return True if the service has all events of this
        table.

        Raises:
            sqlite3.Error: the outbox cannot be written; nothing has changed.
        """
        if hello.last_seq < self.last_seq:
            return False
        behind = hello.last_seq > self.last_seq
        async with self._turn:
            # The service can have rounds that an older copy of the outbox lacks. No name of a round
            # may be used twice.
            before = replace(self.state, rounds=0) if behind else self.state
            state = reconcile(before, hello.open_round, behind=behind)
            if behind:
                self._log.warning("numbering resumed", last_seq=hello.last_seq)
                # If the table is the same as before, the outbox keeps the stored device event.
                saved = await self._saved() if state == before else SavedTable()
                saved = dataclasses.replace(saved, state=_encoder.encode(state))
                await self._on_disk(self._outbox.go_on_from, hello.last_seq, saved)
                self.state, self.last_seq = state, hello.last_seq
                self._kept = self._kept if state == before else None
            elif state != before:
                await self._write(state)
            if state != before:
                self._log_locked_out()
        return True

    async def decide(self, jackpot: Jackpot) -> None:
        """Apply a message about a win or an Envy Bonus: a decision, or a reopened win.

        Raises:
            sqlite3.Error: the outbox cannot be written; the table does not change.
        """
        async with self._turn:
            state = hear_win(self._layout, self.state, jackpot)
            if state != self.state:
                win_log = self._log.bind(
                    claim=jackpot.claim, round=state.round, still_held=list(state.held)
                )
                if jackpot.event == "hit":
                    win_log.info("win reopened")
                else:
                    win_log.info("decision heard", decision=jackpot.event)
                await self._write_kept(state)

    def _log_locked_out(self) -> None:
        state = self.state
        if state.phase is Phase.LOCKED_OUT:
            self._log.error("table locked out", round=state.round, reason=state.reason)

    async def _write_kept(self, state: TableState) -> None:
        """Write a state, but keep the stored device event and its answer."""
        saved = await self._saved()
        await self._write(state, saved.line, saved.answer, synced=True)

    async def _write(
        self,
        state: TableState,
        line: bytes | None = None,
        answer: bytes | None = None,
        *,
        synced: bool = False,
    ) -> None:
        """Write a state with the last device event and its answer.

        Without these two, a repeated device event is handled as a new event.
        """
        saved = SavedTable(_encoder.encode(state), line, answer)
        await self._on_disk(self._outbox.write_place, saved, synced=synced)
        self.state = state
        if line is None:
            self._kept = None

    async def _saved(self) -> SavedTable:
        return await self._on_disk(lambda: self._outbox.place)

    async def _on_disk(
        self, call: Callable[_Given, _Got], *args: _Given.args, **kwargs: _Given.kwargs
    ) -> _Got:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._disk, partial(call, *args, **kwargs))


def _load(layout: Layout, path: Path) -> _Loaded:
    outbox = Outbox.open(path, layout.link, layout.table)
    try:
        saved, sent = outbox.place, outbox.pending
        state = TableState() if saved.state is None else _STATE.decode(saved.state)
        pending = Pending(_money_event(sent.payload), sent.payload) if sent else None
    except (sqlite3.Error, OutboxError, *UNREADABLE) as error:
        outbox.close()
        reason = f"it has no readable state of the table: {error}"
        raise OutboxError(f"outbox {path}: {reason}") from None
    return _Loaded(outbox, saved, state, pending)


def _money_event(payload: bytes) -> MoneyEvent:
    try:
        event: TableEvent = TABLE_EVENT.decode(payload)
    except UNREADABLE as error:
        raise OutboxError(f"it contains an invalid event: {error}") from None
    if isinstance(event, Hello):
        raise OutboxError("it contains a hello, which has no number")
    return event
