"""The agent of a table, killed and restarted as a test likes: an unanswered line is sent again."""

import contextlib
import json
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.processes import pitlink_command
from tests.waiting import LONG_S, dies_with_us

NOT_OPERATED: Final = frozenset({"link_down", "inoperable"})
"""Codes of a link that does not operate, as for a moment on a busy machine."""


class TableAgent:
    """`pitlink table TABLE --events`: each line is answered before the next is sent."""

    def __init__(self, config: Path, table: str, log: Path) -> None:
        self.name = table
        self.log = log
        self._command = pitlink_command("table", table, "--config", str(config), "--events")
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._up = threading.Event()
        self._up.set()

    @property
    def pid(self) -> int | None:
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def kill(self) -> None:
        """Kill it with SIGKILL, and let no other run until `start`."""
        self._up.clear()
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def start(self) -> None:
        self._up.set()

    def ask(self, line: bytes) -> bytes:
        while (heard := self._say(line)) is None:
            pass
        return heard

    def end(self) -> int:
        process = self._running()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        return process.wait(LONG_S)

    def close(self) -> None:
        self._closed = True
        self.kill()
        self._up.set()
        self._drop()

    def _drop(self) -> None:
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _say(self, line: bytes) -> bytes | None:
        """Send a line and return its answer, or None if the agent was killed before it answered."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            heard = process.stdout.readline()
            if heard.endswith(b"\n"):
                return heard
        status = process.wait(LONG_S)
        assert status < 0, f"the agent of {self.name} ended by itself with {status}"
        return None

    def _running(self) -> subprocess.Popen[bytes]:
        while self._process is None or self._process.poll() is not None:
            self._up.wait()
            if self._closed:
                raise RuntimeError(f"the agent of {self.name} was closed")
            self._drop()
            with self.log.open("ab") as log:
                self._process = subprocess.Popen(
                    dies_with_us(self._command),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                )
        return self._process


def play_lines(
    config: Path, table: str, lines: Sequence[bytes], *, within_s: float
) -> list[dict[str, Any]]:
    """Send lines to a table's agent, and return the answers. Each must be accepted.

    A wager that is refused because the link did not operate is placed again, as a patron would do.
    At the end of the lines, the agent says by its status whether it refused any. It is killed if it
    needs longer than `within_s`.
    """
    agent = TableAgent(config, table, config.with_name(f"{table}.log"))
    answers: list[dict[str, Any]] = []
    refused = False
    late = threading.Timer(within_s, agent.close)
    late.start()
    try:
        while len(answers) < len(lines):
            answer = json.loads(agent.ask(lines[len(answers)]))
            if answer.get("error", {}).get("code") in NOT_OPERATED:
                refused = True
            else:
                assert answer["ok"], f"line {len(answers)} was answered {answer!r}"
                answers.append(answer)
        assert agent.end() == refused, agent.log.read_text()[-2000:]
    finally:
        late.cancel()
        agent.close()
    return answers
