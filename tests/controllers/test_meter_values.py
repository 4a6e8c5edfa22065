"""A table's meter values as they arrive: late, twice, and of other meters."""

from controllers.agent.meter_values import DOUBT_AFTER_S, MeterValues
from meters.wire.messages import MeterValue


def value(amount: int, version: int, *, meter: str = "progressive", at: str = "") -> MeterValue:
    return MeterValue(
        meter=meter, amount=amount, version=version, cycle=1, state="open", at=at or f"{version:03}"
    )


def test_a_lower_version_is_never_shown_over_a_higher_one() -> None:
    values = MeterValues(["progressive"])
    assert values.hear(value(100, 5))
    assert not values.hear(value(90, 4))
    assert values.values["progressive"].amount == 100
    assert values.hear(value(120, 6))
    assert values.values["progressive"].amount == 120


def test_another_state_of_the_same_version_is_shown_and_an_earlier_one_is_not() -> None:
    values = MeterValues(["progressive"])
    values.hear(value(100, 5, at="b"))
    assert not values.hear(value(101, 5, at="a"))
    assert values.hear(value(102, 5, at="c"))
    assert values.values["progressive"].amount == 102


def test_another_state_is_shown_though_the_services_clock_was_set_back() -> None:
    now_s = 0.0
    values = MeterValues(["progressive"], clock_s=lambda: now_s)
    values.hear(value(100, 5, at="b"))
    now_s = DOUBT_AFTER_S - 0.1
    assert not values.hear(value(101, 5, at="a"))
    now_s = DOUBT_AFTER_S
    assert values.hear(value(101, 5, at="a"))
    assert values.values["progressive"].amount == 101


def test_a_meter_that_the_table_does_not_feed_is_not_kept() -> None:
    values = MeterValues(["progressive"])
    assert not values.hear(value(100, 5, meter="five_card_progressive"))
    assert not values.values


def test_duty_d1_a_meter_of_which_only_a_lower_version_comes_is_soon_not_known() -> None:
    now_s = 0.0
    values = MeterValues(["progressive", "five_card_progressive"], clock_s=lambda: now_s)
    values.hear(value(100, 5))
    values.hear(value(7, 9, meter="five_card_progressive"))
    values.hear(value(90, 4))
    now_s = DOUBT_AFTER_S - 0.1
    values.hear(value(91, 4))
    assert "progressive" in values.values, "it may only have been late"
    now_s = DOUBT_AFTER_S
    assert list(values.values) == ["five_card_progressive"]
    now_s = 10 * DOUBT_AFTER_S
    assert "progressive" not in values.values
    assert values.hear(value(101, 5))
    assert values.values["progressive"].amount == 101


def test_a_lower_version_that_was_only_late_casts_no_doubt() -> None:
    now_s = 0.0
    values = MeterValues(["progressive"], clock_s=lambda: now_s)
    values.hear(value(100, 5))
    values.hear(value(90, 4))
    values.hear(value(120, 6))
    now_s = 10 * DOUBT_AFTER_S
    assert values.values["progressive"].amount == 120
