"""The operators' log: sign-ins, user changes, printed slips, and starts and stops of the service.

Duty D17; each entry is chained to the one before it.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from meters.users.names import fold_name
from meters.users.store import UserStore
from meters.wire.clock import now_text

What = Literal[
    "sign_in", "sign_in_refused", "locked_out", "sign_out",
    "user_added", "user_disabled", "user_enabled", "user_unlocked", "pin_set",
    "pin_chosen", "pin_refused", "user_noted", "slip_printed", "service_started", "service_stopped",
    "upgraded",
]  # fmt: skip

_OF_USERS: Final = frozenset({
    "chain", "mac", "role", "pin", "pin_by", "choose_by", "old_pin", "account",
})  # fmt: skip
"""Fields of an entry that only the audit needs; people do not see them."""

Noted = Literal["slip_printed", "service_started", "service_stopped"]
"""Acts that are noted and change nothing else in the store."""


class LogRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry; no entry contains a PIN.

    Attributes:
        entry: its number, from 1 without a gap.
        at: the time, RFC 3339 in UTC.
        what: the act, or the refused act.
        by: the actor; empty if nobody had signed in.
        about: the user, the claim of a slip, or the version of the service; empty if no such user
            exists.
        client: the network address; empty for a command.
    """

    entry: int
    at: str
    what: What
    by: str
    about: str
    client: str


class LogSeal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The seal of the log, kept outside the store; empty before the first audit.

    Attributes:
        sealed_entry: the last entry that an audit found in order.
        seal: SHA-256 over all entries up to it.
    """

    sealed_entry: int
    seal: str


class OperatorsLog:
    """The log as people read it."""

    def __init__(self, store: UserStore) -> None:
        self._store = store

    async def page(self, before: int | None, limit: int) -> Sequence[LogRow]:
        """Return at most `limit` entries with a number below `before`, latest first.

        Raises:
            UsersError: ``store_failed``.
        """
        return [
            msgspec.convert({"entry": entry} | _shown(fields), LogRow)
            for entry, fields in await self._store.log_entries(before, limit)
        ]

    async def of_account(self, name: str, limit: int) -> Sequence[LogRow]:
        """Return acts on a user's account and PIN, and the user's acts on others, latest first.

        Raises:
            UsersError: ``store_failed``.
        """
        return [
            msgspec.convert({"entry": entry} | _shown(fields), LogRow)
            for entry, fields in await self._store.account_entries(fold_name(name), limit)
        ]

    async def note(self, what: Noted, *, by: str, about: str = "", client: str = "") -> None:
        """Note an act that changes nothing else.

        Args:
            what: the act.
            by: the actor; the service itself is ``service``.
            about: the claim, or the version of the service.
            client: the network address.

        Raises:
            UsersError: ``store_failed``.
        """
        keys = self._store.keys
        told: list[str | int] = [now_text(), what, by, about, client]
        await self._store.record("note_act", keys.log_and_head, told)


def _shown(fields: dict[str, str]) -> dict[str, str]:
    """Return the fields of an entry that people read, without the digests for the audit."""
    return {name: value for name, value in fields.items() if name not in _OF_USERS}
