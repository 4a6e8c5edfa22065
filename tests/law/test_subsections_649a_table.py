"""Chapter 649a by subsection: the parts that the table and the meter service carry out."""

from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis

from tests.controllers.floors import HandTable
from tests.model.pit import Pit
from tests.servers import RedisServer


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with RedisServer(options={"appendonly": "no"}) as server:
        yield server


@pytest.fixture
async def pit(server: RedisServer) -> AsyncIterator[Pit]:
    client = Redis.from_url(server.url)
    await client.flushall()
    pit = Pit(client)
    await pit.open()
    yield pit
    await client.aclose()


@pytest.mark.section("649a.7(c)", "649a.2(c)(2)", "649a.2(d)")
@pytest.mark.parametrize("wager", ["progressive", "five_card_hand_bonus"])
def test_no_wager_is_made_or_withdrawn_after_no_more_bets(wager: str) -> None:
    for event in (f"wager 2 {wager}", f"withdraw 1 {wager}"):
        before, after = HandTable(), HandTable()
        before.say_all(f"wager 1 {wager}")
        assert before.say_short(event).ok
        after.say_all(f"wager 1 {wager}; lockout")
        assert not after.say_short(event).ok


@pytest.mark.section("649a.11(c)(5)(i)", "649a.11(c)(5)(iii)", "649a.11(c)(7)(i)")
@pytest.mark.section("649a.11(c)(7)(iii)", "649a.11(c)(9)(i)", "649a.11(c)(9)(iii)")
@pytest.mark.parametrize(
    ("wager", "winning", "losing", "dealer", "community"),
    [
        ("progressive", "4h 5s 6d", "4h 5s 7d", "2c 9d Th", "3c 8d"),
        ("five_card_progressive", "4h 4s 6d", "4h 5s 6d", "2c 9d Th", "4c 8d"),
        ("five_of_six_progressive", "4h 5s 6d", "4h 5s 9s", "7c 8d Kh", "2c 2d"),
    ],
)
async def test_a_winning_hand_is_not_paid_before_a_floorperson_validates_it(
    pit: Pit, wager: str, *, winning: str, losing: str, dealer: str, community: str
) -> None:
    lost = await pit.round({1: wager}, {1: losing}, dealer=dealer, community=community)
    assert not lost.claims
    reply = await pit.round(
        {1: wager}, {1: winning}, dealer=dealer, community=community, round_id="R2"
    )
    (claim,) = reply.claims or ()
    assert (await pit.accounts()).get("paid", 0) == 0
    await pit.decide(claim.claim, "validate")
    assert (await pit.accounts())["paid"] == claim.amount * 10_000


@pytest.mark.section("649a.11(c)(8)(i)", "649a.11(c)(8)(ii)")
async def test_of_a_hand_bonus_500_for_1_and_percentages_are_verified(pit: Pit) -> None:
    own = "five_card_hand_bonus"
    hands = {
        "2s 5s 8s": (5_000, False),
        "Jd Jh Th": (10_000, False),
        "Jd Jh Jc": (50_000, True),
        "9s 8s 7s": (None, True),
        "2c 5s 8s": (0, False),
    }
    for number, (hand, (paid_cents, waits)) in enumerate(hands.items()):
        reply = await pit.round(
            {1: own}, {1: hand}, community="Js Ts", dealer="3c 7d 9h", round_id=f"R{number}"
        )
        (line,) = reply.lines or ()
        opened = [claim.amount for claim in reply.claims or ()]
        assert bool(opened) == waits
        assert line.paid == (opened[0] if paid_cents is None else paid_cents)
        for row in await pit.claims.waiting():  # or the books refuse the table's next wagers
            await pit.decide(row.claim, "validate")
            if row.paid_from == "hand_pay":
                await pit.decide(row.claim, "pay")
