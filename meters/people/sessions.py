"""Signing in and out, and the sessions between, shared by all workers."""

import hashlib
import ipaddress
import secrets
from dataclasses import dataclass
from typing import Final

from meters.people.errors import PeopleError
from meters.people.names import fold_name
from meters.people.pins import PinHashing
from meters.people.roles import RIGHTS, Right, Role
from meters.people.store import PeopleStore
from meters.wire.clock import now_text

TRIES_BY_NAME: Final = 5
TRIES_BY_CLIENT: Final = 20
TRIES_WITHIN_MS: Final = 15 * 60_000
LOCKED_OUT_MS: Final = 15 * 60_000
LONGEST_MS: Final = 12 * 3_600_000
"""How long a session lasts, however busy its person is."""

TOUCHED_EVERY_MS: Final = 15_000
_TOKEN_BYTES: Final = 32
_IPV6_SITE_BITS: Final = 64


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
        store, keys = self._store, self._store.keys
        folded, one_try = fold_name(name), secrets.token_hex(8)
        by_name, by_client = f"name:{folded}", f"client:{_site(client)}"
        tries = [
            keys.tries(by_name), keys.lock(by_name), keys.tries(by_client), keys.lock(by_client),
        ]  # fmt: skip
        wait_ms = await store.call(
            "begin_try", tries, [one_try, TRIES_WITHIN_MS, TRIES_BY_NAME, TRIES_BY_CLIENT]
        )
        if wait_ms:
            raise _locked_out(wait_ms)
        user = await store.fields(keys.user(folded))
        right = await self._pins.matches(pin, user.get("pin"))
        if right:
            token, csrf = secrets.token_urlsafe(_TOKEN_BYTES), secrets.token_urlsafe(_TOKEN_BYTES)
            opened = await store.call(
                "sign_in",
                [keys.user(folded), *tries, self._key(token), self._key(old_token or ""), keys.log],
                [one_try, user["generation"], folded, csrf, self._idle_ms, now_text(), client],
            )
            if isinstance(opened, list):
                return Opened(token, SignedIn(opened[0], Role(opened[1]), csrf))
        wait_ms = await store.call(
            "refuse_try",
            [*tries, keys.log],
            [
                LOCKED_OUT_MS, TRIES_BY_NAME, TRIES_BY_CLIENT,
                # A name that nobody has may be a PIN typed into the wrong field.
                now_text(), user.get("name", ""), client,
            ],
        )  # fmt: skip
        if wait_ms:
            raise _locked_out(wait_ms)
        raise PeopleError("wrong_name_or_pin", "the name or the PIN is wrong")

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
        return SignedIn(name, Role(role), csrf)

    async def sign_out(self, token: str | None, client: str) -> None:
        """End a session.

        Raises:
            PeopleError: ``store_failed``.
        """
        if token:
            await self._store.call(
                "sign_out", [self._key(token), self._store.keys.log], [now_text(), client]
            )

    def _key(self, token: str) -> str:
        return self._store.keys.session(hashlib.sha256(token.encode()).hexdigest())


def _site(client: str) -> str:
    """What of a client's address is his: of IPv6 he has a whole network to choose from."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if address.version == 4:
        return client
    return str(ipaddress.ip_network((address.packed, _IPV6_SITE_BITS), strict=False))


def _locked_out(wait_ms: object) -> PeopleError:
    wait = int(str(wait_ms))
    minutes = -(-wait // 60_000)
    return PeopleError(
        "locked_out",
        "too many wrong names or PINs: nobody can sign in so for "
        f"{minutes} minute{'s' if minutes != 1 else ''} more",
        wait_ms=wait,
    )
