"""The people of a facility, put together."""

from dataclasses import dataclass
from typing import Self

from meters.redis_client.shards import AnyRedis
from meters.users.operators_log import OperatorsLog
from meters.users.pins import PinHashing
from meters.users.sessions import Sessions
from meters.users.store import UserStore
from meters.users.users import Users


@dataclass(frozen=True, slots=True)
class UserDirectory:
    """Everything that the web side and the commands ask about people.

    Attributes:
        users: who there is.
        sessions: who has signed in.
        log: who did what.
    """

    users: Users
    sessions: Sessions
    log: OperatorsLog

    @classmethod
    def of(
        cls,
        redis: AnyRedis,
        idle_minutes: int,
        pins: PinHashing | None = None,
        secret: bytes = b"",
    ) -> Self:
        """The people whom a Redis keeps.

        Args:
            redis: the facility's.
            idle_minutes: for how long a signed-in person may do nothing.
            pins: how PINs are kept, where it is not as usual.
            secret: what sessions are sealed with; empty where they are not.
        """
        store, pins = UserStore(redis), pins or PinHashing()
        return cls(
            Users(store, pins),
            Sessions(store, pins, idle_minutes * 60_000, secret),
            OperatorsLog(store),
        )
