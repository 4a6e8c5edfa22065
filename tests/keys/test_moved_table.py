"""The steps of deploy/docs/run/move-table.md, with real servers, keys, a service and an agent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.chaos.devices import LOCKED, PLAYED_OUT, Devices
from tests.keys.floor import make_keys, with_moved_table
from tests.keys.machines import running, service_at
from tests.keys.servers import SecuredMosquitto, SecuredRedis
from tests.servers import eventually, run_pitlink
from tests.staff import PIN, Colleague, hire

BY: Final = "Ada Lane"
SECOND: Final = "Bea Moss"


class MovingFloor:
    """A floor with keys, whose table A-1 moves between the links `main` and `other`.

    The agent has the service's floor file. The service starts again after each change of it.
    """

    def __init__(self, keys: Path, broker: SecuredMosquitto, store: SecuredRedis) -> None:
        home = keys.parent
        self.keys = keys
        self.broker = broker
        self.service = service_at(home, broker, store.url)
        self.config = self.service.config
        text = self.config.read_text()
        self.texts = {"main": text, "other": with_moved_table(text)}
        self.outboxes = home / "data" / "tables"

    def serve(self, link: str) -> None:
        self.config.write_text(self.texts[link])
        self.service.launch()

    def approve(self, link: str) -> str:
        printed = ""
        for by in (BY, SECOND):
            done = run_pitlink(
                "approve", link, "--config", str(self.config), "--by", by, stdin=f"{PIN}\nyes\n"
            )
            printed += done.stdout + done.stderr
        return printed

    def renew_lists(self) -> str:
        printed = make_keys(self.config, self.keys)
        self.broker.kill()
        self.broker.take_lists(self.keys)
        self.broker.start()
        return printed

    def play(self, link: str, amount: int) -> None:
        eventually(self.service.ready, what="both links")
        before = self.service.meter(link, "progressive")["version"]
        with Devices(self.config, "A-1", plays=False) as devices:
            devices.until(
                lambda: devices.wager(3, amount=amount)["light"], what="an accepted wager"
            )
            devices.play(f"lockout; {PLAYED_OUT}")
            devices.close_input()
            devices.wait()
        eventually(
            lambda: self.service.meter(link, "progressive")["version"] > before,
            what="the meter rises",
        )


@pytest.fixture
def floor(keys: Path, mine: Path) -> Iterator[MovingFloor]:
    with SecuredMosquitto(keys) as broker, SecuredRedis(keys) as store:
        made = MovingFloor(mine, broker, store)
        with running(made.service):
            yield made


@pytest.mark.slow
@pytest.mark.duty("D12")
def test_a_table_moves_to_another_link_and_back(floor: MovingFloor) -> None:
    for name in (BY, SECOND):
        hire(floor.config, name, "supervisor")
        Colleague(floor.service.url, name)
    with Devices(floor.config, "A-1") as devices:
        devices.play(LOCKED)
        devices.close_input()
        assert devices.wait() == 0

    floor.serve("other")
    barred = "table A-1 has an open round on link main: leave the table there until the round is"
    for link in ("main", "other"):
        assert barred in floor.approve(link)
    floor.serve("main")
    eventually(floor.service.ready, what="the floor file as before")
    with Devices(floor.config, "A-1", plays=False) as devices:
        devices.until(lambda: devices.ask("void", reason="a test")["ok"], what="the void")
        devices.close_input()
        devices.wait()

    moves = (("main", "other", 500), ("other", "main", 100))
    for left, reached, amount in moves:
        floor.serve(reached)
        assert "A-1" in floor.approve(left)
        assert "A-1" in floor.approve(reached)
        assert f"unused  tables/{left}.A-1" in floor.renew_lists()
        refused = run_pitlink("table", "A-1", "--config", str(floor.config), "--events", stdin="")
        assert refused.returncode == 1
        assert f"it belongs to table A-1 of link {left}" in refused.stderr
        assert {path.name for path in floor.outboxes.glob("A-1.sqlite*")} == {"A-1.sqlite"}
        (floor.outboxes / "A-1.sqlite").rename(floor.outboxes / f"A-1.of-{left}.sqlite")
        if (kept := floor.outboxes / f"A-1.of-{reached}.sqlite").exists():
            kept.rename(floor.outboxes / "A-1.sqlite")
        floor.play(reached, amount)
    audit = run_pitlink("audit", "--config", str(floor.config))
    assert audit.returncode == 0, audit.stdout
