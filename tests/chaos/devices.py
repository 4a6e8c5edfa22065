import json
from pathlib import Path
from typing import Any, Final, Self

from tests.controllers.floors import line_of
from tests.servers import Pitlink
from tests.waiting import LONG_S

Answer = dict[str, Any]
LOCKED: Final = "wager 3 progressive; lockout"
PLAYED_OUT: Final = "chips 1; hand 3 2h 7d 9c; dealer 3h 8d Kc; settle"
"""Events after which a locked round of position 3 has ended without a win."""
ROUND: Final = f"{LOCKED}; {PLAYED_OUT}"


class Devices(Pitlink):
    """`pitlink table TABLE --events`; each line is answered before the next is sent."""

    def __init__(self, config: Path, table: str, *, plays: bool = True) -> None:
        super().__init__("table", table, "--config", str(config), "--events", stdin=True)
        self._said = 0
        self._plays = plays

    def __enter__(self) -> Self:
        """Wait until the table accepts wagers: on a busy machine the link may be late at first."""
        if self._plays:
            self.until(lambda: self.refusal() is None, what="the table open")
        return self

    def say(self, event: str, **fields: object) -> None:
        self.write_line(json.dumps({"event": event, **fields}))
        self._said += 1

    def heard(self) -> list[Answer]:
        text = self.output
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def answer(self, *, within_s: float = LONG_S) -> Answer:
        self.until(
            lambda: len(self.heard()) >= self._said,
            within_s=within_s,
            what=f"the answer to line {self._said}",
        )
        return self.heard()[self._said - 1]

    def ask(self, event: str, **fields: object) -> Answer:
        self.say(event, **fields)
        return self.answer()

    def ask_line(self, line: bytes) -> Answer:
        self.write_line(line)
        self._said += 1
        return self.answer()

    def wager(self, position: int, *, wager: str = "progressive", amount: int = 100) -> Answer:
        return self.ask("wager", position=position, wager=wager, amount=amount)

    def withdraw(self, position: int, *, wager: str = "progressive") -> Answer:
        return self.ask("withdraw", position=position, wager=wager)

    def refusal(self) -> str | None:
        """Return the code that refuses a wager now, or None; take an accepted wager back."""
        answer = self.wager(5)
        if answer["ok"]:
            assert self.withdraw(5)["ok"]
            return None
        assert answer["light"] is False
        code: str = answer["error"]["code"]
        return code

    def play(self, events: str) -> Answer:
        """Send events in short form, which must all be accepted; return the last answer."""
        answer: Answer = {}
        for event in events.split(";"):
            answer = self.ask_line(line_of(event))
            assert answer["ok"], (event, answer)
        return answer
