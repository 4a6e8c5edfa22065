"""What the people's side refuses, each with a code for programs."""

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError


class UsersError(Exception):
    """Something that was not done; nothing changed.

    Attributes:
        code: ``wrong_name_or_pin``, ``wrong_pin``, ``pin_expired``, ``locked_out``, ``busy``,
            ``store_failed``, ``other_schema``, ``other_keys``,
            ``bad_name``, ``bad_pin``, ``name_taken``, ``unknown_user``, ``wrong_state``,
            ``yourself``, ``last_administrator``, ``same_person`` or ``session_ended``.
        message: the reason, plainly.
        wait_ms: for how long it is of no use to try again, in milliseconds, where that is known.
    """

    def __init__(self, code: str, message: str, *, wait_ms: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.wait_ms = wait_ms


@contextmanager
def as_store_failure() -> Iterator[None]:
    """Tell a store that does not answer, or not rightly, as what it is.

    Raises:
        UsersError: ``store_failed``, its cause what the store or the way there said.
    """
    try:
        yield
    except (RedisError, OSError) as error:
        raise UsersError("store_failed", "the store does not answer: try again soon") from error
