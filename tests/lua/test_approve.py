"""Approval of a floor file: every status in its order, and what the ledger records."""

from dataclasses import replace
from functools import partial

import msgspec
import pytest

from meters.floor.floor_file import parse_floor
from meters.ledger.approved_configuration import LinkConfiguration
from meters.ledger.floor_approvals import Approval, HalfApproval
from meters.ledger.two_people import NO_SETTERS, PinSetters
from meters.process.clock import now_text
from meters.store.approval_book import ApprovalBook, Approved, Waiting
from meters.store.link_store import BooksError
from meters.store.stored_entries import pack_entries
from tests.lua.books import FLOOR, Books, wagers
from tests.waiting import eventually_async

FILED = LinkConfiguration.of(parse_floor(FLOOR), parse_floor(FLOOR).link[0])
OTHER = LinkConfiguration(FILED.text.replace('"positions":7', '"positions":6'))


def _approval(filed: LinkConfiguration = FILED, by: str = "amy") -> Approval:
    return Approval(filed.digest, filed.text, by, ("table T-1 positions: 7 → 6",))


async def _approve(
    books: Books, filed: LinkConfiguration = FILED, by: str = "amy", replaces: str = ""
) -> None:
    await ApprovalBook(books.store).approve_alone(
        _approval(filed, by), replaces, of_empty_link=False
    )


async def _current(books: Books) -> Approved:
    approved = await ApprovalBook(books.store).current()
    assert approved is not None
    return approved


async def _refused(
    books: Books,
    status: str,
    *,
    replaces: str = "",
    of_empty_link: bool = False,
    continues: str = "",
) -> None:
    async with books.refuses(BooksError, status):
        await ApprovalBook(books.store).approve_alone(
            _approval(OTHER, "ben"), replaces, of_empty_link=of_empty_link, continues=continues
        )


@pytest.mark.duty("D12")
async def test_the_ledger_has_the_whole_approved_configuration(books: Books) -> None:
    assert await ApprovalBook(books.store).current() is None
    await _approve(books)
    entry = await books.last_entry()
    approved = await _current(books)
    assert (approved.digest, approved.text) == (FILED.digest, FILED.text)
    assert (approved.by, approved.at, approved.entry) == ("amy", entry["at"], int(entry["id"]))
    assert (entry["kind"], entry["by"], entry["transfers"]) == ("approve", "amy", "[]")
    event = msgspec.json.decode(entry["event"], type=Approval)
    assert (event.text, event.changed) == (FILED.text, ("table T-1 positions: 7 → 6",))


async def test_only_what_was_shown_is_replaced(books: Books) -> None:
    await _approve(books)
    await _refused(books, "stale")
    await _refused(books, "stale", replaces=OTHER.digest)
    before = await _current(books)
    for continues in (f"{before.entry - 1} {before.at}", f"{before.entry} {before.at[:-1]}"):
        await _refused(books, "stale", replaces=FILED.digest, continues=continues)
    await _approve(books, OTHER, "ben", FILED.digest)
    approved = await _current(books)
    assert (approved.digest, approved.by) == (OTHER.digest, "ben")


async def test_one_person_approves_for_an_empty_link_only(books: Books) -> None:
    await books.accept(wagers(1))
    await _refused(books, "stale", of_empty_link=True)


@pytest.mark.duty("D4")
async def test_two_people_approve_and_only_the_second_has_effect(books: Books) -> None:
    await _approve(books)
    book = ApprovalBook(books.store)
    before = await book.waiting()
    await book.approve_first(_approval(OTHER, "ben"), FILED.digest, 3, before)
    first = await books.last_entry()
    assert (first["kind"], first["by"]) == ("approve_first", "ben")
    half = msgspec.json.decode(first["event"], type=HalfApproval)
    assert (half.digest, half.replaces, half.by) == (OTHER.digest, FILED.digest, "ben")
    assert (await _current(books)).digest == FILED.digest
    waiting = await book.waiting()
    assert waiting.counts_for(OTHER.digest, FILED.digest, 3)
    assert not waiting.counts_for(OTHER.digest, OTHER.digest, 3)
    assert not waiting.counts_for(OTHER.digest, FILED.digest, 4)
    for waits, by, status in (
        (before, "cal", "stale"),
        (replace(waiting, half=msgspec.structs.replace(half, by="dan")), "cal", "stale"),
        (waiting, "ben", "same_person"),
        (waiting, "cal", "same_person"),
    ):
        setters = PinSetters(own=("ben",), shared={"ben": "ben"})
        async with books.refuses(BooksError, status):
            await book.approve_second(_approval(OTHER, by), FILED.digest, waits, setters)
    async with books.refuses(BooksError, "stale"):  # it has not seen the approval that waits
        await book.approve_first(_approval(OTHER, "cal"), FILED.digest, 3, before)
    await book.approve_second(_approval(OTHER, "cal"), FILED.digest, waiting, NO_SETTERS)
    approved = await _current(books)
    assert (approved.digest, approved.by) == (OTHER.digest, "cal")
    assert await book.waiting() == Waiting()


@pytest.mark.duty("D4")
async def test_a_first_approval_that_a_restore_has_packed_with_others_counts(books: Books) -> None:
    await _approve(books)
    book, store = ApprovalBook(books.store), books.store
    await book.approve_first(_approval(OTHER, "ben"), FILED.digest, 0, Waiting())
    entries = await store.entries(0, 100)
    packed = pack_entries([fields for _, fields in entries])
    await books.redis.delete(store.keys.ledger)
    await books.redis.xadd(store.keys.ledger, dict(packed.items()), id=str(entries[-1][0]))
    waiting = await book.waiting()
    await book.approve_second(_approval(OTHER, "cal"), FILED.digest, waiting, NO_SETTERS)
    approved = await _current(books)
    assert (approved.digest, approved.first_by, approved.by) == (OTHER.digest, "", "cal")


@pytest.mark.duty("D4")
async def test_a_first_approval_in_the_name_of_another_person_does_not_count(books: Books) -> None:
    """Somebody with the password of Redis calls the script itself."""
    await _approve(books)
    book, store = ApprovalBook(books.store), books.store
    half = msgspec.json.encode(HalfApproval(OTHER.digest, FILED.digest, "amy", ()))
    args: list[str | bytes] = [
        "",
        OTHER.digest,
        "mal",
        "",
        half,
        FILED.digest,
        "first",
        "",
        "",
        "{}",
        "{}",
        "",
        "",
    ]
    keys = [*store.fixed_keys, store.keys.approved]
    await store.script("approve_link")(keys=keys, args=args)
    entry = await books.last_entry()
    assert (entry["kind"], entry["by"]) == ("approve_first", "mal")
    assert (await book.waiting()).half is None


def is_after(at: str) -> bool:
    return now_text() > at


async def test_an_approval_is_read_again_if_redis_lost_the_one_before(books: Books) -> None:
    """Both have the same ledger entry, but not the same time."""
    book = ApprovalBook(books.store)
    for order in (7, 8):
        await books.redis.flushdb()
        await book.approve_alone(msgspec.structs.replace(_approval(), order=order), "")
        approved = await _current(books)
        assert (approved.order, approved.entry) == (order, 1)
        await eventually_async(partial(is_after, approved.at), what="another millisecond")


async def test_the_ledger_says_what_was_approved_last_if_redis_does_not(books: Books) -> None:
    book, replaces = ApprovalBook(books.store), ""
    for order in (1, 2):
        approval = msgspec.structs.replace(_approval(), order=order)
        await book.approve_alone(approval, replaces, of_empty_link=False)
        await books.redis.delete(books.store.keys.approved)
        noted = await book.last_noted()
        assert noted is not None
        assert noted.order == order
    for _ in range(101):
        await book.approve_first(_approval(OTHER), "", 0, await book.waiting())
    assert await book.last_noted() == noted, "although many acts followed"
