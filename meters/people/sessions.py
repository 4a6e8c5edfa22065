"""Signing in and out, and the sessions between, shared by all workers."""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from meters.people.errors import PeopleError
from meters.people.names import fold_name
from meters.people.pins import PinHashing, check_pin
from meters.people.roles import RIGHTS, Right, Role, kept_role
from meters.people.store import PeopleStore
from meters.people.tries import Tries
from meters.wire.clock import now_text

LONGEST_MS: Final = 12 * 3_600_000
"""How long a session lasts, however busy its person is."""

TOUCHED_EVERY_MS: Final = 15_000
_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Somebody who has signed in; `csrf` is what his page sends along with every act."""

    name: str
    role: Role
    csrf: str

    def may(self, right: Right) -> bool:
        """Whether his role has a right."""
        return right in RIGHTS[self.role]


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that has just begun, and the token that only its browser knows."""

    token: str
    person: SignedIn


class Sessions:
    """The sessions of the facility.

    Args:
        store: where they are kept, by the digest of their token.
        pins: how PINs are compared.
        idle_ms: for how long a person may do nothing, in milliseconds.
    """

    def __init__(self, store: PeopleStore, pins: PinHashing, idle_ms: int) -> None:
        self._store = store
        self._pins = pins
        self._idle_ms = idle_ms
        self._tries = Tries(store)

    async def sign_in(self, name: str, pin: str, client: str, old_token: str | None) -> Opened:
        """Begin a session, and end the one that the browser had.

        A try is counted before the PIN is looked at, and taken back when it was right. A name that
        nobody has, a disabled user and a wrong PIN take as long and are told alike.

        Args:
            name: in any case.
            pin: as it was typed.
            client: the network address, for the log and for the lock-out.
            old_token: of the session that ends, where there is one.

        Raises:
            PeopleError: ``wrong_name_or_pin``, ``locked_out``, ``busy``, ``store_failed``.
        """
        store, keys, folded = self._store, self._store.keys, fold_name(name)
        async with self._tries.begin(folded, client) as begun:
            user = await store.fields(keys.user(folded))
            if await self._pins.matches(pin, user.get("pin")):
                token, csrf = _secret(), _secret()
                opened = await store.call(
                    "sign_in",
                    [
                        keys.user(folded), *begun.keys, self._key(token),
                        self._key(old_token or ""), *keys.log_and_head,
                    ],
                    [
                        begun.number, user["generation"], folded, csrf, self._idle_ms, now_text(),
                        client,
                    ],
                )  # fmt: skip
                if isinstance(opened, list):
                    return Opened(token, SignedIn(opened[0], kept_role(opened[1]), csrf))
            # A name that nobody has may be a PIN typed into the wrong field.
            await self._tries.refuse(begun, "sign_in_refused", user.get("name", ""))
            raise PeopleError("wrong_name_or_pin", "the name or the PIN is wrong")

    async def choose_pin(
        self, token: str | None, person: SignedIn, old: str, new: str, client: str
    ) -> None:
        """Give somebody who has signed in the PIN that he chooses, and end his other sessions.

        The old PIN is guessed here no longer than at the sign-in.

        Args:
            token: of his session, which goes on.
            person: who he is.
            old: the PIN that he has, as it was typed.
            new: the PIN that he shall have; another one, since whoever set the old one knows it.
            client: the network address.

        Raises:
            PeopleError: ``wrong_pin``, ``bad_pin``, ``locked_out``, ``busy``, ``session_ended``,
                ``store_failed``; his PIN is as it was.
        """
        check_pin(new)
        store, keys, folded = self._store, self._store.keys, fold_name(person.name)
        async with self._tries.begin(folded, client) as begun:
            user = await store.fields(keys.user(folded))
            if not await self._pins.matches(old, user.get("pin")):
                await self._tries.refuse(begun, "pin_refused", person.name, person.name)
                raise PeopleError(
                    "wrong_pin", "the PIN that you typed is not the one that you have"
                )
            if new == old:
                await self._tries.drop(begun)
                raise PeopleError("bad_pin", "this is the PIN that you have: choose another")
            status = await store.call(
                "choose_pin",
                [
                    keys.user(folded), *begun.keys, self._key(token or ""), *keys.log_and_head,
                ],
                [
                    begun.number, user["generation"], await self._pins.hash(new), now_text(),
                    client,
                ],
            )  # fmt: skip
            if status != "ok":
                raise PeopleError("session_ended", "your session has ended: sign in again")

    async def find(self, token: str | None, *, keep_alive: bool) -> SignedIn | None:
        """Whose session a token is of, or None where it is of none that still holds.

        Args:
            token: as the browser showed it.
            keep_alive: whether the person is doing something, rather than his page by itself.

        Raises:
            PeopleError: ``store_failed``.
        """
        if not token:
            return None
        found = await self._store.call(
            "find_session",
            [self._key(token)],
            [
                self._store.keys.user_prefix, self._idle_ms, LONGEST_MS, TOUCHED_EVERY_MS,
                int(keep_alive),
            ],
        )  # fmt: skip
        if not isinstance(found, list):
            return None
        name, role, csrf = found
        return SignedIn(name, kept_role(role), csrf)

    async def sign_out(self, token: str | None, client: str) -> None:
        """End a session.

        Raises:
            PeopleError: ``store_failed``.
        """
        if token:
            await self._store.call(
                "sign_out",
                [self._key(token), *self._store.keys.log_and_head],
                [now_text(), client],
            )

    def _key(self, token: str) -> str:
        return self._store.keys.session(hashlib.sha256(token.encode()).hexdigest())


def _secret() -> str:
    return secrets.token_urlsafe(_TOKEN_BYTES)
