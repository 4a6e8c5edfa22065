"""Money that `apply_events` moves where a number by hand says more than the second books do.

The state machine of `tests.model` compares every account and accounting meter after each event.
"""

import pytest

from tests.lua.books import CENT, Books, added, odds, result, share, take, void, wagers


@pytest.mark.reading("void")
async def test_void_of_more_than_the_meter_holds_leaves_it_at_zero(books: Books) -> None:
    await books.accept(wagers(1))
    await books.set_accounts({"meter:progressive": 90_000, "house": 50_000})
    await books.accept(void(2))
    assert await books.transfers() == [
        ["meter:progressive", "table:T-1", 90_000, 1],
        ["house", "table:T-1", 50_000, 1],
    ]


async def test_version_rises_once_a_batch_and_for_changed_meters_only(books: Books) -> None:
    versions = [state.version for state in (await books.store.state()).meters]
    await books.apply(*(wagers(1, table=f"T-{number}") for number in range(1, 6)))
    raised = [state.version for state in (await books.store.state()).meters]
    assert raised == [versions[0] + 1, versions[1]]
    await books.apply(wagers(1, table="T-1"), void(9, table="T-2"))
    assert [state.version for state in (await books.store.state()).meters] == raised


async def test_equal_wagers_of_a_batch_change_what_they_change_one_by_one(books: Books) -> None:
    """A meter reaches its limit, and begins a new cycle, between wagers of the same amounts."""
    limit = 100_000 * CENT + 300_000
    raising = added(140_000, 20_000, limit=limit)
    won = result(2, share(), takes=[take(100, reseed_cents=50_000, limit=limit)], basis=1)
    steps = [wagers(1, raising, table=f"T-{number}") for number in range(1, 6)]
    steps += [won, *(wagers(1, raising, table=f"T-{number}") for number in range(6, 9))]
    _, tallies = await books.apply_both_ways(steps)
    assert tallies["overflow_micros:progressive"] == 5 * 140_000 - 300_000


async def test_reply_has_each_amount_in_its_place_whatever_its_length(books: Books) -> None:
    await books.accept(wagers(1))
    held_cents = 123_456_789_012
    await books.set_accounts(
        {"meter:progressive": held_cents * CENT, "house": 140_000 - held_cents * CENT}
    )
    (answer,) = await books.accept(
        result(
            2,
            share(1, claim="T-1-2-1"),
            odds(999_999_999_999 // 7),
            odds(1),
            takes=[take(100)],
            basis=1,
            reply=['{"first":', 1, ',"again":', 1, ',"third":', 3, ',"second":', 2, "}"],
        )
    )
    assert answer.text == (
        '{"first":123456789012,"again":123456789012,"third":1,"second":142857142857}'
    )
    assert (await books.last_entry())["reply"] == answer.text
    assert (await books.store.claims(["T-1-2-1"]))[0]["amount"] == "123456789012"


async def test_claims_of_the_last_results_are_kept_to_be_sent_again(books: Books) -> None:
    """A table may have missed the decision of a win some rounds ago. The oldest are dropped."""
    opened = []
    for number in range(68):
        seq, name = 2 * number + 1, f"R{number}"
        claim = f"T-1-{seq + 1}-1"
        won = result(seq + 1, odds(600, claim=claim), basis=seq, round_id=name)
        await books.accept(wagers(seq, round_id=name), won)
        opened.append(claim)
    (state,) = await books.store.table_states(["T-1"])
    assert state.claims == tuple(opened[-64:])
