"""Tables of house games on one link: the books to the micro, and the titles of the wagers."""

import io
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from pypdf import PdfReader
from redis.asyncio import Redis

from controllers.agent.delivery import encode_money_event
from controllers.panel.settlement_view import held_views, settled_view
from controllers.panel.table_view import view_table
from controllers.table.state import Layout
from meters.acts.claim_types import WinSearch
from meters.floor.floor_file import parse_floor
from meters.floor.patron_words import PatronWords
from meters.floor.paytable_text import pays_of, winners_of
from meters.http.settle_page import floor_forms
from meters.ledger.approved_configuration import LinkConfiguration
from meters.reports.accounting_lists import wins_section
from meters.reports.win_book import Win
from meters.web.payout_slip import slip_pdf
from meters.wire.messages import REPLY
from tests.controllers.floors import HandTable
from tests.floor_text import ONE_REJECTS, floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.games.test_item_titles import TITLED
from tests.model.pit import CENT, Pit, code

TIERS = ("keystone_mega", "keystone_major", "keystone_minor")
SEVEN = "seven_jackpot"


FLOOR = floor_text(
    link_text(
        "mixed",
        *map(meter_text, TIERS),
        meter_text(SEVEN, paytable="B"),
        table_text("T-1", *TIERS, game="keystone_stud"),
        table_text("T-2", *TIERS, SEVEN, game="lucky_seven", positions=6),
        table_text("T-3", *TIERS, game="river_duel"),
    ),
    games=str(HOUSE),
    two_people_reject_above=10**9,
)


async def test_a_fraction_of_a_percent_is_paid_audited_and_shown_as_printed(redis: Redis) -> None:
    """A straight flush wins 12.5% of the Lucky Seven Jackpot, to which a wager adds 20.75%."""
    pit = await Pit.opened(redis, FLOOR)
    wagers = [{"position": 2, "wagers": {"seven_progressive": 100}}]
    assert code(await pit.event("T-2", "wagers", "R1", positions=wagers)) == "accepted"
    reply = await pit.event(
        "T-2", "result", "R1", positions=[{"position": 2, "cards": ["9s", "8s"]}],
        dealer=["2c", "4d"], community=["7s", "6s", "5s", "Jd", "Qh"],
    )  # fmt: skip
    (line,), (claim,) = reply.lines or (), reply.claims or ()
    await pit.pay_all([claim.claim])
    held = 500_000 * CENT + 100 * 2_075
    assert (line.percent, line.paid) == ("12.5", held * 125 // (1_000 * CENT))
    assert await pit.meter(SEVEN) == held - line.paid * CENT
    (row,) = (await pit.claims.wins(WinSearch())).wins
    assert row.percent == "12.5"
    assert (await pit.audit()).problems == ()
    meter = next(one for one in pit.link.meter if one.kind == SEVEN)
    words = PatronWords()
    shown = {row.hand: row.cells[0] for row in pays_of((meter,), words).rows}
    assert [part.text for part in shown["Straight flush"]] == ["12.5% of the meter"]
    assert ("Straight flush", "12.5%") in [
        (each.hand, each.share) for each in winners_of(meter, words)
    ]


async def test_a_changed_game_file_changes_the_approved_configuration(tmp_path: Path) -> None:
    for path in HOUSE.glob("*.toml"):
        (tmp_path / path.name).write_text(path.read_text())
    text = FLOOR.replace(str(HOUSE), str(tmp_path))
    floor = parse_floor(text)
    before = LinkConfiguration.of(floor, floor.link[0])
    stud = tmp_path / "keystone_stud.toml"
    stud.write_text(stud.read_text().replace('"15 for 1"', '"14 for 1"'))
    floor = parse_floor(text)
    after = LinkConfiguration.of(floor, floor.link[0])
    assert after.digest != before.digest
    file, cell = after.changed_from(before)
    assert file.startswith("table T-1 game file: ")
    assert cell == "game keystone_stud wager 1, table 1, pays, flush: 15 for 1 → 14 for 1"
    (paytable,) = [
        each for each in after.in_words if "keystone_stud, wager 1, table 1, pays" in each
    ]
    assert "pays: flush 14 for 1; four of a kind 100% of keystone_minor + 25 for 1;" in paytable
    for part in ("names seven_progressive", "pays: flush 4 for 1 / 4 for 1; four of a"):
        assert any(part in each for each in after.in_words), part


# Titles of a house game's wager, as dealers and staff see them after a jackpot.

PLAYED = (
    "wager 1 keystone_bonus; wager 2 keystone_bonus; lockout; chips 2; hand 1 As Ks; hand 2 2c 3d;"
    " community Qs Js Ts; settle"
)


def titled_floor(directory: Path) -> str:
    (directory / "stud.toml").write_text(TITLED)
    link = link_text(
        "one", *(meter_text(kind) for kind in TIERS), table_text("KS", *TIERS, game="keystone_stud")
    )
    return floor_text(link, games=str(directory), two_people_reject_above=ONE_REJECTS)


async def play(pit: Pit, table: HandTable) -> None:
    for part in PLAYED.split("; "):
        before = len(table.sent)
        if part in {"lockout", "settle"}:
            state = table.state
            table.say_all(part)
            answer = await pit.send("KS", encode_money_event(table.sent[before]))
            assert answer is not None
            table.state, table.seq = state, table.seq - 1
            table.replies.append(REPLY.decode(answer))
            table.sent.pop()
        table.say_all(part)


async def test_dealers_and_staff_see_titles(keeping_redis: Redis, tmp_path: Path) -> None:
    """By hand: position 1 wins the mega with a royal flush of spades; position 2 has the Envy."""
    pit = await Pit.opened(keeping_redis, titled_floor(tmp_path))
    layout = Layout.of(pit.link, pit.link.table[0])
    table = HandTable(layout=layout)
    view = view_table(layout, table.state, fault=None, values={})
    assert [wager.name for wager in view.wagers] == ["Key Wager"]
    await play(pit, table)

    settled = table.state.settled
    assert settled is not None
    turns = settled_view(layout, settled).turns
    shown = {line.item for turn in turns for line in turn.lines}
    assert shown == {"Key Wager", "Key Wager Envy Bonus", "Mega Jackpot"}
    assert [held.item for held in held_views(layout, table.state)] == ["Mega Jackpot"]

    rows = await pit.claims.waiting()
    assert {row.item_name for row in rows} == {"Key Wager", "Mega Jackpot"}
    row = next(row for row in rows if row.envy)
    pdf = slip_pdf(pit.floor, row, "Sue", datetime(2026, 11, 20, tzinfo=UTC))
    words = " ".join(PdfReader(io.BytesIO(pdf)).pages[0].extract_text().split())
    for text in (f"{row.item_name}, $1.00", "Key Wager $1.00", "Key Wager Envy Bonus $200.00"):
        assert text in words

    await pit.decide(row.claim, "validate")
    act = (await pit.link_acts.acts("one", None, 1))[0]
    assert f"{row.item_name}, " in act.told
    assert "Key Wager Envy Bonus of position 2, $200.00" in act.told


def test_reports_and_the_page_for_settling_show_titles(tmp_path: Path) -> None:
    floor = parse_floor(titled_floor(tmp_path))
    win = Win(
        claim="C", order=4, link="one", meter="keystone_mega", table="KS",
        wager="keystone_mega_jackpot", hand="royal_flush", amount_cents=100, paid_from="hand_pay",
    )  # fmt: skip
    titles = floor.games.titles
    section = wins_section("Wins", [win], ZoneInfo("America/New_York"), titles)
    assert "Mega Jackpot: Royal flush, at odds" in section.rows[0]
    (form,) = floor_forms([(floor.link[0], floor.link[0].table[0])], {}).games
    assert [field.words for field in form.wagers] == ["Key Wager"]
    assert form.items["keystone_mega_jackpot"] == "Mega Jackpot"
