"""Failures of the books, as the API for people reports them."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from redis.exceptions import RedisError

from meters.books.store import TermsError
from meters.floor_api.protocols import ActError


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
