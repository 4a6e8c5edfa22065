"""A part of a community share is a win of the table of its player, for a hand of another table."""

import io
from datetime import UTC, date, datetime

import msgspec
import pytest
from pypdf import PdfReader

from meters.acts.floor_history import FloorHistory
from meters.acts.round_search import RoundQuery
from meters.ledger.day_summary import DayFold
from meters.ledger.ledger_replay import Replay
from meters.process.owned_tasks import OwnedTasks
from meters.reports.accounting_documents import day_document
from meters.reports.ledger_scan import one_day
from meters.reports.win_book import WinBook
from meters.selfcheck.break_even import BreakEvens
from meters.web.payout_slip import slip_pdf
from meters.wire.messages import PartElsewhere, parts_elsewhere
from tests.model.test_link_shares import METER, SEED, bet, deal, link_floor
from tests.reports.conftest import MakeShop
from tests.reports.shop import Shop

PART = (SEED + 3 * 75) // 10 // 3


@pytest.fixture
async def link_shop(make_shop: MakeShop) -> Shop:
    shop = make_shop("2026-11-20 12:00", floor_text=link_floor())
    await shop.open()
    return shop


async def a_win(shop: Shop) -> tuple[PartElsewhere, PartElsewhere]:
    await bet(shop.pit, "T-3", {6: "cat"}, "C1")
    await bet(shop.pit, "T-2", {2: "ann"}, "B1")
    await bet(shop.pit, "T-1", {4: None}, "A1")
    reply = await deal(shop.pit, "T-1", "A1", p4="suited_trips")
    ann, cat = parts_elsewhere(reply)
    return ann, cat


async def test_the_day_counts_it_at_the_table_of_the_player(link_shop: Shop) -> None:
    ann, cat = await a_win(link_shop)
    await link_shop.pit.pay_all([ann.claim])
    await link_shop.pit.decide(cat.claim, "reject")
    day = await link_shop.day("2026-11-20")
    assert day.faults == ()
    figures = {table: day.tables[table, METER] for table in ("T-1", "T-2", "T-3")}
    assert [(one.wins, one.won_cents, one.rejected_cents) for one in figures.values()] == [
        (2, 225_202 + PART, 0), (1, PART, 0), (1, PART, PART),
    ]  # fmt: skip
    wins = {win.claim: win for win in day.wins}
    assert (wins[ann.claim].table, wins[ann.claim].asset, wins[ann.claim].round) == (
        "T-2", "102", "B1",
    )  # fmt: skip
    assert len({win.hand_record for win in day.wins}) == 1
    paper = day_document(link_shop.floor, await link_shop.survey(one_day(date(2026, 11, 20))), None)
    told = " ".join(
        cell
        for part in paper.parts
        for section in part.sections
        for row in section.rows
        for cell in row
        if isinstance(cell, str)
    )
    assert "an equal share of 10% of the meter, for the hand of position 4 of table T-1" in told


async def test_a_report_that_begins_later_has_it_at_this_table_too(link_shop: Shop) -> None:
    ann, _ = await a_win(link_shop)
    replay = Replay()
    for number, fields in await link_shop.pit.store.entries(0, 100):
        replay.apply_entry(number, fields)
    await link_shop.pit.decide(ann.claim, "reject")
    book = WinBook("pit", replay.books)
    for entry, fields in await link_shop.pit.store.entries(replay.entries, 100):
        win = book.decide(entry, fields)
        assert win is not None
        assert (win.claim, win.table) == (ann.claim, "T-2")


async def test_a_search_for_the_claim_finds_the_round_of_the_hand(link_shop: Shop) -> None:
    ann, cat = await a_win(link_shop)
    await link_shop.pit.pay_all([ann.claim])
    tasks = OwnedTasks()
    stores = {link_shop.pit.link.id: link_shop.pit.store}
    breaks = BreakEvens(link_shop.floor, tasks).of
    history = FloorHistory(link_shop.floor, stores, breaks, tasks)
    (row,) = (await history.rounds(msgspec.convert({"claim": ann.claim}, RoundQuery))).rounds
    assert (row.table, row.round) == ("T-1", "A1")
    view = await history.round("pit", row.entry)
    assert [(win.claim, win.table, win.position, win.state) for win in view.wins][2:] == [
        (ann.claim, "T-2", 2, None), (cat.claim, "T-3", 6, None),
    ]  # fmt: skip
    await link_shop.pit.void(table="T-2", round_id="B1")
    (row,) = (
        await history.rounds(msgspec.convert({"table": "T-2", "round": "B1"}, RoundQuery))
    ).rounds
    view = await history.round("pit", row.entry)
    assert [act.what for act in view.acts] == ["validate", "pay"]


async def test_slip_and_acts_name_the_table_of_the_hand(link_shop: Shop) -> None:
    ann, _ = await a_win(link_shop)
    row = await link_shop.pit.decide(ann.claim, "validate")
    pdf = slip_pdf(link_shop.floor, row, "Sue", datetime(2026, 11, 20, tzinfo=UTC))
    words = " ".join(PdfReader(io.BytesIO(pdf)).pages[0].extract_text().split())
    share = "an equal share of 10% of the meter, for the hand of position 4 of table T-1"
    assert share in words
    assert "of its round" not in words
    (act,) = await link_shop.pit.link_acts.acts("pit", None, 1)
    assert share in act.told
    assert act.table == "T-2"


async def test_history_has_the_parts_with_those_of_the_table_of_the_hand(link_shop: Shop) -> None:
    ann, cat = await a_win(link_shop)
    fold = DayFold("pit", 0, "", {})
    for number, fields in await link_shop.pit.store.entries(0, 100):
        fold.add(number, fields)
    hits = {hit.claim: hit for hit in fold.summary().meters[METER].hits}
    assert {hit.before_cents for hit in hits.values()} == {SEED + 225}
    assert (hits[ann.claim].table, hits[cat.claim].table) == ("T-2", "T-3")
    await link_shop.pit.pay_all([ann.claim])
