"""Tries to sign in: counted before a PIN is looked at, so that nobody guesses for long."""

import hashlib
import ipaddress
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal

from meters.redis_client.user_keys import UserKeys
from meters.users.errors import UsersError
from meters.users.store import UserStore
from meters.wire.clock import now_text

_MINUTES_MS: Final = 60_000

UNDECIDED_MS: Final = 60_000
"""For how long a try may be undecided: far longer than a PIN is looked at."""

_BUSY_MS: Final = 2_000
_SITE_BITS: Final = 64
_UNIQUE_LOCAL: Final = ipaddress.ip_network("fc00::/7")


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """How many tries may fail within a time, and for how long it is locked then."""

    most: int
    within_ms: int
    lock_ms: int


PAIR: Final = AttemptLimit(5, 15 * _MINUTES_MS, 15 * _MINUTES_MS)
"""As one name from one address: a stranger locks the name for their own address alone."""

ADDRESS: Final = AttemptLimit(20, 15 * _MINUTES_MS, 15 * _MINUTES_MS)
"""From one address, whatever the name."""

NEW_DEVICES: Final = AttemptLimit(20, 60 * _MINUTES_MS, 60 * _MINUTES_MS)
"""As one name from all addresses, by devices that have not signed in so: 480 a day, no more."""

DEVICE: Final = AttemptLimit(5, 24 * 60 * _MINUTES_MS, 0)
"""As one name by a device that has signed in so. It is forgotten then, so a stolen one serves for
five guesses."""


@dataclass(frozen=True, slots=True)
class Caller:
    """From where somebody signs in.

    Attributes:
        client: the network address.
        device: the token that the browser was given when somebody signed in with it, if it has one.
    """

    client: str
    device: str = ""

    @property
    def device_digest(self) -> str:
        """By what the device is kept; empty where there is no token."""
        return hashlib.sha256(self.device.encode()).hexdigest()[:32] if self.device else ""


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """A try whose PIN may be looked at.

    Attributes:
        number: tells it from all others.
        folded: the name.
        bounds: what it counts against, by label; first what is the name's own.
        keys: what the lock-out knows of each of them, as the scripts take it.
        client: the network address it came from.
        device: the digest of a device that had signed in as that name; empty for any other.
    """

    number: str
    folded: str
    bounds: Mapping[str, AttemptLimit]
    keys: list[str]
    client: str
    device: str


class SignInAttempts:
    """The tries of the facility, by name and network address, or by device.

    A device that has signed in as a name counts for itself alone, so that nobody else's failures
    keep its person out. Every other counts against its name at its address, against its address,
    and against all new devices of the name together.
    """

    def __init__(self, store: UserStore) -> None:
        self._store = store

    @asynccontextmanager
    async def begin(self, folded: str, caller: Caller) -> AsyncIterator[SignInAttempt]:
        """A try as a name, from an address; whoever begins it decides it.

        As many as might yet fail are looked at at once, and no more: the rest are told to come
        again, for nothing is known against them.

        Raises:
            UsersError: ``locked_out``, ``busy``, ``store_failed``.
        """
        begun = await self._try(folded, caller)
        keys = self._store.keys
        wait_ms = await self._store.call(
            "begin_try",
            [keys.user(folded), keys.locks(folded), *begun.keys],
            [begun.number, UNDECIDED_MS, *_terms(begun)],
        )
        if wait_ms == -1:
            raise UsersError("busy", "too many sign in at once: try again", wait_ms=_BUSY_MS)
        if wait_ms:
            raise _locked_out(wait_ms)
        try:
            yield begun
        except UsersError as error:
            if error.code == "busy":
                await self.drop(begun)
            raise

    async def drop(self, begun: SignInAttempt) -> None:
        """Take back a try that was neither wrong nor used.

        Raises:
            UsersError: ``store_failed``.
        """
        await self._store.call("drop_try", begun.keys, [begun.number])

    async def refuse(
        self,
        failed: SignInAttempt,
        what: Literal["sign_in_refused", "pin_refused"],
        about: str,
        by: str = "",
    ) -> None:
        """Record that a try failed.

        Raises:
            UsersError: ``locked_out`` where it was one too many, ``store_failed``.
        """
        keys = self._store.keys
        wait_ms = await self._store.record(
            "refuse_try",
            [
                *keys.log_and_head, keys.user(failed.folded), keys.locks(failed.folded),
                keys.devices(failed.folded), *failed.keys,
            ],
            [
                failed.number, now_text(), what, by, about, failed.client, failed.device,
                *_terms(failed),
            ],
        )  # fmt: skip
        if wait_ms:
            raise _locked_out(wait_ms)

    async def _try(self, folded: str, caller: Caller) -> SignInAttempt:
        device = caller.device_digest
        if device and await self._store.has_signed_in(device, folded):
            bounds = {f"device:{device}": DEVICE}
        else:
            device = ""
            network = site(caller.client)
            bounds = {f"pair:{network}": PAIR, f"address:{network}": ADDRESS, "new": NEW_DEVICES}
        keys = lock_keys(self._store.keys, folded, bounds)
        return SignInAttempt(secrets.token_hex(8), folded, bounds, keys, caller.client, device)


def new_device() -> str:
    """The token of a device with which nobody has signed in yet."""
    return secrets.token_urlsafe(32)


def lock_keys(keys: UserKeys, folded: str, labels: Iterable[str]) -> list[str]:
    """Where all that is known of labels of a name's tries is kept."""
    return [
        key
        for label in labels
        for key in keys.lock_out(label if label.startswith("address:") else f"{label}:{folded}")
    ]


def _terms(of: SignInAttempt) -> list[str | int]:
    """What a try counts against, as the scripts take it."""
    return [
        term
        for label, bound in of.bounds.items()
        for term in (label, bound.most, bound.within_ms, bound.lock_ms)
    ]


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


def _locked_out(wait_ms: object) -> UsersError:
    wait = int(str(wait_ms))
    minutes = -(-wait // 60_000)
    return UsersError(
        "locked_out",
        "too many wrong names or PINs: from here nobody can sign in so for "
        f"{minutes} minute{'s' if minutes != 1 else ''} more, unless an administrator unlocks it",
        wait_ms=wait,
    )
