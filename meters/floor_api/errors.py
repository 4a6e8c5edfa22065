"""Refused acts and store failures, as the floor page's API reports them."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from redis.exceptions import RedisError

from meters.books.store import TermsError


class ActError(Exception):
    """A refused act; nothing has changed.

    Attributes:
        code: for programs: ``unknown_claim``, ``wrong_state``, or another.
        message: the reason, in plain words.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@contextmanager
def store_failure_as_inoperable() -> Iterator[None]:
    """Report a failure of the store to the caller as an inoperable link."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise ActError("link_inoperable", f"the store does not answer: {error}") from None
    except TermsError as error:
        raise ActError("link_inoperable", str(error)) from None
    except (KeyError, msgspec.DecodeError) as error:
        raise ActError("link_inoperable", f"the store is damaged: {error}") from None
