import asyncio
import json
import secrets
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

import meters.intake.bonus_draws
from meters.acts.act_refusals import ActError
from meters.floor.floor_file import FloorError, parse_floor
from meters.intake.bonus_draws import draw_for
from meters.wire.messages import DrawMade, Wagers
from tests.floor_text import table_text
from tests.model.pit import (
    BONUS,
    CENT,
    DEALER_BONUS,
    FIVE_CARD,
    FIVE_OF_SIX,
    FLOOR,
    PROGRESSIVE,
    RAGS,
    Pit,
    event_bytes,
    paid_of,
)

ROYAL = "As Ks Qs"
JACK_TEN = "Js Ts"
PLAIN = "2c 7d 9h"


@pytest.mark.reading("hand pay")
@pytest.mark.section(
    "649a.11(c)(5)(iv)", "649a.11(c)(7)(iv)", "649a.11(c)(8)(iii)", "649a.11(c)(9)(iv)", proof=True
)
@pytest.mark.parametrize(
    ("wager", "hand", "dealer", "community", "percent"),
    [
        pytest.param(PROGRESSIVE, ROYAL, PLAIN, JACK_TEN, 100, id="progressive 100%"),
        pytest.param(PROGRESSIVE, "Ah Kh Qh", "2c 7d 9c", JACK_TEN, None, id="progressive odds"),
        pytest.param(FIVE_CARD, ROYAL, PLAIN, JACK_TEN, 100, id="five-card 100%"),
        pytest.param(FIVE_CARD, "9s 8s 7s", PLAIN, JACK_TEN, 10, id="five-card 10%"),
        pytest.param(FIVE_CARD, "2s 5s 8s", PLAIN, JACK_TEN, None, id="five-card odds"),
        pytest.param(FIVE_OF_SIX, ROYAL, "Js Ts 2c", "4c 8d", 100, id="5 of 6 100%"),
        pytest.param(FIVE_OF_SIX, "Ah Kh Qh", "Jh Th 2c", "4c 8d", 25, id="5 of 6 25%"),
        pytest.param(FIVE_OF_SIX, "9s 8s 7s", "Js Ts 2c", "4c 8d", None, id="5 of 6 odds"),
        pytest.param(BONUS, ROYAL, PLAIN, JACK_TEN, 100, id="bonus 100%"),
        pytest.param(BONUS, "9s 8s 7s", PLAIN, JACK_TEN, 10, id="bonus 10%"),
        pytest.param(BONUS, "Jd Jh Jc", PLAIN, JACK_TEN, None, id="bonus 500 for 1"),
        pytest.param(DEALER_BONUS, RAGS, "9s 8s 7s", JACK_TEN, 10, id="dealer's hand 10%"),
    ],
)
async def test_reading_hand_pay_is_any_percentage_of_the_meter_and_nothing_else(
    pit: Pit, wager: str, *, hand: str, dealer: str, community: str, percent: int | None
) -> None:
    reply = await pit.round({1: wager}, {1: hand}, dealer=dealer, community=community)
    (line,) = [line for line in reply.lines or () if line.outcome == "paid"]
    assert line.percent == percent
    from_game_account = wager in {BONUS, DEALER_BONUS}
    inventory = "game_account" if from_game_account else "table_inventory"
    assert line.paid_from == ("hand_pay" if percent else inventory)
    (claim,) = reply.claims or ()
    assert claim.amount == line.paid
    row = await pit.decide(claim.claim, "validate")
    paid_at_once = (await pit.accounts()).get("paid", 0)
    assert paid_at_once == (0 if percent else line.paid * CENT)
    if percent:
        row = await pit.decide(claim.claim, "pay", by="fp-2")
        assert (row.state, row.decided_by) == ("paid", "fp-2")
    else:
        with pytest.raises(ActError, match="paid at the table"):
            await pit.decide(claim.claim, "pay")
    assert (await pit.accounts())["paid"] == line.paid * CENT
    assert await pit.claims.waiting() == []


@pytest.mark.reading("validation")
@pytest.mark.section("649a.11(c)(5)(i)", "649a.11(c)(5)(iii)", "649a.11(c)(7)(i)", proof=True)
@pytest.mark.section("649a.11(c)(7)(iii)", "649a.11(c)(9)(i)", "649a.11(c)(9)(iii)", proof=True)
@pytest.mark.parametrize(
    ("wager", "winning", "hand", "cents", "losing", "dealer", "community"),
    [
        (PROGRESSIVE, "4h 5s 6d", "straight", 600, "4h 5s 7d", "2c 9d Th", "3c 8d"),
        (FIVE_CARD, "4h 4s 6d", "three_of_a_kind", 900, "4h 5s 6d", "2c 9d Th", "4c 8d"),
        (FIVE_OF_SIX, "4h 5s 6d", "straight", 500, "4h 5s 9s", "7c 8d Kh", "2c 2d"),
    ],
)
async def test_reading_validation_every_progressive_win_waits_for_a_floorperson(
    pit: Pit, wager: str, *, winning: str, hand: str, cents: int, losing: str, dealer: str,
    community: str,
) -> None:  # fmt: skip
    """It is not paid before, and a hand that does not win never."""
    lost = await pit.round({1: wager}, {1: losing}, dealer=dealer, community=community)
    assert not lost.claims
    reply = await pit.round(
        {1: wager}, {1: winning}, dealer=dealer, community=community, round_id="R2"
    )
    (claim,) = reply.claims or ()
    assert (claim.item, claim.amount) == (wager, cents)
    accounts = await pit.accounts()
    assert accounts[f"claim:{claim.claim}"] == cents * CENT
    assert accounts.get("paid", 0) == 0
    (row,) = await pit.claims.waiting()
    assert (row.claim, row.state, row.table, row.asset) == (claim.claim, "pending", "T-1", "104211")
    assert (row.cards, row.hand, row.round) == (tuple(winning.split()), hand, "R2")
    assert [(jackpot.event, jackpot.amount) for jackpot in pit.published] == [("hit", cents)]
    await pit.decide(claim.claim, "validate")
    assert (await pit.accounts())["paid"] == cents * CENT


@pytest.mark.reading("validation")
@pytest.mark.section("649a.11(c)(8)(i)", "649a.11(c)(8)(ii)", proof=True)
@pytest.mark.parametrize(
    ("hand", "cents", "waits"),
    [
        pytest.param("3c 5s 8s", 0, False, id="no win"),
        pytest.param("2s 5s 8s", 5_000, False, id="50 for 1"),
        pytest.param("Jd Jh Tc", 10_000, False, id="100 for 1"),
        pytest.param("Jd Jh Jc", 50_000, True, id="500 for 1"),
        pytest.param("9s 8s 7s", 100_002, True, id="10% of the meter"),
    ],
)
async def test_reading_validation_of_a_hand_bonus_is_for_500_for_1_and_percentages(
    pit: Pit, hand: str, cents: int, *, waits: bool
) -> None:
    reply = await pit.round({1: BONUS}, {1: hand}, community=JACK_TEN, dealer=PLAIN)
    assert [line.paid for line in reply.lines or ()] == [cents]
    assert [claim.amount for claim in reply.claims or ()] == [cents] * waits
    assert (await pit.accounts()).get("paid", 0) == (0 if waits else cents * CENT)


@pytest.mark.reading("validation")
@pytest.mark.parametrize(
    ("validate_from", "waits"), [(0, True), (600, True), (601, False), (100_000_000, False)]
)
async def test_reading_validation_odds_below_validate_from_are_only_recorded(
    redis: Redis, validate_from: int, *, waits: bool
) -> None:
    """A percentage waits whatever the floor file says. Rejected odds go back to the house."""
    setting = f"[facility]\nvalidate_from = {validate_from}"
    pit = await Pit.opened(redis, FLOOR.replace("[facility]", setting))
    house = (await pit.accounts())["house"]
    reply = await pit.round({1: PROGRESSIVE}, {1: "4h 5s 6d"})
    assert paid_of(reply, PROGRESSIVE) == [(1, 600)]
    assert len(reply.claims or ()) == waits
    assert (await pit.accounts()).get("paid", 0) == (0 if waits else 600 * CENT)
    assert (await pit.store.snapshot()).tallies["won_cents:progressive"] == 600
    assert "649a.12(e)(1)" in (await pit.entries())[-1]["reply"]
    if waits:
        held = await pit.meter(PROGRESSIVE)
        await pit.decide("pit.T-1-2-1", "reject")
        assert ((await pit.accounts())["house"], await pit.meter(PROGRESSIVE)) == (house, held)
    reply = await pit.round({1: PROGRESSIVE}, {1: ROYAL}, round_id="R2")
    assert [claim.amount for claim in reply.claims or ()] == [100_028]


@pytest.mark.duty("D8", proof=True)
@pytest.mark.reading("validation")
async def test_reading_validation_percentage_leaves_the_meter_at_once_and_play_goes_on(
    pit: Pit,
) -> None:
    """Another table wins from the reseeded meter while the first win waits (duty D8)."""
    await pit.round({1: PROGRESSIVE}, {1: ROYAL})
    assert await pit.meter(PROGRESSIVE) == 100_000 * CENT
    assert (await pit.accounts())["claim:pit.T-1-2-1"] == 100_014 * CENT
    reply = await pit.round({2: PROGRESSIVE}, {2: ROYAL}, table="T-2")
    assert paid_of(reply, PROGRESSIVE) == [(2, 100_014)]
    assert [row.table for row in await pit.claims.waiting()] == ["T-1", "T-2"]


# The reading on draws: when Magic Card and Lucky position are drawn, once and finally.

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
    bets = {name: offers[name][0].wagers_cents[0] for name in names.split()}
    payload = event_bytes(1, "wagers", "R1", positions=[{"position": 1, "wagers": bets}])
    return msgspec.json.decode(payload, type=Wagers)


@pytest.mark.reading("draws")
@pytest.mark.reading("T19")
@pytest.mark.reading("T20")
@pytest.mark.section("649a.12(i)(3)")
@pytest.mark.parametrize(("magic", "lucky"), [(1, 1), (0, 1), (1, 0)])
async def test_reading_draws_every_round_if_the_fraction_is_one_and_never_if_it_is_zero(
    redis: Redis, magic: int, lucky: int
) -> None:
    pit = await _pit(redis, magic, lucky)
    for number in range(20):
        for name, wager in (("A", BONUS), ("B", DEALER_BONUS)):
            reply = await pit.wagers({1: wager}, round_id=f"{name}{number}")
            assert reply.draw is not None
            assert (reply.draw.magic_card is not None) == bool(magic)
            assert reply.draw.lucky_position in ((*range(1, 8), "dealer") if lucky else (None,))
            await pit.void(round_id=f"{name}{number}")


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
    monkeypatch.setattr(meters.intake.bonus_draws, "secrets", chance)
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
        monkeypatch.setattr(meters.intake.bonus_draws, "secrets", chance)
        draw = draw_for(pit.known["T-1"], _wagers(pit, BONUS))
        assert draw is not None
        seen.add((draw.magic_card, draw.lucky_position))
        assert [len(population) for population in chance.populations] == [52, 8]
    assert len({card for card, _ in seen}) == 52
    assert {spot for _, spot in seen} == {1, 2, 3, 4, 5, 6, 7, "dealer"}


def test_draws_come_from_the_source_that_nobody_can_foresee() -> None:
    assert vars(meters.intake.bonus_draws)["secrets"] is secrets


@pytest.mark.reading("draws")
async def test_reading_draws_are_recorded_in_the_ledger_and_settle_the_round_after_a_restart(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The announced draw pays, even if the worker that drew it has forgotten everything."""
    pit = await _pit(redis, 1, 1)
    monkeypatch.setattr(
        meters.intake.bonus_draws, "secrets", Fixed(place=7)
    )  # the 3 of spades; the dealer
    reply = await pit.wagers({3: f"{BONUS} {DEALER_BONUS}", 2: BONUS})
    assert reply.draw == DrawMade(magic_card="3s", lucky_position="dealer")
    entry = (await pit.entries())[-1]
    assert json.loads(entry["reply"])["draw"] == {"magic_card": "3s", "lucky_position": "dealer"}
    monkeypatch.setattr(meters.intake.bonus_draws, "secrets", Fixed(place=0))
    pit.restart()
    reply = await pit.result({3: RAGS, 2: "2h 5d Kc"}, community="4c 3s")
    assert paid_of(reply, "magic_card") == [(3, 2_000), (3, 2_000), (2, 2_000)]
    assert paid_of(reply, "lucky_bonus") == [(3, 500)]


# The readings on amounts, turns, percentages and reseeds, applied by the service.

BELOW = "9s 8s 7s"
"""Community cards: with them ROYAL is a royal flush and BELOW a straight flush."""


async def _transfers_to_claims(pit: Pit) -> list[tuple[str, str]]:
    """Return number and table of each entry that moved money to a claim, in ledger order."""
    return [
        (entry["id"], entry["table"])
        for entry in await pit.entries()
        if '"claim:' in entry["transfers"] and entry["kind"] == "result"
    ]


@pytest.mark.reading("wager amount")
@pytest.mark.reading("T22")
@pytest.mark.section("649a.12(e)(3)")
@pytest.mark.parametrize("cents", [1, 99, 101, 500, 10_000])
async def test_reading_wager_amount_another_amount_than_the_meters_is_refused(
    pit: Pit, cents: int
) -> None:
    before = await pit.accounts()
    positions = [
        {"position": 1, "wagers": {"progressive": 100}},
        {"position": 2, "wagers": {"progressive": cents}},
    ]
    reply = await pit.event("T-1", "wagers", "R1", positions=positions)
    assert reply.error is not None
    assert reply.error.code == "wrong_amount"
    assert reply.error.field == "positions[1].wagers.progressive"
    assert await pit.accounts() == before, "the right wager beside it is not counted either"


@pytest.mark.reading("wager amount")
@pytest.mark.reading("T22")
@pytest.mark.section("649a.12(e)(5)")
@pytest.mark.parametrize("kind", [PROGRESSIVE, FIVE_CARD, FIVE_OF_SIX])
@pytest.mark.parametrize(("cents", "offered"), [(100, True), (500, True), (200, False), (1, False)])
def test_reading_wager_amount_envy_is_laid_down_for_one_and_five_dollars_alone(
    kind: str, cents: int, *, offered: bool
) -> None:
    text = FLOOR.replace(f'kind = "{kind}"\nwager = 100', f'kind = "{kind}"\nwager = {cents}')
    if offered:
        assert parse_floor(text)
    else:
        with pytest.raises(FloorError, match="Envy"):
            parse_floor(text)


@pytest.mark.duty("D7", proof=True)
@pytest.mark.reading("turn")
@pytest.mark.reading("T15")
@pytest.mark.section("649a.12(h)(4)")
async def test_reading_turn_each_percentage_comes_off_the_meter_as_it_stands_at_that_turn(
    pit: Pit,
) -> None:
    """A tenth of the meter, and then everything that is left of it."""
    reply = await pit.round(
        {7: FIVE_CARD, 5: FIVE_CARD, 3: FIVE_CARD},
        {7: BELOW, 5: ROYAL, 3: "Qc Jc 9h"},
        community=JACK_TEN,
        dealer="2c 7d 9c",
    )
    held = 1_000_063
    assert paid_of(reply, FIVE_CARD) == [(7, 100_006), (5, held - 100_006)]
    claims = [(claim.position, claim.amount) for claim in reply.claims or ()]
    assert claims == [(7, 100_006), (5, held - 100_006)]
    assert [jackpot.meter_after for jackpot in pit.published] == [held - 100_006, 1_000_000]


@pytest.mark.duty("D7", proof=True)
@pytest.mark.reading("turn")
@pytest.mark.section("649a.12(e)(4)")
async def test_reading_turn_of_results_that_come_together_is_recorded_too(redis: Redis) -> None:
    """Two workers have two royals at the same moment: one wins the meter, one the reseed."""
    pit = await Pit.opened(redis, workers=2)
    for table in ("T-1", "T-2"):
        await pit.wagers({1: PROGRESSIVE}, table=table)
    hand = [{"position": 1, "cards": ROYAL.split()}]
    payload = event_bytes(2, "result", "R1", positions=hand, dealer=["2c", "7d", "9h"])
    for _ in range(2):  # the second worker saw no wagers, and may need the event twice
        await asyncio.gather(pit.send("T-1", payload, worker=0), pit.send("T-2", payload, worker=1))
    rows = await pit.claims.waiting()
    assert [row.amount for row in rows] == [100_028, 100_000]
    recorded = await _transfers_to_claims(pit)
    assert [(row.order, row.table) for row in rows] == recorded


# The readings on void rounds, and on which text is law, applied by the service.


@pytest.mark.reading("void")
@pytest.mark.reading("T28")
@pytest.mark.section("649a.13")
async def test_reading_void_takes_off_again_what_the_round_added_recorded(pit: Pit) -> None:
    before = {name: micros for name, micros in (await pit.accounts()).items() if micros}
    await pit.wagers({1: f"{PROGRESSIVE} {BONUS}", 2: PROGRESSIVE})
    reply = await pit.void()
    assert reply.status == "accepted"
    after = {name: micros for name, micros in (await pit.accounts()).items() if micros}
    assert after == before
    wagers, void = (await pit.entries())[-2:]
    assert (wagers["kind"], void["kind"]) == ("wagers", "void")
    assert '"misdeal"' in void["event"]
    finding = await pit.audit()
    assert (finding.totals.wagers, finding.totals.contributions_micros) == (0, 0)
    assert finding.balanced


@pytest.mark.reading("which text")
@pytest.mark.parametrize("choice", ["A", "B", "C", "D"])
def test_reading_which_text_679a_is_offered_in_its_final_form(choice: str) -> None:
    """The 2015 proposal had two paytables of the Bad Beat Bonus. The final form has four."""
    paytables = {"bad_beat": choice}
    table = table_text("TCP-9", game="three_card_prime", positions=6, paytables=paytables)
    floor = parse_floor(FLOOR + table)
    assert floor.link[0].table[-1].paytables == {"bad_beat": choice}
