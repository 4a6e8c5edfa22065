"""An audit names, in words, whatever was altered in Redis beside the ledger.

It also names what was done with altered data: rounds settled on other wagers or draws, corrections
that nobody confirmed. `test_every_field` proves that no field of Redis is left out.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, cast

import msgspec
import pytest
from redis.asyncio import Redis

from meters.archive.day_file import ArchiveError
from meters.audit.link_audit import LinkAudit
from meters.ledger.redis_layout import DIGEST, NO_STATE, PACK, STATE
from meters.store.link_store import LinkStore
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import (
    BONUS,
    DEALER_BONUS,
    FIVE_OF_SIX,
    PROGRESSIVE,
    RAGS,
    Pit,
    code,
    event_bytes,
)
from tests.model.tampering import Fields, move_balance, play_a_while, rewrite
from tests.model.test_asks import confirm, correct, opened, positions, refuse, result, void
from tests.stored_tables import (
    delete_table,
    held_by,
    set_reply,
    set_table,
    set_wagers,
    stored_table,
)

pytestmark = pytest.mark.duty("D17")

PAID, REJECTED, WAITING = "pit.T-1-2-2", "pit.T-1-2-3", "pit.T-1-2-4"
WIN: Final = f"progressive:{7:016d}:pit.T-9-9-9"
HOLDING: Final = (WAITING, "pit.T-1-2-5", "pit.T-1-2-6")
"""The wins that hold the first table of `played`. The second table has an open round."""

Alter = Callable[[Pit], Awaitable[object]]


async def problems(pit: Pit) -> tuple[str, ...]:
    return (await pit.audit()).problems


def field(key: str, name: str, value: bytes | str | None) -> Alter:
    """Set a field of one of the link's hashes, or delete it; of a claim's if `key` is a claim."""

    async def alter(pit: Pit) -> None:
        keys = pit.store.keys
        where = keys.claim(key) if key.startswith("pit.") else getattr(keys, key)
        await (pit.redis.hdel(where, name) if value is None else pit.redis.hset(where, name, value))

    return alter


def no_claim(claim: str) -> Alter:
    return lambda pit: pit.redis.delete(pit.store.keys.claim(claim))


def round_wagers(event: str | None) -> Alter:
    return lambda pit: set_wagers(pit.store, "T-2", event)


def state(table: str, **values: object) -> Alter:
    return lambda pit: set_table(pit.store, table, **values)


def reply(seq: int, make: Callable[[bytes], bytes | None]) -> Alter:
    """Set the reply that T-1 keeps to an event, made of the one that it keeps to event 2."""

    async def alter(pit: Pit) -> None:
        kept = (await stored_table(pit.store, "T-1")).replies[2]
        await set_reply(pit.store, "T-1", seq, make(kept))

    return alter


def hold(*more: dict[str, object], table: str = "T-1", **changed: object) -> Alter:
    """Change the win of T-1 that waits, add wins, or have them hold another table."""

    async def alter(pit: Pit) -> None:
        wins = [json.loads(line) for line in (await held_by(pit.store, "T-1")).splitlines()]
        wins = [win | (changed if win["claim"] == WAITING else {}) for win in wins]
        wins += [wins[0] | one for one in more]
        held = b"\n".join(map(msgspec.json.encode, wins)).decode()
        await set_table(pit.store, table, held=held)

    return alter


def both(*alters: Alter) -> Alter:
    async def alter(pit: Pit) -> None:
        for one in alters:
            await one(pit)

    return alter


async def altered(pit: Pit, alter: Alter) -> tuple[str, ...]:
    await alter(pit)
    return await problems(pit)


async def alter_record(pit: Pit, of: str, **changed: object) -> dict[str, Any]:
    """Change a claim's record. Return the record before."""
    (fields,) = await pit.store.claims([of])
    record = msgspec.json.decode(fields["record"], type=dict[str, Any])
    text = msgspec.json.encode(record | changed).decode()
    await pit.redis.hset(pit.store.keys.claim(of), "record", text)
    return record


BETS: Final = [{"position": 5, "wagers": {PROGRESSIVE: 100}}]
OTHER_WAGERS: Final = event_bytes(5, "wagers", "R3", positions=BETS)
DREW: Final = '{"magic_card":"As","lucky_position":null}'
ACCEPTED: Final = b'{"seq":3,"status":"accepted","draw":%b}' % DREW.encode()
NONE: Final = "the ledger says that there is none"
UNREAD: Final = "its data in Redis cannot be read: "
NOT_LEDGERS: Final = "the reply that it keeps to event 2 is not the one in the ledger"
LASTS: Final = "its last event is {}, the ledger has event 2"
WAITS: Final = f"table T-1: claim {WAITING} holds it"
NO_TABLE: Final = "Redis has a kept reply in the field {!r}, which is no field for a table's reply"

ALTERED: Final[Mapping[str, tuple[Alter, Sequence[str]]]] = {
    "no hold": (state("T-1", held=""), [
        f"table T-1: claim {claim} does not hold it, but the claim is not paid in the ledger"
        for claim in HOLDING
    ]),
    "amount of a hold": (hold(amount=1), [
        f"{WAITS} as progressive at position 3 with 1 cents, the ledger says as "
    ]),
    "position of a hold": (hold(position=7), [f"{WAITS} as progressive at position 7 with "]),
    "item of a hold": (hold(item="five_of_six"), [f"{WAITS} as five_of_six at position 3 with "]),
    "one more hold": (hold({"claim": "pit.X-1"}), [
        "table T-1: claim pit.X-1 holds it, the ledger says that it does not",
    ]),
    "hold of another table": (hold(table="T-2"), [
        f"table T-2: claim {one} holds" for one in HOLDING
    ]),
    "a draw that was not made": (state("T-2", draw=DREW), ["table T-2: draw is "]),
    **{f"wagers {event!r}": (round_wagers(event), ["table T-2: wagers is "])
       for event in (None, OTHER_WAGERS.decode())},
    "wagers of no round": (field("rounds", "T-1", OTHER_WAGERS), [
        f"table T-1: it has wagers of an open round, {NONE}",
    ]),
    **{f"unreadable {value!r}": (both(field("tables", "T-1", value), field("tables", "T-2", value)),
                                 [f"table T-1: {UNREAD}", f"table T-2: {UNREAD}"])
       for value in (b"", b"x", b"\x90", b"\x95\x01\xc0\xc0\xc0\xc0", b"\xc1",
                     PACK.encode([*msgspec.structs.asdict(NO_STATE).values(), "more", "more"]),
                     PACK.encode([*msgspec.structs.asdict(NO_STATE).values()][:-3]))},
    "a table more": (field("tables", "T-9", PACK.encode(NO_STATE)), [
        "table T-9: Redis has data of this table, but",
    ]),
    "wagers of no table": (field("rounds", "T-9", OTHER_WAGERS), [
        "table T-9: it has wagers of an open round",
    ]),
    "claims more": (field("repeated_claims", "T-9", "pit.T-9-1-1"), [
        "table T-9: its list of repeated claims is",
    ]),
    "a reply more": (field("replies", "T-9:1", b"1 " + b"x" * 32), [
        "table T-9: it keeps a reply to event 1",
    ]),
    "a reply of no place": (field("replies", "T-9:32", ""), [NO_TABLE.format("T-9:32")]),
    "a reply of no table": (field("replies", "x", ""), [NO_TABLE.format("x")]),
    "reply of entry 9…9": (reply(2, lambda kept: kept[:DIGEST] + b"#" + b"9" * 5_000), [
        f"table T-1: {NOT_LEDGERS}",
    ]),
    "a reply that was not given": (
        both(state("T-1", last=3), reply(3, lambda _: b"x" * 32 + ACCEPTED)),
        ["table T-1: it keeps a reply to event 3 that is neither a refusal nor in the ledger"],
    ),
    "reply in the place of another": (reply(5, lambda kept: kept), [
        "table T-1: it keeps a reply to event 5, its last event is 2",
    ]),
    "junk in a place": (field("replies", "T-1:5", b"x"), [
        "table T-1: it keeps 'x' in place 5, where",
    ]),
    "a long number in a place": (field("replies", "T-1:5", b"9" * 5_000 + b" x"), [
        "table T-1: it keeps '9999",
    ]),
    **{f"{claim} gone": (no_claim(claim), [f"claim {claim} is in the ledger, but missing in Redis"])
       for claim in (PAID, REJECTED, WAITING)},
    "a payment that was not made": (field(WAITING, "pay_by", "eve"), [
        f"claim {WAITING}: pay_by is 'eve', the ledger says ",
    ]),
    "a field that no record has": (lambda pit: alter_record(pit, PAID, vip=True), [
        f"claim {PAID}: its record has a field 'vip', which records do not have",
    ]),
    "a record of another type": (field(PAID, "record", "{}"), [
        f"claim {PAID}: its record cannot be read",
    ]),
    "a win invented": (lambda pit: pit.redis.zadd(pit.store.keys.wins, {WIN: 0}), [
        f"the index of wins has {WIN!r}, which the ledger does not have",
    ]),
    "a slip more": (field("slips", "b-7", PAID), [
        f"slip 'b-7' pays claim {PAID} in Redis, and not in the ledger",
    ]),
    "an account more": (lambda pit: move_balance(pit, "overflow:progressive", 1), [
        "overflow:progressive holds 1 micros, the ledger says 0: +1",
        "all accounts sum to 1 micros, not to zero",
    ]),
}  # fmt: skip


@pytest.mark.duty("D17", proof=True)
@pytest.mark.parametrize(("alter", "said"), ALTERED.values(), ids=ALTERED)
async def test_what_was_put_into_redis_is_named(
    played: Pit, alter: Alter, said: Sequence[str]
) -> None:
    """Otherwise a table would play on before a hand pay is paid, settle a round on wagers or a draw
    that did not exist, count an event again, or give another answer to a repeat.
    """  # noqa: D205
    await alter(played)
    found = await problems(played)
    assert len(found) == len(said), found
    for problem, words in zip(sorted(found), sorted(said), strict=True):
        assert problem.startswith(words)


# Claims.


async def test_claims_decided_while_an_audit_runs_are_no_problem(
    played: Pit, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit, store = LinkAudit(played.store), played.store
    read = store.claims_at

    async def decide_first(ids: Sequence[str]) -> object:
        monkeypatch.setattr(store, "claims_at", read)
        await played.pay_all([WAITING])
        await played.void(table="T-2", round_id="R3")
        return await read(ids)

    monkeypatch.setattr(store, "claims_at", decide_first)
    assert (await audit.run()).problems == ()
    assert (await audit.run()).problems == ()


async def test_claims_of_archived_days_are_named_by_the_audit_of_the_archive(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who writes a file again with its digest still cannot change the ledger's digest.

    Claims that were altered before they are archived are not archived.
    """
    await play_a_while(kept.pit)
    await kept.pit.pay_all([row.claim for row in await kept.pit.claims.waiting()])
    kept.rounds = 10
    await kept.days.keep(A_DAY)
    record = await alter_record(kept.pit, PAID, patron="p-77")
    with pytest.raises(ArchiveError, match=f"claim {PAID}: patron is"):
        await kept.run()
    assert kept.archive.files() == []
    await alter_record(kept.pit, PAID, **record)
    await kept.run()
    await kept.week(3)
    await kept.run()
    assert min(await kept.live()) > 14, "what was decided is in the archive alone"
    assert (await kept.audit()).balanced
    await alter_record(kept.pit, PAID, patron="p-77")
    (problem,) = (await kept.audit()).problems
    assert problem.startswith(f"claim {PAID}: patron is ")
    await alter_record(kept.pit, PAID, **record)


# Tables.


async def test_another_entry_beside_the_right_wagers_is_named_before_it_wins(played: Pit) -> None:
    """The service reads the wagers from the ledger entry that the table names."""
    redis, keys, store = played.redis, played.store.keys, played.store
    due = (await stored_table(store, "T-2")).state.entry
    entries = dict(await store.entries(0, 1_000))
    other = next(at for at, one in entries.items() if one["kind"] == b"wagers" and at != due)
    await redis.hset(keys.rounds, "T-2", entries[due]["event"])
    found = await altered(played, state("T-2", entry=other))
    (record,) = await store.table_states(["T-2"])
    assert record.wagers == entries[other]["event"]
    assert found[0] == f"table T-2: entry is '{other}', the ledger says '{due}'"
    await redis.hdel(keys.rounds, "T-2")
    await set_table(store, "T-2", entry=-5)
    (record,) = await store.table_states(["T-2"])
    assert (record.open_round, record.wagers) == ("R3", b""), "no entry has that number"


async def test_event_that_was_counted_twice_is_named_for_ever(pit: Pit) -> None:
    """This holds although its seq in the store is right again."""
    await pit.wagers({3: PROGRESSIVE})
    await pit.void()
    repeated = (await pit.entries())[-2]["event"].encode()
    await delete_table(pit.store, "T-1")
    assert f"table T-1: {LASTS.format(0)}" in await problems(pit)
    assert b'"accepted"' in (await pit.send("T-1", repeated) or b"")
    found = await altered(pit, state("T-1", last=2, over="R1"))
    said = "event 1 of table T-1 follows its event 2: it was counted again"
    assert any(problem.endswith(said) for problem in found)


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


async def test_removed_repeated_claim_of_an_owed_envy_bonus_is_named(keeping_redis: Redis) -> None:
    """This is so even if somebody wrote the names in the reply in another way, as JSON allows."""
    pit = await Pit.opened(keeping_redis)
    await pit.round({1: FIVE_OF_SIX, 2: PROGRESSIVE}, {1: "As Ks Qs", 2: RAGS})
    assert await problems(pit) == ()

    def escape(_: int, fields: Fields) -> Fields:
        return fields | {b"reply": fields[b"reply"].replace(b'"envy_of"', rb'"envy\u005fof"')}

    await rewrite(pit, escape)
    await keeping_redis.hdel(pit.store.keys.repeated_claims, "T-1")
    said = "table T-1: its list of repeated claims is missing, the ledger says 'pit.T-1-2-e1'"
    assert said in await problems(pit)


# Entries of tables, with all digests put right.

TWICE: Final = (
    (b"by", b"T-2", b"T-1", "it is by table:T-1"),
    (b"event", b'"seq":', b'"seq":7', "its event is 7"),
    (b"round", b"R", b"X", "its event is "),
    (b"reply", b"accepted", b"refused", "its reply is refused"),
    (b"reply", b'"seq":', b'"seq":7', "its reply is accepted to event 7"),
)
"""What an entry says twice is the same. A table that repeats it would get the altered reply."""

CORRECTED: Final = (
    (b"event", b'"patron":"bob"', b'"patron":"eve"', "other wagers"),
    (b"event", b'"position":3,"wagers":', b'"position":4,"wagers":', "other wagers"),
    (b"event", b'"take_back"', b'"add"', "in the round already"),
    (b"reply", b'"draw":null', b'"draw":{"magic_card":"As"}', "draw"),
)


@pytest.mark.parametrize("kind", ["wagers", "correct_wager", "result", "void"])
async def test_an_altered_entry_of_a_table_is_named(pit: Pit, kind: str) -> None:
    bets, patrons = {1: PROGRESSIVE, 2: PROGRESSIVE, 3: PROGRESSIVE}, {2: "bob"}
    await pit.event("T-2", "wagers", "R1", positions=positions(bets, patrons))
    del bets[1]
    for _ in range(2):
        await correct(pit, "take_back", 1, {}, table="T-2", positions=positions(bets, patrons))
        for ask in await pit.asks.asks():
            await confirm(pit, ask)
    await pit.result({2: RAGS, 3: "4h 8s Qc"}, table="T-2")
    await pit.wagers({1: PROGRESSIVE}, table="T-2", round_id="R2")
    await pit.void(table="T-2", round_id="R2")
    assert await problems(pit) == ()
    for name, was, becomes, said in (*TWICE, *(CORRECTED if kind == "correct_wager" else ())):
        for old, new in ((was, becomes), (becomes, was)):

            def change(
                _: int, entry: Fields, name: bytes = name, old: bytes = old, new: bytes = new
            ) -> Fields:
                if entry[b"kind"] != kind.encode():
                    return entry
                assert old in entry[name]
                return entry | {name: entry[name].replace(old, new, 1)}

            await rewrite(pit, change)
            found = await problems(pit)
            assert any(said in one for one in found) if old is was else found == (), found


# Rounds that are settled on altered wagers or an altered draw.

HANDS: Final = {1: RAGS, 3: "Ts Th 5c"}
BONUSES: Final = f"{BONUS} {DEALER_BONUS}"
OTHERS: Final = "it settles other wagers than those of event 1, which were counted"
UNDRAWN: Final = "it pays {}, which was not drawn"


@pytest.mark.parametrize(
    ("hands", "bets", "drawn", "said"),
    [
        (HANDS, None, None, None),
        (HANDS | {5: "Qh 2d 6h"}, {1: PROGRESSIVE, 3: BONUSES, 5: PROGRESSIVE}, None, OTHERS),
        (HANDS, {1: PROGRESSIVE, 3: BONUS}, None, OTHERS),
        (HANDS, None, '{"magic_card":"Ts","lucky_position":null}', UNDRAWN.format("magic_card")),
        (HANDS, None, '{"magic_card":null,"lucky_position":3}', UNDRAWN.format("lucky_bonus")),
    ],
    ids=["as it was", "a wager put in", "a wager taken away", "a Magic Card", "a Lucky position"],
)
async def test_a_round_on_what_was_altered_until_it_was_over_is_named(
    pit: Pit, hands: dict[int, str], bets: dict[int, str] | None, drawn: str | None,
    said: str | None,
) -> None:  # fmt: skip
    """This holds although it won nothing that waits for a floorperson."""
    await pit.wagers({1: PROGRESSIVE, 3: BONUSES})
    if bets:
        event = event_bytes(1, "wagers", "R1", positions=positions(bets))
        await set_wagers(pit.store, "T-1", event.decode())
    if drawn:
        await set_table(pit.store, "T-1", draw=drawn)
    pit.restart()
    assert (await pit.result(hands, community="4c Td")).status == "accepted"
    found = await problems(pit)
    assert [one.rpartition(": ")[2] for one in found] == ([said] if said else [])


# Corrections that nobody confirmed, and altered correction requests.

MADE_UP: Final = "it says that Ada confirmed it, but no entry of this round says so"


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
    entry = int((await pit.entries())[-1]["id"])
    by = {b"by": b"table:T-1, confirmed by Ada"}
    await rewrite(pit, lambda number, fields: fields | (by if number == entry else {}))
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
async def test_another_confirmation_does_not_serve(pit: Pit, change: Fields) -> None:
    await opened(pit)
    await void(pit)
    await confirm(pit)
    assert code(await void(pit)) == "accepted"
    assert await problems(pit) == ()
    await rewrite(
        pit, lambda _, fields: fields | (change if fields[b"kind"] == b"confirm_correction" else {})
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
    said = "table T-1: its correction is 'confirmed' by 'Ada', the ledger does not say so"
    assert await altered(pit, field("asks", "T-1!", "confirmed\nAda")) == (said,)
    if decided == "by nobody":
        assert code(await void(pit)) == "accepted", "the script believes the store"
        assert any(MADE_UP in each for each in await problems(pit))


@pytest.mark.parametrize(
    ("table", "replace", "said"),
    [
        ("T-1", ("As", "2s"), "its correction request was changed"),
        ("T-1", ("{", "junk"), "its correction request was changed"),
        ("T-2", ("", ""), "it asks a floorperson for a correction, the ledger says that no round"),
    ],
)
async def test_a_correction_request_that_was_changed_is_named(
    pit: Pit, table: str, replace: tuple[str, str], said: str
) -> None:
    await opened(pit)
    await void(pit)
    text = (await pit.store.asks())["T-1"]
    (problem,) = await altered(pit, field("asks", table, text.replace(*replace)))
    assert problem.startswith(f"table {table}: {said}")


async def test_a_refused_void_that_was_booked_all_the_same_is_named(pit: Pit) -> None:
    """Somebody removed the cards of the request from Redis, so the script lets the void through."""
    await opened(pit)
    await void(pit)
    await refuse(pit)
    assert await problems(pit) == ()
    held = STATE.decode(cast("bytes", await pit.redis.hget(pit.store.keys.tables, "T-1")))
    unknown = PACK.encode(msgspec.structs.replace(held, known=""))
    assert await altered(pit, field("tables", "T-1", unknown)) == (
        "table T-1: it lacks entered cards of a correction request that the ledger has",
    )
    assert code(await pit.event("T-1", "void", "R1", reason="misdeal")) == "accepted"
    said = "nobody confirmed this entry, but an earlier entry has a correction of its round"
    assert any(said in each for each in await problems(pit))
