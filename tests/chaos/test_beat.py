"""Without a working controller no new progressive wager is accepted, and none is lost."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

import pytest

from tests.chaos.devices import PLAYED_OUT, ROUND, Devices
from tests.mqtt.stand import Service, Stand
from tests.servers import Server, eventually

pytestmark = pytest.mark.slow

SILENCE_S: Final = 3.0
BEAT_S: Final = 1.0
BEAT: Final = "pitlink/v1/main/controller"


@contextmanager
def killed(part: Service | Server) -> Iterator[None]:
    part.kill()
    try:
        yield
    finally:
        part.start()


Fault = Callable[[Stand], AbstractContextManager[None]]
FAULTS: Final[dict[str, tuple[Fault, str]]] = {
    "service frozen": (lambda stand: stand.service.frozen(), "link_down"),
    "service killed": (lambda stand: killed(stand.service), "link_down"),
    "broker killed": (lambda stand: killed(stand.mosquitto), "link_down"),
    "Redis killed": (lambda stand: killed(stand.redis), "inoperable"),
}
"""Each failure, and the code that then refuses wagers."""


@pytest.mark.duty("D13", proof=True)
@pytest.mark.parametrize("name", FAULTS)
def test_duty_d13_wagers_are_refused_while_it_lasts_and_taken_after(
    stand: Stand, name: str
) -> None:
    """Soon after the last heartbeat, wagers get a reason and no light; later they are accepted."""
    fault, code = FAULTS[name]
    with Devices(stand.service.config, stand.table().table) as devices:
        eventually(lambda: devices.refusal() is None, what="wagers taken")
        # Begin right after a heartbeat: on a busy machine the one before may already be old.
        stand.ear.next_on(BEAT, len(stand.ear.on(BEAT)))
        began = time.monotonic()
        with fault(stand):
            eventually(lambda: devices.refusal() == code, what="refusals")
            if code == "link_down":
                assert time.monotonic() - began >= SILENCE_S - BEAT_S - 0.5
            assert devices.refusal() == code
        eventually(lambda: devices.refusal() is None, what="wagers taken again")


@pytest.mark.duty("D13", proof=True)
@pytest.mark.parametrize("name", FAULTS)
def test_a_round_under_way_waits_and_goes_on(stand: Stand, name: str) -> None:
    """Wagers accepted at lock-out count once, for any failure before the answer."""
    fault, _ = FAULTS[name]
    table = stand.table()
    before = stand.books()["main"]["accounts"]
    with Devices(stand.service.config, table.table) as devices:
        assert devices.wager(3)["ok"]
        answers = len(devices.heard())
        with fault(stand):
            devices.say("lockout")
            # The passing of time is tested here: every part must have noticed the failure, and
            # still wait.
            end = time.monotonic() + SILENCE_S + BEAT_S
            eventually(lambda: time.monotonic() > end)
            assert len(devices.heard()) == answers, "lock-out was answered without the service"
        answer = devices.answer()
        assert (answer["ok"], answer["round"]) == (True, "R1")
        devices.play(PLAYED_OUT)
    after = stand.books()["main"]["accounts"]
    key = b"meter:progressive"
    assert int(after[key]) - int(before[key]) == 100 * 1_400


@pytest.mark.section("649a.12(e)(3)")
def test_a_batch_that_redis_applies_after_the_service_died_counts_once(stand: Stand) -> None:
    """The reply is lost with the service. The table repeats the event and gets the stored reply."""
    table = stand.table()
    key = b"meter:progressive"
    with Devices(stand.service.config, table.table) as devices:
        # The first round puts the script into Redis, so Redis can run it for a service that is
        # dead.
        devices.play(f"{ROUND}; wager 3 progressive")
        answers = len(devices.heard())
        before = int(stand.books()["main"]["accounts"][key])
        heard = len(stand.ear.on(table.out))
        # Begin right after a heartbeat: seconds pass until the next one finds Redis gone and stops
        # the link.
        stand.ear.next_on(BEAT, len(stand.ear.on(BEAT)))
        stand.redis.freeze()
        try:
            devices.say("lockout")
            stand.ear.next_on(table.out, heard)
            eventually(
                lambda: "not answered" in stand.ear.on(BEAT)[-1].json["reason"],
                what="the service waiting for Redis in vain",
            )
            stand.service.process.kill()
        finally:
            stand.redis.thaw()
        eventually(lambda: stand.account("main", key) == before + 100 * 1_400, what="the batch")
        assert len(devices.heard()) == answers
        stand.service.start()
        answer = devices.answer()
        assert (answer["ok"], answer["round"]) == (True, "R2")
        devices.play(PLAYED_OUT)
    assert stand.account("main", key) == before + 100 * 1_400
    assert stand.service.audit()["balanced"]
