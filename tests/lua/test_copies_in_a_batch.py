"""Copies of an event within one batch: each is answered as if it had come after the others.

A call writes a table's changes at its end. A script that read them from Redis would treat a copy as
an event from long ago.
"""

import random

import pytest

from meters.books.script_steps import ScriptAnswer, ScriptStep, Status
from meters.books.stored_tables import REPLIES_KEPT
from tests.lua.books import Books, odds, refusal, result, share, take, void, wagers
from tests.stored_tables import stored_table

OTHER = "f" * 32


@pytest.mark.duty("D6")
@pytest.mark.parametrize(
    ("before", "step"),
    [
        pytest.param([], wagers(1), id="wagers"),
        pytest.param([wagers(1)], void(2), id="void"),
        pytest.param([wagers(1)], result(2, odds(50), basis=1), id="result"),
        pytest.param(
            [wagers(1)],
            result(2, share(claim="T-1-2-1"), takes=[take(100)], basis=1),
            id="result with a claim",
        ),
        pytest.param([], refusal(1), id="refused"),
        pytest.param([], void(1), id="refused by the script"),
    ],
)
async def test_copies_get_the_first_reply_byte_for_byte_and_move_nothing(
    books: Books, before: list[ScriptStep], step: ScriptStep
) -> None:
    for earlier in before:
        await books.one(earlier)
    entries = (await books.store.snapshot()).last_entry
    first, *copies = await books.apply(step, step, step)
    assert first.status not in {Status.AGAIN, Status.SEQ_PASSED}
    kept = first.text or first.status
    assert copies == [ScriptAnswer(Status.AGAIN, kept)] * 2
    assert await books.one(step) == ScriptAnswer(Status.AGAIN, kept)
    accepted = first.status is Status.ACCEPTED
    assert (first.entry is not None) == accepted
    assert (await books.store.snapshot()).last_entry == entries + accepted


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


async def _held(books: Books) -> dict[str, int]:
    return {name: micros for name, micros in (await books.accounts()).items() if micros}


@pytest.mark.parametrize("seed", range(8))
async def test_a_batch_is_answered_and_booked_as_its_events_one_by_one(
    books: Books, seed: int
) -> None:
    """The batch has copies, altered copies and strays of two tables, in random order."""
    chance = random.Random(seed)
    pool = [
        make
        for table in ("T-1", "T-2")
        for number in range(4)
        for make in (
            wagers(2 * number + 1, round_id=f"R{number}", table=table),
            wagers(2 * number + 1, round_id=f"R{number}", table=table, digest=OTHER),
            void(2 * number + 2, round_id=f"R{number}", table=table),
            void(2 * number + 2, round_id=f"R{number}", table=table, digest=OTHER),
        )
    ]
    steps = sorted(chance.choices(pool, k=60), key=lambda step: step.seq + chance.randrange(3))
    together = await books.apply(*steps)
    held = await _held(books)
    kept = [await stored_table(books.store, table) for table in ("T-1", "T-2")]
    await books.redis.flushall()
    await books.store.open("service")
    assert [await books.one(step) for step in steps] == together
    assert await _held(books) == held
    assert [await stored_table(books.store, table) for table in ("T-1", "T-2")] == kept
