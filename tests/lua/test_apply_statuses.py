"""Every status of `apply_events`, in its order of precedence.

Each row brings a link to the state in which the status is due, reads the whole keyspace, applies
one step, and compares. A status that writes nothing leaves every key unchanged. One that uses up
the seq changes only the table's last seq and its stored reply.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from meters.ledger.redis_layout import REPLIES_KEPT
from meters.ledger.script_steps import ScriptAnswer, ScriptStep, Status
from meters.store.event_refusals import refused_by_script
from meters.store.link_store import TermsError
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

Steps = Sequence[ScriptStep]

OPEN: Final = (wagers(1),)
OVER: Final = (wagers(1), void(2))
NEXT: Final = (wagers(1), void(2), wagers(3, round_id="R2"))
MANY: Final = tuple(refusal(seq) for seq in range(1, REPLIES_KEPT + 2))
"""So many events that the reply to the first is no longer stored."""

OTHER: Final = "f" * 32
UNKNOWN: Final = refused_by_script(1, Status.UNKNOWN_ROUND).decode()

NOT_WRITING: Final[Mapping[str, tuple[Steps, ScriptStep, Status, str]]] = {
    "again, wagers": (OPEN, wagers(1), Status.AGAIN, '{"wagers":1}'),
    "again, void": (OVER, void(2), Status.AGAIN, '{"void":2}'),
    "again, an older event": (OVER, wagers(1), Status.AGAIN, '{"wagers":1}'),
    "again, refused before": ((refusal(1),), refusal(1), Status.AGAIN, '{"refused":1}'),
    "again, refused by the script": ((void(1),), void(1), Status.AGAIN, UNKNOWN),
    "again before moved": (
        NEXT, result(2, basis=1, digest=f"{2:032x}"), Status.AGAIN, '{"void":2}'
    ),
    "seq_reused": (OPEN, wagers(1, digest=OTHER), Status.SEQ_REUSED, ""),
    "seq_reused before moved": (OPEN, result(1, basis=9, digest=OTHER), Status.SEQ_REUSED, ""),
    "seq_reused by a refused event": (OPEN, refusal(1, digest=OTHER), Status.SEQ_REUSED, ""),
    "seq_passed": (MANY, refusal(1), Status.SEQ_PASSED, ""),
    "seq_passed, other bytes": (MANY, wagers(1, digest=OTHER), Status.SEQ_PASSED, ""),
    "gap at the start": ((), wagers(2), Status.GAP, "1"),
    "gap later": (OPEN, void(9), Status.GAP, "2"),
    "gap before moved": (OPEN, result(3, basis=9), Status.GAP, "2"),
    "gap before refused": (OPEN, refusal(3), Status.GAP, "2"),
    "moved, another round is open": (NEXT, result(4, basis=1), Status.MOVED, ""),
    "moved, no round is open": (OVER, result(3, basis=1), Status.MOVED, ""),
    "moved, a round is open where none was seen": (OPEN, result(2, basis=0), Status.MOVED, ""),
    "moved before refused": (NEXT, refusal(4, basis=1), Status.MOVED, ""),
}  # fmt: skip

FULL: Final = {"meter:progressive": MAX - 139_999}
RESERVED: Final = added(210_000, 80_000, meter=BONUS)
TENTH: Final = result(2, share(claim="T-1-2-1"), takes=[take(10)], basis=1)
AS_OPENED: Final[Mapping[str, int]] = {}

USING_UP_THE_SEQ: Final[Mapping[str, tuple[Steps, Mapping[str, int], ScriptStep, Status]]] = {
    "refused": (OPEN, AS_OPENED, refusal(2), Status.REFUSED),
    "refused, the basis holds": (OPEN, AS_OPENED, refusal(2, basis=1), Status.REFUSED),
    "round_open": (OPEN, AS_OPENED, wagers(2, round_id="R2"), Status.ROUND_OPEN),
    "round_open before round_over": (NEXT, AS_OPENED, wagers(4), Status.ROUND_OPEN),
    "after_lockout": (OPEN, AS_OPENED, wagers(2), Status.AFTER_LOCKOUT),
    "after_lockout before meter_full": (OPEN, FULL, wagers(2), Status.AFTER_LOCKOUT),
    "round_over, wagers": (OVER, AS_OPENED, wagers(3), Status.ROUND_OVER),
    "round_over, void": (OVER, AS_OPENED, void(3), Status.ROUND_OVER),
    "round_over, result": (OVER, AS_OPENED, result(3, basis=0), Status.ROUND_OVER),
    "round_over before meter_full": (OVER, FULL, wagers(3), Status.ROUND_OVER),
    "unknown_round, void": ((), AS_OPENED, void(1), Status.UNKNOWN_ROUND),
    "unknown_round, result": ((), AS_OPENED, result(1, basis=0), Status.UNKNOWN_ROUND),
    "unknown_round, another is open": (
        OPEN, AS_OPENED, void(2, round_id="R2"), Status.UNKNOWN_ROUND
    ),
    "unknown_round before books_full": (
        (), {"paid": MAX}, result(1, odds(100), basis=0), Status.UNKNOWN_ROUND
    ),
    "meter_full": ((), FULL, wagers(1), Status.METER_FULL),
    "meter_full by its reserve": (
        (), {f"reserve:{BONUS}": MAX - 79_999}, wagers(1, RESERVED), Status.METER_FULL
    ),
    "meter_full by the table's account": (
        (), {"table:T-1": 139_999 - MAX}, wagers(1), Status.METER_FULL
    ),
    "meter_full by the table's account, meter and reserve together": (
        (), {"table:T-1": 210_000 - MAX}, wagers(1, RESERVED), Status.METER_FULL
    ),
    "meter_full by the second meter of an event": (
        (), FULL, wagers(1, RESERVED, added(140_000)), Status.METER_FULL
    ),
    "books_full by what was paid": (
        OPEN, {"paid": MAX - 9_999}, result(2, odds(1), basis=1), Status.BOOKS_FULL
    ),
    "books_full by the house, a claim": (
        OPEN, {"house": 9_999 - MAX}, result(2, odds(1, claim="T-1-2-1"), basis=1),
        Status.BOOKS_FULL,
    ),
    "books_full by a percentage": (OPEN, {"paid": MAX - 9_999}, TENTH, Status.BOOKS_FULL),
    "books_full by what a void may cost the house": (
        OPEN, {"house": 139_999 - MAX}, void(2), Status.BOOKS_FULL
    ),
}  # fmt: skip


async def _bring_to(books: Books, steps: Steps) -> None:
    for step in steps:
        await books.one(step)


@pytest.mark.parametrize(("given", "step", "status", "text"), NOT_WRITING.values(), ids=NOT_WRITING)
async def test_status_that_writes_nothing_leaves_every_key_as_it_was(
    books: Books, given: Steps, step: ScriptStep, status: Status, text: str
) -> None:
    await _bring_to(books, given)
    async with books.unchanged():
        assert await books.one(step) == ScriptAnswer(status, text)


@pytest.mark.parametrize(
    ("given", "balances", "step", "status"), USING_UP_THE_SEQ.values(), ids=USING_UP_THE_SEQ
)
async def test_refusal_uses_up_the_seq_and_changes_nothing_else(
    books: Books, given: Steps, balances: Mapping[str, int], step: ScriptStep, status: Status
) -> None:
    await _bring_to(books, given)
    await books.set_accounts(balances)
    before, seq = await books.keyspace(), step.seq
    refused = b'{"refused":%d}' % seq
    reply = refused if status is Status.REFUSED else refused_by_script(seq, status)
    assert await books.one(step) == ScriptAnswer(status, reply.decode())
    stored = await stored_table(books.store, "T-1")
    assert stored.replies[seq] == step.digest.encode() + reply
    assert stored.state.last == seq
    after = await books.keyspace()
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert changed == {books.keys.tables, books.keys.replies}
    await set_reply(books.store, "T-1", seq, None)
    await set_table(books.store, "T-1", last=seq - 1)
    if seq == 1:
        await delete_table(books.store, "T-1")
    assert await books.keyspace() == before
    assert await books.one(step) == ScriptAnswer(status, reply.decode())
    assert await books.one(step) == ScriptAnswer(Status.AGAIN, reply.decode())


@pytest.mark.parametrize("step", [wagers(1), void(2), refusal(2), result(2, basis=1)])
async def test_terms_that_are_not_those_opened_come_before_everything(
    books: Books, step: ScriptStep
) -> None:
    await books.accept(wagers(1))
    """Terms that were never opened are not those opened either."""
    await books.alter_terms()
    async with books.refuses(TermsError):
        await books.one(step)
    await books.redis.flushall()
    async with books.refuses(TermsError):
        await books.one(step)


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
    async with books.refuses(Exception) as refused:
        await books.apply(void(2), *(wagers(1, table=f"T-{at + 2}") for at in range(tables)))
    assert re.search("equal or smaller|already has an entry from 2-0 on", str(refused.value))


async def test_replies_are_kept_for_the_last_events_and_no_longer(books: Books) -> None:
    await _bring_to(books, [refusal(seq) for seq in range(1, REPLIES_KEPT + 4)])
    kept = (await stored_table(books.store, "T-1")).replies
    assert sorted(kept) == list(range(4, REPLIES_KEPT + 4))
    assert await books.redis.hlen(books.keys.replies) == REPLIES_KEPT


async def test_moved_and_early_events_use_up_no_seq_however_often_a_batch_has_them(
    books: Books,
) -> None:
    early, moved = void(3), result(2, basis=9)
    answers = await books.apply(wagers(1), early, moved, early, moved, void(2), early)
    assert [answer.status for answer in answers] == [
        *(Status.ACCEPTED, Status.GAP, Status.MOVED, Status.GAP, Status.MOVED),
        *(Status.ACCEPTED, Status.ROUND_OVER),
    ]


async def test_a_reply_that_the_batch_itself_lets_go_is_seq_passed(books: Books) -> None:
    """The answer is the same if these events come one by one."""
    await books.one(refusal(1))
    steps = [refusal(seq) for seq in range(2, REPLIES_KEPT + 3)]
    answers = await books.apply(refusal(1), *steps, refusal(1), refusal(2), refusal(3))
    assert answers[0].status is Status.AGAIN
    assert [answer.status for answer in answers[-3:]] == [
        Status.SEQ_PASSED,
        Status.SEQ_PASSED,
        Status.AGAIN,
    ]
