"""Errors of users, of sign-in and of the operators' log. Each has a code for programs."""

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError


class UsersError(Exception):
    """Refusal of an act of a user, or failure of Redis. Nothing has changed.

    `code` is the reason for programs, `message` for people: ``wrong_name_or_pin``, ``wrong_pin``,
    ``pin_expired``, ``locked_out``, ``slowed``, ``bad_name``, ``bad_pin``, ``name_taken``,
    ``unknown_user``, ``wrong_state``, ``yourself``, ``last_administrator``, ``same_person``,
    ``busy`` (too many requests at the same time), ``store_failed`` (Redis failed), ``other_schema``
    (the data in Redis has the layout of another release), ``other_keys`` (the key bundle lacks a
    secret that was used in the operators' log), or ``session_ended`` (the user's session is no
    longer valid). `wait_ms` is the time before another attempt can succeed, if it is known.
    """

    def __init__(self, code: str, message: str, *, wait_ms: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.wait_ms = wait_ms


@contextmanager
def as_store_failure() -> Iterator[None]:
    """Convert an error of Redis, or of the connection to Redis, into a `UsersError`.

    Raises:
        UsersError: ``store_failed``, with the original error as its cause.
    """
    try:
        yield
    except (RedisError, OSError) as error:
        raise UsersError("store_failed", "Redis does not answer: try again soon") from error
