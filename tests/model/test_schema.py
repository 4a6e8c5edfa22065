"""A release works on the layout of its own version and writes to no other."""

import pytest
from redis.exceptions import ResponseError

from meters.books.schema import SCHEMA, STEPS
from meters.books.store import LinkStore, TermsError
from meters.books.upgrades import upgrade_link
from meters.links.act_rows import act_row
from tests.lua.books import keyspace
from tests.model.pit import Pit
from tests.model.running import Running
from tests.model.tampering import play_a_while
from tests.mqtt.events import encode, wagers
from tests.restore.stores import Kept
from tests.stored_tables import held_by, make_earlier

pytestmark = pytest.mark.duty("D10")

LATER = SCHEMA + 1
WAGERS = encode(wagers(3, "R2"))


async def note(link: Running, schema: object) -> None:
    """Write a version into the books, with the layout that they have."""
    store = link.pit.store
    await store.redis.hset(store.keys.meters, "schema", str(schema))


async def untouched(link: Running) -> None:
    """Check that nothing is written while the link checks again, and no event is accepted."""
    redis = link.pit.store.redis
    before = await keyspace(redis)
    assert await link.take("T-1", WAGERS) == []
    with pytest.raises(TermsError, match="schema version"):
        await link.pit.store.open("service")
    with pytest.raises(ResponseError, match="the data is of version"):
        await link.pit.store.apply([], [])
    with pytest.raises(TermsError, match="schema version"):
        await link.service.reload()
    assert await keyspace(redis) == before


async def test_new_books_are_of_the_present_version(link: Running) -> None:
    """The version is written in the step that opens the link."""
    assert (await link.pit.store.snapshot()).meters["schema"] == str(SCHEMA)
    assert await link.pit.store.schema() == SCHEMA


async def test_an_earlier_version_waits_for_its_upgrade(link: Running) -> None:
    """Books of the first releases have no version. The upgrade is in the ledger, once."""
    store = link.pit.store
    await make_earlier(store, 1)
    await link.goes_down("schema version 1", "`pitlink upgrade`")
    await untouched(link)
    for _ in range(2):
        await upgrade_link(store, "pitlink")
        assert await store.schema() == SCHEMA
    await link.comes_up()
    assert await link.take("T-1", WAGERS) != []
    assert not (await link.pit.audit()).problems
    rows = [
        act_row(number, {name: value.decode() for name, value in fields.items()})
        for number, fields in await store.entries(0, 100)
        if fields["kind"] == b"upgrade"
    ]
    assert [(row.by, row.of, row.told.split(",")[0]) for row in rows] == [
        ("pitlink", "link", f"schema version {before} → {before + 1}")
        for before in range(1, SCHEMA)
    ]


async def test_tables_of_version_2_are_held_by_what_they_had_won(link: Running) -> None:
    """A service of this version does the same. Decided wins and wins the table pays hold none."""
    store = link.pit.store
    held = await held_by(store, "T-1")
    assert len(held.splitlines()) == 3, "three wins hold it"
    await make_earlier(store, 2)
    await link.goes_down("schema version 2", "`pitlink upgrade`")
    await upgrade_link(store, "pitlink")
    assert await held_by(store, "T-1") == held
    assert await held_by(store, "T-2") == b""
    await link.comes_up()
    (reply,) = await link.take("T-1", WAGERS)
    assert b'"held"' in reply
    assert not (await link.pit.audit()).problems


async def test_an_upgrade_that_is_overtaken_reads_what_it_changes_again(
    pit: Pit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decision between its reading of the claims and its script is not lost."""
    store = pit.store
    await play_a_while(pit)
    waiting = LinkStore.waiting
    decided: list[str] = []
    opened = [claim for claim in await store.waiting() if claim.startswith("pit.T-1-2-")]

    async def overtaken(self: LinkStore, limit: int = 0) -> list[str]:
        found = await waiting(self, limit)
        if not decided:
            decided.append(opened[-1])
            await upgraded.put_back(store.redis)
            await pit.decide(opened[-1], "reject")
            await make_earlier(store, 2)
        return found

    upgraded = await Kept.of(store.redis)
    await make_earlier(store, 2)
    monkeypatch.setattr(LinkStore, "waiting", overtaken)
    await upgrade_link(store, "pitlink")
    held = await held_by(store, "T-1")
    assert held
    assert decided[0].encode() not in held


async def test_a_later_version_is_left_alone(link: Running) -> None:
    """No upgrade goes back. The release that wrote the books may continue."""
    await note(link, LATER)
    await link.goes_down(f"schema version {LATER}", "a later release")
    await untouched(link)
    before = await keyspace(link.pit.store.redis)
    await upgrade_link(link.pit.store, "pitlink")
    assert await keyspace(link.pit.store.redis) == before
    await note(link, SCHEMA)
    await link.comes_up()


@pytest.mark.parametrize("junk", ["x", "0", ""])
async def test_what_is_no_version_is_damage(link: Running, junk: str) -> None:
    await note(link, junk)
    await link.goes_down("the data in Redis is damaged")
    await note(link, SCHEMA)
    await link.comes_up()


def test_every_earlier_version_has_a_step() -> None:
    assert list(STEPS) == list(range(1, SCHEMA))
