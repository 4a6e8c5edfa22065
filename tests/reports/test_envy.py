"""A closed day lists owed Envy Bonuses as owed, and only paid ones as paid."""

from datetime import date

import pytest

from bonus.display import money
from meters.ledger.accounts import PAID
from meters.reports.accounting_documents import day_document, jackpots_document
from meters.reports.accounting_rows import win_figures
from meters.reports.flows import ENVY, Flow
from meters.reports.ledger_scan import from_to
from meters.reports.report_document import ReportDocument
from tests.model.pit import CENT
from tests.reports.shop import PROGRESSIVE, ROYAL, STRAIGHT, Shop

EACH = 10_000
"""Cents of an Envy Bonus for the ace, king and queen of spades."""


@pytest.fixture
async def shop(shop: Shop) -> Shop:
    """Return a closed day with a pending win that brings two Envy Bonuses."""
    await shop.round(ROYAL, positions=3)
    await shop.at("2026-11-21 12:00")
    return shop


def _said(paper: ReportDocument) -> str:
    sections = [section for part in paper.parts for section in part.sections]
    lines = [line for one in sections for line in (one.title, *map(" ".join, one.rows), one.note)]
    return "\n".join(lines)


async def _claim(shop: Shop) -> str:
    (row,) = await shop.pit.claims.waiting()
    return row.claim


@pytest.mark.parametrize("archived", [False, True])
async def test_envy_is_owed_until_the_day_on_which_it_is_paid(
    shop: Shop, *, archived: bool
) -> None:
    """Each state is of its own day, also if the first days have left Redis before the payment."""
    claim = await _claim(shop)
    await shop.pit.decide(claim, "validate", by="Flo")
    await shop.at("2026-11-22 12:00")
    if archived:
        await shop.archive()
    await shop.pit.pay_envy(claim, by="Cora")
    await shop.at("2026-11-23 12:00")
    days = (await shop.all_days())[:3]
    assert all(day.faults == () for day in days)
    pending, validated, paid = days
    assert [day.rose("table_paid_cents", PROGRESSIVE) for day in days] == [0, 0, 2 * EACH]
    assert pending.rose("envy_owed_cents", PROGRESSIVE) == 2 * EACH
    assert pending.pot(PAID).closing_micros == 0
    assert pending.pot(ENVY).flows == {Flow.ODDS: 2 * EACH * CENT}
    assert pending.envy_pending[PROGRESSIVE].cents == 2 * EACH
    owed = [(win.position, win.amount_cents, win.state) for win in pending.wins if win.envy_of == 1]
    assert owed == [(3, EACH, "pending"), (2, EACH, "pending")]
    assert validated.envy_to_pay[PROGRESSIVE].cents == 2 * EACH
    assert [(win.state, win.validated_by) for win in validated.decided if win.envy_of] == [
        ("validated", "Flo"), ("validated", "Flo"),
    ]  # fmt: skip
    assert (paid.envy_pending, paid.envy_to_pay) == ({}, {})
    assert paid.pot(ENVY).flows == {Flow.PAID: -2 * EACH * CENT}
    rows = [(win.state, win.paid_by, win.day) for win in paid.decided]
    assert rows == [("paid", "Cora", date(2026, 11, 20))] * 2


@pytest.mark.reading("T10")
async def test_every_envy_bonus_has_its_row_in_jackpots_in_its_state(shop: Shop) -> None:
    """The states are pending, validated, paid and rejected, also for a hand without a win."""
    first, claims = await _claim(shop), shop.pit.claims
    (rejected,) = await shop.round(ROYAL, positions=2, table="T-2")
    await claims.decide(rejected, "reject", "Flo", reason="misread", envy_not_due=True)
    (standing,) = await shop.round(ROYAL, positions=2, table="T-2")
    await claims.decide(standing, "reject", "Flo", reason="fouled")
    (paid,) = await shop.round(ROYAL, positions=2, table="T-2")
    await claims.decide(paid, "validate", "Flo")
    await claims.decide(paid, "pay", "Finn", slip="S-1", envy_paid=True)
    await shop.pit.round({1: PROGRESSIVE}, {1: "2h 5c 9d", 3: ROYAL}, table="T-2", round_id="R9")
    found = await shop.survey(from_to(None, None))
    assert all(not each.problems for each in found.links)
    rows = [row for row in win_figures(found.links, None) if row["envy_of"] != ""]
    assert [(row["claim"], row["state"], row["paid_by"]) for row in rows] == [
        (first, "pending", ""), (first, "pending", ""), (rejected, "rejected", ""),
        (standing, "validated", ""), (paid, "paid", "Finn"),
        ("pit.T-2-8-e3", "validated", ""),
    ]  # fmt: skip
    assert {row["amount_cents"] for row in rows} == {EACH}
    assert {row["wager"] for row in rows} == {"progressive_envy"}


async def test_a_hand_has_one_record_with_its_envy_bonuses_as_lines(shop: Shop) -> None:
    claim = await _claim(shop)
    found = await shop.survey(from_to(None, None))
    rows = [row for row in win_figures(found.links, None) if row["claim"] == claim]
    assert [row["payment"] for row in rows] == ["percentage", "envy", "envy"]
    assert len({row["hand_record"] for row in rows}) == 1
    assert {row["hand_position"] for row in rows} == {rows[0]["position"]}
    document = jackpots_document(shop.floor, found, None)
    (section,) = document.parts[0].sections
    head, *lines = section.rows[:4]
    assert head[3].endswith(", 3 lines")
    assert [line[:2] for line in lines] == [("", "")] * 3
    total = sum(int(str(row["amount_cents"])) for row in rows)
    assert head[4] == money(total)


async def test_papers_separate_pending_validated_paid_and_rejected(shop: Shop) -> None:
    (odds,) = await shop.round(STRAIGHT, table="T-2")
    await shop.pit.decide(odds, "reject")
    await shop.pit.decide(await _claim(shop), "validate")
    whole = await shop.survey(from_to(None, None))
    said = _said(jackpots_document(shop.floor, whole, None))
    for words in ("2 validated, to be paid", "$200.00", "1 rejected", "Envy Bonuses: 2"):
        assert words in said, said
    assert "2 paid" not in said
    day = await shop.survey(from_to(date(2026, 11, 20), date(2026, 11, 20)))
    said = _said(day_document(shop.floor, day, None))
    assert "\nPaid at the table" not in said, "it is among what there was none of"
    assert "paid at the table; paid by hand" in said
    assert "2 pending" in said
