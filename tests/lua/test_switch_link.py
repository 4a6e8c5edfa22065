"""Closing a link and opening it again: what a closed link accepts and what it refuses."""

import msgspec
import pytest

from meters.books.link_changes import ChangeBook
from meters.books.link_state import Closure
from meters.books.refusals import refused_by_script
from meters.books.script_steps import Status
from meters.books.store import BooksError, TermsError
from tests.lua.books import Books, result, void, wagers


async def _close(books: Books, by: str = "amy") -> None:
    await ChangeBook(books.store).switch("close", by, "the felt is changed", b'{"act":"close"}')


async def _open(books: Books, by: str = "ben") -> None:
    await ChangeBook(books.store).switch("open", by, "", b'{"act":"open"}')


async def test_closed_link_says_why_by_whom_and_since_when(books: Books) -> None:
    await _close(books)
    closure = (await books.store.state()).closure
    entry = await books.last_entry()
    assert closure == Closure("the felt is changed", "amy", entry["at"])
    assert (entry["kind"], entry["by"], entry["transfers"]) == ("close", "amy", "[]")
    await _open(books)
    assert (await books.store.state()).closure is None
    assert [(await books.last_entry())[name] for name in ("kind", "by")] == ["open", "ben"]


async def test_every_meter_has_a_new_version_when_the_link_is_switched(books: Books) -> None:
    before = [meter.version for meter in (await books.store.state()).meters]
    await _close(books)
    closed = [meter.version for meter in (await books.store.state()).meters]
    await _open(books)
    opened = [meter.version for meter in (await books.store.state()).meters]
    assert closed == [version + 1 for version in before]
    assert opened == [version + 2 for version in before]


@pytest.mark.duty("D13")
async def test_closed_link_refuses_wagers_for_good(books: Books) -> None:
    await _close(books)
    before = await books.accounts()
    assert (await books.one(wagers(1))).status is Status.LINK_CLOSED
    assert await books.accounts() == before
    await _open(books)
    again = await books.one(wagers(1))
    assert again.status is Status.AGAIN, "the seq is used up"
    assert again.text == refused_by_script(1, Status.LINK_CLOSED).decode()
    assert (await books.one(wagers(2))).status is Status.ACCEPTED


async def test_round_in_hand_is_finished_while_the_link_is_closed(books: Books) -> None:
    await books.accept(wagers(1), wagers(1, table="T-2"))
    assert (await books.store.state()).rounds_open == 2
    await _close(books)
    await books.accept(result(2, basis=1), void(2, table="T-2"))
    assert (await books.store.state()).rounds_open == 0


@pytest.mark.parametrize("closed", [False, True])
async def test_link_that_is_so_already_is_not_switched(books: Books, *, closed: bool) -> None:
    if closed:
        await _close(books)
    before = await books.keyspace()
    with pytest.raises(BooksError) as refused:
        await (_close(books, "cal") if closed else _open(books))
    assert refused.value.status == "wrong_state"
    assert refused.value.detail == ("amy" if closed else "")
    assert await books.keyspace() == before


async def test_terms_that_are_not_those_opened_come_first(books: Books) -> None:
    await books.redis.hset(books.keys.meters, "terms", "altered")
    before = await books.keyspace()
    with pytest.raises(TermsError):
        await _open(books)
    assert await books.keyspace() == before


async def test_acts_of_people_have_an_index_and_events_of_tables_have_none(books: Books) -> None:
    await books.accept(wagers(1), result(2, basis=1))
    await _close(books)
    acts = await books.redis.zrange(books.keys.acts, 0, -1)
    kinds = [
        fields["kind"].decode() for number, fields in await books.store.entries(0, 10)
        if str(number).encode() in acts
    ]  # fmt: skip
    assert kinds == ["seed", "seed", "close"]
    assert msgspec.json.decode((await books.last_entry())["event"]) == {"act": "close"}


async def test_what_floorpersons_see_is_counted(books: Books) -> None:
    before = (await books.store.state()).floor_changes
    await books.accept(wagers(1))
    assert (await books.store.state()).floor_changes == before, "wagers are no news to them"
    await _close(books)
    assert (await books.store.state()).floor_changes == before + 1
