"""The checkpoint of the operators' log: a file from which a later audit of the log continues.

Nothing is ever deleted from the operators' log. So without this file, each start of a service and
each nightly audit would read more entries than the one before. A service reads the older entries
again in small parts while it runs, and `pitlink audit` without `--since` reads all of them.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from meters.ledger.checkpoint import Mark
from meters.process.private_files import replace_private_file
from meters.users.expected_users import ExpectedUser, ExpectedUsers
from meters.wire.messages import UNREADABLE

_FILE: Final = "operators.log-checkpoint.json"


class LogCheckpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The state of the operators' log after an audit that found no problem.

    `chain` is the digest of the last audited entry, `seal` that over all entries up to it. `mac_by`
    is the secret of the last MAC, `mac_checked` that of the last MAC that was checked, or empty.
    `setters` are a user, a person who set their PIN, and the last time in ms. `accounts` are the
    numbers of the entries about each user.
    """

    entries: int
    chain: str
    seal: str
    mac_by: str
    mac_checked: str
    users: dict[str, ExpectedUser]
    setters: tuple[tuple[str, str, float], ...]
    accounts: dict[str, list[int]]

    def expected_users(self) -> ExpectedUsers:
        """Return copies of the users, for an audit that changes them."""
        copies = {name: replace(user) for name, user in self.users.items()}
        setters = {(user, by): at_ms for user, by, at_ms in self.setters}
        accounts = {name: [*entries] for name, entries in self.accounts.items()}
        return ExpectedUsers(copies, setters, accounts)


class LogCheckpointFile:
    """The file with the checkpoint, next to the mark of the log."""

    def __init__(self, mark_path: Path) -> None:
        self._path = mark_path.with_name(_FILE)

    def read(self, seen: Mark) -> LogCheckpoint | None:
        """Return the checkpoint, or None if there is none that can be used.

        Without it, an audit only takes longer, so a file that is missing or damaged is no error. A
        checkpoint after the sealed entry is not used, because the seal does not confirm it.
        """
        try:
            found = _DECODER.decode(self._path.read_bytes())
        except (OSError, *UNREADABLE):
            return None
        return found if 0 < found.entries <= seen.sealed else None

    def write(self, checkpoint: LogCheckpoint) -> None:
        """Replace the checkpoint in one step."""
        replace_private_file(self._path, [msgspec.json.encode(checkpoint)])


_DECODER: Final = msgspec.json.Decoder(LogCheckpoint)
