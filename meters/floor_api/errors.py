"""Refused acts, and failures of the books as the floor's API reports them."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from redis.exceptions import RedisError

from meters.books.store import TermsError


class ActError(Exception):
    """An act that was refused; nothing changed.

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
    """A store that fails is told as what it is to whoever asks: a link that cannot operate."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise ActError("link_inoperable", f"the store does not answer: {error}") from None
    except TermsError as error:
        raise ActError("link_inoperable", str(error)) from None
    except (KeyError, msgspec.DecodeError) as error:
        raise ActError("link_inoperable", f"the store is damaged: {error}") from None
