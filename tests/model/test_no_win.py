"""Results with hands that the dealer declared to win nothing: in the books and before people."""

import msgspec
import pytest

from meters.intake.batches import Arrival, LinkIntake
from meters.wire.messages import Reply
from tests.model.pit import COMMUNITY, DEALER, FLOOR, PROGRESSIVE, RAGS, Pit, event_bytes
from tests.model.test_asks import code, confirm, the_ask
from tests.model.test_entered import acts_of_tables

ROYAL = "As Ks Qs"

pytestmark = pytest.mark.duty("D16")


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
    assert (await pit.audit()).problems == ()


async def test_the_win_of_another_hand_is_as_without_it_and_the_claim_names_it(pit: Pit) -> None:
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    reply = await result(pit, [*declared(1), dealt(2, ROYAL)])
    assert [(line.position, line.item) for line in reply.lines or () if line.paid] == [
        (2, "progressive"), (1, "progressive_envy"),
    ]  # fmt: skip
    (row,) = await pit.claims.waiting()
    assert (row.position, row.no_win) == (2, (1,))
    assert (await pit.audit()).problems == ()


BAD: list[tuple[dict[str, object], str, str]] = [
    ({"cards": RAGS.split()}, "no_win_with_cards", "positions[0].no_win"),
    ({"folded": True}, "no_win_folded", "positions[0].no_win"),
    ({"no_win": "yes"}, "bad_field", "positions[0].no_win"),
    ({"no_win": False}, "cards_missing", "positions[0].cards"),
]


@pytest.mark.parametrize(("fields", "expected", "field"), BAD)
async def test_a_declaration_that_cannot_be_is_refused_by_its_place(
    pit: Pit, fields: dict[str, object], expected: str, field: str
) -> None:
    await pit.wagers({1: PROGRESSIVE})
    reply = await result(pit, [declared(1)[0] | fields])
    assert reply.error is not None
    assert (reply.error.code, reply.error.field) == (expected, field)
    assert (await result(pit, declared(1))).status == "accepted"


async def test_a_house_that_requires_all_hands_refuses_it(pit: Pit) -> None:
    strict = Pit(pit.redis, FLOOR.replace("[facility]", "[facility]\nrequire_all_hands = true"))
    await strict.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    reply = await result(strict, [dealt(1, RAGS), *declared(2)])
    assert reply.error is not None
    assert (reply.error.code, reply.error.field) == ("no_win_not_allowed", "positions[1].no_win")


async def test_an_outbox_is_replayed_although_the_house_now_requires_all_hands(pit: Pit) -> None:
    strict = Pit(pit.redis, FLOOR.replace("[facility]", "[facility]\nrequire_all_hands = true"))
    await strict.wagers({1: PROGRESSIVE})
    replays = LinkIntake(strict.store, strict.metrics, replays=True)
    event = event_bytes(
        2, "result", "R1", positions=declared(1), dealer=DEALER.split(),
        community=COMMUNITY.split(),
    )  # fmt: skip
    outcome = await replays.apply_batch([Arrival(strict.known["T-1"], event)])
    assert outcome.changed


async def test_a_declared_hand_that_in_truth_won_is_corrected_before_a_floorperson(
    pit: Pit,
) -> None:
    """The books keep both: the hand was declared to win nothing, and then it won the meter."""
    await pit.wagers({1: PROGRESSIVE})
    before = {"what": "hand", "position": 1, "no_win": True, "taken_back": True}
    fields = {"entered_before": [before], "confirm": True}
    assert code(await result(pit, [dealt(1, ROYAL)], **fields)) == "unconfirmed"
    (cards,) = (await the_ask(pit)).cards
    assert (cards.before, cards.before_no_win, cards.after) == ((), True, tuple(ROYAL.split()))
    await confirm(pit)
    assert code(await result(pit, [dealt(1, ROYAL)], **fields)) == "accepted"
    (act, _) = await acts_of_tables(pit)
    assert act.told == (
        f"round R1: position 1 declared to win nothing, taken back; settled as {ROYAL}"
    )
    assert act.by == "table:T-1, confirmed by Ada"
    assert (await pit.audit()).problems == ()


async def test_a_winning_hand_that_becomes_a_declaration_keeps_its_cards_in_the_books(
    pit: Pit,
) -> None:
    """A dealer cannot take a jackpot from a patron without a trace."""
    await pit.wagers({1: PROGRESSIVE})
    before = {"what": "hand", "position": 1, "cards": ROYAL.split(), "taken_back": True}
    fields = {"entered_before": [before], "confirm": True}
    assert code(await result(pit, declared(1), **fields)) == "unconfirmed"
    (cards,) = (await the_ask(pit)).cards
    assert (cards.before, cards.after, cards.after_no_win) == (tuple(ROYAL.split()), (), True)
    await confirm(pit)
    assert code(await result(pit, declared(1), **fields)) == "accepted"
    (act, _) = await acts_of_tables(pit)
    assert act.told == (
        f"round R1: position 1 {ROYAL}, taken back; settled as declared to win nothing"
    )


async def test_a_void_after_a_declaration_is_an_act(pit: Pit) -> None:
    await pit.wagers({1: PROGRESSIVE})
    entered = [{"what": "hand", "position": 1, "no_win": True}]
    reply = await pit.event("T-1", "void", "R1", reason="misdeal", entered=entered)
    assert reply.status == "accepted"
    (act,) = await acts_of_tables(pit)
    assert act.told == "round R1: misdeal; entered: position 1 declared to win nothing"


@pytest.mark.parametrize(
    "entered",
    [
        {"what": "hand", "position": 1},
        {"what": "dealer", "no_win": True},
        {"what": "hand", "position": 1, "no_win": True, "cards": ["As"]},
    ],
)
async def test_a_report_of_a_declaration_has_no_cards(pit: Pit, entered: object) -> None:
    await pit.wagers({1: PROGRESSIVE})
    reply = await pit.event("T-1", "void", "R1", reason="misdeal", entered=[entered])
    assert code(reply) == "bad_field"


async def test_the_ledger_names_every_declared_hand(pit: Pit) -> None:
    """With the wagers of the round, this is what a floorperson needs to decide a dispute."""
    await pit.wagers({1: PROGRESSIVE})
    await result(pit, declared(1))
    (entry,) = [one for one in await pit.entries() if one["kind"] == "result"]
    assert msgspec.json.decode(entry["event"])["positions"] == declared(1)
