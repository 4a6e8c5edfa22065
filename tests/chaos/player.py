"""One table of a chaos run: a real `pitlink table`, with a seeded dealer in a thread."""

import contextlib
import random
import subprocess
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import UNSET

from bonus.settling.settlement_lines import Line
from controllers.table.device_events import (
    BettingLocked,
    DeviceAnswer,
    DeviceEvent,
    SettlePressed,
    VoidPressed,
    WagerPlaced,
    WagerWithdrawn,
    decode_answer,
    encode_event,
)
from controllers.table.state import Layout
from meters.wire.messages import ClaimOpened
from tests.chaos.parts import rest
from tests.games.bots import StackingBot
from tests.processes import pitlink_command
from tests.waiting import dies_with_us

_STACKED_ONE_IN: Final = 6
_LONGEST_PAUSE_S: Final = 0.15
_CLEAR_AGAIN_S: Final = 0.5
_END_WITHIN_S: Final = 60.0
_WHY_VOID: Final = "the round cannot be settled"


@dataclass(frozen=True, slots=True)
class Reported:
    """Answer to the devices about one event that went to the service."""

    kind: str
    wagered: dict[str, int] = field(default_factory=dict)
    lines: Sequence[Line] = ()
    claims: Sequence[ClaimOpened] = ()


class Player(threading.Thread):
    """Devices of a table, which deal round after round and survive a killed agent.

    A line without an answer is sent again to the next agent.
    """

    def __init__(self, layout: Layout, config: Path, log: Path, seed: int) -> None:
        super().__init__(name=layout.table, daemon=True)
        self.reported: list[Reported] = []
        self.refusals: Counter[str] = Counter()
        self.wagers = 0
        self.rounds = 0
        self.failed: BaseException | None = None
        self.starts = 0
        self.log = log
        self._rng = random.Random(f"{layout.table} {seed}")
        self._bot = StackingBot(layout, self._rng, stack_every=_STACKED_ONE_IN)
        self._command = pitlink_command("table", layout.table, "--config", str(config), "--events")
        self._process: subprocess.Popen[bytes] | None = None
        self._up = threading.Event()
        self._ending = threading.Event()
        self._lit: dict[tuple[int, str], int] = {}
        self._in_round = False
        self._with_service = False

    @property
    def pid(self) -> int | None:
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def kill(self) -> None:
        self._up.clear()
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def start(self) -> None:
        """Let an agent run; the first call also starts the thread."""
        self._up.set()
        if not self.is_alive() and self.failed is None:
            super().start()

    def finish(self) -> None:
        self._ending.set()

    def run(self) -> None:
        """Deal until asked to finish, and check that the agent ends when its input ends."""
        try:
            while not self._ending.is_set():
                self._play_round()
            self._see_off()
        except BaseException as error:
            self.failed = error
        finally:
            self._drop()

    def _play_round(self) -> None:
        play = self._bot.play_round()
        with contextlib.suppress(StopIteration):
            event = next(play)
            while True:
                if not self._ending.is_set():
                    rest(self._rng.uniform(0, _LONGEST_PAUSE_S))
                event = play.send(self._ask(event))
        self.rounds += 1
        self._clear()

    def _clear(self) -> None:
        """Void a round that could not be settled, and put out the lights of a refused lock-out."""
        while self._in_round:
            if not self._ask(VoidPressed(reason=_WHY_VOID)).ok:
                rest(_CLEAR_AGAIN_S)
        for position, wager in list(self._lit):
            self._ask(WagerWithdrawn(position=position, wager=wager))
        self._lit.clear()

    def _ask(self, event: DeviceEvent) -> DeviceAnswer:
        line = encode_event(event) + b"\n"
        while (heard := self._say(line)) is None:
            pass
        answer = decode_answer(heard)
        if answer.ok:
            self._note(event, answer)
        elif answer.error:
            self.refusals[answer.error.code] += 1
            if isinstance(event, VoidPressed) and answer.error.code == "not_locked":
                self._in_round = False
        return answer

    def _say(self, line: bytes) -> bytes | None:
        """Send a line and return its answer, or None if the agent ended before it answered."""
        process = self._agent()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
        except BrokenPipeError:
            pass
        else:
            heard = process.stdout.readline()
            if heard.endswith(b"\n"):
                return heard
        status = process.wait(_END_WITHIN_S)
        if status >= 0:
            raise AssertionError(f"the agent of {self.name} ended by itself with {status}")
        return None

    def _agent(self) -> subprocess.Popen[bytes]:
        """Return the agent; start a new one if the last was killed."""
        while self._process is None or self._process.poll() is not None:
            self._up.wait()
            self._drop()
            with self.log.open("ab") as log:
                self._process = subprocess.Popen(
                    dies_with_us(self._command),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                )
            self.starts += 1
        return self._process

    def _drop(self) -> None:
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _note(self, event: DeviceEvent, answer: DeviceAnswer) -> None:
        match event:
            case WagerPlaced():
                self._lit[event.position, event.wager] = event.amount_cents
            case WagerWithdrawn():
                self._lit.pop((event.position, event.wager), None)
            case BettingLocked():
                self._in_round = True
                if answer.round is not UNSET:
                    self.reported.append(Reported("wagers", _sums(self._lit)))
                    self.wagers += len(self._lit)
                self._with_service = answer.round is not UNSET
                self._lit.clear()
            case SettlePressed():
                self._in_round = False
                if self._with_service:
                    lines, claims = answer.lines or (), answer.claims or ()
                    self.reported.append(Reported("result", {}, lines, claims))
            case VoidPressed():
                self._in_round = False
                if self._with_service:
                    self.reported.append(Reported("void"))
            case _:
                pass

    def _see_off(self) -> None:
        process = self._agent()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        status = process.wait(_END_WITHIN_S)
        if status not in {0, 1}:
            raise AssertionError(f"the agent of {self.name} ended with {status}")


def _sums(lit: dict[tuple[int, str], int]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for (_, wager), cents in lit.items():
        sums[wager] = sums.get(wager, 0) + cents
    return sums
