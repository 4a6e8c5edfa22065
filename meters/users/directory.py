"""One object with the users, the sessions and the operators' log of a facility."""

from dataclasses import dataclass
from typing import Self

from meters.floor.floor_file import Floor
from meters.redis_client.shards import AnyRedis
from meters.users.log_macs import LogSecrets
from meters.users.operators_log import OperatorsLog
from meters.users.pins import PinHashing
from meters.users.sessions import Sessions
from meters.users.sign_in_attempts import CountRefused, count_nothing
from meters.users.store import UserStore
from meters.users.users import Users


@dataclass(frozen=True, slots=True)
class UserDirectory:
    """Users, sessions and operators' log of a facility, for the web pages and the commands.

    Attributes:
        users: the users.
        sessions: the sessions.
        log: the operators' log.
    """

    users: Users
    sessions: Sessions
    log: OperatorsLog

    @classmethod
    def of_floor(cls, redis: AnyRedis, floor: Floor) -> Self:
        """Return the user directory of a floor, for a `pitlink` command.

        A command has no signed-in users.

        Args:
            redis: the facility's Redis.
            floor: the floor file.

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

        Args:
            redis: the facility's Redis.
            idle_minutes: a session lapses after this time without an act of its user.
            pins: the calculation of PIN hashes; None for the default.
            secret: the secret with which services seal sessions; empty if sessions are not sealed.
            log_secrets: the secrets for the MACs of the operators' log; None if there are no
                secrets.
            count_refused: called for each refused sign-in attempt, for metrics.
            demonstration: whether the floor is a demonstration, whose users have a public PIN.
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
