"""`deploy/up`: a whole floor of real parts over TLS on one machine, from one command."""

import os
import signal
import socket
import sys
from functools import partial
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.deploy.tree import DEPLOY, run_script
from tests.servers import Pitlink, eventually, require, run_pitlink
from tests.staff import Colleague
from tests.waiting import free_port

ENVIRONMENT: Final = os.environ | {"PITLINK": str(Path(sys.executable).with_name("pitlink"))}
_WITHIN_S: Final = 180.0
_ANSWERED_WITHIN_S: Final = 30.0
_PORTS: Final = 8


class Up(Pitlink):
    """A running `deploy/up`, which ends all it started; its services use two ports after `base`."""

    def __init__(self, data: Path, base: int, *options: str) -> None:
        for program in ("redis-server", "mosquitto", "prometheus"):
            require(program)
        words = ("--data", str(data), "--port", str(base), *options)
        super().__init__(
            *words, program=lambda *words: [str(DEPLOY / "up"), *words], env=ENVIRONMENT
        )
        self.config = str(data / "floor.toml")
        self.base = base

    def __exit__(self, *raised: object) -> None:
        self.stop(within_s=_WITHIN_S)
        super().__exit__(*raised)

    @property
    def words(self) -> str:
        return self.output + self.errors

    def until_up(self) -> None:
        self.until(
            lambda: "Up. Ctrl-C ends it all." in self.words, within_s=_WITHIN_S, what="all parts"
        )

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
        self.process.send_signal(signal.SIGINT)
        return self.wait(within_s=_WITHIN_S)


def free_ports() -> int:
    while True:
        base = free_port()
        try:
            for port in range(base, base + _PORTS):
                socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return base


@pytest.mark.slow
@pytest.mark.duty("D11")
def test_a_floor_over_tls_runs_and_goes_on_where_it_was(tmp_path: Path) -> None:
    """Two services share the tables' rounds. The check passes, and the ledger balances."""
    data, base = tmp_path / "up", free_ports()
    with Up(data, base, "--speed", "60") as floor:
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
        with Up(data, base) as again:
            assert again.wait(within_s=_WITHIN_S) == 1
            assert "another deploy/up runs on" in again.errors
        played = floor.meters(1)
        assert floor.end() == 0, floor.words
        assert "5 tables: " in floor.words
        assert floor.words.count("balances to the micro") == 2
    with Up(data, base, "--no-bots") as floor:
        floor.until_up()
        found = floor.meters(1)
        assert {
            meter: version >= played[meter] for meter, version in found.items()
        } == dict.fromkeys(played, True)
        assert run_pitlink("check", "--config", floor.config).returncode == 0
        assert floor.end() == 0, floor.words


@pytest.mark.slow
def test_a_part_that_ends_ends_all_and_is_named(tmp_path: Path) -> None:
    """Its port is occupied, so mosquitto does not start, and nothing keeps running."""
    base = free_ports()
    with socket.create_server(("127.0.0.1", base + 5)), Up(tmp_path / "up", base) as floor:
        assert floor.wait(within_s=_WITHIN_S) == 1
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
    done = run_script("up", *options)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
