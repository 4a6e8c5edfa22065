"""Random days, compared with sums over the raw entries."""

from collections import Counter
from datetime import time
from random import Random
from typing import Final

import pytest

from meters.acts.act_refusals import ActError
from meters.ledger.accounts import table_account
from meters.reports.accounting_documents import month_document
from meters.reports.accounting_lists import NOTHING
from meters.reports.day_figures import LinkDay, joined
from meters.reports.flows import CLAIMS, Flow, pot_of
from meters.reports.ledger_scan import LedgerScan, from_to
from tests.floor_text import promotion_text
from tests.model.pit import CENT, FLOOR
from tests.reports.conftest import MakeShop
from tests.reports.naive import NaiveDay, naive_days
from tests.reports.shop import (
    BONUS,
    FIVE_CARD,
    NEW_YORK,
    PROGRESSIVE,
    RAGS,
    ROYAL,
    STRAIGHT,
    SUITED,
    Shop,
)

BETS: Final = (PROGRESSIVE, f"{PROGRESSIVE} {BONUS}", f"{FIVE_CARD} {BONUS}", FIVE_CARD)
HANDS: Final = (RAGS, RAGS, STRAIGHT, SUITED, ROYAL)
LIMITED: Final = FLOOR.replace('paytable = "A"\n', 'paytable = "A"\nlimit = 100050\n', 1) + (
    promotion_text("happy-hour", PROGRESSIVE, 31, begins="17:30", ends="19:00")
)


async def _play(shop: Shop, chance: Random, hours: int) -> None:
    waiting: list[str] = []
    rejected: list[str] = []
    for _ in range(hours):
        await shop.after(minutes=60)
        table = chance.choice(("T-1", "T-2"))
        for row in await shop.pit.claims.waiting():
            holds = row.paid_from == "hand_pay" and row.state in {"pending", "validated"}
            if row.table == table and holds:
                if row.state == "pending":
                    waiting.remove(row.claim)
                    if chance.random() < 0.5:
                        rejected.append((await shop.pit.decide(row.claim, "reject")).claim)
                        continue
                    await shop.pit.decide(row.claim, "validate")
                await shop.pit.decide(row.claim, "pay")
        match chance.randrange(8):
            case 0:
                await shop.void(chance.choice(BETS), table=table)
            case 1:
                await shop.adjust(PROGRESSIVE, -chance.randint(1, 99))
            case 2 if waiting:
                act = chance.choice(("validate", "reject"))
                await shop.pit.decide(waiting.pop(0), act)  # type: ignore[arg-type]
            case 3 if rejected:
                waiting += await _reopen(shop, rejected.pop())
            case _:
                waiting += await shop.round(
                    chance.choice(HANDS), chance.choice(BETS), table=table,
                    positions=chance.randint(1, 3), community=chance.choice(("4c 8d", "Js Ts")),
                )  # fmt: skip


async def _reopen(shop: Shop, claim: str) -> list[str]:
    """Reopen a rejected win. Return it, or nothing if the day of its rejection is closed."""
    claims = shop.pit.claims
    try:
        asked = (await claims.request_reopening(claim, "amy", reason="misread")).request
    except ActError as error:
        if error.code != "day_closed":
            raise
        return []
    assert asked is not None
    await claims.confirm(claim, "ben", asked.entry)
    return [claim]


def _moved(day: LinkDay) -> dict[str, int]:
    pots = {name: pot.closing_micros - pot.opening_micros for name, pot in day.pots.items()}
    return {name: micros for name, micros in pots.items() if micros}


def _naively_moved(naive: NaiveDay) -> dict[str, int]:
    pots: Counter[str] = Counter()
    for account, micros in naive.moved.items():
        pots[pot_of(account)] += micros
    return {name: micros for name, micros in pots.items() if micros}


@pytest.mark.duty("D19")
@pytest.mark.parametrize(
    ("begins", "starts", "seed"),
    [
        ("2026-10-30 22:30", "06:00", 1), ("2027-03-12 22:30", "02:30", 2),
        pytest.param("2026-06-01 22:30", "00:00", 3, marks=pytest.mark.slow),
    ],
)  # fmt: skip
async def test_reports_agree_with_a_sum_over_the_raw_entries(
    make_shop: MakeShop, begins: str, starts: str, seed: int
) -> None:
    """Four days over each change of the clock, and four without: by account and by table.

    On March 14, 2027 the local clock does not show 02:30.
    """
    shop = make_shop(begins, day_starts=starts, floor_text=LIMITED)
    await shop.open()
    await _play(shop, Random(seed), 90)
    days = {day.first_day: day for day in await shop.all_days()}
    naive = naive_days(await shop.pit.entries(), NEW_YORK, time.fromisoformat(starts))
    assert days.keys() == naive.keys()
    assert len(days) == 5
    for at, by_hand in naive.items():
        day = days[at]
        assert _moved(day) == _naively_moved(by_hand), at
        assert _of_tables(day) == _naively_of_tables(by_hand), at
        assert {table: one.rounds for table, one in day.rounds.items() if one.rounds} == (
            by_hand.rounds
        )
    await _check_the_audit(shop, list(days.values()))
    assert any(Flow.PROMOTIONS in pot.flows for day in days.values() for pot in day.pots.values())
    reopened = [row for row in await shop.pit.entries() if row["kind"] == "reopen"]
    assert any('["meter:' in row["transfers"] for row in reopened)
    _check_the_meters_day_by_day(shop, await shop.survey(from_to(None, None)))


def _check_the_meters_day_by_day(shop: Shop, found: LedgerScan) -> None:
    """Check in the printed report that the opening and the movements of a row give its closing."""
    (part,) = month_document(shop.floor, found, None).parts
    listed = [each for each in part.sections if each.title.endswith(": the meter, day by day")]
    assert len(listed) == len(shop.pit.link.meter)
    for section in listed:
        for row in section.rows:
            *movements, closing = map(_micros, row[1:])
            assert sum(movements) == closing, (section.title, section.columns, row)


def _micros(cell: str) -> int:
    return int(cell.replace("$", "").replace(",", "").replace(".", "")) if cell != NOTHING else 0


def _of_tables(day: LinkDay) -> dict[str, dict[tuple[str, str], int]]:
    won: Counter[str] = Counter()
    for (table, _), one in day.tables.items():
        won[table] += one.won_cents
    return {
        "contributed": _some({of: one.contributed_micros for of, one in day.tables.items()}),
        "wagers": _some({of: one.wagers for of, one in day.tables.items()}),
        "won": _some({(table, ""): cents for table, cents in won.items()}),
    }


def _naively_of_tables(naive: NaiveDay) -> dict[str, dict[tuple[str, str], int]]:
    return {
        "contributed": _some(naive.by_table),
        "wagers": _some(naive.wagers),
        "won": _some({(table, ""): cents for table, cents in naive.wins.items()}),
    }


def _some(counted: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    return {of: number for of, number in counted.items() if number}


async def _check_the_audit(shop: Shop, days: list[LinkDay]) -> None:
    finding = await shop.pit.audit()
    assert finding.balanced
    span = joined(days)
    for meter, held in finding.meters.items():
        assert [pot.closing_micros for pot in span.meter_pots(meter)] == list(held.values())
    accounts = await shop.pit.accounts()
    assert -span.pot("tables").closing_micros == finding.totals.contributions_micros
    assert finding.totals.contributions_micros == -sum(
        micros for name, micros in accounts.items() if name.startswith(table_account(""))
    )
    tallied = {name: number for name, number in span.risen.items() if number}
    snapshot = await shop.pit.store.snapshot()
    assert tallied == {name: number for name, number in snapshot.tallies.items() if number}
    waiting_cents = sum(one.cents for one in span.waiting.values())
    assert span.pot(CLAIMS).closing_micros == waiting_cents * CENT
