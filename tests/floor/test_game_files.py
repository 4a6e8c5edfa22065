"""Game files of the house: what is read, and the line and reason of each error."""

import re
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent
from typing import get_args

import msgspec
import pytest
from redis import Redis

from bonus.cards import RANKS
from bonus.law import chapter_file
from bonus.law.games import Games, read_chapter
from bonus.settling.settle_round import settle_line
from meters.floor import floor_file, game_files
from meters.floor.floor_file import FloorError, Meter, parse_floor
from meters.floor.game_files import GameError, date_warnings, parse_game, problem_now, read_games
from meters.wire.messages import TABLE_EVENT, DealtPosition, Result
from tests.floor_text import floor_text, link_text, meter_text, section_text, table_text
from tests.games.naive import HOUSE
from tests.games.texts import ROWS, envy_text, game_text, tier_rows, wager_text
from tests.processes import invoke_pitlink
from tests.servers import Mosquitto, RedisServer

STUD = (HOUSE / "keystone_stud.toml").read_text()
PAGE = Path(__file__).parents[2] / "deploy" / "docs" / "reference" / "game-files.md"
MEGA, MAJOR, MINOR = TIERS = ("keystone_mega", "keystone_major", "keystone_minor")


def floor_of(*sections: str) -> str:
    return floor_text(*sections, games=str(HOUSE))


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_the_examples_of_the_document_are_a_game_and_a_floor_file(tmp_path: Path) -> None:
    example, floor, *_ = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    game = parse_game(example)
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "five.toml").write_text(example)
    (link,) = parse_floor(floor, "floor.toml", tmp_path).link
    assert link.table[0].chapter == game
    round_text = (
        b'{"game": "lucky_five", "positions":'
        b' [{"position": 1, "cards": ["As", "Ks", "Qs", "Js", "Ts"],'
        b' "wagers": {"lucky_bonus_bet": 100}}],'
        b' "meters": {"lucky_jackpot": {"wager": 100, "amount": 1000000}}}'
    )
    settled = settle_line(round_text, Games([(game, "0")]))
    assert [(line.item, line.paid) for line in settled.lines] == [("lucky_bonus_bet", 1_000_000)]


def test_the_examples_of_the_document_pass_the_check(
    tmp_path: Path, shared_redis_server: RedisServer, shared_mosquitto: Mosquitto
) -> None:
    """Only the approval is missing, which the next step of the page makes."""
    texts = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    example, floor, above, _envy, _amounts, shares, beat, _flop, _draw, duel, shoe, dragon = texts
    pays, _, brought = shares.partition("\n\n")
    shared = example
    for row in pays.splitlines()[1:]:
        shared = re.sub(rf"(?m)^ *{row.partition(' ')[0]} = .*$", row, shared)
    shared = shared.replace("[irregular]", f"{brought}\n[irregular]")
    assert read_chapter(shared).wager[0].community is not None
    beaten = example.replace("[irregular]", f"{beat}\n[irregular]")
    assert read_chapter(beaten).wager[0].bad_beat is not None
    (tmp_path / "games").mkdir()
    example = example.replace("\n[irregular]", f"{above}\n[irregular]")
    (tmp_path / "games" / "lucky_five.toml").write_text(example)
    (tmp_path / "games" / "first_duel.toml").write_text(duel)
    (tmp_path / "games" / "first_three.toml").write_text(shoe)
    (tmp_path / "games" / "dragon_seven.toml").write_text(dragon)
    servers = {"broker": shared_mosquitto.url, "redis": f"{shared_redis_server.url}?db=13"}
    with Redis.from_url(servers["redis"]) as redis:
        redis.flushdb()
    path = tmp_path / "floor.toml"
    path.write_text(f"{dedent(floor)}\n{section_text('[service]', **servers)}")
    done = invoke_pitlink("check", "--config", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    games = "dragon_seven, first_duel, first_three, lucky_five"
    assert any(line.endswith(f"of the house: {games}") for line in lines), lines
    (back,) = [line for line in lines if line.startswith("ok    return of lucky_bonus_bet")]
    assert "55.9% at the seed of its meters and 69.5% in the long run" in back
    warned = [line.split(":")[0] for line in lines if not line.startswith("ok")]
    assert warned == ["warn  software", "warn  configuration of lucky"]


def test_the_page_names_all_cards() -> None:
    page = PAGE.read_text()
    for cards in get_args(chapter_file.CardsOf):
        assert f"`{cards}`" in page


@pytest.mark.parametrize(
    ("was", "becomes", "at", "reason"),
    [
        ('lowest = "three', 'lowes = "three', 'lowes = "three', "there is no key lowes here: is"),
        ('names = ["keystone_bonus"]', 'names = ["Keystone Bonus"]', "names = ",
         "names has small letters, digits and _ only, and begins with a letter"),
        ('title = "Keystone Stud"', 'title = "K"\neffective = "12/1/2026"', "effective = ",
         'effective is a day such as "2026-12-01"'),
        ("hand = 2\n", 'hand = "2"\n', 'hand = "2"', "hand is a whole number, without quotes"),
        ('"15 for 1"', '"15 for one"', '"15 for one"', "'15 for one' is not a payout"),
        ('"15 for 1"', '"15 to 1"', "[wager.table.pays]", "both 'to 1' and 'for 1'"),
        ('flush = "15 for 1"\n', "", "[wager.table.pays]", "flush missing"),
        ("straight_flush =", "straight_flus =", "straight_flus =", "is not a hand of five_card"),
        ('"10% of keystone_minor"', '"10% of keystone_mino"', "[wager.table.pays]",
         "a percentage of keystone_mino, but the wager feeds keystone_mega, keystone_major"),
        ('"10% of keystone_minor"', '"101% of keystone_minor"', "full_house = ", "not a payout"),
        ('"10% of keystone_minor"', '"5 for 1 + 6 for 1"', "full_house = ", "two payouts of one"),
        ('"100% of keystone_mega + $1,000"', '"$1,000"', "royal_flush_spades = ", ""),
        ('primary = "8%"', 'primary = "95%"', "[[wager]]", "rates of its meters are 100% or more"),
        ('primary = "8%"', 'primary = "0.125%"', 'primary = "0.125%"',
         "keystone_major: primary: '0.125%' is not a rate: write 'N%'"),
        ('primary = "8%"', 'primary = "8,5%"', 'primary = "8,5%"', "with at most two decimals"),
        ('seed = "$500 for 1"', 'seed = "500 for 1"', 'seed = "500', "seed: '500 for 1' is not"),
        ('"10% of keystone_minor"', '"1.125% of keystone_minor"', "full_house = ", "two decimals"),
        ('"10% of keystone_minor"', '"100.01% of keystone_minor"', "full_house = ", "at most 100"),
        ('"10% of keystone_minor"', '"0.00% of keystone_minor"', "full_house = ", "not a payout"),
        ('flush = "15 for 1"', 'flush = "1,5 for 1"', 'flush = "1,5', "is not a payout"),
        ('straight = "10 for 1"', 'straight = "2 for 1"', 'straight = "2', "straight pays less"),
        ('lowest = "three_of_a_kind"', 'lowest = "straight"', "three_of_a_kind =",
         "three_of_a_kind is below straight, the `lowest` hand"),
        ('primary = "8%"', "primary = 8", "[[wager.table]]", "primary is a text in quotes"),
        ('rule = "KS.4(c)"', 'rule = "XX.4(c)"', "XX.4(c)", "names no subsection of KS"),
        ("community = 3\n", "community = 0\n", "[[wager]]", "hands are not formed from hand_and"),
        ("hand = 2", "hand = 8", "hand = 8", "hand has 8 cards; at most 7 are possible"),
        ("dealer = 0", "dealer = 9", "dealer = 9", "dealer has 9 cards; at most 7 are possible"),
        ("community = 3", "community = 8", "community = 8", "community has 8 cards; at most 7"),
        ("positions = 7", "positions = 30", "[deal]", "one deck is not enough for 30 hands"),
        ('short = ["Key"]\n', "", "[[wager]]", "needs one short name"),
        ('cards = ["hand_and_community"]', 'cards = ["hand_and_comunity"]', "cards = ",
         "there is no cards hand_and_comunity: is hand_and_community meant?"),
        ('seed = "$500 for 1"', "seed = $500 for 1", "seed = $500", "a cell is a text in quotes"),
        ('game = "keystone_stud"', 'game = "four_card_prime"', "game = ", "exists already, in"),
        ('title = "Keystone Stud"', 'title = "Key\\u202estone"', "title = ", "title "),
        ('cards = ["hand_and_community"]', 'cards = ["hand_and_all_six"]', "[[wager]]",
         "hands are not formed from hand_and_all_six"),
        ('names = ["keystone_bonus"]', 'names = ["keystone_dealer"]', "[[wager]]",
         "a wager on the dealer's and the community cards, and no other, has a name"),
        ('"$200", royal_flush = "$100"', '"$200"', "pays = {", "royal_flush missing"),
        ('royal_flush = "$100"', 'royal_flush = "100"', "pays = {", "write '$N', 'N% of meter' or"),
        ('royal_flush = "$100"', 'royal_flush = "$300"', "pays = {", "spades pays less than"),
        ('royal_flush = "$100"', 'royal_flush = "N/A"', "pays = {", ""),
        ('royal_flush_spades = "$200", ', "", "pays = {",
         "KS.4(e) $1: Envy Bonuses must begin with royal_flush_spades, as the paytable does"),
    ],
)  # fmt: skip
def test_each_error_names_the_line_and_what_to_write(
    tmp_path: Path, was: str, becomes: str, at: str, reason: str
) -> None:
    assert was in STUD
    text = STUD.replace(was, becomes, 1)
    path = tmp_path / "stud.toml"
    path.write_text(text)
    if not reason:
        read_games(tmp_path)
        return
    with pytest.raises(GameError) as refused:
        read_games(tmp_path)
    assert str(refused.value).startswith(f"{path}:{line_of(text, at)}: "), refused.value
    assert reason in str(refused.value)


def test_a_game_can_deal_as_many_cards_as_a_result_can_carry(tmp_path: Path) -> None:
    """A result has room for the cards of every game file that is accepted."""
    wager = wager_text("seven", "grand", cards="hand")
    (tmp_path / "seven.toml").write_text(
        game_text("seven", ["grand"], wager, hand=7, dealer=7, community=7).replace(
            "positions = 6", "positions = 5"
        )
    )
    deal = read_games(tmp_path)["seven"].deal
    cards = [f"{rank}{suit}" for suit in "cdhs" for rank in RANKS][: deal.hand]
    result = Result(
        seq=1,
        at=datetime(2026, 11, 20, tzinfo=UTC),
        round="R1",
        positions=[DealtPosition(position=1, cards=cards)],
        dealer=cards,
        community=cards,
    )
    assert TABLE_EVENT.decode(msgspec.json.encode(result)) == result


def test_a_directory_is_read_without_what_is_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = tmp_path / "games"
    games.mkdir()
    assert read_games(games) == read_games(games)
    (games / "note.txt").write_text("not a game")
    (games / "below").mkdir()
    (games / "stud.toml").write_text(STUD)
    assert [*read_games(games).digests] == ["keystone_stud"]
    (tmp_path / "out.toml").write_text(STUD)
    (games / "out.toml").symlink_to(tmp_path / "out.toml")
    with pytest.raises(GameError, match="is a symbolic link to another place"):
        read_games(games)
    (games / "out.toml").unlink()
    (games / "latin.toml").write_bytes("# a\n# \xe9".encode("latin-1"))
    with pytest.raises(GameError, match=r"latin\.toml:2: the file is not UTF-8"):
        read_games(games)
    (games / "latin.toml").unlink()
    monkeypatch.setattr(game_files, "BYTES_MAX", 1_000)
    with pytest.raises(GameError, match="is larger than 1000 bytes"):
        read_games(games)
    with pytest.raises(GameError, match="the games cannot be read"):
        read_games(tmp_path / "missing")


def test_a_changed_file_makes_other_games(tmp_path: Path) -> None:
    (tmp_path / "stud.toml").write_text(STUD)
    first = read_games(tmp_path)
    (tmp_path / "stud.toml").write_text(STUD.replace('"15 for 1"', '"14 for 1"'))
    second = read_games(tmp_path)
    assert first != second
    assert hash(first) != hash(second)


@pytest.mark.parametrize(
    ("today", "problem", "warned"),
    [
        (
            "2026-11-30T12:00:00",
            "cannot be played before 2026-12-01, the date `effective` in its file",
            False,
        ),
        ("2026-12-01T12:00:00", "", False),
        ("2027-10-31T12:00:00", "", True),
        ("2027-11-30T12:00:00", "", True),
        # Midnight in New York is later than in Greenwich.
        ("2027-12-01T04:59:00", "", True),
        (
            "2027-12-01T05:01:00",
            "cannot be played after 2027-11-30, the date `expires` in its file",
            False,
        ),
    ],
)
def test_a_game_is_played_on_the_days_of_its_file(
    tmp_path: Path,
    today: str,
    problem: str,
    warned: bool,  # noqa: FBT001
) -> None:
    dates = 'effective = "2026-12-01"\nexpires = "2027-11-30"\n'
    (tmp_path / "stud.toml").write_text(STUD.replace("\n[[meter]]", f"{dates}\n[[meter]]", 1))
    table = table_text("T-1", game="keystone_stud")
    floor = parse_floor(floor_text(link_text("one", table), games=str(tmp_path)))
    now = datetime.fromisoformat(today).replace(tzinfo=UTC)
    game = floor.games["keystone_stud"]
    found = problem_now(game, floor.facility.timezone, now)
    assert found == (f"Keystone Stud (keystone_stud) {problem}" if problem else "")
    warnings = date_warnings(floor.games_played, floor.facility.timezone, now)
    assert bool(warnings) == (warned or bool(problem))
    if problem:
        assert warnings == (f"{found}; its tables accept no wagers",)


def test_a_game_that_expires_before_it_is_effective_is_refused() -> None:
    text = STUD.replace(
        "\n[[meter]]", 'effective = "2027-01-01"\nexpires = "2026-01-01"\n\n[[meter]]', 1
    )
    with pytest.raises(GameError, match=r":8: the game expires before it is effective"):
        parse_game(text)


def test_tables_of_three_games_feed_the_meters_of_one_link() -> None:
    floor = parse_floor(
        floor_of(
            link_text(
                "mixed",
                *map(meter_text, TIERS),
                table_text("T-1", *TIERS, game="keystone_stud"),
                table_text("T-2", *TIERS, game="lucky_seven", positions=6),
                table_text("T-3", *TIERS, game="river_duel"),
            )
        )
    )
    link = floor.link[0]
    assert [meter.title for meter in link.meter] == [
        "Keystone Mega", "Keystone Major", "Keystone Minor",
    ]  # fmt: skip
    rows = {
        table.game: link.meter[0].terms_in(table.game).rows["straight_flush"].percents
        for table in link.table
    }
    assert rows == {
        "keystone_stud": ((MAJOR, 100),),
        "lucky_seven": ((MAJOR, 50),),
        "river_duel": ((MAJOR, 100),),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            [*map(meter_text, TIERS), table_text("T-1", *TIERS[:2], game="keystone_stud")],
            "keystone_major, keystone_minor: the table needs keystone_minor too",
        ),
        (
            [
                meter_text(MEGA), meter_text(MAJOR), meter_text(MINOR, 500),
                table_text("T-1", *TIERS, game="lucky_seven", positions=6),
            ],
            "both need the same wager and paytable",
        ),
        (
            [meter_text("progressive"), table_text("T-1", "progressive", game="keystone_stud")],
            "keystone_stud has no wager that feeds progressive",
        ),
        (
            [meter_text("keystone_mage"), table_text("T-1")],
            "there is no kind keystone_mage: is keystone_mega meant?",
        ),
        ([table_text("T-1", game="keystone_stat")], "is keystone_stud meant?"),
    ],
)  # fmt: skip
def test_a_table_that_does_not_fit_its_meters_is_refused(text: list[str], reason: str) -> None:
    with pytest.raises(FloorError, match=re.escape(reason)):
        parse_floor(floor_of(link_text("one", *text)))


def test_games_with_other_terms_cannot_feed_one_meter(tmp_path: Path) -> None:
    (tmp_path / "stud.toml").write_text(STUD)
    duel = (HOUSE / "river_duel.toml").read_text()
    (tmp_path / "duel.toml").write_text(duel.replace('primary = "8%"', 'primary = "9%"'))
    text = floor_text(
        link_text(
            "one",
            *map(meter_text, TIERS),
            table_text("T-1", *TIERS, game="keystone_stud"),
            table_text("T-2", *TIERS, game="river_duel"),
        ),
        games=str(tmp_path),
    )
    with pytest.raises(FloorError) as refused:
        parse_floor(text)
    assert str(refused.value).endswith(
        "river_duel and keystone_stud cannot feed the same keystone_major meter: its primary rate"
        " is 9.00% in river_duel, but 8.00% in keystone_stud"
    )


SPADES = {"royal_flush_spades": "100% of meter", **ROWS, "royal_flush": "50% of meter"}
DRAWS = """
[[wager]]
names = ["{0}", "{0}_dealer"]
meter = "{0}_meter"
short = ["Own", "Dlr"]
ranking = "five_card"
cards = ["hand_and_community", "dealer_and_community"]
placing = "H.3"
lowest = "three_of_a_kind"
paid_from = "table_inventory"
divided = "H.4"
validation = {{ rule = "H.5", stays = "H.5" }}
draws = {{ rule = "H.4", magic_card = "1 for 1", lucky_bonus = "5 for 1" }}
"""


def draws_text(name: str) -> str:
    text = wager_text(name, f"{name}_meter")
    return DRAWS.format(name) + text[text.index("[[wager.table]]") :]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            game_text("g", ["m"], wager_text("w_dealer", "m", cards="dealer_and_community"),
                      dealer=2),
            "only a wager with draws can feed a meter and be on the dealer's and the community",
        ),
        (
            game_text("g", ["m"], wager_text("w", "m", cards="hand_and_all_six"), hand=5,
                      community=0),
            "the All-Six card cannot decide a wager that feeds a meter",
        ),
        (
            game_text("g", ["meter", "m"], wager_text(
                "w", "meter", "m", rows=tier_rows("meter", "m"))),
            "in a cell, meter means the only meter of the wager: give this meter another name",
        ),
        (
            game_text("g", ["m"], wager_text("w", "m").replace(
                "placing =", 'readings = { choice = "r", rankings = {} }\nplacing =')),
            "the first of its readings must have the ranking of the wager",
        ),
        (
            game_text("g", ["m"], wager_text("w", "m").replace(
                "placing =",
                'readings = { choice = "r", rankings = { r = "five_card" } }\nplacing =')),
            "a wager that feeds a meter has no fourth_card, readings or mini_royal",
        ),
        (
            game_text("g", ["a_meter", "b_meter"], draws_text("a"), draws_text("b"), hand=3,
                      dealer=3, community=2),
            "two wagers have draws, but the system makes one draw in a round",
        ),
        (
            game_text(
                "g", ["a", "b"],
                wager_text("lucky", "a", after=envy_text(royal_flush="$500")),
                wager_text("lucky_progressive", "b", after=envy_text(royal_flush="$50")),
            ),
            "lucky_envy is the name of the Envy Bonuses of two wagers: give one wager another name",
        ),
        (
            game_text("g", ["m"], wager_text("w", "m", rows=SPADES, after=envy_text(
                royal_flush="$500", straight_flush="$50"))),
            "Envy Bonuses must begin with royal_flush_spades, as the paytable does",
        ),
    ],
)  # fmt: skip
def test_a_wager_that_the_service_cannot_settle_is_refused(text: str, reason: str) -> None:
    with pytest.raises(GameError, match=re.escape(reason)):
        parse_game(text)


def test_a_game_with_draws_can_be_read() -> None:
    game = game_text("g", ["a_meter"], draws_text("a"), hand=3, dealer=3, community=2)
    assert parse_game(game).meter[0].name == "a_meter"


@pytest.mark.parametrize(
    ("first", "second"), [(("m", "n"), ("m",)), (("m",), ("m", "n")), (("m", "n"), ("n", "m"))]
)
def test_one_wager_feeds_the_same_tiers_in_every_game(
    tmp_path: Path, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    for game, meters in (("a", first), ("b", second)):
        rows = tier_rows(*meters) if len(meters) == 2 else ROWS
        others = [wager_text("other", "n")] if meters == ("m",) else []
        text = game_text(game, ["m", "n"], wager_text("w", *meters, rows=rows), *others)
        (tmp_path / f"{game}.toml").write_text(text)
    with pytest.raises(GameError) as refused:
        read_games(tmp_path)
    expected = f"b.toml:1: w feeds {' and '.join(second)}, but in a it feeds {' and '.join(first)}"
    assert expected in str(refused.value)


@pytest.mark.parametrize("row", ["seed", "odds", "sum"])
def test_amounts_that_the_ledger_cannot_count_are_refused(tmp_path: Path, row: str) -> None:
    seed = "$999,999,999,999 for 1" if row == "seed" else "$100 for 1"
    cell = {"odds": "999,999,999,999 for 1", "sum": "$999,999,999,999"}.get(row, "100 for 1")
    wager = wager_text("w", "m", rows={**ROWS, "four_of_a_kind": cell}, seed=seed)
    (tmp_path / "g.toml").write_text(game_text("g", ["m"], wager))
    table = table_text("T-1", "m", game="g", positions=6)
    text = floor_text(link_text("one", meter_text("m"), table), games=str(tmp_path))
    with pytest.raises(
        FloorError, match=r"other rates apply, or a win of this wager is more than \$1,000,"
    ):
        parse_floor(text)


def test_terms_are_compared_once_for_all_tables_of_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link can have thousands of tables; each start reads the floor file."""
    compared: list[tuple[str, str, str]] = []

    def watched(meter: Meter, game: str, first: str) -> str | None:
        compared.append((meter.meter_id, game, first))
        return pool_problem(meter, game, first)

    pool_problem = floor_file._pool_problem
    monkeypatch.setattr(floor_file, "_pool_problem", watched)
    kinds = ("progressive", "five_card_progressive")
    tables = (table_text(f"T-{number}", *kinds) for number in range(40))
    parse_floor(floor_text(link_text("main", *map(meter_text, kinds), *tables)))
    assert compared == [(kind, "three_card_poker", "three_card_poker") for kind in kinds]
