"""The readings on hand pay and validation, applied by the service."""

import pytest
from redis.asyncio import Redis

from meters.books.link_state import Act
from meters.floor_api.errors import ActError
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
    paid_of,
    refused,
)

ROYAL = "As Ks Qs"
JACK_TEN = "Js Ts"
PLAIN = "2c 7d 9h"


@pytest.mark.reading("hand pay")
@pytest.mark.section(
    "649a.11(c)(5)(iv)", "649a.11(c)(7)(iv)", "649a.11(c)(8)(iii)", "649a.11(c)(9)(iv)"
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
@pytest.mark.section("649a.11(c)(5)(iii)", "649a.11(c)(9)(iii)")
async def test_reading_validation_every_progressive_win_waits_for_a_floorperson(pit: Pit) -> None:
    reply = await pit.round({1: PROGRESSIVE}, {1: "4h 5s 6d"})
    (claim,) = reply.claims or ()
    assert (claim.item, claim.amount) == (PROGRESSIVE, 600)
    accounts = await pit.accounts()
    assert accounts[f"claim:{claim.claim}"] == 600 * CENT
    assert accounts.get("paid", 0) == 0
    (row,) = await pit.claims.waiting()
    assert (row.claim, row.state, row.table, row.asset) == (claim.claim, "pending", "T-1", "104211")
    assert (row.cards, row.hand, row.round) == (("4h", "5s", "6d"), "straight", "R1")
    assert [(jackpot.event, jackpot.amount) for jackpot in pit.published] == [("hit", 600)]


@pytest.mark.reading("validation")
@pytest.mark.section("649a.11(c)(8)(ii)")
@pytest.mark.parametrize(
    ("hand", "community", "waits"),
    [
        pytest.param("2s 5s 8s", JACK_TEN, False, id="50 for 1"),
        pytest.param("Jd Jh Tc", JACK_TEN, False, id="100 for 1"),
        pytest.param("Jd Jh Jc", JACK_TEN, True, id="500 for 1"),
        pytest.param("9s 8s 7s", JACK_TEN, True, id="10% of the meter"),
    ],
)
async def test_reading_validation_of_a_hand_bonus_is_for_500_for_1_and_percentages(
    pit: Pit, hand: str, community: str, *, waits: bool
) -> None:
    reply = await pit.round({1: BONUS}, {1: hand}, community=community, dealer=PLAIN)
    assert bool(reply.claims) == waits
    ((_, cents),) = paid_of(reply, BONUS)
    assert (await pit.accounts()).get("paid", 0) == (0 if waits else cents * CENT)


@pytest.mark.reading("validation")
@pytest.mark.parametrize(
    ("validate_from", "waits"), [(0, True), (600, True), (601, False), (100_000_000, False)]
)
async def test_reading_validation_odds_below_validate_from_are_only_recorded(
    redis: Redis, validate_from: int, *, waits: bool
) -> None:
    """A percentage waits whatever the floor file says. Rejected odds go back to the house."""
    timezone = 'timezone = "America/New_York"\n'
    pit = await Pit.opened(
        redis, FLOOR.replace(timezone, f"{timezone}validate_from = {validate_from}\n")
    )
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


@pytest.mark.duty("D8")
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


@pytest.mark.reading("validation")
async def test_reading_validation_rejected_percentage_goes_back_as_a_new_entry(pit: Pit) -> None:
    await pit.round({1: FIVE_CARD}, {1: "9s 8s 7s"}, community=JACK_TEN, dealer=PLAIN)
    before = await pit.entries()
    held = await pit.meter(FIVE_CARD)
    row = await pit.decide("pit.T-1-2-1", "reject", by="fp-7")
    assert (row.state, row.decided_by) == ("rejected", "fp-7")
    assert await pit.meter(FIVE_CARD) == held + 100_002 * CENT
    assert "claim:pit.T-1-2-1" not in await pit.accounts()
    entries = await pit.entries()
    assert entries[:-1] == before, "what was written stays as it was"
    assert (entries[-1]["kind"], entries[-1]["by"]) == ("reject", "fp-7")
    assert pit.published[-1].event == "rejected"
    assert pit.published[-1].meter_after == 1_000_021
    assert (await pit.audit()).balanced


@pytest.mark.reading("validation")
async def test_reading_validation_the_second_is_answered_with_who_was_first(pit: Pit) -> None:
    """Nothing is decided on an inoperable link either."""
    await pit.round({1: PROGRESSIVE}, {1: ROYAL})
    pit.problem = "the books do not hold"
    before = await pit.accounts()
    with refused("link_inoperable", "do not hold"):
        await pit.decide("pit.T-1-2-1", "validate")
    assert await pit.accounts() == before
    pit.problem = None
    await pit.decide("pit.T-1-2-1", "reject", by="fp-1")
    before = await pit.accounts()
    acts: tuple[Act, ...] = ("validate", "reject", "pay")
    for act in acts:
        with refused("wrong_state", "already rejected by fp-1"):
            await pit.decide("pit.T-1-2-1", act, by="fp-2")
    assert await pit.accounts() == before


async def test_claim_that_was_decided_last_is_reported_again_longest(pit: Pit) -> None:
    """A table that was away gets it, even if 63 of its claims were decided after that one."""
    await pit.round({3: PROGRESSIVE}, {3: "As Ks Qs"})
    (row,) = await pit.claims.waiting()
    others = [f"pit.T-1-{number}-1" for number in range(1_000, 1_063)]
    repeated = " ".join([row.claim, *others])
    await pit.redis.hset(pit.store.keys.repeated_claims, "T-1", repeated)
    await pit.decide(row.claim, "validate")
    (state,) = await pit.store.table_states(["T-1"])
    assert [*state.claims] == [*others, row.claim]
