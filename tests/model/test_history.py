"""Search of wins: the evidence of each, the last of each progressive, and all wins."""

import msgspec
import pytest
from redis.asyncio import Redis

from bonus.display import money
from meters.acts import win_search
from meters.acts.claim_types import ClaimRow, EnvyOwed, Wagered, WinSearch
from tests.model.pit import FIVE_CARD, FLOOR, PROGRESSIVE, RAGS, Pit, refused

ROYAL = "As Ks Qs"
STRAIGHT = "9c 8s 7h"
FLUSH = "Ah Kh Qh"
OTHER_RAGS = "2h 5c 9d"
TAX_FROM = 1_000_021


@pytest.fixture
async def pit(redis: Redis) -> Pit:
    setting = f"[facility]\ntax_documents_from = {TAX_FROM}"
    return await Pit.opened(redis, FLOOR.replace("[facility]", setting))


async def _find(pit: Pit, **asked: object) -> list[ClaimRow]:
    found: list[ClaimRow] = []
    before = None
    while True:
        search = msgspec.convert({**asked, "before": before}, WinSearch)
        page = await pit.claims.wins(search)
        found += page.wins
        if page.next is None:
            return found
        before = page.next


@pytest.mark.duty("D16", proof=True)
async def test_win_has_all_that_a_floorperson_needs_as_evidence(pit: Pit) -> None:
    """Table, position, hand, amount and order (duty D16), and to whom else Envy is owed for it."""
    await pit.round(
        {1: PROGRESSIVE, 3: f"{PROGRESSIVE} {FIVE_CARD}", 5: PROGRESSIVE},
        {1: RAGS, 3: ROYAL, 5: OTHER_RAGS},
        community="Js Ts",
        patrons={1: "p1", 3: "p3"},
    )
    first, second = await pit.claims.waiting()
    assert (first.item, first.turn, first.turns) == (PROGRESSIVE, 1, 2)
    assert (second.item, second.turn, second.turns) == (FIVE_CARD, 2, 2)
    assert (first.table, first.asset, first.position, first.patron) == ("T-1", "104211", 3, "p3")
    assert (first.item_name, first.hand_name) == ("Progressive", "Mini-royal of spades")
    assert (first.meter_name, first.link_name) == ("Progressive", "Three Card Poker Jackpot")
    assert (first.amount, first.meter_after, first.percent) == (100_042, 100_000, 100)
    assert first.envy == (
        EnvyOwed(position=5, patron=None, item="progressive_envy", amount=10_000),
        EnvyOwed(position=1, patron="p1", item="progressive_envy", amount=10_000),
    )
    assert second.envy == (), "nobody else has a Five-Card Progressive"
    assert (
        first.wagers
        == second.wagers
        == (
            Wagered(position=1, patron="p1", wagers={PROGRESSIVE: 100}),
            Wagered(position=3, patron="p3", wagers={PROGRESSIVE: 100, FIVE_CARD: 100}),
            Wagered(position=5, patron=None, wagers={PROGRESSIVE: 100}),
        )
    )
    assert second.amount == TAX_FROM
    assert (first.tax_documents, second.tax_documents) == (False, True)
    assert await pit.claims.find(first.claim) == first


async def test_who_decided_what_and_when_stays_with_the_win(pit: Pit) -> None:
    await pit.round({3: PROGRESSIVE}, {3: ROYAL})
    (row,) = await pit.claims.waiting()
    await pit.claims.decide(row.claim, "validate", "amy")
    with refused("same_person", "another person must pay"):
        await pit.claims.decide(row.claim, "pay", "amy", slip="S-1")
    paid = await pit.claims.decide(row.claim, "pay", "ben", slip="S-1")
    assert (paid.validated_by, paid.paid_by, paid.slip, paid.state) == ("amy", "ben", "S-1", "paid")
    assert paid.validated_at is not None
    assert paid.paid_at is not None
    assert await pit.claims.waiting() == []
    assert await _find(pit) == [paid]


async def _play(pit: Pit, rounds: int) -> None:
    for number in range(rounds):
        table = f"T-{number % 2 + 1}"
        await pit.round(
            {1: PROGRESSIVE, 2: f"{PROGRESSIVE} {FIVE_CARD}"},
            {1: STRAIGHT, 2: FLUSH if number % 3 else RAGS},
            table=table,
            round_id=f"R{number}",
        )


@pytest.mark.duty("D16", proof=True)
async def test_wins_come_latest_first_whatever_the_pages(
    pit: Pit, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _play(pit, 14)
    everything = await _find(pit, limit=200)
    places = [(-int(row.order), row.claim) for row in everything]
    assert places == sorted(places)
    assert len(everything) == len(set(places)) == 14 + 9
    monkeypatch.setattr(win_search, "_PAGE", 3)
    for limit in (1, 2, 7):
        assert await _find(pit, limit=limit) == everything
    monkeypatch.setattr(win_search, "LOOKED_AT_MAX", 5)
    assert await _find(pit, limit=7) == everything, "a page may end before it is full"


async def test_search_finds_rounds_positions_and_amounts(pit: Pit) -> None:
    await _play(pit, 3)
    await pit.round({4: PROGRESSIVE}, {4: ROYAL}, round_id="R99")
    royal = (await _find(pit, limit=200))[0]
    for words in ("round r99", "position 4 r99", money(royal.amount)):
        assert await _find(pit, limit=200, words=words) == [royal]


async def test_search_narrows(pit: Pit) -> None:
    await _play(pit, 6)
    await pit.round({4: PROGRESSIVE}, {4: ROYAL}, round_id="R99", patrons={4: "Mrs Smith"})
    everything = await _find(pit, limit=200)
    latest = everything[0]
    await pit.claims.decide(latest.claim, "reject", "amy", reason="card fouled")

    async def found(**asked: object) -> list[str]:
        return [row.claim for row in await _find(pit, **asked)]

    assert await found(meter_awards=True) == [latest.claim]
    assert await found(words="smith MINI-royal") == [latest.claim]
    assert await found(words="fouled") == [latest.claim]
    assert await found(words="smith straight") == []
    assert await found(state="rejected") == [latest.claim]
    assert await found(table="t-2") == [row.claim for row in everything if row.table == "T-2"]
    assert await found(meter=FIVE_CARD) == []
    assert await found(link="pit", meter=PROGRESSIVE) == [row.claim for row in everything]
    assert await found(since=latest.at) == [row.claim for row in everything if row.at >= latest.at]
    assert await found(until="2001-01-01T00:00:00Z") == []
    assert len((await pit.claims.wins(WinSearch(meter=PROGRESSIVE, limit=5))).wins) == 5


async def test_search_that_cannot_be_is_refused(pit: Pit) -> None:
    for asked, code in (
        ({"link": "other"}, "unknown_link"),
        ({"meter": "gold"}, "unknown_meter"),
        ({"since": "yesterday"}, "bad_value"),
        ({"before": "x"}, "bad_value"),
    ):
        with refused(code):
            await pit.claims.wins(msgspec.convert(asked, WinSearch))
    with refused("unknown_claim", "no claim"):
        await pit.claims.find("T-9-9-9")
