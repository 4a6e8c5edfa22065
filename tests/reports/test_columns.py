"""`deploy/docs/reference/reports.md` describes every column and every figure."""

import re
from itertools import chain
from typing import Final

from meters.reports.accounting_rows import (
    FIGURE_SHEET,
    WIN_COLUMNS,
    WIN_SHEET,
    day_figures,
    win_figures,
)
from meters.reports.flows import Flow
from meters.reports.ledger_scan import from_to
from tests.reports.shop import ROYAL, Shop
from tests.test_tree import ROOT

_DESCRIBED: Final = frozenset(
    re.findall(r"`(\w+)`", (ROOT / "deploy/docs/reference/reports.md").read_text("utf-8"))
)
_POTS: Final = ("meter", "reserve", "overflow", "house", "waiting", "envy", "paid")


def test_every_column_and_flow_is_described() -> None:
    named = {*WIN_COLUMNS, *FIGURE_SHEET, *WIN_SHEET, *(flow.value for flow in Flow), *_POTS}
    assert named - _DESCRIBED == set()


async def test_every_figure_is_described(shop: Shop) -> None:
    await shop.round(positions=2)
    found = await shop.survey(from_to(None, None))
    figures = list(day_figures(found.links, None))
    assert figures[0].keys() - _DESCRIBED == set()
    names = {str(one["figure"]) for one in figures}
    of_pots = {f"{pot}_{moved}" for pot in _POTS for moved in chain(("opening", "closing"), Flow)}
    assert names - of_pots - _DESCRIBED == set()
    assert len(names - of_pots) > 10


async def test_the_page_names_the_fields_that_together_name_a_row(shop: Shop) -> None:
    for table in ("T-1", "T-2"):
        await shop.round(ROYAL, positions=3, table=table)
    await shop.at("2026-11-21 12:00")
    page = (ROOT / "deploy/docs/reference/reports.md").read_text("utf-8")
    found = await shop.survey(from_to(None, None))
    for rows, words in (
        (list(day_figures(found.links, None)), r"In a database, (.*?)\s+together name a row"),
        (list(win_figures(found.links, None)), r"Replace rows with the same\s(.*?), and leave out"),
    ):
        (fields,) = re.findall(words, page, re.DOTALL)
        names = re.findall(r"`(\w+)`", fields)
        assert len({tuple(row[name] for name in names) for row in rows}) == len(rows) > 5
