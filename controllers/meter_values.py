"""The values of the meters that a table feeds, as they come in."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from meters.wire.messages import MeterValue


class MeterValues:
    """The last value of each meter; a lower version than the last is ignored.

    Args:
        meters: the ids of the meters that the table feeds.

    Attributes:
        meters: those ids.
    """

    def __init__(self, meters: Iterable[str] = ()) -> None:
        self.meters = tuple(meters)
        self._values: dict[str, MeterValue] = {}

    @property
    def values(self) -> Mapping[str, MeterValue]:
        """The last value of each meter that has one, by its id."""
        return MappingProxyType(self._values)

    def hear(self, value: MeterValue) -> bool:
        """Take in a value; returns whether it is the newest of its meter."""
        last = self._values.get(value.meter)
        if value.meter not in self.meters or (last is not None and not _newer(value, last)):
            return False
        self._values[value.meter] = value
        return True


def _newer(value: MeterValue, last: MeterValue) -> bool:
    """A link that closes says so in another state of the same version, no earlier."""
    return (value.version, value.at) >= (last.version, last.at)
