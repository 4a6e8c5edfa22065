"""Promotions in a floor file: their errors, when they are on, and what people approve."""

from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from meters.floor.floor_file import FloorError, parse_floor
from meters.floor.promotions import WEEKDAYS, Occurrence, PromotionTerms, Weekday
from meters.ledger.approved_configuration import APPROVED_FLOOR, LinkConfiguration
from meters.selfcheck.floor_checks import promotion_checks
from tests.floor_text import Value, floor_text, link_text, meter_text, section_text, table_text

NEW_YORK: Final = ZoneInfo("America/New_York")
_METERS: Final = (
    meter_text("progressive"),
    meter_text("five_card_progressive", id="unfed"),
    section_text(
        "[[link.meter]]",
        kind="must_hit_by",
        id="mystery",
        must_hit_by={
            "minimum": 50_000, "maximum": 100_000, "rate": "2%", "wagers": ["progressive"],
        },
    ),
    table_text("T-1", "progressive", "mystery"),
)  # fmt: skip


def floor_of(*promotions: str, timezone: str = "America/New_York") -> str:
    return floor_text(link_text("pit", *_METERS, *promotions), timezone=timezone)


_FRIDAY: Final[dict[str, Value]] = {
    "id": "friday", "name": "Friday Boost", "meter": "progressive", "adds": 500_00,
    "days": ["friday", "saturday"], "from": "18:00", "to": "23:00",
}  # fmt: skip


def friday_text(**settings: Value) -> str:
    return section_text("[[link.promotion]]", **_FRIDAY | settings)


def configuration(text: str) -> LinkConfiguration:
    floor = parse_floor(text)
    return LinkConfiguration.of(floor, floor.link[0])


def terms(
    begins: str, ends: str, *days: Weekday, first: str | None = None, last: str | None = None
) -> PromotionTerms:
    return PromotionTerms(
        meter="m", adds=1, starts=begins, ends=ends, days=days or WEEKDAYS, first=first, last=last
    )


def local(found: Occurrence | None, zone: ZoneInfo = NEW_YORK) -> tuple[str, str] | None:
    """Return start and end of an occurrence by the local clock, with the offsets from UTC."""
    if found is None:
        return None
    starts, ends = (
        each.astimezone(zone).isoformat(timespec="minutes") for each in (found.starts, found.ends)
    )
    return starts, ends


def at(text: str, zone: ZoneInfo = NEW_YORK) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"name": None}, "name is missing"),
        ({"adds": None}, "a promotion has either adds, a sum in cents, or raises, a part of each"),
        (
            {"raises": "5%"},
            "a promotion has either adds, a sum in cents, or raises, a part of each",
        ),
        ({"adds": None, "raises": "0%"}, "the part of each wager must be above 0%"),
        ({"adds": None, "raises": ""}, "'' is not a rate: write 'N%'"),
        ({"adds": None, "raises": "5"}, "'5' is not a rate: write 'N%'"),
        ({"adds": None, "raises": "100%"}, "'100%' is not a rate: it must be below 100%"),
        ({"from": None}, "from is missing"),
        ({"to": None}, "to is missing"),
        ({"adds": "$500"}, "adds is in cents, a whole number"),
        ({"adds": 0}, "adds is at least 1 cent"),
        ({"adds": 10**10 + 1}, r"adds is at most 10000000000 cents \(\$100,000,000\)"),
        ({"days": ["fryday"]}, "there is no day fryday.* friday meant"),
        ({"days": []}, "days is empty"),
        ({"days": ["friday", "friday"]}, "friday is listed twice"),
        ({"from": "6pm"}, 'from is a time of day such as "18:00"'),
        ({"to": "24:00"}, 'to is a time of day such as "18:00"; midnight is "00:00"'),
        ({"first": "tomorrow"}, 'first is a day such as "2026-12-01"'),
        ({"first": "2026-02-30"}, "first is 2026-02-30, which is no day of the calendar"),
        ({"last": "9999-12-31"}, "last is 9999-12-31, which is no day of the calendar until 2999"),
        (
            {"first": "2026-12-31", "last": "2026-12-01"},
            "the last day is before the first day, 2026-12-31",
        ),
        (
            {"first": "2026-11-29", "last": "2026-12-03"},
            "none of these days is between the first and the last day",
        ),
        ({"meter": "progresive"}, "link pit has no meter progresive.* progressive meant"),
        ({"meter": "mystery"}, "mystery is a must-hit-by meter: a promotion could take it to"),
        ({"meter": "unfed"}, "no table of link pit has the meter unfed: nobody could win"),
        ({"id": "friday night"}, "id has letters, digits and hyphens only"),
        ({"amount": 5}, "there is no key amount here"),
    ],
)
def test_an_error_is_refused_in_words(settings: dict[str, Value], reason: str) -> None:
    with pytest.raises(FloorError, match=reason):
        parse_floor(floor_of(friday_text(**settings)))


def test_a_promotion_stands_below_the_link_of_its_meter() -> None:
    own = link_text("own", meter_text("five_card_progressive"), table_text("T-2"))
    lower = floor_text(link_text("pit", *_METERS), own + friday_text())
    with pytest.raises(FloorError, match="progressive is a meter of link pit: move the promotion"):
        parse_floor(lower)
    alone = friday_text().replace("[[link.promotion]]", "[[promotion]]")
    text = floor_of() + alone
    line = text[: text.index("[[promotion]]")].count("\n") + 1
    told = rf":{line}: promotion is a section of a link: write \[\[link.promotion\]\]$"
    with pytest.raises(FloorError, match=told):
        parse_floor(text)


def test_two_promotions_of_a_link_have_two_ids() -> None:
    with pytest.raises(FloorError, match="promotion friday appears twice on link pit"):
        parse_floor(floor_of(friday_text(), friday_text()))


@pytest.mark.parametrize(
    ("begins", "ends", "day", "found"),
    [
        ("18:00", "23:00", "2026-12-04", ("2026-12-04T18:00-05:00", "2026-12-04T23:00-05:00")),
        ("18:00", "02:00", "2026-12-04", ("2026-12-04T18:00-05:00", "2026-12-05T02:00-05:00")),
        ("18:00", "18:00", "2026-12-04", ("2026-12-04T18:00-05:00", "2026-12-05T18:00-05:00")),
        ("18:00", "00:00", "2026-07-03", ("2026-07-03T18:00-04:00", "2026-07-04T00:00-04:00")),
    ],
)
def test_a_promotion_can_end_after_midnight(
    begins: str, ends: str, day: str, found: tuple[str, str]
) -> None:
    promotion = terms(begins, ends)
    assert local(promotion.occurrence(date.fromisoformat(day), NEW_YORK)) == found
    occurrence = promotion.occurrence(date.fromisoformat(day), NEW_YORK)
    assert occurrence is not None
    for moment in (occurrence.starts, occurrence.ends - timedelta(milliseconds=1)):
        assert promotion.occurrence_at(moment, NEW_YORK) == occurrence
    for moment in (occurrence.starts - timedelta(milliseconds=1), occurrence.ends):
        assert promotion.occurrence_at(moment, NEW_YORK) != occurrence


@pytest.mark.parametrize(
    ("begins", "ends", "day", "found"),
    [
        # On March 14, 2027, the clock goes from 01:59 to 03:00.
        ("02:30", "04:00", "2027-03-14", ("2027-03-14T03:30-04:00", "2027-03-14T04:00-04:00")),
        ("01:00", "02:30", "2027-03-14", ("2027-03-14T01:00-05:00", "2027-03-14T03:30-04:00")),
        ("02:30", "03:00", "2027-03-14", ("2027-03-14T03:30-04:00", "2027-03-14T04:00-04:00")),
        ("18:00", "02:30", "2027-03-13", ("2027-03-13T18:00-05:00", "2027-03-14T03:30-04:00")),
        # On November 7, 2027, the clock goes from 01:59 to 01:00 once.
        ("01:30", "04:00", "2027-11-07", ("2027-11-07T01:30-04:00", "2027-11-07T04:00-05:00")),
        ("00:30", "01:30", "2027-11-07", ("2027-11-07T00:30-04:00", "2027-11-07T01:30-04:00")),
        ("18:00", "01:30", "2027-11-06", ("2027-11-06T18:00-04:00", "2027-11-07T01:30-04:00")),
    ],
)
def test_the_hour_that_the_clock_skips_or_shows_twice(
    begins: str, ends: str, day: str, found: tuple[str, str]
) -> None:
    """A skipped time is the usual number of hours after midnight. Of two times, the first counts.

    So a promotion starts once, although the clock shows its time twice.
    """
    promotion, on = terms(begins, ends), date.fromisoformat(day)
    assert local(promotion.occurrence(on, NEW_YORK)) == found
    moment, started = at(f"{day} 00:00"), set[Occurrence]()
    for _ in range(30 * 60):
        if occurrence := promotion.occurrence_at(moment, NEW_YORK):
            started |= {occurrence} if occurrence.day == on else set()
        moment += timedelta(minutes=1)
    assert [local(one) for one in started] == [found]


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "Pacific/Auckland", "America/St_Johns", "UTC"])
def test_the_day_is_that_of_the_facility(zone: str) -> None:
    there = ZoneInfo(zone)
    promotion = terms("23:30", "00:30", "friday")
    found = promotion.occurrence_at(at("2026-12-05 00:15", there), there)
    assert found is not None
    assert found.day == date(2026, 12, 4)
    assert promotion.occurrence_at(at("2026-12-05 23:45", there), there) is None


def test_a_promotion_starts_only_on_its_days_from_the_first_to_the_last() -> None:
    promotion = terms("18:00", "02:00", "friday", first="2026-12-05", last="2026-12-18")
    days = [date(2026, 12, 1) + timedelta(days=ahead) for ahead in range(31)]
    assert [day.day for day in days if promotion.occurrence(day, NEW_YORK)] == [11, 18]
    assert promotion.occurrence_at(at("2026-12-19 01:59"), NEW_YORK) is not None, "it began before"


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        ("2026-11-01 00:00", 11), ("2026-12-11 17:59", 11), ("2026-12-11 18:00", 18),
        ("2026-12-18 17:59", 18), ("2026-12-18 18:00", None), ("2027-12-01 00:00", None),
    ],
)  # fmt: skip
def test_the_next_start(moment: str, day: int | None) -> None:
    promotion = terms("18:00", "02:00", "friday", first="2026-12-05", last="2026-12-18")
    found = promotion.next_after(at(moment), NEW_YORK)
    assert (found and found.day) == (date(2026, 12, day) if day else None)


def test_a_check_says_when_each_promotion_starts_next() -> None:
    floor = parse_floor(floor_of(friday_text(last="2026-12-05")))
    said = "promotion friday on pit: adds $500.00 to progressive at each start;"
    (check,) = promotion_checks(floor, at("2026-12-01 12:00"))
    assert (check.holds, check.line) == (True, f"{said} starts next on Friday, 2026-12-04 at 18:00")
    is_on = f"{said} is on until 23:00: its money is added now if it was not yet"
    (check,) = promotion_checks(floor, at("2026-12-04 18:00"))
    assert check.line == f"{is_on}; starts next on Saturday, 2026-12-05 at 18:00"
    (check,) = promotion_checks(floor, at("2026-12-05 22:59"))
    assert (check.holds, check.line) == (True, is_on)
    (check,) = promotion_checks(floor, at("2026-12-05 23:00"))
    assert check.holds, "the floor file is right"
    assert check.line == f"{said} does not start again: its last day was 2026-12-05"


@pytest.mark.duty("D12")
def test_people_approve_what_a_promotion_adds_and_when() -> None:
    before = configuration(floor_of())
    first = configuration(floor_of(friday_text()))
    more = configuration(floor_of(friday_text(adds=600_00, days=["friday"], last="2026-12-31")))
    assert first.changed_from(before) == (
        (
            "added: promotion friday: the house adds $500.00 to progressive at each start; Friday,"
            " Saturday; 18:00 to 23:00 (America/New_York)"
        ),
    )
    assert before.changed_from(first) == ("promotion friday removed",)
    assert more.changed_from(first) == (
        "promotion friday adds: $500.00 → $600.00",
        "promotion friday days: Friday, Saturday → Friday",
        "promotion friday last: none → 2026-12-31",
    )
    assert not more.only_follows(first, {})
    (words,) = (line for line in more.in_words if line.startswith("promotion "))
    assert words == (
        "promotion friday: the house adds $600.00 to progressive at each start; Friday; 18:00 to"
        " 23:00 (America/New_York); last on 2026-12-31"
    )
    assert "Boost" not in more.text, "the name moves no money"


@pytest.mark.duty("D12")
def test_people_read_that_a_promotion_becomes_daily() -> None:
    every_day = [
        configuration(floor_of(friday_text(days=days))) for days in (None, [*reversed(WEEKDAYS)])
    ]
    assert every_day[0] == every_day[1]
    friday = configuration(floor_of(friday_text(days=["friday"])))
    assert every_day[0].changed_from(friday) == ("promotion friday days: Friday → every day",)
    assert friday.changed_from(every_day[0]) == ("promotion friday days: every day → Friday",)


@pytest.mark.duty("D12")
def test_the_time_zone_is_approved_where_it_decides_when_money_moves() -> None:
    there, here = (
        configuration(floor_of(friday_text(), timezone=zone))
        for zone in ("America/Chicago", "America/New_York")
    )
    assert here.changed_from(there) == (
        "promotion friday timezone: America/Chicago → America/New_York",
    )
    without = [configuration(floor_of(timezone=zone)) for zone in ("UTC", "America/New_York")]
    assert without[0] == without[1]


def test_an_audit_reads_the_approved_promotion() -> None:
    text = configuration(floor_of(friday_text(first="2026-12-01"))).text
    (approved,) = APPROVED_FLOOR.decode(text).promotions.values()
    assert (approved.meter, approved.adds, approved.days) == (
        "progressive", 500_00, ("friday", "saturday"),
    )  # fmt: skip
    assert (approved.starts, approved.ends, approved.first) == ("18:00", "23:00", "2026-12-01")
    assert approved.timezone == "America/New_York"
