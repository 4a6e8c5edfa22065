"""How far a link's ledger had come, kept outside the store: a store that is behind it lost entries.

Without it an emptied store would look like a new one, and every meter would go back to its seed
(duties D10, D15).
"""

from pathlib import Path
from typing import Final

import msgspec

from bonus.errors import UserError

_FILE: Final = "ledger-mark.json"


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number of the last ledger entry that was seen to be in the store."""

    link: str
    entries: int


class LedgerMark:
    """The mark of one link, a file under the data directory.

    Args:
        data: the service's data directory.
        link: the link's id.

    Raises:
        UserError: the file is there and cannot be read.
    """

    def __init__(self, data: Path, link: str) -> None:
        self.path = data / "marks" / f"{link}.{_FILE}"
        self._link = link
        self._entries = self._read()

    @property
    def entries(self) -> int:
        """How many entries the store has held; read it before the store, which goes on."""
        return self._entries

    def problem(self, entries: int, had: int) -> str | None:
        """Why a store with so many entries is not the one that the mark was set on, or None.

        Args:
            entries: how many the store holds.
            had: the mark as it was before the store was asked.
        """
        if entries >= had:
            return None
        return (
            f"the store holds {entries} ledger entries and has held {had}: it lost some, or is"
            f" another; to begin anew all the same, remove {self.path}"
        )

    def set(self, entries: int) -> None:
        """Note that the store holds so many entries.

        Raises:
            OSError: the file cannot be written.
        """
        if entries > self._entries:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_suffix(".new")
            beside.write_bytes(msgspec.json.encode(Mark(self._link, entries)))
            beside.replace(self.path)
            self._entries = entries

    def _read(self) -> int:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Mark).entries
        except FileNotFoundError:
            return 0
        except (OSError, msgspec.DecodeError) as error:
            raise UserError(f"the ledger mark {self.path} cannot be read: {error}") from None
