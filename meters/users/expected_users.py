"""The users that the operators' log describes. The audit compares them with the stored users."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from meters.users.user_names import fold_name

Fields = Mapping[str, str]

ADMINISTRATOR: Final = "administrator"

_ON_ACCOUNTS: Final = frozenset(
    {"user_added", "user_enabled", "user_disabled", "pin_set", "pin_chosen", "user_unlocked"}
)

_CLOCKS_DIFFER_MS: Final = 3_600_000
_SETTERS_KEPT_MS: Final = 24 * 3_600_000 - _CLOCKS_DIFFER_MS
"""If a PIN was set within this time, the audit expects a record in Redis of who set it.

Redis keeps the record for 24 hours. The clocks of two machines can differ by up to one hour.
"""


@dataclass
class ExpectedUser:
    """A user as the operators' log describes them.

    `added_by` is a person or command. `pin_by` set the PIN last, and so knows it. If `pin_by` is
    another person, the user must choose a PIN before the time `choose_by`. `pin` is the digest of
    the stored PIN hash. `generation` is 1 plus the number of changes that ended the user's
    sessions. `signed_in_at` is empty if the user never signed in.
    """

    name: str
    added_at: str
    added_by: str
    role: str
    pin_by: str
    pin: str
    choose_by: str
    enabled: bool = True
    generation: int = 1
    signed_in_at: str = ""


@dataclass
class ExpectedUsers:
    """The users that the log describes up to the last applied entry.

    `users` has the users by folded name (in lower case). `accounts`, also by folded name, has the
    numbers of the log entries about changes of a user, or about changes by this user. `setters` has
    the time in ms when a person last set the PIN of a user. Its keys are the two names with a line
    break between them, as in Redis.
    """

    users: dict[str, ExpectedUser] = field(default_factory=dict)
    setters: dict[str, float] = field(default_factory=dict)
    accounts: dict[str, list[int]] = field(default_factory=dict)

    def apply_entry(self, number: int, entry: Fields) -> str | None:
        """Apply an entry of the log. Return how it contradicts earlier entries, or None."""
        what, about, by, at = (entry.get(name, "") for name in ("what", "about", "by", "at"))
        folded = fold_name(about)
        user, impossible = self.users.get(folded), self._impossible(what, about, entry)
        if what in _ON_ACCOUNTS:
            for each in {folded, fold_name(by)}:
                self.accounts.setdefault(each, []).append(number)
        if _sets_anothers_pin(entry):
            self.setters[f"{about}\n{by}"] = datetime.fromisoformat(at).timestamp() * 1_000
        if what == "sign_in" and user:
            user.signed_in_at = at
        if what == "user_added":
            if user:
                return f"adds {about!r}, who was added before"
            role = entry.get("role", "")
            self.users[folded] = ExpectedUser(about, at, by, role, *_pin_of(entry))
        elif what in {"user_enabled", "user_disabled", "pin_set", "pin_chosen"}:
            if user is None:
                return f"is about {about!r}, who was never added"
            user.generation += 1
            if what in {"pin_set", "pin_chosen"}:
                user.pin_by, user.pin, user.choose_by = _pin_of(entry)
            else:
                user.enabled = what == "user_enabled"
        return impossible

    def _impossible(self, what: str, about: str, entry: Fields) -> str | None:
        """Return why the act in a log entry was impossible; None if it was possible.

        An attacker could change a user's data in Redis, wait until a service has used it for an
        act, and then change it back.
        """
        if what == "sign_in":
            return self._unlike("signs in", about, entry.get("pin"), entry.get("role", ""))
        if what == "pin_chosen":
            return self._unlike("chooses a PIN", about, entry.get("old_pin"), None)
        if what not in _ON_ACCOUNTS:
            return None
        if (account := entry.get("account", "")) != fold_name(about):
            return f"is about {about!r}, and was done to {account!r}"
        by = entry.get("by", "")
        actor = self.users.get(fold_name(by))
        if actor is None:
            # The name of a command or of a demonstration cannot be a user's name.
            return f"is by {by!r}, who was never added" if entry.get("client") else None
        may = actor.enabled and actor.role == ADMINISTRATOR
        return None if may else f"is by {by!r}, who was disabled or was no administrator"

    def _unlike(self, does: str, name: str, pin: str | None, role: str | None) -> str | None:
        """Return why a user cannot have acted (in this role, if one is given); None if they can."""
        user, says = self.users.get(fold_name(name)), f"says that {name!r} {does}"
        if user is None:
            return f"{says}, but nobody added this user"
        if not user.enabled:
            return f"{says}, but this user was disabled"
        if user.pin != pin:
            return f"{says}, with a PIN that the log does not have"
        if role not in {user.role, None}:
            return f"{says} as {role!r}, but the role was {user.role!r}"
        return None

    def other_accounts(self, stored: Mapping[str, Sequence[tuple[int, float]]]) -> list[str]:
        """Return how the stored index of entries by user differs from the log.

        `stored` is the index in Redis: by folded name, the numbers of the entries about changes of
        or by this user, each number with its score in the sorted set.
        """
        found: list[str] = []
        for folded, entries in sorted(stored.items()):
            account = f"the account of {folded!r}"
            due, held = {*self.accounts.get(folded, ())}, {number for number, _ in entries}
            found += [f"{account} lacks entry {each} of the log" for each in sorted(due - held)]
            found += [
                f"{account} has entry {each} of the log, which is about other users"
                for each in sorted(held - due)
            ]
            if not found and any(number != order for number, order in entries):
                found.append(f"{account} has entries out of their order")
        return found

    def differences(
        self, listed: Iterable[str], stored: Mapping[str, Fields], administrators: Collection[str]
    ) -> list[str]:
        """Return how the users in Redis differ from the users of the log.

        All names are folded. `listed` are the users in Redis's list of users; `administrators` are
        the users in its list of enabled administrators. `stored` has the Redis hashes of the listed
        users, and of the users in the log.
        """
        found = []
        for folded in sorted({*listed, *self.users}):
            user, fields = self.users.get(folded), stored.get(folded, {})
            if user is None:
                name, role = fields.get("name", folded), fields.get("role", "")
                found.append(f"user {name!r} ({role}) is in Redis, but nobody added them")
            elif not fields or folded not in {*listed}:
                found.append(f"user {user.name!r} is gone from Redis")
            else:
                found += _differences(user, fields)
        due = {
            folded
            for folded, user in self.users.items()
            if user.enabled and user.role == ADMINISTRATOR
        }
        if due != {*administrators}:
            names = ", ".join(sorted(due ^ {*administrators}))
            found.append(
                f"Redis counts {len(administrators)} administrators, but the log counts {len(due)}:"
                f" they differ in {names}"
            )
        return found

    def unkept_setters(self, stored: Mapping[str, float], now_ms: float) -> list[str]:
        """Return a text for each PIN that was set recently, if Redis lost the record of who set it.

        A person who sets another user's PIN can act as this user. Without the record, the services
        would accept acts of one person as acts of two people. `stored` has the form of `setters`.
        """
        return [
            "Redis lacks the record that the PIN of {!r} was set by {!r}".format(*pair.split("\n"))
            for pair, at_ms in self.setters.items()
            if at_ms > now_ms - _SETTERS_KEPT_MS and stored.get(pair, 0) < at_ms - _CLOCKS_DIFFER_MS
        ]


def _sets_anothers_pin(entry: Fields) -> bool:
    """Return whether a log entry sets a PIN whose setter Redis must store.

    Redis stores everybody who set another user's PIN, except the command that added the user.
    """
    if entry.get("pin_by") == entry.get("about"):
        return False
    what = entry.get("what")
    return what == "pin_set" or (what == "user_added" and bool(entry.get("client")))


def _pin_of(entry: Fields) -> tuple[str, str, str]:
    return entry.get("pin_by", ""), entry.get("pin", ""), entry.get("choose_by", "")


def _differences(user: ExpectedUser, fields: Fields) -> list[str]:
    due = {
        "name": user.name,
        "added_at": user.added_at,
        "added_by": user.added_by,
        "pin_by": user.pin_by,
        "enabled": "1" if user.enabled else "0",
        "role": user.role,
        "choose_by": user.choose_by,
        "generation": str(user.generation),
        "signed_in_at": user.signed_in_at,
    }
    found = [
        f"user {user.name!r}: {name} is {fields.get(name, '')!r}, the log says {value!r}"
        for name, value in due.items()
        if fields.get(name, "") != value
    ]
    if pin_digest(fields.get("pin", "")) != user.pin:
        found.append(f"user {user.name!r}: the PIN is not the PIN that was last set in the log")
    return found


def pin_digest(stored: str) -> str:
    """Return the digest of a salted PIN hash, as in the log."""
    return hashlib.sha1(stored.encode(), usedforsecurity=False).hexdigest()
