"""Whoever approves a floor file can be killed at any moment: the approval is whole, or absent."""

import itertools
from collections.abc import Sequence
from typing import Final

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from meters.audit.link_audit import LinkAudit
from meters.floor.floor_file import Floor, parse_floor
from meters.ledger.approved_configuration import LinkConfiguration
from meters.store.approval_book import ApprovalBook
from meters.store.floor_file_approval import Configuration
from meters.store.link_store import BooksError, LinkStore
from meters.store.redis_connect import open_redis
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.selfcheck.knife import Knife
from tests.servers import RedisServer

pytestmark = pytest.mark.slow

FIRST: Final = "".join(
    link_text(link, meter_text("progressive"), table_text(table, "progressive"))
    for link, table in (("main", "A-1"), ("other", "X-1"))
)
CHANGED: Final = FIRST.replace("positions = 7", "positions = 6")
ACTS: Final = ((FIRST, "Ada"), (CHANGED, "Ada"), (CHANGED, "Bea"))
"""One person approves the first floor file, and two people its change."""

Standing = tuple[tuple[str, ...], int | None, bool]
"""Kinds of the link's ledger entries; the act with the approved text; whether a half one waits."""
STANDINGS: Final[Sequence[Standing]] = (
    ((), None, False),
    (("approve",), 0, False),
    (("approve", "approve_first"), 0, True),
    (("approve", "approve_first", "approve"), 1, False),
)


def floor_of(sections: str, url: str) -> Floor:
    return parse_floor(floor_text(sections, service={"redis": url}))


async def approve(floor: Floor, by: str, *, again: bool = False) -> None:
    async with open_redis(floor) as redis:
        for link in floor.link:
            configuration = Configuration(floor, LinkStore(redis, link))
            found = await configuration.unapproved()
            if found and again and found.first_by == by:
                with pytest.raises(BooksError, match="you approved it first"):
                    await configuration.approve(by, found.digest)
            elif found:
                await configuration.approve(by, found.digest)


async def standing(redis: Redis, floor: Floor) -> list[int]:
    """Return how far each link has come; configuration, ledger, index of acts and books agree."""
    found = []
    for link in floor.link:
        store = LinkStore(redis, link)
        entries = await store.entries(0, 100)
        kinds = tuple(fields["kind"].decode() for _, fields in entries)
        acts = await store.acts(None, 100)
        assert [number for number, _ in acts] == [number for number, _ in reversed(entries)]
        book = ApprovalBook(store)
        approved = await book.current()
        known = [_digest(text, link.id) for text in (FIRST, CHANGED)]
        held = None if approved is None else known.index(approved.digest)
        found.append(STANDINGS.index((kinds, held, (await book.waiting()).half is not None)))
        assert (await LinkAudit(store).run()).balanced
    return found


def _digest(sections: str, link: str) -> str:
    floor = floor_of(sections, "embedded")
    (one,) = [each for each in floor.link if each.id == link]
    return LinkConfiguration.of(floor, one).digest


async def _play(server: RedisServer, redis: Redis, number: int, *, answered: bool) -> bool:
    """Approve in three acts, and end the client at a command. Return False if there is none."""
    counter = itertools.count()
    with Knife(server.socket_path, lambda _: next(counter) == number, answered=answered) as knife:
        cut = False
        for act, (text, by) in enumerate(ACTS):
            if cut:
                await approve(floor_of(text, server.url), by)
            else:
                try:
                    await approve(floor_of(text, f"redis://127.0.0.1:{knife.port}/0"), by)
                except (RedisError, OSError):
                    assert knife.cut.is_set()
                if cut := knife.cut.is_set():
                    main, other = await standing(redis, floor_of(text, server.url))
                    assert act <= other <= main <= act + 1
                    await approve(floor_of(text, server.url), by, again=True)
            assert await standing(redis, floor_of(text, server.url)) == [act + 1] * 2
    return cut


@pytest.mark.duty("D4", "D12")
@pytest.mark.parametrize("answered", [False, True], ids=["before", "after"])
async def test_an_approval_that_ends_at_any_command_is_whole_or_absent(
    keeping_server: RedisServer, keeping_redis: Redis, *, answered: bool
) -> None:
    """The same act again completes it. Nothing is approved twice."""
    for number in itertools.count():
        await keeping_redis.flushall()
        await keeping_redis.script_flush()
        if not await _play(keeping_server, keeping_redis, number, answered=answered):
            break
    assert number >= 8, "two acts of two links, and one of each with its note"
