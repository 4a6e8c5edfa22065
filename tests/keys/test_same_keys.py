"""Two services on two machines with one bundle of keys: reported, and the older continues."""

from typing import Final

import pytest

from tests.keys.machines import Floor, running
from tests.mqtt.stand import Service
from tests.servers import eventually, run_pitlink
from tests.waiting import LONG_S

pytestmark = pytest.mark.slow

REPORT: Final = "keys used twice"


def test_two_services_with_the_same_keys_are_named(floor: Floor) -> None:
    """The log, `check` and `/readyz` say it with what to do. Tables play on meanwhile.

    The broker closes the older of two connections with one name. Without the report, both services
    would disconnect each other again and again.
    """
    problem = "uses the same keys, service.1: stop one of the two"
    one, two = floor.service(1, "one"), floor.service(1, "two")
    with running(one):
        first = one.process.process.pid
        two.launch()
        try:
            eventually(
                lambda: f"process {first} on" in str(two.readiness()["links"]),
                what="the newer one stays away",
            )
            assert problem in two.readiness()["links"]["main"]
            eventually(lambda: problem in two.shown_controller()["reason"], what="its pages say it")
            eventually(one.ready, what="the older one ready")
            assert one.process.errors.count("broker gone") <= 3
            for service in (one, two):
                eventually(lambda: REPORT in service.process.errors)  # noqa: B023
                errors = service.process.errors
                assert problem in errors
                assert "pitlink keys --services N" in errors
            checked = run_pitlink("check", "--config", str(one.config))
            assert checked.returncode == 1
            assert f"FAIL  services: another `pitlink serve`, process {first} on" in checked.stdout
            eventually(lambda: _is_left_alone(one, two), what="the older one is left alone")
            one.process.kill()
            eventually(two.ready, what="the newer one takes over once the older one is gone")
        finally:
            two.close()


def _is_left_alone(one: Service, two: Service) -> bool:
    """Return whether `one` stays connected while `two` reports twice that it does not connect.

    On a busy machine, the notes of `one` can be so late that its name counts as free once.
    """
    lost = one.process.errors.count("broker gone")
    reported = two.process.errors.count(REPORT) + 2
    eventually(lambda: two.process.errors.count(REPORT) >= reported, within_s=LONG_S)
    return one.process.errors.count("broker gone") == lost
