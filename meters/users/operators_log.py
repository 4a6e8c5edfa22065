"""The operators' log: sign-ins, user changes, printed slips, starts and stops of the service (D17).

Each entry is chained to the entry before it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

import msgspec

from meters.process.clock import now_text
from meters.users.user_names import fold_name
from meters.users.user_store import UserStore

What = Literal[
    "sign_in",
    "sign_in_refused",
    "locked_out",
    "sign_out",
    "user_added",
    "user_disabled",
    "user_enabled",
    "user_unlocked",
    "pin_set",
    "pin_chosen",
    "pin_refused",
    "slip_printed",
    "signed_on_device",
    "service_started",
    "service_stopped",
    "unreadable",
]

_OF_USERS: Final = frozenset(
    {"chain", "mac", "role", "pin", "pin_by", "choose_by", "old_pin", "account"}
)
"""Fields of a log entry that only the audit needs. Pages do not show them."""

Noted = Literal["slip_printed", "signed_on_device", "service_started", "service_stopped"]
"""Acts that add an entry to the operators' log, but change no other data in Redis."""


class LogRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry of the operators' log. No entry contains a PIN.

    Attributes:
        entry: the number of the entry. The first entry has the number 1, and no number is left out.
        at: the time, RFC 3339 in UTC.
        what: the act, also a refused act, such as a failed sign-in. ``unreadable`` if somebody
            damaged the entry: then all fields but `entry` and `what` are empty, and the audit
            reports the entry.
        by: the person or program that acted; empty if no user was signed in.
        about: the user, the claim of a printed slip, or the version of the service. For
            ``signed_on_device``, the user on whose device a colleague signed. Empty if the act
            names an unknown user.
        client: the network address of the actor; empty for a command.
    """

    entry: int
    at: str
    what: What
    by: str
    about: str
    client: str


class LogSeal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The seal of the operators' log: a digest that people keep outside Redis.

    Before the first audit, the seal is empty.

    Attributes:
        sealed_entry: the number of the last entry that an audit found unchanged.
        seal: SHA-256 over all entries up to the sealed entry.
    """

    sealed_entry: int
    seal: str


class OperatorsLog:
    """The operators' log for people. Methods raise `UsersError` ``store_failed`` if Redis fails."""

    def __init__(self, store: UserStore) -> None:
        self._store = store

    async def page(self, before: int | None, limit: int) -> Sequence[LogRow]:
        """Return at most `limit` log entries before the entry `before`, the latest first."""
        return [_row(*entry) for entry in await self._store.log_entries(before, limit)]

    async def of_account(self, name: str, limit: int) -> Sequence[LogRow]:
        """Return the log entries about one user, the latest first.

        The entries are changes of this user and of the user's PIN, and changes by this user.
        """
        found = await self._store.account_entries(fold_name(name), limit)
        return [_row(*entry) for entry in found]

    async def note(self, what: Noted, *, by: str, about: str = "", client: str = "") -> None:
        """Add an entry for an act that changes no other data in Redis.

        `by` is the user who acted, or ``service``. `about` means the same as in `LogRow`.
        """
        keys = self._store.keys
        arguments: list[str | int] = [now_text(), what, by, about, client]
        await self._store.record("note_act", keys.log_and_head, arguments)


def _row(number: int, fields: dict[str, str]) -> LogRow:
    shown = {name: value for name, value in fields.items() if name not in _OF_USERS}
    try:
        row = msgspec.convert({"entry": number} | shown, LogRow)
        datetime.fromisoformat(row.at)
    except ValueError:
        return LogRow(entry=number, at="", what="unreadable", by="", about="", client="")
    return row
