"""Money that `apply_events` moves: increments, percentages, reseeds, voids, claims, replies."""

import itertools
from fractions import Fraction

import msgspec
import pytest

from tests.lua.books import (
    BONUS,
    CENT,
    MAX,
    METER,
    SEED,
    Books,
    added,
    odds,
    result,
    share,
    take,
    total,
    wagers,
)
from tests.lua.books import void as void_step


async def _cycle(books: Books, meter: str = METER) -> str:
    return (await books.store.snapshot()).meters[f"cycle:{meter}"]


@pytest.mark.parametrize("shares", [1, 3])
@pytest.mark.parametrize("hundredths", [1, 50, 725, 1_250, 3_333, 9_999, 10_000])
@pytest.mark.parametrize("held", [MAX - 20 * SEED, 5_000_415_000])
async def test_a_percentage_is_exact_to_the_hundredth_and_rounded_once(
    books: Books, held: int, *, hundredths: int, shares: int
) -> None:
    """Numbers in Lua are exact up to 2^53: a product or a quotient above it would round.

    A percentage of whole cents would lose a cent now and then, as 7.25% of $5,000.415 do.
    """
    await books.accept(
        wagers(1, added(held - SEED)),
        result(
            2, *(share(claim=f"C{number}") for number in range(shares)),
            takes=[take(Fraction(hundredths, 100), shares, reseed_cents=0)], basis=1,
        ),
    )  # fmt: skip
    won = held * hundredths // 10_000 // CENT // shares
    accounts = await books.accounts()
    assert [accounts.get(f"claim:C{number}", 0) for number in range(shares)] == [
        won * CENT
    ] * shares
    assert accounts[f"meter:{METER}"] == held - shares * won * CENT


@pytest.mark.duty("D6")
@pytest.mark.section("649a.12(e)(3)")
@pytest.mark.section("649a.12(i)(4)")
async def test_increments_go_to_meter_and_reserve_with_one_ledger_entry(books: Books) -> None:
    await books.accept(
        wagers(
            1,
            added(280_000, wagers=2, cents=200),
            added(630_000, 240_000, meter=BONUS, wagers=3, cents=300),
        )
    )
    accounts = await books.accounts()
    assert accounts["meter:progressive"] == SEED + 280_000
    assert accounts[f"reserve:{BONUS}"] == 240_000
    assert accounts["table:T-1"] == -(280_000 + 630_000 + 240_000)
    assert total(accounts) == 0
    assert await books.transfers() == [
        ["table:T-1", "meter:progressive", 280_000, 1],
        ["table:T-1", f"meter:{BONUS}", 630_000, 1],
        ["table:T-1", f"reserve:{BONUS}", 240_000, 1],
    ]
    tallies = (await books.store.snapshot()).tallies
    assert tallies[f"wagers:{BONUS}"] == 3
    assert tallies[f"wagered_cents:{BONUS}"] == 300


@pytest.mark.parametrize(
    ("held_micros", "percent", "shares", "share_cents"),
    [
        pytest.param(12_345_678, 100, 1, 1_234, id="100%"),
        pytest.param(12_345_678, 25, 1, 308, id="25%"),
        pytest.param(12_345_678, 10, 1, 123, id="10%"),
        pytest.param(12_345_678, 100, 3, 411, id="100% in three, a cent undivided"),
        pytest.param(12_345_678, 10, 7, 17, id="10% in seven, four cents undivided"),
        pytest.param(9_999, 100, 1, 0, id="less than a cent"),
        pytest.param(0, 100, 1, 0, id="nothing"),
        pytest.param(0, 10, 2, 0, id="a tenth of nothing in two"),
        pytest.param(20_000, 100, 3, 0, id="fewer cents than shares"),
    ],
)
@pytest.mark.reading("G3")
@pytest.mark.reading("T17")
async def test_percentage_is_floored_to_the_cent_and_the_rest_stays(
    books: Books, held_micros: int, percent: int, shares: int, share_cents: int
) -> None:
    await books.accept(wagers(1))
    await books.set_accounts({"meter:progressive": held_micros, "house": 140_000 - held_micros})
    claims = [f"T-1-2-{number}" for number in range(1, shares + 1)]
    (answer,) = await books.accept(
        result(
            2,
            *(share(claim=claim) for claim in claims),
            takes=[take(percent, shares, reseed_cents=77)],
            basis=1,
        )
    )
    assert [due.amount_cents for due in answer.paid] == [share_cents] * shares
    reseed = 77 * CENT if percent == 100 else 0
    left = held_micros - shares * share_cents * CENT + reseed
    accounts = await books.accounts()
    assert accounts["meter:progressive"] == left
    assert {accounts.get(f"claim:{claim}", 0) for claim in claims} == {share_cents * CENT}
    assert {due.meter_after_cents for due in answer.paid} == {left // CENT}
    assert await _cycle(books) == ("2" if percent == 100 else "1")


@pytest.mark.duty("D7")
@pytest.mark.reading("T15")
@pytest.mark.section("649a.12(e)(4)")
async def test_percentages_come_off_one_after_the_other_and_off_the_reseeded_meter(
    books: Books,
) -> None:
    await books.accept(wagers(1))
    (answer,) = await books.accept(
        result(
            2,
            share(1, claim="T-1-2-1"),
            share(2, claim="T-1-2-2"),
            share(3, claim="T-1-2-3"),
            takes=[take(10), take(100), take(10)],
            basis=1,
        )
    )
    # First $1,000.14, then what a tenth left, then a tenth of the reseed with the fraction left on
    # it.
    assert [due.amount_cents for due in answer.paid] == [10_001, 90_013, 10_000]
    assert [due.meter_after_cents for due in answer.paid] == [90_013, 100_000, 90_000]
    assert await books.transfers() == [
        ["meter:progressive", "claim:T-1-2-1", 10_001 * CENT, 1],
        ["meter:progressive", "claim:T-1-2-2", 90_013 * CENT, 1],
        ["house", "meter:progressive", 100_000 * CENT, 2],
        ["meter:progressive", "claim:T-1-2-3", 10_000 * CENT, 2],
    ]
    assert total(await books.accounts()) == 0


@pytest.mark.reading("T21")
@pytest.mark.section("649a.12(i)(4)")
async def test_meter_with_a_reserve_reseeds_from_it_and_the_reserve_starts_again(
    books: Books,
) -> None:
    await books.accept(wagers(1, added(210_000, 80_001, meter=BONUS)))
    house = (await books.accounts())["house"]
    await books.accept(
        result(
            2,
            share(claim="T-1-2-1", meter=BONUS),
            takes=[take(100, meter=BONUS, reseed_cents=0, from_reserve=True)],
            basis=1,
        )
    )
    accounts = await books.accounts()
    assert accounts[f"meter:{BONUS}"] == 80_001
    assert accounts[f"reserve:{BONUS}"] == 0
    assert accounts["house"] == house
    assert (await books.transfers())[1] == [f"reserve:{BONUS}", f"meter:{BONUS}", 80_001, 2]
    assert await _cycle(books, BONUS) == "2"


@pytest.mark.reading("T17")
async def test_dealers_jackpot_is_fixed_when_its_first_player_is_paid(books: Books) -> None:
    """The second share equals the first, although a tenth was taken in between."""
    await books.accept(wagers(1))
    (answer,) = await books.accept(
        result(
            2,
            share(1, claim="T-1-2-1"),
            share(2, claim="T-1-2-2"),
            share(1, claim="T-1-2-3"),
            takes=[take(10, shares=2), take(10)],
            basis=1,
        )
    )
    assert [due.amount_cents for due in answer.paid] == [5_000, 9_001, 5_000]


async def test_odds_are_paid_by_the_house_and_leave_the_meter_alone(books: Books) -> None:
    await books.accept(wagers(1))
    before = await books.accounts()
    await books.accept(result(2, odds(7_000, claim="T-1-2-1"), odds(600), basis=1))
    after = await books.accounts()
    assert after["meter:progressive"] == before["meter:progressive"]
    assert after["house"] == before["house"] - 7_600 * CENT
    assert after["claim:T-1-2-1"] == 7_000 * CENT
    assert after["paid"] == 600 * CENT
    assert total(after) == 0


async def test_claims_wait_by_the_entry_that_opened_them(books: Books) -> None:
    await books.accept(wagers(1))
    (answer,) = await books.accept(
        result(2, share(claim="T-1-2-1"), odds(700, claim="T-1-2-2"), takes=[take(10)], basis=1)
    )
    entry = int((await books.last_entry())["id"])
    assert [due.entry for due in answer.paid] == [entry, entry]
    assert await books.store.waiting(10) == ["T-1-2-1", "T-1-2-2"]
    percent, fixed = await books.store.claims(["T-1-2-1", "T-1-2-2"])
    assert percent["state"] == fixed["state"] == "pending"
    assert (percent["amount"], fixed["amount"]) == ("10001", "700")
    assert (percent["after"], fixed["after"]) == ("90013", "90013")
    meters = (await books.store.snapshot()).meters
    assert meters["pending:progressive"] == "1", "only a percentage marks its meter as pending"


@pytest.mark.duty("D2")
async def test_tallies_count_wins_by_meter_and_in_all(books: Books) -> None:
    await books.accept(wagers(1))
    await books.accept(
        result(2, share(), odds(700), odds(50, meter=BONUS), takes=[take(10)], basis=1)
    )
    tallies = (await books.store.snapshot()).tallies
    assert tallies["wins"] == 3
    assert tallies["won_cents"] == 10_001 + 750
    assert tallies["won_cents:progressive"] == 10_701
    assert tallies[f"wins:{BONUS}"] == 1
    assert tallies["rounds"] == 1


@pytest.mark.reading("T28")
@pytest.mark.section("649a.13")
async def test_void_takes_off_exactly_what_the_round_added(books: Books) -> None:
    before = await books.accounts()
    await books.accept(wagers(1, added(140_000), added(210_000, 80_000, meter=BONUS)), void_step(2))
    after = await books.accounts()
    assert {name: micros for name, micros in after.items() if micros} == {
        name: micros for name, micros in before.items() if micros
    }
    assert await books.transfers() == [
        ["meter:progressive", "table:T-1", 140_000, 1],
        [f"meter:{BONUS}", "table:T-1", 210_000, 1],
        [f"reserve:{BONUS}", "table:T-1", 80_000, 1],
    ]
    tallies = (await books.store.snapshot()).tallies
    assert (tallies["wagers:progressive"], tallies["voided_wagers:progressive"]) == (1, 1)


@pytest.mark.reading("void")
async def test_void_after_a_reseed_is_charged_to_the_house(books: Books) -> None:
    """T-2 wins the whole meter while T-1's round is open: the new cycle is not touched."""
    await books.accept(wagers(1), wagers(1, table="T-2"))
    await books.accept(result(2, share(claim="T-2-2-1"), takes=[take(100)], basis=1, table="T-2"))
    before = await books.accounts()
    await books.accept(void_step(2))
    after = await books.accounts()
    assert after["meter:progressive"] == before["meter:progressive"]
    assert after["house"] == before["house"] - 140_000
    assert after["table:T-1"] == 0
    assert await books.transfers() == [["house", "table:T-1", 140_000, 1]]


@pytest.mark.reading("void")
async def test_void_of_more_than_the_meter_holds_leaves_it_at_zero(
    books: Books,
) -> None:
    await books.accept(wagers(1))
    await books.set_accounts({"meter:progressive": 90_000, "house": 50_000})
    await books.accept(void_step(2))
    accounts = await books.accounts()
    assert accounts["meter:progressive"] == 0
    assert accounts["house"] == 0
    assert await books.transfers() == [
        ["meter:progressive", "table:T-1", 90_000, 1],
        ["house", "table:T-1", 50_000, 1],
    ]


async def test_version_rises_once_a_batch_and_for_changed_meters_only(books: Books) -> None:
    versions = [state.version for state in (await books.store.state()).meters]
    await books.apply(*(wagers(1, table=f"T-{number}") for number in range(1, 6)))
    raised = [state.version for state in (await books.store.state()).meters]
    assert raised == [versions[0] + 1, versions[1]]
    await books.apply(wagers(1, table="T-1"), void_step(9, table="T-2"))
    assert [state.version for state in (await books.store.state()).meters] == raised


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


async def test_ledger_entry_has_actor_time_table_round_event_and_reply(books: Books) -> None:
    await books.accept(wagers(1, round_id="R-77"))
    entry = await books.last_entry()
    assert {name: entry[name] for name in ("kind", "by", "table", "round", "seq")} == {
        "kind": "wagers",
        "by": "table:T-1",
        "table": "T-1",
        "round": "R-77",
        "seq": "1",
    }
    assert entry["event"] == '{"seq":1,"type":"wagers"}'
    assert entry["reply"] == '{"wagers":1}'
    assert entry["at"].startswith("20")


@pytest.mark.duty("D7")
@pytest.mark.section("649a.12(e)(4)")
@pytest.mark.reading("turn")
async def test_entries_are_numbered_without_gaps_in_the_order_applied(books: Books) -> None:
    await books.apply(wagers(1, table="T-2"), wagers(1, table="T-1"))
    await books.apply(void_step(2, table="T-1"), void_step(2, table="T-2"))
    rows = await books.store.entries(0, 100)
    assert [number for number, _ in rows] == list(range(1, 7))
    tables = [fields["table"].decode() for _, fields in rows]
    assert tables == ["", "", "T-2", "T-1", "T-1", "T-2"]
    assert all(
        earlier["at"] <= later["at"] for (_, earlier), (_, later) in itertools.pairwise(rows)
    )


async def test_terms_of_the_open_round_are_kept_until_it_is_over(books: Books) -> None:
    await books.accept(wagers(1))
    (state,) = await books.store.table_states(["T-1"])
    assert (state.last_seq, state.open_round, state.basis) == (1, "R1", 1)
    assert msgspec.json.decode(state.wagers) == {"seq": 1, "type": "wagers"}
    await books.accept(result(2, share(claim="T-1-2-1"), takes=[take(10)], basis=1))
    (state,) = await books.store.table_states(["T-1"])
    assert (state.open_round, state.basis, state.wagers) == (None, 0, b"")
    assert state.claims == ("T-1-2-1",)


async def test_claims_of_the_last_results_are_kept_to_be_sent_again(books: Books) -> None:
    """A table may have missed the decision of a win some rounds ago. The oldest are dropped."""
    opened = []
    for number in range(68):
        seq, name = 2 * number + 1, f"R{number}"
        claim = f"T-1-{seq + 1}-1"
        due = odds(600, claim=claim)
        await books.accept(
            wagers(seq, round_id=name), result(seq + 1, due, basis=seq, round_id=name)
        )
        opened.append(claim)
    await books.accept(wagers(137, round_id="R68"), void_step(138, round_id="R68"))
    (state,) = await books.store.table_states(["T-1"])
    assert state.claims == tuple(opened[-64:])
