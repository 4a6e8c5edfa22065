"""Files with the rounds of a demonstration, which `pitlink settle` can settle again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self, TextIO

from bonus.errors import UserError
from controllers.bots.resettlement import RoundRecord, settle_again

ROUNDS_FILE: Final = "rounds.jsonl"
"""One round a line, in the form that `pitlink settle` reads."""

SETTLEMENTS_FILE: Final = "settlements.jsonl"
"""The second settlements of these rounds, one a line."""

ROUNDS_WRITTEN_MAX: Final = 20_000
"""Later rounds are compared but not written: a demonstration can run for days."""


class RoundFiles:
    """Writes rounds and their second settlements, and counts the `different` ones."""

    def __init__(self, rounds: TextIO, settlements: TextIO) -> None:
        self._rounds = rounds
        self._settlements = settlements
        self.settled = 0
        self.different = 0

    @classmethod
    @contextmanager
    def under(cls, data: Path) -> Iterator[Self]:
        """Open new files in place of older ones; raise `UserError` if they cannot be written."""
        try:
            rounds = (data / ROUNDS_FILE).open("w", encoding="utf-8")
            settlements = (data / SETTLEMENTS_FILE).open("w", encoding="utf-8")
        except OSError as error:
            raise UserError(f"the rounds cannot be written under {data}: {error}") from None
        with rounds, settlements:
            yield cls(rounds, settlements)

    def write(self, record: RoundRecord, shown_cents: Mapping[str, int]) -> None:
        """Settle a round a second time, compare the results, and write both down."""
        again = settle_again(record, shown_cents)
        self.settled += 1
        self.different += not again.same
        if self.settled > ROUNDS_WRITTEN_MAX:
            return
        for file, line in ((self._rounds, again.round), (self._settlements, again.settlement)):
            file.write(line.decode() + "\n")
            file.flush()
