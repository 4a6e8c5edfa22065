"""Two services restarted one after the other, while tables play as fast as they can."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

import pytest

from tests.chaos.devices import LOCKED, PLAYED_OUT, Answer, Devices
from tests.controllers.floors import line_of
from tests.mqtt.events import wagers
from tests.mqtt.stand import Service, Stand
from tests.mqtt.stranger import Heard
from tests.servers import eventually

pytestmark = pytest.mark.slow

TABLES: Final = 3
BEAT: Final = "pitlink/v1/main/controller"
UNAPPROVED: Final = "not as approved"
SILENCE_S: Final = 3.0
STOPPED_WITHIN_S: Final = 60.0


class PlayedTable:
    def __init__(self, devices: Devices, hands: Executor) -> None:
        self.refused: list[Answer] = []
        self.rounds = 0
        self._devices = devices
        self._stop = threading.Event()
        self._playing = hands.submit(self._play)

    def played(self, rounds: int) -> bool:
        """Return whether it has played a number of rounds. Its error, if any, is raised here."""
        if self._playing.done():
            self._playing.result()
        return self.rounds >= rounds

    def end(self) -> None:
        self._stop.set()
        wait([self._playing], STOPPED_WITHIN_S)

    def _play_round(self) -> list[Answer]:
        """Play a round up to a refusal; return the refusals among the answers."""
        for event in LOCKED.split(";"):
            answer = self._devices.ask_line(line_of(event))
            if not answer["ok"]:
                return [answer]
        self._devices.play(PLAYED_OUT)
        return []

    def _play(self) -> None:
        while not self._stop.is_set():
            self.refused += self._play_round()
            self.rounds += 1


@pytest.fixture
def services(stand: Stand, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Service]]:
    with stand.another(tmp_path_factory.mktemp("other")) as other:
        yield [stand.service, other]


@pytest.fixture
def tables(stand: Stand, services: Sequence[Service]) -> Iterator[list[PlayedTable]]:
    agents: list[Devices] = []
    played: list[PlayedTable] = []
    hands = ThreadPoolExecutor(TABLES)
    try:
        agents += [Devices(services[0].config, stand.table().table) for _ in range(TABLES)]
        played += [PlayedTable(agent.__enter__(), hands) for agent in agents]
        yield played
    finally:
        for table in played:
            table.end()
        for agent in agents:
            agent.__exit__(None, None, None)
        hands.shutdown()


def starved(beats: Sequence[Heard]) -> bool:
    """Return whether heartbeats were too late, as on a busy machine: tables then stop."""
    moments = [datetime.fromisoformat(beat.json["at"]) for beat in beats]
    return any((b - a).total_seconds() >= SILENCE_S for a, b in pairwise(moments))


def for_silence(answer: Answer) -> bool:
    """Return whether a refusal's only reason is that no heartbeat reached the table in time."""
    error: dict[str, str] = answer["error"]
    silence = "the link is down: no heartbeat for "
    return error["code"] == "link_down" and error["message"].startswith(silence)


def more_rounds(tables: Sequence[PlayedTable], rounds: int) -> None:
    for table in tables:
        due = table.rounds + rounds
        eventually(lambda: table.played(due), what="more rounds")  # noqa: B023


def stop(service: Service) -> None:
    status = service.process.stop(within_s=STOPPED_WITHIN_S)
    assert status == 0, service.process.errors


@pytest.mark.duty("D9")
@pytest.mark.duty("D11")
@pytest.mark.duty("D13", proof=True)
@pytest.mark.duty("D14")
def test_not_one_round_is_refused(
    stand: Stand, services: Sequence[Service], tables: Sequence[PlayedTable]
) -> None:
    """No answer is a refusal, no heartbeat reports inoperable, and the ledger balances.

    This holds even if a service returns with a floor file that nobody has approved: it reports on
    its own pages that it cannot operate the link, and publishes nothing about it. If both stop
    together, each reports the link as inoperable. Then only the first returns, still with that
    file: it says why nobody operates the link, until the second returns too.
    """
    begun, meter = len(stand.ear.on(BEAT)), "pitlink/v1/main/meter/progressive"
    more_rounds(tables, 3)
    first, second = services
    stop(first)
    filed = first.config.read_text()
    with_unapproved_file(first)
    assert first.counted("pitlink_link_operable", link="main") == 0
    eventually(
        lambda: first.counted("pitlink_link_operable", link="other") == 1, what="the other link"
    )
    assert "link inoperable" in first.process.errors
    more_rounds(tables, 3)
    first.config.write_text(filed)
    for service in (first, second):
        stop(service)
        more_rounds(tables, 3)
        service.start()
        more_rounds(tables, 3)
    for table in tables:
        table.end()
    beats = stand.ear.on(BEAT)[begun:]
    assert {beat.json["state"] for beat in beats} == {"operable"}
    assert "inoperable" not in {heard.json["state"] for heard in stand.ear.on(meter)}
    refused = [answer for table in tables for answer in table.refused]
    assert [answer for answer in refused if not for_silence(answer)] == []
    assert not refused or starved(beats), refused
    found = stand.service.audit()
    assert found["balanced"], found["problems"]
    rounds = sum(table.rounds for table in tables) - len(refused)
    assert entries(stand, "wagers") == entries(stand, "result") >= rounds

    for service in services:
        service.process.process.terminate()
    for service in services:
        status = service.process.wait(within_s=STOPPED_WITHIN_S)
        assert status == 0, service.process.errors
    eventually(
        lambda: stand.ear.on(BEAT)[-1].json["reason"] == "the service was stopped",
        what="the link said to be inoperable",
    )
    eventually(lambda: stand.ear.on(meter)[-1].json["state"] == "inoperable", what="the meter too")

    with_unapproved_file(first)
    eventually(
        lambda: UNAPPROVED in stand.ear.on(BEAT)[-1].json["reason"],
        what="the only service says that it cannot",
    )
    assert first.readiness()["links"].keys() == {"main"}
    second.start()
    # The first such heartbeat may cross with one of the other service.
    eventually(lambda: states(stand)[-3:] == ["operable"] * 3, what="operable")
    back = len(stand.ear.on(BEAT))
    eventually(lambda: len(stand.ear.on(BEAT)) >= back + 3, what="three beats more")
    assert set(states(stand)[back:]) == {"operable"}
    eventually(lambda: stand.ear.on(meter)[-1].json["state"] == "open", what="the meter open")
    stand.table().accept(wagers(1))


def with_unapproved_file(service: Service) -> None:
    filed = service.config.read_text()
    service.config.write_text(filed.replace('asset = "S-1"', 'asset = "S-2"'))
    service.launch()
    service.process.until(
        lambda: UNAPPROVED in service.readiness()["links"].get("main", ""),
        what="the service up, without the link",
    )


def states(stand: Stand) -> list[str]:
    return [beat.json["state"] for beat in stand.ear.on(BEAT)]


def entries(stand: Stand, kind: str) -> int:
    ledger: list[dict[str, Any]] = stand.ledger("main")
    return sum(entry["kind"] == kind for entry in ledger)
