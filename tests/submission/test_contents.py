"""The JSON of a submission: each figure against a source that does not come from it."""

import hashlib
import re
import tomllib
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest

from meters.floor.floor_file import read_floor
from meters.ledger.approved_configuration import LinkConfiguration
from meters.reports.submission_contents import Submission, submission_json
from tests.floor_text import floor_text, link_text, table_text
from tests.games.naive import HOUSE
from tests.games.test_house_games import FIVE_CARDS, SEVEN_CARDS
from tests.submission.filings import FLOORS, Commands, Fields, Filing, named, share_of
from tests.submission.floors import TIERS
from tests.submission.printed import cells_of, file_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@FLOORS
def test_the_json_is_exactly_the_structure(filing: Filing) -> None:
    assert submission_json(filing.submission) == filing.json
    unknown = filing.fields | {"further": 1}
    with pytest.raises(msgspec.ValidationError, match="unknown field `further`"):
        msgspec.convert(unknown, Submission, dec_hook=share_of)


@FLOORS
def test_every_cell_is_that_of_the_rules_with_its_subsection(filing: Filing) -> None:
    """Each cell of the chosen column is there, and no other."""
    settings = tables_of(filing)
    checked = 0
    for game, wager in filing.wagers():
        paytables = settings[wager["tables"][0]].get("paytables", {})
        royals = paytables.get("mini_royal", {})
        expected = cells_of(game["game"], wager["wager"], wager["paytable"], royals)
        found = {
            (cell["item"], hand["hand"], hand["fourth_card"]): (cell["pays"], cell["rule"])
            for hand in wager["hands"]
            for cell in hand["cells"]
        }
        assert found == expected, wager["wager"]
        checked += len(found)
    assert checked > 40


@FLOORS
def test_the_rules_of_each_wager_and_deal_are_those_of_the_file(filing: Filing) -> None:
    for game, wager in filing.wagers():
        law = tomllib.loads(file_of(game["game"]).read_text())
        for name in ("title", "chapter"):
            assert game[name] == law[name]
        for name in ("effective", "expires"):
            assert game[name] == law.get(name)
        assert (
            game["deal"] == {"community": 0, "decks": 1, "jokers": 0, "exchange": 0} | law["deal"]
        )
        main = law.get("main", {"stake": ""})
        if wager["wager"] == main["stake"]:
            expected = expected_of_main(main)
        else:
            tables = next(each for each in law["wager"] if wager["wager"] in each["names"])
            validation = tables.get("validation", {})
            expected = {
                "placing": tables["placing"],
                "fold": tables.get("forfeited"),
                "losing wager": tables.get("collected"),
                "jackpot on the dealer's hand": tables.get("divided"),
                "validation by a floorperson": validation.get("rule"),
                "cards stay on the table": validation.get("stays"),
            }
        cited = {each["subject"]: each["rule"] for each in wager["rules"] if each["rule"]}
        assert cited == {subject: rule for subject, rule in expected.items() if rule}


def expected_of_main(main: Fields) -> dict[str, str | None]:
    bonuses = {
        each.get("choice") or each["item"]: each.get("procedure") for each in main.get("bonus", [])
    }
    return {
        "placing": main["placing"],
        "decision": main["asking"],
        "odds": main["odds_rule"],
        "lower hand": main["lower"],
        "equal hand": main["tie"].get("rule"),
        "dealer does not qualify": main.get("not_qualified", {}).get("rule"),
        f"{main['follow']} paytable": main.get("follow_pays", {}).get("rule"),
        **bonuses,
    }


def test_the_settings_of_the_facility_are_filed(house: Filing) -> None:
    assert house.fields["settings"] == {
        "validate_from_cents": 5_000,
        "tax_documents_from_cents": None,
        "two_people_reject_above_cents": 1_000_000,
        "confirm_corrections": False,
        "require_all_hands": False,
        "day_starts": "06:00",
    }


@pytest.mark.slow
def test_validation_has_one_figure_at_each_wager_and_in_the_settings(house: Filing) -> None:
    """A wager does not claim that every win is validated while the settings have a threshold."""
    texts = [
        rule["text"]
        for _, wager in house.wagers()
        for rule in wager["rules"]
        if rule["subject"] == "validation by a floorperson"
    ]
    assert texts
    assert {re.findall(r"\$[\d,.]+", text)[-1] for text in texts} == {"$50.00"}
    printed = " ".join(" ".join(house.pages).split())
    settings = printed.split("Settings of the facility")[-1].split("Tax documents")[0]
    assert "wins of $50.00 or more, and percentages of a meter" in settings


@FLOORS
def test_every_table_has_the_wagers_of_the_floor_file(filing: Filing) -> None:
    """The chosen paytable of each wager is that of the table or of its meter."""
    for link in tomllib.loads(filing.config.read_text())["link"]:
        letters = {meter["kind"]: meter.get("paytable") for meter in link.get("meter", [])}
        kinds = {meter.get("id", meter["kind"]): meter["kind"] for meter in link.get("meter", [])}
        for table in link["table"]:
            law = tomllib.loads(file_of(table["game"]).read_text())
            chosen = table.get("paytables", {})
            expected: dict[str, str | None] = {}
            for wager in law["wager"]:
                fed = wager.get("meters") or [each for each in [wager.get("meter")] if each]
                printed = wager.get("fourth_card", wager)["table"]
                choice = any(each.get("choices") for each in printed)
                feeds = {kinds[meter] for meter in table.get("meters", [])}
                if fed and fed[0] in feeds:
                    expected |= dict.fromkeys(wager["names"], letters[fed[0]])
                elif not fed and (not choice or wager["names"][0] in chosen):
                    expected |= dict.fromkeys(wager["names"], chosen.get(wager["names"][0]))
            if main := law.get("main"):
                bonus = [each["choice"] for each in main.get("bonus", []) if each.get("choice")]
                if not bonus or bonus[0] in chosen:
                    expected[main["stake"]] = chosen[bonus[0]] if bonus else None
            offered = {
                wager["wager"]: wager["paytable"]
                for wager in filing.game(table["game"])["wagers"]
                if table["id"] in wager["tables"]
            }
            assert offered == expected
            row = named(filing.game(table["game"])["tables"], "table", table["id"])
            assert (row["asset"], row["link"]) == (table["asset"], link["id"])
            assert row["positions"] == table["positions"]
            names = {name for each in law["wager"] for name in each["names"]}
            names |= {law["main"]["stake"]} if "main" in law else set()
            assert set(row["not_offered"]) == names - set(expected)


@FLOORS
def test_the_odds_are_those_that_the_odds_command_prints(
    filing: Filing, commands: Commands
) -> None:
    entries = commands.odds(filing.config)
    filed = [wager for _, wager in filing.wagers()]
    assert len(entries) == len(filed) > 5
    for entry, wager in zip(entries, filed, strict=True):
        odds = wager["odds"]
        assert (entry["wager"], entry["paytable"]) == (wager["wager"], wager["paytable"])
        assert entry["tables"] == wager["tables"]
        assert odds["house_edge"]["exact"] == entry["house_edge"]
        percent = Fraction(odds["house_edge"]["percent"].removesuffix("%"))
        assert abs(percent / 100 - Fraction(entry["house_edge"])) <= Fraction(1, 2_000_000)
        assert [(line["hand"], line["combinations"], line["of"]) for line in entry["hands"]] == [
            (hand["hand"], hand["combinations"], hand["of"]) for hand in wager["hands"]
        ]
        assert odds["hit_frequency"]["exact"] == entry["hit_frequency"]
        for name, each in entry.get("long_run", {}).items():
            if name != "house_edge_decimal":
                assert odds["long_run"][name]["exact"] == each
        check_meters(entry, odds)
        check_others(entry, odds)


def check_meters(entry: Fields, odds: Fields) -> None:
    if "tiers" in entry:
        expected = [
            (tier["meter"], only(tier["seed_meter"]), tier["meter_return"],
             only(tier["break_even_meter"]))
            for tier in entry["tiers"]
        ]  # fmt: skip
        for tier, meter in zip(entry["tiers"], odds["meters"], strict=True):
            assert meter["hit_chance"]["exact"] == tier["hit_chance"]
            whole = meter["whole_chance"]
            assert Fraction(whole["exact"] if whole else 0) == Fraction(tier["whole_chance"])
    elif "meter_return" in entry:
        (meter,) = odds["meters"]
        expected = [
            (meter["meter"], only(entry["seed_meter"]), entry["meter_return"],
             only(entry["break_even_meter"]))
        ]  # fmt: skip
        with_envy = [only(each) for each in entry.get("break_even_meter_with_envy", [])]
        assert meter["break_even_with_envy_cents"] == with_envy
    else:
        expected = []
    assert expected == [
        (each["meter"], each["seed_cents"], each["meter_return"], each["break_even_cents"])
        for each in odds["meters"]
    ]


def check_others(entry: Fields, odds: Fields) -> None:
    envy = odds["envy_return"]
    filed_envy = [envy["exact"]] if envy else []
    assert filed_envy == [*entry.get("envy_return", {}).values()]
    folding, filed = entry.get("when_folding"), odds["when_folding"]
    assert bool(folding) == bool(filed)
    if folding and filed:
        assert filed["house_edge"]["exact"] == folding["house_edge"]
        assert filed["house_edge_long_run"]["exact"] == folding["house_edge_long_run"]
        assert filed["break_even_cents"] == only(folding["break_even_meter"])
        with_envy = [only(each) for each in folding["break_even_meter_with_envy"]]
        assert filed["break_even_with_envy_cents"] == with_envy
    drawn = [entry[name] for name in ("magic_card", "lucky") if name in entry]
    assert [(each["every"], each["returns"]["exact"]) for each in odds["draws"]] == [
        (each["every"], each["wager_return"]) for each in drawn
    ]
    assert [
        (
            each["players"],
            each["house_edge"]["exact"],
            each["house_edge_long_run"]["exact"],
            each["break_even_cents"],
        )
        for each in odds["when_shared"]
    ] == [
        (
            each["players"],
            each["house_edge"],
            each["house_edge_long_run"],
            only(each["break_even_meter"]),
        )
        for each in entry.get("when_shared", [])
    ]
    assert {
        str(each["wager_cents"]): each["house_edge"]["exact"]
        for each in odds["house_edge_by_amount"]
    } == entry.get("house_edge_by_wager", {})
    against = odds["against_dealer"]
    assert bool(against) == ("outcomes" in entry)
    if against:
        assert against["strategy"] == entry["strategy"]
        assert against["element_of_risk"]["exact"] == entry["element_of_risk"]
        assert against["average_wager"] == entry["average_wager"]
        assert [(each["outcome"], each["combinations"]) for each in against["outcomes"]] == [
            (each["outcome"], each["combinations"]) for each in entry["outcomes"]
        ]


def only(by_wager: dict[str, int]) -> int:
    (amount,) = by_wager.values()
    return amount


@FLOORS
def test_every_probability_is_that_of_its_deals(filing: Filing) -> None:
    """The three forms of a probability agree, and the deals of a wager are all deals."""
    for _, wager in filing.wagers():
        hands = {}
        for hand in wager["hands"]:
            check_chance(hand["chance"], Fraction(hand["combinations"], hand["of"]))
            hands[hand["hand"]] = Fraction(hand["combinations"], hand["of"])
        assert sum(hand["combinations"] for hand in wager["hands"]) == wager["hands"][0]["of"]
        for each in (*wager["odds"]["awards"], *wager["odds"]["envy"]):
            check_chance(each["chance"], hands[each["hand"]])
        against = wager["odds"]["against_dealer"]
        for each in against["outcomes"] if against else ():
            check_chance(each["chance"], Fraction(each["combinations"], each["of"]))


def check_chance(chance: Fields, expected: Fraction) -> None:
    assert Fraction(chance["exact"]) == expected
    one_in = Fraction(chance["one_in"].removeprefix("1 in ").replace(",", ""))
    assert abs(one_in - 1 / expected) <= Fraction(1, 200)
    assert re.fullmatch(r"1 in [1-9][0-9,]*(\.[0-9]{2})?", chance["one_in"])


def test_wins_of_a_meter_and_envy_bonuses_have_their_amounts_and_chances(house: Filing) -> None:
    """Of 22,100 hands of three cards one is the mini-royal of spades, and three are others."""
    odds = house.wager("three_card_poker", "progressive", "TCP-1")["odds"]
    spades, others = (
        {"exact": "1/22100", "one_in": "1 in 22,100"},
        {"exact": "3/22100", "one_in": "1 in 7,366.67"},
    )
    assert odds["awards"] == [
        {"hand": "mini_royal_spades", "percent": 100, "meter": "progressive",
         "rule": "649a.12(e)(1)", "chance": spades}
    ]  # fmt: skip
    assert [(each["hand"], each["envy_cents"], each["chance"]) for each in odds["envy"]] == [
        ("mini_royal_spades", 50_000, spades), ("mini_royal", 12_500, others),
    ]  # fmt: skip
    assert {each["rule"] for each in odds["envy"]} == {"649a.12(e)(5)"}


def test_each_percentage_of_a_house_game_has_the_known_number_of_deals(house: Filing) -> None:
    for game, table, deals, of in (
        ("keystone_stud", "KS-1", FIVE_CARDS, 2_598_960),
        ("lucky_seven", "LS-2", SEVEN_CARDS, 133_784_560),
    ):
        law = tomllib.loads((HOUSE / f"{game}.toml").read_text())
        printed = next(each for each in law["wager"] if each["names"] == ["keystone_bonus"])
        expected = [
            (hand, int(percent), meter, Fraction(deals[hand], of))
            for hand, cell in printed["table"][0]["pays"].items()
            for percent, meter in re.findall(r"([0-9]+)% of ([a-z_]+)", cell)
        ]
        awards = house.wager(game, "keystone_bonus", table)["odds"]["awards"]
        assert expected == [
            (each["hand"], each["percent"], each["meter"], Fraction(each["chance"]["exact"]))
            for each in awards
        ]


@pytest.mark.duty("D21", proof=True)
@FLOORS
def test_each_meter_has_the_chance_of_a_dollar_at_each_wager(filing: Filing) -> None:
    """The chance of each wager is that of its own awards, in part or whole."""
    checked = 0
    for link in filing.fields["links"]:
        for meter in link["meters"]:
            expected = {}
            for game, wager in filing.wagers():
                fed = [each["meter"] for each in wager["feeds"] if each["link"] == link["link"]]
                if meter["meter"] in fed:
                    won = sum(
                        Fraction(award["percent"]) / 100 * Fraction(award["chance"]["exact"])
                        for award in wager["odds"]["awards"]
                        if award["meter"] == meter["kind"]
                    )
                    of_a_dollar = won * 100 / meter["wager_cents"]
                    expected[game["game"], wager["wager"]] = of_a_dollar
            filed = {
                (each["game"], each["wager"]): Fraction(each["chance"]["exact"])
                for each in meter["dollar_chances"]
            }
            assert filed == expected
            assert [*filed.values()] == sorted(filed.values(), reverse=True)
            ratio = max(filed.values()) / min(filed.values())
            assert Fraction(meter["chance_ratio"]) == ratio <= meter["chance_ratio_max"]
            checked += len(filed)
    assert checked > 6


@FLOORS
def test_links_have_the_settings_of_the_floor_file(filing: Filing) -> None:
    text = tomllib.loads(filing.config.read_text())
    for link, filed in zip(text["link"], filing.fields["links"], strict=True):
        assert (filed["link"], filed["name"]) == (link["id"], link["name"])
        assert [(each["table"], each["asset"], each["game"], each["positions"], each["meters"])
                for each in filed["tables"]] == [
            (each["id"], each["asset"], each["game"], each["positions"], each.get("meters", []))
            for each in link["table"]
        ]  # fmt: skip
        for meter, one in zip(link.get("meter", []), filed["meters"], strict=True):
            assert one["meter"] == meter.get("id", meter["kind"])
            assert (one["kind"], one["wager_cents"]) == (meter["kind"], meter["wager"])
            for key, name in (("paytable",) * 2, ("limit", "limit_cents"),
                              ("contribution_max", "contribution_max_cents"),
                              ("overflow_to",) * 2):  # fmt: skip
                assert one[name] == meter.get(key)
            for name in ("magic_card_every", "lucky_every"):
                draws = meter["kind"] == "five_card_hand_bonus"
                assert one[name] == (meter.get(name, 0) if draws else None)


@FLOORS
def test_meters_have_the_printed_seeds_and_rates_of_each_game(filing: Filing) -> None:
    for link in filing.fields["links"]:
        for meter in link["meters"]:
            fed = [table["table"] for table in link["tables"] if meter["meter"] in table["meters"]]
            assert sorted(table for feed in meter["feeds"] for table in feed["tables"]) == fed
            for feed in meter["feeds"]:
                check_feed(meter, feed)


def check_feed(meter: Fields, feed: Fields) -> None:
    law = tomllib.loads(file_of(feed["game"]).read_text())
    wager = next(each for each in law["wager"]
                 if meter["kind"] in each.get("meters", [each.get("meter")]))  # fmt: skip
    (table,) = wager["table"]
    printed = table.get("progression") or table["progressions"][meter["kind"]]
    at = table.get("choices", [None]).index(meter["paytable"])

    def cell(name: str) -> str:
        cells = printed.get(name, "0%")
        return cells if isinstance(cells, str) else str(cells[at])

    assert (feed["rule"], feed["wagers"]) == (printed["rule"], wager["names"])
    for name in ("seed", "reseed", "primary", "reserve"):
        assert feed[name] == cell(name)
    for name in ("seed", "reseed"):
        dollars = int(cell(name).removesuffix(" for 1").removeprefix("$").replace(",", ""))
        assert meter[f"{name}_cents"] == dollars * meter["wager_cents"]
    for name in ("primary", "reserve"):
        assert meter[f"{name}_bps"] == 100 * Fraction(cell(name).removesuffix("%"))
    above = printed.get("above", {})
    names = {"above": "amount", "primary_above": "primary", "reserve_above": "reserve"}
    for name, key in names.items():
        assert feed[name] == (above[key][at] if above else "")
    changed = [meter[f"{name}_above_bps"] for name in ("primary", "reserve")]
    if above:
        assert [meter["threshold_cents"], *changed] == [5_001 * meter["wager_cents"], 1_005, 1_270]
    else:
        assert [meter["threshold_cents"], *changed] == [None, 0, 0]
    others = [kind for kind in wager.get("meters", []) if kind != meter["kind"]]
    assert feed["with_meters"] == others


def test_a_mixed_link_shows_which_games_feed_each_meter(house: Filing) -> None:
    (link,) = house.fields["links"]
    for kind in TIERS:
        feeds = named(link["meters"], "meter", kind)["feeds"]
        assert [(each["game"], each["rule"].split(".")[0], each["tables"]) for each in feeds] == [
            ("keystone_stud", "KS", ["KS-1"]),
            ("lucky_seven", "LS", ["LS-1", "LS-2"]),
            ("river_duel", "RD", ["RD-1"]),
        ]
    (feed,) = named(link["meters"], "meter", "seven")["feeds"]
    assert (feed["game"], feed["tables"]) == ("lucky_seven", ["LS-1"])
    wager = house.wager("lucky_seven", "keystone_bonus", "LS-2")
    assert wager["tables"] == ["LS-1", "LS-2"]
    assert wager["feeds"] == [{"link": "mixed", "meter": kind, "kind": kind} for kind in TIERS]


def test_the_promotions_of_a_link_are_filed(house: Filing) -> None:
    (link,) = house.fields["links"]
    assert link["promotions"] == [
        {
            "promotion": "friday",
            "name": "Friday Boost",
            "meter": "seven",
            "adds_cents": 50_000,
            "raises": None,
            "days": ["friday", "saturday"],
            "starts": "18:00",
            "ends": "23:00",
            "first": None,
            "last": "2026-12-31",
        }
    ]


@FLOORS
def test_digests_are_those_of_the_files(filing: Filing) -> None:
    fields = filing.fields
    assert fields["floor_file"] == {"name": "floor.toml", "sha256": sha256(filing.config)}
    for game in fields["games"]:
        path = file_of(game["game"])
        assert game["file"]["sha256"] == sha256(path)
        house = path.parent == HOUSE
        assert game["file"]["name"] == (path.name if house else path.relative_to(ROOT).as_posix())
        assert game["text"] == (path.read_text() if house else None)
        assert game["source"] == ("house rules" if house else "58 Pa. Code")
    floor = read_floor(filing.config)
    assert [link["configuration_sha256"] for link in fields["links"]] == [
        LinkConfiguration.of(floor, link).digest for link in floor.link
    ]


def test_the_digest_of_the_programs_is_that_of_the_verification_page(house: Filing) -> None:
    """`find bonus meters controllers -type f | LC_ALL=C sort | xargs sha256sum | sha256sum`."""
    found = sorted(
        path.relative_to(ROOT).as_posix()
        for room in ("bonus", "meters", "controllers")
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    lines = "".join(f"{sha256(ROOT / name)}  {name}\n" for name in found)
    software = house.fields["software"]
    assert software["sha256"] == hashlib.sha256(lines.encode()).hexdigest()
    assert software["files"] == len(found)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_the_date_is_that_of_the_facility(zone: str, commands: Commands, tmp_path: Path) -> None:
    """The two zones are 25 hours apart, so their dates always differ."""
    table = table_text("T", paytables={"pair_plus": "A"})
    path = tmp_path / "floor.toml"
    path.write_text(floor_text(link_text("one", table), timezone=zone))
    before = datetime.now(ZoneInfo(zone)).date()
    filing = commands.submit(path, tmp_path / "out")
    after = datetime.now(ZoneInfo(zone)).date()
    assert filing.fields["date"] in {before.isoformat(), after.isoformat()}
    assert filing.fields["timezone"] == zone


def test_choices_are_filed_with_their_subsections(house: Filing) -> None:
    (table,) = house.game("three_card_poker")["tables"]
    assert [(each["name"], each["option"], each["rule"]) for each in table["choices"]] == [
        ("ante_bonus", "b-C", "649a.12(b)"),
        ("pair_plus", "D", "649a.12(d)"),
        ("mini_royal: ante_bonus", "6 to 1", "649a.12(g)(1)"),
        ("mini_royal: pair_plus", "60 to 1", "649a.12(g)(2)"),
        ("progressive", "B", "649a.12(e)(1)"),
    ]


@pytest.mark.slow
def test_the_house_is_asked_for_what_the_chapters_ask_of_a_rules_submission(
    shipped: Filing,
) -> None:
    asked = {(each["game"], each["rule"]) for each in shipped.fields["added_by_house"]}
    assert asked >= {
        ("three_card_poker", "649a.7(f)"), ("three_card_prime", "679a.7(e)"),
        ("four_card_prime", "682a.7(e)"), ("three_card_prime", "679a.7(d)(2)"),
        ("three_card_prime", "679a.8(h), 679a.9(g) or 679a.10(h)"),
    }  # fmt: skip


def tables_of(filing: Filing) -> dict[str, Fields]:
    links = tomllib.loads(filing.config.read_text())["link"]
    return {table["id"]: table for link in links for table in link["table"]}
