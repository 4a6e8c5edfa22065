"""`deploy/up`: a whole floor of real parts over TLS on one machine, from one command."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.servers import eventually, require, run_pitlink
from tests.staff import Colleague
from tests.waiting import dies_with_us, free_port

UP: Final = Path(__file__).parents[2] / "deploy" / "up"
PITLINK: Final = Path(sys.executable).with_name("pitlink")
_STARTED_WITHIN_S: Final = 180.0
_ENDED_WITHIN_S: Final = 180.0
_ANSWERED_WITHIN_S: Final = 30.0
_PORTS: Final = 8


class Up:
    """A running `deploy/up`.

    Attributes:
        base: the first of its ports; the services use the next two.
    """

    def __init__(self, data: Path, base: int, *options: str) -> None:
        self.data = data
        self.base = base
        self._words = data.with_suffix(".out")
        with self._words.open("wb") as output:
            self.process = subprocess.Popen(
                dies_with_us([str(UP), "--data", str(data), "--port", str(base), *options]),
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env={**os.environ, "PITLINK": str(PITLINK)},
            )  # fmt: skip

    @property
    def words(self) -> str:
        return self._words.read_text(errors="replace")

    @property
    def config(self) -> str:
        return str(self.data / "floor.toml")

    def until_up(self) -> None:

        def is_up() -> bool:
            assert self.process.poll() is None, self.words
            return "Up. Ctrl-C ends it all." in self.words

        eventually(is_up, within_s=_STARTED_WITHIN_S, what="all parts")

    def meters(self, service: int) -> dict[tuple[str, str], int]:
        answer = httpx.get(
            f"http://127.0.0.1:{self.base + service}/api/v1/meters", timeout=_ANSWERED_WITHIN_S
        )
        return {(each["link"], each["meter"]): each["version"] for each in answer.json()}

    def has_come_to(self, service: int, versions: dict[tuple[str, str], int]) -> bool:
        """Return whether a service shows exactly these meters, at these versions or later ones."""
        shown = self.meters(service)
        return shown.keys() == versions.keys() and all(
            shown[meter] >= version for meter, version in versions.items()
        )

    def scraped(self) -> int:
        answer = httpx.get(
            f"http://127.0.0.1:{self.base + 6}/api/v1/query", params={"query": "sum(up)"},
            timeout=_ANSWERED_WITHIN_S,
        )  # fmt: skip
        found = answer.json()["data"]["result"]
        return int(found[0]["value"][1]) if found else 0

    def end(self) -> int:
        """End it as Ctrl-C does, and return its exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(_ENDED_WITHIN_S)


@contextmanager
def up(data: Path, base: int, *options: str) -> Iterator[Up]:
    """Run it; on exit end everything that it started."""
    running = Up(data, base, *options)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.terminate()
            running.process.wait(_ENDED_WITHIN_S)


def free_ports() -> int:
    while True:
        base = free_port()
        try:
            for port in range(base, base + _PORTS):
                socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return base


@pytest.fixture
def servers() -> None:
    """Return the system's own servers, which it starts."""
    for program in ("redis-server", "mosquitto", "prometheus"):
        require(program)


@pytest.mark.slow
@pytest.mark.duty("D11")
@pytest.mark.usefixtures("servers")
def test_a_floor_over_tls_runs_and_goes_on_where_it_was(tmp_path: Path) -> None:
    """Two services share the tables' rounds. The check passes, and the ledger balances."""
    data, base = tmp_path / "up", free_ports()
    with up(data, base, "--speed", "60") as floor:
        floor.until_up()
        assert "FAIL" not in floor.words
        for line in ("ok    keys: ", "ok    redis: keeps every write", "ok    broker: answers at"):
            assert line in floor.words
        before = floor.meters(1)
        eventually(
            lambda: sum(floor.meters(1).values()) > sum(before.values()) + 8,
            within_s=120, what="rounds of the bots",
        )  # fmt: skip
        # Rounds continue meanwhile, so each service must reach the versions that the other showed.
        for one, other in ((1, 2), (2, 1)):
            shown = floor.meters(one)
            eventually(partial(floor.has_come_to, other, shown), what="both services alike")
        eventually(lambda: floor.scraped() == 3, within_s=60, what="services and tables scraped")
        Colleague(f"http://127.0.0.1:{base + 2}", "Ada", "135790")
        again = subprocess.run(
            [UP, "--data", data, "--port", str(base)], env={**os.environ, "PITLINK": str(PITLINK)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (again.returncode, "another deploy/up runs on" in again.stderr) == (1, True)
        played = floor.meters(1)
        assert floor.end() == 0, floor.words
    assert "5 tables: " in floor.words
    assert floor.words.count("balances to the micro") == 2
    with up(data, base, "--no-bots") as floor:
        floor.until_up()
        found = floor.meters(1)
        assert {
            meter: version >= played[meter] for meter, version in found.items()
        } == dict.fromkeys(played, True)
        assert run_pitlink("check", "--config", floor.config).returncode == 0
        assert floor.end() == 0, floor.words


@pytest.mark.slow
@pytest.mark.usefixtures("servers")
def test_a_part_that_ends_ends_all_and_is_named(tmp_path: Path) -> None:
    """Its port is occupied, so mosquitto does not start, and nothing keeps running."""
    base = free_ports()
    with socket.create_server(("127.0.0.1", base + 5)), up(tmp_path / "up", base) as floor:
        assert floor.process.wait(_STARTED_WITHIN_S) == 1
        assert "up: redis has ended." in floor.words
        assert "Address already in use" in floor.words


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--port", "0"], 1, "the first of eight ports"),
        (["--port", "http"], 1, "the first of eight ports"),
        (["--floor", "none.toml"], 1, "none.toml cannot be read"),
        (["--data"], 1, "--data needs a value"),
        (["--help"], 2, "deploy/up [--floor FLOOR.toml]"),
    ],
)
def test_wrong_options_are_refused_in_words(options: list[str], status: int, said: str) -> None:
    done = subprocess.run([UP, *options], capture_output=True, text=True, check=False)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
