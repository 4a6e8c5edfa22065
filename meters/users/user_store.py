"""Users, sessions and the operators' log in Redis. Each change is one call of a Lua script."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, cast

from redis.exceptions import RedisError

from meters.ledger.redis_layout import SCHEMA_FIELD, schema_problem, version_of
from meters.store.redis_clients import AnyRedis, redis_of
from meters.store.script_loader import load_script
from meters.store.user_keys import USERS_TAG, UserKeys
from meters.users.log_macs import LogHead, LogSecrets


class UsersError(Exception):
    """Refusal of a user's act, or failure of Redis.

    After a refusal, the act was not done; after ``store_failed``, it can have been done.

    `code` is the reason for programs; `message` is the reason for people. The codes are
    ``wrong_name_or_pin``, ``wrong_pin``, ``pin_expired``, ``locked_out``, ``slowed``, ``bad_name``,
    ``bad_pin``, ``name_taken``, ``unknown_user``, ``wrong_state``, ``yourself``,
    ``last_administrator``, ``same_person``, ``busy`` (too many requests at the same time),
    ``store_failed`` (Redis failed), ``other_schema`` (the data in Redis has the layout of another
    release), ``other_keys`` (the key bundle lacks a secret that was used in the operators' log), or
    ``session_ended``. `wait_ms` is the time before another attempt can succeed, if it is known.
    """

    def __init__(self, code: str, message: str, *, wait_ms: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.wait_ms = wait_ms


@contextmanager
def as_store_failure() -> Iterator[None]:
    """Raise a `UsersError` ``store_failed`` from each error of Redis in the `with` block."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise UsersError(
            "store_failed", "the service cannot use its data in Redis: try again soon"
        ) from error


_SCHEMA_SUBJECT: Final = "the data of the users and the operators' log is"
"""The beginning of messages about the schema version of the users' data."""

_RUNS_MAX: Final = 500
_BUSY_MS: Final = 1_000
_OTHER_KEYS: Final = (
    "the operators' log is written with keys that this service does not have: copy the whole of"
    " services/ from where `pitlink keys` was run"
)

Answer = int | str | list[str] | None


class UserStore:
    """Access to the users in Redis. It calls Lua scripts, and reads hashes as text.

    If Redis fails, every method raises a `UsersError` ``store_failed``.
    """

    def __init__(self, redis: AnyRedis, secrets: LogSecrets | None = None) -> None:
        self.keys = UserKeys()
        self._redis = redis_of(redis, USERS_TAG)
        self._secrets = secrets or LogSecrets()
        self._head = LogHead()
        self._fits = False

    async def call(self, script: str, keys: list[str], arguments: list[str | int]) -> Answer:
        """Run a Lua script that adds no entry to the operators' log.

        Raises:
            UsersError: ``store_failed``; ``other_schema`` if the data has another release's layout.
        """
        await self._check_schema()
        return _text(await self._run(script, keys, arguments))

    async def record(self, script: str, keys: list[str], arguments: list[str | int]) -> Answer:
        """Run a Lua script that adds an entry to the operators' log.

        Raises:
            UsersError: the codes of `call`; ``other_keys`` if the log has a MAC with a secret that
                this process does not have; ``busy`` if other processes write to the log too often.
        """
        await self._check_schema()
        for _ in range(_RUNS_MAX):
            # The script adds its entries after the head that this process knows. If another process
            # has added an entry, the script writes nothing and returns the new head, and is run
            # again with this head. So one call of Redis is enough if no other process writes.
            by = self._secrets.newest
            secret = self._secrets.arguments(self._head)
            answer = await self._run(script, keys, [*arguments, *secret])
            match answer:
                case [b"noted", bytes(entries), bytes(chain), outcome]:
                    self._head = LogHead(int(entries), chain.decode(), by)
                    return _text(outcome)
                case [b"moved", bytes(entries), bytes(chain), bytes(wrote)]:
                    # After a MAC with an unknown secret, nothing is written, because that secret
                    # can be newer than the newest secret here.
                    if wrote and self._secrets.find(wrote.decode()) is None:
                        raise UsersError("other_keys", _OTHER_KEYS)
                    self._head = LogHead(int(entries), chain.decode(), wrote.decode())
                case _:
                    return _text(answer)
        raise UsersError("busy", "too many processes write to the log: try again", wait_ms=_BUSY_MS)

    async def _check_schema(self) -> None:
        if not self._fits:
            if other := schema_problem(_SCHEMA_SUBJECT, await self.schema()):
                raise UsersError("other_schema", other)
            self._fits = True

    async def schema(self) -> int | None:
        """Return the schema version of the users' data; None before the first log entry.

        Raises:
            UsersError: ``store_failed``; ``other_schema`` if the stored value is no schema version.
        """
        with as_store_failure():
            noted, began = await self._redis.hmget(self.keys.log_head, [SCHEMA_FIELD, "entries"])
        try:
            return version_of(noted, begun=began is not None)
        except ValueError as error:
            raise UsersError("other_schema", f"{_SCHEMA_SUBJECT} damaged: {error}") from None

    async def _run(
        self, script: str, keys: list[str], arguments: Sequence[str | int | bytes]
    ) -> object:
        with as_store_failure():
            registered = self._redis.register_script(load_script(script, "meters.users"))
            answer: object = await registered(keys=keys, args=arguments)
        return answer

    async def fields(self, key: str) -> dict[str, str]:
        with as_store_failure():
            found = cast("dict[bytes, bytes]", await self._redis.hgetall(key))
        return {name.decode(): value.decode() for name, value in found.items()}

    async def has_signed_in(self, device: str, folded: str) -> bool:
        with as_store_failure():
            return await self._redis.zscore(self.keys.devices(folded), device) is not None

    async def locks(self, folded: str) -> list[tuple[str, int]]:
        """Return the sign-in limits of a name by label, with the end of each lock in ms.

        A limit that is not locked has the time of its last failed sign-in instead.
        """
        with as_store_failure():
            found = cast(
                "list[tuple[bytes, float]]",
                await self._redis.zrange(self.keys.locks(folded), 0, -1, withscores=True),
            )
        return [(label.decode(), int(until)) for label, until in found]

    async def every_user(self) -> list[dict[str, str]]:
        with as_store_failure():
            names = cast("list[bytes]", await self._redis.zrange(self.keys.users, 0, -1))
            pipe = self._redis.pipeline(transaction=False)
            for name in names:
                pipe.hgetall(self.keys.user(name.decode()))
            found: list[dict[bytes, bytes]] = await pipe.execute()
        return [readable(each) for each in found]

    async def log_entries(self, before: int | None, limit: int) -> list[tuple[int, dict[str, str]]]:
        """Return log entries before the entry `before` (None: all), the latest first."""
        latest = "+" if before is None else f"({before}-0"
        with as_store_failure():
            found = cast(
                "list[tuple[bytes, dict[bytes, bytes]]]",
                await self._redis.xrevrange(self.keys.log, latest, "-", count=limit),
            )
        return [_entry(each) for each in found]

    async def account_entries(self, folded: str, limit: int) -> list[tuple[int, dict[str, str]]]:
        """Return the log entries about changes of one user or by this user, the latest first."""
        account = self.keys.account(folded)
        with as_store_failure():
            # The client turns a ZRANGE by descending rank into ZREVRANGE. The services' Redis user
            # has no right to this command, because no other code needs it.
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
    return int(number.partition(b"-")[0]), readable(fields)


def readable(fields: dict[bytes, bytes]) -> dict[str, str]:
    """Decode the fields of a hash or an entry, even if somebody damaged them."""
    return {
        name.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for name, value in fields.items()
    }


def _text(answer: object) -> Answer:
    if isinstance(answer, bytes):
        return answer.decode()
    if isinstance(answer, list):
        return [part.decode() if isinstance(part, bytes) else str(part) for part in answer]
    return answer if isinstance(answer, int) else None
