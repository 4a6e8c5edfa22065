"""Approval of a floor file: every status in its order, and what the ledger records."""

import msgspec
import pytest

from meters.books.approvals import Approval, ApprovalBook, ForgedError
from meters.books.approved_configuration import LinkConfiguration
from meters.books.store import BooksError
from meters.floor.floor_file import parse_floor
from tests.lua.books import FLOOR, Books, wagers

FILED = LinkConfiguration.of(parse_floor(FLOOR), parse_floor(FLOOR).link[0])
OTHER = LinkConfiguration(FILED.text.replace('"positions":7', '"positions":6'))


async def _approve(
    books: Books,
    filed: LinkConfiguration = FILED,
    by: str = "amy",
    replaces: str = "",
    *,
    first: bool = False,
) -> None:
    approval = Approval(filed.digest, filed.text, by, ("table T-1 positions: 7 → 6",))
    await ApprovalBook(books.store).approve(approval, replaces, first=first)


async def _refused(books: Books, status: str, *, replaces: str = "", first: bool = False) -> None:
    before = await books.keyspace()
    with pytest.raises(BooksError) as refused:
        await _approve(books, OTHER, "ben", replaces, first=first)
    assert refused.value.status == status
    assert await books.keyspace() == before


@pytest.mark.duty("D12")
async def test_the_ledger_has_the_whole_approved_configuration(books: Books) -> None:
    assert await ApprovalBook(books.store).current() is None
    await _approve(books)
    entry = await books.last_entry()
    approved = await ApprovalBook(books.store).current()
    assert approved is not None
    assert (approved.digest, approved.text) == (FILED.digest, FILED.text)
    assert (approved.by, approved.at, approved.entry) == ("amy", entry["at"], int(entry["id"]))
    assert (entry["kind"], entry["by"], entry["transfers"]) == ("approve", "amy", "[]")
    event = msgspec.json.decode(entry["event"], type=Approval)
    assert (event.text, event.changed) == (FILED.text, ("table T-1 positions: 7 → 6",))


async def test_only_what_was_shown_is_replaced(books: Books) -> None:
    await _approve(books)
    await _refused(books, "stale")
    await _refused(books, "stale", replaces=OTHER.digest)
    await _approve(books, OTHER, "ben", FILED.digest)
    approved = await ApprovalBook(books.store).current()
    assert approved is not None
    assert (approved.digest, approved.by) == (OTHER.digest, "ben")


async def test_the_first_is_adopted_once_and_nothing_after_it(books: Books) -> None:
    await _approve(books, by="service", first=True)
    await _refused(books, "stale", first=True)
    await books.redis.delete(books.keys.approved)
    await _refused(books, "lost", first=True)
    await books.redis.hdel(books.keys.tallies, "approvals")
    await _refused(books, "lost", first=True)


async def test_books_of_before_there_were_approvals_adopt_their_first(books: Books) -> None:
    await books.accept(wagers(1))
    await _approve(books, by="service", first=True)
    assert await ApprovalBook(books.store).current() is not None


@pytest.mark.duty("D12")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("digest", OTHER.digest),
        ("text", OTHER.text),
        ("by", "ben"),
        ("entry", "1"),
        ("entry", "99"),
        ("entry", ""),
    ],
)
async def test_what_was_written_behind_the_scripts_back_is_found(
    books: Books, field: str, value: str
) -> None:
    await _approve(books)
    await books.redis.hset(books.keys.approved, field, value)
    with pytest.raises(ForgedError, match="ledger entry"):
        await ApprovalBook(books.store).current()


async def test_what_is_put_in_under_an_operating_link_is_found(books: Books) -> None:
    await _approve(books)
    book = ApprovalBook(books.store)
    assert await book.current() is not None
    for field, value in (("digest", OTHER.digest), ("text", OTHER.text)):
        await books.redis.hset(books.keys.approved, field, value)
    with pytest.raises(ForgedError):
        await book.current()
