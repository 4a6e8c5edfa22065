"""Amounts near 2^53 micros, Lua's limit for integers, pass every script exactly."""

from fractions import Fraction

import msgspec
import pytest

from meters.ledger.script_steps import Status
from meters.store.script_loader import load_script
from tests.lua.books import CENT, MAX, Books, added, odds, result, share, take, total, wagers
from tests.lua.books import void as void_step
from tests.stored_tables import set_table

NEAR = [0, 1, 2, 3, 9_999, 10_000, 10_001, 139_999]
"""Distance from the largest balance, in micros."""


async def _fill(books: Books, held_micros: int) -> None:
    """Set the progressive meter to a balance, with other tables' wagers as the counterpart."""
    accounts = await books.accounts()
    bonus = accounts["meter:five_card_hand_bonus"] + accounts.get("table:T-1", 0)
    await books.set_accounts(
        {
            "meter:progressive": held_micros,
            "table:T-9": -held_micros,
            "table:T-8": -bonus,
            "house": 0,
        }
    )


async def _play_and_fill(books: Books, held_micros: int) -> None:
    """Do the same with a round open at T-1, whose contribution is negligible."""
    await books.accept(wagers(1, added(1, meter="five_card_hand_bonus")))
    await _fill(books, held_micros)


@pytest.mark.parametrize("below", NEAR)
async def test_balance_takes_what_fits_to_the_micro(books: Books, below: int) -> None:
    await _fill(books, MAX - below - 7)
    (answer,) = await books.accept(wagers(1, added(7)))
    assert answer.status is Status.ACCEPTED
    accounts = await books.accounts()
    assert accounts["meter:progressive"] == MAX - below
    assert total(accounts) == 0
    raw = await books.redis.hget(books.keys.accounts, "meter:progressive")
    assert raw == str(MAX - below).encode()
    assert await books.transfers() == [["table:T-1", "meter:progressive", 7, 1]]


@pytest.mark.reading("G3")
@pytest.mark.reading("T17")
@pytest.mark.parametrize("shares", [1, 3, 7])
@pytest.mark.parametrize("hundredths", [1, 50, 725, 1_000, 1_250, 2_500, 3_333, 9_999, 10_000])
async def test_a_percentage_is_exact_to_the_hundredth_and_rounded_once(
    books: Books, *, hundredths: int, shares: int
) -> None:
    """Numbers in Lua are exact up to 2^53: a product or a quotient above it would round.

    A percentage of whole cents would lose a cent now and then, as 7.25% of $5,000.415 do. What is
    less than a cent a share stays on the meter. Python's integers give the expected value.
    """
    for held in (0, 9_999, 20_000, 12_345_678, 5_000_415_000, *(MAX - below for below in NEAR)):
        await books.redis.flushall()
        await books.store.open("service")
        await _play_and_fill(books, held)
        claims = [f"T-1-2-{number}" for number in range(shares)]
        taken = take(Fraction(hundredths, 100), shares, reseed_cents=0)
        won = result(2, *(share(claim=claim) for claim in claims), takes=[taken], basis=1)
        (answer,) = await books.accept(won)
        cents = held * hundredths // 10_000 // CENT // shares
        left = held - shares * cents * CENT
        accounts = await books.accounts()
        assert {accounts.get(f"claim:{claim}", 0) for claim in claims} == {cents * CENT}
        assert accounts["meter:progressive"] == left
        assert [(due.amount_cents, due.meter_after_cents) for due in answer.paid] == [
            (cents, left // CENT)
        ] * shares
        assert answer.text == f'{{"result":2,"cents":"{f"{cents}|" * shares}"}}'
        cycle = (await books.store.snapshot()).meters["cycle:progressive"]
        assert cycle == ("2" if hundredths == 10_000 else "1")


@pytest.mark.parametrize("hundredths", [(9_000, 1_000), (3_333, 6_667), (725, 1_250)])
async def test_percentages_of_one_hand_are_of_one_balance_to_the_micro(
    books: Books, hundredths: tuple[int, int]
) -> None:
    """Together 100%, they begin the next cycle. Python's integers give the expected values."""
    for held in (0, 9_999, 12_345_678, 5_000_415_000, *(MAX - below for below in NEAR)):
        await books.redis.flushall()
        await books.store.open("service")
        await _play_and_fill(books, held)
        own, other = (Fraction(each, 100) for each in hundredths)
        whole = own + other == 100
        takes = [
            take(own, reseed_cents=0),
            take(other, 3, reseed_cents=0, continues=True, reseeds=whole),
        ]
        dues = [share(1, claim="T-1-2-1"), *(share(2, claim=f"T-1-2-{at}") for at in (2, 3, 4))]
        (answer,) = await books.accept(result(2, *dues, takes=takes, basis=1))
        first = held * hundredths[0] // 10_000 // CENT
        each = held * hundredths[1] // 10_000 // CENT // 3
        assert [due.amount_cents for due in answer.paid] == [first, each, each, each]
        left = held - (first + 3 * each) * CENT
        assert (await books.accounts())["meter:progressive"] == left
        assert {due.meter_after_cents for due in answer.paid} == {left // CENT}
        cycle = (await books.store.snapshot()).meters["cycle:progressive"]
        assert cycle == ("2" if whole else "1")


async def test_a_later_hand_is_paid_from_what_an_earlier_one_left(books: Books) -> None:
    """By hand: 50% and 10% of $100, then 50% of the $40 that are left, and its 10%."""
    await _play_and_fill(books, 10_000 * CENT)
    takes = [take(50), take(10, continues=True), take(50), take(10, continues=True)]
    dues = [share(at, claim=f"T-1-2-{at}") for at in (1, 2, 3, 4)]
    (answer,) = await books.accept(result(2, *dues, takes=takes, basis=1))
    assert [due.amount_cents for due in answer.paid] == [5_000, 1_000, 2_000, 400]
    assert [due.meter_after_cents for due in answer.paid] == [4_000, 4_000, 1_600, 1_600]


async def test_sixteen_digits_stay_text_through_a_claims_life(books: Books) -> None:
    """2^53 - 1 micros are 900,719,925,474 cents and 991 micros."""
    cents = 900_719_925_474
    await _play_and_fill(books, MAX)
    await books.accept(
        result(2, share(claim="T-1-2-1"), takes=[take(100, reseed_cents=0)], basis=1)
    )
    raw = await books.redis.hget(books.keys.accounts, "claim:T-1-2-1")
    assert raw == str(cents * CENT).encode()
    assert len(raw) == 16
    await books.decide("T-1-2-1", "validate")
    decided = await books.decide("T-1-2-1", "pay")
    assert decided.amount_cents == cents
    assert (await books.accounts())["paid"] == cents * CENT
    assert await books.transfers() == [["claim:T-1-2-1", "paid", cents * CENT, 2]]
    tallies = (await books.store.snapshot()).tallies
    assert tallies["hand_paid_cents:progressive"] == cents


async def test_debts_are_as_exact_as_holdings(books: Books) -> None:
    """A table's account and the house's account are below zero by the same amount."""
    held = MAX - 1_000_000
    await books.set_accounts({"table:T-1": -held, "house": -held})
    await books.accept(wagers(1, added(777_777)))
    assert (await books.accounts())["table:T-1"] == -held - 777_777
    await books.accept(void_step(2))
    accounts = await books.accounts()
    assert (accounts["table:T-1"], accounts["house"]) == (-held, -held)
    await books.accept(wagers(3, added(1), round_id="R2"))
    await books.accept(result(4, odds(99), basis=3, round_id="R2"))
    assert (await books.accounts())["house"] == -held - 99 * CENT


async def test_seq_and_entry_numbers_of_sixteen_digits_are_exact(books: Books) -> None:
    seq = MAX - 1
    await set_table(books.store, "T-1", last=seq - 1)
    assert (await books.one(wagers(seq))).status is Status.ACCEPTED
    (state,) = await books.store.table_states(["T-1"])
    assert (state.last_seq, state.basis) == (seq, seq)
    assert (await books.last_entry())["seq"] == str(seq)
    assert (await books.one(wagers(seq))).status is Status.AGAIN
    assert (await books.one(void_step(seq + 1))).status is Status.ACCEPTED


async def test_fullest_reserve_becomes_the_meter_to_the_micro(books: Books) -> None:
    bonus = "five_card_hand_bonus"
    await books.accept(wagers(1, added(1, 1, meter=bonus)))
    reserve = MAX - 1_000_001
    await books.set_accounts({f"reserve:{bonus}": reserve, f"meter:{bonus}": 10_001, "house": 0})
    await books.accept(
        result(
            2,
            share(claim="T-1-2-1", meter=bonus),
            takes=[take(100, meter=bonus, reseed_cents=0, from_reserve=True)],
            basis=1,
        )
    )
    accounts = await books.accounts()
    assert accounts[f"meter:{bonus}"] == reserve + 1
    assert accounts[f"reserve:{bonus}"] == 0
    assert (await books.transfers())[1] == [f"reserve:{bonus}", f"meter:{bonus}", reserve, 2]
    assert str(reserve) in (await books.last_entry())["transfers"]


@pytest.mark.parametrize("sign", [1, -1])
async def test_every_number_that_lua_has_exactly_is_written_with_all_digits(
    books: Books, sign: int
) -> None:
    """The scripts write numbers in the format of integers, which has 64 bits."""
    near = [2**power + step for power in range(54) for step in (-1, 0, 1)]
    tens = [10**power + step for power in range(16) for step in (-1, 0, 1)]
    numbers = [sign * each for each in {*near, *tens} if each <= MAX]
    include = load_script("apply_events").partition("local function count_of")[0]
    script = (
        f"{include}\nlocal written = {{}}\n"
        "for i, one in ipairs(cmsgpack.unpack(ARGV[2])) do written[i] = exact(one) end\n"
        "written[#written + 1] = exact(0 * -1)\nreturn written"
    )
    written = await books.redis.register_script(script)(
        keys=["key"] * 13, args=["", msgspec.msgpack.encode(numbers), 1, 1, 1]
    )
    assert [int(text) for text in written[:-1]] == numbers
    assert written == [str(number).encode() for number in (*numbers, 0)]
