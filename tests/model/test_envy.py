"""An Envy Bonus is owed until its hand's win is decided, and paid when somebody paid it."""

import asyncio

import pytest
from redis.asyncio import Redis

from meters.floor_api.errors import ActError
from meters.floor_api.types import ClaimRow
from meters.restore.output import waiting_line
from tests.model.pit import CENT, FIVE_CARD, FLOOR, PROGRESSIVE, RAGS, Pit, refused

pytestmark = [pytest.mark.section("649a.11(c)(5)(v)", "649a.12(e)(5)")]

ROYAL = "As Ks Qs"
OTHER_RAGS = "2h 5c 9d"
ENVY = 10_000
"""Cents of an Envy Bonus for the ace, king and queen of spades."""
ROYAL_ENVY = 100_000
"""Cents of a Five-Card Envy Bonus for a royal flush."""


async def _won(pit: Pit) -> ClaimRow:
    """Play a mini-royal of position 3, which brings two Envy Bonuses; return its claim."""
    await pit.round(
        {1: PROGRESSIVE, 3: PROGRESSIVE, 5: PROGRESSIVE}, {1: RAGS, 3: ROYAL, 5: OTHER_RAGS}
    )
    (row,) = await pit.claims.waiting()
    return row


async def _owed(pit: Pit) -> int:
    """Return what is owed for Envy Bonuses in total, in cents; check that the books balance."""
    assert (await pit.audit()).problems == ()
    accounts = await pit.accounts()
    assert sum(accounts.values()) == 0
    return sum(of for name, of in accounts.items() if name.startswith("envy:")) // CENT


async def _paid(pit: Pit) -> tuple[int, int]:
    """Return what patrons were paid and what part of it the tables paid, in cents."""
    snapshot = await pit.store.snapshot()
    paid = snapshot.accounts.get("paid", 0) // CENT
    return paid, snapshot.tallies.get(f"table_paid_cents:{PROGRESSIVE}", 0)


async def test_envy_is_owed_until_it_is_paid_whatever_becomes_of_the_win(pit: Pit) -> None:
    """Nothing is paid while the win is pending. A paid win waits on while its Envy is owed."""
    row = await _won(pit)
    assert (row.envy_state, row.envy_amount) == ("pending", 2 * ENVY)
    assert (await _owed(pit), await _paid(pit)) == (2 * ENVY, (0, 0))
    with refused("wrong_state", "has not been decided yet"):
        await pit.pay_envy(row.claim)
    await pit.pay(row.claim, "S-1")
    (waits,) = await pit.claims.waiting()
    assert (waits.state, waits.envy_state) == ("paid", "validated")
    await pit.pay_envy(row.claim)
    assert await pit.claims.waiting() == []


async def test_validated_envy_is_paid_by_one_act_with_a_name(pit: Pit) -> None:
    row = await _won(pit)
    validated = await pit.decide(row.claim, "validate")
    assert (validated.envy_state, validated.envy_by) == ("validated", "fp-1")
    assert (await _owed(pit), await _paid(pit)) == (2 * ENVY, (0, 0))
    paid = await pit.pay_envy(row.claim, by="Cora")
    assert (paid.envy_state, paid.envy_by, paid.state) == ("paid", "Cora", "validated")
    assert (await _owed(pit), await _paid(pit)) == (0, (2 * ENVY, 2 * ENVY))
    with pytest.raises(ActError, match="already paid by Cora"):
        await pit.pay_envy(row.claim, by="Dan")
    last = (await pit.entries())[-1]
    assert (last["kind"], last["by"]) == ("pay_envy", "Cora")
    assert [one.claim for one in await pit.claims.waiting()] == [row.claim], "it is to be paid"
    await pit.claims.decide(row.claim, "pay", "fp-2", slip="S-1")
    assert await pit.claims.waiting() == []


async def test_who_pays_by_hand_may_confirm_the_envy_in_the_same_act(pit: Pit) -> None:
    row = await _won(pit)
    await pit.decide(row.claim, "validate")
    paid = await pit.claims.decide(row.claim, "pay", "fp-2", slip="S-1", envy_paid=True)
    assert (paid.state, paid.envy_state, paid.envy_by) == ("paid", "paid", "fp-2")
    assert await pit.claims.waiting() == []
    assert await _owed(pit) == 0
    assert await _paid(pit) == (row.amount + 2 * ENVY, 2 * ENVY)


@pytest.mark.parametrize("not_due", [False, True])
async def test_rejection_decides_whether_envy_is_owed_or_rejected(
    pit: Pit, *, not_due: bool
) -> None:
    row = await _won(pit)
    rejected = await pit.claims.decide(
        row.claim, "reject", "amy", reason="fouled", envy_not_due=not_due
    )
    assert rejected.envy_state == ("rejected" if not_due else "validated")
    assert await _paid(pit) == (0, 0)
    if not_due:
        assert (await _owed(pit), await pit.claims.waiting()) == (0, [])
        return
    assert await _owed(pit) == 2 * ENVY
    assert [one.claim for one in await pit.claims.waiting()] == [row.claim]
    await pit.pay_envy(row.claim)
    assert (await _owed(pit), await _paid(pit)) == (0, (2 * ENVY, 2 * ENVY))
    assert await pit.claims.waiting() == []


@pytest.mark.reading("T10")
async def test_envy_for_a_hand_without_a_win_that_waits_is_owed_by_itself(pit: Pit) -> None:
    """The holder made no progressive wager: nobody validates a win, somebody confirms payment."""
    reply = await pit.round(
        {1: PROGRESSIVE, 5: PROGRESSIVE}, {1: RAGS, 3: ROYAL, 5: OTHER_RAGS}
    )  # fmt: skip
    assert list(reply.claims or ()) == [], "the table gets no win: none waits"
    (row,) = await pit.claims.waiting()
    assert (row.claim, row.only_envy, row.state) == ("pit.T-1-2-e3", True, "validated")
    assert (row.position, row.amount, row.envy_amount) == (3, 0, 2 * ENVY)
    assert row.envy_state == "validated"
    assert (await _owed(pit), await _paid(pit)) == (2 * ENVY, (0, 0))
    with refused("wrong_state"):
        await pit.decide(row.claim, "validate")
    paid = await pit.pay_envy(row.claim)
    assert (paid.state, paid.paid_by) == ("paid", "fp-1")
    assert (await _owed(pit), await _paid(pit)) == (0, (2 * ENVY, 2 * ENVY))
    assert await pit.claims.waiting() == []


@pytest.mark.reading("T10")
async def test_envy_of_another_meter_hangs_on_the_first_win_of_its_hand(pit: Pit) -> None:
    """The holder wagered on the progressive alone. Each meter counts its own bonuses."""
    await pit.round(
        {1: FIVE_CARD, 3: PROGRESSIVE}, {1: RAGS, 3: ROYAL}, community="Js Ts"
    )  # fmt: skip
    (row,) = await pit.claims.waiting()
    assert (row.item, [one.item for one in row.envy]) == (PROGRESSIVE, ["five_card_envy"])
    await pit.decide(row.claim, "validate")
    await pit.pay_envy(row.claim)
    tallies = (await pit.store.snapshot()).tallies
    assert tallies[f"table_paid_cents:{FIVE_CARD}"] == row.envy_amount > 0
    assert f"table_paid_cents:{PROGRESSIVE}" not in tallies
    assert await _owed(pit) == 0


@pytest.mark.parametrize(("validate_from", "owed"), [(ENVY, True), (ENVY + 1, False)])
async def test_envy_below_validate_from_for_a_hand_that_nobody_decides_is_only_recorded(
    redis: Redis, validate_from: int, *, owed: bool
) -> None:
    """So is a payout at odds below it. If the hand's win waits, its Envy Bonuses wait too."""
    zone = 'timezone = "America/New_York"\n'
    pit = await Pit.opened(redis, FLOOR.replace(zone, f"{zone}validate_from = {validate_from}\n"))
    await pit.round({1: PROGRESSIVE}, {1: RAGS, 3: ROYAL})
    assert await _owed(pit) == (ENVY if owed else 0)
    assert await _paid(pit) == ((0, 0) if owed else (ENVY, ENVY))
    await pit.round({1: PROGRESSIVE, 3: PROGRESSIVE}, {1: RAGS, 3: ROYAL}, round_id="R2")
    row = next(row for row in await pit.claims.waiting() if not row.only_envy)
    assert (row.envy_state, row.envy_amount) == ("pending", ENVY)


@pytest.mark.reading("T10")
async def test_hand_that_brings_envy_above_and_below_validate_from_owes_the_one_alone(
    redis: Redis,
) -> None:
    """The one that is only recorded comes first in the paying order. The audit finds the same."""
    zone = 'timezone = "America/New_York"\n'
    pit = await Pit.opened(redis, FLOOR.replace(zone, f"{zone}validate_from = {ENVY + 1}\n"))
    both = f"{PROGRESSIVE} {FIVE_CARD}"
    await pit.round(
        {1: both, 5: both}, {1: RAGS, 3: ROYAL, 5: OTHER_RAGS}, community="Js Ts"
    )  # fmt: skip
    (row,) = await pit.claims.waiting()
    assert [one.item for one in row.envy] == ["five_card_envy"] * 2
    assert await _owed(pit) == row.envy_amount == 2 * ROYAL_ENVY
    assert (await _paid(pit))[0] == 2 * ENVY
    await pit.pay_envy(row.claim)
    assert await _owed(pit) == 0
    assert (await _paid(pit))[0] == 2 * (ENVY + ROYAL_ENVY)


async def test_envy_is_paid_once_though_several_confirm_it_together(pit: Pit) -> None:
    row = await _won(pit)
    await pit.decide(row.claim, "validate")
    acts = (
        pit.claims.decide(row.claim, "pay", "fp-2", slip="S-1", envy_paid=True),
        *(pit.pay_envy(row.claim, by=by) for by in ("amy", "ben", "cy")),
    )
    done = await asyncio.gather(*acts, return_exceptions=True)
    assert sum(isinstance(one, ClaimRow) and one.envy_state == "paid" for one in done) >= 1
    codes = {one.code for one in done if isinstance(one, ActError)}
    assert codes <= {"wrong_state", "envy_decided"}
    assert (await pit.store.snapshot()).tallies[f"table_paid_cents:{PROGRESSIVE}"] == 2 * ENVY
    assert await _owed(pit) == 0


async def test_what_nobody_is_owed_cannot_be_paid(pit: Pit) -> None:
    await pit.round({3: PROGRESSIVE}, {3: ROYAL})
    (row,) = await pit.claims.waiting()
    assert row.envy_state is None
    with pytest.raises(ActError, match="no Envy Bonus is owed"):
        await pit.pay_envy(row.claim)
    with refused("unknown_claim"):
        await pit.pay_envy("pit.T-1-9-1")


def _published_since(pit: Pit, since: int) -> list[tuple[str, str, str, int, int]]:
    """Return the Envy Bonuses sent to tables: claim, event, kind, position and amount."""
    return [
        (one.claim, one.event, one.item, one.position, one.amount)
        for one in pit.published[since:]
        if one.item.endswith("_envy")
    ]


@pytest.mark.parametrize(
    ("acts", "event"),
    [
        (["validate"], None),
        (["validate", "pay_envy"], "paid"),
        (["validate", "reject_envy"], "rejected"),
        (["validate", "pay"], "paid"),
        (["reject"], "validated"),
        (["not_due"], "rejected"),
        (["reject", "pay_envy"], "paid"),
    ],
)
async def test_table_receives_what_its_win_does_not_say_of_the_envy(
    pit: Pit, acts: list[str], event: str | None
) -> None:
    """It gets them immediately, and again after a hello. A recorded bonus is not paid again."""
    row = await _won(pit)
    since = len(pit.published)
    for act in acts:
        since = len(pit.published)
        match act:
            case "pay_envy" | "reject_envy":
                await pit.claims.decide_envy(row.claim, act, "fp-1", reason="why")
            case "reject" | "not_due":
                await pit.claims.decide(
                    row.claim, "reject", "fp-1", reason="why", envy_not_due=act == "not_due"
                )
            case "pay":
                await pit.decide(row.claim, "pay")
            case _:
                await pit.decide(row.claim, "validate")
    expected = [
        (f"{row.claim}-envy", event, "progressive_envy", position, ENVY) for position in (5, 1)
    ]
    assert _published_since(pit, since) == (expected if event else [])
    since = len(pit.published)
    await pit.claims.send_again(pit.store.link.id, [row.claim])
    assert _published_since(pit, since) == (expected if event else [])


@pytest.mark.reading("T10")
async def test_envy_that_is_not_due_after_all_goes_back_to_the_house(pit: Pit) -> None:
    """A table that was away receives it, although no win is published: there was none."""
    await pit.round({1: PROGRESSIVE}, {1: RAGS, 3: ROYAL})
    (row,) = await pit.claims.waiting()
    gone = await pit.claims.decide_envy(row.claim, "reject_envy", "amy", reason="entered wrongly")
    assert (gone.state, gone.envy_state, gone.reason) == ("rejected", "rejected", "entered wrongly")
    assert (await _owed(pit), await _paid(pit), await pit.claims.waiting()) == (0, (0, 0), [])
    (state,) = await pit.store.table_states(["T-1"])
    since = len(pit.published)
    await pit.claims.send_again(pit.store.link.id, state.claims)
    assert _published_since(pit, since) == [
        (f"{row.claim}-envy", "rejected", "progressive_envy", 1, ENVY)
    ]
    assert len(pit.published) == since + 1


async def test_restoring_lists_what_is_owed_for_envy(pit: Pit) -> None:
    row = await _won(pit)
    await pit.round({1: PROGRESSIVE}, {1: RAGS, 3: ROYAL}, round_id="R2", table="T-2")
    owed, hand = "Envy Bonuses of ", "owed for the hand"
    lines = [waiting_line(fields) for fields in await pit.store.claims(await pit.store.waiting(9))]
    assert [line.partition(": ")[2] for line in lines] == [
        f"Progressive at table T-1, position 3, ${row.amount / 100:,.2f}, {owed}$200.00 {hand}",
        f"Envy Bonus at table T-2, position 3, {owed}$100.00 {hand}",
    ]


async def test_the_audit_holds_whichever_win_is_decided_first(pit: Pit) -> None:
    """A table receives the wins that were decided last again, in that order."""
    await pit.round({1: PROGRESSIVE, 3: PROGRESSIVE}, {1: "Ah Kh Qh", 3: ROYAL})
    first, second = await pit.claims.waiting()
    for row in (second, first):
        await pit.decide(row.claim, "validate")
        assert (await pit.audit()).problems == ()
