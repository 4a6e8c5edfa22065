"""Numbers of payout slips whose payments a restored link has lost: they stay used."""

from pathlib import Path
from typing import cast

import pytest
from redis.asyncio import Redis

from meters.audit.link_audit import LinkAudit
from meters.ledger.ledger_replay import Replay
from meters.restore.output import print_found, print_restored
from meters.store.ledger_mark import LedgerMark
from meters.store.slip_register import SLIPS_KEY, SlipRegister
from tests.model.pit import FLOOR, PROGRESSIVE, Pit
from tests.model.test_slips import CLAIM, OTHER
from tests.model.test_slips import Facility as TwoLinks
from tests.restore.pit import KeptPit
from tests.restore.stores import Copy, Kept

pytestmark = [pytest.mark.duty("D11", "D16")]

OF_THE_LINK = "pitlink:{pit}:*"


class Facility(TwoLinks):
    """A link that is restored, and another one of the facility whose store stays intact."""

    def __init__(self, redis: Redis, home: Path) -> None:
        self.pit = KeptPit(redis, home)
        self.pot = Pit(redis, FLOOR.replace('id = "pit"', 'id = "pot"'))
        super().__init__(redis, [self.pit, self.pot])

    async def open(self) -> None:
        await self.pit.open()
        await self.pot.open()
        for table in ("T-1", "T-2"):
            await self.pot.round({3: PROGRESSIVE}, {3: "As Ks Qs"}, table=table, community="Js Ts")
        for claim in (OTHER, "pot.T-2-2-1"):
            await self.claims.decide(claim, "validate", "amy")

    async def win(self, claim: str, number: int = 1) -> None:
        await self.pit.round(
            {3: PROGRESSIVE}, {3: "As Ks Qs"}, community="Js Ts", round_id=f"R{number}"
        )
        await self.claims.decide(claim, "validate", "amy")

    async def paid(self) -> Kept:
        """Pay a win with the slip S-1. Return the data of the link without the win."""
        copy = await Kept.of(self.redis, OF_THE_LINK)
        await self.win(CLAIM)
        assert await self.pay(CLAIM, "S-1") == "paid"
        return copy

    async def restore(self, copy: Kept, *, outbox: bool) -> tuple[dict[str, str], str]:
        """Restore the link alone. Return the numbers that it keeps and the act's description."""
        await copy.put_back(self.redis)
        pit = self.pit
        if not outbox:
            pit.outbox_path("T-1").unlink()
            pit.seq["T-1"] = 0
        restored = await pit.restoring(None, *(["T-2"] if outbox else ["T-1", "T-2"])).run()
        assert restored.finding.problems == ()
        await pit.goes_on()
        (act,) = await pit.link_acts.acts(pit.link.id, None, 1)
        return dict(restored.kept), act.told

    async def slips(self) -> dict[bytes, bytes]:
        rows = await self.redis.hgetall(self.pit.store.keys.slips)
        return cast("dict[bytes, bytes]", rows)


@pytest.fixture
async def facility(redis: Redis, tmp_path: Path) -> Facility:
    facility = Facility(redis, tmp_path)
    await facility.open()
    return facility


@pytest.mark.duty("D16", proof=True)
async def test_number_that_paid_a_lost_win_pays_nothing_more_and_the_link_operates(
    facility: Facility,
) -> None:
    """Another win that gets the lost claim's id is paid with a number of its own."""
    kept, details = await facility.restore(await facility.paid(), outbox=False)
    assert kept == {"s1": CLAIM}
    assert details.endswith(
        f"payout slips that stay used, without a payment in the ledger: s1 of {CLAIM}"
    )
    assert [await facility.pay(OTHER, slip) for slip in ("S-1", "s-1")] == ["slip_used"] * 2
    assert await facility.problems() == []
    replay = Replay()
    for number, fields in await facility.pit.store.entries(0, 1_000):
        replay.apply_entry(number, fields)
    checkpoint = replay.checkpoint
    await facility.win(CLAIM)
    assert await facility.pay(CLAIM, "S-1") == "slip_used"
    assert await facility.problems() == []
    assert await facility.pay(CLAIM, "S-2") == "paid"
    assert [await facility.pay(OTHER, slip) for slip in ("S-1", "S-2")] == ["slip_used"] * 2
    assert await facility.problems() == []
    # An audit that begins after the restore does not know its entry.
    later = await LinkAudit(facility.pit.store, Replay.after(checkpoint)).run()
    assert later.problems == ()


@pytest.mark.parametrize("decided", ["pay", "pay otherwise", "reject"])
async def test_number_that_paid_a_win_that_waits_again_pays_only_this_win(
    facility: Facility, decided: str
) -> None:
    kept, _ = await facility.restore(await facility.paid(), outbox=True)
    assert kept == {"s1": CLAIM}
    assert await facility.pay(OTHER, "S-1") == "slip_used"
    if decided == "reject":
        await facility.claims.decide(CLAIM, "reject", "amy", reason="paid before")
    else:
        await facility.claims.decide(CLAIM, "validate", "amy")
        # The service reserves it again if it is lost.
        await facility.redis.delete(SLIPS_KEY)
        finding = await LinkAudit(facility.pit.store).run(again=10)
        assert finding.balanced
        await facility.pit.store.slip_register.reserve_paid(finding.unreserved)
        assert await facility.pay(CLAIM, "S-1" if decided == "pay" else "S-2") == "paid"
    assert await facility.pay(OTHER, "S-1") == "slip_used"
    assert await facility.problems() == []
    assert await facility.pay(OTHER, "S-3") == "paid"


async def test_kept_number_that_was_freed_exchanged_or_invented_is_named(
    facility: Facility,
) -> None:
    await facility.restore(await facility.paid(), outbox=False)
    redis, slips = facility.redis, facility.pit.store.keys.slips
    noted = (await facility.slips())[b"s1"].decode()
    restore = f"the restore of entry {noted.rpartition(':')[2]}"
    said = f"the ledger says it is kept for claim {CLAIM} by {restore}"
    for text, problem in (
        (None, "is not reserved"),
        (f"1 {OTHER}", f"is reserved for claim {OTHER}"),
        ("1 pit.T-1-9-9", "is reserved for claim pit.T-1-9-9"),
    ):
        await redis.delete(SLIPS_KEY)
        if text:
            await redis.hset(SLIPS_KEY, "s1", text)
        assert f"slip 's1' {problem}, {said}" in await facility.problems()
    await redis.hset(SLIPS_KEY, "s1", f"1 {CLAIM}")
    for slip in ("s9", "s10"):
        await redis.hset(SLIPS_KEY, slip, f"1 {CLAIM}")
        unknown = f"slip '{slip}' is reserved for claim {CLAIM}, which the ledger does not have"
        assert await facility.problems() == [unknown]
        await redis.hdel(SLIPS_KEY, slip)
    await redis.hdel(slips, "s1")
    assert await facility.problems() == [f"slip 's1' is free in Redis, {said}"]
    await redis.hset(slips, "s1", CLAIM)
    assert await facility.problems() == [f"slip 's1' pays claim {CLAIM} in Redis, {said}"]
    await redis.hset(slips, "s1", noted)
    await redis.hset(slips, "s2", noted)
    assert await facility.problems() == [
        f"slip 's2' pays claim {noted} in Redis, and not in the ledger"
    ]


async def test_kept_number_is_in_a_store_that_is_rebuilt(facility: Facility) -> None:
    await facility.restore(await facility.paid(), outbox=False)
    pit = facility.pit
    archive = await Copy.of(pit.store)
    noted = await facility.slips()
    assert noted[b"s1"].startswith(CLAIM.encode())
    await Kept({}, OF_THE_LINK).put_back(facility.redis)
    await facility.redis.delete(SLIPS_KEY)
    restored = await pit.restoring(archive, "T-1", "T-2").run()
    assert restored.finding.problems == ()
    assert dict(restored.kept) == {}
    assert await facility.slips() == noted
    assert await facility.pay(OTHER, "S-1") == "slip_used"
    assert await SlipRegister(facility.redis).held(["S-1"])


async def test_link_that_began_again_without_its_books_is_restored_to_operate(
    facility: Facility,
) -> None:
    """Its mark was moved aside, so nothing is known to be lost except what the numbers paid."""
    await facility.paid()
    pit, redis = facility.pit, facility.redis
    await Kept({}, OF_THE_LINK).put_back(redis)
    pit.outbox_path("T-1").unlink()
    pit.mark.path.unlink()
    pit.mark = LedgerMark(pit.home, pit.link.id)
    pit.seq["T-1"] = 0
    await pit.goes_on()
    unknown = f"slip 's1' is reserved for claim {CLAIM}, which the ledger does not have"
    assert await facility.problems() == [unknown]
    restored = await pit.restoring(None, "T-1", "T-2").run()
    assert (restored.finding.problems, restored.kept) == ((), {"s1": CLAIM})
    printed: list[str] = []
    print_found(printed.append, "pit", restored.found)
    print_restored(printed.append, "pit", restored)
    assert "  1 payout slips are reserved for wins that the ledger does not have" in printed
    assert f"  KEPT slip s1, reserved for {CLAIM}" in printed
    assert not (await pit.restoring(None, "T-1", "T-2").look())[1]
    assert await facility.pay(OTHER, "S-1") == "slip_used"
    assert await facility.problems() == []


async def test_number_that_comes_back_during_an_interrupted_restore_is_kept(
    facility: Facility, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part of a cluster with the numbers was lost too, and returned after the first try."""
    copy, pit = await facility.paid(), facility.pit
    await copy.put_back(facility.redis)
    pit.outbox_path("T-1").unlink()
    numbers = await Kept.of(facility.redis, SLIPS_KEY)
    await facility.redis.delete(SLIPS_KEY)

    def fails(*_: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(LedgerMark, "reset", fails)
        with pytest.raises(OSError, match="the disk is full"):
            await pit.restoring(None, "T-1", "T-2").run()
    await numbers.put_back(facility.redis)
    restored = await pit.restoring(None, "T-1", "T-2").run()
    assert (restored.finding.problems, restored.kept) == ((), {"s1": CLAIM})
    assert await facility.pay(OTHER, "S-1") == "slip_used"
