"""Restore from an archive that begins after the last event of a table."""

from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from meters.ledger import claim_evidence
from meters.ledger.redis_layout import REPLIES_KEPT
from meters.restore.store_writing import StoreWriter
from tests.model.days import A_DAY, Days
from tests.model.pit import BONUS, FIVE_CARD, FIVE_OF_SIX, FLOOR, PROGRESSIVE, RAGS, code, to
from tests.model.test_asks import void
from tests.restore.pit import KeptPit
from tests.restore.stores import Copy
from tests.stored_tables import stored_table

pytestmark = pytest.mark.duty("D11")


class Late:
    """A link whose second table plays on the first day, and perhaps on the last day."""

    def __init__(self, redis: Redis, home: Path) -> None:
        self.pit = KeptPit(redis, home, f"{FLOOR}\n[archive]\nlive_days = 1\n")
        self.days = Days(self.pit)

    async def play(self, table: str, name: str) -> None:
        await self.pit.wagers({2: PROGRESSIVE}, table=table, round_id=name)
        reply = await self.pit.result({2: RAGS}, table=table, round_id=name)
        assert reply.status == "accepted"

    async def keep(self, first: int, *, request: bool = False) -> None:
        """Play five days, and lose the first files of the archive."""
        await self.days.open()
        await self.pit.open()
        self.pit.clock = self.days.clock.now
        await self.play("T-2", "early")
        if first == 0:
            await self.pit.wagers({2: PROGRESSIVE}, table="T-2", round_id="open")
            assert (await self.pit.void(table="T-2", round_id="other")).status == "refused"
        if request:
            self.pit.restart()
            assert code(await void(self.pit, "T-2", "open")) == "unconfirmed"
        for day in range(5):
            await self.play("T-1", f"R{day}")
            await self.days.keep(A_DAY)
            self.pit.clock += A_DAY
            await self.pit.archive()
        for path in self.pit.files.paths()[:2]:
            path.unlink()

    async def accounts(self) -> object:
        return await self.pit.redis.hgetall(self.pit.store.keys.accounts)


@pytest.fixture
def late(redis: Redis, tmp_path: Path) -> Late:
    return Late(redis, tmp_path)


@pytest.mark.parametrize("open_round", [pytest.param(False, marks=pytest.mark.slow), True])
async def test_events_before_the_archive_are_not_applied_again(
    late: Late, *, open_round: bool
) -> None:
    """The later ones are, of which the archive has none."""
    pit = late.pit
    await late.keep(first=not open_round)
    if open_round:
        await pit.void(table="T-2", round_id="open")
    await late.play("T-2", "late")
    await late.play("T-1", "late")
    before = await late.accounts()
    restored = await pit.lost_and_restored(pit.archived)
    assert restored.replayed.events == (6 if open_round else 4)
    assert await late.accounts() == before
    await pit.goes_on()
    await late.play("T-2", "next")
    assert (await pit.audit()).problems == ()


@pytest.mark.duty("D17")
async def test_a_request_before_the_archive_still_binds_its_round(late: Late) -> None:
    pit = late.pit
    await late.keep(first=0, request=True)
    (was,) = await pit.store.table_states(["T-2"])
    assert was.known
    await pit.redis.flushall()
    assert (await pit.restoring(pit.archived).run()).finding.problems == ()
    (state,) = await pit.store.table_states(["T-2"])
    assert (state.open_round, state.known) == ("open", was.known)


async def test_a_win_can_be_paid_after_the_files_of_its_day_were_deleted(late: Late) -> None:
    pit = late.pit
    await late.days.open()
    await pit.open()
    await pit.round({2: PROGRESSIVE}, {2: "As Ks Qs"}, table="T-2", round_id="won")
    waiting = [row.claim for row in await pit.claims.waiting()]
    assert waiting
    await late.keep(first=1)
    await pit.lost_and_restored(pit.archived)
    await pit.goes_on()
    assert [row.claim for row in await pit.claims.waiting()] == waiting
    await pit.pay_all(waiting)
    assert (await pit.audit()).problems == ()


async def test_wins_of_days_that_were_archived_in_one_run_are_restored(
    redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No entry about the archiving is in the archive. So Redis gets wins that it had forgotten."""
    monkeypatch.setattr(claim_evidence, "WINS_KEPT", 1)
    late = Late(redis, tmp_path)
    pit, wagers = late.pit, " ".join((PROGRESSIVE, FIVE_CARD, FIVE_OF_SIX, BONUS))
    await late.days.open()
    await pit.open()
    await late.play("T-2", "once")
    for number in range(70):
        won = await pit.round({3: wagers}, {3: "As Ks Qs"}, round_id=f"W{number}")
        await pit.pay_all(one.claim for one in won.claims or ())
    for day in range(5):
        await late.play("T-1", f"R{day}")
        await late.days.keep(A_DAY)
        if day != 3:
            await pit.archive()
    await pit.lost_and_restored(pit.archived)
    await pit.archive()
    assert (await pit.audit()).problems == ()


@pytest.mark.duty("D12")
async def test_a_parameter_that_changed_before_the_archive_begins_stays_in_force(
    redis: Redis, tmp_path: Path
) -> None:
    """The floor file still has the value before the proposal, as it may have for years."""
    late = Late(redis, tmp_path)
    pit, limit = late.pit, 200_000_000
    await late.days.open()
    await pit.open()
    await pit.link_acts.close(pit.link.id, "sue", "a limit")
    await pit.change(to(PROGRESSIVE, "limit", limit))
    await pit.link_acts.open(pit.link.id, "sue")
    await pit.adopt()
    await late.keep(first=1)
    await pit.lost_and_restored(pit.archived, "T-2")
    again = KeptPit(redis, tmp_path, f"{FLOOR}\n[archive]\nlive_days = 1\n")
    await again.goes_on()
    assert {meter.limit for meter in again.store.link.meter} == {None, limit}


# Data in the present layout after a restore: kept replies, and several entries together.


async def test_no_reply_that_redis_had_dropped_comes_back(redis: Redis, tmp_path: Path) -> None:
    """A refused event has no entry. In the place of its reply there was an older one."""
    pit = KeptPit(redis, tmp_path)
    await pit.open()
    for number in range(REPLIES_KEPT // 2 + 2):
        await pit.wagers({1: PROGRESSIVE}, round_id=f"R{number}")
        await pit.void(round_id=f"R{number}")
    assert (await pit.void(round_id="R-x")).status == "refused"
    await pit.wagers({1: PROGRESSIVE}, round_id="R-open")
    await pit.void(table="T-2", round_id="R-x")
    was = (await stored_table(pit.store, "T-1")).replies
    copy = await Copy.of(pit.store)
    await pit.lost_and_restored(copy)
    made = (await stored_table(pit.store, "T-1")).replies
    assert made.keys() <= was.keys()


async def test_a_day_is_trimmed_if_the_entry_about_it_is_among_others(
    late: Late, redis: Redis
) -> None:
    pit, days = late.pit, late.days
    await days.open()
    await pit.open()
    for number in range(4):
        await pit.wagers({1: PROGRESSIVE}, round_id=f"R{number}")
        await pit.void(round_id=f"R{number}")
        await days.keep(timedelta(days=1))
    await pit.archive(100)
    every, keys = await pit.store.entries(0, 1_000), pit.store.keys
    await redis.delete(keys.ledger)
    writer = StoreWriter(redis, keys)
    written = [number async for number in writer.write_ledger(Copy(every).entries(), len(every))]
    assert written[-1] == len(every)
    assert await redis.xlen(keys.ledger) < len(every) / 2
    assert await pit.store.entries(0, 1_000) == every
    await pit.archive(1)
    checkpoint = await pit.store.checkpoint()
    assert checkpoint.entries
    assert await pit.store.entries(0, 1_000) == every[checkpoint.entries :]
    assert (await pit.audit()).problems == ()
