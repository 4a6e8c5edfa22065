"""What a table's meters hold, as it comes in: late, twice, and of others."""

from controllers.meter_values import MeterValues
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


def test_a_meter_that_the_table_does_not_feed_is_not_kept() -> None:
    values = MeterValues(["progressive"])
    assert not values.hear(value(100, 5, meter="five_card_progressive"))
    assert not values.values
