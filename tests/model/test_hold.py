"""The books refuse wagers of a table until the documents of its hand pays are done."""

import pytest

from meters.wire.messages import REPLY
from tests.model.pit import (
    BONUS,
    FIVE_CARD,
    FIVE_OF_SIX,
    PROGRESSIVE,
    Pit,
    code,
    event_bytes,
    refused,
)

pytestmark = [
    pytest.mark.section(
        "649a.11(c)(5)(iv)", "649a.11(c)(7)(iv)", "649a.11(c)(8)(iii)", "649a.11(c)(9)(iv)"
    ),
]

ROYAL = "As Ks Qs"
BELOW = "9s 8s 7s"


async def _win(pit: Pit, bets: dict[int, str], hands: dict[int, str]) -> list[str]:
    reply = await pit.round(bets, hands)
    return [claim.claim for claim in reply.claims or ()]


async def test_a_table_with_an_unpaid_hand_pay_has_its_wagers_refused(pit: Pit) -> None:
    """A validated hand pay is still unpaid. The refusal uses up its seq and names the win."""
    (claim,) = await _win(pit, {1: PROGRESSIVE}, {1: ROYAL})
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
    assert (await pit.audit()).problems == ()


async def test_a_rejected_hand_pay_holds_nothing(pit: Pit) -> None:
    (claim,) = await _win(pit, {1: PROGRESSIVE}, {1: ROYAL})
    await pit.decide(claim, "reject")
    assert code(await pit.wagers({1: PROGRESSIVE}, round_id="R2")) == "accepted"


async def test_the_last_of_several_wins_opens_the_table(pit: Pit) -> None:
    """The table pays one of the wins. That one holds nothing, and its decision frees nothing."""
    bets = {1: f"{FIVE_CARD} {FIVE_OF_SIX}", 2: PROGRESSIVE}
    reply = await pit.round(bets, {1: ROYAL, 2: BELOW}, community="Js Ts", dealer="2c 7d 9h")
    by_hand = [claim.claim for claim in reply.claims or () if claim.position == 1]
    (at_table,) = [claim.claim for claim in reply.claims or () if claim.position == 2]
    for claim in by_hand:
        answer = await pit.wagers({1: PROGRESSIVE}, round_id="R2")
        assert code(answer) == "held"
        still = by_hand[by_hand.index(claim) :]
        assert [named.claim for named in answer.claims or ()] == still
        if claim != by_hand[-1]:
            await pit.decide(at_table, "validate") if claim == by_hand[0] else None
        await pit.decide(claim, "validate")
        await pit.decide(claim, "pay")
    assert code(await pit.wagers({1: PROGRESSIVE}, round_id="R2")) == "accepted"


@pytest.mark.parametrize(
    ("wager", "hand"), [(PROGRESSIVE, BELOW), (BONUS, "Jd Jh Jc")], ids=["table", "game account"]
)
async def test_a_win_that_the_table_or_the_game_account_pays_holds_nothing(
    pit: Pit, wager: str, hand: str
) -> None:
    reply = await pit.round({1: wager}, {1: hand}, community="Js Ts")
    (_,) = reply.claims or ()
    assert code(await pit.wagers({1: PROGRESSIVE}, round_id="R2")) == "accepted"


async def test_a_refusal_is_repeated_byte_for_byte_when_the_table_is_open_again(pit: Pit) -> None:
    """A worker that never saw the refusal repeats it too. The next seq is accepted."""
    (claim,) = await _win(pit, {1: PROGRESSIVE}, {1: ROYAL})
    payload = event_bytes(
        3, "wagers", "R2", positions=[{"position": 1, "wagers": {PROGRESSIVE: 100}}]
    )
    first = await pit.send("T-1", payload)
    assert first is not None
    assert code(REPLY.decode(first)) == "held"
    await pit.decide(claim, "validate")
    await pit.decide(claim, "pay")
    pit.restart()
    assert await pit.send("T-1", payload) == first
    pit.seq["T-1"] = 3
    assert code(await pit.wagers({1: PROGRESSIVE}, round_id="R2")) == "accepted"


async def test_what_was_refused_for_another_reason_says_that_reason(pit: Pit) -> None:
    await _win(pit, {1: PROGRESSIVE}, {1: ROYAL})
    assert code(await pit.wagers({1: PROGRESSIVE}, round_id="R1")) == "round_over"
    await pit.link_acts.close(pit.link.id, "sue", "shift change")
    assert code(await pit.wagers({1: PROGRESSIVE}, round_id="R2")) == "link_closed"
