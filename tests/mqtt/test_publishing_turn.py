"""Decision to publish a meter's value, from the values received on the topic."""

import msgspec
import pytest

import meters.service.publishing_turn
from meters.service.publishing_turn import BACK_WITHIN_S, PATIENCE_S, SPEAKS_FOR_S, MeterTurns
from meters.wire.messages import MeterValue

AT = "2026-11-20T02:14:07.250Z"


def value(version: int, state: str = "open", meter: str = "progressive") -> MeterValue:
    fields = {"meter": meter, "amount": 100_000 + version, "version": version, "cycle": 1}
    return msgspec.convert(fields | {"state": state, "at": AT}, MeterValue)


class Service:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 100.0
        self.topics = MeterTurns()
        self._read = 0
        self._wait_s: float | None = None
        monkeypatch.setattr(meters.service.publishing_turn, "_now_s", lambda: self.now_s)

    def play(self, story: str) -> None:
        """Play a story.

        ``says 10``: this service publishes version 10. ``hears 10``: another one does, or its own
        comes back; with ``again``, the books are read again; with ``kept``, it was retained.
        ``reads``: the books are read here, for each version that is due after it.
        ``due 10 now``, ``later`` or ``never``: when version 10 is published.
        ``waits 5``: so many seconds pass, or as many as the last ``due`` said.
        """
        for step in (part.strip() for part in story.replace("\n", ";").split(";")):
            match step.split():
                case ["says", version, *rest]:
                    meter = value(int(version), *rest)
                    self.topics.note_posted(meter, msgspec.json.encode(meter))
                case ["hears", version, *rest]:
                    state = [each for each in rest if each not in {"again", "kept"}]
                    payload = msgspec.json.encode(value(int(version), *state))
                    again = self.topics.hear(payload, retained="kept" in rest)
                    assert again is ("again" in rest), step
                case ["reads"]:
                    self._read = self.topics.heard
                case ["due", version, *state, when]:
                    read = self._read if "reads" in story else self.topics.heard
                    self._wait_s = self.topics.wait_s(value(int(version), *state), read)
                    assert _named(self._wait_s) == when, step
                case ["waits", *seconds]:
                    self.now_s += float(seconds[0]) if seconds else (self._wait_s or 0) + 0.001
                case ["ours", version]:
                    assert self.topics.ours("progressive") == value(int(version)), step


def _named(wait_s: float | None) -> str:
    return "never" if wait_s is None else "now" if wait_s == 0 else "later"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    return Service(monkeypatch)


STORIES = {
    "each change is published immediately by a service that receives nothing": """
        due 1 now; says 1; due 1 never; due 2 now; says 2; due 2 never; due 3 now; says 3; ours 3
    """,
    "what was read before a newer one was heard is not published": f"""
        reads; hears 12; due 10 never; waits {10 * SPEAKS_FOR_S}; due 10 never
    """,
    "what the books say after a restore is published, though it is lower": """
        hears 5000 kept; due 10 now
    """,
    "a value that the topic has is not published again": """
        hears 10 kept; due 10 never; due 10 pending now
    """,
    "another that has fallen silent is not waited for": f"""
        hears 10; waits {SPEAKS_FOR_S}; due 11 now
    """,
    "one value is under way at a time, and the newest follows": """
        hears 9 kept; says 10; due 11 later; hears 10 again; due 14 now; says 14; hears 14
    """,
    "a value that does not come back holds nothing up for long": f"""
        hears 9 kept; says 10; waits {BACK_WITHIN_S}; due 11 now
    """,
    "a topic that went back is put right": """
        hears 12; hears 11 again; due 12 later; waits; due 12 now
    """,
    "a late value of another is overtaken by ours on its way": """
        says 12; hears 11; due 12 never; hears 12; ours 12; due 13 now
    """,
    "another that says inoperable is answered immediately": "hears 12 inoperable again; due 12 now",
    "meters do not wait for each other": """
        hears 12; says 3 open high; due 13 later; due 5 open five_of_six_progressive now
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_value_is_published_when_it_is_due(service: Service, story: str) -> None:
    service.play(story)


def test_the_topic_is_left_to_another_that_speaks_and_keeps_up(service: Service) -> None:
    for version in range(10, 60):
        service.play(f"hears {version}; due {version + 3} later; waits 0.1")


def test_the_wait_for_another_ends_at_one_moment(service: Service) -> None:
    """A value that comes meanwhile and falls behind does not prolong it."""
    service.play("hears 10")
    wait_s = service.topics.wait_s(value(20), service.topics.heard)
    assert wait_s is not None
    assert wait_s <= PATIENCE_S[1]
    service.play(f"waits {wait_s / 2}; hears 19")
    assert service.topics.wait_s(value(20), service.topics.heard) == pytest.approx(wait_s / 2)
    service.play(f"waits {wait_s / 2 + 0.001}; due 25 now")


def test_what_cannot_be_played_is_said_of_the_newest_version(service: Service) -> None:
    service.play("hears 15")
    assert service.topics.newest(value(12)) == value(15)
    assert service.topics.newest(value(16)) == value(16)
    meter = value(15, "inoperable")
    assert service.topics.wait_s(meter, service.topics.heard, urgent=True) == 0.0


def test_a_new_connection_knows_nothing_of_the_topics(service: Service) -> None:
    service.play("says 12")
    service.topics.forget()
    assert service.topics.ours("progressive") is None
    service.play("due 12 now")


@pytest.mark.parametrize("payload", [b"", b"{}", b"\xff", b'{"meter":"progressive"}'])
def test_what_is_no_value_is_passed_over(service: Service, payload: bytes) -> None:
    assert not service.topics.hear(payload, retained=False)
    assert service.topics.heard == 0
