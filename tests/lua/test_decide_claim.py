"""Every status of `decide_claim`, in every state of a claim, and what each decision moves."""

from typing import cast

import pytest

from meters.books.link_state import Act
from meters.books.store import BooksError, TermsError, WrongStateError
from meters.books.win_history import WinIndex
from tests.lua.books import BONUS, CENT, MAX, METER, Books, odds, result, share, take, total, wagers

CLAIM = "T-1-2-1"
ACTS = ("validate", "reject", "pay")


async def _win(books: Books, *, percent: bool = True) -> int:
    """Open a claim: a tenth of the meter, or $70 at odds; return its amount in cents."""
    await books.accept(wagers(1))
    due = share(claim=CLAIM) if percent else odds(7_000, claim=CLAIM)
    (answer,) = await books.accept(result(2, due, takes=[take(10)] if percent else [], basis=1))
    return answer.paid[0].amount_cents


async def _bring_to(
    books: Books, state: str, *, hand_pay: bool = True, percent: bool = True
) -> None:
    acts = {
        "pending": (),
        "validated": ("validate",),
        "rejected": ("reject",),
        "paid": ("validate", "pay"),
    }[state]
    for act in acts:
        await books.decide(CLAIM, cast("Act", act), hand_pay=hand_pay, percent=percent)


@pytest.mark.parametrize("act", ACTS)
async def test_terms_that_are_not_those_opened_come_first(books: Books, act: Act) -> None:
    """They come before both `unknown_claim` and `wrong_state`."""
    await _win(books)
    await books.redis.hset(books.keys.meters, "terms", "altered")
    before = await books.keyspace()
    for claim in (CLAIM, "T-1-9-9"):
        with pytest.raises(TermsError):
            await books.decide(claim, act)
    assert await books.keyspace() == before


@pytest.mark.parametrize("act", ACTS)
async def test_unknown_claim_changes_nothing(books: Books, act: Act) -> None:
    await _win(books)
    before = await books.keyspace()
    with pytest.raises(WrongStateError) as refused:
        await books.decide("T-1-2-2", act)
    assert (refused.value.state, refused.value.by) == ("", "")
    assert await books.keyspace() == before


@pytest.mark.parametrize(
    ("state", "act", "hand_pay"),
    [
        ("pending", "pay", True),
        ("pending", "pay", False),
        ("validated", "validate", True),
        ("validated", "reject", True),
        ("validated", "validate", False),
        ("validated", "reject", False),
        ("validated", "pay", False),
        ("rejected", "validate", True),
        ("rejected", "reject", True),
        ("rejected", "pay", True),
        ("rejected", "validate", False),
        ("rejected", "reject", False),
        ("rejected", "pay", False),
        ("paid", "validate", True),
        ("paid", "reject", True),
        ("paid", "pay", True),
    ],
)
async def test_wrong_state_says_where_the_claim_is_and_changes_nothing(
    books: Books, state: str, act: Act, *, hand_pay: bool
) -> None:
    await _win(books)
    await _bring_to(books, state, hand_pay=hand_pay)
    before = await books.keyspace()
    with pytest.raises(WrongStateError) as refused:
        await books.decide(CLAIM, act, by="another", hand_pay=hand_pay)
    assert refused.value.state == state
    assert refused.value.by == {"pending": "", "paid": "cashier"}.get(state, "floor")
    assert await books.keyspace() == before


@pytest.mark.reading("hand pay")
@pytest.mark.section("649a.11(c)(5)(iv)")
async def test_hand_paid_claim_is_held_until_it_is_paid(books: Books) -> None:
    cents = await _win(books)
    meter_cents = (await books.accounts())[f"meter:{METER}"] // CENT
    decided = await books.decide(CLAIM, "validate", by="fp-1")
    assert (decided.state, decided.amount_cents) == ("validated", cents)
    assert decided.meter_after_cents == meter_cents
    assert (await books.accounts())[f"claim:{CLAIM}"] == cents * CENT
    assert await books.transfers() == []
    assert await books.store.waiting(9) == [CLAIM]
    decided = await books.decide(CLAIM, "pay", by="fp-2")
    assert decided.state == "paid"
    accounts = await books.accounts()
    assert f"claim:{CLAIM}" not in accounts
    assert accounts["paid"] == cents * CENT
    assert await books.transfers() == [[f"claim:{CLAIM}", "paid", cents * CENT, 1]]
    assert await books.store.waiting(9) == []
    (fields,) = await books.store.claims([CLAIM])
    assert (fields["validate_by"], fields["pay_by"], fields["by"]) == ("fp-1", "fp-2", "fp-2")
    tallies = (await books.store.snapshot()).tallies
    assert tallies["hand_paid_cents:progressive"] == cents
    assert "table_paid_cents:progressive" not in tallies


async def test_table_paid_claim_is_paid_when_it_is_validated(books: Books) -> None:
    cents = await _win(books, percent=False)
    decided = await books.decide(CLAIM, "validate", percent=False, hand_pay=False)
    assert decided.state == "validated"
    assert (await books.accounts())["paid"] == cents * CENT
    assert await books.store.waiting(9) == []
    tallies = (await books.store.snapshot()).tallies
    assert tallies["table_paid_cents:progressive"] == cents


@pytest.mark.reading("validation")
async def test_rejected_percentage_goes_back_to_its_meter_as_a_new_entry(books: Books) -> None:
    before = (await books.accounts())[f"meter:{METER}"]
    cents = await _win(books)
    first = (await books.last_entry())["transfers"]
    decided = await books.decide(CLAIM, "reject", by="fp-1")
    assert decided.state == "rejected"
    assert decided.meter_after_cents == (before + 140_000) // CENT
    accounts = await books.accounts()
    assert accounts[f"meter:{METER}"] == before + 140_000
    assert f"claim:{CLAIM}" not in accounts
    assert total(accounts) == 0
    entry = await books.last_entry()
    assert (entry["kind"], entry["by"], entry["round"]) == ("reject", "fp-1", "R1")
    assert await books.transfers() == [[f"claim:{CLAIM}", f"meter:{METER}", cents * CENT, 1]]
    earlier = await books.store.entries(int(entry["id"]) - 2, 1)
    assert earlier[0][1]["transfers"].decode() == first, "what was written stays"
    tallies = (await books.store.snapshot()).tallies
    assert tallies["rejected:progressive"] == 1
    assert tallies["rejected_cents:progressive"] == cents


async def test_rejected_odds_go_back_to_the_house(books: Books) -> None:
    await _win(books, percent=False)
    house = (await books.accounts())["house"]
    await books.decide(CLAIM, "reject", percent=False, hand_pay=False)
    accounts = await books.accounts()
    assert accounts["house"] == house + 7_000 * CENT
    assert f"claim:{CLAIM}" not in accounts


@pytest.mark.duty("D15")
async def test_rejected_whole_meter_goes_onto_the_reseeded_one(books: Books) -> None:
    """The new cycle continues: a meter is never turned back (duty D15)."""
    await books.accept(wagers(1))
    await books.accept(result(2, share(claim=CLAIM), takes=[take(100)], basis=1))
    await books.decide(CLAIM, "reject")
    assert (await books.accounts())[f"meter:{METER}"] == 2 * 100_000 * CENT + 140_000
    assert await books.transfers() == [[f"claim:{CLAIM}", f"meter:{METER}", 100_014 * CENT, 2]]
    assert (await books.store.snapshot()).meters[f"cycle:{METER}"] == "2"


@pytest.mark.parametrize("act", ["validate", "reject"])
async def test_meter_is_pending_until_the_last_of_its_percentages_is_decided(
    books: Books, act: Act
) -> None:
    await books.accept(wagers(1))
    dues = [share(1, claim="T-1-2-1"), share(2, claim="T-1-2-2"), odds(600, claim="T-1-2-3")]
    await books.accept(result(2, *dues, takes=[take(10), take(10)], basis=1))
    seen = [await _pending(books)]
    await books.decide("T-1-2-3", act, percent=False, hand_pay=False)
    seen.append(await _pending(books))
    await books.decide("T-1-2-1", act)
    seen.append(await _pending(books))
    await books.decide("T-1-2-2", act)
    seen.append(await _pending(books))
    assert seen == [True, True, True, False]
    if act == "validate":
        await books.decide("T-1-2-1", "pay")
    meters = (await books.store.snapshot()).meters
    assert meters[f"pending:{METER}"] == "0", "nor does paying take off one more"


async def _pending(books: Books) -> bool:
    return next(
        state.pending for state in (await books.store.state()).meters if state.meter == METER
    )


async def test_version_rises_with_a_percentage_decided_and_not_with_odds(books: Books) -> None:
    await books.accept(wagers(1))
    dues = [share(1, claim="T-1-2-1"), odds(600, claim="T-1-2-2")]
    await books.accept(result(2, *dues, takes=[take(10)], basis=1))
    version = (await books.store.state()).meters[0].version
    await books.decide("T-1-2-2", "validate", percent=False, hand_pay=False)
    assert (await books.store.state()).meters[0].version == version
    await books.decide("T-1-2-1", "validate")
    assert (await books.store.state()).meters[0].version == version + 1


async def test_claim_of_nothing_goes_through_its_life(books: Books) -> None:
    """A meter with a zero balance was won: the claim has no account, and can still be decided."""
    await books.accept(wagers(1))
    await books.set_accounts({f"meter:{BONUS}": 0})
    await books.accept(
        result(
            2,
            share(claim=CLAIM, meter=BONUS),
            takes=[take(100, meter=BONUS, reseed_cents=0)],
            basis=1,
        )
    )
    assert (await books.decide(CLAIM, "validate", meter=BONUS)).amount_cents == 0
    assert (await books.decide(CLAIM, "pay", meter=BONUS)).state == "paid"
    assert await books.transfers() == []


@pytest.mark.duty("D4")
async def test_who_validated_does_not_pay(books: Books) -> None:
    """Duty D4: a win is validated and paid by two people."""
    await _win(books)
    await books.decide(CLAIM, "validate", by="amy")
    before = await books.keyspace()
    with pytest.raises(BooksError) as refused:
        await books.decide(CLAIM, "pay", by="amy")
    assert refused.value.status == "same_person"
    assert await books.keyspace() == before
    assert (await books.decide(CLAIM, "pay", by="ben")).state == "paid"


async def test_rejection_takes_back_the_envy_that_is_not_due(books: Books) -> None:
    """The hand was entered wrongly: what it brought to others goes back to the house."""
    await books.accept(wagers(1))
    dues = [share(1, claim=CLAIM), odds(1_000)]
    await books.accept(result(2, *dues, takes=[take(10)], basis=1))
    before = await books.accounts()
    held = before[f"claim:{CLAIM}"]
    await books.store.decide(
        CLAIM, "reject", "amy", b"{}", table="T-1", round_id="R1", meter=METER, percent=True,
        hand_pay=True, envy_cents=1_000,
    )  # fmt: skip
    after = await books.accounts()
    assert after["paid"] == before["paid"] - 1_000 * CENT == 0
    assert after["house"] == before["house"] + 1_000 * CENT
    assert after[f"meter:{METER}"] == before[f"meter:{METER}"] + held
    assert (await books.store.snapshot()).tallies[f"envy_taken_back_cents:{METER}"] == 1_000


async def test_decision_that_the_books_cannot_hold_changes_nothing(books: Books) -> None:
    await _win(books)
    await books.set_accounts({f"meter:{METER}": MAX - 1})
    before = await books.keyspace()
    with pytest.raises(BooksError, match="books_full"):
        await books.decide(CLAIM, "reject")
    assert await books.keyspace() == before


async def test_wins_are_indexed_by_meter_and_once_more_as_meter_awards(books: Books) -> None:
    """Duty D16: the history has each win by meter."""
    await books.accept(wagers(1))
    dues = [share(1, claim="T-1-2-1"), odds(600, claim="T-1-2-2")]
    await books.accept(result(2, *dues, takes=[take(10)], basis=1))
    index = WinIndex(books.store)
    order = int((await books.last_entry())["id"])
    every = await index.page(METER, None, 10, meter_awards=False)
    assert every == [(order, "T-1-2-2"), (order, "T-1-2-1")]
    assert await index.page(METER, None, 10, meter_awards=True) == [(order, "T-1-2-1")]
    assert await index.page(METER, order, 10, meter_awards=False) == []
    assert await index.page(METER, order + 1, 1, meter_awards=False) == every[:1]
    assert await index.page(BONUS, None, 10, meter_awards=False) == []


@pytest.mark.parametrize("field", ["amount", "state"])
async def test_claim_that_its_account_does_not_match_is_not_decided(
    books: Books, field: str
) -> None:
    """An altered amount is not paid, and a paid claim set back to waiting is not paid twice."""
    await _win(books)
    await _bring_to(books, "validated" if field == "amount" else "paid")
    altered = {"amount": "9999999", "state": "validated"}[field]
    await books.redis.hset(books.keys.claim(CLAIM), field, altered)
    before = await books.keyspace()
    with pytest.raises(BooksError, match="books_differ"):
        await books.decide(CLAIM, "pay")
    assert await books.keyspace() == before


@pytest.mark.duty("D11")
@pytest.mark.parametrize("act", ["validate", "reject"])
async def test_table_is_sent_each_decision_again_however_many_it_won_since(
    books: Books, act: Act
) -> None:
    """A claim that waited long is in its list once it is decided: a table may have been away."""
    await _win(books)
    await books.redis.hset(books.keys.repeated_claims, "T-1", "T-1-8-1 T-1-9-1")
    await books.decide(CLAIM, act)
    (state,) = await books.store.table_states(["T-1"])
    assert state.claims == ("T-1-8-1", "T-1-9-1", CLAIM)
    if act == "validate":
        await books.decide(CLAIM, "pay")
        (state,) = await books.store.table_states(["T-1"])
        assert state.claims == ("T-1-8-1", "T-1-9-1", CLAIM), "and there once"


async def test_table_is_sent_only_the_last_claims_again(books: Books) -> None:
    await _win(books)
    many = [f"T-1-{number}-1" for number in range(10, 74)]
    await books.redis.hset(books.keys.repeated_claims, "T-1", " ".join(many))
    await books.decide(CLAIM, "validate")
    (state,) = await books.store.table_states(["T-1"])
    assert state.claims == (*many[1:], CLAIM)
