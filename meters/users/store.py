"""The people's side of Redis: one script call for each change."""

from collections.abc import Sequence
from typing import Final, cast

from meters.books.schema import FIELD, SCHEMA, schema_problem, version_of
from meters.books.script_loader import load_script
from meters.redis_client.shards import AnyRedis, redis_of
from meters.redis_client.user_keys import PEOPLE_TAG, UserKeys
from meters.users.errors import UsersError, as_store_failure
from meters.users.log_macs import LogHead, LogSecrets
from meters.wire.clock import now_text

_NAMES: Final = (
    "begin_try", "drop_try", "refuse_try", "sign_in", "find_session", "sign_out",
    "add_user", "change_user", "choose_pin", "note_act", "note_user", "upgrade",
)  # fmt: skip

PEOPLE: Final = "the store of the people and the operators' log is"
"""What they are called where their layout is another's."""

_TRIES: Final = 500
_BUSY_MS: Final = 1_000
_OTHER_KEYS: Final = (
    "the operators' log is written with keys that this service does not have: copy the whole of"
    " services/ from where `pitlink keys` was run"
)

Answer = int | str | list[str] | None
"""What a script gives."""


class UserStore:
    """Calls the scripts, and reads hashes as text.

    Args:
        redis: where the people's keys are, or all.
        secrets: of which the MACs of the log are made; none where there are none.

    Attributes:
        keys: where everything is.
    """

    def __init__(self, redis: AnyRedis, secrets: LogSecrets | None = None) -> None:
        redis = redis_of(redis, PEOPLE_TAG)
        self._secrets = secrets or LogSecrets()
        self._head = LogHead()
        self.keys = UserKeys()
        self._redis = redis
        self._fits = False
        self._scripts = {
            name: redis.register_script(load_script(name, "meters.users")) for name in _NAMES
        }

    async def call(self, script: str, keys: list[str], arguments: list[str | int]) -> Answer:
        """Carry out one script whole, or nothing of it; one that notes nothing in the log.

        Raises:
            UsersError: ``store_failed``; ``other_schema`` where another release's layout is there.
        """
        await self._check_schema()
        return _text(await self._run(script, keys, arguments))

    async def record(self, script: str, keys: list[str], arguments: list[str | int]) -> Answer:
        """Carry out one script that notes something in the log, whole or nothing of it.

        Raises:
            UsersError: as `call`; ``other_keys`` where the log was written with secrets that are
                not here, ``busy``.
        """
        await self._check_schema()
        return await self._record(script, keys, arguments)

    async def _check_schema(self) -> None:
        if not self._fits:
            if other := schema_problem(PEOPLE, await self.schema()):
                raise UsersError("other_schema", other)
            self._fits = True

    async def schema(self) -> int | None:
        """The version of the keys' layout; None where nothing was ever noted.

        Raises:
            UsersError: ``store_failed``; ``other_schema`` where what is noted is no version.
        """
        with as_store_failure():
            noted, began = await self._redis.hmget(self.keys.log_head, [FIELD, "entries"])
        try:
            return version_of(noted, begun=began is not None)
        except ValueError as error:
            raise UsersError("other_schema", f"{PEOPLE} damaged: {error}") from None

    async def upgrade(self, by: str, about: str) -> None:
        """Bring the keys to the present layout, a version a step; without effect where they are.

        Raises:
            UsersError: ``store_failed``.
        """
        had = await self.schema()
        while had is not None and had < SCHEMA:
            prefix = self.keys.user_prefix
            arguments: list[str | int] = [had, had + 1, now_text(), by, about, prefix]
            keys = [*self.keys.log_and_head, self.keys.users]
            done = await self._record("upgrade", keys, arguments)
            had = had + 1 if done == "ok" else await self.schema()

    async def _record(self, script: str, keys: list[str], arguments: list[str | int]) -> Answer:
        """Carry out a script after the head of the log that is known, or else the one it tells.

        So it takes one round trip, unless another process has written to the log meanwhile.
        """
        for _ in range(_TRIES):
            by = self._secrets.newest
            answer = await self._run(
                script, keys, [*arguments, *self._secrets.arguments(self._head)]
            )
            match answer:
                case [b"noted", bytes(entries), bytes(chain), told]:
                    self._head = LogHead(int(entries), chain.decode(), by)
                    return _text(told)
                case [b"moved", bytes(entries), bytes(chain), bytes(wrote)]:
                    # What an unknown secret wrote is followed by nothing of ours: it may be newer.
                    if wrote and self._secrets.find(wrote.decode()) is None:
                        raise UsersError("other_keys", _OTHER_KEYS)
                    self._head = LogHead(int(entries), chain.decode(), wrote.decode())
                case _:
                    return _text(answer)
        raise UsersError("busy", "too many write to the log at once: try again", wait_ms=_BUSY_MS)

    async def _run(
        self, script: str, keys: list[str], arguments: Sequence[str | int | bytes]
    ) -> object:
        with as_store_failure():
            answer: object = await self._scripts[script](keys=keys, args=arguments)
        return answer

    async def fields(self, key: str) -> dict[str, str]:
        """A hash as it is, empty where there is none.

        Raises:
            UsersError: ``store_failed``.
        """
        with as_store_failure():
            found = cast("dict[bytes, bytes]", await self._redis.hgetall(key))
        return {name.decode(): value.decode() for name, value in found.items()}

    async def has_signed_in(self, device: str, folded: str) -> bool:
        """Whether somebody has signed in with a device.

        Raises:
            UsersError: ``store_failed``.
        """
        with as_store_failure():
            return await self._redis.zscore(self.keys.devices(folded), device) is not None

    async def locks(self, folded: str) -> list[tuple[str, int]]:
        """Where signing in as somebody failed, and until when it is locked there, in ms.

        Raises:
            UsersError: ``store_failed``.
        """
        with as_store_failure():
            found = cast(
                "list[tuple[bytes, float]]",
                await self._redis.zrange(self.keys.locks(folded), 0, -1, withscores=True),
            )
        return [(label.decode(), int(until)) for label, until in found]

    async def every_user(self) -> list[dict[str, str]]:
        """All users' hashes, by name.

        Raises:
            UsersError: ``store_failed``.
        """
        with as_store_failure():
            names = cast("list[bytes]", await self._redis.zrange(self.keys.users, 0, -1))
            pipe = self._redis.pipeline(transaction=False)
            for name in names:
                pipe.hgetall(self.keys.user(name.decode()))
            found: list[dict[bytes, bytes]] = await pipe.execute()
        return [{name.decode(): value.decode() for name, value in each.items()} for each in found]

    async def log_entries(self, before: int | None, limit: int) -> list[tuple[int, dict[str, str]]]:
        """Entries of the log below a number, latest first.

        Raises:
            UsersError: ``store_failed``.
        """
        latest = "+" if before is None else f"({before}-0"
        with as_store_failure():
            found = cast(
                "list[tuple[bytes, dict[bytes, bytes]]]",
                await self._redis.xrevrange(self.keys.log, latest, "-", count=limit),
            )
        return [_entry(each) for each in found]

    async def account_entries(self, folded: str, limit: int) -> list[tuple[int, dict[str, str]]]:
        """Entries of the log on somebody's account, latest first.

        Raises:
            UsersError: ``store_failed``.
        """
        account = self.keys.account(folded)
        with as_store_failure():
            # ZREVRANGE, which is what ZRANGE by descending rank comes to, our user at Redis may not
            # use: nothing else needs it.
            numbers = cast(
                "list[bytes]",
                await self._redis.zrevrangebyscore(account, "+inf", "-inf", start=0, num=limit),
            )
            pipe = self._redis.pipeline(transaction=False)
            for number in numbers:
                pipe.xrange(self.keys.log, f"{number.decode()}-0", f"{number.decode()}-0")
            found: list[list[tuple[bytes, dict[bytes, bytes]]]] = await pipe.execute()
        return [_entry(each) for entries in found for each in entries]


def _entry(found: tuple[bytes, dict[bytes, bytes]]) -> tuple[int, dict[str, str]]:
    number, fields = found
    return (
        int(number.partition(b"-")[0]),
        {name.decode(): value.decode() for name, value in fields.items()},
    )


def _text(answer: object) -> Answer:
    if isinstance(answer, bytes):
        return answer.decode()
    if isinstance(answer, list):
        return [part.decode() if isinstance(part, bytes) else str(part) for part in answer]
    return answer if isinstance(answer, int) else None
