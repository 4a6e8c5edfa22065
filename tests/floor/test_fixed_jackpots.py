"""Fixed jackpots in a floor file, and each error in them."""

from pathlib import Path
from typing import Final

import msgspec
import pytest

from meters.floor.floor_file import FloorError, Link, parse_floor
from meters.ledger.approved_configuration import LinkConfiguration
from tests.floor_text import Value, floor_text, link_text, meter_text, section_text, table_text
from tests.games.naive import HOUSE

GAMES: Final = Path(__file__).parents[2] / "controllers" / "demo" / "games"
_TIERS: Final = ("liberty_mega", "liberty_major", "liberty_minor")
_RIGHT: Final[dict[str, Value]] = {
    "name": "Mini Royal", "meter": "progressive", "hand": "mini_royal",
}  # fmt: skip


def fixed_text(**settings: Value) -> str:
    return section_text("[[link.fixed_jackpot]]", **_RIGHT | settings)


def _floor(*jackpots: str, validate_from: int = 0, rivers: bool = True) -> str:
    """Build a floor. Only without its table of Three Rivers, four of a kind pays a fixed amount."""
    return floor_text(
        link_text(
            "pit",
            meter_text("progressive", 500),
            meter_text("five_card_hand_bonus", id="hand_bonus"),
            meter_text("five_card_progressive", id="unfed"),
            section_text(
                "[[link.meter]]",
                kind="must_hit_by",
                id="mystery",
                must_hit_by={
                    "minimum": 50_000, "maximum": 100_000, "rate": "2%",
                    "wagers": ["progressive"],
                },
            ),
            *map(meter_text, _TIERS),
            *jackpots,
            table_text("T-1", "progressive", "hand_bonus", "mystery"),
            table_text("L-1", *_TIERS, game="liberty_five", positions=6),
            table_text("R-1", *_TIERS, game="three_rivers", positions=6) if rivers else "",
        ),
        validate_from=validate_from,
        games=GAMES,
    )  # fmt: skip


def _link(*jackpots: str) -> Link:
    (link,) = parse_floor(_floor(*jackpots, rivers=False)).link
    return link


def test_its_amount_is_that_of_the_paytable() -> None:
    first, second = _link(
        fixed_text(), fixed_text(id="four", meter="liberty_major", hand="four_of_a_kind")
    ).fixed_jackpots
    assert (first.id, first.name, first.amount_cents) == ("mini_royal", "Mini Royal", 500 * 500)
    assert (second.id, second.meter.wager, second.amount_cents) == ("four", 100, 10_000)


def test_a_hand_paid_at_odds_has_no_amount_if_wagers_have_several() -> None:
    """30 for 1 is $30 for a $1 wager, but displays would show $150."""
    jackpot = section_text(
        "[[link.fixed_jackpot]]", name="Trips", meter="trips_jackpot", hand="trips"
    )
    table = table_text("T-1", "trips_jackpot", game="keystone_trips")
    for smaller in ([], [100]):
        meter = meter_text("trips_jackpot", 500, smaller_wagers=smaller)
        text = floor_text(link_text("pit", meter, jackpot, table), games=str(HOUSE))
        if not smaller:
            assert parse_floor(text).link[0].fixed_jackpots[0].amount_cents == 15_000
            continue
        reason = r"trips pays 30 for 1, which is \$30.00 for the smallest wager and \$150.00 for"
        with pytest.raises(FloorError, match=reason):
            parse_floor(text)


def test_its_amount_follows_the_terms_in_force() -> None:
    """Two people can change a meter's wager or paytable without the floor file."""
    link = _link(fixed_text(), fixed_text(hand="straight"))
    assert [each.amount_cents for each in link.fixed_jackpots] == [250_000, 3_000]
    assert _amounts(link, wager=100) == [50_000, 600]
    assert _amounts(link, paytable="B") == [250_000], "a straight wins nothing with paytable B"


def _amounts(link: Link, **terms: int | str) -> list[int]:
    meters = tuple(
        msgspec.structs.replace(each, **terms) if each.meter_id == "progressive" else each
        for each in link.meter
    )
    changed = msgspec.structs.replace(link, meter=meters)
    return [each.amount_cents for each in changed.fixed_jackpots]


def test_people_approve_no_fixed_jackpot_because_it_changes_no_money() -> None:
    with_one, without = parse_floor(_floor(fixed_text())), parse_floor(_floor())
    assert LinkConfiguration.of(with_one, with_one.link[0]) == LinkConfiguration.of(
        without, without.link[0]
    )


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"name": None}, "name"),
        ({"amount": 250_000}, "amount"),
        ({"id": "mini royal"}, "letters, digits, hyphens and underscores"),
        ({"id": "hand_bonus"}, "link pit already has a meter or fixed jackpot hand_bonus"),
        ({"meter": "progresive"}, "no meter progresive that a hand wins.* progressive meant"),
        ({"meter": "mystery"}, "link pit has no meter mystery that a hand wins"),
        ({"meter": "unfed", "hand": "flush"}, "no table of link pit has the meter unfed"),
        ({"hand": "mini_roial"}, "three_card_poker has no hand mini_roial.* mini_royal meant"),
        (
            {"hand": "mini_royal_spades"},
            "in three_card_poker, mini_royal_spades wins 100% of progressive, which is not a fixed",
        ),
        ({"hand": "pair"}, "in three_card_poker, pair wins nothing with this paytable"),
        (
            {"meter": "liberty_minor", "hand": "four_of_a_kind"},
            "in three_rivers, four_of_a_kind wins 100% of liberty_minor, which is not a fixed",
        ),
        (
            {"meter": "liberty_mega", "hand": "flush"},
            r"it pays \$35.00 in liberty_five, \$40.00 in three_rivers",
        ),
        (
            {"meter": "hand_bonus", "hand": "full_house"},
            r"would not celebrate \$100.00, .* validates only wins from 500 for 1",
        ),
    ],
)
def test_an_error_is_refused_in_words(settings: dict[str, Value], reason: str) -> None:
    with pytest.raises(FloorError, match=reason):
        parse_floor(_floor(fixed_text(**settings)))


def test_a_win_that_no_floorperson_validates_is_refused() -> None:
    parse_floor(_floor(fixed_text(), validate_from=250_000))
    reason = r"not celebrate \$2,500.00, because a floorperson validates only wins from \$2,500.01"
    with pytest.raises(FloorError, match=reason):
        parse_floor(_floor(fixed_text(), validate_from=250_001))


def test_one_win_has_one_fixed_jackpot() -> None:
    """A wager that feeds several meters has one paytable."""
    fours = (
        fixed_text(id="one", meter="liberty_mega", hand="four_of_a_kind"),
        fixed_text(id="other", meter="liberty_major", hand="four_of_a_kind"),
    )
    with pytest.raises(FloorError, match="fixed jackpot one is the same win"):
        parse_floor(_floor(*fours, rivers=False))
    with pytest.raises(FloorError, match="already has a meter or fixed jackpot mini_royal"):
        parse_floor(_floor(fixed_text(), fixed_text()))


def test_an_error_names_its_line() -> None:
    text = _floor(fixed_text(hand="pair"))
    number = text.splitlines().index('hand = "pair"') + 1
    with pytest.raises(FloorError, match=rf"floor file:{number}: "):
        parse_floor(text)
