"""The key `overflow_to` of a meter: its errors, and what people approve."""

from typing import Final

import pytest

from meters.floor.floor_file import FloorError, parse_floor
from meters.ledger.approved_configuration import LinkConfiguration, approved_terms
from meters.ledger.money_terms import read_terms
from tests.floor_text import Value, floor_text, link_text, meter_text, section_text, table_text

_MYSTERY: Final[dict[str, Value]] = {
    "minimum": 50_000, "maximum": 100_000, "rate": "2%", "wagers": ["progressive"],
}  # fmt: skip


def floor_of(*, of_mystery: str | None = None, grand: str | None = None, **mini: Value) -> str:
    """Build a link with a meter that has the settings `mini`, by default right ones."""
    usual: dict[str, Value] = {"id": "mini", "limit": 200_000, "overflow_to": "grand"}
    named = {"overflow_to": of_mystery} if of_mystery else {}
    return floor_text(
        link_text(
            "pit",
            meter_text("progressive", 100, **usual | mini),
            meter_text("progressive", id="grand", limit=500_000, overflow_to=grand),
            meter_text("progressive", id="unfed"),
            section_text(
                "[[link.meter]]", kind="must_hit_by", id="mystery", must_hit_by=_MYSTERY, **named
            ),
            table_text("T-1", "mini", "mystery"),
            table_text("T-2", "grand"),
        )
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (floor_of(limit=None), "mini has no `limit`, so nothing is ever above it"),
        (floor_of(overflow_to="grnd"), "link pit has no meter grnd: is grand meant"),
        (floor_of(overflow_to="mini"), "mini cannot get its own overflow"),
        (floor_of(overflow_to="mystery"), "mystery is a must-hit-by meter"),
        (floor_of(overflow_to="unfed"), "no table of link pit has the meter unfed: nobody could"),
        (floor_of(grand="unfed"), "grand itself has `overflow_to`: name unfed here"),
        (floor_of(of_mystery="grand"), "a must_hit_by meter, so it has no `overflow_to`"),
        (floor_of(overflow_to="no such"), "overflow_to"),
    ],
)
def test_each_error_is_named(text: str, reason: str) -> None:
    with pytest.raises(FloorError) as error:
        parse_floor(text)
    assert reason in str(error.value)


def test_a_meter_without_tables_may_name_one_that_has_ended() -> None:
    """Both were ended: the keys of meters that have begun cannot change."""
    text = floor_of(overflow_to="unfed").replace('["mini", "mystery"]', '["grand"]')
    assert parse_floor(text).link[0].meter[0].overflow_to == "unfed"


@pytest.mark.duty("D5")
def test_people_approve_it() -> None:
    floor = parse_floor(floor_of())
    approved = LinkConfiguration.of(floor, floor.link[0])
    assert read_terms(approved_terms(approved.text)["mini"]).overflow_to == "grand"
    (line,) = (one for one in approved.in_words if one.startswith("meter mini"))
    assert "payout limit $2,000.00; what is above it goes to grand" in line
    before = parse_floor(floor_of(overflow_to=None))
    (change,) = approved.changed_from(LinkConfiguration.of(before, before.link[0]))
    assert change == "meter mini what is above the payout limit goes to: none → grand"
