"""The readings on amounts, turns, percentages and reseeds, applied by the service."""

import asyncio

import pytest
from redis.asyncio import Redis

from meters.floor.floor_file import FloorError, parse_floor
from tests.model.pit import (
    BONUS,
    CENT,
    DEALER_BONUS,
    FIVE_CARD,
    FIVE_OF_SIX,
    FLOOR,
    PROGRESSIVE,
    Pit,
    event_bytes,
    paid_of,
)

ROYAL = "As Ks Qs"
BELOW = "9s 8s 7s"
JACK_TEN = "Js Ts"
"""Community cards: with them ROYAL is a royal flush and BELOW a straight flush."""


async def _transfers_to_claims(pit: Pit) -> list[tuple[str, str]]:
    """Return number and round of each entry that moved money to a claim, in ledger order."""
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
    assert reply.status == "refused"
    assert reply.error is not None
    assert (reply.error.code, reply.error.field) == (
        "wrong_amount",
        "positions[1].wagers.progressive",
    )
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


@pytest.mark.reading("wager amount")
@pytest.mark.section("649a.12(i)(4)")
async def test_reading_wager_amount_hand_bonus_is_offered_at_any_whole_cent(
    redis: Redis,
) -> None:
    kind = 'kind = "five_card_hand_bonus"\nwager = '
    pit = await Pit.opened(redis, FLOOR.replace(f"{kind}100", f"{kind}137"))
    assert await pit.meter(BONUS) == 10_000 * 137 * CENT
    reply = await pit.wagers({1: BONUS, 2: f"{BONUS} {DEALER_BONUS}"})
    assert reply.status == "accepted"
    assert await pit.meter(BONUS) == 10_000 * 137 * CENT + 3 * 137 * 2_100
    assert await pit.reserve(BONUS) == 3 * 137 * 800


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


@pytest.mark.reading("turn")
@pytest.mark.section("649a.12(e)(4)")
@pytest.mark.parametrize("order", [("T-1", "T-2"), ("T-2", "T-1")])
async def test_reading_turn_across_tables_is_the_order_in_which_results_are_applied(
    pit: Pit, order: tuple[str, str]
) -> None:
    """Both tables have the royal. The first to be applied wins the meter, the other the reseed."""
    for table in ("T-1", "T-2"):
        await pit.wagers({1: PROGRESSIVE}, table=table)
    paid = [paid_of(await pit.result({1: ROYAL}, table=table), PROGRESSIVE) for table in order]
    assert paid == [[(1, 100_028)], [(1, 100_000)]]
    recorded = await _transfers_to_claims(pit)
    assert [table for _, table in recorded] == list(order)
    assert int(recorded[0][0]) < int(recorded[1][0])
    rows = await pit.claims.waiting()
    assert [row.table for row in rows] == list(order)
    assert [row.order for row in rows] == [entry for entry, _ in recorded]


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
