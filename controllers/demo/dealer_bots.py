"""Dealer bots: simulated tables that send the agent the same events as real devices.

`pitlink odds` shows the optimal strategy; the simulated players use a simpler one. With three
cards, they play queen-six-four or better. With four cards, they play a pair of threes or better;
with a pair of tens or better, they wager three times the stake. They exchange cards by a rule that
is as simple.
"""

import asyncio
import random
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from msgspec import UNSET

from bonus.cards import Card, card_name, parse_card
from bonus.hands.four import best_four
from bonus.hands.three import three_card_strength
from bonus.law.chapter_file import OF_COMMUNITY, Main
from bonus.rounds import Line
from bonus.settling.table_rules import TableRules
from controllers.agent.agent import Agent, occurs
from controllers.demo.decks import (
    DealtRound,
    deal,
    exchange_cards,
    jackpot_hands,
    random_results,
    shuffle,
    stack,
    stacked_hand,
)
from controllers.demo.resettlement import RoundRecord
from controllers.table.device_events import (
    BettingLocked,
    ChipsCounted,
    CommunityRead,
    DealerRead,
    DeviceAnswer,
    DeviceEvent,
    HandFolded,
    HandRead,
    SettlePressed,
    VoidPressed,
    WagerPlaced,
    WagerWithdrawn,
    encode_event,
)
from controllers.table.state import Layout, Phase

_log: Final = structlog.get_logger(__name__)

ROUND_S: Final = 40.0
"""Approximate duration of a round at a real table."""

STACK_EVERY: Final = 40
"""The bots stack one of this many decks on average: by chance alone, a jackpot would take days."""

STACK_OFTEN: Final = 4

_LAST_ROUNDS_WITHIN_S: Final = 20.0
_LOOK_EVERY_S: Final = 0.1

_LIKED_FIRST: Final = 0.6
"""Probability that a player makes the first of the wagers that feed meters."""
_LIKED_NEXT: Final = 0.8
"""For each next such wager, the probability is multiplied by this factor."""
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
"""Pause before each event, as a fraction of the round's duration."""

_STAKES_CENTS: Final = (500, 1_000, 1_000, 1_500, 2_500, 5_000, 10_000)
_SIDE_CENTS: Final = (100, 500, 500, 1_000, 2_500)
_LIKING: Final = 0.4
"""Share of players who make an optional wager."""
_WITHOUT_ANTE: Final = 0.1
"""Share of players who do not play against the dealer, if the game allows this."""


def offers_main(rules: TableRules) -> bool:
    main = rules.chapter.main
    return main is not None and not rules.placings[main.stake].choice


def lay_wagers(
    rules: TableRules, positions: Iterable[int], rng: random.Random
) -> dict[int, dict[str, int]]:
    """Return random wagers before the deal, in cents, without progressive wagers.

    If the floor file lacks the table's paytables, there are no wagers.
    """
    lays = rules.chapter.main is None or offers_main(rules)
    return {position: _at_one_box(rules, rng) if lays else {} for position in positions}


def _at_one_box(rules: TableRules, rng: random.Random) -> dict[str, int]:
    main = rules.chapter.main_wagers
    offered = {
        name: placing
        for name, placing in rules.placings.items()
        if name not in main and not placing.choice and not placing.meters
    }
    alone = [name for name, placing in offered.items() if not placing.needs]
    wagers: dict[str, int] = {}
    if main and not (alone and rng.random() < _WITHOUT_ANTE):
        wagers[main[0]] = rng.choice(_STAKES_CENTS)
    elif alone:
        wagers[rng.choice(alone)] = rng.choice(_SIDE_CENTS)
    for name, placing in offered.items():
        placed = not placing.needs or any(need in wagers for need in placing.needs)
        if placed and name not in wagers and rng.random() < _LIKING:
            wagers[name] = rng.choice(_SIDE_CENTS)
    for bound in rules.bounds:
        most_cents = bound.at_most * wagers.get(bound.of, 0)
        if wagers.get(bound.wager, 0) > most_cents:
            wagers[bound.of] = wagers[bound.wager]
    return wagers


def _cards(text: str) -> list[Card]:
    return [parse_card(name) for name in text.split()]


_QUEEN_SIX_FOUR: Final = three_card_strength(_cards("Qc 6d 4h"))
_PAIR_OF_TENS: Final = best_four(_cards("Tc Td 3h 2s"))[1]
_PAIR_OF_THREES: Final = best_four(_cards("3c 3d 4h 2s"))[1]


def plays(cards: Sequence[Card]) -> bool:
    """Return whether three cards are worth a Play Wager: queen-six-four or better.

    >>> plays(_cards("Qs 6h 3d"))
    False
    """
    return three_card_strength(cards) >= _QUEEN_SIX_FOUR


def follow_times(main: Main, cards: Sequence[Card]) -> int:
    if main.ranking == "three_card":
        return main.times[0] if plays(cards) else 0
    strength = best_four(cards)[1]
    if strength >= _PAIR_OF_TENS:
        return main.times[-1]
    return main.times[0] if strength >= _PAIR_OF_THREES else 0


@dataclass(frozen=True, slots=True)
class RoundPlayed:
    """Result of a round at a simulated table, with its accepted progressive wagers.

    If the round was not settled, or `pitlink settle` cannot settle it, `record` is None.
    """

    wagered_cents: Collection[int]
    record: RoundRecord | None = None


Laid = dict[int, dict[str, int]]
"""Wagers in cents, by position and by name."""

Play = Generator[DeviceEvent, DeviceAnswer, RoundPlayed]
"""Yields device events and receives the answer to each."""


class DealerBot:
    """Simulated dealer, who stacks one of `stack_every` decks on average (0: no deck)."""

    def __init__(self, layout: Layout, rng: random.Random, *, stack_every: int = 0) -> None:
        self._layout = layout
        self._rng = rng
        self._stack_every = stack_every
        self._patrons = 0
        self._seats: dict[int, str] = {}

    def play_round(self) -> Play:
        """Play one round. Sometimes it ends with a void after the count of chips."""
        self._change_seats()
        laid = lay_wagers(self._layout.rules, sorted(self._seats), self._rng)
        wagers = yield from self._place_wagers()
        locked = yield BettingLocked()
        if locked.code == Phase.HELD:
            return RoundPlayed(())  # no card was dealt: the wagers were returned
        if not locked.ok:
            wagers = {}
        yield ChipsCounted(count=sum(not self._layout.is_electronic(wager) for _, wager in wagers))
        if self._rng.random() < _MISDEALS:
            yield VoidPressed(reason="misdeal")
            return RoundPlayed(wagers.values())
        for (position, wager), cents in wagers.items():
            laid[position][wager] = cents
        dealt = self._deal(laid)
        folded = self._decide(laid, dealt)
        yield from self._read_hands(laid, dealt, folded)
        settled = yield SettlePressed()
        record = None
        if settled.ok and settled.lines is not UNSET:
            record = self._record(laid, dealt, folded, locked, settled.lines)
        return RoundPlayed(wagers.values(), record)

    def _change_seats(self) -> None:
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

    def _place_wagers(self) -> Generator[DeviceEvent, DeviceAnswer, dict[tuple[int, str], int]]:
        accepted: dict[tuple[int, str], int] = {}
        for position, patron in sorted(self._seats.items()):
            for number, wager in enumerate(self._layout.rules.meters.terms):
                amounts_cents = self._layout.amounts_cents(wager)
                liked = _LIKED_FIRST * _LIKED_NEXT**number
                if not amounts_cents or self._rng.random() >= liked:
                    continue
                amount_cents = amounts_cents[0]
                if len(amounts_cents) > 1:
                    amount_cents = self._rng.choice(amounts_cents)
                answer = yield WagerPlaced(
                    position=position, wager=wager, amount_cents=amount_cents, patron=patron
                )
                if not answer.ok:
                    continue
                accepted[position, wager] = amount_cents
                if self._rng.random() < _SECOND_THOUGHTS:
                    yield WagerWithdrawn(position=position, wager=wager)
                    del accepted[position, wager]
        return accepted

    def _deal(self, laid: Laid) -> DealtRound:
        """Deal the cards that the wagers need (649a.8(d), 679a.8(c), 682a.8(c))."""
        layout = self._layout
        if layout.rules.chapter.result:
            stacked = self._stacked(laid)
            forced = stacked and (stacked[0], stacked[2])
            return random_results(self._rng, layout.rules.chapter, sorted(laid), forced)
        made = {wager for wagers in laid.values() for wager in wagers}
        cards = {layout.rules.placings[wager].cards for wager in made}
        all_six = "hand_and_all_six" in cards
        deck = self._deck(laid, all_six=all_six)
        dealt = deal(
            deck,
            sorted(laid),
            layout.deal,
            community=bool(OF_COMMUNITY & cards),
            fourth=[
                position
                for position, wagers in laid.items()
                if any(layout.rules.placings[wager].fourth_card for wager in wagers)
            ],
            all_six=all_six,
        )
        return exchange_cards(dealt, deck, layout.deal) if layout.deal.exchange else dealt

    def _decide(self, laid: Laid, dealt: DealtRound) -> frozenset[int]:
        """Return the positions that fold.

        For the other positions, add the wager after the deal to `laid` (649a.11(b)).
        """
        rules = self._layout.rules
        main = rules.chapter.main
        if main is None:
            return frozenset()
        folded = set()
        for position, wagers in laid.items():
            times = follow_times(main, dealt.hands[position])
            if main.stake not in wagers and offers_main(rules):
                continue
            if times == 0:
                folded.add(position)
            elif main.stake in wagers:
                wagers[main.follow] = times * wagers[main.stake]
        return frozenset(folded)

    def _stays(self, wagers: Collection[str], *, folded: bool) -> bool:
        return not folded or not self._layout.rules.survivors.isdisjoint(wagers)

    def _read_hands(
        self, laid: Laid, dealt: DealtRound, folded: Collection[int]
    ) -> Generator[DeviceEvent, DeviceAnswer, None]:
        for position, cards in dealt.hands.items():
            folds = position in folded
            if cards and self._stays(laid[position], folded=folds):
                yield HandRead(position=position, cards=self._names(cards))
            if folds:
                yield HandFolded(position=position)
        if dealt.dealer:
            yield DealerRead(cards=self._names(dealt.dealer))
        if dealt.community is not None:
            yield CommunityRead(cards=self._names(dealt.community))

    def _record(
        self,
        laid: Laid,
        dealt: DealtRound,
        folded: Collection[int],
        locked: DeviceAnswer,
        lines: Sequence[Line],
    ) -> RoundRecord | None:
        rules = self._layout.rules
        if rules.chapter.main and not offers_main(rules):
            return None
        positions: list[dict[str, object]] = []
        for position, cards in dealt.hands.items():
            wagers = laid[position]
            fields: dict[str, object] = {"position": position, "patron": self._seats[position]}
            if cards and self._stays(wagers, folded=position in folded):
                fields["cards"] = self._names(cards)
            if position in dealt.fourth:
                fields["fourth_card"] = card_name(dealt.fourth[position])
            positions.append({**fields, "folded": position in folded, "wagers": wagers})
        round_fields: dict[str, object] = {
            "game": rules.chapter.game,
            "paytables": dict(self._layout.paytables),
            "positions": positions,
        }
        if dealt.dealer:
            round_fields["dealer"] = self._names(dealt.dealer)
        if dealt.community is not None:
            round_fields["community"] = self._names(dealt.community)
        if dealt.all_six is not None:
            round_fields["all_six_card"] = card_name(dealt.all_six)
        if locked.draw is not UNSET and locked.draw is not None:
            round_fields["draw"] = locked.draw
        return RoundRecord(
            round_fields,
            self._layout.terms,
            tuple(lines),
            rules.meters.meter_of.keys(),
            self._layout.games,
            {meter.kind: meter.limit for meter in self._layout.meters if meter.limit},
        )

    def _names(self, cards: Sequence[Card]) -> list[str]:
        names = self._layout.rules.deck.names
        return [names[card] for card in cards]

    def _stacked(self, laid: Laid) -> tuple[int, str, str] | None:
        """Return a position, its wager and a hand that wins a jackpot, or None for most rounds."""
        jackpots = [
            (position, wager, hands)
            for position, wagers in sorted(laid.items())
            for wager in wagers
            if (hands := jackpot_hands(self._layout, wager))
        ]
        often = self._stack_every
        if not jackpots or not often or self._rng.randrange(often):
            return None
        winner, wager, hands = self._rng.choice(jackpots)
        return winner, wager, self._rng.choice(hands)

    def _shuffled(self) -> list[Card]:
        of = self._layout.deal
        return shuffle(self._rng, of.decks, of.jokers)

    def _deck(self, laid: Laid, *, all_six: bool) -> list[Card]:
        chosen = self._stacked(laid)
        if chosen is None:
            return self._shuffled()
        winner, wager, hand = chosen
        main = self._layout.rules.chapter.main
        stacked = stacked_hand(
            self._layout,
            wager,
            hand,
            self._rng,
            lambda cards: main is None or follow_times(main, cards) > 0,
        )
        if stacked is None:
            return self._shuffled()
        return stack(self._rng, stacked, sorted(laid), winner, self._layout.deal, all_six=all_six)


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
    """Deal rounds at a table until stopped, each in about `round_s` seconds.

    If `round_s` is 0, there are no pauses. Without `rounds`, the number of rounds has no limit. If
    `stopping` is set, the current round ends without pauses, and no other round begins. `on_round`
    is called after each round.
    """
    stopping = stopping or asyncio.Event()
    bot = DealerBot(agent.layout, rng, stack_every=stack_every)
    await clear_table(agent)
    dealt = 0
    while not stopping.is_set() and (rounds is None or dealt < rounds):
        if not await agent.wait_live(1.0):
            continue
        played = await _play_out(agent, bot.play_round(), rng, round_s, stopping)
        dealt += 1
        if on_round is not None:
            on_round(played)
        if agent.table_state.phase not in {Phase.OPEN, Phase.HELD}:
            await clear_table(agent)


async def end_rounds(
    agents: Sequence[Agent], bots: Sequence["asyncio.Task[None]"], ended: "asyncio.Task[None]"
) -> None:
    """Wait until the bots have ended their current rounds, for a limited time.

    Do not wait for tables that a hand pay holds. Return early if the task `ended` is done.
    """
    loop = asyncio.get_running_loop()
    end_s = loop.time() + _LAST_ROUNDS_WITHIN_S
    while not ended.done() and loop.time() < end_s:
        playing = {
            bot
            for agent, bot in zip(agents, bots, strict=True)
            if not bot.done() and agent.table_state.phase is not Phase.HELD
        }
        if not playing:
            return
        await asyncio.wait(
            {*playing, ended}, timeout=_LOOK_EVERY_S, return_when=asyncio.FIRST_COMPLETED
        )


async def _play_out(
    agent: Agent, play: Play, rng: random.Random, round_s: float, stopping: asyncio.Event
) -> RoundPlayed:
    try:
        event = next(play)
        while True:
            if (pause_s := round_s * _PAUSES[type(event)] * rng.uniform(0.5, 1.5)) > 0:
                await occurs(stopping, pause_s)
            answer = await agent.handle(encode_event(event))
            if not answer.ok:
                about = _log.bind(link=agent.layout.link, table=agent.layout.table)
                about.warning("input refused", input=answer.event)
            event = play.send(answer)
    except StopIteration as end:
        played: RoundPlayed = end.value
        return played


async def clear_table(agent: Agent) -> None:
    """Void a round and withdraw wagers that an earlier run or an error left at the table."""
    while agent.table_state.phase not in {Phase.OPEN, Phase.HELD}:
        answer = await agent.handle(encode_event(VoidPressed(reason="the simulation began anew")))
        if not answer.ok:
            await asyncio.sleep(1.0)
    for placed in agent.table_state.wagers:
        withdrawn = WagerWithdrawn(position=placed.position, wager=placed.wager)
        await agent.handle(encode_event(withdrawn))
