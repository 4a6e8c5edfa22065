"""A store that is rebuilt from its ledger equals the store before."""

from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, run_state_machine_as_test
from redis.asyncio import Redis

from meters.acts.meter_changes import Adjustment
from meters.ledger.entry_messages import Outage
from meters.restore.rebuild import RebuildError
from meters.restore.store_writing import StoreWriter
from meters.store.link_acts import note_outage
from tests.model.machine import Floor
from tests.model.pit import PROGRESSIVE, Pit, to
from tests.model.running import operating
from tests.model.tampering import ledger, play_a_while
from tests.restore.stores import Copy, hold_alike, keys_of, read_store, rebuilt
from tests.servers import RedisServer


class RebuiltFloor(Floor):
    """State machine that rebuilds the store from its ledger after each step and compares."""

    url: ClassVar[str]
    archives: ClassVar[bool] = False

    @initialize(seed=st.integers(0, 2**32))
    def open(self, seed: int) -> None:
        super().open(seed)
        self.rebuild = self.pit.new_rebuild()

    @invariant()
    def check(self) -> None:
        self.rebuild = self.runner.run(rebuilt(self.rebuild, self.pit.store))
        keys = self.pit.store.keys
        there = self.runner.run(read_store(self.redis, keys))
        hold_alike(keys_of(self.rebuild.rows()), there, keys)


@pytest.mark.slow
@pytest.mark.duty("D11")
def test_whatever_happened_the_ledger_makes_the_store_again(memory_server: RedisServer) -> None:
    machine = type("RebuiltFloorOnThisRedis", (RebuiltFloor,), {"url": memory_server.url})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=10,
            stateful_step_count=40,
            derandomize=True,
            deadline=None,
            suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
        ),
    )


async def run_a_while(pit: Pit, data: Path) -> None:
    """Play until the ledger holds entries of every kind, including acts on the link."""
    async with operating(pit, data):
        pass
    await play_a_while(pit)
    await pit.claims.decide("pit.T-1-2-1", "validate", "fp-1", reason="seen on the recording")
    # "pit.T-1-2-3" was rejected: two people reopen it. It is rejected again, and somebody withdraws
    # a request and makes another.
    asked = (await pit.claims.request_reopening("pit.T-1-2-3", "amy", reason="misread")).request
    assert asked is not None
    await pit.claims.confirm("pit.T-1-2-3", "ben", asked.entry)
    await pit.claims.decide("pit.T-1-2-3", "reject", "cal", reason="fouled")
    asked = (await pit.claims.request_reopening("pit.T-1-2-3", "amy", reason="misread")).request
    assert asked is not None
    await pit.claims.withdraw_request("pit.T-1-2-3", "amy", asked.entry)
    await pit.claims.request_reopening("pit.T-1-2-3", "amy", reason="misread again")
    await pit.pay("pit.T-1-2-6", "A-1")
    await pit.claims.correct_slip(
        "pit.T-1-2-6", "cal", slip="A-2", replaces="A-1", reason="digits swapped"
    )
    link_acts, link_id = pit.link_acts, pit.link.id
    up = Adjustment(meter=PROGRESSIVE, amount=1_234, reason="malfunction")
    confirmed, withdrawn, _ = [
        (await link_acts.propose(link_id, "sue", up)).proposal for _ in range(3)
    ]
    await link_acts.confirm(link_id, confirmed, "tim")
    await link_acts.withdraw(link_id, withdrawn, "una")
    await pit.void(table="T-2", round_id="R3")
    await link_acts.close(link_id, "sue", "new paytable")
    await pit.change(to(PROGRESSIVE, "paytable", "B"))
    await pit.adopt()
    outage = Outage("0badc0de", "2026-11-20T02:14:07.250Z", ("Redis failed",))
    await note_outage(pit.store, "service", outage)
    await link_acts.open(link_id, "tim")
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, table="T-2", round_id="R7")
    await link_acts.close(link_id, "una", "end of the night")


async def test_rewritten_store_equals_the_one_before_and_continues(
    keeping_redis: Redis, keeping_server: RedisServer, tmp_path: Path
) -> None:
    pit = Pit(keeping_redis)
    await run_a_while(pit, tmp_path)
    keys, last = pit.store.keys, (await pit.store.snapshot()).last_entry
    rebuild = await pit.rebuild()
    other = Redis.from_url(f"{keeping_server.url}?db=1")
    try:
        writer = StoreWriter(other, keys)
        await writer.clear()
        copied = await Copy.of(pit.store)
        assert [number async for number in writer.write_ledger(copied.entries(), last)][-1] == last
        await writer.write_rows(rebuild.rows())
        hold_alike(await read_store(other, keys), await read_store(keeping_redis, keys), keys)
        again = Pit(other)
        assert await ledger(again) == await ledger(pit)
        await again.open()
        await again.adopt()
        again.seq.update(pit.seq)
        # A restore does this for the slip numbers in the restored books.
        await again.store.slip_register.reserve_all_of(again.link.id)
        assert (await again.audit()).problems == ()
        for each in (pit, again):
            await each.link_acts.open(each.link.id, "tim")
            won = await each.result({1: "As Ks Qs", 2: "3h 6s Jc"}, table="T-2", round_id="R7")
            assert won.status == "accepted"
        snapshots = [await each.store.snapshot() for each in (again, pit)]
        assert snapshots[0].accounts == snapshots[1].accounts
        assert snapshots[0].tallies == snapshots[1].tallies
        assert (await again.audit()).problems == ()
    finally:
        await other.flushdb()
        await other.aclose()


async def test_ledger_that_does_not_hold_makes_no_store(pit: Pit) -> None:
    await play_a_while(pit)
    entries = await pit.store.entries(0, 1_000)
    for spoil, reason in (
        (lambda fields: fields | {"reply": b"{}"}, "is not as it was written"),
        (lambda fields: {"kind": fields["kind"]}, "it has no at"),
    ):
        rebuild = pit.new_rebuild()
        for number, fields in entries[:5]:
            rebuild.apply_entry(number, fields)
        with pytest.raises(RebuildError, match=reason):
            rebuild.apply_entry(6, spoil(entries[5][1]))
    rebuild = pit.new_rebuild()
    with pytest.raises(RebuildError, match="some are missing"):
        rebuild.apply_entry(*entries[1])
