"""The users: added, disabled, enabled, never deleted, since the ledger names them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from meters.people.errors import PeopleError
from meters.people.names import clean_name, fold_name
from meters.people.pins import PinHashing
from meters.people.roles import Role, kept_role
from meters.people.store import PeopleStore
from meters.wire.clock import now_text

_REFUSED: Final = {
    "name_taken": "there is a user {name} already",
    "unknown_user": "there is no user {name}",
    "wrong_state": "{name} is {state} already",
    "last_administrator": "{name} is the last administrator who can sign in",
}


class UserRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A user as people see him.

    Attributes:
        name: as he is written everywhere; unique without regard to case.
        role: what he may do.
        enabled: whether he can sign in.
        added_at: since when he is a user, RFC 3339 in UTC; `added_by` added him.
        pin_by: who set his PIN and so knows it, he himself or another.
        signed_in_at: when he last signed in.
    """

    name: str
    role: Role
    enabled: bool
    added_at: str
    added_by: str
    pin_by: str
    signed_in_at: str | None = None


@dataclass(frozen=True, slots=True)
class Doer:
    """Who changes something: the name for the log, and the network address he does it from."""

    name: str
    client: str = ""


class Users:
    """All users of the facility."""

    def __init__(self, store: PeopleStore, pins: PinHashing) -> None:
        self._store = store
        self._pins = pins

    async def rows(self) -> Sequence[UserRow]:
        """Every user, by name.

        Raises:
            PeopleError: ``store_failed``.
        """
        return [_row(fields) for fields in await self._store.every_user()]

    async def add(self, name: str, role: Role, pin: str, doer: Doer) -> UserRow:
        """Add a user.

        Raises:
            PeopleError: ``bad_name``, ``bad_pin``, ``name_taken``, ``busy``, ``store_failed``.
        """
        name = clean_name(name)
        kept = await self._pins.hash(pin)
        keys, folded = self._store.keys, fold_name(name)
        status = await self._store.call(
            "add_user",
            [keys.user(folded), keys.users, keys.administrators, *keys.log_and_head],
            [folded, name, role.value, kept, now_text(), doer.name, doer.client],
        )
        return await self._done(status, name)

    async def disable(self, name: str, doer: Doer) -> UserRow:
        """Let a user sign in no more, and end his sessions at once.

        Raises:
            PeopleError: ``unknown_user``, ``wrong_state``, ``yourself``, ``last_administrator``,
                ``store_failed``.
        """
        if fold_name(name) == fold_name(doer.name):
            raise PeopleError("yourself", "nobody disables himself")
        return await self._change(name, "disable", "", doer)

    async def enable(self, name: str, doer: Doer) -> UserRow:
        """Let a disabled user sign in again; a lock-out of his name ends.

        Raises:
            PeopleError: ``unknown_user``, ``wrong_state``, ``store_failed``.
        """
        return await self._change(name, "enable", "", doer)

    async def set_pin(self, name: str, pin: str, doer: Doer) -> UserRow:
        """Give a user another PIN, and end his sessions and a lock-out of his name at once.

        Raises:
            PeopleError: ``bad_pin``, ``unknown_user``, ``busy``, ``store_failed``.
        """
        return await self._change(name, "pin", await self._pins.hash(pin), doer)

    async def check_two_people(self, first: str, second: str) -> None:
        """Refuse a second person who may be the first under another name (duty D4).

        Whoever set a PIN can sign in with it. So neither of the two may have set the other's, and
        no third user both. Who sets PINs by command is no user, and hinders nobody.

        Args:
            first: who did the first half.
            second: who would do the second.

        Raises:
            PeopleError: ``same_person``, ``store_failed``.
        """
        if first == second:
            return
        first_by, second_by = await self._pin_by(first), await self._pin_by(second)
        if second_by == first:
            told = f"{first} set your PIN: choose one of your own first"
        elif first_by == second:
            told = f"you set the PIN of {first}: a third person must do this"
        elif first_by == second_by and first_by is not None:
            told = f"{first_by} set your PIN and that of {first}: choose one of your own first"
        else:
            return
        raise PeopleError("same_person", told)

    async def _pin_by(self, name: str) -> str | None:
        """Which user set somebody's PIN, if any did."""
        keys = self._store.keys
        by = _pin_by(await self._store.fields(keys.user(fold_name(name))))
        return by if await self._store.fields(keys.user(fold_name(by))) else None

    async def _change(
        self, name: str, act: Literal["disable", "enable", "pin"], kept: str, doer: Doer
    ) -> UserRow:
        keys, folded = self._store.keys, fold_name(name)
        status = await self._store.call(
            "change_user",
            [
                keys.user(folded), keys.administrators, *keys.log_and_head,
                *keys.name_lock_out(folded),
            ],
            [folded, act, kept, now_text(), doer.name, doer.client],
        )  # fmt: skip
        return await self._done(status, name, "disabled" if act == "disable" else "enabled")

    async def _done(self, status: object, name: str, state: str = "") -> UserRow:
        if status != "ok":
            code = str(status)
            raise PeopleError(code, _REFUSED[code].format(name=name, state=state))
        return _row(await self._store.fields(self._store.keys.user(fold_name(name))))


def _row(fields: dict[str, str]) -> UserRow:
    return UserRow(
        name=fields["name"],
        role=kept_role(fields["role"]),
        enabled=fields["enabled"] == "1",
        added_at=fields["added_at"],
        added_by=fields["added_by"],
        pin_by=_pin_by(fields),
        signed_in_at=fields.get("signed_in_at"),
    )


def _pin_by(fields: dict[str, str]) -> str:
    # A user kept by an earlier release has no more than who added him.
    return fields.get("pin_by", fields.get("added_by", ""))
