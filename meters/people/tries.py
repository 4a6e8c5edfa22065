"""Tries to sign in: counted before a PIN is looked at, so that nobody guesses for long."""

import ipaddress
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal

from meters.people.errors import PeopleError
from meters.people.keys import PeopleKeys
from meters.people.store import PeopleStore
from meters.wire.clock import now_text

TRIES_BY_NAME: Final = 5
TRIES_BY_CLIENT: Final = 20
TRIES_WITHIN_MS: Final = 15 * 60_000
LOCKED_OUT_MS: Final = 15 * 60_000
UNDECIDED_MS: Final = 60_000
"""For how long a try may be undecided: far longer than a PIN is looked at."""

_BUSY_MS: Final = 2_000
_SITE_BITS: Final = 64
_UNIQUE_LOCAL: Final = ipaddress.ip_network("fc00::/7")


@dataclass(frozen=True, slots=True)
class Try:
    """A try whose PIN may be looked at.

    Attributes:
        number: tells it from all others.
        keys: what the lock-out knows of the name and of the address, as the scripts take it.
        client: the network address it came from.
    """

    number: str
    keys: list[str]
    client: str


class Tries:
    """The tries of the facility, by name and by network address."""

    def __init__(self, store: PeopleStore) -> None:
        self._store = store

    @asynccontextmanager
    async def begin(self, folded: str, client: str) -> AsyncIterator[Try]:
        """A try as a name, from an address; whoever begins it decides it.

        As many as might yet fail are looked at at once, and no more: the rest are told to come
        again, for nothing is known against them.

        Args:
            folded: the name.
            client: the network address.

        Raises:
            PeopleError: ``locked_out``, ``busy``, ``store_failed``.
        """
        begun = Try(secrets.token_hex(8), _lock_out(self._store.keys, folded, client), client)
        wait_ms = await self._store.call(
            "begin_try", begun.keys,
            [begun.number, TRIES_WITHIN_MS, UNDECIDED_MS, TRIES_BY_NAME, TRIES_BY_CLIENT],
        )  # fmt: skip
        if wait_ms == -1:
            raise PeopleError("busy", "too many sign in at once: try again", wait_ms=_BUSY_MS)
        if wait_ms:
            raise _locked_out(wait_ms)
        try:
            yield begun
        except PeopleError as error:
            if error.code == "busy":
                await self.drop(begun)
            raise

    async def drop(self, begun: Try) -> None:
        """Take back a try that was neither wrong nor used.

        Raises:
            PeopleError: ``store_failed``.
        """
        await self._store.call("drop_try", begun.keys, [begun.number])

    async def refuse(
        self,
        failed: Try,
        what: Literal["sign_in_refused", "pin_refused"],
        about: str,
        by: str = "",
    ) -> None:
        """Record that a try failed.

        Args:
            failed: which.
            what: for the log.
            about: as which user, where there is such a user.
            by: who had signed in already.

        Raises:
            PeopleError: ``locked_out`` where it was one too many, ``store_failed``.
        """
        wait_ms = await self._store.call(
            "refuse_try",
            [*failed.keys, *self._store.keys.log_and_head],
            [
                failed.number, TRIES_WITHIN_MS, LOCKED_OUT_MS, TRIES_BY_NAME, TRIES_BY_CLIENT,
                now_text(), what, by, about, failed.client,
            ],
        )  # fmt: skip
        if wait_ms:
            raise _locked_out(wait_ms)


def _lock_out(keys: PeopleKeys, folded: str, client: str) -> list[str]:
    return [*keys.name_lock_out(folded), *keys.lock_out(f"client:{site(client)}")]


def site(client: str) -> str:
    """What of a client's address is his: of global IPv6 he has a whole network to choose from.

    In a local network of IPv6 all hosts share the one network, so there it is the whole address.
    """
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    if address in _UNIQUE_LOCAL or address.is_link_local or address.is_loopback:
        return str(address)
    return str(ipaddress.ip_network((address.packed, _SITE_BITS), strict=False))


def _locked_out(wait_ms: object) -> PeopleError:
    wait = int(str(wait_ms))
    minutes = -(-wait // 60_000)
    return PeopleError(
        "locked_out",
        "too many wrong names or PINs: nobody can sign in so for "
        f"{minutes} minute{'s' if minutes != 1 else ''} more",
        wait_ms=wait,
    )
