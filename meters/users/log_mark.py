"""The mark of the operators' log: its last known end, kept outside the store as for a ledger."""

from pathlib import Path
from typing import Final

from meters.books.ledger_mark import LedgerMark
from meters.users.operators_log import LogSeal

_NAME: Final = "@people"
"""The name in the file where a ledger's mark has its link's id. No link can have this id."""


class LogMark(LedgerMark):
    """The mark of the operators' log, a file under the data directory.

    Raises:
        UserError: the file exists and cannot be read.
    """

    def __init__(self, data: Path) -> None:
        super().__init__(data, _NAME, "operators.log-mark.json")

    @property
    def log_seal(self) -> LogSeal:
        """The seal of the log from the last audit."""
        return LogSeal(sealed_entry=self.seen.sealed, seal=self.seen.seal)

    def problem(self, entries: int, had: int) -> str | None:
        """Return why a log with so many entries cannot be the one of the mark, or None."""
        if entries >= had:
            return None
        return (
            f"the operators' log holds {entries} entries and has held {had}: it lost some, or is"
            f" another; find out why, bring back a backup, or, to go on with what is left, remove"
            f" {self.path}"
        )
