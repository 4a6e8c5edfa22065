"""Limits on sign-in attempts. An attempt is counted before its PIN is checked."""

import hashlib
import ipaddress
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal

from meters.process.clock import now_text
from meters.store.user_keys import UserKeys
from meters.users.user_store import UsersError, UserStore

_MINUTES_MS: Final = 60_000

UNDECIDED_MS: Final = 60_000
"""After this time, an attempt without a result no longer counts: checking a PIN takes less time."""

_BUSY_MS: Final = 2_000
_SITE_BITS: Final = 64
_UNIQUE_LOCAL: Final = ipaddress.ip_network("fc00::/7")


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """A limit on failed attempts within `within_ms`. Reaching it locks sign-in for `lock_ms`."""

    most: int
    within_ms: int
    lock_ms: int


PAIR: Final = AttemptLimit(5, 15 * _MINUTES_MS, 15 * _MINUTES_MS)
"""Limit for one name at one address. Whoever reaches it locks the name only at this address."""

ADDRESS: Final = AttemptLimit(20, 15 * _MINUTES_MS, 15 * _MINUTES_MS)
"""Limit for all names at one network address."""

NEW_DEVICES: Final = AttemptLimit(20, 24 * 60 * _MINUTES_MS, 4 * 60 * _MINUTES_MS)
"""Limit for one name at all addresses, on devices where the name has never signed in.

It allows at most 120 attempts a day.
"""

EVERYBODY: Final = AttemptLimit(40, 60 * _MINUTES_MS, 0)
"""Limit for all names and addresses together, on devices where the name has never signed in.

When the limit is reached, nothing is locked, but attempts are *slowed*. After each failed attempt
of anybody, an address without recent failures must wait `CLEAN_GAP_MS`; any other address must wait
`FAILED_GAP_MS`. So most people still get in. Somebody who tries a few PINs for every name gets at
most 8,640 attempts a day, even with many addresses.
"""

CLEAN_GAP_MS: Final = 10_000
FAILED_GAP_MS: Final = 60_000

DEVICE: Final = AttemptLimit(5, 24 * 60 * _MINUTES_MS, 0)
"""Limit for one name on a known device. When the limit is reached, the device is forgotten.

So a thief of the device has only five attempts outside the other limits.
"""


@dataclass(frozen=True, slots=True)
class Caller:
    """The network address and the device of a sign-in attempt.

    `device` is the token that the browser got at an earlier sign-in; empty if it has none.
    """

    client: str
    device: str = ""

    @property
    def device_digest(self) -> str:
        return hashlib.sha256(self.device.encode()).hexdigest()[:32] if self.device else ""


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """A sign-in attempt that has reached no limit. The service may check its PIN.

    `bounds` are the limits that count the attempt, by label. The first limit is for this name, on
    the device or at the network address. `keys` are the Redis keys of the limits, in the order of
    the Lua scripts. `folded` is the name in lower case. `device` is a digest; empty if the name has
    never signed in on this device.
    """

    number: str
    folded: str
    bounds: Mapping[str, AttemptLimit]
    keys: list[str]
    client: str
    device: str


RefusalReason = Literal["wrong", "locked", "slowed"]
CountRefused = Callable[[Literal["known", "new"], RefusalReason], None]
"""Counts a refused attempt by device (known or new for the name) and by reason."""


def count_nothing(_device: str, _reason: str) -> None:
    """Do nothing, because a command has no metrics."""


class SignInAttempts:
    """The sign-in attempts of the facility, counted by name and network address, or by device.

    A device is known for a name that has signed in on it. An attempt on a known device counts only
    for the limit of the device. So the user can still sign in if other people fail under the name.
    An attempt on any other device counts for four limits: of the name at the network address, of
    the network address, of the name on all new devices together, and of everybody on new devices.
    """

    def __init__(self, store: UserStore, count_refused: CountRefused = count_nothing) -> None:
        self._store = store
        self._count_refused = count_refused

    @asynccontextmanager
    async def begin(self, folded: str, caller: Caller) -> AsyncIterator[SignInAttempt]:
        """Begin a sign-in attempt. The `async with` block must check the PIN and record the result.

        The number of simultaneous attempts is limited to the failures that a limit still allows.
        Further attempts are refused as ``busy``, and do not count as failures.

        Raises:
            UsersError: ``locked_out`` if a limit is reached; ``slowed`` if too many people failed
                to sign in; ``busy``; ``store_failed``.
        """
        begun = await self._attempt(folded, caller)
        keys = self._store.keys
        answer = await self._store.call(
            "begin_attempt",
            [keys.user(folded), keys.locks(folded), *begun.keys],
            [begun.number, UNDECIDED_MS, CLEAN_GAP_MS, FAILED_GAP_MS, *_terms(begun)],
        )
        match answer:
            case ["busy", _]:
                raise UsersError("busy", "too many users sign in now: try again", wait_ms=_BUSY_MS)
            case ["slowed", wait_ms]:
                self._count(begun, "slowed")
                raise _slowed(int(wait_ms))
            case ["locked", wait_ms]:
                self._count(begun, "locked")
                raise _locked_out(int(wait_ms))
        try:
            yield begun
        except UsersError as error:
            if error.code == "busy":
                await self.drop(begun)
            raise

    async def drop(self, begun: SignInAttempt) -> None:
        """Take back the count of an attempt that neither failed nor opened a session."""
        await self._store.call("drop_attempt", begun.keys, [begun.number])

    async def refuse(
        self,
        failed: SignInAttempt,
        what: Literal["sign_in_refused", "pin_refused"],
        about: str,
        by: str = "",
    ) -> None:
        """Record that a sign-in attempt failed.

        Raises:
            UsersError: ``locked_out`` if this failure reaches a limit; ``store_failed``.
        """
        keys = self._store.keys
        wait_ms = await self._store.record(
            "refuse_attempt",
            [
                *keys.log_and_head,
                keys.user(failed.folded),
                keys.locks(failed.folded),
                keys.devices(failed.folded),
                *failed.keys,
            ],
            [
                failed.number,
                now_text(),
                what,
                by,
                about,
                failed.client,
                failed.device,
                *_terms(failed),
            ],
        )
        self._count(failed, "wrong")
        if wait_ms:
            raise _locked_out(int(str(wait_ms)))

    def _count(self, begun: SignInAttempt, reason: RefusalReason) -> None:
        self._count_refused("known" if begun.device else "new", reason)

    async def _attempt(self, folded: str, caller: Caller) -> SignInAttempt:
        device = caller.device_digest
        if device and await self._store.has_signed_in(device, folded):
            bounds = {f"device:{device}": DEVICE}
        else:
            device = ""
            network = site(caller.client)
            bounds = {
                f"pair:{network}": PAIR, f"address:{network}": ADDRESS, "new": NEW_DEVICES,
                "everybody": EVERYBODY,
            }  # fmt: skip
        keys = lock_keys(self._store.keys, folded, bounds)
        return SignInAttempt(secrets.token_hex(8), folded, bounds, keys, caller.client, device)


def new_device() -> str:
    return secrets.token_urlsafe(32)


def lock_keys(keys: UserKeys, folded: str, labels: Iterable[str]) -> list[str]:
    return [
        key
        for label in labels
        for key in keys.lock_out(f"{label}:{folded}" if _is_of_name(label) else label)
    ]


def _is_of_name(label: str) -> bool:
    return not label.startswith("address:") and label != "everybody"


def _terms(of: SignInAttempt) -> list[str | int]:
    return [
        term
        for label, bound in of.bounds.items()
        for term in (label, bound.most, bound.within_ms, bound.lock_ms)
    ]


def site(client: str) -> str:
    """Return the part of a network address that identifies its owner.

    The owner of a global IPv6 address can use any address of a whole network, so this network is
    returned. Machines of a local IPv6 network share the network, so the whole address is returned.
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


def _locked_out(wait_ms: int) -> UsersError:
    minutes = -(-wait_ms // 60_000)
    return UsersError(
        "locked_out",
        "too many wrong names or PINs: sign-in is locked here for "
        f"{minutes} minute{'s' if minutes != 1 else ''} more, unless an administrator unlocks it",
        wait_ms=wait_ms,
    )


def _slowed(wait_ms: int) -> UsersError:
    seconds = -(-wait_ms // 1000)
    return UsersError(
        "slowed",
        "somebody enters many wrong names or PINs, so signing in is slow in a browser where you"
        f" have not signed in before: try again in {seconds} second{'s' if seconds != 1 else ''}",
        wait_ms=wait_ms,
    )
