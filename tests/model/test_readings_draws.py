"""The reading on draws: when Magic Card and Lucky position are drawn, once and finally."""

import json
import secrets
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

import meters.intake.draws
from meters.intake.draws import draw_for
from meters.wire.messages import DrawMade, Wagers
from tests.model.pit import (
    BONUS,
    DEALER_BONUS,
    FIVE_CARD,
    FLOOR,
    PROGRESSIVE,
    RAGS,
    Pit,
    event_bytes,
    paid_of,
)

EVERYTHING_ELSE = f"{PROGRESSIVE} {FIVE_CARD} five_of_six_progressive"


def _floor(magic_card_every: int, lucky_every: int) -> str:
    kind = 'kind = "five_card_hand_bonus"\nwager = 100\n'
    draws = f"magic_card_every = {magic_card_every}\nlucky_every = {lucky_every}\n"
    return FLOOR.replace(kind, kind + draws)


async def _pit(redis: Redis, magic_card_every: int, lucky_every: int) -> Pit:
    return await Pit.opened(redis, _floor(magic_card_every, lucky_every))


class Fixed:
    """Random source set by the test: the numbers in turn, and a place in each population."""

    def __init__(self, numbers: Sequence[int] = (), place: int = 0) -> None:
        self._numbers = list(numbers)
        self._place = place
        self.asked: list[int] = []
        self.populations: list[tuple[Any, ...]] = []

    def randbelow(self, most: int) -> int:
        self.asked.append(most)
        return self._numbers.pop(0) if self._numbers else 0

    def choice(self, population: Sequence[Any]) -> Any:  # noqa: ANN401
        self.populations.append(tuple(population))
        return population[self._place % len(population)]


def _wagers(pit: Pit, names: str, *, table: str = "T-1") -> Wagers:
    offers = pit.known[table].offers
    bets = {name: offers[name][0].wager_cents for name in names.split()}
    payload = event_bytes(1, "wagers", "R1", positions=[{"position": 1, "wagers": bets}])
    return msgspec.json.decode(payload, type=Wagers)


@pytest.mark.reading("draws")
@pytest.mark.reading("T19")
@pytest.mark.reading("T20")
@pytest.mark.section("649a.12(i)(3)")
async def test_reading_draws_every_round_if_the_fraction_is_one(redis: Redis) -> None:
    pit = await _pit(redis, 1, 1)
    for number in range(40):
        reply = await pit.wagers({1: BONUS}, round_id=f"R{number}")
        assert reply.draw is not None
        assert reply.draw.magic_card is not None
        assert reply.draw.lucky_position in (*range(1, 8), "dealer")
        await pit.void(round_id=f"R{number}")


@pytest.mark.reading("draws")
async def test_reading_draws_never_if_the_fraction_is_zero(redis: Redis) -> None:
    for magic, lucky in ((0, 1), (1, 0)):
        await redis.flushall()
        pit = await _pit(redis, magic, lucky)
        for number in range(20):
            reply = await pit.wagers({1: DEALER_BONUS}, round_id=f"R{number}")
            assert reply.draw is not None
            assert (reply.draw.magic_card is not None) == bool(magic)
            assert (reply.draw.lucky_position is not None) == bool(lucky)
            await pit.void(round_id=f"R{number}")


@pytest.mark.reading("draws")
@pytest.mark.parametrize(
    ("names", "drawn"),
    [
        (EVERYTHING_ELSE, False),
        (BONUS, True),
        (DEALER_BONUS, True),
        (f"{EVERYTHING_ELSE} {DEALER_BONUS}", True),
    ],
)
async def test_reading_draws_only_with_a_hand_bonus_wager(
    redis: Redis, names: str, *, drawn: bool
) -> None:
    pit = await _pit(redis, 1, 1)
    reply = await pit.wagers({1: PROGRESSIVE, 2: names})
    assert (reply.draw is not None) == drawn


@pytest.mark.reading("draws")
@pytest.mark.parametrize("every", [2, 24, 1_000])
def test_reading_draws_fall_in_one_round_of_so_many(
    monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    """Of all the numbers that the source may return, exactly one makes a draw."""
    pit = Pit(Redis(), _floor(every, 0))
    chance = Fixed(numbers=range(every))
    monkeypatch.setattr(meters.intake.draws, "secrets", chance)
    made = [draw_for(pit.known["T-1"], _wagers(pit, BONUS)) for _ in range(every)]
    assert sum(draw is not None and draw.magic_card is not None for draw in made) == 1
    assert set(chance.asked) == {every}


@pytest.mark.reading("T19")
@pytest.mark.reading("T20")
def test_reading_t20_every_card_and_every_place_is_as_likely_as_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One card of 52; one place of the table's seven and the dealer's."""
    pit = Pit(Redis(), _floor(1, 1))
    seen: set[tuple[str | None, int | str | None]] = set()
    for place in range(52 * 8):
        chance = Fixed(place=place)
        monkeypatch.setattr(meters.intake.draws, "secrets", chance)
        draw = draw_for(pit.known["T-1"], _wagers(pit, BONUS))
        assert draw is not None
        seen.add((draw.magic_card, draw.lucky_position))
        assert [len(population) for population in chance.populations] == [52, 8]
    assert len({card for card, _ in seen}) == 52
    assert {spot for _, spot in seen} == {1, 2, 3, 4, 5, 6, 7, "dealer"}


def test_draws_come_from_the_source_that_nobody_can_foresee() -> None:
    assert vars(meters.intake.draws)["secrets"] is secrets


@pytest.mark.reading("draws")
async def test_reading_draws_are_repeated_unchanged_on_a_repeat(redis: Redis) -> None:
    """Either worker repeats it, also after a restart: the reply is stored, not drawn again."""
    pit = await Pit.opened(redis, _floor(1, 1), workers=2)
    payload = event_bytes(
        1, "wagers", "R1", positions=[{"position": 1, "wagers": {BONUS: 100}}]
    )  # fmt: skip
    first = await pit.send("T-1", payload)
    for worker in (0, 1, 0, 1):
        assert await pit.send("T-1", payload, worker=worker) == first
        pit.restart(worker)
    assert len([entry for entry in await pit.entries() if entry["kind"] == "wagers"]) == 1


@pytest.mark.reading("draws")
async def test_reading_draws_are_recorded_in_the_ledger_and_settle_the_round_after_a_restart(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The announced draw pays, even if the worker that drew it has forgotten everything."""
    pit = await _pit(redis, 1, 1)
    monkeypatch.setattr(
        meters.intake.draws, "secrets", Fixed(place=7)
    )  # the 3 of spades; the dealer
    reply = await pit.wagers({3: f"{BONUS} {DEALER_BONUS}", 2: BONUS})
    assert reply.draw == DrawMade(magic_card="3s", lucky_position="dealer")
    entry = (await pit.entries())[-1]
    assert json.loads(entry["reply"])["draw"] == {"magic_card": "3s", "lucky_position": "dealer"}
    monkeypatch.setattr(meters.intake.draws, "secrets", Fixed(place=0))
    pit.restart()
    reply = await pit.result({3: RAGS, 2: "2h 5d Kc"}, community="4c 3s")
    assert paid_of(reply, "magic_card") == [(3, 2_000), (3, 2_000), (2, 2_000)]
    assert paid_of(reply, "lucky_bonus") == [(3, 500)]


@pytest.mark.reading("draws")
async def test_reading_draws_nothing_is_drawn_for_wagers_that_are_refused(
    redis: Redis,
) -> None:
    pit = await _pit(redis, 1, 1)
    await pit.wagers({1: BONUS})
    reply = await pit.wagers({1: BONUS}, round_id="R2")
    assert reply.status == "refused"
    assert reply.draw is None
    (state,) = await pit.store.table_states(["T-1"])
    assert state.open_round == "R1"
