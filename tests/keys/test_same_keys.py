"""Two services on two machines with one bundle of keys: reported, and the older continues."""

import pytest

from tests.keys.machines import Floor, running
from tests.servers import eventually, run_pitlink
from tests.waiting import LONG_S

pytestmark = pytest.mark.slow


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
            eventually(one.ready, what="the older one ready")
            lost = one.process.errors.count("broker gone")
            assert lost <= 3
            for service in (one, two):
                eventually(lambda: "keys used twice" in service.process.errors)  # noqa: B023
                errors = service.process.errors
                assert problem in errors
                assert "pitlink keys --services N" in errors
            checked = run_pitlink("check", "--config", str(one.config))
            assert checked.returncode == 1
            assert f"FAIL  services: another `pitlink serve`, process {first} on" in checked.stdout
            eventually(lambda: two.process.errors.count("keys used twice") >= 3, within_s=LONG_S)
            assert one.process.errors.count("broker gone") == lost, "it is left alone"
            one.process.kill()
            eventually(two.ready, what="the newer one takes over once the older one is gone")
        finally:
            two.close()
