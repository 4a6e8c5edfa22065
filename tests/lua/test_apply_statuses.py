"""Every status of `apply_events`, in its order of precedence.

Each row brings a link to the state in which the status is due, reads the whole keyspace, applies
one step, and compares. A status that writes nothing leaves every key unchanged. One that uses up
the seq changes only the table's last seq and its stored reply.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from meters.books.refusals import refused_by_script
from meters.books.script_steps import ScriptAnswer, ScriptStep, Status
from meters.books.store import TermsError
from meters.books.stored_tables import REPLIES_KEPT
from tests.lua.books import (
    BONUS,
    MAX,
    Books,
    added,
    odds,
    refusal,
    result,
    share,
    take,
    void,
    wagers,
)
from tests.stored_tables import delete_table, set_reply, set_table, stored_table

Given = Callable[[Books], Awaitable[object]]


@dataclass(frozen=True)
class Row:
    """A link as prepared, a step, and its answer."""

    label: str
    given: Given
    step: ScriptStep
    status: Status
    text: bytes = b""


async def _new(_: Books) -> None:
    """Play nothing."""


async def _open_r1(books: Books) -> None:
    await books.accept(wagers(1))


async def _over_r1(books: Books) -> None:
    await books.accept(wagers(1), void(2))


async def _open_r2_after_r1(books: Books) -> None:
    await books.accept(wagers(1), void(2), wagers(3, round_id="R2"))


async def _refused_first(books: Books) -> None:
    await books.one(refusal(1))


async def _refused_by_the_script_first(books: Books) -> None:
    await books.one(void(1))


async def _many(books: Books) -> None:
    """Send so many events that the reply to the first is no longer stored."""
    for seq in range(1, REPLIES_KEPT + 2):
        await books.one(refusal(seq))


async def _full_meter(books: Books) -> None:
    await books.set_accounts({"meter:progressive": MAX - 139_999})


async def _open_and_full_meter(books: Books) -> None:
    await _open_r1(books)
    await _full_meter(books)


async def _over_and_full_meter(books: Books) -> None:
    await _over_r1(books)
    await _full_meter(books)


async def _full_reserve(books: Books) -> None:
    await books.set_accounts({f"reserve:{BONUS}": MAX - 79_999})


async def _table_all_but_spent(books: Books) -> None:
    await books.set_accounts({"table:T-1": 139_999 - MAX})


async def _table_good_for_either_of_two(books: Books) -> None:
    """Leave room on the table's account for the meter's or the reserve's part, not for both."""
    await books.set_accounts({"table:T-1": 210_000 - MAX})


async def _paid_all_but_full(books: Books) -> None:
    await _open_r1(books)
    await books.set_accounts({"paid": MAX - 9_999})


async def _house_all_but_spent(books: Books) -> None:
    await _open_r1(books)
    await books.set_accounts({"house": 9_999 - MAX})


async def _nothing_open_and_paid_full(books: Books) -> None:
    await books.set_accounts({"paid": MAX})


async def _house_spent_before_a_void(books: Books) -> None:
    await _open_r1(books)
    await books.set_accounts({"house": 139_999 - MAX})


NOT_WRITING = (
    Row("again, wagers", _open_r1, wagers(1), Status.AGAIN, b'{"wagers":1}'),
    Row("again, void", _over_r1, void(2), Status.AGAIN, b'{"void":2}'),
    Row("again, an older event", _over_r1, wagers(1), Status.AGAIN, b'{"wagers":1}'),
    Row("again, refused before", _refused_first, refusal(1), Status.AGAIN, b'{"refused":1}'),
    Row(
        "again, refused by the script",
        _refused_by_the_script_first,
        void(1),
        Status.AGAIN,
        refused_by_script(1, Status.UNKNOWN_ROUND),
    ),
    Row(
        "again before moved",
        _open_r2_after_r1,
        result(2, basis=1, digest=f"{2:032x}"),
        Status.AGAIN,
        b'{"void":2}',
    ),
    Row("seq_reused", _open_r1, wagers(1, digest="f" * 32), Status.SEQ_REUSED),
    Row(
        "seq_reused before moved", _open_r1, result(1, basis=9, digest="f" * 32), Status.SEQ_REUSED
    ),
    Row("seq_reused by a refused event", _open_r1, refusal(1, digest="f" * 32), Status.SEQ_REUSED),
    Row("seq_passed", _many, refusal(1), Status.SEQ_PASSED),
    Row("seq_passed, other bytes", _many, wagers(1, digest="f" * 32), Status.SEQ_PASSED),
    Row("gap at the start", _new, wagers(2), Status.GAP, b"1"),
    Row("gap later", _open_r1, void(9), Status.GAP, b"2"),
    Row("gap before moved", _open_r1, result(3, basis=9), Status.GAP, b"2"),
    Row("gap before refused", _open_r1, refusal(3), Status.GAP, b"2"),
    Row("moved, another round is open", _open_r2_after_r1, result(4, basis=1), Status.MOVED),
    Row("moved, no round is open", _over_r1, result(3, basis=1), Status.MOVED),
    Row("moved, a round is open where none was seen", _open_r1, result(2, basis=0), Status.MOVED),
    Row("moved before refused", _open_r2_after_r1, refusal(4, basis=1), Status.MOVED),
)

USING_UP_THE_SEQ = (
    Row("refused", _open_r1, refusal(2), Status.REFUSED, b'{"refused":2}'),
    Row(
        "refused, the basis holds", _open_r1, refusal(2, basis=1), Status.REFUSED, b'{"refused":2}'
    ),
    Row("round_open", _open_r1, wagers(2, round_id="R2"), Status.ROUND_OPEN),
    Row("round_open before round_over", _open_r2_after_r1, wagers(4), Status.ROUND_OPEN),
    Row("after_lockout", _open_r1, wagers(2), Status.AFTER_LOCKOUT),
    Row("after_lockout before meter_full", _open_and_full_meter, wagers(2), Status.AFTER_LOCKOUT),
    Row("round_over, wagers", _over_r1, wagers(3), Status.ROUND_OVER),
    Row("round_over, void", _over_r1, void(3), Status.ROUND_OVER),
    Row("round_over, result", _over_r1, result(3, basis=0), Status.ROUND_OVER),
    Row("round_over before meter_full", _over_and_full_meter, wagers(3), Status.ROUND_OVER),
    Row("unknown_round, void", _new, void(1), Status.UNKNOWN_ROUND),
    Row("unknown_round, result", _new, result(1, basis=0), Status.UNKNOWN_ROUND),
    Row("unknown_round, another is open", _open_r1, void(2, round_id="R2"), Status.UNKNOWN_ROUND),
    Row(
        "unknown_round before books_full",
        _nothing_open_and_paid_full,
        result(1, odds(100), basis=0),
        Status.UNKNOWN_ROUND,
    ),
    Row("meter_full", _full_meter, wagers(1), Status.METER_FULL),
    Row(
        "meter_full by its reserve",
        _full_reserve,
        wagers(1, added(210_000, 80_000, meter=BONUS)),
        Status.METER_FULL,
    ),
    Row("meter_full by the table's account", _table_all_but_spent, wagers(1), Status.METER_FULL),
    Row(
        "meter_full by the table's account, meter and reserve together",
        _table_good_for_either_of_two,
        wagers(1, added(210_000, 80_000, meter=BONUS)),
        Status.METER_FULL,
    ),
    Row(
        "meter_full by the second meter of an event",
        _full_meter,
        wagers(1, added(210_000, 80_000, meter=BONUS), added(140_000)),
        Status.METER_FULL,
    ),
    Row(
        "books_full by what was paid",
        _paid_all_but_full,
        result(2, odds(1), basis=1),
        Status.BOOKS_FULL,
    ),
    Row(
        "books_full by the house, a claim",
        _house_all_but_spent,
        result(2, odds(1, claim="T-1-2-1"), basis=1),
        Status.BOOKS_FULL,
    ),
    Row(
        "books_full by a percentage",
        _paid_all_but_full,
        result(2, share(claim="T-1-2-1"), takes=[take(10)], basis=1),
        Status.BOOKS_FULL,
    ),
    Row(
        "books_full by what a void may cost the house",
        _house_spent_before_a_void,
        void(2),
        Status.BOOKS_FULL,
    ),
)


def _labels(rows: tuple[Row, ...]) -> list[str]:
    return [row.label for row in rows]


@pytest.mark.parametrize("row", NOT_WRITING, ids=_labels(NOT_WRITING))
async def test_status_that_writes_nothing_leaves_every_key_as_it_was(
    books: Books, row: Row
) -> None:
    await row.given(books)
    before = await books.keyspace()
    assert await books.one(row.step) == ScriptAnswer(row.status, row.text.decode())
    assert await books.keyspace() == before


@pytest.mark.parametrize("row", USING_UP_THE_SEQ, ids=_labels(USING_UP_THE_SEQ))
async def test_refusal_uses_up_the_seq_and_changes_nothing_else(books: Books, row: Row) -> None:
    await row.given(books)
    before = await books.keyspace()
    reply = row.text or refused_by_script(row.step.seq, row.status)
    assert await books.one(row.step) == ScriptAnswer(row.status, reply.decode())
    stored, seq = await stored_table(books.store, "T-1"), row.step.seq
    assert stored.replies[seq] == row.step.digest.encode() + reply
    assert stored.state.last == seq
    after = await books.keyspace()
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert changed == {books.keys.tables, books.keys.replies}
    await set_reply(books.store, "T-1", seq, None)
    await set_table(books.store, "T-1", last=seq - 1)
    if seq == 1:
        await delete_table(books.store, "T-1")
    assert await books.keyspace() == before
    assert await books.one(row.step) == ScriptAnswer(row.status, reply.decode())
    assert await books.one(row.step) == ScriptAnswer(Status.AGAIN, reply.decode())


@pytest.mark.parametrize("step", [wagers(1), void(2), refusal(2), result(2, basis=1)])
async def test_terms_that_are_not_those_opened_come_before_everything(
    books: Books, step: ScriptStep
) -> None:
    await books.accept(wagers(1))
    await books.redis.hset(books.keys.meters, "terms", "another digest")
    before = await books.keyspace()
    with pytest.raises(TermsError):
        await books.one(step)
    assert await books.keyspace() == before


async def test_terms_that_were_never_opened_are_not_taken_for_open(books: Books) -> None:
    await books.redis.flushall()
    with pytest.raises(TermsError):
        await books.one(wagers(1))
    assert await books.keyspace() == {}


@pytest.mark.parametrize(
    "step",
    [
        wagers(2, round_id="R2"),
        void(2, round_id="R2"),
        result(2, odds(50), basis=0, round_id="R2"),
    ],
    ids=["wagers", "void", "result"],
)
async def test_accepted_of_each_kind_is_counted_once_and_repeated_byte_for_byte(
    books: Books, step: ScriptStep
) -> None:
    if step.kind == "wagers":
        await books.one(refusal(1))
    else:
        await books.accept(wagers(1, round_id="R2"))
        step = result(2, odds(50), basis=1, round_id="R2") if step.kind == "result" else step
    before = await books.store.snapshot()
    first = await books.one(step)
    assert first.status is Status.ACCEPTED
    after = await books.keyspace()
    assert (await books.store.snapshot()).last_entry == before.last_entry + 1
    assert (await books.last_entry())["kind"] == step.kind
    assert await books.one(step) == ScriptAnswer(Status.AGAIN, first.text)
    assert await books.keyspace() == after


async def test_batch_goes_on_past_the_event_that_is_refused(books: Books) -> None:
    """One atomic step: T-1 is accepted, T-2 comes too early, T-3 is refused, T-4 is accepted."""
    answers = await books.apply(
        wagers(1, table="T-1"),
        wagers(2, table="T-2"),
        void(1, table="T-3"),
        wagers(1, table="T-4"),
    )
    assert [answer.status for answer in answers] == [
        Status.ACCEPTED,
        Status.GAP,
        Status.UNKNOWN_ROUND,
        Status.ACCEPTED,
    ]
    accounts = await books.accounts()
    assert accounts["table:T-1"] == accounts["table:T-4"] == -140_000
    assert "table:T-2" not in accounts
    assert accounts["meter:progressive"] == 100_000 * 10_000 + 2 * 140_000


async def test_batch_judges_each_event_on_the_books_that_the_ones_before_it_left(
    books: Books,
) -> None:
    """The meter has room for one of two wagers: the first is accepted, the second refused."""
    await books.set_accounts({"meter:progressive": MAX - 279_999})
    answers = await books.apply(wagers(1, table="T-1"), wagers(1, table="T-2"))
    assert [answer.status for answer in answers] == [Status.ACCEPTED, Status.METER_FULL]
    assert (await books.accounts())["meter:progressive"] == MAX - 139_999


@pytest.mark.parametrize("tables", [0, 1, 2, 9])
async def test_script_that_would_write_a_number_again_has_written_nothing(
    books: Books, tables: int
) -> None:
    """The ledger has a later entry than the books know. A batch of several can end after it."""
    await books.accept(wagers(1))
    await books.redis.hset(books.keys.meters, "entries", "1")
    before = await books.keyspace()
    with pytest.raises(Exception, match=r"equal or smaller|already has an entry from 2-0 on"):
        await books.apply(void(2), *(wagers(1, table=f"T-{at + 2}") for at in range(tables)))
    assert await books.keyspace() == before


async def test_replies_are_kept_for_the_last_events_and_no_longer(books: Books) -> None:
    for seq in range(1, REPLIES_KEPT + 4):
        await books.one(refusal(seq))
    kept = (await stored_table(books.store, "T-1")).replies
    assert sorted(kept) == list(range(4, REPLIES_KEPT + 4))
    assert await books.redis.hlen(books.keys.replies) == REPLIES_KEPT
