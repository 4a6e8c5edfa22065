"""SIGTERM ends every command, even one started with signals ignored (`nohup`) or blocked."""

import ast
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.mqtt.stand import Stand
from tests.servers import Pitlink, free_port, pitlink_command
from tests.test_tree import ROOMS, ROOT, of_room, parsed

_LINK: Final = link_text(
    "main", meter_text("progressive"), table_text("T-1", "progressive", asset="1"), name="Main"
)
_WITHOUT_END: Final = [
    ("audit",),
    ("report", "day"),
    ("archive",),
    ("check",),
    ("upgrade", "--yes"),
    ("restore", "--services-stopped", "--by", "T. Garcia", "--yes"),
    ("user", "list"),
    ("approve", "main", "--by", "Ada"),
]


class SilentRedis:
    """Server that accepts connections like Redis and never answers."""

    def __init__(self, path: Path) -> None:
        self.asked = threading.Event()
        self._connections: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._taking = threading.Thread(target=self._take, daemon=True)
        self._taking.start()

    def _take(self) -> None:
        while True:
            try:
                self._connections.append(self._listener.accept()[0])
            except OSError:
                return
            self.asked.set()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._taking.join(30)
        for each in self._connections:
            each.close()


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[SilentRedis]:
    """Yield a Redis that never answers. The floor file names it."""
    path = tmp_path / "redis.sock"
    redis = SilentRedis(path)
    _write_floor(tmp_path, f"unix://{path}")
    yield redis
    redis.close()


def _write_floor(home: Path, redis: str) -> Path:
    config = home / "floor.toml"
    service = {
        "broker": f"mqtt://127.0.0.1:{free_port()}",
        "redis": redis,
        "http": f"127.0.0.1:{free_port()}",
    }
    config.write_text(floor_text(_LINK, service=service, name="Keystone", demonstration=True))
    return config


@pytest.mark.slow
@pytest.mark.parametrize("command", _WITHOUT_END, ids=" ".join)
def test_a_command_that_waits_for_its_store_ends(
    tmp_path: Path, silent: SilentRedis, command: tuple[str, ...]
) -> None:
    with Pitlink(*command, "--config", str(tmp_path / "floor.toml"), deaf=True) as running:
        running.until(silent.asked.is_set, what="the store asked")
        assert running.stop() == -signal.SIGTERM


@pytest.mark.parametrize("command", ["settle", "user add Ada --role administrator"])
def test_a_command_that_reads_its_input_ends(tmp_path: Path, command: str) -> None:
    config = str(_write_floor(tmp_path, "embedded"))
    with Pitlink(*command.split(), "--config", config, stdin=True, deaf=True) as running:
        running.until(lambda: _hears_sigterm(running.process.pid), what="the command running")
        assert running.stop() == -signal.SIGTERM


def test_a_service_ends_in_good_order(tmp_path: Path) -> None:
    config = _write_floor(tmp_path, "embedded")
    found = re.search(r'http = "(.*)"', config.read_text())
    assert found is not None
    with Pitlink("serve", "--config", str(config), deaf=True) as service:
        service.until(
            lambda: httpx.get(f"http://{found[1]}/healthz").is_success, what="the service"
        )
        assert service.stop() == 0
        assert "service stopped" in service.errors


@pytest.mark.slow
def test_a_tables_agent_ends_in_good_order(tmp_path: Path) -> None:
    """An agent with panel and device events stops cleanly on SIGTERM, and so do bots."""
    with Stand(tmp_path) as stand:
        config = ("--config", str(stand.service.config))
        at = f"127.0.0.1:{free_port()}"
        with Pitlink("table", "T-1", *config, "--panel", "--at", at, deaf=True) as table:
            table.until(lambda: "Panel of" in table.output, what="the panel")
            assert table.stop() == 0
        with Pitlink("table", "T-1", *config, "--events", stdin=True, deaf=True) as table:
            table.write_line('{"event": "lockout"}')
            table.until(lambda: "lockout" in table.output, what="an answer")
            assert table.stop() == 0


@pytest.mark.slow
def test_bots_end_in_good_order(tmp_path: Path) -> None:
    config = str(_write_floor(tmp_path, "embedded"))
    with Pitlink("bots", "--config", config, deaf=True) as bots:
        bots.until(lambda: "broker not reached" in bots.errors, what="bots at work")
        assert bots.stop() == 0
        assert "1 table: 0 rounds" in bots.output


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


def test_child_processes_of_the_tests_receive_signals() -> None:
    """This holds even if a script runs the tests in the background."""
    script = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stdout == "False\n"


def test_signals_are_handled_in_one_place() -> None:
    """Only `meters/process` handles signals, apart from processes that own others."""
    elsewhere = {"meters/embedded/supervisor.py", "meters/embedded/amqtt_broker.py"}
    taking = {
        path.relative_to(ROOT).as_posix()
        for path in of_room(*ROOMS)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and re.fullmatch(r"signal\.signal|.*\.(add|remove)_signal_handler", ast.unparse(node.func))
    }
    assert taking - elsewhere == {"meters/process/signals.py", "meters/process/stop_signals.py"}


def _hears_sigterm(pid: int) -> bool:
    """Return whether the process runs the command and SIGTERM is not ignored or blocked."""
    if b"SIG_IGN" in Path(f"/proc/{pid}/cmdline").read_bytes():
        return False
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    masks = [int(found, 16) for found in re.findall(r"Sig(?:Blk|Ign):\s*([0-9a-f]+)", status)]
    return not any(mask >> (signal.SIGTERM - 1) & 1 for mask in masks)
