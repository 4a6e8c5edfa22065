"""Decision to publish a meter's value, from the values received on the topic."""

import msgspec
import pytest

import meters.service.meter_topics
from meters.service.meter_topics import BACK_WITHIN_S, PATIENCE_S, SPEAKS_FOR_S, MeterTopics
from meters.wire.messages import MeterValue

AT = "2026-11-20T02:14:07.250Z"


def value(version: int, state: str = "open", meter: str = "progressive") -> MeterValue:
    fields = {"meter": meter, "amount": 100_000 + version, "version": version, "cycle": 1}
    return msgspec.convert(fields | {"state": state, "at": AT}, MeterValue)


class Service:
    """A service's meter topics, with a clock that the test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 100.0
        self.topics = MeterTopics()
        monkeypatch.setattr(meters.service.meter_topics, "_now_s", lambda: self.now_s)

    def says(self, meter: MeterValue) -> None:
        self.topics.note_posted(meter, msgspec.json.encode(meter))

    def hears(self, meter: MeterValue, *, retained: bool = False) -> bool:
        return self.topics.hear(msgspec.json.encode(meter), retained=retained)

    def wait_s(self, meter: MeterValue, since: int | None = None) -> float | None:
        return self.topics.wait_s(meter, self.topics.heard if since is None else since)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    return Service(monkeypatch)


def test_a_service_that_receives_nothing_publishes_each_change_immediately(
    service: Service,
) -> None:
    for version in (1, 2, 3):
        assert service.wait_s(value(version)) == 0.0
        service.says(value(version))
        assert service.wait_s(value(version)) is None
    assert service.topics.ours("progressive") == value(3)


def test_what_was_read_before_a_newer_one_was_heard_is_not_published(service: Service) -> None:
    since = service.topics.heard
    service.hears(value(12))
    assert service.wait_s(value(10), since) is None
    service.now_s += 10 * SPEAKS_FOR_S
    assert service.wait_s(value(10), since) is None


def test_what_the_books_say_after_it_was_heard_is_published_though_it_is_lower(
    service: Service,
) -> None:
    """The topic has a value of other books, as after a restore. The books are right."""
    service.hears(value(5_000), retained=True)
    assert service.wait_s(value(10)) == 0.0


def test_a_value_that_the_topic_has_is_not_published_again(service: Service) -> None:
    service.hears(value(10), retained=True)
    assert service.wait_s(value(10)) is None
    assert service.wait_s(value(10, "pending")) == 0.0


def test_the_topic_is_left_to_another_that_speaks_and_keeps_up(service: Service) -> None:
    for version in range(10, 60):
        service.hears(value(version))
        wait_s = service.wait_s(value(version + 3))
        assert wait_s is not None
        assert 0 < wait_s <= PATIENCE_S[1]
        service.now_s += 0.1


def test_another_that_falls_behind_is_not_waited_for_longer_than_patience_lasts(
    service: Service,
) -> None:
    service.hears(value(10))
    wait_s = service.wait_s(value(20))
    assert wait_s is not None
    service.now_s += wait_s / 2
    service.hears(value(19))
    assert service.wait_s(value(20)) == pytest.approx(wait_s / 2)
    service.now_s += wait_s / 2 + 0.001
    assert service.wait_s(value(25)) == 0.0


def test_another_that_has_fallen_silent_is_not_waited_for(service: Service) -> None:
    service.hears(value(10))
    service.now_s += SPEAKS_FOR_S
    assert service.wait_s(value(11)) == 0.0


def test_one_value_is_under_way_at_a_time_and_the_newest_follows(service: Service) -> None:
    """A broker that accepts nothing for a while then has no queue of old values."""
    service.hears(value(9), retained=True)
    service.says(value(10))
    assert service.wait_s(value(11)) == pytest.approx(BACK_WITHIN_S)
    assert service.hears(value(10)), "another waits: the books are read again"
    assert service.wait_s(value(14)) == 0.0
    service.says(value(14))
    assert not service.hears(value(14)), "nothing waits"


def test_a_value_that_does_not_come_back_holds_nothing_up_for_long(service: Service) -> None:
    service.hears(value(9), retained=True)
    service.says(value(10))
    service.now_s += BACK_WITHIN_S
    assert service.wait_s(value(11)) == 0.0


def test_a_topic_that_went_back_is_put_right(service: Service) -> None:
    service.hears(value(12))
    assert service.hears(value(11)), "the books are read again"
    wait_s = service.wait_s(value(12))
    assert wait_s is not None
    service.now_s += wait_s + 0.001
    assert service.wait_s(value(12)) == 0.0


def test_a_late_value_of_another_is_overtaken_by_ours_on_its_way(service: Service) -> None:
    service.says(value(12))
    assert not service.hears(value(11))
    assert service.wait_s(value(12)) is None
    assert not service.hears(value(12))
    assert service.topics.ours("progressive") == value(12)
    assert service.wait_s(value(13)) == 0.0


def test_another_that_says_inoperable_is_answered_immediately(service: Service) -> None:
    assert service.hears(value(12, "inoperable"))
    assert service.wait_s(value(12)) == 0.0


def test_what_cannot_be_played_is_said_of_the_newest_version(service: Service) -> None:
    service.hears(value(15))
    assert service.topics.newest(value(12)) == value(15)
    assert service.topics.newest(value(16)) == value(16)
    meter = value(15, "inoperable")
    assert service.topics.wait_s(meter, service.topics.heard, urgent=True) == 0.0


def test_a_new_connection_knows_nothing_of_the_topics(service: Service) -> None:
    service.says(value(12))
    service.topics.forget()
    assert service.topics.ours("progressive") is None
    assert service.wait_s(value(12)) == 0.0


@pytest.mark.parametrize("payload", [b"", b"{}", b"\xff", b'{"meter":"progressive"}'])
def test_what_is_no_value_is_passed_over(service: Service, payload: bytes) -> None:
    assert not service.topics.hear(payload, retained=False)
    assert service.topics.heard == 0


def test_meters_do_not_wait_for_each_other(service: Service) -> None:
    service.hears(value(12))
    service.says(value(3, meter="high"))
    assert service.wait_s(value(13)) != 0.0
    assert service.wait_s(value(5, meter="five_of_six_progressive")) == 0.0
