"""Reports across the archive: a day's report is the same wherever its entries are."""

from datetime import date
from pathlib import Path

import pytest

from meters.archive.archiver import delete
from meters.reports.accounting_documents import DOES_NOT_TIE, day_document
from meters.reports.ledger_scan import from_to
from tests.model.pit import CENT
from tests.reports.shop import PROGRESSIVE, ROYAL, STRAIGHT, Shop


async def _three_days(shop: Shop) -> tuple[str, str]:
    """Play wins that wait over the hour, and an open round; return the claims."""
    (whole,) = await shop.round(ROYAL)
    (odds,) = await shop.round(STRAIGHT, table="T-2")
    await shop.pit.wagers({1: PROGRESSIVE}, table="T-2", round_id="R-over")
    await shop.at("2026-11-21 12:00")
    await shop.pit.void(table="T-2", round_id="R-over")
    await shop.pit.decide(whole, "validate", by="Flo")
    await shop.pit.decide(odds, "reject", by="Flo")
    await shop.round(positions=2, table="T-2")
    await shop.at("2026-11-22 12:00")
    await shop.pit.decide(whole, "pay", by="Finn")
    await shop.round()
    await shop.at("2026-11-23 12:00")
    return whole, odds


@pytest.mark.duty("D19")
async def test_an_archived_day_has_the_same_report_as_a_live_one(shop: Shop) -> None:
    await _three_days(shop)
    live = await shop.all_days()
    await shop.archive()
    assert (await shop.pit.store.entries(0, 1))[0][0] > 1, "the first days have left Redis"
    archived = await shop.all_days()
    assert archived[:3] == live[:3]
    assert archived[3].first_entry == live[3].first_entry


async def test_a_ledger_without_its_first_day_continues_from_the_books_at_its_close(
    shop: Shop,
) -> None:
    """Waiting claims and open rounds are known by their amounts, not by their history."""
    whole, odds = await _three_days(shop)
    live = await shop.all_days()
    archive = await shop.archive()
    await delete(shop.pit.store, archive.files()[:1])
    days = await shop.all_days()
    assert [str(day.first_day) for day in days] == ["2026-11-21", "2026-11-22", "2026-11-23"]
    for kept, was in zip(days[:2], live[1:3], strict=True):
        assert (kept.pots, kept.risen, kept.rounds) == (was.pots, was.risen, was.rounds)
        assert (kept.tables, kept.waiting, kept.seal) == (was.tables, was.waiting, was.seal)
    assert [(win.claim, win.table, win.state) for win in days[0].decided] == [
        (whole, "T-1", "validated"), (odds, "T-2", "rejected"),
    ]  # fmt: skip
    assert days[0].tables["T-2", PROGRESSIVE].voided_micros == 14 * CENT
    paper = day_document(shop.floor, await shop.survey(from_to(None, date(2026, 11, 21))), None)
    cells = [cell for part in paper.parts for section in part.sections for row in section.rows
            for cell in row]  # fmt: skip
    assert "Progressive, won before the first entry that was read" in cells


async def test_without_its_archive_a_report_says_so_and_is_not_to_be_signed(
    shop: Shop, tmp_path: Path
) -> None:
    await _three_days(shop)
    archive = await shop.archive()
    for file in archive.files():
        file.path.rename(tmp_path / file.path.name)
    found = await shop.survey(from_to(None, None))
    (each,) = found.links
    assert min(each.days) == date(2026, 11, 22)
    assert any("lacks files with some of them" in problem for problem in each.problems)
    assert day_document(shop.floor, found, None).unsigned == DOES_NOT_TIE
