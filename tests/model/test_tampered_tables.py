"""An audit names tables whose round, seq, hold or correction request was altered in the store.

It also names acts that were altered, and a round that was settled on altered wagers or an altered
draw.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final, cast

import msgspec
import pytest
from redis.asyncio import Redis

from meters.books.audit import LinkAudit
from meters.books.store import LinkStore
from meters.books.stored_tables import DIGEST, NO_STATE, PACK, STATE
from tests.model.pit import (
    AT,
    BONUS,
    DEALER_BONUS,
    FIVE_OF_SIX,
    PROGRESSIVE,
    RAGS,
    Pit,
    code,
    event_bytes,
)
from tests.model.tampering import Fields, rewrite
from tests.model.test_asks import confirm, correct, opened, refuse, result, void
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


async def problems(pit: Pit) -> tuple[str, ...]:
    return (await pit.audit()).problems


async def altered(pit: Pit, table: str, **values: object) -> tuple[str, ...]:
    await set_table(pit.store, table, **values)
    return await problems(pit)


# The wins that hold a table. The first table of `played` is held, the second has an open round.


async def held(pit: Pit) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (await held_by(pit.store, "T-1")).splitlines()]


def lines(wins: list[dict[str, Any]]) -> str:
    """Return wins in the form in which a table's state has those that hold it."""
    return b"\n".join(map(msgspec.json.encode, wins)).decode()


async def test_hold_that_was_altered_is_named(played: Pit) -> None:
    """Without it the table would play on before its hand pays are paid."""
    wins = await held(played)
    claims = [win["claim"] for win in wins]
    assert WAITING in claims
    expected = "does not hold it, the ledger says that it is not paid"
    assert await altered(played, "T-1", held="") == tuple(
        f"table T-1: claim {claim} {expected}" for claim in claims
    )
    waits = f"claim {WAITING} holds it"
    for changed, said in (
        ({"amount": 1}, f"{waits} with 1 cents, the ledger says "),
        ({"position": 7}, f"{waits} as progressive at position 7, the ledger "),
        ({"item": "five_of_six"}, f"{waits} as five_of_six at position 3, the "),
    ):
        other = [win | (changed if win["claim"] == WAITING else {}) for win in wins]
        (problem,) = await altered(played, "T-1", held=lines(other))
        assert problem.startswith(f"table T-1: {said}")
    (problem,) = await altered(played, "T-1", held=lines([*wins, wins[0] | {"claim": "pit.X-1"}]))
    assert problem == "table T-1: claim pit.X-1 holds it, the ledger says that it does not"
    (problem,) = await altered(played, "T-1", held="junk")
    assert problem.startswith("table T-1: the wins that hold it cannot be read")
    await set_table(played.store, "T-1", held=lines(wins))
    (problem,) = await altered(played, "T-2", held=lines(wins[:1]))
    assert problem.startswith(f"table T-2: claim {claims[0]} holds it")


# The open round of a table.


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("round", "R9"), ("basis", 1), ("wagers", "{}"), ("draw", '{"magic_card":"As"}'),
        ("draw", '{"magic_card":"As","lucky_position":null}'), ("contributed", ()),
        ("round", ""), ("basis", 0), ("wagers", None), ("draw", ""), ("draw", "junk"),
        ("wagers", event_bytes(
            5, "wagers", "R3", positions=[{"position": 5, "wagers": {PROGRESSIVE: 100}}]
        ).decode()),
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


async def test_another_entry_beside_the_right_wagers_is_named_before_it_wins(played: Pit) -> None:
    """The service reads the wagers from the ledger entry that the table names."""
    redis, keys, store = played.redis, played.store.keys, played.store
    due = (await stored_table(store, "T-2")).state.entry
    entries = dict(await store.entries(0, 1_000))
    other = next(at for at, one in entries.items() if one["kind"] == b"wagers" and at != due)
    await redis.hset(keys.rounds, "T-2", entries[due]["event"])
    found = await altered(played, "T-2", entry=other)
    (record,) = await store.table_states(["T-2"])
    assert record.wagers == entries[other]["event"]
    assert found[0] == f"table T-2: entry is '{other}', the ledger says '{due}'"
    await redis.hdel(keys.rounds, "T-2")
    (problem,) = await altered(played, "T-2", entry=-5)
    assert problem.startswith("table T-2: entry is '-5'")
    (record,) = await store.table_states(["T-2"])
    assert (record.open_round, record.wagers) == ("R3", b""), "no entry has that number"


async def test_round_that_only_the_store_or_only_the_ledger_has_is_named(played: Pit) -> None:
    redis, keys = played.redis, played.store.keys
    assert await altered(played, "T-1", round="R7") == (f"table T-1: it has {NO_ROUND}",)
    await set_table(played.store, "T-1", round="")
    await redis.hset(keys.rounds, "T-1", event_bytes(5, "wagers", "R3", positions=[]))
    assert await problems(played) == (
        "table T-1: it has wagers of an open round, the ledger says that there is none",
    )
    await redis.hdel(keys.rounds, "T-1")
    found = await altered(played, "T-2", round="", basis=0, draw="", contributed=(), entry=0)
    assert len(found) == 5
    assert all(problem.startswith("table T-2: ") for problem in found)


# Data that cannot be read, or of no table.


async def test_value_that_cannot_be_read_is_named_with_its_table(played: Pit) -> None:
    redis, keys = played.redis, played.store.keys
    stored = await stored_table(played.store, "T-1")
    values = [*msgspec.structs.asdict(stored.state).values()]
    more, fewer = (PACK.encode([*each]) for each in ((*values, "more", "more"), values[:-3]))
    for table in ("T-1", "T-2"):
        was = cast("bytes", await redis.hget(keys.tables, table))
        for value in (b"", b"junk", b"\x90", b"\x95\x01\xc0\xc0\xc0\xc0", b"\xc1", more, fewer):
            await redis.hset(keys.tables, table, value)
            (problem,) = await problems(played)
            assert problem.startswith(f"table {table}: its data in Redis cannot be read: ")
        await redis.hset(keys.tables, table, was)
    assert await problems(played) == ()


async def test_data_of_a_table_that_does_not_exist_is_named(played: Pit) -> None:
    redis, keys = played.redis, played.store.keys
    stored = await stored_table(played.store, "T-1")
    assert stored.packed_state is not None
    opened = event_bytes(5, "wagers", "R3", positions=[])
    for key, field, value, expected in (
        (keys.tables, "T-9", stored.packed_state, "table T-9: "),
        (
            keys.tables, "T-9", PACK.encode(NO_STATE),
            "table T-9: Redis has data of it, the link has no",
        ),
        (keys.rounds, "T-9", opened, "table T-9: it has wagers of an open round"),
        (keys.repeated_claims, "T-9", b"pit.T-9-1-1", "table T-9: its repeated claims are"),
        (keys.replies, "T-9:1", b"1 " + b"x" * 32, "table T-9: it keeps a reply to event 1"),
        (keys.replies, "T-9:32", b"", "Redis has a kept reply 'T-9:32' of no table"),
        (keys.replies, "junk", b"", "Redis has a kept reply 'junk' of no table"),
    ):  # fmt: skip
        await redis.hset(key, field, value)
        found = await problems(played)
        assert found
        assert all(problem.startswith(expected) for problem in found)
        await redis.hdel(key, field)
    assert await problems(played) == ()


# The number of a table's last event, and the replies that are kept.


async def test_event_number_that_was_changed_is_named(played: Pit) -> None:
    """Otherwise the table's next events would be passed over, or a counted one counted again."""
    for last in (1, 0, -1):
        assert await altered(played, "T-1", last=last) == (
            f"table T-1: its last event is {last}, the ledger has event 2",
        )
    assert await altered(played, "T-1", last=3) == (
        "table T-1: it keeps no reply to event 3, its last event is 3",
    )
    await delete_table(played.store, "T-1")
    assert "table T-1: its last event is 0, the ledger has event 2" in await problems(played)


async def test_kept_reply_that_was_altered_or_is_gone_is_named(played: Pit) -> None:
    """Otherwise a repeat would get another answer than the event."""
    store = played.store
    assert (await played.wagers({3: PROGRESSIVE})).status == "refused"
    assert await problems(played) == ()
    kept = (await stored_table(store, "T-1")).replies[2]
    for stored in (b"x" * 32 + b"{}", None, kept[:DIGEST] + b"#" + b"9" * 5_000):
        await set_reply(store, "T-1", 2, stored)
        assert await problems(played) == (
            "table T-1: the reply that it keeps to event 2 is not the one in the ledger",
        )
    await set_reply(store, "T-1", 2, kept)
    await set_reply(store, "T-1", 3, None)
    assert await problems(played) == (
        "table T-1: it keeps no reply to event 3, its last event is 3",
    )
    drawn = b'{"seq":3,"status":"accepted","draw":{"magic_card":"As","lucky_position":null}}'
    await set_reply(store, "T-1", 3, b"x" * 32 + drawn)
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
    await redis.hset(key, "T-1:5", b"9" * 5_000 + b" " + kept)
    (problem,) = await problems(played)
    assert problem.startswith("table T-1: it keeps '9999")
    await redis.hdel(key, "T-1:5")
    await set_reply(played.store, "T-1", 5, kept[2:])
    assert await problems(played) == (
        "table T-1: it keeps a reply to event 5, its last event is 2",
    )


async def test_event_that_was_counted_twice_is_named_for_ever(pit: Pit) -> None:
    """This holds although its seq in the store is right again."""
    await pit.wagers({3: PROGRESSIVE})
    await pit.void()
    repeated = (await pit.entries())[-2]["event"].encode()
    await set_table(pit.store, "T-1", last=0, over="")
    await set_reply(pit.store, "T-1", 1, None)
    assert b'"accepted"' in (await pit.send("T-1", repeated) or b"")
    (problem,) = await altered(pit, "T-1", last=2, over="R1")
    assert problem.endswith("event 1 of table T-1 follows its event 2: it was counted again")


async def test_refused_events_and_tables_at_play_are_no_difference(pit: Pit) -> None:
    """A refusal uses up a seq without an entry, and a draw may be empty.

    A table whose events were all refused may leave the floor. Redis keeps its number.
    """
    await pit.wagers({3: BONUS})
    assert (await pit.result({3: RAGS}, dealer="2c 2c 2c")).status == "refused"
    assert await problems(pit) == ()
    await pit.result({3: RAGS})
    assert (await pit.void(table="T-2")).status == "refused"
    assert await problems(pit) == ()
    link = msgspec.structs.replace(pit.link, table=pit.link.table[:1])
    assert (await LinkAudit(LinkStore(pit.redis, link)).run()).problems == ()


# Indexes.


async def test_act_or_win_that_is_hidden_invented_or_moved_is_named(played: Pit) -> None:
    """The pages of acts and wins show what their indexes have."""
    keys, entries = played.store.keys, await played.entries()
    paid = next(entry["id"] for entry in entries if entry["kind"] == "pay")
    await played.redis.zrem(keys.acts, paid)
    assert await problems(played) == (f"entry {paid} is not in the index of acts",)
    await played.redis.zadd(keys.acts, {paid: 1})
    assert await problems(played) == (f"entry {paid} is out of its order in the index of acts",)
    await played.redis.zadd(keys.acts, {paid: int(paid), "999": 999})
    assert await problems(played) == ("the index of acts has '999', which is no act of the ledger",)
    await played.redis.zrem(keys.acts, "999")
    wins = cast("list[bytes]", await played.redis.zrange(keys.wins, 0, -1))
    await played.redis.zadd(keys.wins, {wins[0]: 1, wins[1]: -1})
    assert await problems(played) == ("2 wins are out of their order in the index",)


async def test_removed_repeated_claim_of_an_owed_envy_bonus_is_named(keeping_redis: Redis) -> None:
    """This is so even if somebody wrote the names in the reply in another way, as JSON allows."""
    pit = await Pit.opened(keeping_redis)
    await pit.round({1: FIVE_OF_SIX, 2: PROGRESSIVE}, {1: "As Ks Qs", 2: RAGS})
    assert await problems(pit) == ()

    def escape(number: int, fields: Fields) -> Fields:
        return fields | {b"reply": fields[b"reply"].replace(b'"envy_of"', rb'"envy\u005fof"')}

    await rewrite(pit, escape)
    await keeping_redis.hdel(pit.store.keys.repeated_claims, "T-1")
    said = "table T-1: its repeated claims are missing, not 'pit.T-1-2-e1'"
    assert said in await problems(pit)


# Entries of tables.


@pytest.mark.parametrize("kind", ["wagers", "correct_wager", "result", "void"])
async def test_what_an_entry_says_twice_is_the_same(pit: Pit, kind: str) -> None:
    """All digests are correct. A table that repeats its event would get the altered reply."""
    after = [{"position": 2, "wagers": {PROGRESSIVE: 100}}]
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, table="T-2")
    await correct(pit, "take_back", 1, {}, table="T-2", positions=after)
    await confirm(pit)
    await correct(pit, "take_back", 1, {}, table="T-2", positions=after)
    await pit.result({2: RAGS}, table="T-2")
    await pit.wagers({1: PROGRESSIVE}, table="T-2", round_id="R2")
    await pit.void(table="T-2", round_id="R2")
    assert await problems(pit) == ()
    for field, was, becomes, named in (
        (b"by", b"T-2", b"T-1", "it is by table:T-1"),
        (b"event", b'"seq":', b'"seq":7', "its event is 7"),
        (b"round", b"R", b"X", "its event is "),
        (b"reply", b"accepted", b"refused", "its reply is refused"),
        (b"reply", b'"seq":', b'"seq":7', "its reply is accepted to event 7"),
    ):

        def change(
            _: int, entry: Fields, field: bytes = field, was: bytes = was, becomes: bytes = becomes
        ) -> Fields:
            if entry[b"kind"] != kind.encode():
                return entry
            assert was in entry[field]
            return entry | {field: entry[field].replace(was, becomes, 1)}

        def change_back(
            _: int, entry: Fields, field: bytes = field, was: bytes = was, becomes: bytes = becomes
        ) -> Fields:
            back = entry[field].replace(becomes, was, 1)
            return entry | ({field: back} if entry[b"kind"] == kind.encode() else {})

        await rewrite(pit, change)
        found = await problems(pit)
        assert any(named in one for one in found), found
        await rewrite(pit, change_back)
        assert await problems(pit) == ()


# Rounds that are settled on altered wagers or an altered draw.

HANDS = {1: RAGS, 3: "Ts Th 5c"}
WAGERS: Final[dict[str, Any]] = {
    "type": "wagers", "seq": 1, "at": AT, "round": "R1",
    "positions": [
        {"position": 1, "wagers": {PROGRESSIVE: 100}},
        {"position": 3, "wagers": {BONUS: 100, DEALER_BONUS: 100}},
    ],
}  # fmt: skip


async def _settled(
    pit: Pit, hands: dict[int, str] = HANDS, **altered: object
) -> tuple[str, ...]:  # fmt: skip
    await pit.wagers({1: PROGRESSIVE, 3: f"{BONUS} {DEALER_BONUS}"})
    for field, value in altered.items():
        if field == "wagers":
            await set_wagers(pit.store, "T-1", json.dumps(value))
        else:
            await set_table(pit.store, "T-1", **{field: json.dumps(value)})
    pit.restart()
    assert (await pit.result(hands, community="4c Td")).status == "accepted"
    return await problems(pit)


async def test_round_as_it_was_is_no_difference(pit: Pit) -> None:
    assert await _settled(pit) == ()


@pytest.mark.parametrize("put_in", [True, False])
async def test_wager_that_was_put_in_or_taken_away_until_the_round_was_over_is_named(
    pit: Pit, *, put_in: bool
) -> None:
    """This holds although the wager won nothing that waits for a floorperson."""
    wagers, hands = deepcopy(WAGERS), HANDS
    if put_in:
        wagers["positions"].append({"position": 5, "wagers": {PROGRESSIVE: 100}})
        hands = {**HANDS, 5: "Qh 2d 6h"}
    else:
        del wagers["positions"][1]["wagers"][DEALER_BONUS]
    (problem,) = await _settled(pit, hands, wagers=wagers)
    assert problem.endswith("it settles other wagers than those of event 1, which were counted")


@pytest.mark.parametrize(
    ("drawn", "item"),
    [
        ({"magic_card": "Ts", "lucky_position": None}, "magic_card"),
        ({"magic_card": None, "lucky_position": 3}, "lucky_bonus"),
    ],
)
async def test_bonus_that_was_not_drawn_is_named(
    pit: Pit, drawn: dict[str, object], item: str
) -> None:
    (problem,) = await _settled(pit, draw=drawn)
    assert problem.endswith(f"it pays {item}, which was not drawn")


# Corrections that nobody confirmed, and altered correction requests.

MADE_UP = "it says that Ada confirmed it, but no entry of this round says so"


async def _claim_confirmed(pit: Pit, which: int = 1) -> int:
    """Rewrite a void as confirmed by Ada, with all digests recalculated; return its entry."""
    voids = [int(entry["id"]) for entry in await pit.entries() if entry["kind"] == "void"]
    claimed = voids[which - 1]
    by = {b"by": b"table:T-1, confirmed by Ada"}
    await rewrite(pit, lambda number, fields: fields | (by if number == claimed else {}))
    return claimed


async def test_an_entry_that_claims_a_confirmation_that_there_was_not_is_named(pit: Pit) -> None:
    """A confirmation serves for one round, not for the same correction of a later one."""
    await opened(pit)
    await void(pit)
    await confirm(pit)
    await void(pit)
    await opened(pit, round_id="R2")
    await pit.void(round_id="R2")
    await opened(pit)
    assert code(await void(pit, confirm=False)) == "accepted"
    entry = await _claim_confirmed(pit, 3)
    assert any(f"entry {entry}: {MADE_UP}" in each for each in await problems(pit))


@pytest.mark.parametrize(
    "change",
    [
        {b"by": b"Bob"},
        {b"kind": b"refuse_correction"},
        {b"table": b"T-2"},
        {b"event": b'{"ask":"a","act":"confirm_correction","by":"Ada","what":"void","round":"R1"'
                   b',"digest":"0"}'},
        {b"kind": b"close", b"event": b'{"act":"close","by":"Ada"}'},
    ],
    ids=["another person", "a refusal", "another table", "another content", "another act"],
)  # fmt: skip
async def test_another_confirmation_does_not_serve(pit: Pit, change: dict[bytes, bytes]) -> None:
    await opened(pit)
    await void(pit)
    await confirm(pit)
    assert code(await void(pit)) == "accepted"
    assert await problems(pit) == ()
    await rewrite(
        pit,
        lambda _, fields: fields | (change if fields[b"kind"] == b"confirm_correction" else {}),
    )
    assert any(MADE_UP in each for each in await problems(pit))


@pytest.mark.parametrize("decided", ["by nobody", "by Bob", "as a refusal"])
async def test_a_confirmation_written_into_redis_is_named(pit: Pit, decided: str) -> None:
    await opened(pit)
    await (result(pit) if decided == "as a refusal" else void(pit))
    if decided == "by Bob":
        await confirm(pit, by="Bob")
    elif decided == "as a refusal":
        await refuse(pit)
    assert await problems(pit) == ()
    await pit.redis.hset(pit.store.keys.asks, "T-1!", "confirmed\nAda")
    (problem,) = await problems(pit)
    assert (
        problem == "table T-1: its correction is 'confirmed' by 'Ada', the ledger does not say so"
    )
    if decided == "by nobody":
        assert code(await void(pit)) == "accepted", "the script believes the store"
        assert any(MADE_UP in each for each in await problems(pit))


CHANGED: Final[dict[str, tuple[str, Callable[[str], str], str]]] = {
    "other cards": ("T-1", lambda text: text.replace("As", "2s"),
                    "table T-1: its correction request was changed"),
    "no request": ("T-1", lambda _: "junk", "table T-1: its correction request was changed"),
    "a table without a round": (
        "T-2", lambda text: text,
        "table T-2: it asks a floorperson for a correction, the ledger says that no round is open",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("table", "change", "said"), CHANGED.values(), ids=CHANGED)
async def test_a_correction_request_that_was_changed_is_named(
    pit: Pit, table: str, change: Callable[[str], str], said: str
) -> None:
    await opened(pit)
    await void(pit)
    text = (await pit.store.asks())["T-1"]
    await pit.redis.hset(pit.store.keys.asks, table, change(text))
    (problem,) = await problems(pit)
    assert problem.startswith(said)


async def test_a_refused_void_that_was_booked_all_the_same_is_named(pit: Pit) -> None:
    """Somebody removed the cards of the request from Redis, so the script lets the void through."""
    await opened(pit)
    await void(pit)
    await refuse(pit)
    assert await problems(pit) == ()
    key = pit.store.keys.tables
    held = STATE.decode(cast("bytes", await pit.redis.hget(key, "T-1")))
    await pit.redis.hset(key, "T-1", PACK.encode(msgspec.structs.replace(held, known="")))
    assert await problems(pit) == (
        "table T-1: it lacks entered cards of a correction request that the ledger has",
    )
    assert code(await pit.event("T-1", "void", "R1", reason="misdeal")) == "accepted"
    assert any(
        "nobody confirmed it, but an earlier entry has a correction of this round" in each
        for each in await problems(pit)
    )
