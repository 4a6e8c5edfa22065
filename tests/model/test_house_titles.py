"""Titles of a house game's wager, as dealers and staff see them after a jackpot."""

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
from meters.floor.floor_file import parse_floor
from meters.reports.gaming_days import Win
from meters.reports.link_lists import wins_section
from meters.settle_page.table_forms import floor_forms
from meters.web.slips.slip import slip_pdf
from meters.wire.messages import REPLY
from tests.controllers.floors import HandTable
from tests.floor_text import ONE_REJECTS, floor_text, link_text, meter_text, table_text
from tests.games.test_item_titles import TITLED
from tests.model.pit import Pit

TIERS = ("keystone_mega", "keystone_major", "keystone_minor")
PLAYED = (
    "wager 1 keystone_bonus; wager 2 keystone_bonus; lockout; chips 2; hand 1 As Ks; hand 2 2c 3d;"
    " community Qs Js Ts; settle"
)


def titled_floor(directory: Path) -> str:
    """Write the game, and return a floor file with one table of it."""
    (directory / "stud.toml").write_text(TITLED)
    link = link_text(
        "one",
        *(meter_text(kind) for kind in TIERS),
        table_text("KS", *TIERS, game="keystone_stud"),
    )
    return floor_text(link, games=str(directory), two_people_reject_above=ONE_REJECTS)


async def play(pit: Pit, table: HandTable) -> None:
    """Play the round at the table; the service answers its events."""
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
        item="keystone_mega_jackpot", hand="royal_flush", cents=100, paid_from="hand_pay",
    )  # fmt: skip
    titles = floor.games.titles
    section = wins_section("Wins", [win], ZoneInfo("America/New_York"), titles)
    assert "Mega Jackpot: Royal flush, at odds" in section.rows[0]
    (form,) = floor_forms([(floor.link[0], floor.link[0].table[0])], {}).games
    assert [field.words for field in form.wagers] == ["Key Wager"]
    assert form.items["keystone_mega_jackpot"] == "Mega Jackpot"
