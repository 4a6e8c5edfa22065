"""The mark of the operators' log: the last entry that was seen, kept in a file outside Redis."""

from pathlib import Path
from typing import Final

from meters.audit.ledger_mark import LedgerMark
from meters.users.operators_log import LogSeal

_NAME: Final = "@people"
"""The text that the mark file has instead of a link's id. No link can have this text as its id."""


class LogMark(LedgerMark):
    """The mark file, in the data directory.

    Raises:
        UserError: the mark file exists, but cannot be read.
    """

    def __init__(self, data: Path) -> None:
        super().__init__(data, _NAME, "operators.log-mark.json")

    @property
    def log_seal(self) -> LogSeal:
        """The seal that the last audit of the operators' log made."""
        return LogSeal(sealed_entry=self.seen.sealed, seal=self.seen.seal)

    def problem(self, entries: int, had: int) -> str | None:
        """Return a message if the log has fewer entries than its mark says."""
        if entries >= had:
            return None
        return (
            f"the operators' log holds {entries} entries and has held {had}: it lost some, or is"
            f" another; find out why, bring back a backup, or, to go on with what is left, remove"
            f" {self.path}"
        )
