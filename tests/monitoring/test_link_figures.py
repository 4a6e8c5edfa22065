from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from meters.ledger.accounts import meter_account
from meters.service.service_metrics import Metrics
from meters.store.link_stats import LinkStatsReader
from tests.model.conftest import keeping_pit, keeping_redis, keeping_server
from tests.model.pit import PROGRESSIVE, RAGS, Pit
from tests.model.running import SOON, running
from tests.model.test_asks import opened, result, void
from tests.monitoring.test_service_metrics import read
from tests.servers import RedisServer, eventually_async

__all__ = ["keeping_pit", "keeping_redis", "keeping_server"]

ROYAL = "As Ks Qs"
TRIPS = "Qs Qh Qd"


@pytest.fixture
def pit(keeping_pit: Pit) -> Pit:
    return keeping_pit


class Waiting:
    """Metrics of a kind of request that waits, two hours after the test began."""

    def __init__(self, pit: Pit, count: str, age: str) -> None:
        now = datetime.now(UTC).timestamp()
        self.stats = LinkStatsReader(pit.store)
        self._pit = pit
        self._names = (count, age)
        self._metrics = Metrics(pit.floor, now=lambda: now + 7_200)

    async def check(self, count: int) -> None:
        """Check how many wait; the age of the oldest is 0 if none does."""
        state = await self._pit.store.state()
        figures = await self.stats.read(state.floor_changes)
        self._metrics.show_link_state(self._pit.link.id, state, figures, 0)
        link = self._pit.link.id
        shown, age = (read(self._metrics, f"pitlink_{name}", link) for name in self._names)
        assert shown == count
        assert ((age or 0.0) > 7_100) == bool(count), "the age of none is 0"


async def test_what_waits_is_counted_until_it_is_done(pit: Pit) -> None:
    claims = Waiting(pit, "claims_pending", "claims_oldest_age_seconds")
    hand_pays = Waiting(pit, "hand_pays_pending", "hand_pays_oldest_age_seconds")

    async def check_waiting(of_all: int, to_be_paid: int) -> None:
        await claims.check(of_all)
        await hand_pays.check(to_be_paid)

    await check_waiting(0, 0)
    hand_pay = await pit.round({1: PROGRESSIVE}, {1: ROYAL}, round_id="R1")
    await check_waiting(1, 1)
    at_odds = await pit.round({1: PROGRESSIVE}, {1: TRIPS}, round_id="R2", table="T-2")
    await check_waiting(2, 1)
    (claim,) = hand_pay.claims or ()
    await pit.decide(claim.claim, "validate")
    await check_waiting(2, 1)
    await pit.decide(claim.claim, "pay")
    await check_waiting(1, 0)
    (claim,) = at_odds.claims or ()
    await pit.decide(claim.claim, "validate")
    await check_waiting(0, 0)
    book = LinkStatsReader(pit.store)
    figures = await book.read(0)
    assert figures.entries_live == (await pit.store.state()).head.entry
    assert figures.reserve_micros["five_card_hand_bonus"] == await pit.reserve(
        "five_card_hand_bonus"
    )
    memory = await book.memory()
    assert memory is not None
    assert (memory.used_bytes > 100_000, memory.limit_bytes) == (True, 0)


@pytest.mark.section("649a.11(c)(5)(v)")
async def test_envy_is_counted_while_it_may_be_paid_with_the_age_of_the_oldest(pit: Pit) -> None:
    """It is not counted while its win is pending, or after it was paid or rejected."""
    envy = Waiting(pit, "envy_unpaid", "envy_oldest_age_seconds")
    both = {1: PROGRESSIVE, 3: PROGRESSIVE}
    await envy.check(0)
    first = await pit.round(both, {1: RAGS, 3: ROYAL}, round_id="R1")
    await envy.check(0)
    (claim,) = first.claims or ()
    await pit.decide(claim.claim, "validate")
    await envy.check(1)
    await pit.round({1: PROGRESSIVE}, {1: RAGS, 3: ROYAL}, round_id="R2", table="T-2")
    await envy.check(2)
    await pit.pay_envy(claim.claim)
    await envy.check(1)
    (alone,) = [row.claim for row in await pit.claims.waiting() if row.only_envy]
    await pit.claims.decide_envy(alone, "reject_envy", "amy", reason="entered wrongly")
    await envy.check(0)


async def test_corrections_are_counted_while_they_wait_with_the_age_of_the_oldest(pit: Pit) -> None:
    """It counts until it is confirmed, refused or withdrawn. A repeat does not reset the age."""
    asked = Waiting(pit, "corrections_pending", "corrections_oldest_age_seconds")
    await opened(pit)
    await asked.check(0)
    await void(pit)
    await asked.check(1)
    await opened(pit, "T-2", "R2")
    await result(pit, "T-2", "R2")
    await asked.check(2)
    oldest = asked.stats._corrections.since_s
    await void(pit)
    await asked.check(2)
    assert asked.stats._corrections.since_s == oldest
    first, second = await pit.asks.asks()
    await pit.asks.decide(first.ask, "confirm_correction", "Ada")
    await asked.check(1)
    assert asked.stats._corrections.since_s == datetime.fromisoformat(second.at).timestamp()
    await void(pit)
    await asked.check(1)
    await pit.asks.decide(second.ask, "refuse_correction", "Ada", reason="Deal on")
    await asked.check(0)
    for _ in range(2):
        await result(pit, "T-2", "R2")
    await asked.check(1)
    await pit.event("T-2", "withdrawal", "R2")
    await asked.check(0)


async def test_a_link_that_loses_its_store_and_one_whose_books_differ(
    pit: Pit, keeping_server: RedisServer, tmp_path: Path
) -> None:
    link = pit.link.id
    async with running(pit, tmp_path) as up:
        metrics: Metrics = up.service._metrics

        def figure(name: str, *labels: str) -> float:
            return read(metrics, f"pitlink_{name}", link, *labels) or 0.0

        await up.comes_up()
        await eventually_async(lambda: figure("link_operable") == 1)
        await eventually_async(
            lambda: figure("ledger_sealed_entries") == figure("ledger_entries") > 0
        )
        assert (figure("redis_ready"), figure("audit_balanced"), figure("approvals_due")) == (
            1,
            1,
            0,
        )
        assert figure("link_outages_total") == 0
        keeping_server.kill()
        await eventually_async(lambda: figure("link_operable") == 0, within_s=20)
        # The store may have failed during a check that found it ready. The next check reports it.
        await eventually_async(lambda: figure("redis_ready") == 0)
        assert figure("link_outages_total") == 1
        before_s = figure("link_inoperable_seconds_total")
        await eventually_async(lambda: figure("link_inoperable_seconds_total") > before_s)
        keeping_server.start()
        await up.comes_up()
        await eventually_async(lambda: figure("redis_ready") == figure("link_operable") == 1)
        # The assertion comes only now, because a disk that is slow for a moment is no outage.
        up.service._pace = replace(SOON, answered_within_s=0.5)
        keeping_server.freeze()
        await eventually_async(lambda: figure("redis_ready") == figure("link_operable") == 0)
        up.service._pace = SOON
        keeping_server.thaw()
        await eventually_async(lambda: figure("redis_ready") == figure("link_operable") == 1)
        await pit.store.redis.hincrby(pit.store.keys.accounts, meter_account("progressive"), 1)
        await eventually_async(lambda: figure("audit_balanced") == 0, within_s=20)
        await eventually_async(lambda: figure("link_operable") == 0, within_s=20)
        assert figure("audits_total", "differs") > 0
