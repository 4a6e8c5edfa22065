"""A small meter service for tests: it speaks the protocol and answers according to the contract.

It keeps one table's books in memory, and can drop, double and delay its messages.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import aiomqtt
import msgspec

from controllers.agent.agent import Agent
from controllers.agent.delivery import Timing
from controllers.panel.tablets import PanelEvents
from controllers.table.device_events import DeviceAnswer, parse_event
from meters.wire import topics
from meters.wire.messages import Jackpot, Reply
from tests.controllers.floors import (
    FACTS,
    HandTable,
    jackpot,
    line_of,
    link_and_table,
    published_win,
    refusal_code,
    steps_of,
    written,
)
from tests.servers import eventually_async

BEAT_EVERY_S: Final = 0.05
# Only the heartbeat's timeout is as long as in production. On a busy machine the link is not down,
# and a test that does not ask for silence must not meet it.
SWIFT: Final = Timing(
    silence_s=3.0,
    retry_first_s=0.1,
    retry_cap_s=0.4,
    reconnect_first_s=0.05,
    reconnect_cap_s=0.2,
    hello_every_s=0.2,
    watch_every_s=0.02,
    ask_every_s=0.05,
    call_s=2.0,
)
LINK, TABLE = "one", "T-1"


class ScriptedService:
    """Service of one table.

    `heard` has the bytes of every event with a seq, each time it came, late repeats too. While it
    is not `answering`, it applies no event either; of the next `mute` events it applies each and
    drops the reply. `refuse` is the code for the next event, `draw` is for the next wagers,
    `settlement` for the next result, and the `finals` follow every hello. `holding` has the claims
    for which the books hold the table, as the contract lists claims. If it is `confirming`,
    corrections wait until `decided` is ``confirmed`` or ``refused``.
    """

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._host, self._port = address.hostname or "", address.port or 0
        self._client: aiomqtt.Client | None = None
        self._beat = 0
        self.replies: dict[int, tuple[bytes, bytes]] = {}
        self.heard: list[tuple[int, bytes]] = []
        self.statuses: list[dict[str, object]] = []
        self.last_seq = 0
        self.open_round: str | None = None
        self.hellos = 0
        self.mute = 0
        self.answering = True
        self.twice = False
        self.beating = True
        self.state = "operable"
        self.reason = ""
        self.refuse: str | None = None
        self.holding: object = ()
        self.settlement: dict[str, object] = {"lines": [], "claims": []}
        self.draw: dict[str, object] | None = None
        self.finals: list[Jackpot] = []
        self.confirming = False
        self.decided = ""

    def prepare(self, reply: Reply) -> None:
        """Give the next event that is sent the same reply as a table by the rules alone gets."""
        if reply.error is not None:
            self.refuse = reply.error.code
        if reply.draw is not None:
            self.draw = msgspec.to_builtins(reply.draw)
        if reply.lines is not None:
            self.settlement = msgspec.to_builtins({"lines": reply.lines, "claims": reply.claims})

    @property
    def status(self) -> dict[str, object]:
        return self.statuses[-1] if self.statuses else {}

    @property
    def numbers(self) -> list[int]:
        return list(dict.fromkeys(seq for seq, _ in self.heard))

    @property
    def applied(self) -> list[dict[str, object]]:
        found = {seq: msgspec.json.decode(payload) for seq, payload in self.heard}
        return [found[seq] for seq in sorted(found) if seq in self.replies]

    async def serve(self) -> None:
        while True:
            with contextlib.suppress(aiomqtt.MqttError):
                async with aiomqtt.Client(self._host, self._port, timeout=2) as client:
                    await client.subscribe(topics.table_out(LINK, TABLE), qos=1)
                    await client.subscribe(topics.table_status(LINK, TABLE), qos=1)
                    self._client = client
                    async for message in client.messages:
                        await self._take(message)
            self._client = None
            await asyncio.sleep(0.02)

    async def say(self, topic: str, message: object, *, retain: bool = False) -> None:
        payload = message if isinstance(message, bytes) else msgspec.json.encode(message)
        if self._client is not None:
            with contextlib.suppress(aiomqtt.MqttError):
                await self._client.publish(topic, payload, qos=1, retain=retain)

    async def jackpot(self, claim: str, event: str, **fields: object) -> None:
        await self.say(topics.jackpot(LINK), jackpot(claim, event, **fields))

    async def meter(self, amount: int, version: int, *, state: str = "open", at: int = 0) -> None:
        """Publish the Progressive's value; `at` orders values with the same version."""
        value = {
            "meter": "progressive",
            "amount": amount,
            "version": version,
            "cycle": 1,
            "state": state,
            "at": f"2026-11-20T02:14:{at:02}Z",
        }
        await self.say(topics.meter(LINK, "progressive"), value, retain=True)

    async def beat(self) -> None:
        while True:
            if self.beating:
                self._beat += 1
                beat = {
                    "state": self.state,
                    "reason": self.reason,
                    "beat": self._beat,
                    "at": "2026-11-20T02:14:07Z",
                }
                await self.say(topics.controller(LINK), beat, retain=True)
            await asyncio.sleep(BEAT_EVERY_S)

    async def _take(self, message: aiomqtt.Message) -> None:
        assert isinstance(message.payload, bytes)
        if str(message.topic) == topics.table_status(LINK, TABLE):
            self.statuses.append(msgspec.json.decode(message.payload))
            return
        event = msgspec.json.decode(message.payload)
        if event["type"] == "hello":
            self.hellos += 1
            if self.answering:
                await self._say_in(
                    {"type": "hello", "last_seq": self.last_seq, "open_round": self.open_round}
                )
                for final in self.finals:
                    await self.say(topics.jackpot(LINK), final)
            return
        self.heard.append((event["seq"], message.payload))
        if not self.answering:
            return
        reply = self._reply(event, message.payload)
        if self.mute:
            self.mute -= 1
            return
        for _ in range(2 if self.twice else 1):
            await self._say_in(reply)

    async def _say_in(self, message: object) -> None:
        await self.say(topics.table_in(LINK, TABLE), message)

    def _reply(self, event: dict[str, object], payload: bytes) -> object:
        seq = event["seq"]
        assert isinstance(seq, int)
        if seq in self.replies:
            first, reply = self.replies[seq]
            assert first == payload, "a repeat is the same bytes"
            return reply
        if seq != self.last_seq + 1:
            return {"seq": seq, "status": "out_of_order", "expected": self.last_seq + 1}
        reply = msgspec.json.encode(self._apply(event, seq))
        self.replies[seq] = (payload, reply)
        self.last_seq = seq
        return reply

    def _apply(self, event: dict[str, object], seq: int) -> dict[str, object]:
        if self.refuse is not None:
            code, self.refuse = self.refuse, None
            error = {"code": code, "message": "not like this"}
            return {"seq": seq, "status": "refused", "error": error}
        if self.holding and event["type"] == "wagers":
            error = {"code": "held", "message": "the table is held"}
            return {"seq": seq, "status": "refused", "claims": self.holding, "error": error}
        reply: dict[str, object] = {"seq": seq, "status": "accepted"}
        if event["type"] == "withdrawal":
            return reply
        corrects = event["type"] == "correct_wager"
        entered = event.get("entered") or event.get("entered_before")
        if corrects or (self.confirming and entered):
            decided, self.decided = self.decided, ""
            if decided != "confirmed":
                code = "correction_refused" if decided else "unconfirmed"
                error = {"code": code, "message": "Ada refused this correction: Deal on"}
                return {"seq": seq, "status": "refused", "error": error}
        if event["type"] == "wagers" or corrects:
            assert not corrects or event["round"] == self.open_round
            self.open_round = str(event["round"]) if event["positions"] else None
            return {**reply, "draw": self.draw}
        assert event["round"] == self.open_round
        self.open_round = None
        return {**reply, **self.settlement} if event["type"] == "result" else reply


@contextlib.asynccontextmanager
async def running(service: ScriptedService) -> AsyncIterator[ScriptedService]:
    tasks = {asyncio.create_task(service.serve()), asyncio.create_task(service.beat())}
    try:
        yield service
    finally:
        # Cancel repeatedly: before Python 3.12 `wait_for`, in the client, may lose a cancellation.
        while alive := {task for task in tasks if not task.done()}:
            for task in alive:
                task.cancel()
            await asyncio.wait(alive, timeout=0.5)
        for task in tasks:
            if not task.cancelled():
                task.result()


@contextlib.asynccontextmanager
async def live_agent(url: str, outbox: Path, timing: Timing = SWIFT) -> AsyncIterator[Agent]:
    async with Agent(*link_and_table(TABLE), url, outbox, timing=timing) as agent:
        assert await agent.wait_live(20)
        yield agent


async def say(agent: Agent, text: str) -> DeviceAnswer:
    async with asyncio.timeout(30):
        return await agent.handle(line_of(text))


async def say_all(agent: Agent, text: str) -> DeviceAnswer:
    answer = DeviceAnswer(event=None, ok=False)
    for part in text.split(";"):
        answer = await say(agent, part)
        assert answer.ok, (part, answer)
    return answer


async def code_of(agent: Agent, text: str) -> str | None:
    return refusal_code(await say(agent, text))


async def until_code(agent: Agent, text: str, code: str | None) -> None:
    async def asked() -> bool:
        found = await code_of(agent, text)
        if found is None and code is not None:
            await say(agent, text.replace("wager", "withdraw", 1))
        return found == code

    await eventually_async(asked, what=f"{text} answered with {code}")


class LiveTable(HandTable):
    """A table with its agent, which plays stories against a service: see `HandTable.play`.

    ``start``: the agent starts, or starts again; with ``alone``, it does not wait for the link.
    ``stop`` ends it, ``live`` waits for the link.
    ``service is answering false``: another value of an attribute of `ScriptedService`.
    ``service tells C1 paid``: a message that follows every hello. ``C1 paid``: one that comes now.
    ``begin lockout``: an event whose answer is awaited at ``answered``, or never: ``give up``.
    ``at once next``, ``touch next``: an event as a panel sends it, alone or with all touches.
    ``until wager 3 progressive -> link_down``: an event that is repeated until it is refused so.
    ``tries 3``, ``hellos 2``: so many more events or hellos reach the service.
    ``phase: open``: a fact, one of `FACTS` or `LIVE`, which may take a moment.
    """

    agent: Agent

    def __init__(self, service: ScriptedService, url: str, outbox: Path) -> None:
        super().__init__(TABLE)
        self.service, self._url, self._outbox = service, url, outbox
        self.begun: list[asyncio.Task[DeviceAnswer]] = []
        self._up = contextlib.AsyncExitStack()

    async def live(self, story: str) -> None:
        try:
            for step in steps_of(story):
                await self._act(step)
        finally:
            await self._up.aclose()

    async def _act(self, step: str) -> None:
        text, _, code = step.partition(" -> ")
        fact, is_fact, value = step.partition(": ")
        match step.split():
            case ["start" | "stop" as what, *alone]:
                await self._up.aclose()
                if what == "start":
                    await self._start(alone=bool(alone))
            case ["live"]:
                assert await self.agent.wait_live(20)
            case ["service", what, *words]:
                self._set(what, words)
            case ["begin", *_]:
                self.begun.append(asyncio.create_task(self._send(text.removeprefix("begin "))))
            case ["give", "up"]:
                self.begun.pop().cancel()
            case ["answered", *_]:
                self._check(step, code, await asyncio.wait_for(self.begun.pop(0), 30))
            case ["tries" | "hellos" as what, count]:
                due = self._count(what) + int(count)
                await eventually_async(lambda: self._count(what) >= due, what=step)
            case ["until", *_]:
                await until_code(self.agent, text.removeprefix("until "), code or None)
            case [_, "hit" | "validated" | "rejected" | "paid", *_]:
                await self.service.say(topics.jackpot(LINK), published_win(*step.split()))
            case _ if is_fact:
                await eventually_async(lambda: self._fact(fact) == value, what=step)
            case _:
                self._check(step, code, await asyncio.wait_for(self._send(text), 30))

    def _set(self, what: str, words: list[str]) -> None:
        if what == "is":
            setattr(self.service, words[0], json.loads(" ".join(words[1:])))
        elif what == "tells":
            self.service.finals = [published_win(*words)]
        else:
            self.prepare(what, words)
            self.service.prepare(self.replies.pop())

    async def _start(self, *, alone: bool) -> None:
        agent = Agent(*link_and_table(TABLE), self._url, self._outbox, timing=SWIFT)
        self.agent = await self._up.enter_async_context(agent)
        self._panel = PanelEvents(self.agent)
        self._up.callback(self._panel.close)
        assert alone or await self.agent.wait_live(20)

    def _count(self, what: str) -> int:
        return self.service.hellos if what == "hellos" else len(self.service.applied)

    async def _send(self, text: str) -> DeviceAnswer:
        match text.split(" ", 2):
            case ["at", "once", line]:
                return await self.agent.handle_at_once(parse_event(line_of(line)))
            case ["touch", *words]:
                answer = await self._panel.submit(line_of(" ".join(words)))
                assert answer is not None
                return answer
        return await self.agent.handle(line_of(text))

    def _check(self, step: str, code: str, answer: DeviceAnswer) -> None:
        self.answer = answer
        assert refusal_code(answer) == (code or None), (step, answer)

    def _fact(self, fact: str) -> str:
        self.state = self.agent.table_state
        return written(LIVE[fact](self) if fact in LIVE else FACTS[fact](self))


def _tried(events: list[dict[str, object]]) -> list[object]:
    """Return the types of the events; those that differ only in seq and time are one."""
    plain = [{**event, "seq": 0, "at": ""} for event in events]
    return [event["type"] for event, _ in groupby(plain)]


LIVE: Final[Mapping[str, Callable[[LiveTable], object]]] = {
    "state": lambda table: table.agent.state,
    "asked": lambda table: (
        (asked := table.state.asking)
        and f"{asked.event} {asked.reason} {written(value=bool(asked.confirm))}"
    ),
    "fault": lambda table: (fault := table.agent.fault()) and fault.code,
    "unanswered": lambda table: table.agent.unanswered,
    "last seq": lambda table: table.agent.writer.last_seq,
    "waits": lambda table: sum(not task.done() for task in table.begun),
    "status": lambda table: table.service.status.get("state"),
    "online": lambda table: table.service.status.get("online"),
    "numbers": lambda table: table.service.numbers,
    "applied": lambda table: [event["type"] for event in table.service.applied],
    "tried": lambda table: _tried(table.service.applied),
    "dense": lambda table: (
        [event["seq"] for event in table.service.applied] == [*range(1, table.service.last_seq + 1)]
    ),
    "last applied": lambda table: table.service.applied[-1]["type"],
    "rounds": lambda table: [event["round"] for event in table.service.applied],
    "seqs": lambda table: [event["seq"] for event in table.service.applied],
}
"""Facts of an agent, and of what the service has heard of it."""
