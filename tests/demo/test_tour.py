"""The tour of the demonstration: without a terminal, and at one with a visitor who takes part."""

import os
import pty
import select
import subprocess
from pathlib import Path
from typing import Self

import httpx

from meters.floor.facility import PUBLIC_PIN
from tests.demo.test_demo import ports, rounds_in
from tests.processes import pitlink_command, run_pitlink
from tests.staff import Colleague
from tests.waiting import LONG_S, dies_with_us, free_port

STEPS = (
    "Light", "Lock-out", "Chip count", "Cards", "Win", "Validation", "Payout slip", "Payment",
    "Audit",
)  # fmt: skip


def tour(port: int, data: Path) -> list[str]:
    return ["demo", "--tour", "--tables", "1", "--speed", "50", *ports(port), "--data", str(data)]


def test_tour_shows_a_jackpot_from_its_light_to_its_audit(tmp_path: Path) -> None:
    done = run_pitlink(*tour(free_port(), tmp_path), timeout_s=3 * LONG_S)
    assert done.returncode == 0, done.stdout + done.stderr
    assert_shown(done.stdout)
    assert "Flo looked at the cards" in done.stdout
    assert "Fred recorded the payment with slip TOUR-" in done.stdout
    assert (tmp_path / "tour-slip.pdf").read_bytes().startswith(b"%PDF")
    own = [one for one in rounds_in(tmp_path) if one["positions"][0]["patron"] == "Visitor"]
    assert [one["positions"][0]["cards"] for one in own] == [["As", "Ks", "Qs"]]


def test_tour_goes_on_with_enter_and_after_the_visitor_and_begins_again(tmp_path: Path) -> None:
    """Ctrl-C while the win is unpaid leaves a held table, which the next tour frees."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with Terminal(*tour(port, tmp_path)) as terminal:
        for step in STEPS[:4]:
            terminal.read_until(step)
            terminal.read_until("Press Enter to go on.")
            terminal.write("\n")
        terminal.read_until("Press Enter to go on.")
        claims = httpx.get(f"{url}/api/v1/claims", timeout=LONG_S).json()
        (claim,) = (one["claim"] for one in claims if one["table"] == "TCP-00")
        Colleague(url, "Fred", PUBLIC_PIN).decide(claim, "validate")
        terminal.read_until("You did the next step yourself.")
        terminal.read_until("Fred looked at the cards")
        terminal.read_until("Press Enter to go on.")
        terminal.write("\x03")
        shown = terminal.read_until("settle --config")
        assert "The ledger balances to the micro" in shown
        assert "Payout slip" not in shown
        assert terminal.process.wait(LONG_S) == 0
    done = run_pitlink(*tour(free_port(), tmp_path), timeout_s=3 * LONG_S)
    assert done.returncode == 0, done.stdout + done.stderr
    assert_shown(done.stdout)


def assert_shown(output: str) -> None:
    places = [output.find(f"\n{number}. {step}\n") for number, step in enumerate(STEPS, 1)]
    assert -1 not in places
    assert places == sorted(places)
    assert "The ledger balances to the micro" in output
    assert "with the same results to the cent" in output


class Terminal:
    """A command at a terminal of its own, to which a person types."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        # The terminal must be the process's own, or Ctrl-C does not reach it.
        self.process = subprocess.Popen(
            dies_with_us(["setsid", "--ctty", *pitlink_command(*arguments)]),
            stdin=theirs, stdout=theirs, stderr=theirs,
        )  # fmt: skip
        os.close(theirs)
        self._unread = ""

    def write(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def read_until(self, text: str) -> str:
        """Return what was shown since the last read, up to the text; fail if it does not come."""
        while text not in self._unread:
            ready, _, _ = select.select([self._ours], [], [], LONG_S)
            assert ready, f"no {text!r} in {self._unread}"
            try:
                self._unread += os.read(self._ours, 4096).decode(errors="replace")
            except OSError:
                raise AssertionError(f"ended without {text!r}: {self._unread}") from None
        shown, _, self._unread = self._unread.partition(text)
        return shown

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
