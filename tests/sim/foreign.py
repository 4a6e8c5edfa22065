"""A table with another maker's agent: it keeps the contract, names rounds differently, and errs."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any, Final

import aiomqtt

from bonus.cards import card_name
from controllers.agent.delivery import Connect
from controllers.agent.outbox import Sent
from controllers.demo.decks import shuffle
from meters.floor.floor_file import Link, Table
from meters.wire import topics
from tests.games.stacks import STACKS, Dealt, deal_stack
from tests.model.second_books import SecondTable
from tests.naive.shapes import Round
from tests.sim.world import World

Record = dict[str, Any]
_AT: Final = "2026-11-20T02:14:07.250Z"
_NAMES: Final = ("R1", "R2")
_REPEAT_S: Final = (0.3, 3.0)
_PAUSE_S: Final = 0.6
_FLAWED: Final = 0.08
_NOISE: Final = 0.15
_CORRECTS: Final = 0.4
_ASKS: Final = 0.8
_ASKED: Final = frozenset({"unconfirmed", "correction_refused"})
_ASKS_AGAIN: Final = 0.8
_WITHDRAWS: Final = 0.1
_DECLARES: Final = 0.3


def asks(event: Record) -> bool:
    entered = event.get("entered") or event.get("entered_before")
    return bool(event.get("confirm") and entered)


class ForeignTable:
    """The table and its agent, which has no outbox but never dies.

    It offers no wager on which a draw of the system is paid.
    """

    def __init__(
        self, world: World, link: Link, table: Table, connect: Connect, played: SecondTable
    ) -> None:
        self.name = table.id
        self.rounds = self.answers = 0
        self.may_rest = self.resting = False
        self.lost = False
        self._world = world
        self._link, self._positions = link.id, table.positions
        self._connect = connect
        self._chance = world.chance(f"foreign/{table.id}")
        self._game = played.game
        meters = link.meters_of(table)
        self._cents = {
            wager: meters[self._game.fed[wager][0]].wager
            for wager in played.offered
            if "five_card_hand_bonus" not in wager
        }
        self._client: aiomqtt.Client | None = None
        self._awaited: tuple[int, asyncio.Future[bytes]] | None = None
        self._sent: list[Sent] = []
        self._round: str | None = None
        self._over: str | None = None
        self._bets: dict[int, list[str]] = {}
        self._asking: Record | None = None
        self._asked = False

    def history(self) -> Iterable[Sent]:
        return self._sent

    async def listen(self) -> None:
        out = topics.table_in(self._link, self.name)
        will = aiomqtt.Will(topics.table_status(self._link, self.name), b"{}", 1, retain=True)
        while True:
            try:
                async with self._connect("", 0, identifier=self.name, will=will) as client:
                    await client.subscribe([(out, 1)])
                    self._client = client
                    async for message in client.messages:
                        assert isinstance(message.payload, bytes)
                        self._hear(message.payload)
            except aiomqtt.MqttError:
                self._client = None
            await asyncio.sleep(self._chance.uniform(0.1, 2.0))

    def _hear(self, payload: bytes) -> None:
        reply = json.loads(payload)
        if self._awaited is None or reply.get("seq") != self._awaited[0]:
            return
        if reply["status"] == "out_of_order":
            self._world.fail(f"{self.name}: its next event got {reply}")
        elif reply["status"] == "refused" and reply["error"]["code"] == "seq_reused":
            return  # about a copy in other bytes; the event's own reply is on its way
        elif not self._awaited[1].done():
            self._awaited[1].set_result(payload)

    async def deal(self) -> None:
        while True:
            await asyncio.sleep(self._chance.expovariate(1 / _PAUSE_S))
            if self._round is None and self.may_rest:
                self.resting = True
                continue
            flawed = self._chance.random() < _FLAWED
            event = self._next(flawed=flawed)
            reply = await self._deliver(event)
            if reply["status"] == "accepted":
                if flawed and event["type"] != "withdrawal":
                    self._world.fail(f"{self.name}: {event} was accepted")
                self._go_on(event)
            elif (asks(event) or self._asked) and reply["error"]["code"] in _ASKED:
                self._asked = True
                self._asking = event if reply["error"]["code"] == "unconfirmed" else None
            elif not flawed and reply["error"]["code"] not in {"link_closed", "held"}:
                self._world.fail(f"{self.name}: {event} was refused: {reply}")

    def _go_on(self, event: Record) -> None:
        if event["type"] == "wagers":
            self._round = event["round"]
            self._bets = {bet["position"]: list(bet["wagers"]) for bet in event["positions"]}
            return
        self._asking = None
        if event["type"] != "withdrawal":
            self._asked = False
            self._over, self._round = self._round, None
            self.rounds += 1

    def _next(self, *, flawed: bool) -> Record:
        """Return the next event. If it is `flawed`, the service refuses it."""
        if self._round is None:
            one, other = _NAMES
            return self._wagers(other if self._over == one else one, flawed=flawed)
        if self._asking is not None and not flawed and self._chance.random() < _ASKS_AGAIN:
            return self._asking
        if self._chance.random() < _WITHDRAWS:
            return {"type": "withdrawal", "round": self._round}
        declares = flawed and self._chance.random() < 0.5
        name = "R9" if flawed and not declares else self._round
        if not declares and self._chance.random() < 0.2:
            void = {"type": "void", "round": name, "reason": "misdeal"}
            return self._corrected(void, "entered")
        return self._corrected(self._result(name, flawed=declares), "entered_before")

    def _corrected(self, event: Record, field: str) -> Record:
        """Return the event, at times with earlier cards; then it mostly asks for confirmation."""
        if self._chance.random() < _CORRECTS:
            event[field] = [self._earlier()]
            if self._chance.random() < _ASKS:
                event["confirm"] = True
        return event

    def _earlier(self) -> Record:
        """Return cards, or a result, that were entered first and then taken back."""
        deal = self._game.deal
        if deal.results:
            result = [self._chance.choice(deal.results)]
            at = {"what": "hand", "position": min(self._bets)} if deal.hand else {"what": "dealer"}
            return {**at, "cards": result}
        cards = [card_name(card) for card in shuffle(self._chance, deal.decks)[: deal.hand]]
        return {"what": "hand", "position": min(self._bets), "cards": cards}

    def _wagers(self, name: str, *, flawed: bool) -> Record:
        places = self._chance.sample(range(1, self._positions + 1), self._chance.randint(1, 4))
        positions = []
        for place in sorted(places):
            count = min(len(self._cents), self._chance.randint(1, 2))
            made = self._chance.sample(sorted(self._cents), count)
            wagers = {wager: self._cents[wager] + flawed for wager in made}
            positions.append({"position": place, "wagers": wagers})
        return {"type": "wagers", "round": name, "positions": positions}

    def _result(self, name: str, *, flawed: bool) -> Record:
        places = sorted(self._bets)
        dealt = self._deal(self._chance.sample(places, len(places)))
        positions: list[Record] = [
            {"position": place, "folded": False}
            | ({"cards": list(dealt.hands[place])} if dealt.hands[place] else {})
            for place in places
        ]
        event: Record = {"type": "result", "round": name, "positions": positions}
        event["dealer"] = list(dealt.dealer)
        if dealt.community:
            event["community"] = list(dealt.community)
        if flawed:
            # Without cards, a declaration that contradicts a fold is the flaw.
            positions[0] |= {"no_win": True, "folded": "cards" not in positions[0]}
        elif self._chance.random() < _DECLARES:
            declared = [*positions[:-1], {"position": places[-1], "no_win": True}]
            if self._game.refusal(self._round_of(event, declared)) is None:
                event["positions"] = declared
        return event

    def _deal(self, places: list[int]) -> Dealt:
        deal = self._game.deal
        if self._chance.random() < 0.4:
            return deal_stack(self._chance.choice(STACKS), deal, places)
        if deal.results:
            results = {place: [self._chance.choice(deal.results)] * deal.hand for place in places}
            return Dealt(results, [self._chance.choice(deal.results)] * deal.dealer, [])
        cards = iter([card_name(card) for card in shuffle(self._chance, deal.decks)])
        hands = {place: [next(cards) for _ in range(deal.hand)] for place in places}
        dealer = [next(cards) for _ in range(deal.dealer)]
        return Dealt(hands, dealer, [next(cards) for _ in range(deal.community)])

    def _round_of(self, event: Record, positions: list[Record]) -> Round:
        boxes = [
            {"folded": False, "wagers": {wager: self._cents[wager] for wager in self._bets[place]},
             **position}
            for position in positions
            for place in [position["position"]]
        ]  # fmt: skip
        community = event.get("community", [])
        found: Any = {"positions": boxes, "dealer": event["dealer"], "community": community}
        played: Round = found
        return played

    async def _deliver(self, event: Record) -> Record:
        seq = len(self._sent) + 1
        payload = json.dumps({"seq": seq, "at": _AT, **event}).encode()
        answered: asyncio.Future[bytes] = self._world.loop.create_future()
        self._awaited = seq, answered
        while not answered.done():
            await self._publish(payload)
            if self._sent and self._chance.random() < _NOISE:
                await self._publish(self._noise())
            await asyncio.wait({answered}, timeout=self._chance.uniform(*_REPEAT_S))
        reply = answered.result()
        self._sent.append(Sent(seq, payload, reply))
        self.answers += 1
        found: Record = json.loads(reply)
        self._world.note(f"{self.name} {payload.decode()[:90]} -> {found['status']}")
        return found

    def _noise(self) -> bytes:
        old = self._chance.choice(self._sent[-8:])
        kind = self._chance.randrange(3)
        if kind == 0:
            return old.payload
        seq = old.seq if kind == 1 else old.seq + 100_000
        void = {"seq": seq, "at": _AT, "type": "void", "round": "R1", "reason": "noise"}
        return json.dumps(void).encode()

    async def _publish(self, payload: bytes) -> None:
        client = self._client
        if client is not None:
            try:
                await client.publish(topics.table_out(self._link, self.name), payload, qos=1)
            except aiomqtt.MqttError:
                return

    @property
    def idle(self) -> bool:
        return self.resting

    @property
    def standing(self) -> str:
        return f"{self.name} has {self._round} open and waits for {self._awaited}"
