"""Texts of ledger entries that tables still need after the entries leave Redis (duty D17)."""

from typing import cast

import pytest

from meters.ledger.redis_layout import entry_of, reply_field
from meters.process.clock import now_text
from meters.store.old_entries import compress_entries, keep_texts
from meters.store.script_loader import load_script
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import AT, Pit
from tests.mqtt.events import encode, void, wagers
from tests.stored_tables import set_table, stored_table

pytestmark = pytest.mark.duty("D17")


async def _opened(pit: Pit) -> list[tuple[bytes, bytes]]:
    """Play a void round and open another at table T-2. Return its events and their replies."""
    events = [encode(one) for one in (wagers(1), void(2), void(3, "R7"), wagers(4, "R2"))]
    replies = [await pit.send("T-2", event) for event in events]
    assert None not in replies
    return [(event, reply or b"") for event, reply in zip(events, replies, strict=True)]


async def _check_repeats(pit: Pit, sent: list[tuple[bytes, bytes]]) -> None:
    for event, reply in sent:
        assert await pit.send("T-2", event) == reply


async def test_a_table_needs_no_entry_that_left_redis(kept: Kept) -> None:
    pit = kept.pit
    sent = await _opened(pit)
    entry = (await stored_table(pit.store, "T-2")).state.entry
    assert entry in await kept.live()
    await _check_repeats(pit, sent)
    await kept.days.keep(A_DAY)
    await kept.run(live_days=0)
    assert entry not in await kept.live()
    assert (await stored_table(pit.store, "T-2")).state.entry == 0
    await _check_repeats(pit, sent)
    pit.restart()
    (record,) = await pit.store.table_states(["T-2"])
    assert record.wagers == sent[-1][0]
    assert (await pit.audit()).problems == ()
    assert (await kept.audit()).problems == ()
    assert b'"accepted"' in (await pit.send("T-2", encode(void(5, "R2"))) or b"")
    assert not await pit.redis.hexists(pit.store.keys.rounds, "T-2")
    assert (await pit.audit()).problems == ()


async def test_a_reply_is_found_in_a_compressed_entry(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("meters.store.old_entries.PLAIN_ENTRIES", 0)
    monkeypatch.setattr("meters.store.old_entries.BLOCK_ENTRIES", 1)
    store, sent = kept.pit.store, await _opened(kept.pit)
    assert await compress_entries(store) > 0
    assert await store.redis.xlen(store.keys.ledger) == 0
    await _check_repeats(kept.pit, sent)


async def test_a_hello_reads_no_ledger_entry(pit: Pit) -> None:
    """After a failure of the network, all tables say hello at once."""
    await _opened(pit)

    async def reads() -> int:
        stats = cast("dict[str, dict[str, int]]", await pit.redis.info("commandstats"))
        return stats.get("cmdstat_xrange", {"calls": 0})["calls"]

    before = await reads()
    reply = await pit.send("T-2", b'{"type":"hello","at":"%s"}' % AT.encode())
    assert b'"open_round":"R2"' in (reply or b"")
    assert await reads() == before


async def test_what_changed_meanwhile_is_not_copied(pit: Pit) -> None:
    await _opened(pit)
    store, keys = pit.store, pit.store.keys
    was = await stored_table(store, "T-2")
    script = store.redis.register_script(load_script("keep_texts"))
    await script(
        keys=[*store.fixed_keys, keys.tables, keys.rounds, keys.replies],
        args=[
            now_text(), 1, reply_field("T-2", 4), "4 another", "4 older",
            "T-2", was.state.entry - 1, "{}",
        ],
    )  # fmt: skip
    assert await stored_table(store, "T-2") == was


async def test_an_entry_that_cannot_be_read_gives_no_reply_and_is_not_copied(pit: Pit) -> None:
    sent = await _opened(pit)
    last, keys = await pit.store.last_entry(), pit.store.keys
    await pit.redis.delete(keys.ledger)
    await pit.redis.xadd(keys.ledger, {"entries": "junk"}, id=f"{last}-0")
    assert await pit.send("T-2", sent[-1][0]) is None
    with pytest.raises(ValueError, match=f"entry {last} cannot be read"):
        await keep_texts(pit.store, last)
    assert (await stored_table(pit.store, "T-2")).state.entry == last


async def test_an_entry_named_for_a_round_that_began_before_the_audit_is_a_problem(
    kept: Kept,
) -> None:
    pit = kept.pit
    await _opened(pit)
    await kept.days.keep(A_DAY)
    await kept.run(live_days=0)
    assert (await pit.audit()).problems == ()
    assert b'"accepted"' in (await pit.send("T-1", encode(wagers(1))) or b"")
    entry = (await stored_table(pit.store, "T-1")).state.entry
    await set_table(pit.store, "T-2", entry=entry)
    found = (await pit.audit()).problems
    assert any(one.startswith(f"table T-2: entry is '{entry}', the ledger says") for one in found)


async def test_only_entries_up_to_the_last_are_copied(pit: Pit) -> None:
    await _opened(pit)
    store = pit.store
    was = await stored_table(store, "T-2")
    named = {seq: entry for seq, kept in was.replies.items() if (entry := entry_of(kept))}
    assert sorted(named) == [1, 2, 4]
    await keep_texts(store, named[2])
    now = await stored_table(store, "T-2")
    assert {seq for seq, kept in now.replies.items() if entry_of(kept)} == {4}
    assert (now.state, now.wagers) == (was.state, None)
    assert (await pit.audit()).problems == ()
