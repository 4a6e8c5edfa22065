"""The rounds of a demonstration, written so that `pitlink settle` can settle them again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self, TextIO

from bonus.errors import UserError
from bonus.wagers import MeterKind
from controllers.bots.resettlement import RoundRecord, settle_again

ROUNDS_FILE: Final = "rounds.jsonl"
"""The rounds, a line each, in the form that `pitlink settle` reads."""

SETTLEMENTS_FILE: Final = "settlements.jsonl"
"""What the tables' players were paid, a line for each of those."""

ROUNDS_WRITTEN_MAX: Final = 20_000
"""Rounds beyond this many are compared, but no longer written: a demonstration may run for days."""


class RoundFiles:
    """Writes rounds and settlements, and counts those that come out differently when settled again.

    Attributes:
        settled: how many rounds were settled again.
        different: how many of them came to other lines.
    """

    def __init__(self, rounds: TextIO, settlements: TextIO) -> None:
        self._rounds = rounds
        self._settlements = settlements
        self.settled = 0
        self.different = 0

    @classmethod
    @contextmanager
    def under(cls, data: Path) -> Iterator[Self]:
        """The files under a data directory, begun anew.

        Raises:
            UserError: they cannot be written.
        """
        try:
            rounds = (data / ROUNDS_FILE).open("w", encoding="utf-8")
            settlements = (data / SETTLEMENTS_FILE).open("w", encoding="utf-8")
        except OSError as error:
            raise UserError(f"the rounds cannot be written under {data}: {error}") from None
        with rounds, settlements:
            yield cls(rounds, settlements)

    def write(self, record: RoundRecord, shown_cents: Mapping[MeterKind, int]) -> None:
        """Settle a round again and write it down."""
        again = settle_again(record, shown_cents)
        self.settled += 1
        self.different += not again.same
        if self.settled > ROUNDS_WRITTEN_MAX:
            return
        for file, line in ((self._rounds, again.round), (self._settlements, again.settlement)):
            file.write(line.decode() + "\n")
            file.flush()
