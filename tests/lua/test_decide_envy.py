"""Every status of `decide_envy`, in every state of what is owed, and what each decision moves."""

from typing import cast

import pytest

from meters.books.link_state import Act, EnvyAct
from meters.books.store import BooksError, TermsError, WrongStateError
from tests.lua.books import (
    BONUS,
    CENT,
    MAX,
    METER,
    Books,
    envy_due,
    envy_under,
    result,
    share,
    take,
    total,
    wagers,
)

CLAIM = "T-1-2-1"
ALONE = "T-1-2-e3"
OWED = ((METER, 1_000), (BONUS, 250))
"""Amounts owed under either claim, in cents by meter."""
ENVY = 1_250
ACTS: tuple[EnvyAct, ...] = ("pay_envy", "reject_envy")
TALLIES = {"pay_envy": "table_paid_cents", "reject_envy": "envy_taken_back_cents"}


async def _win(books: Books) -> None:
    """Open the claim of a tenth of the meter, with the Envy Bonuses that its hand brings."""
    await books.accept(wagers(1))
    dues = (
        share(claim=CLAIM),
        envy_due(400, CLAIM),
        envy_due(600, CLAIM),
        envy_due(250, CLAIM, meter=BONUS),
    )
    await books.accept(result(2, *dues, takes=[take(10)], basis=1, envy=[envy_under(CLAIM)]))


async def _alone(books: Books) -> None:
    """Open the claim of Envy Bonuses for a hand without a waiting win."""
    await books.accept(wagers(1))
    dues = (envy_due(1_000, ALONE), envy_due(250, ALONE, meter=BONUS))
    await books.accept(result(2, *dues, basis=1, envy=[envy_under(ALONE, opened=False)]))


async def _state(books: Books, claim: str) -> tuple[str, str]:
    (fields,) = await books.store.claims([claim])
    return fields["state"], fields["envy"]


@pytest.mark.parametrize("act", ACTS)
async def test_terms_that_are_not_those_opened_come_first(books: Books, act: EnvyAct) -> None:
    """They come before both `unknown_claim` and `wrong_state`."""
    await _win(books)
    await books.redis.hset(books.keys.meters, "terms", "altered")
    before = await books.keyspace()
    for claim in (CLAIM, "T-1-9-9"):
        with pytest.raises(TermsError):
            await books.decide_envy(claim, act, *OWED)
    assert await books.keyspace() == before


@pytest.mark.parametrize("act", ACTS)
async def test_unknown_claim_changes_nothing(books: Books, act: EnvyAct) -> None:
    await _win(books)
    before = await books.keyspace()
    with pytest.raises(WrongStateError) as refused:
        await books.decide_envy("T-1-9-9", act, *OWED)
    assert (refused.value.state, refused.value.by) == ("", "")
    assert await books.keyspace() == before


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    ("acts", "state", "by"),
    [
        ((), "pending", ""),
        (("validate", "pay_envy"), "paid", "cora"),
        (("validate", "reject_envy"), "rejected", "cora"),
        (("reject", "pay_envy"), "paid", "cora"),
    ],
    ids=["pending", "paid", "rejected", "paid though the win was rejected"],
)
async def test_wrong_state_says_where_the_envy_is_and_changes_nothing(
    books: Books, acts: tuple[str, ...], state: str, by: str, act: EnvyAct
) -> None:
    await _win(books)
    for one in acts:
        if one.endswith("envy"):
            await books.decide_envy(CLAIM, cast("EnvyAct", one), *OWED, by="cora")
        else:
            await books.decide(CLAIM, cast("Act", one))
    before = await books.keyspace()
    with pytest.raises(WrongStateError) as refused:
        await books.decide_envy(CLAIM, act, *OWED)
    assert (refused.value.state, refused.value.by) == (state, by)
    assert await books.keyspace() == before


@pytest.mark.parametrize("act", ACTS)
async def test_claim_without_envy_has_none_to_decide(books: Books, act: EnvyAct) -> None:
    await books.accept(wagers(1))
    await books.accept(result(2, share(claim=CLAIM), takes=[take(10)], basis=1))
    await books.decide(CLAIM, "validate")
    before = await books.keyspace()
    with pytest.raises(WrongStateError) as refused:
        await books.decide_envy(CLAIM, act)
    assert refused.value.state == ""
    assert await books.keyspace() == before


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("differs", ["account", "owed"])
async def test_envy_that_its_account_does_not_hold_is_not_decided(
    books: Books, act: EnvyAct, differs: str
) -> None:
    """An altered account or an altered record pays nothing."""
    await _win(books)
    await books.decide(CLAIM, "validate")
    owed: tuple[tuple[str, int], ...] = OWED
    if differs == "account":
        await books.set_accounts({f"envy:{CLAIM}": ENVY * CENT - 1})
    else:
        owed = ((METER, 1_000), (BONUS, 251))
    before = await books.keyspace()
    with pytest.raises(BooksError, match="books_differ"):
        await books.decide_envy(CLAIM, act, *owed)
    assert await books.keyspace() == before


@pytest.mark.parametrize(("act", "full"), [("pay_envy", "paid"), ("reject_envy", "house")])
async def test_decision_that_the_books_cannot_hold_changes_nothing(
    books: Books, act: EnvyAct, full: str
) -> None:
    await _win(books)
    await books.decide(CLAIM, "validate")
    await books.set_accounts({full: MAX - ENVY * CENT + 1})
    before = await books.keyspace()
    with pytest.raises(BooksError, match="books_full"):
        await books.decide_envy(CLAIM, act, *OWED)
    assert await books.keyspace() == before
    await books.set_accounts({full: MAX - ENVY * CENT})
    await books.decide_envy(CLAIM, act, *OWED)
    assert (await books.accounts())[full] == MAX


@pytest.mark.section("649a.11(c)(5)(v)")
@pytest.mark.parametrize(
    ("act", "to", "state"), [("pay_envy", "paid", "paid"), ("reject_envy", "house", "rejected")]
)
async def test_envy_leaves_its_account_once_counted_by_meter(
    books: Books, act: EnvyAct, to: str, state: str
) -> None:
    await _win(books)
    await books.decide(CLAIM, "validate")
    before = await books.accounts()
    assert before[f"envy:{CLAIM}"] == ENVY * CENT
    entry = await books.decide_envy(CLAIM, act, *OWED, by="cora")
    written = await books.last_entry()
    assert (written["id"], written["kind"], written["by"]) == (str(entry), act, "cora")
    assert await books.transfers() == [
        [f"envy:{CLAIM}", to, 1_000 * CENT, 1],
        [f"envy:{CLAIM}", to, 250 * CENT, 1],
    ]
    after = await books.accounts()
    assert f"envy:{CLAIM}" not in after
    assert after[to] == before.get(to, 0) + ENVY * CENT
    assert total(after) == 0
    tallies = (await books.store.snapshot()).tallies
    assert tallies[f"{TALLIES[act]}:{METER}"] == 1_000
    assert tallies[f"{TALLIES[act]}:{BONUS}"] == 250
    assert await _state(books, CLAIM) == ("validated", state), "the win itself is as it was"


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    ("acts", "hand_pay", "waits"),
    [
        (("validate",), True, True),
        (("validate", "pay"), True, False),
        (("validate",), False, False),
        (("reject",), True, False),
    ],
    ids=["hand pay unpaid", "hand pay paid", "paid at the table", "rejected"],
)
async def test_claim_waits_on_only_where_its_hand_pay_is_unpaid(
    books: Books, acts: tuple[Act, ...], act: EnvyAct, *, hand_pay: bool, waits: bool
) -> None:
    await _win(books)
    for one in acts:
        await books.decide(CLAIM, one, hand_pay=hand_pay)
    assert await books.store.waiting() == [CLAIM], "its Envy Bonuses are owed"
    await books.decide_envy(CLAIM, act, *OWED, hand_pay=hand_pay)
    assert await books.store.waiting() == ([CLAIM] if waits else [])


@pytest.mark.reading("T10")
@pytest.mark.parametrize(("act", "state"), [("pay_envy", "paid"), ("reject_envy", "rejected")])
async def test_claim_of_nothing_but_envy_is_decided_with_it(
    books: Books, act: EnvyAct, state: str
) -> None:
    await _alone(books)
    assert await _state(books, ALONE) == ("validated", "validated")
    await books.decide_envy(ALONE, act, *OWED, by="cora", only_envy=True, hand_pay=False)
    assert await _state(books, ALONE) == (state, state)
    (fields,) = await books.store.claims([ALONE])
    assert (fields["by"], fields[f"{act}_by"], fields["envy_by"]) == ("cora",) * 3
    assert await books.store.waiting() == []
    assert f"envy:{ALONE}" not in await books.accounts()


async def test_other_envy_of_the_link_stays_owed(books: Books) -> None:
    await books.accept(wagers(1))
    dues = (share(claim=CLAIM), envy_due(1_000, CLAIM), envy_due(1_000, ALONE))
    under = [envy_under(CLAIM), envy_under(ALONE, opened=False)]
    await books.accept(result(2, *dues, takes=[take(10)], basis=1, envy=under))
    await books.decide(CLAIM, "validate")
    await books.decide_envy(CLAIM, "pay_envy", (METER, 1_000))
    accounts = await books.accounts()
    assert accounts[f"envy:{ALONE}"] == accounts["paid"] == 1_000 * CENT
    assert await books.store.waiting() == [CLAIM, ALONE]
