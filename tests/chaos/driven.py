"""A table agent driven by a thread: after a kill it continues with the first unanswered line."""

import json
import threading
from pathlib import Path
from typing import Any

from tests.servers import Pitlink, eventually

ANSWER_WITHIN_S = 60.0


class DrivenTable:
    """`pitlink table TABLE --events`; each line is sent when the one before is answered."""

    def __init__(self, config: Path, table: str, lines: list[bytes]) -> None:
        self.table = table
        self.answers: list[dict[str, Any]] = []
        self._config = config
        self._lines = lines
        self._failed: BaseException | None = None
        self._kill = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name=table)

    @property
    def done(self) -> bool:
        """True if every line has its answer. An error of the thread is raised here."""
        if self._failed is not None:
            raise RuntimeError(f"{self.table}: {self._failed}") from self._failed
        return len(self.answers) == len(self._lines)

    @property
    def _struck(self) -> bool:
        return self._stopped or self._kill.is_set()

    def start(self) -> None:
        self._thread.start()

    def kill(self) -> None:
        """Have the agent killed with SIGKILL in any state, and restarted."""
        self._kill.set()

    def stop(self) -> None:
        """Have the agent ended wherever it is, and wait for the thread to end."""
        self._stopped = True
        self._kill.set()
        self._thread.join(ANSWER_WITHIN_S)

    def _run(self) -> None:
        try:
            while len(self.answers) < len(self._lines) and not self._stopped:
                self._kill.clear()
                self._feed_one_agent()
        except BaseException as error:
            self._failed = error

    def _feed_one_agent(self) -> None:
        """Feed one process until the lines end or the process is to be killed."""
        with Pitlink(
            "table", self.table, "--config", str(self._config), "--events", stdin=True
        ) as agent:
            heard = 0
            while len(self.answers) < len(self._lines) and not self._struck:
                agent.write_line(self._lines[len(self.answers)])
                eventually(
                    lambda heard=heard: (  # type: ignore[misc]
                        self._struck or agent.output.count("\n") > heard
                    ),
                    within_s=ANSWER_WITHIN_S,
                    what=f"the answer to line {len(self.answers)} of {self.table}",
                )
                if agent.output.count("\n") > heard:
                    self._note(agent.output.splitlines()[heard])
                    heard += 1
            agent.kill()
            # Answers written before the kill count, because the driver may have read them.
            for line in agent.output.split("\n")[heard:-1]:
                self._note(line)

    def _note(self, line: str) -> None:
        """Record an answer. Retry a wager if the link was not operable, as a patron would."""
        answer: dict[str, Any] = json.loads(line)
        code = answer.get("error", {}).get("code")
        if code in {"link_down", "inoperable"}:
            return
        if not answer["ok"]:
            raise AssertionError(f"line {len(self.answers)} was answered {line}")
        self.answers.append(answer)
