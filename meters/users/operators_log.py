"""The operators' log: who signed in, changed the users or printed a slip, and when the service ran.

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
"""What of an entry the audit needs, and people are not shown."""

Noted = Literal["slip_printed", "service_started", "service_stopped"]
"""What is noted of acts that change nothing else in the store."""


class LogRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry; a PIN stands in none.

    Attributes:
        entry: its number, from 1 without a gap.
        at: when, RFC 3339 in UTC.
        what: what was done, or refused.
        by: who did it; empty where nobody had signed in.
        about: about which user, which claim's slip, or which version of the service; empty where
            no such user is.
        client: from which network address; empty where it was done by command.
    """

    entry: int
    at: str
    what: What
    by: str
    about: str
    client: str


class LogSeal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The seal over the log, kept outside the store; empty before the first audit.

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
        """Entries of a lower number than `before`, latest first, `limit` at most.

        Raises:
            UsersError: ``store_failed``.
        """
        return [
            msgspec.convert({"entry": entry} | _shown(fields), LogRow)
            for entry, fields in await self._store.log_entries(before, limit)
        ]

    async def of_account(self, name: str, limit: int) -> Sequence[LogRow]:
        """What was done with somebody's account and PIN, and by them with others', latest first.

        Raises:
            UsersError: ``store_failed``.
        """
        return [
            msgspec.convert({"entry": entry} | _shown(fields), LogRow)
            for entry, fields in await self._store.account_entries(fold_name(name), limit)
        ]

    async def note(self, what: Noted, *, by: str, about: str = "", client: str = "") -> None:
        """Note something that changes nothing else.

        Args:
            what: was done.
            by: who did it; the service itself is ``service``.
            about: which claim, or which version of the service.
            client: from which network address.

        Raises:
            UsersError: ``store_failed``.
        """
        keys = self._store.keys
        told: list[str | int] = [now_text(), what, by, about, client]
        await self._store.record("note_act", keys.log_and_head, told)


def _shown(fields: dict[str, str]) -> dict[str, str]:
    """What people read of an entry; its digests are for the audit."""
    return {name: value for name, value in fields.items() if name not in _OF_USERS}
