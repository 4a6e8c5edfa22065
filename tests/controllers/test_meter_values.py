"""A table's meter values as they arrive: late, twice, and of other meters."""

import pytest

from controllers.agent.link_reception import DOUBT_AFTER_S, MeterValues
from meters.wire.messages import MeterValue

SOON_S, LONG_S = DOUBT_AFTER_S - 0.1, 10 * DOUBT_AFTER_S
Heard = tuple[float, int, int, str, bool]
"""When a value is heard; its amount, version and time; and whether it is shown."""

STORIES: dict[str, tuple[list[Heard], float, int | None]] = {
    "a lower version is never shown over a higher one": (
        [(0, 100, 5, "a", True), (0, 90, 4, "b", False), (0, 120, 6, "c", True)], 0, 120,
    ),
    "of the same version the later state is shown": (
        [(0, 100, 5, "b", True), (0, 101, 5, "a", False), (0, 102, 5, "c", True)], 0, 102,
    ),
    "another state is shown though the service's clock was set back": (
        [(0, 100, 5, "b", True), (SOON_S, 101, 5, "a", False), (DOUBT_AFTER_S, 101, 5, "a", True)],
        DOUBT_AFTER_S, 101,
    ),
    "a meter of which only a lower version comes may only be late": (
        [(0, 100, 5, "a", True), (0, 90, 4, "b", False), (SOON_S, 91, 4, "c", False)], SOON_S, 100,
    ),
    "duty D1: it is soon not known": (
        [(0, 100, 5, "a", True), (0, 90, 4, "b", False), (SOON_S, 91, 4, "c", False)],
        DOUBT_AFTER_S, None,
    ),
    "it is known again when the version is back": (
        [(0, 100, 5, "a", True), (0, 90, 4, "b", False), (LONG_S, 101, 5, "c", True)], LONG_S, 101,
    ),
    "a lower version that was only late casts no doubt": (
        [(0, 100, 5, "a", True), (0, 90, 4, "b", False), (0, 120, 6, "c", True)], LONG_S, 120,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("heard", "now_s", "amount"), STORIES.values(), ids=STORIES)
def test_the_value_that_is_shown(heard: list[Heard], now_s: float, amount: int | None) -> None:
    clock_s = 0.0
    values = MeterValues(["progressive", "five_card_progressive"], clock_s=lambda: clock_s)
    assert values.hear(_value(7, 9, "a", "five_card_progressive"))
    for clock_s, cents, version, at, shown in heard:  # noqa: B007
        assert values.hear(_value(cents, version, at)) is shown
    clock_s = now_s
    found = {meter: value.amount for meter, value in values.values.items()}
    other = {"five_card_progressive": 7}
    assert found == other | ({} if amount is None else {"progressive": amount})


def test_a_meter_that_the_table_does_not_feed_is_not_kept() -> None:
    values = MeterValues(["progressive"])
    assert not values.hear(_value(100, 5, "a", "five_card_progressive"))
    assert not values.values


def _value(amount: int, version: int, at: str, meter: str = "progressive") -> MeterValue:
    return MeterValue(meter=meter, amount=amount, version=version, cycle=1, state="open", at=at)
