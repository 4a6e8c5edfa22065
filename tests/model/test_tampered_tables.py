"""An audit names tables whose round, seq or hold was altered in the store, and altered acts."""

import json
from typing import Any, cast

import msgspec
import pytest
from redis.asyncio import Redis

from meters.books.audit import LinkAudit
from meters.books.store import LinkStore
from meters.books.stored_tables import DIGEST, NO_STATE, PACK
from tests.model.pit import BONUS, FIVE_OF_SIX, PROGRESSIVE, RAGS, Pit, event_bytes
from tests.model.tampering import Fields, play_a_while, rewrite
from tests.model.test_asks import confirm
from tests.model.test_corrected_wagers import correct
from tests.stored_tables import (
    delete_table,
    held_by,
    set_reply,
    set_table,
    set_wagers,
    stored_table,
)

pytestmark = pytest.mark.duty("D17")

WAITING = "pit.T-1-2-4"
NO_ROUND = "round of an open round, the ledger says that there is none"


@pytest.fixture
async def played(pit: Pit) -> Pit:
    """Return a link with a table held by wins, and another with an open round."""
    await play_a_while(pit)
    assert (await pit.audit()).balanced
    return pit


async def problems(pit: Pit) -> tuple[str, ...]:
    """Return what a new audit finds."""
    return (await pit.audit()).problems


async def altered(pit: Pit, table: str, **values: object) -> tuple[str, ...]:
    """Return what an audit finds once values of a table's state are changed."""
    await set_table(pit.store, table, **values)
    return await problems(pit)


async def held(pit: Pit) -> list[dict[str, Any]]:
    """Return the wins that hold the first table, according to the store."""
    return [json.loads(line) for line in (await held_by(pit.store, "T-1")).splitlines()]


def lines(wins: list[dict[str, Any]]) -> str:
    """Return wins in the form in which a table's state has those that hold it."""
    return b"\n".join(map(msgspec.json.encode, wins)).decode()


async def test_table_that_is_no_longer_held_is_named_with_its_claims(played: Pit) -> None:
    """Without the field the table would play on before its hand pays are paid."""
    claims = [win["claim"] for win in await held(played)]
    assert WAITING in claims
    expected = "does not hold it, the ledger says that it is not paid"
    found = await altered(played, "T-1", held="")
    assert found == tuple(f"table T-1: claim {claim} {expected}" for claim in claims)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"amount": 1}, f"claim {WAITING} holds it with 1 cents, the ledger says "),
        ({"position": 7}, f"claim {WAITING} holds it as progressive at position 7, the ledger "),
        ({"item": "five_of_six"}, f"claim {WAITING} holds it as five_of_six at position 3, the "),
    ],
)
async def test_hold_that_was_altered_is_named(
    played: Pit, changed: dict[str, object], expected: str
) -> None:
    wins = [win | (changed if win["claim"] == WAITING else {}) for win in await held(played)]
    (problem,) = await altered(played, "T-1", held=lines(wins))
    assert problem.startswith(f"table T-1: {expected}")


async def test_hold_by_a_win_that_is_decided_or_of_another_table_is_named(played: Pit) -> None:
    wins = await held(played)
    (problem,) = await altered(played, "T-1", held=lines([*wins, wins[0] | {"claim": "pit.X-1"}]))
    assert problem == "table T-1: claim pit.X-1 holds it, the ledger says that it does not"
    (problem,) = await altered(played, "T-1", held="junk")
    assert problem.startswith("table T-1: the wins that hold it cannot be read")
    await set_table(played.store, "T-1", held=lines(wins))
    (problem,) = await altered(played, "T-2", held=lines(wins[:1]))
    assert problem.startswith(f"table T-2: claim {wins[0]['claim']} holds it")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("round", "R9"), ("basis", 1), ("wagers", "{}"), ("draw", '{"magic_card":"As"}'),
        ("draw", '{"magic_card":"As","lucky_position":null}'), ("contributed", ()),
        ("round", ""), ("basis", 0), ("wagers", None), ("draw", ""), ("draw", "junk"),
    ],
)  # fmt: skip
async def test_open_round_that_was_altered_is_named_with_its_field(
    played: Pit, field: str, value: object
) -> None:
    """Otherwise a result would be settled on wagers, or a draw, that did not exist."""
    if field == "wagers":
        await set_wagers(played.store, "T-2", cast("str | None", value))
    else:
        await set_table(played.store, "T-2", **{field: value})
    (problem,) = await problems(played)
    named = "the contributions of its open round" if field == "contributed" else f"{field} is "
    assert problem.startswith(f"table T-2: {named}")


async def test_wager_that_was_put_into_an_open_round_is_named_before_it_wins(played: Pit) -> None:
    event = event_bytes(
        5, "wagers", "R3", positions=[{"position": 5, "wagers": {PROGRESSIVE: 100}}]
    )
    await set_wagers(played.store, "T-2", event.decode())
    (problem,) = await problems(played)
    assert problem.startswith("table T-2: wagers is ")


async def test_another_entry_beside_the_right_wagers_is_named_before_it_wins(played: Pit) -> None:
    """The service reads the wagers from the ledger entry that the table names."""
    redis, keys, store = played.redis, played.store.keys, played.store
    due = (await stored_table(store, "T-2")).state.entry
    entries = dict(await store.entries(0, 1_000))
    other = next(at for at, one in entries.items() if one["kind"] == b"wagers" and at != due)
    await redis.hset(keys.rounds, "T-2", entries[due]["event"])
    await set_table(store, "T-2", entry=other)
    (record,) = await store.table_states(["T-2"])
    assert record.wagers == entries[other]["event"]
    found = await problems(played)
    assert found[0] == f"table T-2: entry is '{other}', the ledger says '{due}'"


async def test_number_with_too_many_digits_is_named_and_stops_no_audit(played: Pit) -> None:
    digits, last = b"9" * 5_000, (await stored_table(played.store, "T-2")).state.last
    was = (await stored_table(played.store, "T-2")).replies[last]
    await set_reply(played.store, "T-2", last, was[:DIGEST] + b"#" + digits)
    (problem,) = await problems(played)
    assert problem.startswith(f"table T-2: the reply that it keeps to event {last} is not the one")
    await set_reply(played.store, "T-2", last, was)
    await played.redis.hset(played.store.keys.replies, "T-2:31", digits + b" " + was)
    (problem,) = await problems(played)
    assert problem.startswith("table T-2: it keeps '9999")


async def test_number_that_no_entry_has_is_named_and_stops_no_reader(played: Pit) -> None:
    (problem,) = await altered(played, "T-2", entry=-5)
    assert problem.startswith("table T-2: entry is '-5'")
    (record,) = await played.store.table_states(["T-2"])
    assert (record.open_round, record.wagers) == ("R3", b"")


async def test_round_that_only_the_store_or_only_the_ledger_has_is_named(played: Pit) -> None:
    redis, keys = played.redis, played.store.keys
    (problem,) = await altered(played, "T-1", round="R7")
    assert problem == f"table T-1: it has {NO_ROUND}"
    await set_table(played.store, "T-1", round="")
    await redis.hset(keys.rounds, "T-1", event_bytes(5, "wagers", "R3", positions=[]))
    (problem,) = await problems(played)
    assert (
        problem == "table T-1: it has wagers of an open round, the ledger says that there is none"
    )
    await redis.hdel(keys.rounds, "T-1")
    found = await altered(played, "T-2", round="", basis=0, draw="", contributed=(), entry=0)
    assert len(found) == 5
    assert all(problem.startswith("table T-2: ") for problem in found)


@pytest.mark.parametrize("value", [b"", b"junk", b"\x90", b"\x95\x01\xc0\xc0\xc0\xc0", b"\xc1"])
async def test_value_that_cannot_be_read_is_named_with_its_table(played: Pit, value: bytes) -> None:
    redis, keys = played.redis, played.store.keys
    for table in ("T-1", "T-2"):
        was = cast("bytes", await redis.hget(keys.tables, table))
        await redis.hset(keys.tables, table, value)
        (problem,) = await problems(played)
        assert problem.startswith(f"table {table}: its data in Redis cannot be read: ")
        await redis.hset(keys.tables, table, was)
    assert await problems(played) == ()


@pytest.mark.parametrize("more", [0, -1])
async def test_state_with_another_count_of_values_cannot_be_read(played: Pit, more: int) -> None:
    stored = await stored_table(played.store, "T-1")
    values = [*msgspec.structs.asdict(stored.state).values(), "more"]
    await played.redis.hset(
        played.store.keys.tables, "T-1", PACK.encode(values[: len(values) + 4 * more])
    )
    (problem,) = await problems(played)
    assert problem.startswith("table T-1: its data in Redis cannot be read: ")


async def test_data_of_a_table_that_does_not_exist_is_named(played: Pit) -> None:
    redis, keys = played.redis, played.store.keys
    stored = await stored_table(played.store, "T-1")
    assert stored.packed_state is not None
    opened = event_bytes(5, "wagers", "R3", positions=[])
    for key, field, value, expected in (
        (keys.tables, "T-9", stored.packed_state, "table T-9: "),
        (
            keys.tables,
            "T-9",
            PACK.encode(NO_STATE),
            "table T-9: Redis has data of it, the link has no",
        ),
        (keys.rounds, "T-9", opened, "table T-9: it has wagers of an open round"),
        (keys.repeated_claims, "T-9", b"pit.T-9-1-1", "table T-9: its repeated claims are"),
        (
            keys.replies,
            "T-9:1",
            b"1 " + b"x" * 32,
            "table T-9: it keeps a reply to event 1",
        ),
        (keys.replies, "T-9:32", b"", "Redis has a kept reply 'T-9:32' of no table"),
        (keys.replies, "junk", b"", "Redis has a kept reply 'junk' of no table"),
    ):
        await redis.hset(key, field, value)
        found = await problems(played)
        assert found
        assert all(problem.startswith(expected) for problem in found)
        await redis.hdel(key, field)
    assert await problems(played) == ()


async def test_table_whose_events_were_all_refused_may_leave_the_floor(pit: Pit) -> None:
    """Redis keeps the number of its last event, in case it returns."""
    await pit.open()
    assert (await pit.void(table="T-2")).status == "refused"
    link = msgspec.structs.replace(pit.link, table=pit.link.table[:1])
    assert (await LinkAudit(LinkStore(pit.redis, link)).run()).problems == ()


async def test_event_number_that_was_raised_is_named(played: Pit) -> None:
    """Otherwise the table's next events would be passed over as used up long ago."""
    (problem,) = await altered(played, "T-1", last=3)
    assert problem == "table T-1: it keeps no reply to event 3, its last event is 3"


async def test_kept_reply_that_was_altered_or_is_gone_is_named(played: Pit) -> None:
    """Otherwise a repeat would get another answer than the event."""
    await pit_refuses(played)
    expected = "the reply that it keeps to event 2 is not the one in the ledger"
    kept = (await stored_table(played.store, "T-1")).replies[2]
    for stored in (b"x" * 32 + b"{}", None):
        await set_reply(played.store, "T-1", 2, stored)
        assert await problems(played) == (f"table T-1: {expected}",)
    await set_reply(played.store, "T-1", 2, kept)
    await set_reply(played.store, "T-1", 3, None)
    (problem,) = await problems(played)
    assert problem == "table T-1: it keeps no reply to event 3, its last event is 3"
    forged = (
        b"x" * 32
        + b'{"seq":3,"status":"accepted","draw":{"magic_card":"As","lucky_position":null}}'
    )
    await set_reply(played.store, "T-1", 3, forged)
    (problem,) = await problems(played)
    assert problem.endswith("a reply to event 3, no refusal, that is in no ledger entry")


async def test_kept_reply_in_a_wrong_place_is_named(played: Pit) -> None:
    """A repeat of the event in whose place it is would not find its own reply."""
    redis, key = played.redis, played.store.keys.replies
    kept = cast("bytes", await redis.hget(key, "T-1:2"))
    for text in (kept, b"junk"):
        await redis.hset(key, "T-1:5", text)
        (problem,) = await problems(played)
        assert problem.startswith("table T-1: it keeps ")
        assert problem.endswith("in the place 5 of a reply")
    await redis.hdel(key, "T-1:5")
    await set_reply(played.store, "T-1", 5, kept[2:])
    (problem,) = await problems(played)
    assert problem == "table T-1: it keeps a reply to event 5, its last event is 2"


async def pit_refuses(pit: Pit) -> None:
    """Have the books refuse an event of the first table."""
    assert (await pit.wagers({3: PROGRESSIVE})).status == "refused"
    assert await problems(pit) == ()


@pytest.mark.parametrize("last", [1, 0, -1])
async def test_event_number_that_was_set_back_is_named(played: Pit, last: int) -> None:
    """Otherwise a repeat of a counted event would be counted again."""
    (problem,) = await altered(played, "T-1", last=last)
    assert problem == f"table T-1: its last event is {last}, the ledger has event 2"


async def test_table_that_was_deleted_is_named(played: Pit) -> None:
    await delete_table(played.store, "T-1")
    assert "table T-1: its last event is 0, the ledger has event 2" in await problems(played)


async def test_event_that_was_counted_twice_is_named_for_ever(pit: Pit) -> None:
    """This holds although its seq in the store is right again."""
    await pit.open()
    await pit.wagers({3: PROGRESSIVE})
    await pit.void()
    repeated = (await pit.entries())[-2]["event"].encode()
    await set_table(pit.store, "T-1", last=0, over="")
    await set_reply(pit.store, "T-1", 1, None)
    assert b'"accepted"' in (await pit.send("T-1", repeated) or b"")
    await set_table(pit.store, "T-1", last=2, over="R1")
    (problem,) = await problems(pit)
    assert problem.endswith("event 1 of table T-1 follows its event 2: it was counted again")


async def test_refused_events_and_tables_at_play_are_no_difference(pit: Pit) -> None:
    """A refusal uses up a seq without an entry, and a draw may be empty."""
    await pit.open()
    await pit.wagers({3: BONUS})
    assert (await pit.result({3: RAGS}, dealer="2c 2c 2c")).status == "refused"
    assert await problems(pit) == ()
    await pit.result({3: RAGS})
    assert (await pit.void(table="T-2")).status == "refused"
    assert await problems(pit) == ()


async def test_act_that_is_hidden_or_invented_is_named(played: Pit) -> None:
    """The page of acts shows what its index has."""
    keys, entries = played.store.keys, await played.entries()
    paid = next(entry["id"] for entry in entries if entry["kind"] == "pay")
    await played.redis.zrem(keys.acts, paid)
    assert await problems(played) == (f"entry {paid} is not in the index of acts",)
    await played.redis.zadd(keys.acts, {paid: 1})
    assert await problems(played) == (f"entry {paid} is out of its order in the index of acts",)
    await played.redis.zadd(keys.acts, {paid: int(paid), "999": 999})
    assert await problems(played) == ("the index of acts has '999', which is no act of the ledger",)


async def test_win_that_was_moved_in_its_index_is_named(played: Pit) -> None:
    keys = played.store.keys
    wins = cast("list[bytes]", await played.redis.zrange(keys.wins, 0, -1))
    await played.redis.zadd(keys.wins, {wins[0]: 1, wins[1]: -1})
    assert await problems(played) == ("2 wins are out of their order in the index",)


async def test_removed_repeated_claim_of_an_owed_envy_bonus_is_named(keeping_redis: Redis) -> None:
    """This is so even if somebody wrote the names in the reply in another way, as JSON allows."""
    pit = Pit(keeping_redis)
    await pit.open()
    await pit.round({1: FIVE_OF_SIX, 2: PROGRESSIVE}, {1: "As Ks Qs", 2: RAGS})
    assert (await pit.audit()).problems == ()

    def escape(number: int, fields: Fields) -> Fields:
        return fields | {b"reply": fields[b"reply"].replace(b'"envy_of"', rb'"envy\u005fof"')}

    await rewrite(pit, escape)
    await keeping_redis.hdel(pit.store.keys.repeated_claims, "T-1")
    problems = (await pit.audit()).problems
    assert "table T-1: its repeated claims are missing, not 'pit.T-1-2-e1'" in problems


@pytest.mark.parametrize("kind", ["wagers", "correct_wager", "result", "void"])
@pytest.mark.parametrize(
    ("field", "altered", "named"),
    [
        ("by", ("T-2", "T-1"), "it is by table:T-1"),
        ("event", ('"seq":', '"seq":7'), "its event is 7"),
        ("round", ("R", "X"), "its event is "),
        ("reply", ("accepted", "refused"), "its reply is refused"),
        ("reply", ('"seq":', '"seq":7'), "its reply is accepted to event 7"),
    ],
    ids=["by", "number", "round", "refusal", "another event"],
)
async def test_what_an_entry_says_twice_is_the_same(
    pit: Pit, kind: str, field: str, altered: tuple[str, str], named: str
) -> None:
    """All digests are correct. A table that repeats its event would get the altered reply."""
    after = [{"position": 2, "wagers": {PROGRESSIVE: 100}}]
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, table="T-2")
    await correct(pit, "take_back", 1, {}, table="T-2", positions=after)
    await confirm(pit)
    await correct(pit, "take_back", 1, {}, table="T-2", positions=after)
    await pit.result({2: RAGS}, table="T-2")
    await pit.wagers({1: PROGRESSIVE}, table="T-2", round_id="R2")
    await pit.void(table="T-2", round_id="R2")
    assert (await pit.audit()).balanced

    def change(_: int, entry: Fields) -> Fields:
        if entry[b"kind"] != kind.encode():
            return entry
        before = entry[field.encode()].decode()
        text = before.replace(*altered, 1)
        assert text != before
        return entry | {field.encode(): text.encode()}

    await rewrite(pit, change)
    found = await problems(pit)
    assert any(named in one for one in found), found
