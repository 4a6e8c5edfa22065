"""SIGTERM ends every command, even one started with signals ignored (`nohup`) or blocked."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import httpx
import pytest

from meters.floor.floor_file import read_floor
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.servers import Mosquitto, Pitlink, free_port, pitlink_command
from tests.test_tree import ROOMS, ROOT, of_room

_LINK: Final = link_text(
    "main", meter_text("progressive"), table_text("T-1", "progressive", asset="1"), name="Main"
)
_WITHOUT_END: Final = [
    "audit", "report day", "archive", "check", "user list",
    "approve main --by Ada", "restore --services-stopped --by Ada --yes",
]  # fmt: skip


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[socket.socket]:
    """Yield a socket that listens and never answers. The floor file names it as Redis."""
    _write_floor(tmp_path, f"unix://{tmp_path}/redis.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "redis.sock"))
        listener.listen()
        listener.settimeout(0)
        yield listener


def _write_floor(home: Path, redis: str = "embedded", broker: str = "") -> Path:
    config = home / "floor.toml"
    broker = broker or f"mqtt://127.0.0.1:{free_port()}"
    service = {"broker": broker, "redis": redis, "http": f"127.0.0.1:{free_port()}"}
    config.write_text(floor_text(_LINK, service=service, name="Keystone", demonstration=True))
    return config


@pytest.mark.slow
@pytest.mark.parametrize("command", _WITHOUT_END)
def test_a_command_that_waits_for_its_store_ends(
    tmp_path: Path, silent: socket.socket, command: str
) -> None:
    config = str(tmp_path / "floor.toml")
    with ExitStack() as stack, Pitlink(*command.split(), "--config", config, deaf=True) as running:
        running.until(
            lambda: stack.enter_context(silent.accept()[0]).fileno(), what="the store asked"
        )
        assert running.stop() == -signal.SIGTERM


@pytest.mark.parametrize("command", ["settle", "user add Ada --role administrator"])
def test_a_command_that_reads_its_input_ends(tmp_path: Path, command: str) -> None:
    config = str(_write_floor(tmp_path))
    with Pitlink(*command.split(), "--config", config, stdin=True, deaf=True) as running:
        running.until(lambda: _hears_sigterm(running.process.pid), what="the command running")
        assert running.stop() == -signal.SIGTERM


def test_a_service_ends_in_good_order(tmp_path: Path) -> None:
    config = _write_floor(tmp_path)
    at = read_floor(config).service.http
    with Pitlink("serve", "--config", str(config), deaf=True) as service:
        service.until(lambda: httpx.get(f"http://{at}/healthz").is_success, what="the service")
        assert service.stop() == 0
        assert "service stopped" in service.errors


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "working", "ended"),
    [
        ("table T-1 --panel --at 127.0.0.1:{}", "Panel of", ""),
        ("table T-1 --events", "lockout", ""),
        ("bots", "", "1 table: 0 rounds"),
    ],
)
def test_agents_and_bots_end_in_good_order(
    tmp_path: Path, shared_mosquitto: Mosquitto, command: str, working: str, ended: str
) -> None:
    config = str(_write_floor(tmp_path, broker=shared_mosquitto.url))
    words = command.format(free_port()).split()
    with Pitlink(*words, "--config", config, stdin=True, deaf=True) as agent:
        agent.write_line('{"event": "lockout"}')
        agent.until(
            lambda: "broker connected" in agent.errors and working in agent.output, what="at work"
        )
        assert agent.stop() == 0
        assert ended in agent.output


def test_an_ignored_sigint_stays_ignored() -> None:
    """Ctrl-C at a terminal does not end a command that a script runs in the background."""
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", ignoring, *pitlink_command("settle")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as settle:  # fmt: skip
        assert settle.stdin is not None
        assert settle.stdout is not None
        settle.stdin.write(b"{}\n")
        settle.stdin.flush()
        assert settle.stdout.readline()
        settle.send_signal(signal.SIGINT)
        settle.stdin.close()
        assert settle.wait(30) == 1


def test_signals_are_handled_in_one_place() -> None:
    """Only `meters/process` handles signals, apart from a process that owns another."""
    takes = re.compile(r"\bsignal\.signal\(|\.(add|remove)_signal_handler\(")
    taking = {
        path.relative_to(ROOT).as_posix()
        for path in of_room(*ROOMS)
        if takes.search(path.read_text(encoding="utf-8"))
    }
    assert taking == {"meters/process/signals.py", "meters/embedded/supervisor.py"}


def _hears_sigterm(pid: int) -> bool:
    """Return whether the process runs the command and SIGTERM is not ignored or blocked."""
    if b"SIG_IGN" in Path(f"/proc/{pid}/cmdline").read_bytes():
        return False
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    masks = [int(found, 16) for found in re.findall(r"Sig(?:Blk|Ign):\s*([0-9a-f]+)", status)]
    return not any(mask >> (signal.SIGTERM - 1) & 1 for mask in masks)
