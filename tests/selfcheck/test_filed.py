"""The parts of the floor file that need approval, and the description of a change."""

import pytest

from meters.floor.floor_file import parse_floor
from meters.ledger.approved_configuration import LinkConfiguration
from tests.floor.example import FLOOR


def filed(text: str = FLOOR, link: int = 0) -> LinkConfiguration:
    floor = parse_floor(text)
    return LinkConfiguration.of(floor, floor.link[link])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('name = "Test House"', 'name = "Another House"'),
        ('name = "One Dollar"', 'name = "Two Dollars"'),
        ('id = "bonus"', 'id = "bonus"\nname = "Grand"'),
        ("America/New_York", "America/Chicago"),
        ("127.0.0.1:8080", "127.0.0.1:8081"),
        ("pitlink-data", "other-data"),
        ('title = "Jackpots"', 'title = "Progressives"'),
        ("celebrate_from = 2500", "celebrate_from = 2600"),
        ("validate_from = 0\n", ""),
        ('"progressive", "bonus"]', '"bonus", "progressive"]'),
        ("positions = 7", "positions = 7 # six on Sundays"),
    ],
)
def test_what_bears_on_no_money_needs_no_approval(before: str, after: str) -> None:
    assert before in FLOOR
    assert filed(FLOOR.replace(before, after, 1)).digest == filed().digest


@pytest.mark.duty("D12")
@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (
            "validate_from = 0",
            "validate_from = 500",
            "a floorperson validates wins from: $0.00 → $5.00",
        ),
        (
            "validate_from = 0",
            "confirm_corrections = true",
            "a floorperson confirms each correction: no → yes",
        ),
        (
            "validate_from = 0",
            "tax_documents_from = 120000",
            "tax documents for wins from: none → $1,200.00",
        ),
        (
            "validate_from = 0",
            "two_people_reject_above = 200000",
            "two people must reject: each hand pay → wins above $2,000.00",
        ),
        ("wager = 250", "wager = 300", "meter bonus wager: $2.50 → $3.00"),
        ("lucky_every = 12\n", "", "meter bonus Lucky Bonus, one round in: 12 → none"),
        ('paytable = "B"', 'paytable = "A"', "meter high paytable: B → A"),
        (
            'paytable = "B"', 'paytable = "B"\nchance_ratio_max = 6',
            "meter high largest ratio of the chances of its games: none → 6",
        ),
        ("positions = 7", "positions = 6", "table T-1 positions: 7 → 6"),
        ('asset = "1001"', 'asset = "1009"', "table T-1 asset: 1001 → 1009"),
        ('"progressive", "bonus"]', '"bonus"]', "table T-1 meters: bonus, progressive → bonus"),
        (
            'pair_plus = "C"', 'pair_plus = "D"',
            ("table T-1 paytables: ante bonus c-A, pair plus C, version 2"
            " → ante bonus c-A, pair plus D, version 2"),
        ),
        (
            'game = "four_card_prime"\npositions = 6',
            'game = "four_card_prime"\npositions = 5',
            "table T-2 positions: 6 → 5",
        ),
    ],
)  # fmt: skip
def test_changes_that_concern_money_are_described_in_words(
    before: str, after: str, change: str
) -> None:
    assert before in FLOOR
    changed = filed(FLOOR.replace(before, after, 1))
    assert changed.digest != filed().digest
    assert change in changed.changed_from(filed())


def test_the_accepted_ratio_of_chances_is_shown() -> None:
    text = FLOOR.replace('paytable = "B"', 'paytable = "B"\nchance_ratio_max = 6', 1)
    (meter,) = [one for one in filed(text).in_words if one.startswith("meter high")]
    assert "a dollar can win the meter up to 6 times as often at one game as at another" in meter


def test_tables_and_meters_that_come_and_go_are_named() -> None:
    text = FLOOR.replace('id = "T-2"', 'id = "T-8"').replace('id = "high"', 'id = "higher"')
    assert filed(text).changed_from(filed()) == (
        "meter high removed", "meter higher added", "table T-2 removed", "table T-8 added",
    )  # fmt: skip


def test_a_change_is_of_its_own_link_alone() -> None:
    text = FLOOR.replace("positions = 7", "positions = 6")
    assert filed(text, 1).digest == filed(FLOOR, 1).digest


def test_the_order_in_the_file_is_none_of_its_words() -> None:
    head, first, second = FLOOR.split("\n[[link.table]]\n")[:3]
    second, rest = second.split("\n[[link]]", 1)
    tail = FLOOR[FLOOR.index("\n[[link]]", FLOOR.index("T-2")) :]
    swapped = "\n[[link.table]]\n".join([head, second, first]) + tail
    assert rest in FLOOR
    assert filed(swapped).digest == filed().digest
