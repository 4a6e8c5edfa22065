"""Errors of users, sign-in and the operators' log, each with a code for programs."""

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError


class UsersError(Exception):
    """An act that was not done; nothing has changed.

    Attributes:
        code: ``wrong_name_or_pin``, ``wrong_pin``, ``pin_expired``, ``locked_out``, ``busy``,
            ``store_failed``, ``other_schema``, ``other_keys``,
            ``bad_name``, ``bad_pin``, ``name_taken``, ``unknown_user``, ``wrong_state``,
            ``yourself``, ``last_administrator``, ``same_person`` or ``session_ended``.
        message: the reason, in plain words.
        wait_ms: the time during which another attempt is useless, in milliseconds, if it is known.
    """

    def __init__(self, code: str, message: str, *, wait_ms: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.wait_ms = wait_ms


@contextmanager
def as_store_failure() -> Iterator[None]:
    """Convert an error of the store, or of the connection to it, into a `UsersError`.

    Raises:
        UsersError: ``store_failed``; its cause is the original error.
    """
    try:
        yield
    except (RedisError, OSError) as error:
        raise UsersError("store_failed", "the store does not answer: try again soon") from error
