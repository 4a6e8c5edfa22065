"""Sign-in attempts, counted before a PIN is checked, to limit guessing."""

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
"""The longest time for which an attempt may be undecided: far longer than a PIN check."""

_BUSY_MS: Final = 2_000
_SITE_BITS: Final = 64
_UNIQUE_LOCAL: Final = ipaddress.ip_network("fc00::/7")


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """A limit on failed attempts within a time, and the duration of the lock after it."""

    most: int
    within_ms: int
    lock_ms: int


PAIR: Final = AttemptLimit(5, 15 * _MINUTES_MS, 15 * _MINUTES_MS)
"""For one name from one address. So a stranger locks the name only for their own address."""

ADDRESS: Final = AttemptLimit(20, 15 * _MINUTES_MS, 15 * _MINUTES_MS)
"""For one address, with any name."""

NEW_DEVICES: Final = AttemptLimit(20, 60 * _MINUTES_MS, 60 * _MINUTES_MS)
"""For one name from all addresses, on devices on which it has not signed in: at most 480 a day."""

DEVICE: Final = AttemptLimit(5, 24 * 60 * _MINUTES_MS, 0)
"""For one name on a device on which it has signed in. The device is then forgotten, so a stolen one
serves for five guesses."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Origin of a sign-in.

    Attributes:
        client: the network address.
        device: the token that the browser received when a user signed in with it, if it has one.
    """

    client: str
    device: str = ""

    @property
    def device_digest(self) -> str:
        """The digest by which the device is stored; empty if there is no token."""
        return hashlib.sha256(self.device.encode()).hexdigest()[:32] if self.device else ""


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """An attempt whose PIN may be checked.

    Attributes:
        number: its unique number.
        folded: the name.
        bounds: the limits against which it counts, by label; the name's own one is first.
        keys: the lock-out keys of each of them, as the scripts expect them.
        client: the network address of the attempt.
        device: the digest of a device on which that name has signed in; empty for any other.
    """

    number: str
    folded: str
    bounds: Mapping[str, AttemptLimit]
    keys: list[str]
    client: str
    device: str


class SignInAttempts:
    """The attempts of the facility, by name and network address, or by device.

    An attempt on a device on which the name has signed in counts only against that device. So other
    people's failures do not lock its user out. Every other attempt counts against its name at its
    address, against its address, and against all new devices of the name together.
    """

    def __init__(self, store: UserStore) -> None:
        self._store = store

    @asynccontextmanager
    async def begin(self, folded: str, caller: Caller) -> AsyncIterator[SignInAttempt]:
        """Begin an attempt; the caller decides it.

        Attempts are checked in parallel only up to the number that may still fail. Further ones are
        refused as ``busy``, because nothing is known against them.

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
            raise UsersError("busy", "too many users sign in now: try again", wait_ms=_BUSY_MS)
        if wait_ms:
            raise _locked_out(wait_ms)
        try:
            yield begun
        except UsersError as error:
            if error.code == "busy":
                await self.drop(begun)
            raise

    async def drop(self, begun: SignInAttempt) -> None:
        """Remove an attempt that was neither wrong nor used.

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
        """Record that an attempt failed.

        Raises:
            UsersError: ``locked_out`` if it was one too many, ``store_failed``.
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
    """Return a new token for a device on which nobody has signed in yet."""
    return secrets.token_urlsafe(32)


def lock_keys(keys: UserKeys, folded: str, labels: Iterable[str]) -> list[str]:
    """Return the keys that store the attempts and locks for the labels of a name."""
    return [
        key
        for label in labels
        for key in keys.lock_out(label if label.startswith("address:") else f"{label}:{folded}")
    ]


def _terms(of: SignInAttempt) -> list[str | int]:
    """Return the limits of an attempt as script arguments."""
    return [
        term
        for label, bound in of.bounds.items()
        for term in (label, bound.most, bound.within_ms, bound.lock_ms)
    ]


def site(client: str) -> str:
    """Return the part of a client's address that identifies its site.

    A client with global IPv6 can choose any address of a whole network, so it counts as that
    network. In a local IPv6 network all hosts share the one network, so there the whole address
    counts.
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
        "too many wrong names or PINs: sign-in is locked here for "
        f"{minutes} minute{'s' if minutes != 1 else ''} more, unless an administrator unlocks it",
        wait_ms=wait,
    )
