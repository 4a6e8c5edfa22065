"""Hands that won, or that the dealer declared to win nothing: in the books and before people."""

import msgspec
import pytest

from meters.wire.messages import Reply
from tests.model.pit import COMMUNITY, DEALER, FLOOR, PROGRESSIVE, RAGS, Pit, code
from tests.model.test_asks import confirm, the_ask
from tests.model.test_entered import acts_of_tables

ROYAL = "As Ks Qs"

pytestmark = [pytest.mark.duty("D16"), pytest.mark.usefixtures("left_sound")]


def declared(*positions: int) -> list[dict[str, object]]:
    return [{"position": position, "no_win": True} for position in positions]


def dealt(position: int, cards: str) -> dict[str, object]:
    return {"position": position, "cards": cards.split(), "folded": False}


async def result(pit: Pit, positions: list[dict[str, object]], **fields: object) -> Reply:
    given: dict[str, object] = {
        "positions": positions, "dealer": DEALER.split(), "community": COMMUNITY.split(),
    } | fields  # fmt: skip
    return await pit.event("T-1", "result", str(given.pop("round_id", "R1")), **given)


async def test_a_round_without_winners_is_settled_without_a_hand(pit: Pit) -> None:
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    held = await pit.accounts()
    reply = await result(pit, declared(1, 2))
    assert reply.status == "accepted"
    assert [(line.position, line.outcome, line.hand, line.paid) for line in reply.lines or ()] == [
        (2, "collected", None, 0), (1, "collected", None, 0),
    ]  # fmt: skip
    assert reply.claims == ()
    assert await pit.accounts() == held, "a lost wager moves no money"
    assert await acts_of_tables(pit) == [], "a usual round is no act"
    # With the wagers of the round, this is what a floorperson needs to decide a dispute.
    assert msgspec.json.decode((await pit.entries())[-1]["event"])["positions"] == declared(1, 2)


async def test_the_win_of_another_hand_is_as_without_it_and_the_claim_names_it(pit: Pit) -> None:
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    reply = await result(pit, [*declared(1), dealt(2, ROYAL)])
    assert [(line.position, line.item) for line in reply.lines or () if line.paid] == [
        (2, "progressive"), (1, "progressive_envy"),
    ]  # fmt: skip
    (row,) = await pit.claims.waiting()
    assert (row.position, row.no_win) == (2, (1,))


async def test_a_declaration_that_cannot_be_is_refused_by_its_place(pit: Pit) -> None:
    await pit.wagers({1: PROGRESSIVE})
    for fields, refusal, field in (
        ({"cards": RAGS.split()}, "no_win_with_cards", "no_win"),
        ({"folded": True}, "no_win_folded", "no_win"),
        ({"no_win": "yes"}, "bad_field", "no_win"),
        ({"no_win": False}, "cards_missing", "cards"),
    ):
        reply = await result(pit, [declared(1)[0] | fields])
        assert reply.error is not None
        assert (reply.error.code, reply.error.field) == (refusal, f"positions[0].{field}")
    assert (await result(pit, declared(1))).status == "accepted"


async def test_a_house_that_requires_all_hands_refuses_it(pit: Pit) -> None:
    """But it accepts it again from an outbox, from before the house required all hands."""
    strict = Pit(pit.redis, FLOOR.replace("[facility]", "[facility]\nrequire_all_hands = true"))
    await strict.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    reply = await result(strict, [dealt(1, RAGS), *declared(2)])
    assert reply.error is not None
    assert (reply.error.code, reply.error.field) == ("no_win_not_allowed", "positions[1].no_win")
    strict.restart(replays=True)
    assert code(await result(strict, declared(1, 2))) == "accepted"


CARDS, HAND = {"cards": ROYAL.split()}, tuple(ROYAL.split())
NOTHING = "declared to win nothing"


@pytest.mark.parametrize(
    ("before", "settled", "shown", "words"),
    [
        ({"no_win": True}, dealt(1, ROYAL), ((), True, HAND, False), (NOTHING, ROYAL)),
        (CARDS, declared(1)[0], (HAND, False, (), True), (ROYAL, NOTHING)),
        (CARDS, dealt(1, RAGS), (HAND, False, tuple(RAGS.split()), False), (ROYAL, RAGS)),
    ],
    ids=["a win that was declared", "a declaration of a win", "other cards"],
)
async def test_what_was_entered_and_what_is_settled_are_both_in_the_books(
    pit: Pit, before: dict[str, object], settled: dict[str, object], shown: object,
    words: tuple[str, str],
) -> None:  # fmt: skip
    """A floorperson confirms it, because a dealer cannot take a jackpot away without a trace."""
    await pit.wagers({1: PROGRESSIVE})
    entered = {"what": "hand", "position": 1, "taken_back": True, "reason": "Misread"} | before
    fields = {"entered_before": [entered], "confirm": True}
    assert code(await result(pit, [settled], **fields)) == "unconfirmed"
    (cards,) = (await the_ask(pit)).cards
    assert (cards.before, cards.before_no_win, cards.after, cards.after_no_win) == shown
    assert (cards.taken_back, cards.reason) == (True, "Misread")
    await confirm(pit)
    assert code(await result(pit, [settled], **fields)) == "accepted"
    (act, _), (was, now) = await acts_of_tables(pit), words
    assert act.told == f"round R1: position 1 {was}, taken back: Misread; settled as {now}"
    assert act.by == "table:T-1, confirmed by Ada"


# One record for each hand that won: its percentage, fixed amounts and Envy Bonuses.

BOTH = "progressive five_card_progressive"


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
