"""Envy Bonuses of releases before the third schema: booked as paid when they were won."""

from collections.abc import AsyncIterator

import msgspec
import pytest
from redis.asyncio import Redis

from meters.books.checkpoint import EMPTY
from meters.books.upgrades import upgrade_link
from meters.floor_api.errors import ActError
from meters.intake.result_steps import ResultWriter
from tests.model.pit import CENT, FIVE_CARD, PROGRESSIVE, RAGS, Pit
from tests.stored_tables import make_earlier

pytestmark = pytest.mark.duty("D11")

ROYAL = "As Ks Qs"
ENVY = 10_000
CLAIM = "pit.T-1-2-1"


@pytest.fixture
async def before(redis: Redis) -> AsyncIterator[Pit]:
    """Yield books of the second schema: a win waits, and its Envy Bonus is booked as paid."""
    pit = Pit(redis)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ResultWriter, "_owe", lambda *_: "")
        await pit.open()
        await pit.round({1: PROGRESSIVE, 3: PROGRESSIVE}, {1: RAGS, 3: ROYAL})
        await pit.round({1: FIVE_CARD}, {1: RAGS, 3: ROYAL}, table="T-2", community="Js Ts")
    assert "envy" not in (await pit.store.claims([CLAIM]))[0]
    await make_earlier(pit.store, 2)
    await upgrade_link(pit.store, "pitlink")
    yield pit
    await pit.check_sound()


async def test_books_of_before_still_audit_and_say_that_their_envy_is_paid(before: Pit) -> None:
    accounts = await before.accounts()
    assert not [name for name in accounts if name.startswith("envy:")]
    (row,) = await before.claims.waiting()
    assert (row.claim, row.envy_state, row.envy_amount) == (CLAIM, "paid", ENVY)
    with pytest.raises(ActError, match="already paid"):
        await before.pay_envy(CLAIM)


@pytest.mark.parametrize("not_due", [False, True])
async def test_rejection_of_a_win_of_before_takes_its_envy_back(
    before: Pit, *, not_due: bool
) -> None:
    paid = (await before.accounts())["paid"]
    row = await before.claims.decide(CLAIM, "reject", "amy", reason="x", envy_not_due=not_due)
    assert row.envy_state == ("rejected" if not_due else "paid")
    assert (await before.accounts())["paid"] == paid - (ENVY * CENT if not_due else 0)
    assert await before.claims.waiting() == []


async def test_win_of_before_is_paid_without_its_envy(before: Pit) -> None:
    paid = (await before.accounts())["paid"]
    await before.decide(CLAIM, "validate")
    with pytest.raises(ActError, match="no longer owed"):
        await before.claims.decide(CLAIM, "pay", "fp-2", slip="S-1", envy_paid=True)
    row = await before.claims.decide(CLAIM, "pay", "fp-2", slip="S-1")
    assert (row.state, row.envy_state) == ("paid", "paid")
    assert (await before.accounts())["paid"] == paid + row.amount * CENT


async def test_books_continue_with_envy_that_is_owed(before: Pit) -> None:
    hands = {1: RAGS, 3: ROYAL}
    await before.round({1: FIVE_CARD}, hands, table="T-2", round_id="R3", community="Js Ts")
    await before.round({1: PROGRESSIVE, 3: PROGRESSIVE}, hands, table="T-2", round_id="R4")
    claim = next(row.claim for row in await before.claims.waiting() if row.table == "T-2"
                 and not row.only_envy)  # fmt: skip
    assert (await before.accounts())[f"envy:{claim}"] == ENVY * CENT
    await before.decide(claim, "validate")
    assert (await before.pay_envy(claim)).envy_state == "paid"


def test_books_at_a_close_without_envy_have_the_text_that_they_had() -> None:
    """The ledger has had its digest since the day was archived."""
    assert b"envy" not in EMPTY.text
    assert msgspec.json.decode(EMPTY.text, type=dict).keys() == {
        "entries", "chain", "seal", "closed_day", "closed", "contributed_micros", "approval",
        "variances", "balances", "cycles", "terms", "rounds", "claims", "tallies",
    }  # fmt: skip
