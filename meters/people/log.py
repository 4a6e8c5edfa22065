"""The operators' log: who signed in, and who changed the users (duty D17)."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from meters.people.store import PeopleStore

What = Literal[
    "sign_in", "sign_in_refused", "locked_out", "sign_out",
    "user_added", "user_disabled", "user_enabled", "pin_set", "pin_chosen", "pin_refused",
]  # fmt: skip


class LogRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry; a PIN stands in none.

    Attributes:
        entry: its number, from 1 without a gap.
        at: when, RFC 3339 in UTC.
        what: what was done, or refused.
        by: who did it; empty where nobody had signed in.
        about: about which user; empty where no such user is.
        client: from which network address; empty where it was done by command.
    """

    entry: int
    at: str
    what: What
    by: str
    about: str
    client: str


class OperatorsLog:
    """The log as people read it."""

    def __init__(self, store: PeopleStore) -> None:
        self._store = store

    async def page(self, before: int | None, limit: int) -> Sequence[LogRow]:
        """Entries of a lower number than `before`, latest first, `limit` at most.

        Raises:
            PeopleError: ``store_failed``.
        """
        return [
            msgspec.convert({"entry": entry, **fields}, LogRow)
            for entry, fields in await self._store.log_entries(before, limit)
        ]
