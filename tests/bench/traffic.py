"""Many tables on a few connections, each with at most one event unanswered (the contract).

The load keeps its own books of what every meter must hold, from the replies alone.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from bonus.law.games import chapter_games
from bonus.wagers import MICROS_PER_CENT
from meters.wire import topics
from meters.wire.messages import Reply
from tests.bench.client import LoadClient
from tests.bench.events import EventWriter
from tests.bench.floor import (
    LINKS,
    METERS,
    MINIMUM_CENTS,
    MYSTERY_BPS,
    POSITIONS,
    WAGER_CENTS,
    WAGERS_AN_EVENT,
    table_address,
    terms_of,
)

_REPEAT_S: Final = (2.0, 16.0)
"""Waiting time without any answer after which unanswered events are sent again. It doubles up to
the second figure, as a table agent backs off."""
_LOOK_EVERY_S: Final = 0.5
_GIVEN_UP_S: Final = 90.0
SLICE: Final = 128
"""Events to write before reading from the connection again."""
_PERCENT: Final = b'"percent"'
_WHOLE_METER: Final = 100
_FULL_REPLY: Final = msgspec.json.Decoder(Reply)


def contribution_micros(meter: str) -> int:
    """Return what one `wagers` event adds to a meter: cents times basis points are micros."""
    terms = terms_of(meter)
    return POSITIONS * terms.wager_cents * terms.primary_bps


@dataclass(slots=True)
class Tally:
    wagers: int = 0
    voids: int = 0
    rounds: int = 0
    claims: int = 0
    taken_micros: dict[str, int] = field(default_factory=lambda: dict.fromkeys(METERS, 0))

    def note_result(self, reply: bytes, claims: int) -> bool:
        """Count a settled round; return whether a percentage of a meter was won.

        Each share is rounded down to the cent. After the whole meter is won it is reseeded
        immediately (readings T15, T17).
        """
        self.rounds += 1
        self.claims += claims
        if _PERCENT not in reply:
            return False
        reseeded: set[str] = set()
        for line in _FULL_REPLY.decode(reply).lines or ():
            if line.percent is None:
                continue
            meter = chapter_games().meters.meter_of[line.item]
            self.taken_micros[meter] += line.paid * MICROS_PER_CENT
            if line.percent == _WHOLE_METER and meter not in reseeded:
                reseeded.add(meter)
                self.taken_micros[meter] -= terms_of(meter).reseed_cents * MICROS_PER_CENT
        return True

    def meter_micros(self, meter: str) -> int:
        seeded = terms_of(meter).seed_cents * MICROS_PER_CENT
        contributed = (self.wagers - self.voids) * contribution_micros(meter)
        return seeded + contributed - self.taken_micros[meter]

    @property
    def counted(self) -> tuple[int, int]:
        """Wagers less those of voided rounds, and rounds: as the audit counts them."""
        return (self.wagers - self.voids) * WAGERS_AN_EVENT, self.rounds

    @property
    def meters_micros(self) -> dict[str, int]:
        return {meter: self.meter_micros(meter) for meter in METERS}

    @property
    def mystery_micros(self) -> int:
        """What a must-hit-by meter without a win must hold."""
        wagered_cents = (self.wagers - self.voids) * WAGERS_AN_EVENT * WAGER_CENTS
        return MINIMUM_CENTS * MICROS_PER_CENT + wagered_cents * MYSTERY_BPS


class NoAnswerError(Exception):
    """The service stopped answering."""


class _ReplyHead(msgspec.Struct, frozen=True):
    status: str
    seq: int | None = None
    claims: tuple[msgspec.Raw, ...] = ()
    error: msgspec.Raw = msgspec.Raw(b"")


_REPLY_HEAD: Final = msgspec.json.Decoder(_ReplyHead)


class Table:
    __slots__ = (
        *("client", "held", "payload", "round", "sent_s", "seq", "tally", "topic", "waits_for"),
    )

    def __init__(self, tally: Tally, topic: str) -> None:
        self.client: LoadClient
        self.tally = tally
        self.topic = topic
        self.seq = 0
        self.round = 0
        self.waits_for = ""
        self.payload = b""
        self.sent_s = 0.0
        self.held = False


Answered = Callable[[Table, str, float], None]
"""Callback that receives the table, what was accepted (`wagers`, `result`, `void`), and when."""
Other = Callable[[str, bytes, float], None]
"""Callback that receives topic, payload and time of a message that is not a reply."""


def _nothing(_table: Table, _kind: str, _at_s: float) -> None:
    """Ignore an answer, as most phases do."""


class Traffic:
    def __init__(
        self, tables: int, writer: EventWriter, other: Other, links: Sequence[str] = LINKS
    ) -> None:
        self.tallies = {link: Tally() for link in links}
        self.answered: Answered = _nothing
        self.other = other
        self.in_air = self.sent = self.accepted = self.repeated = 0
        self.held = 0
        self.refusals: dict[str, int] = {}
        self.won = False
        self.tables: list[Table] = []
        self._by_topic: dict[str, Table] = {}
        for number in range(tables):
            link, table_id = table_address(number, links)
            table = Table(self.tallies[link], topics.table_out(link, table_id))
            self.tables.append(table)
            self._by_topic[topics.table_in(link, table_id)] = table
        self._writer = writer
        self._clients: Sequence[LoadClient] = ()
        self._idle = asyncio.Event()
        self._last_answer_s = 0.0
        self._repeat_at_s = 0.0
        self._repeat_after_s = _REPEAT_S[0]

    def use(self, clients: Sequence[LoadClient]) -> None:
        """Send the events by these connections; tables take turns in them, as in links."""
        self._clients = clients
        for number, table in enumerate(self.tables):
            table.client = clients[number % len(clients)]

    def send_wagers(self, table: Table) -> None:
        table.seq += 1
        table.round += 1
        self._send(table, "wagers", self._writer.wagers(table.seq, table.round))

    def send_result(self, table: Table) -> None:
        table.seq += 1
        self._send(table, "result", self._writer.result(table.seq, table.round))

    def send_void(self, table: Table) -> None:
        table.seq += 1
        self._send(table, "void", self._writer.void(table.seq, table.round))

    def _send(self, table: Table, kind: str, payload: bytes) -> None:
        if table.held:
            return
        table.waits_for = kind
        table.payload = payload
        table.sent_s = time.monotonic()
        self.in_air += 1
        self.sent += 1
        table.client.post(table.topic, payload)

    @property
    def counts(self) -> dict[str, object]:
        """A held wager was refused: its table waits for a hand pay, which nobody pays here."""
        return {
            "events_sent": self.sent,
            "events_accepted": self.accepted,
            "events_repeated": self.repeated,
            "events_held": self.held,
            "refusals": self.refusals,
        }

    async def each_sends(
        self, tables: Sequence[Table], send: Callable[[Table], None], answered: Answered = _nothing
    ) -> float:
        """Have each table send one event, back to back; return the seconds to the last answer.

        `answered` is called for each accepted event, and may send the table's next.
        """
        self.answered = answered
        began = time.monotonic()
        for at in range(0, len(tables), SLICE):
            for table in tables[at : at + SLICE]:
                send(table)
            await asyncio.sleep(0)
        await self.settled()
        return self._last_answer_s - began

    async def begin_rounds(
        self, tables: Sequence[Table], rounds_per_s: float, seconds: float
    ) -> float:
        """Begin rounds at a steady pace, table after table, until all are over.

        A table whose round is not over begins no other. Return the rounds begun a second.
        """
        began, turn, begun = time.monotonic(), 0, 0
        self._note_answer(began)
        while (passed_s := time.monotonic() - began) < seconds:
            while turn <= passed_s * rounds_per_s:
                table = tables[turn % len(tables)]
                turn += 1
                if not (table.waits_for or table.held):
                    begun += 1
                    self.send_wagers(table)
            await asyncio.sleep(began + turn / rounds_per_s - time.monotonic())
            if self.in_air and time.monotonic() > self._last_answer_s + _LOOK_EVERY_S:
                self._look_after_stalled()
        await self.settled()
        return begun / seconds

    async def settled(self) -> None:
        """Wait until no event is unanswered, and send again those that stay unanswered."""
        if self.in_air:
            self._note_answer(time.monotonic())
        while self.in_air:
            self._idle.clear()
            try:
                async with asyncio.timeout(_LOOK_EVERY_S):
                    await self._idle.wait()
            except TimeoutError:
                self._look_after_stalled()

    def _look_after_stalled(self) -> None:
        for client in self._clients:
            if client.lost is not None:
                raise client.lost
        now_s = time.monotonic()
        if now_s > self._last_answer_s + _GIVEN_UP_S:
            raise NoAnswerError(
                f"{self.in_air} events have had no answer for {_GIVEN_UP_S:.0f} seconds"
            )
        if now_s > self._repeat_at_s:
            self._repeat_after_s = min(2 * self._repeat_after_s, _REPEAT_S[1])
            self._repeat_at_s = now_s + self._repeat_after_s
            for table in self.tables:
                if table.waits_for:
                    self.repeated += 1
                    table.client.post(table.topic, table.payload)

    def _note_answer(self, now_s: float) -> None:
        self._last_answer_s = now_s
        self._repeat_after_s = _REPEAT_S[0]
        self._repeat_at_s = now_s + self._repeat_after_s

    def hear(self, topic: str, payload: bytes) -> None:
        now_s = time.monotonic()
        table = self._by_topic.get(topic)
        if table is None:
            self.other(topic, payload, now_s)
            return
        head = _REPLY_HEAD.decode(payload)
        if head.seq == table.seq and table.waits_for:
            self._take_reply(table, head, payload, now_s)
            self._note_answer(now_s)
            if not self.in_air:
                self._idle.set()

    def _take_reply(self, table: Table, head: _ReplyHead, payload: bytes, now_s: float) -> None:
        kind, table.waits_for = table.waits_for, ""
        self.in_air -= 1
        if head.status != "accepted":
            if kind == "wagers" and b'"held"' in bytes(head.error):
                table.held = True
                self.held += 1
                return
            said = f"{kind} {head.status} {bytes(head.error).decode()}".strip()
            self.refusals[said] = self.refusals.get(said, 0) + 1
            return
        self.accepted += 1
        if kind == "wagers":
            table.tally.wagers += 1
        elif kind == "void":
            table.tally.voids += 1
        elif table.tally.note_result(payload, len(head.claims)):
            self.won = True
        self.answered(table, kind, now_s)
