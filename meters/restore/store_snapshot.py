"""A copy of a link's Redis keys in memory, without the link's ledger."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from meters.redis_client.link_keys import LinkKeys

Row = tuple[str, str, bytes]
"""One row of a link's Redis data, as three values.

For a hash: the key, the field and the value. For a sorted set: the key, the member and the score.
"""


class StoreSnapshot:
    """The Redis hashes and sorted sets of a link, by key. A sorted set has scores as values."""

    def __init__(self, keys: LinkKeys, rows: Iterable[Row] = ()) -> None:
        self.sorted_sets: Final = frozenset({keys.waiting, keys.wins, keys.acts, keys.proposals})
        self._claims: Final = keys.claim("")
        self._waiting: Final = keys.waiting
        self._kept: dict[str, dict[str, bytes]] = {}
        for key, field, value in rows:
            self._kept.setdefault(key, {})[field] = value

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, bytes]]]:
        """Yield each Redis key with its fields."""
        return ((key, fields) for key, fields in self._kept.items() if fields)

    def at(self, key: str) -> Mapping[str, bytes]:
        """Return the fields of a Redis key, or no fields if the key does not exist."""
        return self._kept.get(key, {})

    def text(self, key: str, field: str) -> str:
        """Return a field of a Redis key as text; empty if the field does not exist."""
        return self.at(key).get(field, b"").decode()

    def put(self, key: str, fields: Mapping[str, str | bytes | int]) -> None:
        """Set fields of a Redis key."""
        fields_of_key = self._kept.setdefault(key, {})
        for field, value in fields.items():
            fields_of_key[field] = value if isinstance(value, bytes) else str(value).encode()

    def add(self, key: str, field: str, number: int) -> None:
        """Add a number to a numeric field of a Redis key."""
        self.put(key, {field: int(self.at(key).get(field, b"0")) + number})

    def drop(self, key: str, *fields: str) -> None:
        """Remove fields of a Redis key."""
        fields_of_key = self._kept.get(key, {})
        for field in fields:
            fields_of_key.pop(field, None)

    def clear(self, key: str) -> None:
        """Remove a Redis key with all its fields."""
        self._kept.pop(key, None)

    def take_claims(self) -> dict[str, dict[str, str]]:
        """Remove all claims and the list of those that wait, and return the fields by claim."""
        self._kept.pop(self._waiting, None)
        keys = [key for key in self._kept if key.startswith(self._claims)]
        return {
            key.removeprefix(self._claims): {
                name: value.decode() for name, value in self._kept.pop(key).items()
            }
            for key in keys
        }

    def rows(self) -> Iterator[Row]:
        """Yield all data of this copy. Each row is a Redis key, a field of it, and a value."""
        for key, fields in self:
            for field, value in fields.items():
                yield key, field, value
