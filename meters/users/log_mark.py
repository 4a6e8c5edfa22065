"""How far the operators' log had come, kept outside the store, as the mark of a ledger is."""

from pathlib import Path
from typing import Final

from meters.books.ledger_mark import LedgerMark
from meters.users.operators_log import LogSeal

_NAME: Final = "@people"
"""What stands in the file for a link's id, and which no link's id can be."""


class LogMark(LedgerMark):
    """The mark of the operators' log, a file under the data directory.

    Raises:
        UserError: the file is there and cannot be read.
    """

    def __init__(self, data: Path) -> None:
        super().__init__(data, _NAME, "operators.log-mark.json")

    @property
    def log_seal(self) -> LogSeal:
        """The seal over the log as an audit found it last."""
        return LogSeal(sealed_entry=self.seen.sealed, seal=self.seen.seal)

    def problem(self, entries: int, had: int) -> str | None:
        """Why a log with so many entries is not the one that the mark was set on, or None."""
        if entries >= had:
            return None
        return (
            f"the operators' log holds {entries} entries and has held {had}: it lost some, or is"
            f" another; find out why, bring back a backup, or, to go on with what is left, remove"
            f" {self.path}"
        )
