"""The script that adds a promotion to a meter: every status, in the order of precedence."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from meters.process.clock import text_of
from meters.store.link_acts import switch_link
from tests.lua.books import CENT, MAX, METER, SEED, Books

DAY: Final = "2026-12-04"
DIGEST: Final = "d" * 64


class Starting:
    """A promotion that is on: it began a minute ago. Each test changes some of its arguments."""

    def __init__(self, books: Books) -> None:
        self.books = books
        now = datetime.now(UTC)
        self.arguments: dict[str, str | int] = {
            "by": "service",
            "digest": DIGEST,
            "promotion": "friday",
            "day": DAY,
            "starts": text_of(now - timedelta(minutes=1)),
            "ends": text_of(now + timedelta(hours=1)),
            "meter": METER,
            "cents": 500_00,
            "limit": 0,
            "record": '{"promotion":"friday"',
            "now_s": int(time.time()),
            "overflow_to": "",
            "limit_there": 0,
            "raises_bps": 0,
            "ends_late": text_of(now + timedelta(hours=1)),
            "just_from": text_of(now + timedelta(minutes=30)),
            "just_to": text_of(now + timedelta(hours=1)),
        }

    async def add(self, **changed: str | int) -> list[str]:
        store = self.books.store
        arguments = (self.arguments | changed).values()
        keys = [store.keys.approved]
        return await store.call("add_promotion", store.terms.digest, *arguments, keys=keys)

    async def refused(self, **changed: str | int) -> list[str]:
        async with self.books.unchanged():
            return await self.add(**changed)


@pytest.fixture
async def starting(books: Books) -> Starting:
    await books.redis.hset(books.keys.approved, "digest", DIGEST)
    return Starting(books)


@pytest.mark.duty("D6")
async def test_the_house_pays_and_the_ledger_names_it(starting: Starting) -> None:
    books = starting.books
    house, version = (await books.accounts())["house"], await _version(books)
    answer = await starting.add()
    entry = await books.last_entry()
    assert answer == ["done", entry["id"]]
    assert (entry["kind"], entry["by"], entry["event"]) == (
        "promotion", "service", '{"promotion":"friday","amount":50000}',
    )  # fmt: skip
    assert await books.transfers() == [["house", f"meter:{METER}", 500_00 * CENT, 1]]
    accounts, snapshot = await books.accounts(), await books.store.snapshot()
    assert accounts[f"meter:{METER}"] == SEED + 500_00 * CENT
    assert accounts["house"] == house - 500_00 * CENT
    assert snapshot.tallies[f"promotion_cents:{METER}"] == 500_00
    assert snapshot.meters["promotion:friday"] == DAY
    assert await _version(books) == version + 1, "displays show it"


async def _version(books: Books) -> int:
    (meter,) = (one for one in (await books.store.state()).meters if one.meter == METER)
    return meter.version


async def test_a_start_counts_once_and_none_before_it(starting: Starting) -> None:
    answers = await asyncio.gather(*(starting.add() for _ in range(5)))
    assert sorted(answer[0] for answer in answers) == ["done", *["known"] * 4]
    assert await starting.refused() == ["known", DAY]
    assert await starting.refused(day="2026-11-27") == ["known", DAY], "a clock was set back"
    assert await starting.refused(day="2026-12-03", digest="other") == ["known", DAY]
    assert (await starting.add(promotion="saturday"))[0] == "done"
    assert (await starting.add(day="2026-12-05"))[0] == "done"


async def test_what_is_above_the_limit_goes_to_the_overflow(starting: Starting) -> None:
    books, limit = starting.books, SEED + 20_000 * CENT
    assert (await starting.add(limit=limit))[0] == "done"
    assert await books.transfers() == [
        ["house", f"meter:{METER}", 20_000 * CENT, 1],
        ["house", f"overflow:{METER}", 30_000 * CENT, 1],
    ]
    assert (await starting.add(limit=limit, day="2026-12-05"))[0] == "done"
    assert await books.transfers() == [["house", f"overflow:{METER}", 500_00 * CENT, 1]]
    tallies = (await books.store.snapshot()).tallies
    assert tallies[f"overflow_micros:{METER}"] == 80_000 * CENT
    assert tallies[f"promotion_cents:{METER}"] == 1_000_00


async def test_a_closed_link_gets_nothing_until_it_is_open(starting: Starting) -> None:
    store = starting.books.store
    await switch_link(store, "close", "amy", "shift change", b"{}")
    assert await starting.refused() == ["closed"]
    await switch_link(store, "open", "amy", "", b"{}")
    assert (await starting.add())[0] == "done"


async def test_another_floor_file_than_the_approved_one_adds_nothing(starting: Starting) -> None:
    assert await starting.refused(digest="e" * 64) == ["not_approved"]
    await starting.books.redis.delete(starting.books.keys.approved)
    assert await starting.refused() == ["not_approved"]


async def test_nothing_is_added_before_the_start_or_from_the_end_on(starting: Starting) -> None:
    now = datetime.now(UTC)
    past, soon = text_of(now - timedelta(seconds=1)), text_of(now + timedelta(minutes=1))
    assert await starting.refused(starts=soon) == ["not_on"]
    assert await starting.refused(ends=past) == ["not_on"]


@pytest.mark.parametrize("off_s", [-400, 400])
async def test_a_service_with_a_wrong_clock_adds_nothing(starting: Starting, off_s: int) -> None:
    status, off = await starting.refused(now_s=int(time.time()) + off_s)
    assert status == "clock"
    assert abs(int(off) - off_s) < 60


@pytest.mark.parametrize("account", [f"meter:{METER}", f"overflow:{METER}"])
async def test_no_account_becomes_too_large(starting: Starting, account: str) -> None:
    await starting.books.set_accounts({account: MAX - 500_00 * CENT + 1})
    assert await starting.refused() == ["meter_full"]
    await starting.books.set_accounts({account: MAX - 500_00 * CENT, "house": -SEED})
    assert (await starting.add())[0] == "done"


@pytest.mark.duty("D3")
async def test_a_part_of_the_wagers_is_exact_and_added_once(starting: Starting) -> None:
    books, most = starting.books, 10**11
    tallies, field = books.keys.tallies, f"wagered_cents:{METER}"
    part: dict[str, str | int] = {"cents": 0, "raises_bps": 333}
    await books.redis.hset(tallies, field, 1_000)
    assert (await starting.add(**part))[0] == "done"
    assert (await books.last_entry())["event"] == (
        '{"promotion":"friday","amount":0,"count":"begins","wagered_before":1000,"wagered":0,'
        '"added":0}'
    )
    assert await books.transfers() == []
    assert await starting.refused(**part) == ["known", DAY]
    await books.redis.hset(tallies, field, 1_030)
    assert await starting.refused(**part) == ["known", DAY], "less than a cent"
    await books.redis.hset(tallies, field, 1_031)
    answers = await asyncio.gather(*(starting.add(**part) for _ in range(5)))
    assert sorted(answer[0] for answer in answers) == ["done", *["known"] * 4]
    assert await books.transfers() == [["house", f"meter:{METER}", CENT, 1]]
    await books.redis.hset(tallies, field, most)
    due = (most - 1_000) * 333 // 10_000 - 1
    await starting.add(**part)
    assert await books.transfers() == [["house", f"meter:{METER}", due * CENT, 1]]
    await books.redis.hset(tallies, f"voided_cents:{METER}", 5_000)
    assert await starting.refused(**part) == ["known", DAY], "wagers were taken back"
    assert await starting.refused() == ["known", DAY], "a sum instead, on the same day"


async def test_the_last_part_is_added_after_the_end_but_no_start(starting: Starting) -> None:
    books, now = starting.books, datetime.now(UTC)
    over = text_of(now - timedelta(seconds=1))
    part: dict[str, str | int] = {"cents": 0, "raises_bps": 500}
    assert await starting.refused(**part, ends=over) == ["not_on"]
    await starting.add(**part)
    await books.redis.hset(books.keys.tallies, f"wagered_cents:{METER}", 2_000)
    field, at = "promotion:friday", text_of(now - timedelta(minutes=30))
    await books.redis.hset(books.keys.meters, field, f"{DAY} {METER} 0 0 {at} ")
    assert await starting.refused(**part, ends=over, ends_late=over) == ["not_on"]
    assert (await starting.add(**part, ends=over))[0] == "done"
    assert await books.transfers() == [["house", f"meter:{METER}", 100 * CENT, 1]]
    assert '"count":"ends"' in (await books.last_entry())["event"]
    assert await starting.refused(**part, ends=over) == ["known", DAY]
