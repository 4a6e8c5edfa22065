"""Dealer bots: simulated tables that speak to the same agent through the same door as devices."""

import asyncio
import random
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from msgspec import UNSET

from bonus.cards import Card, card_name
from bonus.table_rules import meter_rules
from bonus.wagers import METER_OF, Wager
from controllers.agent import Agent
from controllers.dealer import JACKPOTS, Deal, deal, shuffle, stack
from controllers.events import (
    Answer,
    BettingLocked,
    ChipsCounted,
    CommunityRead,
    DealerRead,
    DeviceEvent,
    HandFolded,
    HandRead,
    SettlePressed,
    VoidPressed,
    WagerPlaced,
    WagerWithdrawn,
    encode_event,
)
from controllers.strategy import plays
from controllers.table import ELECTRONIC, NEED_COMMUNITY, Layout, Phase

_log: Final = structlog.get_logger(__name__)

ROUND_S: Final = 40.0
"""About how long a round takes at a table."""

_LIKING: Final = {
    Wager.PROGRESSIVE: 0.6,
    Wager.FIVE_CARD_PROGRESSIVE: 0.5,
    Wager.FIVE_OF_SIX_PROGRESSIVE: 0.4,
    Wager.FIVE_CARD_HAND_BONUS: 0.35,
    Wager.FIVE_CARD_HAND_BONUS_DEALER: 0.2,
}
_SEATED: Final = 0.7
_SECOND_THOUGHTS: Final = 0.01
_MISDEALS: Final = 0.004

_PAUSES: Final[dict[type[DeviceEvent], float]] = {
    WagerPlaced: 0.04,
    WagerWithdrawn: 0.02,
    BettingLocked: 0.1,
    ChipsCounted: 0.06,
    HandRead: 0.03,
    HandFolded: 0.02,
    DealerRead: 0.06,
    CommunityRead: 0.03,
    SettlePressed: 0.06,
    VoidPressed: 0.06,
}
"""How long the table takes before each event, as a part of the round."""


@dataclass(frozen=True, slots=True)
class RoundPlayed:
    """What came of a round.

    Attributes:
        wagers: how many progressive wagers were accepted.
        wagered_cents: what they were together.
        wins: how many of the settlement's lines paid.
        won_cents: what those paid together.
        void: whether the round was void.
    """

    wagers: int
    wagered_cents: int
    wins: int = 0
    won_cents: int = 0
    void: bool = False


Play = Generator[DeviceEvent, Answer, RoundPlayed]
"""A round as it is played: it gives device events, and is sent the answer to each."""


class DealerBot:
    """Deals rounds to seeded players.

    Args:
        layout: the table.
        rng: the simulation's random source.
        stack_every: one round in so many has a stacked deck; 0 for none.
    """

    def __init__(self, layout: Layout, rng: random.Random, *, stack_every: int = 0) -> None:
        self._layout = layout
        self._rng = rng
        self._stack_every = stack_every
        self._patrons = 0
        self._seats: dict[int, str] = {}

    def play_round(self) -> Play:
        """Play one round: wagers, lock-out, chips, deal, folds, settlement; now and then a void."""
        self._change_seats()
        wagers = yield from self._take_wagers()
        returned = not (yield BettingLocked()).ok
        if returned:
            wagers = {}
        yield ChipsCounted(count=sum(wager not in ELECTRONIC for _, wager in wagers))
        played = RoundPlayed(len(wagers), sum(wagers.values()))
        if self._rng.random() < _MISDEALS:
            void = yield VoidPressed(reason="misdeal")
            return RoundPlayed(played.wagers, played.wagered_cents, void=void.ok)
        yield from self._deal(frozenset(wagers))
        settled = yield SettlePressed()
        if not settled.ok or settled.lines is UNSET:
            return played
        paid = [line.paid for line in settled.lines if line.paid]
        return RoundPlayed(played.wagers, played.wagered_cents, len(paid), sum(paid))

    def _change_seats(self) -> None:
        """Players come and go; now and then one plays two adjacent boxes."""
        for position in range(1, self._layout.positions + 1):
            if self._rng.random() < 0.1:
                self._seats.pop(position, None)
            if position not in self._seats and self._rng.random() < _SEATED / 4:
                neighbour = self._seats.get(position - 1)
                self._patrons += 1
                newcomer = f"{self._layout.table}-p{self._patrons}"
                second_box = neighbour is not None and self._rng.random() < 0.1
                self._seats[position] = neighbour if second_box and neighbour else newcomer
        if not self._seats:
            self._seats[1] = f"{self._layout.table}-p0"

    def _take_wagers(self) -> Generator[DeviceEvent, Answer, dict[tuple[int, Wager], int]]:
        accepted: dict[tuple[int, Wager], int] = {}
        for position, patron in sorted(self._seats.items()):
            for wager in METER_OF:
                amount_cents = self._layout.amount_cents(wager)
                if amount_cents is None or self._rng.random() >= _LIKING[wager]:
                    continue
                answer = yield WagerPlaced(
                    position=position, wager=wager.value, amount_cents=amount_cents, patron=patron
                )
                if not answer.ok:
                    continue
                accepted[position, wager] = amount_cents
                if self._rng.random() < _SECOND_THOUGHTS:
                    yield WagerWithdrawn(position=position, wager=wager.value)
                    del accepted[position, wager]
        return accepted

    def _deal(self, wagers: frozenset[tuple[int, Wager]]) -> Generator[DeviceEvent, Answer, None]:
        """Deal, and let each player fold or play (649a.8(d), 649a.11(b))."""
        positions = sorted(self._seats)
        community = any(wager in NEED_COMMUNITY for _, wager in wagers)
        dealt = deal(
            self._deck(positions, wagers),
            positions,
            community=community,
            hand_cards=self._layout.hand_cards,
            dealer_cards=self._layout.dealer_cards,
        )
        yield from self._read_hands(dealt, wagers)
        yield DealerRead(cards=_names(dealt.dealer))
        if dealt.community is not None:
            yield CommunityRead(cards=_names(dealt.community))

    def _read_hands(
        self, dealt: Deal, wagers: frozenset[tuple[int, Wager]]
    ) -> Iterator[DeviceEvent]:
        for position, cards in dealt.hands.items():
            folds = self._layout.hand_cards == 3 and not plays(cards)
            kept = any(at == position and wager in meter_rules().survivors for at, wager in wagers)
            if kept or not folds:
                yield HandRead(position=position, cards=_names(cards))
            if folds:
                yield HandFolded(position=position)

    def _deck(self, positions: Sequence[int], wagers: frozenset[tuple[int, Wager]]) -> list[Card]:
        if wagers and self._stack_every and self._rng.randrange(self._stack_every) == 0:
            winner = self._rng.choice(sorted({position for position, _ in wagers}))
            return stack(self._rng, self._rng.choice(JACKPOTS), positions, winner)
        return shuffle(self._rng)


def _names(cards: Sequence[Card]) -> list[str]:
    return [card_name(card) for card in cards]


async def run_bot(
    agent: Agent,
    rng: random.Random,
    *,
    round_s: float = ROUND_S,
    rounds: int | None = None,
    stack_every: int = 0,
    stopping: asyncio.Event | None = None,
    on_round: Callable[[RoundPlayed], None] | None = None,
) -> None:
    """Deal rounds at a table until told to stop.

    Args:
        agent: the table's agent.
        rng: the simulation's random source.
        round_s: about how long a round takes, in seconds; 0 for no pauses at all.
        rounds: how many rounds to deal; None for no end.
        stack_every: one round in so many has a stacked deck; 0 for none.
        stopping: once set, the round in hand is ended without pauses, and no other begun.
        on_round: told of each round when it is over.
    """
    stopping = stopping or asyncio.Event()
    bot = DealerBot(agent.layout, rng, stack_every=stack_every)
    await _clear_table(agent)
    dealt = 0
    while not stopping.is_set() and (rounds is None or dealt < rounds):
        if not await agent.wait_live(1.0):
            continue
        played = await _play_out(agent, bot.play_round(), rng, round_s, stopping)
        dealt += 1
        if on_round is not None:
            on_round(played)
        if agent.table_state.phase not in {Phase.OPEN, Phase.HELD}:
            await _clear_table(agent)


async def _play_out(
    agent: Agent, play: Play, rng: random.Random, round_s: float, stopping: asyncio.Event
) -> RoundPlayed:
    try:
        event = next(play)
        while True:
            await _pause(stopping, round_s * _PAUSES[type(event)] * rng.uniform(0.5, 1.5))
            answer = await agent.handle(encode_event(event))
            if not answer.ok:
                _log.warning("refused", table=agent.layout.table, event_name=answer.event)
            event = play.send(answer)
    except StopIteration as end:
        played: RoundPlayed = end.value
        return played


async def _pause(stopping: asyncio.Event, pause_s: float) -> None:
    if pause_s <= 0 or stopping.is_set():
        return
    try:
        async with asyncio.timeout(pause_s):
            await stopping.wait()
    except TimeoutError:
        return


async def _clear_table(agent: Agent) -> None:
    """Void the round, and put out the lights, that an earlier run or an error left behind."""
    while agent.table_state.phase not in {Phase.OPEN, Phase.HELD}:
        answer = await agent.handle(encode_event(VoidPressed(reason="the simulation began anew")))
        if not answer.ok:
            await asyncio.sleep(1.0)
    for placed in agent.table_state.wagers:
        withdrawn = WagerWithdrawn(position=placed.position, wager=placed.wager.value)
        await agent.handle(encode_event(withdrawn))
