"""One table of a chaos run: a real `pitlink table`, with a seeded dealer in a thread."""

import contextlib
import random
import threading
from pathlib import Path
from typing import Final

from msgspec import UNSET

from controllers.demo.dealer_bots import DealerBot
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
from tests.chaos.driven import TableAgent
from tests.chaos.parts import rest

_STACKED_ONE_IN: Final = 6
_LONGEST_PAUSE_S: Final = 0.15
_CLEAR_AGAIN_S: Final = 0.5
_WHY_VOID: Final = "the round cannot be settled"


class Player(threading.Thread):
    def __init__(self, layout: Layout, config: Path, log: Path, seed: int) -> None:
        super().__init__(name=layout.table, daemon=True)
        self.answers: list[tuple[DeviceEvent, DeviceAnswer]] = []
        self.rounds = 0
        self.failed: BaseException | None = None
        self.agent = TableAgent(config, layout.table, log)
        self.agent.kill()  # it runs once it is started
        self._rng = random.Random(f"{layout.table} {seed}")
        self._bot = DealerBot(layout, self._rng, stack_every=_STACKED_ONE_IN)
        self._ending = threading.Event()
        self._lit: set[tuple[int, str]] = set()
        self._in_round = False

    @property
    def plays(self) -> bool:
        """Whether the service has accepted wagers of the table."""
        return any(
            isinstance(event, BettingLocked) and answer.ok and answer.round is not UNSET
            for event, answer in self.answers
        )

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
        self.answers.append((event, answer))
        if answer.ok:
            self._note(event)
        elif answer.error and isinstance(event, VoidPressed) and answer.error.code == "not_locked":
            self._in_round = False
        return answer

    def _note(self, event: DeviceEvent) -> None:
        match event:
            case WagerPlaced():
                self._lit.add((event.position, event.wager))
            case WagerWithdrawn():
                self._lit.discard((event.position, event.wager))
            case BettingLocked():
                self._in_round = True
                self._lit.clear()
            case SettlePressed() | VoidPressed():
                self._in_round = False
            case _:
                pass
