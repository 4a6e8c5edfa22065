"""A service that cannot operate a link, next to one that can: tables follow the one that can."""

from collections.abc import Iterator

import pytest

from tests.mqtt.events import result, wagers
from tests.mqtt.stand import Service, Stand
from tests.mqtt.stranger import Heard
from tests.servers import eventually

pytestmark = pytest.mark.slow

TABLES = 12
BEAT = "pitlink/v1/main/controller"
WHY = "not as approved"


@pytest.fixture
def unable(stand: Stand, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Yield a second service, on a floor file whose link `main` nobody has approved."""
    service = stand.another(tmp_path_factory.mktemp("unable"))
    filed = service.config.read_text()
    service.config.write_text(filed.replace('asset = "S-1"', 'asset = "S-2"'))
    try:
        service.launch()
        service.process.until(
            lambda: WHY in reasons(service).get("main", "") and "other" not in reasons(service),
            what="the second service up, without main",
        )
        yield service
    finally:
        service.close()


def reasons(service: Service) -> dict[str, str]:
    """Return the links that a service cannot operate, according to its own pages."""
    found: dict[str, str] = service.readiness()["links"]
    return found


def beats(stand: Stand, after: int) -> list[Heard]:
    return stand.ear.on(BEAT)[after:]


def states(stand: Stand, after: int) -> list[str]:
    return [beat.json["state"] for beat in beats(stand, after)]


@pytest.mark.duty("D9")
@pytest.mark.duty("D13")
@pytest.mark.duty("D14")
def test_what_one_cannot_do_the_other_does_unnoticed(stand: Stand, unable: Service) -> None:
    """It reports its state on its own pages. It gets no events and publishes nothing as inoperable.

    Once nobody operates the link, it reports that. Once a service operates it, that is reported
    immediately.
    """
    begun = len(stand.ear.on(BEAT))
    assert WHY in reasons(unable)["main"]
    assert unable.counted("pitlink_link_operable", link="main") == 0
    eventually(
        lambda: unable.counted("pitlink_link_operable", link="other") == 1, what="the other link"
    )
    assert "link inoperable" in unable.process.errors
    tables = [stand.table() for _ in range(TABLES)]
    for table in tables:
        table.publish(wagers(1))
    for table in tables:
        assert stand.ear.next_on(table.into).json["status"] == "accepted"
    eventually(lambda: len(beats(stand, begun)) >= 3, what="three beats")
    assert set(states(stand, begun)) == {"operable"}
    meter = "pitlink/v1/main/meter/progressive"
    assert "inoperable" not in {heard.json["state"] for heard in stand.ear.on(meter)}

    stand.service.process.kill()
    eventually(
        lambda: WHY in beats(stand, begun)[-1].json["reason"],
        what="the last one left says that it cannot",
    )
    eventually(
        lambda: unable.readiness()["links"].keys() == {"main"}, what="the other link goes on"
    )
    stand.service.start()
    # The first such heartbeat may cross with one of the other service, which has not received it
    # yet.
    eventually(lambda: states(stand, begun)[-3:] == ["operable"] * 3, what="operable")
    back = len(stand.ear.on(BEAT))
    eventually(lambda: len(beats(stand, back)) >= 3, what="three beats more")
    assert set(states(stand, back)) == {"operable"}
    eventually(lambda: stand.ear.on(meter)[-1].json["state"] == "open", what="the meter open")
    tables[0].accept(result(2))
