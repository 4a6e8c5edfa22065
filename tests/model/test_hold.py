"""The books refuse wagers of a table until the documents of its hand pays are done."""

import pytest

from tests.model.pit import PROGRESSIVE, Pit, code, refused

pytestmark = [
    pytest.mark.section(
        "649a.11(c)(5)(iv)", "649a.11(c)(7)(iv)", "649a.11(c)(8)(iii)", "649a.11(c)(9)(iv)"
    ),
    pytest.mark.usefixtures("left_sound"),
]


async def test_a_table_with_an_unpaid_hand_pay_has_its_wagers_refused(pit: Pit) -> None:
    """A validated hand pay is still unpaid. The refusal uses up its seq and names the win."""
    reply = await pit.round({1: PROGRESSIVE}, {1: "As Ks Qs"})
    (claim,) = [one.claim for one in reply.claims or ()]
    before = (await pit.store.snapshot(), await pit.entries())
    answer = await pit.wagers({2: PROGRESSIVE}, round_id="R2")
    assert code(answer) == "held"
    assert answer.error is not None
    assert claim in answer.error.message
    (named,) = answer.claims or ()
    assert (named.claim, named.position, named.item) == (claim, 1, PROGRESSIVE)
    (row,) = await pit.claims.waiting()
    assert named.amount == row.amount
    assert (await pit.store.snapshot(), await pit.entries()) == before

    assert code(await pit.wagers({1: PROGRESSIVE}, table="T-2")) == "accepted"
    await pit.decide(claim, "validate", by="fp-1")
    assert code(await pit.wagers({2: PROGRESSIVE}, round_id="R2")) == "held"
    with refused("same_person"):
        await pit.decide(claim, "pay", by="fp-1")
    assert code(await pit.wagers({2: PROGRESSIVE}, round_id="R2")) == "held"
    await pit.decide(claim, "pay")
    assert code(await pit.wagers({2: PROGRESSIVE}, round_id="R2")) == "accepted"
