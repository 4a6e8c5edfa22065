"""Dealer bots: the deal, the strategy, whole rounds by the rules alone and at real agents."""

import asyncio
import itertools
import random
from collections import Counter

import pytest

from bonus.cards import DECK, parse_card
from bonus.hands.three import three_card_strength
from controllers.agent.agent import Agent
from controllers.demo.dealer_bots import DealerBot, RoundPlayed, plays, run_bot
from controllers.demo.decks import deal, shuffle
from controllers.table.device_events import encode_event
from controllers.table.state import Phase
from meters.wire.messages import Result, Void, Wagers
from tests.controllers.floors import HandTable
from tests.controllers.scripted import ScriptedService, say_all
from tests.servers import Mosquitto, eventually_async


@pytest.mark.parametrize(
    ("cards", "worth"),
    [
        ("Qs 6h 4d", True),
        ("Qs 6h 3d", False),
        ("Qs 5h 4d", False),
        ("Qs 6h 5d", True),
        ("Qs 7h 2d", True),
        ("Js Th 8d", False),
        ("Ks 3h 2d", True),
        ("2s 2h 3d", True),
        ("2s 3s 5s", True),
        ("As 2h 3d", True),
        ("Jh Ts 9d", True),
    ],
)
def test_queen_six_four_is_the_least_hand_that_plays(cards: str, *, worth: bool) -> None:
    for order in itertools.permutations(cards.split()):
        assert plays([parse_card(name) for name in order]) is worth


def test_a_third_of_all_hands_folds() -> None:
    """Known for this strategy: of 22,100 hands, 7,200 rank below queen-six-four."""
    hands = list(itertools.combinations(DECK, 3))
    least = three_card_strength([parse_card(name) for name in ("Qs", "6h", "4d")])
    folded = sum(not plays(cards) for cards in hands)
    assert folded == sum(three_card_strength(cards) < least for cards in hands)
    assert 0.32 < folded / len(hands) < 0.33


@pytest.mark.section("649a.8(d)")
def test_cards_are_dealt_one_at_a_time_from_position_1_the_dealer_last_then_the_community() -> None:
    dealt = deal(DECK, [5, 2, 7], HandTable().layout.deal, community=True)
    assert dict(dealt.hands) == {2: (0, 4, 8), 5: (1, 5, 9), 7: (2, 6, 10)}
    assert dealt.dealer == (3, 7, 11)
    assert dealt.community == (12, 13)
    assert deal(DECK, [2], HandTable().layout.deal, community=False).community is None


def test_a_shuffled_deck_has_every_card_once_and_its_seed_repeats_it() -> None:
    assert sorted(shuffle(random.Random(1), 1)) == list(DECK)
    assert shuffle(random.Random(1), 1) == shuffle(random.Random(1), 1)
    assert shuffle(random.Random(1), 1) != shuffle(random.Random(2), 1)


def played_out(table: HandTable, bot: DealerBot) -> RoundPlayed:
    play = bot.play_round()
    event = next(play)
    while True:
        answer = table.say_line(encode_event(event))
        assert answer.ok, (event, answer)
        try:
            event = play.send(answer)
        except StopIteration as end:
            played: RoundPlayed = end.value
            return played


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3))])
def test_whole_rounds_are_taken_event_by_event(seed: int) -> None:
    table = HandTable()
    bot = DealerBot(table.layout, random.Random(seed), stack_every=10)
    rounds = [played_out(table, bot) for _ in range(300)]
    assert table.state.phase is Phase.OPEN
    sent = Counter(type(event) for event in table.sent)
    assert sent[Wagers] == sent[Result] + sent[Void]
    wagers = [event for event in table.sent if isinstance(event, Wagers)]
    counted = Counter(wager for event in wagers for at in event.positions for wager in at.wagers)
    assert sum(counted.values()) == sum(len(played.wagered_cents) for played in rounds)
    assert all(counted[wager] > 50 for wager in table.layout.rules.meters.terms)
    assert any(
        dealt.folded and dealt.cards is None
        for event in table.sent
        if isinstance(event, Result)
        for dealt in event.positions
    )


def test_a_bot_repeats_itself_from_its_seed() -> None:
    def sent_by(seed: int) -> list[object]:
        table = HandTable()
        bot = DealerBot(table.layout, random.Random(seed))
        for _ in range(20):
            played_out(table, bot)
        return list(table.sent)

    assert sent_by(3) == sent_by(3)
    assert sent_by(3) != sent_by(4)


def test_a_table_without_meters_is_dealt_too() -> None:
    table = HandTable("T-3")
    bot = DealerBot(table.layout, random.Random(1))
    for _ in range(20):
        played_out(table, bot)
    assert table.sent == []


async def test_a_bot_that_is_stopped_ends_its_round_without_pauses(
    agent: Agent, service: ScriptedService
) -> None:
    stopping = asyncio.Event()
    bot = asyncio.create_task(run_bot(agent, random.Random(7), round_s=3600, stopping=stopping))
    await asyncio.sleep(0)
    assert not bot.done()
    stopping.set()
    async with asyncio.timeout(60):
        await bot
    assert (agent.table_state.phase, agent.table_state.wagers) == (Phase.OPEN, ())
    assert service.last_seq > 0


async def test_a_bot_clears_what_an_earlier_run_left_on_the_table(
    agent: Agent, service: ScriptedService
) -> None:
    await say_all(agent, "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs")
    await run_bot(agent, random.Random(7), round_s=0, rounds=1)
    await say_all(agent, "wager 3 progressive; wager 4 progressive")
    await run_bot(agent, random.Random(8), round_s=0, rounds=1)
    assert [event["type"] for event in service.applied[:3]] == ["wagers", "void", "wagers"]


@pytest.mark.slow
async def test_a_bot_waits_for_a_lost_link_and_its_events_reach_the_service_unchanged(
    agent: Agent, service: ScriptedService, mosquitto: Mosquitto
) -> None:
    rounds: list[RoundPlayed] = []
    bot = asyncio.create_task(
        run_bot(agent, random.Random(7), round_s=0.05, rounds=60, on_round=rounds.append)
    )
    await eventually_async(lambda: len(rounds) > 3)
    mosquitto.kill()
    await eventually_async(lambda: agent.fault() is not None)
    mosquitto.start()
    async with asyncio.timeout(120):
        await bot
    assert len(rounds) == 60
    assert [event["seq"] for event in service.applied] == [*range(1, service.last_seq + 1)]
    wagered_cents = [
        cents
        for event in service.applied
        if event["type"] == "wagers"
        for at in event["positions"]  # type: ignore[attr-defined]
        for cents in at["wagers"].values()
    ]
    assert sum(len(played.wagered_cents) for played in rounds) == len(wagered_cents)
    assert sum(sum(played.wagered_cents) for played in rounds) == sum(wagered_cents)
    assert service.open_round is None
