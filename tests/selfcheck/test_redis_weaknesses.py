"""`pitlink check` names a Redis with known weaknesses, by a script and by its version (D20)."""

import re
from typing import Final

import pytest
from redis.asyncio import Redis

from meters.selfcheck.server_checks import check_weaknesses, weakness
from tests.deploy.tree import DEPLOY
from tests.redis_versions import OldestRedis
from tests.servers import RedisServer

pytestmark = pytest.mark.duty("D20")

_STRINGS: Final = """
local number = 0
for _ in pairs(getmetatable('')) do number = number + 1 end
return {number, ('x'):upper()}
"""


@pytest.mark.parametrize(("server", "is_weak"), [(OldestRedis, True), (RedisServer, False)])
async def test_a_redis_whose_users_share_what_scripts_can_change_is_named(
    server: type[RedisServer], *, is_weak: bool
) -> None:
    """The probe changes nothing in a server that would allow it."""
    with server() as running:
        async with Redis.from_url(running.url) as redis:
            before = await redis.eval(_STRINGS, 0)
            check = await check_weaknesses([redis])
            assert await redis.eval(_STRINGS, 0) == before
            assert await redis.dbsize() == 0
    assert check is not None
    assert (check.holds, check.warns) == (not is_weak, True)
    assert ("CVE-2025-46818" in check.seen) == is_weak


@pytest.mark.parametrize(
    ("maker", "version", "expected"),
    [
        ("Redis", "7.2.16", None),
        ("Redis", "9.0.0", None),
        ("Redis", "7.2.5", "install 7.2.16 or later"),
        ("Redis", "7.0.11", "install 8.10.1 or later"),
        ("Redis", "8.4.5", "install 8.4.6 or later"),
        ("Redis", "255.255.255", None),
        ("Redis", "unknown", "install 8.10.1 or later"),
        ("Valkey", "8.1.9", None),
        ("Valkey", "8.0.6", "install 8.0.11 or later"),
        ("Valkey", "7.2.11", "install 9.1.1 or later"),
    ],
)
def test_a_version_below_the_first_corrected_one_of_its_line_is_named(
    maker: str, version: str, expected: str | None
) -> None:
    seen, is_weak = weakness(maker, version, is_writable=False)
    assert is_weak == (expected is not None)
    assert seen.startswith(f"{maker} {version}")
    assert expected is None or expected in seen


def test_what_a_distribution_corrected_is_said_to_be_unknown() -> None:
    """Debian keeps the number of a version whose weaknesses it corrects."""
    seen, is_weak = weakness("Redis", "7.0.15", is_writable=False)
    assert (is_weak, "does not say which" in seen) == (False, True)
    assert weakness("Redis", "7.0.15", is_writable=True)[1], "not even its corrections are there"


def test_the_redis_of_the_containers_has_no_known_weakness() -> None:
    for path in ("compose.yaml", "kubernetes/20-redis.yaml"):
        (version,) = re.findall(r"image: redis:([\d.]+)@", (DEPLOY / path).read_text())
        assert weakness("Redis", version, is_writable=False)[1] is False
