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
    RAGS,
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
    pit = Pit(redis, FLOOR.replace(f"{kind}100", f"{kind}137"))
    await pit.open()
    assert await pit.meter(BONUS) == 10_000 * 137 * CENT
    reply = await pit.wagers({1: BONUS, 2: f"{BONUS} {DEALER_BONUS}"})
    assert reply.status == "accepted"
    assert await pit.meter(BONUS) == 10_000 * 137 * CENT + 3 * 137 * 2_100
    assert await pit.reserve(BONUS) == 3 * 137 * 800


@pytest.mark.reading("T14")
async def test_reading_t14_meter_has_this_rounds_increments_those_of_folders_too(pit: Pit) -> None:
    """Three wagers added 42 cents before the royal at position 2 is paid; position 6 folded."""
    reply = await pit.round(
        {6: PROGRESSIVE, 4: PROGRESSIVE, 2: PROGRESSIVE},
        {6: "", 4: RAGS, 2: ROYAL},
        folded=[6],
    )
    assert paid_of(reply, "progressive") == [(2, 100_042)]


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
    pit = Pit(redis, workers=2)
    await pit.open()
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


@pytest.mark.reading("T15")
@pytest.mark.section("649a.12(h)(3)")
async def test_reading_t15_later_player_of_the_round_is_paid_from_the_reseeded_meter(
    pit: Pit,
) -> None:
    """The royal at position 5 wins the meter, the straight flush after it a tenth of the reseed."""
    reply = await pit.round(
        {5: FIVE_CARD, 3: FIVE_CARD},
        {5: ROYAL, 3: BELOW},
        community=JACK_TEN,
        dealer="2c 7d 9c",
    )
    assert paid_of(reply, FIVE_CARD) == [(5, 1_000_042), (3, 100_000)]
    assert await pit.meter(FIVE_CARD) == 900_000 * CENT
    (state,) = [one for one in (await pit.store.state()).meters if one.meter == FIVE_CARD]
    assert (state.cycle, state.pending) == (2, True)


@pytest.mark.reading("T16")
@pytest.mark.section("649a.12(i)(1)")
async def test_reading_t16_hand_bonus_is_paid_from_the_meter_at_the_players_turn(pit: Pit) -> None:
    reply = await pit.round(
        {7: BONUS, 3: BONUS},
        {7: BELOW, 3: ROYAL},
        community=JACK_TEN,
        dealer="2c 7d 9h",
    )
    assert paid_of(reply, BONUS) == [(7, 100_004), (3, 1_000_042 - 100_004)]


@pytest.mark.reading("T17")
@pytest.mark.section("649a.12(i)(2)")
async def test_reading_t17_dealers_jackpot_is_one_share_a_patron_folders_too(pit: Pit) -> None:
    """Ann has two positions and one share, Bob folded, position 1 has no patron: three shares."""
    bets = dict.fromkeys((6, 5, 3, 1), DEALER_BONUS)
    reply = await pit.round(
        bets,
        {6: RAGS, 5: "2d 5h Kc", 3: "3d 6c Kh", 1: "2h 5s Qd"},
        community=JACK_TEN,
        dealer=ROYAL,
        patrons={6: "ann", 5: "ann", 3: "bob"},
        folded=[3],
    )
    held = 1_000_000 * CENT + 4 * 210_000
    share = held // CENT // 3
    assert paid_of(reply, DEALER_BONUS) == [(6, share), (3, share), (1, share)]
    left = held - 3 * share * CENT
    assert left == 10_000, "the cent that cannot be divided"
    assert await pit.meter(BONUS) == left + 4 * 80_000
    amounts = [row.amount for row in await pit.claims.waiting()]
    assert amounts == [share] * 3


@pytest.mark.reading("T21")
@pytest.mark.section("649a.12(i)(4)")
async def test_reading_t21_reserve_is_not_paid_and_becomes_the_new_meter(pit: Pit) -> None:
    for number in range(5):
        await pit.round({1: BONUS}, {1: RAGS}, round_id=f"R{number}")
    (state,) = [one for one in (await pit.store.state()).meters if one.meter == BONUS]
    assert state.amount_cents == 1_000_105, "the 40 cents of the reserve are not shown"
    reply = await pit.round(
        {1: BONUS}, {1: ROYAL}, community=JACK_TEN, dealer="2c 7d 9h", round_id="R9"
    )
    assert paid_of(reply, BONUS) == [(1, 1_000_126)]
    assert await pit.meter(BONUS) == 48 * CENT
    assert await pit.reserve(BONUS) == 0
    await pit.wagers({1: BONUS}, table="T-2")
    assert (await pit.meter(BONUS), await pit.reserve(BONUS)) == (69 * CENT, 8 * CENT)


@pytest.mark.reading("G3")
async def test_reading_g3_fractions_of_a_cent_stay_on_the_meter(redis: Redis) -> None:
    """A wager of 137 cents adds 28.77 cents to its meter."""
    kind = 'kind = "five_card_hand_bonus"\nwager = '
    pit = Pit(redis, FLOOR.replace(f"{kind}100", f"{kind}137"))
    await pit.open()
    reply = await pit.round({1: BONUS}, {1: ROYAL}, community=JACK_TEN, dealer="2c 7d 9h")
    assert paid_of(reply, BONUS) == [(1, 1_370_028)]
    assert await pit.meter(BONUS) == 7_700 + 137 * 800, "0.77 cents stayed, and the reserve came"
