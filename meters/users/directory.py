from dataclasses import dataclass
from typing import Self

from meters.floor.floor_file import Floor
from meters.store.shards import AnyRedis
from meters.users.log_macs import LogSecrets
from meters.users.operators_log import OperatorsLog
from meters.users.pins import PinHashing
from meters.users.sessions import Sessions
from meters.users.sign_in_attempts import CountRefused, count_nothing
from meters.users.store import UserStore
from meters.users.users import Users


@dataclass(frozen=True, slots=True)
class UserDirectory:
    """Users, sessions and operators' log of a facility, for the web pages and the commands."""

    users: Users
    sessions: Sessions
    log: OperatorsLog

    @classmethod
    def of_floor(cls, redis: AnyRedis, floor: Floor) -> Self:
        """Return the user directory for a `pitlink` command, which has no signed-in users.

        Raises:
            UserError: the key bundle is missing, or cannot be used.
        """
        return cls.of(
            redis,
            floor.service.idle_minutes,
            log_secrets=LogSecrets.of(floor.service),
            demonstration=floor.facility.demonstration,
        )

    @classmethod
    def of(
        cls,
        redis: AnyRedis,
        idle_minutes: int,
        pins: PinHashing | None = None,
        secret: bytes = b"",
        log_secrets: LogSecrets | None = None,
        *,
        count_refused: CountRefused = count_nothing,
        demonstration: bool = False,
    ) -> Self:
        """Return the user directory for the users whose data is in a Redis.

        A session lapses after `idle_minutes` without an act of its user. With the `secret`,
        services seal sessions. `count_refused` is called for each refused sign-in attempt, for
        metrics. The users of a demonstration have a public PIN.
        """
        store, pins = UserStore(redis, log_secrets), pins or PinHashing()
        return cls(
            Users(store, pins),
            Sessions(
                store,
                pins,
                idle_minutes * 60_000,
                secret,
                count_refused=count_refused,
                demonstration=demonstration,
            ),
            OperatorsLog(store),
        )
