import asyncio
import base64
import itertools
import re
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from meters.users.user_store import UsersError

_DIGITS: Final = re.compile(r"[0-9]{6,12}")
_IN_GROUPS: Final = re.compile(r"(?:([0-9])\1+)+")
_YEAR: Final = re.compile(r"^(?:19|20)[0-9]{2}|(?:19|20)[0-9]{2}$")
_DATE_DIGITS: Final = 8
_NEIGHBOURS: Final = {
    "1": "245", "2": "13456", "3": "256", "4": "12578", "5": "12346789", "6": "23589",
    "7": "4580", "8": "456790", "9": "5680", "0": "789",
}  # fmt: skip
_LISTED: Final = frozenset({
    "014725", "024680", "112358", "122333", "131420", "131452", "135790", "135791",
    "135792", "135798", "141421", "142857", "147258", "159263", "159357", "159753",
    "161803", "173205", "246801", "246810", "246813", "246824", "271828", "314159",
    "334452", "420069", "520131", "521314", "555121", "584520", "584521", "775825",
    "775852", "789456", "864201", "867530", "975310", "975319",
})  # fmt: skip
"""The first six digits of common PINs that the rules do not find."""

_GENERATED_DIGITS: Final = 8
_AT_ONCE: Final = 2
_WAITING_MAX: Final = 32
_BUSY_MS: Final = 2_000
_SALT_BYTES: Final = 16
_HASH_BYTES: Final = 32


def check_digits(pin: str) -> None:
    """Raise `UsersError` ``bad_pin`` unless a PIN has 6 to 12 digits. No message has the PIN."""
    if not _DIGITS.fullmatch(pin):
        raise UsersError("bad_pin", "a PIN has 6 to 12 digits")


def check_pin(pin: str) -> None:
    """Refuse a PIN that does not have 6 to 12 digits, or that others would try first.

    About one in six PINs of six digits is refused. Each of the other PINs is chosen by few people,
    so an attacker who tries likely PINs gains little.

    Raises:
        UsersError: ``bad_pin``. The message has the broken rule, but never the PIN.
    """
    check_digits(pin)
    for is_common, what in _COMMON_RULES:
        if is_common(pin):
            message = f"{what} is one of the first PINs that somebody would try: {_CHOOSE}"
            raise UsersError("bad_pin", message)


def _is_repeated(pin: str) -> bool:
    blocks = (pin[:size] * len(pin) for size in range(1, len(pin) // 2 + 1) if len(pin) % size == 0)
    return (
        len(set(pin)) <= 2
        or any(block.startswith(pin) for block in blocks)
        or _IN_GROUPS.fullmatch(pin) is not None
        or pin == pin[::-1]
    )


def _is_run(pin: str) -> bool:
    """Check if digits rise or fall in equal steps.

    The steps can also be within groups of three or more digits, between every second digit, or
    between all digits but two at the ends.
    """
    nearly = (pin[at : at + len(pin) - 2] for at in range(3))
    return (
        _in_runs(pin)
        or all(_step(pin[at::2]) is not None for at in (0, 1))
        or any(_step(part) in {-1, 0, 1} for part in nearly)
    )


def _in_runs(pin: str) -> bool:
    return not pin or any(
        _step(pin[:size]) is not None and _in_runs(pin[size:]) for size in range(3, len(pin) + 1)
    )


def _step(digits: str) -> int | None:
    """Return the step from each digit to the next; None if the steps differ. 0 follows 9."""
    steps = {int(after) - int(before) for before, after in itertools.pairwise(digits)}
    steps = {{-9: 1, 9: -1}.get(step, step) for step in steps}
    return steps.pop() if len(steps) == 1 else None


def _is_walk(pin: str) -> bool:
    return all(after in _NEIGHBOURS[before] for before, after in itertools.pairwise(pin))


def _is_date(pin: str) -> bool:
    if len(pin) <= _DATE_DIGITS and _YEAR.search(pin):
        return True
    days_and_months = ((0, 2), (2, 0), (4, 2))  # DDMMYY, MMDDYY, YYMMDD
    return len(pin) == 6 and any(
        1 <= int(pin[day : day + 2]) <= 31 and 1 <= int(pin[month : month + 2]) <= 12
        for day, month in days_and_months
    )


def _is_listed(pin: str) -> bool:
    return pin[:6] in _LISTED


_COMMON_RULES: Final[Sequence[tuple[Callable[[str], bool], str]]] = (
    (_is_repeated, "a PIN of repeated or mirrored digits"),
    (_is_run, "a PIN that counts up or down"),
    (_is_walk, "a PIN of keys next to each other"),
    (
        _is_date,
        "a date, or a PIN of at most 8 digits that begins or ends with a year (1900 to 2099),",
    ),
    (_is_listed, "this PIN"),
)
_CHOOSE: Final = "choose digits without a pattern, for example with dice"


def generate_pin() -> str:
    while True:
        pin = f"{secrets.randbelow(10**_GENERATED_DIGITS):0{_GENERATED_DIGITS}}"
        with suppress(UsersError):
            check_pin(pin)
            return pin


class PinHashing:
    """Calculation and comparison of PIN hashes (argon2id), in threads.

    So a calculation does not block the event loop. If too many calculations wait, the methods raise
    a `UsersError` ``busy``.

    `time_cost` is the number of passes over the memory. Three passes over 64 MiB on one lane take
    about 0.15 s of one core. This cost is above the minimum of OWASP, and short enough for a
    sign-in.
    """

    def __init__(self, *, time_cost: int = 3, memory_kib: int = 65_536) -> None:
        self._hasher = PasswordHasher(
            time_cost=time_cost,
            memory_cost=memory_kib,
            parallelism=1,
            hash_len=_HASH_BYTES,
            salt_len=_SALT_BYTES,
        )
        # This hash costs as much as a real one. It is random, so nobody knows a PIN that matches
        # it.
        self._nobodys = (
            f"$argon2id$v=19$m={memory_kib},t={time_cost},p=1"
            f"${_base64(_SALT_BYTES)}${_base64(_HASH_BYTES)}"
        )
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0

    async def hash(self, pin: str) -> str:
        """Return the hash of a PIN, or raise ``bad_pin``. Redis never has the PIN."""
        check_digits(pin)
        async with self._place():
            return await asyncio.to_thread(self._hasher.hash, pin)

    async def matches(self, pin: str, stored: str | None) -> bool:
        """Return whether a PIN matches a stored hash.

        If `stored` is None, return False, but take as long as a real check. So nobody can measure
        whether a user exists.
        """
        async with self._place():
            return await asyncio.to_thread(self._verify, stored or self._nobodys, pin)

    def _verify(self, stored: str, pin: str) -> bool:
        try:
            return self._hasher.verify(stored, pin)
        except (VerificationError, InvalidHashError):
            return False

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
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
