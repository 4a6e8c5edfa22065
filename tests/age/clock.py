"""A clock that the maker of a house sets, so its ledger and its log have the times of past days."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from typing import ClassVar, Self
from unittest.mock import patch

import meters.wire.clock


class PastTime(datetime):
    """The time of this process, as far as messages and ledger entries contain it."""

    moment: ClassVar[datetime]

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        """Return the time that was set last."""
        return cls.fromtimestamp(cls.moment.timestamp(), tz)


@contextmanager
def past_time(moment: datetime) -> Iterator[None]:
    """Begin with a past time; set `PastTime.moment` to let it pass."""
    PastTime.moment = moment
    with patch.object(meters.wire.clock, "datetime", PastTime):
        yield
