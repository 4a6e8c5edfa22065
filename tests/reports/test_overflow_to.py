"""Reports show at both meters what was above the limit of one of them."""

from datetime import date
from typing import Final

import pytest

from meters.reports.accounting_documents import day_document, month_document
from meters.reports.accounting_rows import day_figures
from meters.reports.flows import Flow
from meters.reports.ledger_scan import from_to, one_day
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.model.pit import CENT, PROGRESSIVE
from tests.reports.conftest import MakeShop

MINI: Final = "mini"
GRAND: Final = "grand"
PASSING: Final = floor_text(
    link_text(
        "pit",
        meter_text(PROGRESSIVE, id=MINI, limit=100_028, overflow_to=GRAND),
        meter_text(PROGRESSIVE, 500, id=GRAND, limit=500_020),
        table_text("T-1", MINI, asset="1"),
        table_text("T-2", GRAND, asset="2"),
    )
)


@pytest.mark.duty("D3", "D19")
async def test_a_day_of_a_full_meter(make_shop: MakeShop) -> None:
    """Of 56 cents, 28 are above the limit. The other meter takes 20; eight wait there."""
    shop = make_shop("2026-11-20 12:00", floor_text=PASSING)
    await shop.open()
    await shop.round(positions=4)
    await shop.void()
    await shop.at("2026-11-21 06:00")
    await shop.at("2026-11-22 06:00")
    day = await shop.day("2026-11-20")
    flows = {
        (meter, name): {
            flow.value: micros // CENT
            for flow, micros in pot.flows.items()
            if flow is not Flow.SEEDS
        }
        for meter in (MINI, GRAND)
        for name, pot in zip(("meter", "reserve", "overflow"), day.meter_pots(meter), strict=True)
    }
    assert flows == {
        (MINI, "meter"): {"contributions": 28},
        (MINI, "reserve"): {},
        (MINI, "overflow"): {"contributions": 28 + 14, "passed_on": -28 - 14},
        (GRAND, "meter"): {"passed_on": 20},
        (GRAND, "reserve"): {},
        (GRAND, "overflow"): {"passed_on": 8 + 14, "voided_rounds": -14},
    }
    assert day.tables["T-1", MINI].contributed_micros == (56 + 14) * CENT
    assert ("T-1", GRAND) not in day.tables
    assert (day.faults, day.variances) == ((), ())
    found = await shop.survey(one_day(date(2026, 11, 20)))
    rows = {
        (row["meter"], row["figure"]): row["amount_cents"] for row in day_figures(found.links, None)
    }
    assert rows[MINI, "overflow_passed_on"] == -42
    assert (rows[GRAND, "meter_passed_on"], rows[GRAND, "overflow_passed_on"]) == (20, 22)
    meters, *_ = day_document(shop.floor, found, None).summary
    assert meters.note == "The opening and the movements give the closing."
    month = month_document(shop.floor, await shop.survey(from_to(None, None)), None)
    words = "From the limit of one meter to another meter"
    (part,) = month.parts
    listed = [row for section in part.sections for row in section.rows if row[0] == words]
    assert [tuple(row[1:]) for row in listed] == [("—", "—", "-$0.42"), ("$0.20", "—", "$0.22")]
