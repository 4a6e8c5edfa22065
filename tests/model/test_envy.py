"""An Envy Bonus is owed until its hand's win is decided, and paid when somebody paid it."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from meters.acts.act_refusals import ActError
from meters.acts.claim_types import ClaimRow
from meters.restore.output import waiting_line
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import envy_text, game_text, tier_rows, wager_text
from tests.model.pit import CENT, FLOOR, PROGRESSIVE, RAGS, Pit, refused

pytestmark = [
    pytest.mark.section("649a.11(c)(5)(v)", "649a.12(e)(5)"),
    pytest.mark.usefixtures("left_sound"),
]

ROYAL = "As Ks Qs"
OTHER_RAGS = "2h 5c 9d"
ENVY = 10_000
"""Cents of an Envy Bonus for the ace, king and queen of spades."""


async def _won(pit: Pit) -> ClaimRow:
    """Play a mini-royal of position 3, which brings two Envy Bonuses; return its claim."""
    await pit.round(
        {1: PROGRESSIVE, 3: PROGRESSIVE, 5: PROGRESSIVE}, {1: RAGS, 3: ROYAL, 5: OTHER_RAGS}
    )
    (row,) = await pit.claims.waiting()
    return row


async def _owed(pit: Pit) -> int:
    """Return what is owed for Envy Bonuses in total, in cents."""
    accounts = await pit.accounts()
    return sum(of for name, of in accounts.items() if name.startswith("envy:")) // CENT


async def _paid(pit: Pit) -> tuple[int, int]:
    """Return what patrons were paid and what part of it the tables paid, in cents."""
    snapshot = await pit.store.snapshot()
    paid = snapshot.accounts.get("paid", 0) // CENT
    return paid, snapshot.tallies.get(f"table_paid_cents:{PROGRESSIVE}", 0)


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


@pytest.mark.reading("T10")
async def test_envy_for_a_hand_without_a_win_that_waits_is_owed_by_itself(pit: Pit) -> None:
    """The holder made no progressive wager: nobody validates a win, somebody confirms payment."""
    reply = await pit.round({1: PROGRESSIVE, 5: PROGRESSIVE}, {1: RAGS, 3: ROYAL, 5: OTHER_RAGS})
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


@pytest.mark.parametrize(("validate_from", "owed"), [(ENVY, True), (ENVY + 1, False)])
async def test_envy_below_validate_from_for_a_hand_that_nobody_decides_is_only_recorded(
    redis: Redis, validate_from: int, *, owed: bool
) -> None:
    """So is a payout at odds below it. If the hand's win waits, its Envy Bonuses wait too."""
    setting = f"[facility]\nvalidate_from = {validate_from}"
    pit = await Pit.opened(redis, FLOOR.replace("[facility]", setting))
    await pit.round({1: PROGRESSIVE}, {1: RAGS, 3: ROYAL})
    assert await _owed(pit) == (ENVY if owed else 0)
    assert await _paid(pit) == ((0, 0) if owed else (ENVY, ENVY))
    await pit.round({1: PROGRESSIVE, 3: PROGRESSIVE}, {1: RAGS, 3: ROYAL}, round_id="R2")
    row = next(row for row in await pit.claims.waiting() if not row.only_envy)
    assert (row.envy_state, row.envy_amount) == ("pending", ENVY)


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


# An Envy Bonus of a wager that feeds tiers depends on the wins of that wager, and of no other.

TIERS = wager_text(
    "tiered", "mega", "minor", rows=tier_rows("mega", "minor"), after=envy_text(royal_flush="$500")
)
FIXED = TIERS.replace('"100% of mega"', '"100% of mega + $1,000"')


@pytest.mark.parametrize("tiers", [TIERS, FIXED], ids=["percentage", "percentage and sum"])
async def test_it_is_decided_with_the_jackpot_of_its_own_wager(
    keeping_redis: Redis, tmp_path: Path, tiers: str
) -> None:
    meters = ["single", "mega", "minor"]
    game = game_text("g", meters, wager_text("plain", "single"), tiers)
    (tmp_path / "g.toml").write_text(game)
    table = table_text("T-1", *meters, game="g", positions=6)
    link = link_text("pit", *map(meter_text, meters), table)
    pit = await Pit.opened(
        keeping_redis, floor_text(link, games=str(tmp_path), two_people_reject_above=10**9)
    )
    placed = [{"position": each, "wagers": {"plain": 100, "tiered": 100}} for each in (1, 2)]
    await pit.event("T-1", "wagers", "R1", positions=placed)
    hands = [{"position": 1, "cards": ["As", "Ks"]}, {"position": 2, "cards": ["4c", "5d"]}]
    await pit.event("T-1", "result", "R1", positions=hands, dealer=[], community=["Qs", "Js", "Ts"])
    items = {row.item: row for row in await pit.claims.waiting()}
    own = "tiered" if "tiered" in items else "mega_jackpot"
    assert {item: bool(row.envy) for item, row in items.items()} == {
        item: item == own for item in items
    }
    await pit.decide(items["plain"].claim, "reject")
    (row,) = [each for each in await pit.claims.waiting() if each.item == own]
    assert row.envy_state == "pending"
    assert (await pit.decide(row.claim, "validate")).envy_state == "validated"
    finding = await pit.audit()
    assert finding.balanced, finding.problems
