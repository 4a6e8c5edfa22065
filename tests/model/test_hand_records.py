"""One record for each hand that won: its percentage, fixed amounts and Envy Bonuses."""

import pytest

from tests.model.pit import PROGRESSIVE, RAGS, Pit

ROYAL = "As Ks Qs"
BOTH = "progressive five_card_progressive"

pytestmark = pytest.mark.duty("D16")


async def royal(pit: Pit) -> list[str]:
    """Play a round in which position 2 wins two meters; return its claims in paying order."""
    reply = await pit.round({2: BOTH, 1: BOTH}, {2: ROYAL, 1: RAGS}, community="Js Ts")
    claims = [claim.claim for claim in reply.claims or ()]
    assert len(claims) == 2
    return claims


async def test_all_claims_of_a_hand_have_one_record(pit: Pit) -> None:
    claims = await royal(pit)
    other = await pit.round({3: PROGRESSIVE}, {3: "9s 8s 7s"}, table="T-2", round_id="R2")
    (elsewhere,) = [claim.claim for claim in other.claims or ()]
    for claim in claims:
        rows = await pit.claims.hand(claim)
        assert [row.claim for row in rows] == claims
        assert {row.hand_record for row in rows} == {"pit.T-1-R1-p2"}
        assert [len(row.envy) for row in rows] == [1, 1]
    assert [row.claim for row in await pit.claims.hand(elsewhere)] == [elsewhere]


async def test_a_win_of_another_hand_in_the_round_is_not_in_the_record(pit: Pit) -> None:
    reply = await pit.round({2: PROGRESSIVE, 1: PROGRESSIVE}, {2: ROYAL, 1: "7c 6c 5c"})
    claims = [claim.claim for claim in reply.claims or ()]
    assert len(claims) == 2
    assert [row.claim for row in await pit.claims.hand(claims[1])] == claims[1:]


async def test_an_act_says_the_hand_its_win_and_each_envy_bonus(pit: Pit) -> None:
    first, second = await royal(pit)
    await pit.decide(first, "validate")
    await pit.claims.decide(second, "reject", "fp-1", reason="misread")
    acts = await pit.link_acts.acts("pit", None, 2)
    rejected, validated = acts
    assert validated.told.startswith(
        "round R1, position 2, Mini-royal of spades: Progressive, 100% of the meter, $1,000."
    )
    assert validated.told.endswith("; Envy Bonus of position 1, $100.00")
    assert rejected.told.startswith("round R1, position 2, Royal flush")
    assert rejected.told.endswith("; misread")
    assert {act.hand_record for act in acts} == {"pit.T-1-R1-p2"}
