"""A store of schema version 3, upgraded: tables, rounds, kept replies, ledger and archive."""

from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from meters.archive.archive_audit import audit_link
from meters.books.audit import LinkAudit
from meters.books.kept_texts import keep_texts
from meters.books.ledger_mark import LedgerMark
from meters.books.schema import SCHEMA
from meters.books.store import LinkStore
from meters.books.stored_entries import PACKED, StreamEntry
from meters.books.stored_tables import REPLIES_KEPT
from meters.books.upgrades import upgrade_link
from meters.restore.errors import RestoreError
from tests.model.days import Days
from tests.model.pit import FIVE_CARD, FLOOR, PROGRESSIVE, RAGS, Pit
from tests.restore.pit import KeptPit
from tests.stored_tables import earlier_fields, held_by, make_earlier, stored_table

pytestmark = [pytest.mark.duty("D10", "D11"), pytest.mark.slow]

ROYAL = "As Ks Qs"
STRAIGHT = "9c 8s 7h"
TABLES = ("T-1", "T-2")


class Sent(KeptPit):
    """A link that remembers what its tables sent and the replies."""

    def __init__(self, redis: Redis, home: Path) -> None:
        super().__init__(redis, home, f"{FLOOR}\n[archive]\nlive_days = 1\n")
        self.sent: list[tuple[str, bytes, bytes | None]] = []
        self.restart()

    async def send(self, table: str, payload: bytes, *, worker: int = 0) -> bytes | None:
        reply = await super().send(table, payload, worker=worker)
        self.sent.append((table, payload, reply))
        return reply

    async def check_repeats(self) -> None:
        """Check that each event whose reply is kept gets it again, byte for byte."""
        for table in TABLES:
            events = [one for one in self.sent if one[0] == table][-REPLIES_KEPT:]
            assert len(events) > 2
            for _, payload, reply in events:
                assert await Pit.send(self, table, payload) == reply


@pytest.fixture
async def pit(redis: Redis, tmp_path: Path) -> Sent:
    """Return a link with archived days, a held table, an open round, refused events, decisions."""
    pit = Sent(redis, tmp_path)
    days = Days(pit)
    await days.open()
    for number in range(1, 4):
        for table in TABLES:
            name = f"R{number}-{table}"
            await pit.round({1: PROGRESSIVE, 2: FIVE_CARD}, {1: RAGS, 2: STRAIGHT}, table=table,
                            round_id=name)  # fmt: skip
            assert (await pit.void(table=table, round_id="R-x")).status == "refused"
        await days.keep(timedelta(days=1))
    await pit.archive()
    assert (await pit.store.checkpoint()).entries
    for number in range(20):
        await pit.wagers({1: PROGRESSIVE}, table="T-2", round_id=f"V{number}")
        await pit.void(table="T-2", round_id=f"V{number}")
    won = await pit.round({1: PROGRESSIVE, 3: PROGRESSIVE}, {1: ROYAL, 3: "Ah Kh Qh"})
    await pit.decide((won.claims or ())[0].claim, "reject")
    assert (await pit.wagers({3: PROGRESSIVE}, round_id="R-held")).status == "refused"
    await pit.wagers({2: FIVE_CARD}, table="T-2", round_id="R-open")
    assert (await pit.audit()).problems == ()
    return pit


async def stream(pit: Sent) -> list[StreamEntry]:
    return cast("list[StreamEntry]", await pit.redis.xrange(pit.store.keys.ledger))


async def held_data(pit: Sent) -> dict[str, Any]:
    """Return the tables and balances of a link. The tables have all their texts themselves."""
    await keep_texts(pit.store, await pit.store.last_entry())
    tables = {table: earlier_fields(await stored_table(pit.store, table)) for table in TABLES}
    snapshot = await pit.store.snapshot(indexes=True)
    return {**tables, "accounts": snapshot.accounts, "tallies": snapshot.tallies}


async def test_an_upgraded_store_has_all_and_plays_on(pit: Sent) -> None:
    was, entries = await held_data(pit), await pit.store.entries(0, 1_000)
    earlier = await make_earlier(pit.store)
    assert {table: earlier[table] for table in TABLES} == {table: was[table] for table in TABLES}
    assert {"round", "basis", "wagers", "draw", "contributed", "last"} <= earlier["T-2"].keys()
    assert {"held", "claims", "over"} <= earlier["T-1"].keys()
    assert len([name for name in earlier["T-2"] if name.startswith("reply:")]) == REPLIES_KEPT
    with pytest.raises(ResponseError, match="the data is of version 3"):
        await pit.store.apply([], [])
    keys = pit.store.keys
    await upgrade_link(pit.store, "pitlink")
    assert await held_data(pit) == was
    assert not await pit.redis.exists(*map(keys.earlier_table, TABLES))
    after = await pit.store.entries(0, 1_000)
    assert after[: len(entries)] == entries
    assert [fields["kind"] for _, fields in after[len(entries) :]] == [b"upgrade"] * (SCHEMA - 3)
    assert await pit.store.schema() == SCHEMA
    await pit.note()
    await pit.goes_on()
    assert (await pit.audit()).problems == ()
    await pit.check_repeats()
    assert not (await pit.restoring().look())[1], "no restore is due"
    won = await pit.result({2: ROYAL}, table="T-2", round_id="R-open", community="Js Ts")
    assert won.status == "accepted"
    assert won.claims
    assert await held_by(pit.store, "T-1")
    await pit.reject_what_waits()
    assert await held_by(pit.store, "T-1") == b""
    await pit.wagers({3: PROGRESSIVE}, round_id="R-next")
    assert (await pit.void(round_id="R-next")).status == "accepted"
    assert (await pit.audit()).problems == ()


async def test_days_of_both_layouts_are_archived_trimmed_and_restored(pit: Sent) -> None:
    await make_earlier(pit.store)
    await upgrade_link(pit.store, "pitlink")
    await pit.goes_on()
    await pit.result({2: RAGS}, table="T-2", round_id="R-open")
    await pit.reject_what_waits()
    days = Days(pit)
    days.clock.now += timedelta(days=4)
    await days.keep()
    for number in range(3):
        await pit.wagers({1: PROGRESSIVE}, round_id=f"A{number}")
        await pit.void(round_id=f"A{number}")
        await days.keep(timedelta(days=1))
        await pit.archive()
    ((first, fields), *_) = await stream(pit)
    assert PACKED.encode() in fields, "the entries of the old layout are in the archive"
    assert first == b"%d-0" % ((await pit.store.checkpoint()).entries + 1)
    mark = LedgerMark(pit.home, pit.link.id).seen
    assert (await audit_link(pit.store, pit.files, mark, lambda *_: None)).problems == ()
    was = await held_data(pit)
    await pit.note()
    await pit.lost_and_restored(pit.archived)
    made = await held_data(pit)
    assert made["accounts"] == was["accounts"]
    assert made["tallies"] == was["tallies"]


async def test_a_store_of_the_earlier_version_is_upgraded_before_its_outboxes_are_read(
    pit: Sent,
) -> None:
    await make_earlier(pit.store)
    with pytest.raises(RestoreError, match="run `pitlink upgrade`"):
        await pit.restoring().look()


async def test_an_event_that_is_refused_while_the_upgrade_reads_is_not_lost(
    pit: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service of the earlier release answers it. It writes no ledger entry."""
    earlier = await make_earlier(pit.store)
    key, last = pit.store.keys.earlier_table("T-2"), int(earlier["T-2"]["last"])
    snapshot, reply = LinkStore.snapshot, b"x" * 32 + b'{"seq":%d,"status":"refused"}' % (last + 1)

    async def refused_meanwhile(self: LinkStore, *, indexes: bool = False) -> object:
        found = await snapshot(self, indexes=indexes)
        fields = {"last": str(last + 1), f"reply:{last + 1}": reply}
        await pit.redis.hset(key, mapping=fields)  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(LinkStore, "snapshot", refused_meanwhile)
    await upgrade_link(pit.store, "pitlink")
    stored = await stored_table(pit.store, "T-2")
    assert (stored.state.last, stored.replies[last + 1]) == (last + 1, reply)
    assert sorted(stored.replies) == [*range(last - REPLIES_KEPT + 2, last + 2)]


@pytest.mark.parametrize("searches", [True, False])
async def test_tables_that_left_the_floor_are_upgraded(pit: Sent, *, searches: bool) -> None:
    """With a list of users, Redis lets nobody search its keys."""
    await make_earlier(pit.store)
    store = LinkStore(pit.redis, msgspec.structs.replace(pit.link, table=pit.link.table[:1]))
    if not searches:
        await pit.redis.acl_setuser("default", enabled=True, nopass=True, keys=["*"],
                                    categories=["+@all"], commands=["-scan"])  # fmt: skip
    try:
        await upgrade_link(store, "pitlink")
    finally:
        await pit.redis.acl_setuser("default", enabled=True, nopass=True, keys=["*"],
                                    categories=["+@all"])  # fmt: skip
    assert (await stored_table(pit.store, "T-2")).state.round == "R-open"
    assert not await pit.redis.exists(pit.store.keys.earlier_table("T-2"))
    assert (await LinkAudit(pit.store).run()).problems == ()


@pytest.mark.parametrize(
    "damage", [{"last": "x"}, {"basis": "x"}, {"contributed": b"\xc1"}, {"contributed": None},
               {"wagers": None}, {"draw": None}],
)  # fmt: skip
async def test_a_table_that_cannot_be_read_stops_the_upgrade_before_it_writes(
    pit: Sent, damage: dict[str, bytes | str | None]
) -> None:
    await make_earlier(pit.store)
    key = pit.store.keys.earlier_table("T-2")
    for field, value in damage.items():
        await pit.redis.hdel(key, field)
        if value is not None:
            await pit.redis.hset(key, field, value)
    before = (await pit.store.snapshot()).meters
    with pytest.raises(ValueError, match="the data of table T-2 of link pit"):
        await upgrade_link(pit.store, "pitlink")
    assert (await pit.store.snapshot()).meters == before
    assert await pit.store.schema() == 3
    assert await pit.redis.exists(pit.store.keys.earlier_table("T-1"))
    assert not await pit.redis.exists(pit.store.keys.tables)


@pytest.mark.parametrize("version", [1, 2])
async def test_each_earlier_version_reaches_this_one(pit: Sent, version: int) -> None:
    """The entries of the first upgrades have the layout of their versions."""
    was = await held_data(pit)
    await make_earlier(pit.store, version)
    await upgrade_link(pit.store, "pitlink")
    assert await held_data(pit) == was
    assert (await pit.audit()).problems == ()
    rows = await stream(pit)
    layouts = [PACKED.encode() in fields for _, fields in rows[version - 6 :]]
    assert layouts == [False] * (4 - version) + [True] * 2
