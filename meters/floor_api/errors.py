from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from redis.exceptions import RedisError

from meters.books.store import TermsError


class ActError(Exception):
    """The refusal of a user's act, such as a decision on a win. The act has changed nothing.

    `code` is for programs, such as ``unknown_claim`` or ``wrong_state``; `message` is in plain
    words.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@contextmanager
def store_failure_as_inoperable() -> Iterator[None]:
    """Raise `ActError` with the code ``link_inoperable`` if Redis fails in the `with` block."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise ActError("link_inoperable", f"Redis does not answer: {error}") from None
    except TermsError as error:
        raise ActError("link_inoperable", str(error)) from None
    except (KeyError, msgspec.DecodeError) as error:
        raise ActError("link_inoperable", f"the data in Redis is damaged: {error}") from None
