"""A variance is reported first, and figures that cannot be trusted have no signature lines."""

import dataclasses
from collections import Counter
from datetime import date

import pytest

from meters.reports.accounting_documents import DOES_NOT_TIE, SO_FAR, day_document
from meters.reports.accounting_rows import day_figures, figure_row
from meters.reports.day_collector import faults_of
from meters.reports.day_figures import LinkDay, Variance
from meters.reports.flows import Flow
from meters.reports.ledger_scan import LinkScan, one_day
from meters.reports.report_document import report_pdf
from tests.model.pit import CENT
from tests.model.tampering import Fields, rewrite
from tests.reports.shop import NEW_YORK, PROGRESSIVE, ROYAL, Shop
from tests.submission.filings import pages_of

METER = f"meter:{PROGRESSIVE}"


async def _survey(shop: Shop, day_text: str = "2026-11-20") -> tuple[LinkScan, LinkDay, str]:
    found = await shop.survey(one_day(date.fromisoformat(day_text)))
    (each,) = found.links
    (day,) = each.days.values()
    return each, day, "\n".join(pages_of(report_pdf(day_document(shop.floor, found, None))))


@pytest.mark.duty("D19", proof=True)
async def test_a_variance_at_the_close_is_reported_account_by_account(shop: Shop) -> None:
    """It was gone the day after. The person who signs explains it; it is never smoothed over."""
    await shop.round()
    redis, keys = shop.pit.redis, shop.pit.store.keys
    await redis.hincrby(keys.accounts, METER, 3 * CENT)
    await redis.hincrby(keys.tallies, f"wagers:{PROGRESSIVE}", -1)
    await shop.at("2026-11-21 06:00")
    await redis.hincrby(keys.accounts, METER, -3 * CENT)
    await redis.hincrby(keys.tallies, f"wagers:{PROGRESSIVE}", 1)
    await shop.at("2026-11-22 06:00")
    each, day, paper = await _survey(shop)
    held = 1_000 * 100 * CENT + 14 * CENT
    assert day.variances == (
        Variance(METER, held + 3 * CENT, held), Variance(f"wagers:{PROGRESSIVE}", 0, 1),
    )  # fmt: skip
    assert each.problems == []
    assert [variance.rpartition(" ")[2] for variance in each.variances] == ["+30000", "-1"]
    assert "$0.03" in paper, "the variance"
    assert "The variances are explained in a separate document." in paper
    assert "Prepared by" in paper
    _, after, clean = await _survey(shop, "2026-11-21")
    assert after.variances == ()
    assert "explained" not in clean


async def test_a_variance_of_what_is_owed_for_envy_is_reported_in_dollars(shop: Shop) -> None:
    await shop.pit.round({1: PROGRESSIVE}, {1: "2h 4d 9s", 3: ROYAL})
    (row,) = await shop.pit.claims.waiting()
    redis, keys, account = shop.pit.redis, shop.pit.store.keys, f"envy:{row.claim}"
    await redis.hincrby(keys.accounts, account, 3 * CENT)
    await shop.at("2026-11-21 06:00")
    _, day, paper = await _survey(shop)
    owed = row.envy_amount * CENT
    assert day.variances == (Variance(account, owed + 3 * CENT, owed),)
    assert "$100.03" in paper


async def test_an_altered_ledger_is_not_to_be_signed(shop: Shop) -> None:
    """The audit's problem is at the top, and the PDF has no signature lines."""
    await shop.round()
    await shop.at("2026-11-21 06:00")
    await _rewrite(shop, 5, b"transfers", b"140000", b"150000")
    each, _, paper = await _survey(shop)
    assert any("entry 5 is not as it was written" in problem for problem in each.problems)
    assert "pit: " not in paper
    assert "entry 5 is not as it was written" in paper
    assert DOES_NOT_TIE in paper
    assert "Do not sign it." in paper
    assert "Prepared by" not in paper


async def test_an_entry_that_cannot_be_read_is_left_out_and_said_to_be(shop: Shop) -> None:
    await shop.round(ROYAL)
    await shop.round(table="T-2")
    await shop.at("2026-11-21 06:00")
    await _rewrite(shop, 6, b"reply", b'"lines"', b'"limes"')
    each, day, _ = await _survey(shop)
    assert day.wins == ()
    assert any("the figures do not include entry 6" in problem for problem in each.problems)
    rows = [figure_row(one, NEW_YORK) for one in day_figures([each], None)]
    (row,) = (one for one in rows if one["figure"] == "variance_of_rounds")
    assert (row["count"], row["amount_dollars"]) == (1, "")


async def _rewrite(shop: Shop, number: int, field: bytes, old: bytes, new: bytes) -> None:
    def change(entry: int, fields: Fields) -> Fields:
        if entry != number:
            return fields
        assert old in fields[field]
        return fields | {field: fields[field].replace(old, new)}

    await rewrite(shop.pit, change, chained=False)


async def test_the_open_day_is_reported_so_far_and_not_signed(shop: Shop) -> None:
    await shop.round()
    _, day, paper = await _survey(shop)
    assert day.open
    assert SO_FAR in paper
    assert "Prepared by" not in paper


async def test_figures_that_do_not_agree_are_found(shop: Shop) -> None:
    """Each agreement that a report must have is broken by one false figure."""
    await shop.round()
    _, day, _ = await _survey(shop)
    assert list(faults_of(day)) == []
    pot, table = day.pots[METER], day.tables["T-1", PROGRESSIVE]
    other = dataclasses.replace(pot, closing_micros=pot.closing_micros + 1)
    moved = dataclasses.replace(pot, flows=Counter(pot.flows) + Counter({Flow.OTHER: 5}))
    more = dataclasses.replace(table, wagered_cents=table.wagered_cents + 1)
    added = dataclasses.replace(table, contributed_micros=table.contributed_micros + 1)
    wagered = f"wagered_cents:{PROGRESSIVE} rose by 100, but by 101 in the tables' figures"
    for pots, tables, said in (
        ({METER: other}, {}, f"{METER} is +1 micros off"),
        ({METER: moved}, {}, f"{METER} moved by +5 micros without a known reason"),
        ({}, {("T-1", PROGRESSIVE): more}, wagered),
        ({}, {("T-1", PROGRESSIVE): added}, "tables contributed 140001 micros"),
    ):
        spoiled = dataclasses.replace(
            day, pots={**day.pots, **pots}, tables={**day.tables, **tables}
        )
        assert any(said in fault for fault in faults_of(spoiled)), said
