"""A meter's limit: the excess is kept in its overflow, and no cent of it is lost (D3)."""

import pytest

from tests.lua.books import (
    BONUS,
    CENT,
    METER,
    SEED,
    Books,
    added,
    result,
    share,
    take,
    total,
    void,
    wagers,
)

pytestmark = pytest.mark.duty("D3")

LIMIT = SEED + 100
OVER = f"overflow:{METER}"


async def _held(books: Books) -> tuple[int, int]:
    """Return the meter's balance above its seed, and its overflow; in micros."""
    accounts = await books.accounts()
    assert total(accounts) == 0
    return accounts[f"meter:{METER}"] - SEED, accounts.get(OVER, 0)


async def _tally(books: Books, name: str) -> int:
    return (await books.store.snapshot()).tallies.get(f"{name}:{METER}", 0)


@pytest.mark.parametrize(
    ("micros", "risen", "over"),
    [(99, 99, 0), (100, 100, 0), (101, 100, 1), (100_000, 100, 99_900)],
)
async def test_meter_rises_to_its_limit_and_no_further(
    books: Books, micros: int, risen: int, over: int
) -> None:
    await books.accept(wagers(1, added(micros, limit=LIMIT)))
    assert await _held(books) == (risen, over)
    assert await _tally(books, "overflow_micros") == over
    transfers = [["table:T-1", f"meter:{METER}", risen, 1], ["table:T-1", OVER, over, 1]]
    assert await books.transfers() == [one for one in transfers if one[2]]


async def test_meter_at_its_limit_stays_and_its_reserve_still_rises(books: Books) -> None:
    await books.accept(
        wagers(1, added(100, limit=LIMIT)),
        result(2, basis=1),
        wagers(3, added(7, 5, limit=LIMIT), round_id="R2"),
    )
    assert await _held(books) == (100, 7)
    assert (await books.accounts())[f"reserve:{METER}"] == 5


async def test_without_a_limit_nothing_overflows(books: Books) -> None:
    await books.accept(wagers(1, added(10**12)))
    assert await _held(books) == (10**12, 0)


async def test_void_round_takes_back_from_meter_and_overflow_what_it_added_to_each(
    books: Books,
) -> None:
    await books.accept(
        wagers(1, added(60, limit=LIMIT)),
        wagers(1, added(90, limit=LIMIT), table="T-2", round_id="R2"),
        void(2, table="T-2", round_id="R2"),
    )
    assert await _held(books) == (60, 0)
    assert await books.transfers() == [
        [OVER, "table:T-2", 50, 1],
        [f"meter:{METER}", "table:T-2", 40, 1],
    ]


async def test_void_round_takes_the_overflow_first_whichever_round_is_void(books: Books) -> None:
    """Otherwise the meter would fall below its limit, and leave another round's money behind."""
    await books.accept(
        wagers(1, added(60, limit=LIMIT)),
        wagers(1, added(90, limit=LIMIT), table="T-2", round_id="R2"),
        void(2),
    )
    assert await _held(books) == (90, 0)
    await books.accept(void(2, table="T-2", round_id="R2"))
    assert await _held(books) == (0, 0)


async def test_void_round_finds_its_overflow_on_the_meter_that_it_refilled(books: Books) -> None:
    await books.accept(
        wagers(1, added(0, limit=LIMIT)),
        wagers(1, added(CENT, limit=LIMIT), table="T-2", round_id="R2"),
        result(2, share(claim="C"), takes=[take(10, limit=LIMIT)], basis=1),
        void(2, table="T-2", round_id="R2"),
    )
    assert await books.transfers() == [[f"meter:{METER}", "table:T-2", CENT, 1]]


async def test_won_whole_the_meter_has_its_overflow_on_top_of_the_reseed(books: Books) -> None:
    await books.accept(
        wagers(1, added(250, limit=LIMIT)),
        result(2, share(claim="C"), takes=[take(100, limit=LIMIT)], basis=1),
    )
    accounts = await books.accounts()
    assert accounts["claim:C"] == LIMIT // CENT * CENT
    assert accounts[f"meter:{METER}"] == LIMIT, "the fraction, the reseed, and the overflow"
    assert accounts[OVER] == 150 - (LIMIT - SEED - LIMIT % CENT)
    assert total(accounts) == 0


async def test_overflow_stays_while_the_reseeded_meter_has_no_room(books: Books) -> None:
    await books.accept(
        wagers(1, added(250, limit=SEED)),
        result(2, share(claim="C"), takes=[take(100, limit=SEED)], basis=1),
    )
    assert await _held(books) == (0, 250)


async def test_award_refills_the_meter_from_its_overflow_before_the_next_award(
    books: Books,
) -> None:
    """The second winner of the result is paid from the refilled meter, as after a reseed."""
    limit, tenth = SEED + 100 * CENT, (SEED + 100 * CENT) // 10
    await books.accept(
        wagers(1, added(101 * CENT + tenth, limit=limit)),
        result(
            2, share(1, claim="C"), share(2, claim="D"),
            takes=[take(10, limit=limit), take(10, limit=limit)], basis=1,
        ),
    )  # fmt: skip
    assert await books.transfers() == [
        [f"meter:{METER}", "claim:C", tenth, 1],
        [OVER, f"meter:{METER}", tenth, 1],
        [f"meter:{METER}", "claim:D", tenth, 1],
        [OVER, f"meter:{METER}", CENT, 1],
    ]
    assert await _held(books) == (101 * CENT - tenth, 0)


@pytest.mark.reading("T21")
async def test_reserve_that_becomes_the_meter_overflows_too(books: Books) -> None:
    bonus = f"meter:{BONUS}"
    await books.accept(
        wagers(1, added(0, 500, meter=BONUS)),
        result(
            2,
            share(claim="C", meter=BONUS),
            takes=[take(100, meter=BONUS, reseed_cents=0, from_reserve=True, limit=300)],
            basis=1,
        ),
    )
    accounts = await books.accounts()
    assert (accounts[bonus], accounts[f"reserve:{BONUS}"]) == (300, 0)
    assert accounts[f"overflow:{BONUS}"] == 200


async def test_rejected_win_goes_back_to_the_limit_and_the_rest_to_the_overflow(
    books: Books,
) -> None:
    await books.accept(
        wagers(1),
        result(2, share(claim="C"), takes=[take(10)], basis=1),
    )
    held = (await books.accounts())["claim:C"]
    before, _ = await _held(books)
    limit_cents = (SEED + before) // CENT + 1
    await books.decide("C", "reject", limit_cents=limit_cents)
    risen, over = await _held(books)
    assert SEED + risen == limit_cents * CENT
    assert risen - before + over == held


async def test_void_after_the_overflow_went_to_a_new_cycle_is_charged_to_the_house(
    books: Books,
) -> None:
    await books.accept(
        wagers(1, added(250, limit=LIMIT)),
        wagers(1, added(30, limit=LIMIT), table="T-2", round_id="R2"),
        result(2, share(claim="C"), takes=[take(100, limit=LIMIT)], basis=1),
        void(2, table="T-2", round_id="R2"),
    )
    assert await books.transfers() == [["house", "table:T-2", 30, 1]]


@pytest.mark.duty("D2")
async def test_hits_and_what_the_table_pays_are_counted(books: Books) -> None:
    """Duty D2: hits, amounts paid by the system, amounts paid by an attendant."""
    await books.accept(
        wagers(1),
        result(2, share(claim="C"), share(claim="D"), takes=[take(10, 2)], basis=1),
    )
    assert await _tally(books, "hits") == 2
    await books.decide("C", "validate")
    await books.decide("C", "pay")
    assert await _tally(books, "hand_paid_cents") == SEED // CENT // 20
