"""The people of a facility, put together."""

from dataclasses import dataclass
from typing import Self

from meters.floor.facility import Service
from meters.redis_client.shards import AnyRedis
from meters.users.log_macs import LogSecrets
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
    def of_floor(cls, redis: AnyRedis, service: Service) -> Self:
        """The people of a floor, as a command asks about them, which keeps nobody signed in.

        Args:
            redis: the facility's.
            service: what the floor file says.

        Raises:
            UserError: the keys are not there, or cannot be used.
        """
        return cls.of(redis, service.idle_minutes, log_secrets=LogSecrets.of(service))

    @classmethod
    def of(
        cls,
        redis: AnyRedis,
        idle_minutes: int,
        pins: PinHashing | None = None,
        secret: bytes = b"",
        log_secrets: LogSecrets | None = None,
    ) -> Self:
        """The people whom a Redis keeps.

        Args:
            redis: the facility's.
            idle_minutes: for how long a signed-in person may do nothing.
            pins: how PINs are kept, where it is not as usual.
            secret: what sessions are sealed with; empty where they are not.
            log_secrets: of which the MACs of the operators' log are made; none where there are
                none.
        """
        store, pins = UserStore(redis, log_secrets), pins or PinHashing()
        return cls(
            Users(store, pins),
            Sessions(store, pins, idle_minutes * 60_000, secret),
            OperatorsLog(store),
        )
