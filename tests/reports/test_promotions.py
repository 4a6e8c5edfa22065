"""Reports show what promotions added, apart from seeds and adjustments."""

from datetime import date
from typing import Final

import pytest

from meters.reports.accounting_documents import day_document, month_document
from meters.reports.accounting_rows import day_figures
from meters.reports.flows import Flow
from meters.reports.ledger_scan import from_to, one_day
from tests.floor_text import promotion_text
from tests.model.pit import CENT, FLOOR, PROGRESSIVE
from tests.reports.conftest import MakeShop

_LIMITED: Final = FLOOR.replace('paytable = "A"\n', 'paytable = "A"\nlimit = 120000\n', 1)
PROMOTED: Final = _LIMITED + promotion_text(
    "friday",
    PROGRESSIVE,
    500_00,
    name="Friday Boost",
    days=["friday"],
    begins="18:00",
    ends="23:00",
)


@pytest.mark.duty("D19")
async def test_a_day_with_a_promotion(make_shop: MakeShop) -> None:
    """Of $500, a limit of $1,200 leaves $200 to the meter. An adjustment takes $100 off."""
    shop = make_shop("2026-11-20 12:00", floor_text=PROMOTED)
    await shop.open()
    await shop.at("2026-11-20 18:00")
    await shop.adjust(PROGRESSIVE, -100_00)
    await shop.at("2026-11-21 06:00")
    await shop.at("2026-11-22 06:00")
    day = await shop.day("2026-11-20")
    meter, _, overflow = day.meter_pots(PROGRESSIVE)
    assert {flow.value: micros // CENT for flow, micros in meter.flows.items()} == {
        "seeds": 1_000_00, "promotions": 200_00, "adjusted_down": -100_00,
        "from_overflow": 100_00,
    }  # fmt: skip
    assert {flow.value: micros // CENT for flow, micros in overflow.flows.items()} == {
        "promotions": 300_00, "from_overflow": -100_00,
    }  # fmt: skip
    assert meter.balanced
    assert overflow.balanced
    assert day.pot("house").flows[Flow.PROMOTIONS] == -500_00 * CENT
    assert day.rose("promotion_cents", PROGRESSIVE) == 500_00
    assert (day.faults, day.variances) == ((), ())
    assert [(act.by, act.told) for act in day.acts if act.what == "promotion"] == [
        ("service", "Friday Boost: $500.00 from the house to Progressive, for 2026-11-20")
    ]


async def test_the_printed_report_has_promotions_only_where_there_are_some(
    make_shop: MakeShop,
) -> None:
    shop = make_shop("2026-11-20 12:00", floor_text=PROMOTED)
    await shop.open()
    await shop.at("2026-11-20 18:00")
    await shop.at("2026-11-21 06:00")
    await shop.at("2026-11-22 06:00")
    for day, added in ((date(2026, 11, 20), True), (date(2026, 11, 21), False)):
        document = day_document(shop.floor, await shop.survey(one_day(day)), None)
        titles = [column.title for column in document.summary[0].columns]
        assert ("Promotions" in titles) == added
        (part,) = document.parts
        assert any(section.title == "Promotions" for section in part.sections) == added
    (part,) = month_document(shop.floor, await shop.survey(from_to(None, None)), None).parts
    listed = next(one for one in part.sections if "(progressive): the meter" in one.title)
    place = [column.title for column in listed.columns].index("Promotions")
    assert [row[place] for row in listed.rows] == ["$200.00", "—", "—", "$200.00"]


async def test_rows_for_programs_have_the_flow(make_shop: MakeShop) -> None:
    shop = make_shop("2026-11-20 12:00", floor_text=PROMOTED)
    await shop.open()
    await shop.at("2026-11-20 18:00")
    found = await shop.survey(from_to(None, None))
    figures = {
        str(row["figure"]): row["amount_cents"]
        for row in day_figures(found.links, None)
        if row["meter"] in {PROGRESSIVE, ""} and str(row["figure"]).endswith("_promotions")
    }
    assert figures == {
        "meter_promotions": 200_00, "overflow_promotions": 300_00, "house_promotions": -500_00,
    }  # fmt: skip
