"""The users of a facility for the web pages and commands.

A user can be disabled, but is never deleted, because the ledger has the user's name.
"""

import os
import pwd
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, Self

import msgspec
import structlog

from meters.floor.facility import DEMONSTRATION_USERS, PUBLIC_PIN
from meters.floor.floor_file import Floor
from meters.floor.roles import Role
from meters.ledger.two_people import COMMAND
from meters.process.clock import now_text
from meters.store.redis_clients import AnyRedis
from meters.users.log_macs import LogSecrets
from meters.users.operators_log import OperatorsLog
from meters.users.pins import PinHashing, check_pin
from meters.users.sessions import Sessions
from meters.users.sign_in_attempts import CountRefused, count_nothing, lock_keys
from meters.users.user_names import clean_name, fold_name, parse_role
from meters.users.user_store import UsersError, UserStore

_log = structlog.get_logger()

_REFUSED: Final = {
    "session_ended": "your session has ended: sign in again",
    "name_taken": "there is a user {name} already",
    "unknown_user": "there is no user {name}",
    "wrong_state": "{name} is {state} already",
    "last_administrator": "{name} is the last administrator who can sign in: first add another"
    " administrator",
}


class SignInLock(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A lock that prevents the sign-in of a user for a time.

    Attributes:
        where: what is locked. ``name``: the user at one address. ``address``: everybody at one
            address. ``new_devices``: the user on all devices where they have never signed in.
        address: the network address; empty for ``new_devices``.
        until: the end of the lock, RFC 3339 in UTC.
    """

    where: Literal["name", "address", "new_devices"]
    address: str
    until: str


_WHERE: Final[Mapping[str, Literal["name", "address", "new_devices"]]] = {
    "pair": "name", "address": "address", "new": "new_devices",
}  # fmt: skip


class UserRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A user as other people see them.

    Attributes:
        name: the name as pages show it. No two names differ only in case.
        enabled: false while the user is disabled, and so cannot sign in.
        added_at: the time at which the user was added, RFC 3339 in UTC.
        added_by: the person or command that added the user.
        pin_by: who set the PIN, and so knows it: the user or another person.
        choose_by: until when the user must replace a PIN that another person set; null if the PIN
            is the user's own.
        locked: the locks that now prevent the user's sign-in, after too many failed attempts.
        signed_in_at: the time of the last sign-in; null if the user never signed in.
    """

    name: str
    role: Role
    enabled: bool
    added_at: str
    added_by: str
    pin_by: str
    signed_in_at: str | None = None
    choose_by: str | None = None
    locked: tuple[SignInLock, ...] = ()


@dataclass(frozen=True, slots=True)
class Actor:
    """A person or a `pitlink` command that changes something.

    A person has a network address, and the token of a session that must still be valid.
    """

    name: str
    client: str = ""
    token: str | None = None

    @classmethod
    def of_command(cls) -> Self:
        """Return the person who runs this command, by their name in the operating system.

        The person need not be a user of pitlink. The name is not read from the environment, because
        anybody can set it there.
        """
        try:
            who = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            who = f"user id {os.getuid()}"
        return cls(f"{COMMAND} ({who})")


class Users:
    def __init__(self, store: UserStore, pins: PinHashing) -> None:
        self._store = store
        self._pins = pins

    async def rows(self) -> Sequence[UserRow]:
        """Return the users in the order of their names, without those that cannot be read."""
        found = []
        for fields in await self._store.every_user():
            try:
                found.append(await self._row(fields))
            except (LookupError, ValueError, UsersError) as error:
                if error.__cause__ is not None:  # Redis failed
                    raise
                # Somebody damaged this user; the audit reports it. Other users are still shown.
                _log.error("user not readable", user=fields.get("name", ""))
        return found

    async def add(
        self, name: str, role: Role, pin: str, doer: Actor, *, own: bool = False
    ) -> UserRow:
        """Add a user with a first PIN.

        For 24 hours, the user can sign in with this PIN, but only to choose another one. With
        `own`, the first PIN is public and permanent, for a demonstration.

        Raises:
            UsersError: ``bad_name``, ``bad_pin``, ``name_taken``, ``session_ended``, ``busy``,
                ``store_failed``.
        """
        name = clean_name(name)
        pin_hash = await self._hash(pin, public=own)
        keys, folded = self._store.keys, fold_name(name)
        status = await self._store.record(
            "add_user",
            [
                keys.user(folded),
                keys.users,
                keys.administrators,
                *keys.log_and_head,
                keys.pins_set,
                *self._accounts(folded, doer),
            ],
            [
                folded,
                name,
                role.value,
                pin_hash,
                now_text(),
                doer.name,
                doer.client,
                *self._by(doer),
                int(own),
            ],
        )
        return await self._done(status, name)

    async def disable(self, name: str, doer: Actor) -> UserRow:
        """Disable a user: end the user's sessions immediately, and refuse further sign-ins.

        Raises:
            UsersError: ``unknown_user``, ``wrong_state``, ``yourself``, ``last_administrator``,
                ``session_ended``, ``store_failed``.
        """
        if fold_name(name) == fold_name(doer.name):
            raise UsersError("yourself", "you cannot disable yourself")
        return await self._change(name, "disable", "", doer)

    async def enable(self, name: str, doer: Actor) -> UserRow:
        """Enable a disabled user, who can then sign in. Remove the sign-in locks on the name.

        Raises:
            UsersError: ``unknown_user``, ``wrong_state``, ``session_ended``, ``store_failed``.
        """
        return await self._change(name, "enable", "", doer)

    async def unlock(self, name: str, doer: Actor) -> UserRow:
        """Remove the sign-in locks of a user after too many failed attempts.

        Raises:
            UsersError: ``unknown_user``, ``session_ended``, ``store_failed``.
        """
        return await self._change(name, "unlock", "", doer)

    async def set_pin(self, name: str, pin: str, doer: Actor, *, own: bool = False) -> UserRow:
        """Set a new PIN for a user, end the user's sessions, and remove the locks on their name.

        For 24 hours, the user can sign in with this PIN, but only to choose another one. With
        `own`, the PIN stays valid, for a demonstration.

        Raises:
            UsersError: ``bad_pin``, ``unknown_user``, ``session_ended``, ``busy``,
                ``store_failed``.
        """
        return await self._change(name, "pin", await self._hash(pin, public=own), doer, own=own)

    async def _hash(self, pin: str, *, public: bool) -> str:
        if not public:
            check_pin(pin)
        return await self._pins.hash(pin)

    async def _change(
        self,
        name: str,
        act: Literal["disable", "enable", "pin", "unlock"],
        stored: str,
        doer: Actor,
        *,
        own: bool = False,
    ) -> UserRow:
        keys, folded = self._store.keys, fold_name(name)
        labels = [label for label, _ in await self._store.locks(folded)]
        status = await self._store.record(
            "change_user",
            [
                keys.user(folded),
                keys.administrators,
                *keys.log_and_head,
                keys.pins_set,
                *self._accounts(folded, doer),
                keys.devices(folded),
                keys.locks(folded),
                *lock_keys(keys, folded, labels),
            ],
            [folded, act, stored, now_text(), doer.name, doer.client, *self._by(doer), int(own)],
        )
        return await self._done(status, name, "disabled" if act == "disable" else "enabled")

    def _accounts(self, folded: str, doer: Actor) -> tuple[str, str]:
        keys = self._store.keys
        return keys.account(folded), keys.account(fold_name(doer.name))

    def _by(self, doer: Actor) -> tuple[str, str]:
        keys = self._store.keys
        return "" if doer.token is None else keys.session_of(doer.token), keys.user_prefix

    async def _done(self, status: object, name: str, state: str = "") -> UserRow:
        if status != "ok":
            code = str(status)
            raise UsersError(code, _REFUSED[code].format(name=name, state=state))
        return await self._row(await self._store.fields(self._store.keys.user(fold_name(name))))

    async def _row(self, fields: dict[str, str]) -> UserRow:
        now_ms = time.time() * 1000
        locks = await self._store.locks(fold_name(fields["name"]))
        return UserRow(
            name=fields["name"],
            role=parse_role(fields["role"]),
            enabled=fields["enabled"] == "1",
            added_at=fields["added_at"],
            added_by=fields["added_by"],
            pin_by=fields["pin_by"],
            signed_in_at=fields.get("signed_in_at"),
            choose_by=_moment(int(fields["choose_by"])) if "choose_by" in fields else None,
            locked=tuple(_lock(label, until) for label, until in locks if until > now_ms),
        )


def _lock(label: str, until_ms: int) -> SignInLock:
    kind, _, address = label.partition(":")
    return SignInLock(where=_WHERE[kind], address=address, until=_moment(until_ms))


def _moment(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms // 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


class UserDirectory:
    """Users, sessions and operators' log of a facility, for the web pages and the commands.

    If a user does nothing for `idle_minutes`, their session lapses. Services seal sessions with the
    `secret`. `count_refused` is called for each refused sign-in attempt. With `demonstration`, the
    public PIN opens a session.
    """

    def __init__(
        self,
        redis: AnyRedis,
        idle_minutes: int,
        pins: PinHashing | None = None,
        secret: bytes = b"",
        log_secrets: LogSecrets | None = None,
        *,
        count_refused: CountRefused = count_nothing,
        demonstration: bool = False,
    ) -> None:
        store, pins = UserStore(redis, log_secrets), pins or PinHashing()
        self.users = Users(store, pins)
        self.sessions = Sessions(
            store,
            pins,
            idle_minutes * 60_000,
            secret,
            count_refused=count_refused,
            demonstration=demonstration,
        )
        self.log = OperatorsLog(store)

    @classmethod
    def of_floor(cls, redis: AnyRedis, floor: Floor) -> Self:
        """Return the user directory for a `pitlink` command, where nobody is signed in.

        Raises:
            UserError: the key bundle is missing or wrong.
        """
        return cls(
            redis,
            floor.service.idle_minutes,
            log_secrets=LogSecrets.of(floor.service),
            demonstration=floor.facility.demonstration,
        )


_DEMONSTRATION: Final = Actor("demonstration")


async def let_in(users: Users) -> None:
    """Add the users of a demonstration, unless an earlier run or another service added them.

    Their public PIN is permanent, so they need not choose one. If the floor has users, but none
    from a demonstration, nobody is added.
    """
    try:
        rows = await users.rows()
        if rows and all(row.added_by != _DEMONSTRATION.name for row in rows):
            reason = f"the floor has users of its own: {rows[0].name}"
            _log.warning("people not let in", reason=reason)
            return
        present = {row.name for row in rows}
        for name, role in DEMONSTRATION_USERS:
            if name not in present:
                try:
                    await users.add(name, Role(role), PUBLIC_PIN, _DEMONSTRATION, own=True)
                except UsersError as error:
                    if error.code != "name_taken":
                        raise
    except UsersError as error:
        _log.warning("people not let in", reason=error.message)
