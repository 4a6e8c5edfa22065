from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.model.pit import FLOOR
from tests.reports.shop import NEW_YORK, Shop, clock_by_hand
from tests.servers import RedisServer

MakeShop = Callable[..., Shop]


@pytest.fixture
def make_shop(redis: Redis, memory_server: RedisServer, tmp_path: Path) -> Iterator[MakeShop]:
    """Yield a function that makes a shop; its clock begins at a local ``2026-11-20 12:00``."""
    with clock_by_hand(datetime.now(UTC)) as clock:

        def make(begins: str, *, day_starts: str = "06:00", floor_text: str = FLOOR) -> Shop:
            clock.at = datetime.fromisoformat(begins).replace(tzinfo=NEW_YORK).astimezone(UTC)
            return Shop(
                redis, memory_server.url, clock, tmp_path, day_starts=day_starts,
                floor_text=floor_text,
            )  # fmt: skip

        yield make


@pytest.fixture
async def shop(make_shop: MakeShop) -> Shop:
    shop = make_shop("2026-11-20 12:00")
    await shop.open()
    return shop
