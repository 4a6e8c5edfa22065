"""Tables of three house games on one link, with three tiers: the books to the micro."""

from pathlib import Path

from redis.asyncio import Redis

from meters.books.approved_configuration import LinkConfiguration
from meters.floor.floor_file import parse_floor
from meters.floor_api.types import WinSearch
from meters.web.paytable.hand_text import pays_of, winners_of
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
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
    assert ("Straight flush", "12.5% of the meter") in [row[:2] for row in pays_of(meter).rows]
    assert "Straight flush\N{NO-BREAK SPACE}12.5%" in winners_of(meter)


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
