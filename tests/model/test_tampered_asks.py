"""An audit names a confirmation that nobody gave, and a correction request that was altered."""

from typing import cast

import msgspec
import pytest

from meters.books.stored_tables import PACK, STATE
from tests.model.pit import Pit
from tests.model.tampering import Fields, rewrite
from tests.model.test_asks import code, confirm, opened, refuse, result, void

pytestmark = pytest.mark.duty("D17")

MADE_UP = "it says that Ada confirmed it, but no entry of this round says so"


async def problems(pit: Pit) -> tuple[str, ...]:
    """Return what a new audit finds."""
    return (await pit.audit()).problems


async def test_an_entry_that_claims_a_confirmation_that_there_was_not_is_named(pit: Pit) -> None:
    """A holder of the service's own credential wrote the entry, with all digests recalculated."""
    await opened(pit)
    assert code(await void(pit, confirm=False)) == "accepted"

    def claim(_: int, fields: Fields) -> Fields:
        if fields[b"kind"] == b"void":
            return fields | {b"by": b"table:T-1, confirmed by Ada"}
        return fields

    await rewrite(pit, claim)
    assert any(MADE_UP in each for each in await problems(pit))


@pytest.mark.parametrize(
    "change",
    [
        {b"by": b"Bob"},
        {b"kind": b"refuse_correction"},
        {b"table": b"T-2"},
        {b"event": b'{"ask":"a","act":"confirm_correction","by":"Ada","what":"void","round":"R1"'
                   b',"digest":"0"}'},
        {b"event": None},
    ],
)  # fmt: skip
async def test_a_confirmation_of_another_person_kind_table_or_content_does_not_serve(
    pit: Pit, change: dict[bytes, bytes | None]
) -> None:
    await opened(pit)
    await void(pit)
    await confirm(pit)
    assert code(await void(pit)) == "accepted"
    assert await problems(pit) == ()

    def other(_: int, fields: Fields) -> Fields | None:
        if fields[b"kind"] != b"confirm_correction":
            return fields
        made = {name: value for name, value in change.items() if value is not None}
        if not made:
            return fields | {b"kind": b"close", b"event": b'{"act":"close","by":"Ada"}'}
        return fields | made

    await rewrite(pit, other)
    assert any(MADE_UP in each for each in await problems(pit))


async def test_a_confirmation_serves_for_one_round(pit: Pit) -> None:
    """Nobody confirmed the same correction of a later round with the same id."""
    await opened(pit)
    await void(pit)
    await confirm(pit)
    await void(pit)
    await opened(pit, round_id="R2")
    await pit.void(round_id="R2")
    await opened(pit)
    await void(pit, confirm=False)

    voids = []

    def claim(number: int, fields: Fields) -> Fields:
        if fields[b"kind"] == b"void":
            voids.append(number)
            return fields | {b"by": b"table:T-1, confirmed by Ada"} if len(voids) == 3 else fields
        return fields

    await rewrite(pit, claim)
    assert any(f"entry {voids[2]}: {MADE_UP}" in each for each in await problems(pit))


async def test_an_ask_that_claims_a_confirmation_is_named(pit: Pit) -> None:
    await opened(pit)
    await void(pit)
    assert await problems(pit) == ()
    await pit.redis.hset(pit.store.keys.asks, "T-1!", "confirmed\nAda")
    problem = "table T-1: its correction is 'confirmed' by 'Ada', the ledger does not say so"
    assert await problems(pit) == (problem,)
    assert code(await void(pit)) == "accepted", "the script believes the store"
    assert any(MADE_UP in each for each in await problems(pit))


async def test_another_name_under_a_decision_is_named(pit: Pit) -> None:
    await opened(pit)
    await void(pit)
    await confirm(pit, by="Bob")
    assert await problems(pit) == ()
    await pit.redis.hset(pit.store.keys.asks, "T-1!", "confirmed\nAda")
    problem = "table T-1: its correction is 'confirmed' by 'Ada', the ledger does not say so"
    assert await problems(pit) == (problem,)


async def test_a_decision_that_was_turned_round_is_named(pit: Pit) -> None:
    await opened(pit)
    await result(pit)
    await refuse(pit)
    assert await problems(pit) == ()
    await pit.redis.hset(pit.store.keys.asks, "T-1!", "confirmed\nAda")
    (problem,) = await problems(pit)
    assert "the ledger does not say so" in problem


async def test_cards_that_were_changed_in_what_is_shown_are_named(pit: Pit) -> None:
    await opened(pit)
    await void(pit)
    key = pit.store.keys.asks
    text = (await pit.store.asks())["T-1"]
    await pit.redis.hset(key, "T-1", text.replace("As", "2s"))
    (problem,) = await problems(pit)
    assert problem.startswith("table T-1: its correction request was changed")
    await pit.redis.hset(key, "T-1", "junk")
    (problem,) = await problems(pit)
    assert problem.startswith("table T-1: its correction request was changed")


async def test_an_ask_of_a_table_without_a_round_is_named(pit: Pit) -> None:
    await opened(pit)
    await void(pit)
    text = (await pit.store.asks())["T-1"]
    await pit.redis.hset(pit.store.keys.asks, "T-2", text)
    assert await problems(pit) == (
        "table T-2: it asks a floorperson for a correction, the ledger says that no round is open",
    )


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
