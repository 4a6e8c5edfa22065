"""The note of the first floor file that was approved in a Redis (duty D4).

One person approves the first floor file of an empty floor, for all of its links. In a Redis Cluster
the data of each link is in another slot, and no script can read two slots. So this note, which is
one for the whole facility, decides in one atomic step who approves which file as the first one. All
other approvals take two people, also of links whose names the floor file did not have before.
"""

from typing import Final, cast

from meters.books.script_loader import load_script
from meters.books.slip_numbers import SLIPS_TAG
from meters.redis_client.shards import AnyRedis, redis_of

FIRST_FLOOR_KEY: Final = f"pitlink:{{{SLIPS_TAG}}}:first_floor"
"""The Redis key of the note: a hash with the field `noted`."""


class FirstFloor:
    """The note of the first floor file that was approved."""

    def __init__(self, redis: AnyRedis) -> None:
        self._redis = redis_of(redis, SLIPS_TAG)
        self._note = self._redis.register_script(load_script("note_first_floor"))

    async def noted(self) -> tuple[str, str] | None:
        """Return the digest of the first floor file, and who approved it.

        None if no floor file was ever approved.
        """
        noted = cast("bytes | None", await self._redis.hget(FIRST_FLOOR_KEY, "noted"))
        if noted is None:
            return None
        digest, _, by = noted.decode("utf-8", "replace").partition(" ")
        return digest, by

    async def note(self, digest: str, by: str) -> bool:
        """Note that a person approves a floor file as the first one.

        Return True if this is the first floor file, approved by this person: now, or in an act that
        was interrupted between two links.
        """
        noted = f"{digest} {by}"
        held = cast("bytes", await self._note(keys=[FIRST_FLOOR_KEY], args=[noted]))
        return held.decode() == noted
