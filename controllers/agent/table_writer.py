"""The only writer of a table's state, which takes effect only once it is in the outbox."""

import asyncio
import dataclasses
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

import msgspec
import structlog

from controllers.agent.delivery import Delivered, encode_money_event
from controllers.agent.outbox import Outbox, OutboxError, SavedTable, Sent
from controllers.agent.stats import Accepted
from controllers.table.device_events import (
    DeviceAnswer,
    DeviceEvent,
    DeviceRefusal,
    RoundDone,
    WagerWithdrawn,
    decode_answer,
    encode_answer,
    parse_event,
    refused,
)
from controllers.table.replies import absorb, reconcile
from controllers.table.state import Layout, Phase, TableState
from controllers.table.transitions import Stamp, Transition, answer_to, play, try_again
from controllers.table.win_decisions import hear_win
from meters.wire.clock import now
from meters.wire.messages import (
    TABLE_EVENT,
    UNREADABLE,
    ErrorDetail,
    Hello,
    HelloReply,
    Jackpot,
    MoneyEvent,
    Result,
    TableEvent,
    Void,
    WagerCorrection,
    Wagers,
    Withdrawal,
    envy_owed_under,
)

_log: Final = structlog.get_logger(__name__)
_STATE: Final = msgspec.json.Decoder(TableState)
_encoder: Final = msgspec.json.Encoder()
_DISK_RETRY_S: Final = 1.0
_PAID: Final = frozenset({"next", "done"})
"""Device events that are synced to the disk before they are answered.

They report payments, which the dealer must not be asked to make again after a power failure.
"""
_ASKED_BY: Final[Mapping[type[MoneyEvent], str]] = {
    Wagers: "lockout",
    Result: "settle",
    Void: "void",
    WagerCorrection: "correct_wager",
    Withdrawal: "withdraw_correction",
}

_Given = ParamSpec("_Given")
_Got = TypeVar("_Got")


Deliver = Callable[[int, bytes], Awaitable[Delivered]]
"""Publishes an event (number, bytes) repeatedly until the service replies."""


class TableWriter:
    """Writer of a table's state and outbox; a separate thread writes to the disk.

    Calls must not overlap, except that `handle_beside` can be called at any time: a lock ensures
    that only one call at a time changes the state.
    """

    def __init__(self, layout: Layout, outbox_path: Path, deliver: Deliver) -> None:
        self._layout = layout
        self._outbox_path = outbox_path
        self._deliver = deliver
        self._disk = ThreadPoolExecutor(1, thread_name_prefix=f"outbox-{layout.table}")
        self._turn = asyncio.Lock()
        self._outbox: Outbox | None = None
        self._kept: SavedTable | None = None
        self._log = _log.bind(link=layout.link, table=layout.table)
        self.state = TableState()
        self.last_seq = 0
        self.pending: Sent | None = None
        self.accepted = Accepted()

    async def open(self) -> None:
        """Open the outbox and restore the saved state of the table (duty D11).

        Raises:
            OutboxError: the outbox cannot be used.
        """
        try:
            self._outbox = await self._on_disk(
                Outbox.open, self._outbox_path, self._layout.link, self._layout.table
            )
            saved = await self._on_disk(lambda: self._open_outbox.place)
            if saved.state is not None:
                self.state = _STATE.decode(saved.state)
            if self._outbox.pending is not None:
                _money_event(self._outbox.pending.payload)
        except (sqlite3.Error, OutboxError, *UNREADABLE) as error:
            await self.close()
            if self._outbox is None and isinstance(error, OutboxError):
                raise
            reason = f"it has no readable state of the table: {error}"
            raise OutboxError(f"outbox {self._outbox_path}: {reason}") from None
        except BaseException:
            await self.close()
            raise
        self._kept = saved
        self.last_seq, self.pending = self._outbox.last_seq, self._outbox.pending
        if self.pending is not None or self.state != TableState():
            self._log.info(
                "table resumed",
                phase=str(self.state.phase),
                round=self.state.round,
                seq=self.pending and self.pending.seq,
            )

    @property
    def awaiting(self) -> str | None:
        if self.pending is None:
            return None
        return _ASKED_BY[type(_money_event(self.pending.payload))]

    def unanswered_s(self) -> float:
        if self.pending is None:
            return 0.0
        return max(0.0, (now() - _money_event(self.pending.payload).at).total_seconds())

    def outbox_bytes(self) -> int:
        path = self._outbox_path
        wal = path.with_name(f"{path.name}-wal")
        return sum(each.stat().st_size for each in (path, wal) if each.exists())

    async def close(self) -> None:
        """Close the outbox after the current write has ended."""
        if self._outbox is not None:
            await self._on_disk(self._outbox.close)
        self._disk.shutdown(wait=False)

    async def handle(self, line: bytes, fault: Callable[[], DeviceRefusal | None]) -> DeviceAnswer:
        """Answer one device event, after the service's reply if it is sent to the service."""
        earlier, self._kept = self._kept, None
        if earlier is not None and earlier.line == line and earlier.answer is not None:
            answer = decode_answer(earlier.answer)
            # If the service refused a result or a void, the table did not change. So the repeated
            # event is handled as a new event.
            if answer.ok or answer.event == "lockout":
                return answer
        try:
            event = parse_event(line)
        except DeviceRefusal as refusal:
            return refused(line, refusal)
        async with self._turn:
            step = play(self._layout, self.state, event, Stamp(self.last_seq + 1, now()), fault())
            try:
                if step.answer is not None and not step.answer.ok:
                    if step.state != self.state:
                        await self._write_state(step.state)
                    return step.answer
                await self._write_step(step, line)
            except sqlite3.Error as error:
                return self._unwritten(event, error)
        return step.answer or await self.finish()

    async def handle_beside(self, event: RoundDone | WagerWithdrawn) -> DeviceAnswer:
        """Handle a `RoundDone` event, even while another event waits for the service's reply.

        Also handle a `WagerWithdrawn` event while a hand pay holds the table. The outbox keeps the
        line of the waiting device event, whose answer can be stored later.
        """
        async with self._turn:
            step = play(self._layout, self.state, event, Stamp(self.last_seq + 1, now()))
            if step.answer is None:
                raise ValueError("such an event does not wait for the service")
            if not step.answer.ok:
                return step.answer
            try:
                await self._write_beside(step.state)
            except sqlite3.Error as error:
                return self._unwritten(event, error)
        return step.answer

    def _unwritten(self, event: DeviceEvent, error: sqlite3.Error) -> DeviceAnswer:
        self._log.exception("outbox not written")
        reason = f"the outbox cannot be written: {error}"
        return answer_to(self.state, event, DeviceRefusal("outbox_failed", reason))

    async def try_again(self) -> DeviceAnswer | None:
        """Repeat the correction request to a floorperson; None if the disk fails."""
        async with self._turn:
            try:
                saved = await self._on_disk(lambda: self._open_outbox.place)
                try:
                    step = try_again(self._layout, self.state, Stamp(self.last_seq + 1, now()))
                except DeviceRefusal as refusal:
                    event = self.state.asking.event if self.state.asking else None
                    await self._write_state(msgspec.structs.replace(self.state, asking=None))
                    return DeviceAnswer(event=event, ok=False, error=refusal.detail)
                # The stored device event stays the one that the device sent, because the device can
                # repeat this event.
                await self._write_step(step, saved.line or b"")
            except sqlite3.Error:
                self._log.exception("outbox not written")
                return None
        return await self.finish()

    async def _write_step(self, step: Transition, line: bytes) -> None:
        state = _encoder.encode(step.state)
        if step.send is not None:
            payload = encode_money_event(step.send)
            self.pending = await self._on_disk(
                self._open_outbox.write_event, step.send.seq, payload, state, line
            )
            self.last_seq = step.send.seq
            self._log.debug("event written", round=step.send.round, seq=step.send.seq)
        elif step.answer is not None:
            saved = SavedTable(state, line, encode_answer(step.answer))
            synced = step.answer.event in _PAID
            await self._on_disk(self._open_outbox.write_place, saved, synced=synced)
        self.state = step.state

    async def finish(self) -> DeviceAnswer:
        """Deliver the unanswered event and apply the reply; return the answer for the device.

        Raises:
            OutboxError: this version of pitlink does not know the stored event.
        """
        pending = self.pending
        if pending is None:
            raise ValueError("no event waits for a reply")
        sent = _money_event(pending.payload)
        delivered = await self._deliver(pending.seq, pending.payload)
        async with self._turn:
            return await self._take_reply(pending, sent, delivered)

    async def _take_reply(
        self, pending: Sent, sent: MoneyEvent, delivered: Delivered
    ) -> DeviceAnswer:
        step = absorb(self._layout, self.state, sent, delivered.reply)
        if step.answer is None:
            raise ValueError("a reply yields an answer")
        about = self._log.bind(round=sent.round, seq=pending.seq)
        error = step.answer.error
        if step.state.asking is not None:
            # The correction request is repeated every few seconds, but it is logged only once.
            if self.state.asking is None:
                about.info("confirmation awaited", event_asked=step.state.asking.event)
        elif isinstance(error, ErrorDetail):
            about.warning("event refused", code=error.code, reason=error.message)
        if isinstance(sent, Wagers | WagerCorrection) and delivered.reply.status == "accepted":
            self.accepted.count(sent)
        await self._write_reply(pending.seq, delivered.payload, step.state, step.answer)
        about.debug("reply written", status=delivered.reply.status)
        was_locked_out = self.state.phase is Phase.LOCKED_OUT
        self.state, self.pending = step.state, None
        if self.state.phase is Phase.LOCKED_OUT and not was_locked_out:
            self._log_locked_out()
        if self._kept is not None:
            self._kept = SavedTable(None, self._kept.line, encode_answer(step.answer))
        return step.answer

    async def _write_reply(
        self, seq: int, reply: bytes, state: TableState, answer: DeviceAnswer
    ) -> None:
        """Write the reply until the disk accepts it: until then, no other event is handled."""
        written = _encoder.encode(state), encode_answer(answer)
        while True:
            try:
                await self._on_disk(self._open_outbox.write_reply, seq, reply, *written)
            except sqlite3.Error:
                self._log.exception("outbox not written", seq=seq)
                await asyncio.sleep(_DISK_RETRY_S)
            else:
                return

    async def reconcile(self, hello: HelloReply) -> bool:
        """Compare the table with a hello reply, at a time when no event waits for a reply.

        If the table's outbox was lost, the event numbers continue from the service's last number.
        If the table and the service have different open rounds, or if the table has lost events of
        the open round, the table is locked out. True: the service has all events of this table.

        Raises:
            sqlite3.Error: the outbox cannot be written; nothing has changed.
        """
        if hello.last_seq < self.last_seq:
            return False
        behind = hello.last_seq > self.last_seq
        async with self._turn:
            # The service can have rounds that an older copy of the outbox does not have. No name of
            # a round is used twice.
            before = msgspec.structs.replace(self.state, rounds=0) if behind else self.state
            state = reconcile(before, hello.open_round, behind=behind)
            if behind:
                self._log.warning("numbering resumed", last_seq=hello.last_seq)
                await self._go_on_from(hello.last_seq, state, same=state == before)
            elif state != before:
                await self._write_state(state)
            if state != before and state.phase is Phase.LOCKED_OUT:
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
                await self._write_beside(state)

    async def _go_on_from(self, known_seq: int, state: TableState, *, same: bool) -> None:
        """Write the service's last number and the table after the comparison.

        If the table is the same as before, keep the stored device event and its answer.
        """
        before = await self._on_disk(lambda: self._open_outbox.place) if same else SavedTable()
        saved = dataclasses.replace(before, state=_encoder.encode(state))
        await self._on_disk(self._open_outbox.go_on_from, known_seq, saved)
        self.state, self.last_seq = state, known_seq
        if not same:
            self._kept = None

    def _log_locked_out(self) -> None:
        state = self.state
        self._log.error("table locked out", round=state.round, reason=state.reason)

    async def _write_beside(self, state: TableState) -> None:
        """Keep the stored device event and its answer."""
        before = await self._on_disk(lambda: self._open_outbox.place)
        saved = SavedTable(_encoder.encode(state), before.line, before.answer)
        await self._on_disk(self._open_outbox.write_place, saved, synced=True)
        self.state = state

    async def _write_state(self, state: TableState) -> None:
        """Delete the stored device event, so a repetition is handled as a new event."""
        saved = SavedTable(_encoder.encode(state), None, None)
        await self._on_disk(self._open_outbox.write_place, saved)
        self.state, self._kept = state, None

    @property
    def _open_outbox(self) -> Outbox:
        if self._outbox is None:
            raise ValueError("the outbox is not open")
        return self._outbox

    async def _on_disk(
        self, call: Callable[_Given, _Got], *args: _Given.args, **kwargs: _Given.kwargs
    ) -> _Got:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._disk, partial(call, *args, **kwargs))


def _money_event(payload: bytes) -> MoneyEvent:
    try:
        event: TableEvent = TABLE_EVENT.decode(payload)
    except UNREADABLE as error:
        raise OutboxError(f"it contains an invalid event: {error}") from None
    if isinstance(event, Hello):
        raise OutboxError("it contains a hello, which has no number")
    return event
