"""The day report's list of voids after cards, hands entered differently and wagers corrected."""

from datetime import date

import pytest

from meters.reports.accounting_documents import day_document
from meters.reports.accounting_rows import day_figures
from meters.reports.day_figures import TableRounds, joined
from meters.reports.ledger_scan import from_to, one_day
from tests.reports.shop import PROGRESSIVE, Shop

HAND = {"what": "hand", "position": 1, "cards": ["As", "Ks", "Qs"]}
DEALER = {"what": "dealer", "cards": ["2c", "7d", "9s"], "taken_back": True, "reason": "Misread"}


@pytest.mark.duty("D19")
async def test_the_day_lists_them_by_table_with_the_reason_and_counts_them(shop: Shop) -> None:
    pit = shop.pit
    await shop.void(table="T-2")
    await pit.wagers({1: PROGRESSIVE}, table="T-2", round_id="A1")
    await pit.event("T-2", "void", "A1", reason="Misdeal", entered=[HAND], confirm=True)
    (ask,) = await pit.asks.asks()
    await pit.asks.decide(ask.ask, "confirm_correction", "Ada")
    await pit.event("T-2", "void", "A1", reason="Misdeal", entered=[HAND], confirm=True)
    await pit.wagers({1: PROGRESSIVE}, table="T-1", round_id="A2")
    reply = await pit.event(
        "T-1",
        "result",
        "A2",
        positions=[{"position": 1, "cards": ["2h", "5d", "8c"]}],
        dealer=["2c", "7d", "9h"],
        entered_before=[HAND | {"taken_back": True, "reason": "Typed wrong"}, DEALER],
    )
    assert reply.status == "accepted"
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, table="T-2", round_id="A3")
    for action, position, left in (
        ("take_back", 1, {2}),
        ("add", 3, {2, 3}),
        ("take_back", 2, {3}),
    ):
        wager = {"action": action, "position": position, "wager": PROGRESSIVE, "amount": 100}
        wager |= {
            "reason": "chip",
            "positions": [{"position": one, "wagers": {PROGRESSIVE: 100}} for one in sorted(left)],
        }
        await pit.event("T-2", "correct_wager", "A3", **wager)
        (ask,) = await pit.asks.asks()
        await pit.asks.decide(ask.ask, "confirm_correction", "Ada")
        assert (await pit.event("T-2", "correct_wager", "A3", **wager)).status == "accepted"
    await pit.void(table="T-2", round_id="A3")
    await shop.at("2026-11-21 06:00")
    day = await shop.day("2026-11-20")
    assert day.rounds == {
        "T-1": TableRounds(rounds=1, hands_entered_again=2),
        "T-2": TableRounds(rounds_voided=3, rounds_voided_after_cards=1, wagers_corrected=3),
    }
    assert day.faults == ()
    figures = day.tables["T-2", PROGRESSIVE]
    assert (figures.wagers, figures.voided_wagers) == (5, 5)
    assert (figures.contributed_micros, figures.voided_micros) == (5 * 140_000, 5 * 140_000)
    survey = await shop.survey(one_day(date(2026, 11, 20)))
    paper = day_document(shop.floor, survey, None)
    sections = {section.title: section for part in paper.parts for section in part.sections}
    listed = sections["Voids after cards, hands entered again, wagers corrected"]
    assert [row[1:] for row in listed.rows] == [
        (
            "T-1",
            "entered again",
            (
                "round A2: position 1 As Ks Qs, taken back: Typed wrong; settled as 2h 5d 8c;"
                " dealer 2c 7d 9s, taken back: Misread; settled as 2c 7d 9h; confirmed by nobody"
            ),
        ),
        ("T-2", "void", "round A1: Misdeal; entered: position 1 As Ks Qs; confirmed by Ada"),
        *(
            (
                "T-2",
                "wager",
                f"round A3: Progressive of $1.00 at position {words}: chip; confirmed by Ada",
            )
            for words in ("1 taken back", "3 added", "2 taken back")
        ),
    ]
    rounds = sections["Rounds with a progressive wager"].rows
    assert rounds == [
        ("T-1", "1", "0", "0", "2", "0", "0"),
        ("T-2", "0", "3", "1", "0", "0", "3"),
        ("All", "1", "3", "1", "2", "0", "3"),
    ]
    counts = {
        (figure["table"], figure["figure"]): figure["count"]
        for figure in day_figures(survey.links, None)
        if "after_cards" in str(figure["figure"]) or "entered_again" in str(figure["figure"])
    }
    assert counts == {
        ("T-1", "table_rounds_voided_after_cards"): 0,
        ("T-1", "table_hands_entered_again"): 2,
        ("T-2", "table_rounds_voided_after_cards"): 1,
        ("T-2", "table_hands_entered_again"): 0,
    }
    over = joined(list((await shop.read(from_to(None, None))).days.values()))
    assert (len(over.entered), over.rounds) == (5, day.rounds)


async def test_hands_declared_to_win_nothing_are_counted_by_table(shop: Shop) -> None:
    await shop.pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, table="T-2", round_id="A1")
    reply = await shop.pit.event(
        "T-2",
        "result",
        "A1",
        positions=[
            {"position": 1, "no_win": True},
            {"position": 2, "no_win": True},
            {"position": 3, "cards": ["2h", "5d", "8c"], "no_win": False},
        ],
        dealer=["2c", "7d", "9h"],
    )
    assert reply.status == "accepted"
    survey = await shop.survey(from_to(None, None))
    (declared,) = [
        figure
        for figure in day_figures(survey.links, None)
        if figure["figure"] == "table_hands_declared_no_win"
    ]
    assert (declared["table"], declared["count"]) == ("T-2", 2)
