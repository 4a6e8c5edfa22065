"""The keys of a link's store, without its ledger, rebuilt in memory."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from meters.redis_client.link_keys import LinkKeys

Row = tuple[str, str, bytes]
"""A key, a field of its hash or a member of its sorted set, and the value or the score as text."""


class StoreSnapshot:
    """Hashes and sorted sets by key. The values of a sorted set are its scores."""

    def __init__(self, keys: LinkKeys, rows: Iterable[Row] = ()) -> None:
        self.sorted_sets: Final = frozenset({keys.waiting, keys.wins, keys.acts, keys.proposals})
        self._kept: dict[str, dict[str, bytes]] = {}
        for key, field, value in rows:
            self._kept.setdefault(key, {})[field] = value

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, bytes]]]:
        """Yield each key with its fields."""
        return ((key, fields) for key, fields in self._kept.items() if fields)

    def at(self, key: str) -> Mapping[str, bytes]:
        """Return the fields of a key, empty if there is no such key."""
        return self._kept.get(key, {})

    def text(self, key: str, field: str) -> str:
        """Return a field as text, empty if there is no such field."""
        return self.at(key).get(field, b"").decode()

    def put(self, key: str, fields: Mapping[str, str | bytes | int]) -> None:
        """Set fields."""
        fields_of_key = self._kept.setdefault(key, {})
        for field, value in fields.items():
            fields_of_key[field] = value if isinstance(value, bytes) else str(value).encode()

    def add(self, key: str, field: str, number: int) -> None:
        """Add a number to a numeric field."""
        self.put(key, {field: int(self.at(key).get(field, b"0")) + number})

    def drop(self, key: str, *fields: str) -> None:
        """Remove fields."""
        fields_of_key = self._kept.get(key, {})
        for field in fields:
            fields_of_key.pop(field, None)

    def clear(self, key: str) -> None:
        """Remove a key."""
        self._kept.pop(key, None)

    def rows(self) -> Iterator[Row]:
        """Yield all rows."""
        for key, fields in self:
            for field, value in fields.items():
                yield key, field, value
