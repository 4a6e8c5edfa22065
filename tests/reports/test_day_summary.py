"""Summaries of gaming days: they say what the entries say, archived or live."""

import asyncio
import csv
import threading
import time
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
import structlog.testing

from meters.acts import floor_history, ledger_days
from meters.acts.act_refusals import ActError
from meters.acts.floor_history import FloorHistory
from meters.acts.history_sheet import history_csv
from meters.acts.ledger_days import LedgerDays
from meters.acts.meter_history import floor_day, hourly_picture, month_picture, spark
from meters.archive.archive_days import ArchiveFiles
from meters.archive.day_file import ArchiveError, DayFile
from meters.archive.day_summaries import read_summary, summary_path, written_summary
from meters.ledger.accounts import meter_account, transfers_in
from meters.ledger.day_summary import DaySummary
from meters.process.owned_tasks import OwnedTasks
from meters.selfcheck.break_even import BreakEvens
from meters.store.link_store import LinkStore
from tests.reports.shop import FIVE_CARD, PROGRESSIVE, ROYAL, STRAIGHT, Shop

FIRST, SECOND, THIRD = (date(2026, 11, day) for day in (20, 21, 22))


async def two_days(shop: Shop) -> None:
    """Play two gaming days with hits, a void, an adjustment and decisions, and begin a third."""
    await shop.round()
    await shop.void()
    await shop.after(minutes=3)
    (claim,) = await shop.round(ROYAL)
    await shop.after(minutes=25)
    await shop.pit.claims.decide(claim, "validate", "Flo")
    await shop.pit.claims.decide(claim, "pay", "Fred", slip="S-1")
    await shop.round(ROYAL, table="T-2")
    await shop.adjust(FIVE_CARD, 1_234)
    await shop.at("2026-11-21 06:01")
    await shop.round(STRAIGHT)
    await shop.at("2026-11-22 06:02")
    await shop.round(positions=2)


def by_hand(shop: Shop, entries: list[tuple[int, dict[str, bytes]]], meter: str) -> list[int]:
    """Return a meter's micros after each entry."""
    held, found = 0, []
    for _, fields in entries:
        for one in transfers_in(fields["transfers"]):
            held += one.micros * (one.target == meter_account(meter))
            held -= one.micros * (one.source == meter_account(meter))
        found.append(held)
    return found


def days_of(shop: Shop, tasks: OwnedTasks | None = None) -> LedgerDays:
    archive = ArchiveFiles(Path(shop.floor.archive.directory), shop.pit.link.id)
    return LedgerDays(shop.pit.store, shop.pit.link.id, archive, tasks or OwnedTasks())


def history_of(shop: Shop, *others: LinkStore) -> FloorHistory:
    tasks = OwnedTasks()
    stores = {store.link.id: store for store in (shop.pit.store, *others)}
    return FloorHistory(shop.floor, stores, BreakEvens(shop.floor, tasks).of, tasks)


async def pay(shop: Shop, slip: str) -> int:
    """Win the progressive, and pay it; return its cents."""
    (claim,) = await shop.round(ROYAL)
    await shop.pit.claims.decide(claim, "validate", "Flo")
    return (await shop.pit.claims.decide(claim, "pay", "Fred", slip=slip)).amount


async def span(days: LedgerDays) -> dict[date, DaySummary]:
    assert await days.caught_up(60)
    found = await days.span(FIRST, THIRD, 60)
    assert (found.unread, [*found.missing]) == (0, [])
    return dict(found.days)


async def test_summaries_say_what_the_entries_say(shop: Shop) -> None:
    await two_days(shop)
    entries = await shop.pit.store.entries(0, 10_000)
    found = await span(days_of(shop))
    assert [*found] == [FIRST, SECOND, THIRD]
    for meter in (PROGRESSIVE, FIVE_CARD):
        held = by_hand(shop, entries, meter)
        before = 0
        for summary in found.values():
            of = summary.meters[meter]
            assert of.opening == (held[summary.after - 1] if summary.after else 0)
            assert [*of.amounts] == [held[last - 1] for last in summary.entries]
            assert summary.after == before
            before = summary.last
    first = found[FIRST]
    paid, waits = first.meters[PROGRESSIVE].hits
    assert [(hit.table, hit.hand, hit.percent) for hit in (paid, waits)] == [
        ("T-1", "mini_royal_spades", 100), ("T-2", "mini_royal_spades", 100),
    ]  # fmt: skip
    assert (paid.before_cents, paid.amount_cents, paid.after_cents) == (100_028, 100_028, 100_000)
    assert first.waits_s == (25 * 60,)
    assert sum(first.paid_micros) == paid.amount_cents * 10_000
    assert (sum(first.wins), sum(first.won_cents)) == (2, paid.amount_cents + waits.amount_cents)
    assert sum(first.wagers) == 4
    assert first.seqs == {"T-1": (1, 6), "T-2": (1, 2)}


async def test_archived_and_live_days_have_the_same_summaries(shop: Shop) -> None:
    """The archive writes them beside its files; one that is gone or strange is made again."""
    await two_days(shop)
    reader = days_of(shop)
    live = await span(reader)
    archive = await shop.archive()
    for file in archive.files():
        assert written_summary(file) == live[file.head.day]
        beside = summary_path(file)
        text = beside.read_bytes()
        for damage in (b"", text.replace(file.head.digest.encode(), b"0" * 64)):
            beside.write_bytes(damage)
            assert written_summary(file) is None
            assert read_summary(file) == live[file.head.day]
            assert beside.read_bytes() == text
        beside.unlink()
    again = days_of(shop)
    later = await span(again)
    assert {**later, THIRD: None} == {**live, THIRD: None}
    assert later[THIRD].meters == live[THIRD].meters
    assert again.begins_after == live[SECOND].last, "only the open day is read from Redis"
    # The reader that knew the closed days before they were archived goes on without them.
    assert await span(reader) == later
    assert not reader.closed


async def test_a_day_that_nobody_here_has_is_said_to_be_missing(shop: Shop) -> None:
    await two_days(shop)
    await shop.at("2026-11-25 06:03")
    await shop.round()
    archive = await shop.archive()
    archive.path(SECOND.isoformat()).unlink()
    days = days_of(shop)
    assert await days.caught_up(60)
    found = await days.span(FIRST, date(2026, 11, 25), 60)
    assert [*found.missing] == [(SECOND, SECOND)]


async def test_reads_that_nobody_waits_for_end_with_their_owner_and_failures_are_logged(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await two_days(shop)
    archive = await shop.archive()
    for file in archive.files():
        summary_path(file).unlink()
    begun, given_up = threading.Event(), threading.Event()

    def slow(file: DayFile, is_given_up: Callable[[], bool]) -> DaySummary:
        begun.set()
        while not is_given_up():
            time.sleep(0.001)
        given_up.set()
        raise ArchiveError(f"{file.path} was not read to its end")

    def fails(*_: object) -> DaySummary:
        raise MemoryError("no room")

    monkeypatch.setattr(ledger_days, "read_summary", slow)
    async with OwnedTasks() as tasks:
        days = days_of(shop, tasks)
        assert await days.caught_up(60)
        assert (await days.span(FIRST, THIRD, 0)).unread == 2
        await asyncio.to_thread(begun.wait, 60)
        held = [task for task in asyncio.all_tasks() if task.get_name().startswith("summaries")]
        assert len(held) == 1
    assert held[0].cancelled()
    assert await asyncio.to_thread(given_up.wait, 60)
    monkeypatch.setattr(ledger_days, "read_summary", fails)
    with structlog.testing.capture_logs() as logged:
        async with OwnedTasks() as tasks:
            days = days_of(shop, tasks)
            assert await days.caught_up(60)
            assert (await days.span(FIRST, THIRD, 60)).unread == 2
    assert [(line["event"], line["reason"]) for line in logged] == [
        ("background task failed", "no room")
    ]


async def test_a_rejected_win_is_no_win_of_the_day_or_month_until_it_is_reopened(
    shop: Shop,
) -> None:
    """Whenever it was rejected: the day before knows it too, and so does the archive."""
    await shop.round()
    (claim,) = await shop.round(ROYAL)
    days = days_of(shop)

    async def told() -> tuple[int, int, int, int]:
        assert await days.caught_up(60)
        found = await days.span(FIRST - timedelta(days=29), FIRST, 60)
        drawn = month_picture(
            found, PROGRESSIVE, FIRST, shop.days, int(shop.clock.at.timestamp()) + 60
        )
        shown = floor_day([await days.span(FIRST, FIRST, 60)], FIRST, shop.days, None).shifts
        won = sum(each.won for each in shown)
        return drawn.hit_count, drawn.won, sum(each.wins for each in shown), won

    won = await told()
    assert won == (1, 100_028, 1, 100_028)
    await shop.after(minutes=30)
    await shop.pit.claims.decide(claim, "reject", "Flo", reason="misread")
    assert await told() == (0, 0, 0, 0)
    row = await shop.pit.claims.request_reopening(claim, "Flo", reason="the camera shows the hand")
    assert row.request is not None
    await shop.pit.claims.confirm(claim, "Fred", row.request.entry)
    assert await told() == won
    await shop.at("2026-11-21 06:01")
    assert await told() == won
    await shop.pit.claims.decide(claim, "reject", "Flo", reason="misread after all")
    assert await told() == (0, 0, 0, 0)
    await shop.at("2026-11-22 06:01")
    await shop.archive()
    days = days_of(shop)
    assert await told() == (0, 0, 0, 0)


async def test_a_day_is_shown_once_all_of_it_was_read(shop: Shop) -> None:
    await two_days(shop)
    days = days_of(shop)
    found = await days.span(THIRD, THIRD, 60)
    assert (found.unread, found.days) == (1, [])
    assert THIRD in await span(days)
    await shop.at("2026-11-23 06:01")
    await shop.round()
    found = await days.span(THIRD, THIRD, 60)
    assert (found.unread, found.days) == (1, [])
    assert THIRD in await span(days)


async def test_the_month_of_a_new_meter_has_its_first_minutes(shop: Shop) -> None:
    """On its first day, a meter has no hours to draw."""
    await shop.round()
    await shop.after(minutes=2)
    await shop.round()
    days = days_of(shop)
    assert await days.caught_up(60)
    found = await days.span(FIRST - timedelta(days=29), FIRST, 60)
    now_s = int(shop.clock.at.timestamp())
    drawn = month_picture(
        found, PROGRESSIVE, FIRST, shop.days, now_s, minutes=days.amounts(PROGRESSIVE)
    )
    assert drawn.amounts == (100_014, 100_028)
    assert drawn.times_s[-1] == now_s


async def test_a_restored_ledger_is_read_again(shop: Shop) -> None:
    """After a restore, other entries can have the numbers that were read."""
    await two_days(shop)
    days = days_of(shop)
    before = await span(days)
    days._fold.chain = "0" * 40  # as if the ledger's last entry were another one
    assert await span(days) == before


@pytest.mark.parametrize("archived", [False, True])
async def test_a_picture_has_each_hit_where_it_was(shop: Shop, *, archived: bool) -> None:
    await two_days(shop)
    if archived:
        await shop.archive()
    days = days_of(shop)
    assert await days.caught_up(60)
    found = await days.span(FIRST, THIRD, 60)
    begins, ends = (int(moment.timestamp()) for moment in shop.days.bounds(FIRST))
    drawn = hourly_picture(found, PROGRESSIVE, begins, ends)
    line = [*zip(drawn.times_s, drawn.amounts, strict=True)]
    assert line == sorted(line, key=lambda point: point[0])
    assert (line[-1][0], line[-1][1]) == (ends, drawn.hits[0].after)
    for hit in drawn.hits:
        at = line.index((hit.at_s, hit.before))
        assert line[at + 1] == (hit.at_s, hit.after)
    assert drawn.hit_count == 2
    assert drawn.won == sum(hit.amount for hit in drawn.hits)
    (bar,) = [bar for bar in drawn.bars if bar.added]
    begun = datetime.fromtimestamp(bar.begins_s, shop.days.zone)
    assert (f"{begun:%H:%M}", bar.added) == ("12:00", 3 * 14)


async def test_the_last_minutes_are_drawn_one_by_one(shop: Shop) -> None:
    await two_days(shop)
    days = days_of(shop)
    for _ in range(7):
        await shop.after(minutes=1)
        await shop.round()
    assert await days.caught_up(60)
    found = await days.span(FIRST, THIRD, 60)
    held = by_hand(shop, await shop.pit.store.entries(0, 10_000), PROGRESSIVE)
    minutes = days.amounts(PROGRESSIVE)
    assert [micros for _, micros in minutes[-7:]] == held[-13::2]
    ends = minutes[-1][0] + 30
    begins = ends - 86_400
    drawn = hourly_picture(found, PROGRESSIVE, begins, ends, minutes)
    for line in (
        spark(found, PROGRESSIVE, begins, ends, minutes),
        [*zip(drawn.times_s, drawn.amounts, strict=True)],
    ):
        assert line[-1] == (ends, held[-1] // 10_000)
        assert line == sorted(line, key=lambda point: point[0])


async def test_a_sheet_is_whole_or_says_what_it_lacks(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page shows the last wins; while days are read, there is no sheet."""
    await two_days(shop)
    await shop.at("2026-11-23 06:03")
    await shop.round()
    archive = await shop.archive()
    monkeypatch.setattr(floor_history, "HITS_MAX", 1)
    history, link = history_of(shop), shop.pit.link.id

    async def rows(figure: str) -> list[dict[str, str]]:
        found = await history.meter(link, PROGRESSIVE, None, whole=True)
        sheet = [*csv.DictReader(history_csv(found, shop.days).splitlines())]
        return [one for one in sheet if (one["figure"], one["picture"]) == (figure, "month")]

    page = await history.meter(link, PROGRESSIVE, None)
    assert (len(page.month.hits), page.month.hit_count) == (1, 2)
    assert [row["table"] for row in await rows("won")] == ["T-1", "T-2"]
    assert not await rows("missing")
    bars = len(await rows("contributions"))
    archive.path(SECOND.isoformat()).unlink()
    (lacks,) = await rows("missing")
    assert (lacks["from_local"], lacks["to_local"]) == (
        "2026-11-21 06:00:00",
        "2026-11-22 06:00:00",
    )
    assert len(await rows("contributions")) == bars - 1

    def fails(*_: object) -> DaySummary:
        raise MemoryError("no room")

    monkeypatch.setattr(ledger_days, "read_summary", fails)
    summary_path(DayFile(archive.path(FIRST.isoformat()))).unlink()
    history = history_of(shop)
    with pytest.raises(ActError) as refused:
        await rows("won")
    assert refused.value.code == "busy"


async def test_what_a_link_paid_today_counts_although_it_could_not_close_its_day(
    shop: Shop,
) -> None:
    """What it paid before the newest gaming day is not of today."""
    other = shop.pit.store.of_link(msgspec.structs.replace(shop.pit.link, id="other"))
    history = history_of(shop, other)
    before = await pay(shop, "S-1")
    assert (await history.floor_day(None)).paid == before
    shop.clock.at += timedelta(days=1)
    await shop.round()
    today = await pay(shop, "S-2")
    assert today != before
    shown = await history.floor_day(None)
    assert (shown.day, shown.paid, sum(each.wins for each in shown.shifts)) == (SECOND, today, 1)
    assert (await history.floor_day(FIRST)).paid == before + today, "it has no other day yet"


async def test_the_meter_at_the_close_of_a_day_is_the_one_that_was_read(shop: Shop) -> None:
    """A service that did not run at the hour closes the day later."""
    await shop.round()
    shop.clock.at += timedelta(hours=18, minutes=20)
    await shop.round()
    history = history_of(shop)
    assert (await history.meter(shop.pit.link.id, PROGRESSIVE, FIRST)).closing is None
    await shop.look()
    await shop.round()
    first = await history.meter(shop.pit.link.id, PROGRESSIVE, FIRST)
    assert (first.closing, first.last_day.amounts[-1]) == (100_028, 100_014)
    assert (await history.meter(shop.pit.link.id, PROGRESSIVE, None)).closing is None
