"""Two people reject a large win, and reopen a rejected win; a wrong slip number is corrected."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from meters.acts.act_refusals import ActError
from meters.acts.claim_types import ClaimRow
from meters.floor.floor_file import parse_floor
from meters.ledger.two_people import PinSetters
from meters.store.floor_file_approval import Configuration
from tests.approving import approve
from tests.floor_text import METERS, ONE_REJECTS, floor_text, link_text, meter_text, table_text
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import BONUS, CENT, FIVE_CARD, FLOOR, PROGRESSIVE, RAGS, STRICT, Pit, refused
from tests.model.tampering import rewrite

pytestmark = pytest.mark.duty("D4")

CLAIM = "pit.T-1-2-1"
ROYAL = "As Ks Qs"
JACK_TEN = "Js Ts"


@pytest.fixture
async def strict(redis: Redis) -> AsyncIterator[Pit]:
    pit = await Pit.opened(redis, STRICT)
    yield pit
    await pit.check_sound()


async def _hand_pay(pit: Pit, *, envy: bool = False) -> ClaimRow:
    bets = {1: PROGRESSIVE, 2: PROGRESSIVE} if envy else {1: PROGRESSIVE}
    await pit.round(bets, {1: ROYAL, 2: RAGS} if envy else {1: ROYAL})
    return await pit.claims.find(CLAIM)


async def _reject(pit: Pit, *, envy_not_due: bool = False) -> ClaimRow:
    row = await pit.claims.reject(CLAIM, "amy", reason="fouled", envy_not_due=envy_not_due)
    assert row.request is not None
    return await pit.claims.confirm(CLAIM, "ben", row.request.entry)


async def _reopen(pit: Pit) -> ClaimRow:
    row = await pit.claims.request_reopening(CLAIM, "amy", reason="the camera shows the hand")
    assert row.request is not None
    return await pit.claims.confirm(CLAIM, "ben", row.request.entry)


async def _pay(pit: Pit) -> ClaimRow:
    await pit.decide(CLAIM, "validate", by="amy")
    return await pit.decide(CLAIM, "pay", by="cal")


async def _refused(pit: Pit, by: str, entry: int, setters: PinSetters | None = None) -> str:
    before = await pit.accounts(), await pit.entries()
    with pytest.raises(ActError) as error:
        await pit.claims.confirm(CLAIM, by, entry, setters or PinSetters())
    assert (await pit.accounts(), await pit.entries()) == before
    return error.value.code


@pytest.mark.duty("D4", proof=True)
async def test_a_hand_pay_is_rejected_only_by_two_people(strict: Pit) -> None:
    row = await _hand_pay(strict)
    assert row.two_people_reject
    with refused("two_people", "one requests the rejection, and another confirms it"):
        await strict.decide(CLAIM, "reject")
    held = await strict.accounts()
    row = await strict.claims.reject(CLAIM, "amy", reason="fouled")
    assert (row.state, row.decided_by) == ("pending", None)
    assert row.request is not None
    assert (row.request.act, row.request.by, row.request.reason) == ("reject", "amy", "fouled")
    assert await strict.accounts() == held
    entry = row.request.entry
    assert await _refused(strict, "amy", entry) == "same_person"
    assert await _refused(strict, "ben", entry - 1) == "no_request"
    assert await _refused(strict, "ben", entry, PinSetters(("amy",), {"amy": "amy"})) == (
        "same_person"
    )
    row = await strict.claims.confirm(CLAIM, "ben", entry)
    assert (row.state, row.decided_by, row.reason, row.request) == (
        "rejected", "ben", "fouled", None,
    )  # fmt: skip
    assert (await strict.entries())[-1]["kind"] == "reject"


async def test_a_request_is_withdrawn_even_after_its_day(redis: Redis, tmp_path: Path) -> None:
    """Whoever saw an earlier request does not withdraw or confirm the present one."""
    kept = await Kept.opened(redis, tmp_path, STRICT)
    pit = kept.pit
    await _hand_pay(pit)
    first = (await pit.claims.reject(CLAIM, "amy", reason="fouled")).request
    assert first is not None
    row = await pit.claims.withdraw_request(CLAIM, "amy", first.entry)
    assert (row.state, row.request) == ("pending", None)
    assert await _refused(pit, "ben", first.entry) == "no_request"
    second = (await pit.claims.reject(CLAIM, "amy", reason="fouled")).request
    assert second is not None
    with refused("no_request", "look at the claim again"):
        await pit.claims.withdraw_request(CLAIM, "amy", first.entry)
    await kept.days.keep(A_DAY)
    row = await pit.claims.withdraw_request(CLAIM, "ben", second.entry)
    assert (row.state, row.request) == ("pending", None)
    last = (await pit.entries())[-1]
    assert (last["kind"], last["by"]) == ("withdraw_request", "ben")
    await pit.check_sound()


@pytest.mark.duty("D4", proof=True)
async def test_one_person_does_not_reopen(strict: Pit) -> None:
    await _hand_pay(strict, envy=True)
    await _reject(strict)
    row = await strict.claims.request_reopening(CLAIM, "cal", reason="wrong box")
    assert row.state == "rejected"
    assert row.request is not None
    assert await _refused(strict, "cal", row.request.entry) == "same_person"
    with pytest.raises(ActError, match="already rejected by ben"):
        await strict.claims.decide(CLAIM, "validate", "cal")
    assert (await strict.claims.confirm(CLAIM, "ben", row.request.entry)).envy_state == "pending"


@pytest.mark.duty("D15", proof=True)
async def test_the_meter_keeps_its_reseed_when_a_win_is_reopened(strict: Pit) -> None:
    """A tenth of the meter was won since: so the meter no longer has all of the amount.

    Rejected again, the house gets back its part and the meter the rest.
    """
    await strict.round({1: FIVE_CARD}, {1: ROYAL}, community=JACK_TEN)
    row = await _reject(strict)
    await strict.round(
        {1: FIVE_CARD}, {1: "9s 8s 7s"}, table="T-2", round_id="R2", community=JACK_TEN
    )
    rejected = await strict.accounts()
    held = await strict.meter(FIVE_CARD)
    await _reopen(strict)
    reseed = next(one.terms.reseed_cents for one in strict.link.meter if one.meter_id == FIVE_CARD)
    assert await strict.meter(FIVE_CARD) == reseed * CENT
    rest = row.amount * CENT - (held - reseed * CENT)
    assert rest > 0
    assert (await strict.accounts())["house"] == rejected["house"] - rest
    await _reject(strict)
    assert await strict.accounts() == rejected


@pytest.mark.duty("D17")
async def test_the_audit_finds_a_win_that_was_reopened_after_the_close(
    redis: Redis, tmp_path: Path
) -> None:
    """Somebody who writes into Redis can set the number of the last reading back."""
    kept = await Kept.opened(redis, tmp_path, STRICT)
    pit = kept.pit
    await _hand_pay(pit)
    await _reject(pit)
    await kept.days.keep(A_DAY)
    await redis.hset(pit.store.keys.meters, "reading", "0")
    await _reopen(pit)
    problems = (await pit.audit()).problems
    reopened = (await pit.entries())[-1]["id"]
    assert any(f"entry {reopened}" in one for one in problems), problems


async def _forged(pit: Pit, kind: bytes, change: dict[bytes, bytes]) -> str:
    """Write the ledger again with other fields in the last entry of a kind; return a problem."""
    last = max(number for number, one in enumerate(await pit.entries()) if
               one["kind"] == kind.decode()) + 1  # fmt: skip
    await rewrite(pit, lambda number, fields: fields | change if number == last else fields)
    problems = (await pit.audit()).problems
    return next((one for one in problems if f"entry {last}:" in one), f"not found in {problems}")


@pytest.mark.duty("D4", proof=True)
@pytest.mark.duty("D17")
@pytest.mark.parametrize("act", ["reject", "reopen"])
async def test_the_audit_finds_one_person_who_rejected_alone(redis: Redis, act: str) -> None:
    """The same holds for one person who reopened a win."""
    pit = await Pit.opened(redis, STRICT)
    await _hand_pay(pit)
    await _reject(pit)
    if act == "reopen":
        await _reopen(pit)
    said = f"one person, amy, made and confirmed the request_{act} of claim pit.T-1-2-1"
    assert said in await _forged(pit, act.encode(), {b"by": b"amy"})


@pytest.mark.duty("D17")
async def test_the_audit_knows_the_amount_of_the_approved_floor_file(
    redis: Redis, tmp_path: Path
) -> None:
    floor = STRICT.replace("[facility]\n", "[facility]\ntwo_people_reject_above = 0\n")
    kept = await Kept.opened(redis, tmp_path, floor)
    await _hand_pay(kept.pit)
    await _reject(kept.pit)
    (entry,) = [one for one in await kept.pit.entries() if one["kind"] == "reject"]
    alone = b'{"claim":"pit.T-1-2-1","act":"reject","by":"ben","reason":"fouled"}'
    assert entry["by"] == "ben"
    assert "ben alone rejected claim" in await _forged(kept.pit, b"reject", {b"event": alone})


OTHER = "pit.T-2-2-1"


async def _paid(pit: Pit) -> None:
    await _hand_pay(pit)
    await pit.pay(CLAIM, "A-1001")
    await pit.round({1: PROGRESSIVE}, {1: ROYAL}, table="T-2", round_id="R2")
    await pit.decide(OTHER, "validate", by="amy")


async def _correct(pit: Pit, slip: str, replaces: str, reason: str = "x") -> ClaimRow:
    return await pit.claims.correct_slip(CLAIM, "cal", slip=slip, replaces=replaces, reason=reason)


@pytest.mark.duty("D17")
async def test_a_slip_number_is_corrected_and_the_old_one_stays_used(strict: Pit) -> None:
    await _paid(strict)
    row = await _correct(strict, "A-1002", "A-1001", "digits swapped")
    assert (row.slip, row.slip_corrected_by, row.paid_by) == ("A-1002", "cal", "ben")
    (act, *_) = await strict.link_acts.acts("pit", None, 1)
    assert (act.what, act.by) == ("correct_slip", "cal")
    assert act.told.endswith("digits swapped; slip A-1001 → A-1002")
    for slip in ("A-1001", "a-1002"):
        with refused("slip_used"):
            await strict.claims.decide(OTHER, "pay", "ben", slip=slip)
    # The claim itself can have its first number again.
    assert (await _correct(strict, "A-1001", "A-1002")).slip == "A-1001"


@pytest.mark.duty("D17")
async def test_nobody_rejects_alone_under_a_floor_file_that_is_no_longer_approved(
    redis: Redis,
) -> None:
    """A service notices an approval only after a moment; the audit uses the approved amount."""
    pit = await Pit.opened(redis)
    await approve(Configuration(pit.floor, pit.store))
    await _hand_pay(pit)
    above = FLOOR.replace("two_people_reject_above = 1000000000", "two_people_reject_above = 0")
    later = Configuration(parse_floor(above), pit.store)
    await approve(later)
    before = await pit.entries()
    with refused("not_approved"):
        await pit.claims.reject(CLAIM, "amy", reason="fouled")
    assert await pit.entries() == before
    assert (await pit.audit()).problems == ()


async def test_a_request_to_reopen_waits_for_a_second_person(redis: Redis, tmp_path: Path) -> None:
    """It waits until it is confirmed, or until the gaming day is closed."""
    kept = await Kept.opened(redis, tmp_path, STRICT)
    pit = kept.pit

    async def waiting() -> list[tuple[str, str | None]]:
        return [(row.claim, row.requested_by) for row in await pit.claims.to_reopen()]

    await _hand_pay(pit)
    assert await waiting() == []
    await _reject(pit)
    assert await waiting() == []
    await pit.claims.request_reopening(CLAIM, "cal", reason="x")
    assert await waiting() == await waiting() == [(CLAIM, "amy")]
    assert await pit.claims.waiting() == []
    await _reopen(pit)
    assert await waiting() == []
    await _reject(pit)
    await pit.claims.request_reopening(CLAIM, "cal", reason="x")
    assert await waiting() == [(CLAIM, "amy")]
    await kept.days.keep(A_DAY)
    assert await waiting() == []


@pytest.mark.reading("G3")
async def test_rejection_of_a_win_of_no_cents_agrees_with_the_ledger(keeping_redis: Redis) -> None:
    """The third royal flush wins what the second left: less than a cent."""
    tables = ("T-1", "T-2", "T-3")
    meters = [meter_text(meter) for meter in METERS]
    link = link_text("pit", *meters, *(table_text(table, *METERS) for table in tables))
    pit = await Pit.opened(keeping_redis, floor_text(link, two_people_reject_above=ONE_REJECTS))
    for table in tables:
        await pit.wagers({1: BONUS}, table=table)
    for table in tables:
        reply = await pit.result({1: "As Ks Qs"}, table=table, community="Js Ts")
    (won,) = reply.claims or ()
    assert won.amount == 0
    await pit.decide(won.claim, "reject")
    assert (await pit.audit()).problems == ()


# The Envy Bonuses of a reopened win, and what the house paid for it.


@pytest.mark.duty("D15")
async def test_the_house_gets_its_part_back_after_the_day_was_archived(
    redis: Redis, tmp_path: Path
) -> None:
    kept = await Kept.opened(redis, tmp_path, STRICT)
    pit = kept.pit
    await _hand_pay(pit)
    await _reject(pit)
    await pit.round({1: PROGRESSIVE}, {1: ROYAL}, table="T-2", round_id="R2")
    rejected = await pit.accounts()
    await _reopen(pit)
    await kept.days.keep(A_DAY, A_DAY, A_DAY)
    await kept.run()
    assert (await pit.store.checkpoint()).books.house_paid.keys() == {CLAIM}
    await _reject(pit)
    assert await pit.accounts() == rejected
    assert (await pit.audit()).problems == ()
    assert (await kept.audit()).problems == ()


@pytest.mark.duty("D15")
async def test_envy_bonuses_that_were_paid_stay_paid(strict: Pit) -> None:
    await _hand_pay(strict, envy=True)
    await _reject(strict)
    await strict.pay_envy(CLAIM)
    assert (await _reopen(strict)).envy_state == "paid"
    with refused("envy_decided"):
        await _reject(strict, envy_not_due=True)
    assert (await _reject(strict)).envy_state == "paid"
