"""Check of Redis for known weaknesses: by a harmless script, and by its version (D20)."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from meters.selfcheck.check_result import Check

_WITHIN_S: Final = 5.0
_WHAT: Final = "redis version"

_PROBE: Final = """
local strings = getmetatable('')
if strings and pcall(function() strings.__index = strings.__index end) then return 1 end
return 0
"""
"""A script that returns 1 if it may change what the scripts of all Redis users share: the methods
of strings. It sets the present value again, so nothing changes."""

_FIXED: Final[Mapping[str, Mapping[tuple[int, int], int]]] = {
    "Redis": {
        (6, 2): 24, (7, 2): 16, (7, 4): 11, (8, 2): 9, (8, 4): 6, (8, 6): 6, (8, 8): 2, (8, 10): 1,
    },
    "Valkey": {(8, 0): 11, (8, 1): 9, (9, 0): 6, (9, 1): 1},
}  # fmt: skip
"""For each line of versions that its makers correct, the first one without the weaknesses that were
known in November 2026. The worst are CVE-2025-49844 (scripts), and CVE-2026-81934 of Redis and
CVE-2026-56684 of Valkey (TLS)."""

_OF_DISTRIBUTIONS: Final = frozenset({("Redis", "7.0.15"), ("Redis", "8.0.2"), ("Valkey", "8.1.1")})
"""Versions in Debian 12 and 13. Debian corrects them, and keeps the number."""


async def check_weaknesses(everywhere: Iterable[Redis]) -> Check | None:
    """Check the versions of all primaries. A weakness is a warning: the floor continues.

    Return None if Redis does not answer or refuses the script, which other checks report.
    """
    try:
        async with asyncio.timeout(_WITHIN_S):
            found = [await _look(each) for each in everywhere]
    except (RedisError, OSError):
        return None
    wrong = [seen for seen, is_weak in found if is_weak]
    seen = "; ".join(dict.fromkeys(wrong or (seen for seen, _ in found)))
    return Check(_WHAT, holds=not wrong, seen=seen, warns=True)


async def _look(redis: Redis) -> tuple[str, bool]:
    """Return what is known of a server, and if that is a weakness."""
    facts: Mapping[str, Any] = await redis.info("server")
    probe = redis.register_script(_PROBE)
    is_writable = bool(await probe())
    # Valkey also says the version of Redis that it is compatible with.
    maker = "Valkey" if "valkey_version" in facts else "Redis"
    return weakness(maker, str(facts[f"{maker.lower()}_version"]), is_writable=is_writable)


def weakness(maker: str, version: str, *, is_writable: bool) -> tuple[str, bool]:
    """Return what is known of a version, and if that is a weakness.

    >>> weakness("Redis", "7.2.16", is_writable=False)
    ('Redis 7.2.16: no weakness known in November 2026', False)
    """
    name = f"{maker} {version}"
    if is_writable:
        seen = (
            f"{name} lets a script of one Redis user change the scripts of the others"
            " (CVE-2025-46818), and has other known weaknesses: install a later version"
        )
        return seen, True
    if (maker, version) in _OF_DISTRIBUTIONS:
        seen = (
            f"{name} of Debian or Ubuntu, with their corrections. It does not say which: install"
            " their updates"
        )
        return seen, False
    numbers = [int(part) for part in version.split(".") if part.isdecimal()]
    major, minor, patch = [*numbers, 0, 0, 0][:3]
    line, fixed = (major, minor), _FIXED[maker]
    newest = max(fixed)
    if line > newest or (line in fixed and patch >= fixed[line]):
        return f"{name}: no weakness known in November 2026", False
    better = line if line in fixed else newest
    seen = (
        f"{name} has known weaknesses, unless its distribution corrected them, which it does not"
        f" say: install {better[0]}.{better[1]}.{fixed[better]} or later"
    )
    return seen, True
