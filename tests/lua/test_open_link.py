"""Every status of `open_link`, and that it changes nothing but what it opens."""

import asyncio

import msgspec
import pytest
from redis.asyncio import Redis

from meters.floor.floor_file import Link
from meters.ledger.money_terms import LinkTerms, terms_text
from meters.process.clock import now_text
from meters.store.link_store import TermsError
from meters.store.script_loader import load_script
from tests.floor_text import meter_text
from tests.lua.books import (
    BONUS,
    FLOOR,
    METER,
    OTHER_TERMS,
    SEED,
    Books,
    books_floor,
    link_of,
    wagers,
)

ONE_METER = books_floor(meter_text(METER), feeds=(METER,))
SWAPPED = books_floor(meter_text(BONUS), meter_text(METER, paytable="B"))
"""A new meter first, and after it one whose terms differ from those opened."""


async def _answer(redis: Redis, link: Link) -> list[str]:
    books = Books(redis, link)
    opening = [
        text
        for meter in link.meter
        for text in (
            meter.meter_id, terms_text(meter), terms_text(meter),
            str(meter.terms.seed_cents * SEED // 100_000), "", "",
        )
    ]  # fmt: skip
    row = await redis.register_script(load_script("open_link"))(
        keys=list(books.store.fixed_keys),
        args=[now_text(), books.store.terms.digest, "service", *opening],
    )
    return [text.decode() for text in row]


@pytest.mark.section("649a.12(e)(3)")
@pytest.mark.section("649a.12(i)(4)")
async def test_open_seeds_each_meter_once_from_the_house(redis: Redis) -> None:
    books = Books(redis)
    assert await _answer(redis, link_of()) == ["open"]
    snapshot = await books.store.snapshot()
    assert snapshot.accounts == {
        "house": -11 * SEED,
        "meter:progressive": SEED,
        f"meter:{BONUS}": 10 * SEED,
    }
    assert snapshot.last_entry == 2
    assert {snapshot.meters[f"cycle:{meter}"] for meter in (METER, BONUS)} == {"1"}
    assert {snapshot.meters[f"version:{meter}"] for meter in (METER, BONUS)} == {"1"}
    rows = await books.store.entries(0, 10)
    assert [(fields["kind"], fields["by"]) for _, fields in rows] == [(b"seed", b"service")] * 2
    assert msgspec.json.decode(rows[0][1]["transfers"]) == [["house", "meter:progressive", SEED, 1]]
    assert rows[0][1]["event"].decode() == terms_text(link_of().meter[0])


@pytest.mark.duty("D3", proof=True)
def test_terms_have_every_parameter_that_may_not_change() -> None:
    """Duty D12: kind, wager, paytable, seed, reseed and both rates, in cents and basis points."""
    progressive, bonus = (msgspec.json.decode(terms_text(meter)) for meter in link_of().meter)
    assert progressive == {
        "kind": "progressive",
        "wager_cents": 100,
        "paytable": "A",
        "seed_cents": 100_000,
        "reseed_cents": 100_000,
        "primary_bps": 1_400,
        "reserve_bps": 0,
        "magic_card_every": 0,
        "lucky_every": 0,
        "limit_cents": 0,
        "contribution_max_cents": 0,
    }
    assert bonus == {
        "kind": "five_card_hand_bonus",
        "wager_cents": 100,
        "paytable": None,
        "seed_cents": 1_000_000,
        "reseed_cents": 0,
        "primary_bps": 2_100,
        "reserve_bps": 800,
        "magic_card_every": 0,
        "lucky_every": 0,
        "limit_cents": 0,
        "contribution_max_cents": 0,
    }
    assert LinkTerms(link_of()).digest != LinkTerms(link_of(OTHER_TERMS)).digest


async def test_second_open_changes_nothing(books: Books) -> None:
    await books.accept(wagers(1))
    async with books.unchanged():
        assert await _answer(books.redis, link_of()) == ["open"]


async def test_workers_that_open_together_seed_once(redis: Redis) -> None:
    await asyncio.gather(*(Books(redis).store.open(f"worker {number}") for number in range(8)))
    assert (await Books(redis).accounts())["meter:progressive"] == SEED
    assert (await Books(redis).store.snapshot()).last_entry == 2


async def test_meter_that_is_added_is_seeded_and_the_others_are_left_alone(redis: Redis) -> None:
    smaller = Books(redis, link_of(ONE_METER))
    await smaller.store.open("service")
    await smaller.accept(wagers(1))
    assert await _answer(redis, link_of()) == ["open"]
    accounts = await Books(redis).accounts()
    assert accounts["meter:progressive"] == SEED + 140_000
    assert accounts[f"meter:{BONUS}"] == 10 * SEED


FIRST_TERMS = terms_text(link_of().meter[0])
OTHER_ALONE = books_floor(meter_text(METER, paytable="B"), feeds=(METER,))


@pytest.mark.duty("D12", proof=True)
@pytest.mark.parametrize(
    ("lost", "floor", "status"),
    [
        ("", OTHER_TERMS, ["differs", METER, FIRST_TERMS]),
        (f"terms:{METER}", FLOOR, ["lost", METER]),
        ("all terms", FLOOR, ["lost", METER]),
        ("", ONE_METER, ["dropped", BONUS]),
        (f"terms:{BONUS}", OTHER_TERMS, ["differs", METER, FIRST_TERMS]),
        ("", OTHER_ALONE, ["differs", METER, FIRST_TERMS]),
        (f"terms:{METER}", ONE_METER, ["lost", METER]),
    ],
    ids=[
        "differs", "lost", "lost with all terms", "dropped", "differs before lost",
        "differs before dropped", "lost before dropped",
    ],
)  # fmt: skip
async def test_link_that_cannot_be_opened_is_left_as_it_was(
    books: Books, lost: str, floor: str, status: list[str]
) -> None:
    link = link_of(floor)
    if lost == "all terms":
        await books.redis.delete(books.keys.meters)
    elif lost:
        await books.redis.hdel(books.keys.meters, lost)
    async with books.unchanged():
        assert await _answer(books.redis, link) == status
    with pytest.raises(TermsError, match=status[1]):
        await Books(books.redis, link).store.open("service")


async def test_new_meter_next_to_one_that_differs_is_not_seeded(redis: Redis) -> None:
    """Everything is checked before anything is written, even if the new meter comes first."""
    await Books(redis, link_of(ONE_METER)).store.open("service")
    async with Books(redis).unchanged():
        assert (await _answer(redis, link_of(SWAPPED)))[:2] == ["differs", METER]


async def test_state_is_refused_if_the_terms_are_not_those_opened(books: Books) -> None:
    await books.store.state()
    await books.alter_terms()
    with pytest.raises(TermsError):
        await books.store.state()
