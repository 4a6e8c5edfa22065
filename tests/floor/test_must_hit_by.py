"""Must-hit-by meters in a floor file, and each error in them."""

from pathlib import Path
from typing import Final

import pytest

from bonus.display import money
from meters.floor.floor_file import Floor, FloorError, Link, parse_floor
from meters.ledger.approved_configuration import LinkConfiguration
from tests.floor_text import Value, floor_text, link_text, meter_text, section_text, table_text

GAMES: Final = Path(__file__).parents[2] / "controllers" / "demo" / "games"
_RIGHT: Final[dict[str, Value]] = {
    "minimum": 50_000, "maximum": 100_000, "rate": "2.25%", "wagers": ["progressive"],
}  # fmt: skip
_IN_SECTION: Final = {*_RIGHT, "rule", "distribution"}


def _floor(fed: str = "mystery", /, **settings: Value) -> str:
    hit_by = {name: of for name, of in (_RIGHT | settings).items() if name in _IN_SECTION}
    others = {name: of for name, of in settings.items() if name not in _IN_SECTION}
    meter: dict[str, Value] = {"kind": "must_hit_by", "id": "mystery", "must_hit_by": hit_by}
    return floor_text(
        link_text(
            "pit",
            meter_text("progressive"),
            meter_text("five_card_progressive", id="five"),
            section_text("[[link.meter]]", **meter | others),
            table_text("T-1", "progressive", fed),
            table_text("P-1", game="three_card_prime", positions=6),
        )
    )


def test_a_right_one_has_its_terms_and_its_place() -> None:
    floor = parse_floor(_floor(rule="H.1"))
    (link,) = floor.link
    meter = link.meter[2]
    assert (meter.title, meter.wagers) == ("Mystery Jackpot", ("progressive",))
    terms = meter.terms
    assert (terms.seed_cents, terms.maximum_cents, terms.primary_bps) == (50_000, 100_000, 225)
    assert link.must_hit_by_of(link.table[0]) == (meter,)
    assert link.meters_of(link.table[0]).keys() == {"progressive"}
    assert link.must_hit_by_of(link.table[1]) == ()


def test_people_who_approve_it_read_its_terms_in_dollars() -> None:
    floor = parse_floor(_floor(rule="H.1"))
    words = LinkConfiguration.of(floor, floor.link[0]).in_words
    assert (
        "meter mystery (must-hit-by): minimum $500.00; must hit by $1,000.00; uniform hidden value;"
        " 2.25% of each Progressive wager; rule H.1"
    ) in words
    changed = LinkConfiguration.of(*_link_of(maximum=200_000)).changed_from(
        LinkConfiguration.of(*_link_of())
    )
    assert len(changed) == 1
    assert money(200_000) in changed[0]


def _link_of(**settings: Value) -> tuple[Floor, Link]:
    floor = parse_floor(_floor(**settings))
    return floor, floor.link[0]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"maximum": 50_000}, r"\$500.00 is not above the minimum"),
        ({"maximum": 50_200}, r"the contributions of 100 wagers must fit .* at least 50225"),
        ({"maximum": 10**10, "rate": "0.01%"}, "only one wager in 499,997,500,000 would win"),
        ({"distribution": "normal"}, "distribution"),
        ({"rate": "0%"}, "the rate must be above 0%"),
        ({"rate": "100%"}, "'100%' is not a rate"),
        ({"rate": "1"}, "'1' is not a rate"),
        ({"wagers": ["progresive"]}, "no wager progresive .* is progressive meant"),
        ({"wagers": ["pair_plus"]}, "there is no wager pair_plus that feeds a meter"),
        ({"wagers": ["five_of_six_progressive"]}, "no other meter of the link takes"),
        ({"wagers": ["progressive", "progressive"]}, "progressive is listed twice"),
        ({"wagers": []}, "wagers"),
        ({"wager": 100}, "no hand wins a must_hit_by meter, so it has no `wager`"),
        ({"limit": 100_000}, "so it has no `limit`"),
        ({"paytable": "A"}, "so it has no `paytable`"),
        ({"kind": "progressive"}, "this section is only for kind"),
        ({"must_hit_by": None}, "needs the section"),
        ({"id": "five_card_progressive"}, "a game has a meter five_card_progressive"),
    ],
)
def test_an_error_is_refused_in_words(settings: dict[str, Value], reason: str) -> None:
    with pytest.raises(FloorError, match=reason):
        parse_floor(_floor(str(settings.get("id", "mystery")), **settings))


def test_a_table_without_such_wagers_cannot_feed_it() -> None:
    tiers = ("liberty_mega", "liberty_major", "liberty_minor")
    text = _floor().replace("[facility]", f'[facility]\ngames = "{GAMES}"')
    text += "\n".join(map(meter_text, tiers)).join(["\n", "\n"])
    text += table_text("R-1", *tiers, "mystery", game="three_rivers", positions=6)
    with pytest.raises(FloorError, match="table R-1 takes none of the wagers that feed mystery"):
        parse_floor(text)


def test_another_meter_needs_its_wager() -> None:
    with pytest.raises(FloorError, match="needs `wager`"):
        parse_floor(
            floor_text(
                link_text("pit", section_text("[[link.meter]]", kind="progressive", paytable="A"))
            )
        )
