"""Tables of three house games on one link, with three tiers: the books to the micro."""

import random
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from meters.books.approved_configuration import LinkConfiguration
from meters.books.audit import LinkAudit
from meters.floor.floor_file import parse_floor
from meters.floor_api.types import WinSearch
from meters.web.paytable.hand_text import pays_of, winners_of
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE, NaiveRound, fed_by, law_of, reseed_cents, terms_of
from tests.games.rounds import GAMES, random_round
from tests.model.pit import CENT, Pit

TIERS = ("keystone_mega", "keystone_major", "keystone_minor")
SEVEN = "seven_jackpot"
TABLES = {"T-1": "keystone_stud", "T-2": "lucky_seven", "T-3": "river_duel"}
ROUNDS = 120
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


class Books:
    """The meters and reserves of the link in micros, calculated from the texts of the games."""

    def __init__(self) -> None:
        self.meters = {"keystone_mega": 2_000_000, "keystone_major": 50_000,
                       "keystone_minor": 5_000, SEVEN: 500_000}  # fmt: skip
        self.meters = {name: cents * CENT for name, cents in self.meters.items()}
        self.reserves = dict.fromkeys(self.meters, 0)

    def contribute(self, played: Mapping[str, Any]) -> None:
        """Add what the wagers of a round contribute."""
        for wager in law_of(played["game"])["wager"]:
            cents = sum(each["wagers"].get(wager["names"][0], 0) for each in played["positions"])
            for meter in fed_by(wager):
                terms = terms_of(wager, meter)
                self.meters[meter] += cents * _bps(terms["primary"])
                self.reserves[meter] += cents * _bps(terms.get("reserve", "0%"))


class BookedRound(NaiveRound):
    """A round whose percentages are taken off the books."""

    def __init__(self, played: Mapping[str, Any], books: Books) -> None:
        self.books = books
        books.contribute(played)
        super().__init__(played)

    def take(self, meter: str, percent: Fraction, wager: Mapping[str, Any], wagered: int) -> int:
        """Take a percentage off a meter, and return it in cents."""
        books = self.books
        cents = books.meters[meter] * percent // (100 * CENT)
        books.meters[meter] -= cents * CENT
        if percent == 100:
            books.meters[meter] += reseed_cents(wager, meter, wagered) * CENT
            books.meters[meter] += books.reserves[meter]
            books.reserves[meter] = 0
        return cents


def _bps(cell: str) -> int:
    return int(Fraction(cell.removesuffix("%")) * 100)


def metered(played: dict[str, Any]) -> dict[str, Any]:
    """Return a round with only the wagers that feed a meter, as a table sends it."""
    chapter = GAMES[played["game"]]
    fed = {name for wager in chapter.wager if wager.fed for name in wager.names}
    if played["game"] == "river_duel":
        for position in played["positions"]:
            position["wagers"] = {"keystone_bonus": 100}
    kept = [
        {**position, "wagers": wagers}
        for position in played["positions"]
        if (wagers := {name: each for name, each in position["wagers"].items() if name in fed})
    ]
    return {**played, "positions": kept}


@pytest.fixture
async def mixed(keeping_redis: Redis) -> Pit:
    """Return the open link."""
    pit = Pit(keeping_redis, FLOOR)
    await pit.open()
    return pit


async def play(pit: Pit, table: str, played: dict[str, Any], round_id: str) -> list[Any]:
    """Send a round of a table, and return the lines of the reply to its result."""
    positions = [
        {"position": each["position"], "wagers": each["wagers"]} for each in played["positions"]
    ]
    reply = await pit.event(table, "wagers", round_id, positions=positions)
    assert reply.status == "accepted", reply
    hands = [{"position": each["position"], "cards": each["cards"]} for each in played["positions"]]
    fields = {"community": played["community"]} if "community" in played else {}
    reply = await pit.event(
        table, "result", round_id, positions=hands, dealer=played.get("dealer", []), **fields
    )
    assert reply.status == "accepted", reply
    for claim in reply.claims or ():
        row = await pit.decide(claim.claim, "validate")
        if row.paid_from == "hand_pay":
            await pit.decide(claim.claim, "pay")
    return list(reply.lines or ())


async def test_a_fraction_of_a_percent_is_paid_audited_and_shown_as_printed(mixed: Pit) -> None:
    """A straight flush wins 12.5% of the Lucky Seven Jackpot, to which a wager adds 20.75%."""
    played = {
        "positions": [{"position": 2, "cards": ["9s", "8s"], "wagers": {"seven_progressive": 100}}],
        "dealer": ["2c", "4d"],
        "community": ["7s", "6s", "5s", "Jd", "Qh"],
    }
    (line,) = await play(mixed, "T-2", played, "R1")
    held = 500_000 * CENT + 100 * 2_075
    assert (line.percent, line.paid) == ("12.5", held * 125 // (1_000 * CENT))
    assert await mixed.meter(SEVEN) == held - line.paid * CENT
    (row,) = (await mixed.claims.wins(WinSearch())).wins
    assert row.percent == "12.5"
    assert (await mixed.audit()).problems == ()
    meter = next(one for one in mixed.link.meter if one.kind == SEVEN)
    assert ("Straight flush", "12.5% of the meter") in [row[:2] for row in pays_of(meter).rows]
    assert "Straight flush\N{NO-BREAK SPACE}12.5%" in winners_of(meter)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_three_games_on_one_link_are_settled_and_audited_to_the_micro(
    mixed: Pit, seed: int
) -> None:
    rng, books, seen = random.Random(seed), Books(), Counter[str]()
    for number in range(ROUNDS):
        table = rng.choice(sorted(TABLES))
        played = metered(random_round(TABLES[table], rng))
        if not played["positions"]:
            continue
        expected = [
            (line["position"], line["item"], line["paid"])
            for line in BookedRound(played, books).lines
        ]
        lines = await play(mixed, table, played, f"R{number}")
        assert [(line.position, line.item, line.paid) for line in lines] == expected
        seen.update(f"{line.item} {table}" for line in lines if line.percent)
        for meter in (*TIERS, SEVEN):
            assert await mixed.meter(meter) == books.meters[meter], meter
            assert await mixed.reserve(meter) == books.reserves[meter], meter
    finding = await mixed.audit()
    assert finding.balanced, finding.problems
    assert len({item.split()[0] for item in seen}) >= 3, seen
    assert (await LinkAudit(mixed.store).run()).balanced


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
