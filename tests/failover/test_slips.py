"""Payout slips in a Redis Cluster, where links and reservations are in different slots."""

import pytest

from meters.floor.floor_file import parse_floor
from meters.store.redis_clients import ShardedRedis
from meters.store.redis_connect import open_redis
from meters.store.slip_register import SLIPS_KEY, SLIPS_TAG
from tests.failover.servers import Cluster
from tests.floor_text import section_text
from tests.model.pit import FLOOR
from tests.model.test_slips import CLAIM, OTHER, SECOND, Facility


@pytest.mark.slow
async def test_one_slip_pays_one_claim_of_a_cluster() -> None:
    with Cluster(SLIPS_KEY) as cluster:
        floor = parse_floor(FLOOR + section_text("[service]", redis=cluster.url))
        async with open_redis(floor) as redis:
            assert isinstance(redis, ShardedRedis)
            facility = Facility(redis)
            await facility.open()
            assert await facility.pay(CLAIM, "A-1") == "paid"
            assert await facility.pay(OTHER, "a-1") == "slip_used"
            assert await facility.pay(SECOND, "A-1") == "slip_used"
            assert await facility.pay(OTHER, "A-2") == "paid"
            assert await facility.problems() == []
            assert await redis.of(SLIPS_TAG).hlen(SLIPS_KEY) == 2
