"""Reports of a link whose meters tables of several games feed."""

from datetime import date

import pytest

from meters.reports.accounting_documents import day_document, tables_document
from meters.reports.ledger_scan import one_day
from tests.model.test_house_games import FLOOR, TIERS
from tests.reports.conftest import MakeShop
from tests.reports.shop import Shop


@pytest.mark.duty("D19")
async def test_the_figures_of_each_game_add_up_to_those_of_the_meters(make_shop: MakeShop) -> None:
    shop = make_shop("2026-11-20 12:00", floor_text=FLOOR)
    await shop.open()
    for table, positions in {"T-1": 3, "T-3": 2}.items():
        placed = [
            {"position": position, "wagers": {"keystone_bonus": 100}}
            for position in range(1, positions + 1)
        ]
        reply = await shop.pit.event(table, "wagers", "R1", positions=placed)
        assert reply.status == "accepted", reply
    await shop.at("2026-11-21 06:00")
    day = await shop.day("2026-11-20")
    assert {day.tables[table, TIERS[0]].wagers for table in ("T-1", "T-3")} == {3, 2}
    survey = await shop.survey(one_day(date(2026, 11, 20)))
    for paper in (
        day_document(shop.floor, survey, None),
        tables_document(shop.floor, survey, None, None),
    ):
        sections = {section.title: section for part in paper.parts for section in part.sections}
        rows = [row[:4] for row in sections["By game"].rows]
        assert rows == [
            *(("Keystone Stud", meter, "3", "$3.00") for meter in sorted(TIERS)),
            *(("River Duel", meter, "2", "$2.00") for meter in sorted(TIERS)),
            ("All", "", "15", "$15.00"),
        ]
        assert sections["By game"].rows[-1][1:] == sections["By table"].rows[-1][2:]
        for title in ("By game", "By table"):
            assert "is counted for each of them" in sections[title].note


async def test_a_link_with_one_game_has_no_figures_by_game(shop: Shop) -> None:
    await shop.round()
    await shop.at("2026-11-21 06:00")
    survey = await shop.survey(one_day(date(2026, 11, 20)))
    paper = day_document(shop.floor, survey, None)
    sections = {section.title: section for part in paper.parts for section in part.sections}
    assert sections["By table"].note == ""
    assert "By game" not in sections
