"""Files with the rounds of a demonstration, which `pitlink settle` can settle again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self, TextIO

from bonus.errors import UserError
from controllers.bots.resettlement import RoundRecord, settle_again

ROUNDS_FILE: Final = "rounds.jsonl"
"""File of the rounds, one line each, in the form that `pitlink settle` reads."""

SETTLEMENTS_FILE: Final = "settlements.jsonl"
"""File of the second settlements of these rounds, one line for each round."""

ROUNDS_WRITTEN_MAX: Final = 20_000
"""Maximum number of rounds in the files, because a demonstration can run for days.

Later rounds are compared but not written.
"""


class RoundFiles:
    """Writer of the files with rounds and their settlements.

    It also counts the rounds whose two settlements differ.

    The first settlement of a round is that of the service. The second is computed from the round.

    Attributes:
        settled: number of rounds that were settled a second time.
        different: number of rounds whose two settlements have different lines.
    """

    def __init__(self, rounds: TextIO, settlements: TextIO) -> None:
        self._rounds = rounds
        self._settlements = settlements
        self.settled = 0
        self.different = 0

    @classmethod
    @contextmanager
    def under(cls, data: Path) -> Iterator[Self]:
        """Open new files in a data directory; the new files replace older files.

        Raises:
            UserError: the files cannot be written.
        """
        try:
            rounds = (data / ROUNDS_FILE).open("w", encoding="utf-8")
            settlements = (data / SETTLEMENTS_FILE).open("w", encoding="utf-8")
        except OSError as error:
            raise UserError(f"the rounds cannot be written under {data}: {error}") from None
        with rounds, settlements:
            yield cls(rounds, settlements)

    def write(self, record: RoundRecord, shown_cents: Mapping[str, int]) -> None:
        """Settle a round a second time and compare the result with the service's settlement.

        The round and its second settlement are written to the files.
        """
        again = settle_again(record, shown_cents)
        self.settled += 1
        self.different += not again.same
        if self.settled > ROUNDS_WRITTEN_MAX:
            return
        for file, line in ((self._rounds, again.round), (self._settlements, again.settlement)):
            file.write(line.decode() + "\n")
            file.flush()
