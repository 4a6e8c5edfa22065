"""One table of a chaos run: a real `pitlink table`, with a seeded dealer in a thread."""

import contextlib
import random
import threading
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
from tests.chaos.driven import TableAgent
from tests.chaos.parts import rest
from tests.games.bots import StackingBot

_STACKED_ONE_IN: Final = 6
_LONGEST_PAUSE_S: Final = 0.15
_CLEAR_AGAIN_S: Final = 0.5
_WHY_VOID: Final = "the round cannot be settled"


@dataclass(frozen=True, slots=True)
class Reported:
    """Answer to the devices about one event that went to the service."""

    kind: str
    wagered: dict[str, int] = field(default_factory=dict)
    lines: tuple[Line, ...] = ()
    claims: tuple[ClaimOpened, ...] = ()


class Player(threading.Thread):
    """Devices of a table, which deal round after round and survive a killed agent."""

    def __init__(self, layout: Layout, config: Path, log: Path, seed: int) -> None:
        super().__init__(name=layout.table, daemon=True)
        self.reported: list[Reported] = []
        self.wagers = 0
        self.rounds = 0
        self.failed: BaseException | None = None
        self.agent = TableAgent(config, layout.table, log)
        self.agent.kill()  # it runs from `start` on
        self._rng = random.Random(f"{layout.table} {seed}")
        self._bot = StackingBot(layout, self._rng, stack_every=_STACKED_ONE_IN)
        self._ending = threading.Event()
        self._lit: dict[tuple[int, str], int] = {}
        self._in_round = False
        self._with_service = False

    @property
    def pid(self) -> int | None:
        return self.agent.pid

    def kill(self) -> None:
        self.agent.kill()

    def start(self) -> None:
        """Let an agent run; the first call also starts the thread."""
        self.agent.start()
        if not self.is_alive() and self.failed is None:
            super().start()

    def finish(self) -> None:
        self._ending.set()

    def run(self) -> None:
        """Deal until asked to finish, and check that the agent ends when its input ends."""
        try:
            while not self._ending.is_set():
                self._play_round()
            status = self.agent.end()
            assert status in {0, 1}, f"the agent of {self.name} ended with {status}"
        except BaseException as error:
            self.failed = error
        finally:
            self.agent.close()

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
        answer = decode_answer(self.agent.ask(encode_event(event)))
        if answer.ok:
            self._note(event, answer)
        elif answer.error and isinstance(event, VoidPressed) and answer.error.code == "not_locked":
            self._in_round = False
        return answer

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
                    lines, claims = tuple(answer.lines or ()), tuple(answer.claims or ())
                    self.reported.append(Reported("result", {}, lines, claims))
            case VoidPressed():
                self._in_round = False
                if self._with_service:
                    self.reported.append(Reported("void"))
            case _:
                pass


def _sums(lit: dict[tuple[int, str], int]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for (_, wager), cents in lit.items():
        sums[wager] = sums.get(wager, 0) + cents
    return sums
