"""Signing in and out, and the sessions between, shared by all workers."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from meters.books.two_people import NO_SETTERS, PinSetters
from meters.users.errors import UsersError
from meters.users.expected_users import pin_digest
from meters.users.names import fold_name
from meters.users.pins import PinHashing, check_pin
from meters.users.roles import RIGHTS, Right, Role, parse_role
from meters.users.sign_in_attempts import Caller, SignInAttempts
from meters.users.store import UserStore
from meters.wire.clock import now_text

TOUCHED_EVERY_MS: Final = 15_000
DEVICE_KNOWN_MS: Final = 180 * 24 * 3_600_000
"""For how long after its last sign-in a device is known."""

_DEVICES_MOST: Final = 20
_TOKEN_BYTES: Final = 32
_EXPIRED: Final = (
    "this PIN was set more than 24 hours ago and serves no longer: an administrator sets another"
)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Somebody who has signed in.

    Attributes:
        name: as it is written everywhere.
        role: what they may do.
        csrf: what their page sends along with every act.
        must_choose: somebody else set their PIN: they may do nothing but choose one of their own.
        setters: who set whose PIN lately, as far as it concerns them; empty where they only look.
    """

    name: str
    role: Role
    csrf: str
    must_choose: bool = False
    setters: PinSetters = NO_SETTERS

    def may(self, right: Right) -> bool:
        """Whether they may use a right: their role has it, and their PIN is their own."""
        return right in RIGHTS[self.role] and not self.must_choose


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A session that has just begun, and the token that only its browser knows."""

    token: str
    person: SignedIn


class Sessions:
    """The sessions of the facility.

    Args:
        store: where they are kept, by the digest of their token.
        pins: how PINs are compared.
        idle_ms: for how long a person may do nothing, in milliseconds.
        secret: what all services know and the store does not; empty where there is none. Each
            session is sealed with it, so that none holds that was written into the store by others.
    """

    def __init__(
        self, store: UserStore, pins: PinHashing, idle_ms: int, secret: bytes = b""
    ) -> None:
        self._store = store
        self._pins = pins
        self._idle_ms = idle_ms
        self._secret = secret
        self._attempts = SignInAttempts(store)

    async def sign_in(
        self, name: str, pin: str, caller: Caller, old_token: str | None
    ) -> OpenedSession:
        """Begin a session, and end the one that the browser had.

        A try is counted before the PIN is looked at, and taken back when it was right. A name that
        nobody has, a disabled user and a wrong PIN take as long and are told alike.

        Raises:
            UsersError: ``wrong_name_or_pin``; ``pin_expired`` where it is right, and another had
                set it more than a day ago; ``locked_out``, ``busy``, ``store_failed``.
        """
        store, keys, folded = self._store, self._store.keys, fold_name(name)
        async with self._attempts.begin(folded, caller) as begun:
            user = await store.fields(keys.user(folded))
            if await self._pins.matches(pin, user.get("pin")):
                token, csrf = _secret(), _secret()
                opened = await store.record(
                    "sign_in",
                    [
                        keys.user(folded), self._key(token), self._key(old_token or ""),
                        *keys.log_and_head, keys.devices(folded), *begun.keys,
                    ],
                    [
                        begun.number, user["generation"], folded, csrf, self._idle_ms, now_text(),
                        caller.client, caller.device_digest, _DEVICES_MOST, DEVICE_KNOWN_MS,
                        keys.user_prefix,
                        self._seal(token, folded, user["role"], user["generation"]),
                        user["role"], pin_digest(user["pin"]),
                    ],
                )  # fmt: skip
                if isinstance(opened, list):
                    name, role, must_choose = opened
                    person = SignedIn(name, parse_role(role), csrf, must_choose=must_choose == "1")
                    return OpenedSession(token, person)
                if opened == "pin_expired":
                    await self._attempts.refuse(begun, "sign_in_refused", user["name"])
                    raise UsersError("pin_expired", _EXPIRED)
            # A name that nobody has may be a PIN typed into the wrong field.
            await self._attempts.refuse(begun, "sign_in_refused", user.get("name", ""))
            raise UsersError("wrong_name_or_pin", "the name or the PIN is wrong")

    async def choose_pin(
        self, token: str | None, person: SignedIn, old: str, new: str, caller: Caller
    ) -> None:
        """Give somebody who has signed in the PIN that he chooses, and end his other sessions.

        The old PIN is guessed here no longer than at the sign-in.

        Args:
            token: of his session, which goes on.
            person: who he is.
            old: the PIN that he has, as it was typed.
            new: the PIN that he shall have; another one, since whoever set the old one knows it.
            caller: from where.

        Raises:
            UsersError: ``wrong_pin``, ``bad_pin``, ``locked_out``, ``busy``, ``session_ended``,
                ``store_failed``; his PIN is as it was.
        """
        check_pin(new)
        store, keys, folded = self._store, self._store.keys, fold_name(person.name)
        async with self._attempts.begin(folded, caller) as begun:
            user = await store.fields(keys.user(folded))
            if not await self._pins.matches(old, user.get("pin")):
                await self._attempts.refuse(begun, "pin_refused", person.name, person.name)
                raise UsersError("wrong_pin", "the PIN that you typed is not the one that you have")
            if new == old:
                await self._attempts.drop(begun)
                raise UsersError("bad_pin", "this is the PIN that you have: choose another")
            # The session goes on with the user's next generation.
            following = str(int(user["generation"]) + 1)
            status = await store.record(
                "choose_pin",
                [
                    keys.user(folded), self._key(token or ""), *keys.log_and_head,
                    keys.account(folded), *begun.keys,
                ],
                [
                    begun.number, user["generation"], await self._pins.hash(new), now_text(),
                    caller.client, self._seal(token or "", folded, person.role, following),
                    pin_digest(user["pin"]),
                ],
            )  # fmt: skip
            if status != "ok":
                raise UsersError("session_ended", "your session has ended: sign in again")

    async def find(
        self, token: str | None, *, keep_alive: bool, acts: bool = False
    ) -> SignedIn | None:
        """Whose session a token is of, or None where it is of none that still holds.

        Args:
            token: as the browser showed it.
            keep_alive: whether the person is doing something, rather than his page by itself.
            acts: whether the person changes something: then it matters who set their PIN, which
                is read in the same step (`two_people.py` says why).

        Raises:
            UsersError: ``store_failed``.
        """
        if not token:
            return None
        found = await self._store.call(
            "find_session",
            [self._key(token), self._store.keys.pins_set],
            [
                self._store.keys.user_prefix, self._idle_ms, TOUCHED_EVERY_MS, int(keep_alive),
                int(acts),
            ],
        )  # fmt: skip
        if not isinstance(found, list):
            return None
        name, role, csrf, must_choose, generation, seal, *pins_set = found
        due = self._seal(token, fold_name(name), role, generation)
        if due and not hmac.compare_digest(due, seal):
            return None
        pairs = (pair.partition("\n")[::2] for pair in pins_set)
        return SignedIn(
            name, parse_role(role), csrf, must_choose=must_choose == "1",
            setters=PinSetters.of(name, pairs),
        )  # fmt: skip

    async def sign_out(self, token: str | None, client: str) -> None:
        """End a session.

        Raises:
            UsersError: ``store_failed``.
        """
        if token:
            await self._store.record(
                "sign_out",
                [self._key(token), *self._store.keys.log_and_head],
                [now_text(), client],
            )

    def _seal(self, token: str, folded: str, role: str, generation: str) -> str:
        """What proves that a service made this session of this user; empty without a secret."""
        if not self._secret:
            return ""
        text = "\n".join((token, folded, role, generation))
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def _key(self, token: str) -> str:
        return self._store.keys.session_of(token)


def _secret() -> str:
    return secrets.token_urlsafe(_TOKEN_BYTES)
