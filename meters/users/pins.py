"""PINs: their format, their generation, and their storage as hashes."""

import asyncio
import base64
import itertools
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from meters.users.errors import UsersError

_DIGITS: Final = re.compile(r"[0-9]{6,12}")
_GENERATED_DIGITS: Final = 8
_AT_ONCE: Final = 2
_WAITING_MAX: Final = 32
_BUSY_MS: Final = 2_000
_SALT_BYTES: Final = 16
_HASH_BYTES: Final = 32


def check_pin(pin: str) -> None:
    """Refuse a PIN that does not have 6 to 12 digits, or that is easy to guess.

    Raises:
        UsersError: ``bad_pin``, with the broken rule. The message never contains the PIN.
    """
    if not _DIGITS.fullmatch(pin):
        raise UsersError("bad_pin", "a PIN has 6 to 12 digits")
    steps = {(int(after) - int(before)) % 10 for before, after in itertools.pairwise(pin)}
    if steps in ({0}, {1}, {9}):
        raise UsersError("bad_pin", "a PIN must not be one digit repeated, or a run up or down")


def generate_pin() -> str:
    """Return a random PIN that `check_pin` accepts."""
    while True:
        pin = f"{secrets.randbelow(10**_GENERATED_DIGITS):0{_GENERATED_DIGITS}}"
        with suppress(UsersError):
            check_pin(pin)
            return pin


class PinHashing:
    """Calculation and comparison of PIN hashes (argon2id), in threads that do not stop the service.

    Args:
        time_cost: the number of passes over the memory. Three passes over 64 MiB on one lane take
            about 0.15 s of one core. This cost is above the minimum of OWASP, and the time is short
            enough for a sign-in.
        memory_kib: the memory that one hash needs, in KiB.
    """

    def __init__(self, *, time_cost: int = 3, memory_kib: int = 65_536) -> None:
        self._hasher = PasswordHasher(
            time_cost=time_cost,
            memory_cost=memory_kib,
            parallelism=1,
            hash_len=_HASH_BYTES,
            salt_len=_SALT_BYTES,
        )
        # This hash has the same cost as a real one. No PIN is known that matches it, because it is
        # random.
        self._nobodys = (
            f"$argon2id$v=19$m={memory_kib},t={time_cost},p=1"
            f"${_base64(_SALT_BYTES)}${_base64(_HASH_BYTES)}"
        )
        self._places = _HashingSlots()

    async def hash(self, pin: str) -> str:
        """Return the hash of a PIN. Redis stores the hash, never the PIN.

        Raises:
            UsersError: ``bad_pin`` if the PIN has a wrong form, ``busy`` if too many hashes are
                waiting.
        """
        check_pin(pin)
        async with self._places.acquire():
            return await asyncio.to_thread(self._hasher.hash, pin)

    async def matches(self, pin: str, stored: str | None) -> bool:
        """Check if a PIN matches a stored hash.

        If `stored` is None, return False, but take as long as a real check. So nobody can measure
        whether a user exists.

        Raises:
            UsersError: ``busy`` if too many calculations are waiting.
        """
        async with self._places.acquire():
            return await asyncio.to_thread(self._verify, stored or self._nobodys, pin)

    def _verify(self, stored: str, pin: str) -> bool:
        try:
            return self._hasher.verify(stored, pin)
        except (VerificationError, InvalidHashError):
            return False


class _HashingSlots:
    """Limits on the number of simultaneous hash calculations, and on the length of their queue."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[None]:
        """Wait until the caller is allowed to calculate a hash, and yield.

        Raises:
            UsersError: ``busy`` if too many calculations are waiting.
        """
        if self._waiting >= _WAITING_MAX:
            raise UsersError("busy", "too many users sign in now: try again", wait_ms=_BUSY_MS)
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._free.release()


def _base64(size: int) -> str:
    return base64.b64encode(secrets.token_bytes(size)).decode().rstrip("=")
