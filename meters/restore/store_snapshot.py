from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from meters.redis_client.link_keys import LinkKeys

Row = tuple[str, str, bytes]
"""One row of a link's Redis data: the key, the field and the value of a hash, or the key, the
member and the score of a sorted set."""


class StoreSnapshot:
    """A link's Redis hashes and sorted sets (scores as values) in memory, without its ledger."""

    def __init__(self, keys: LinkKeys, rows: Iterable[Row] = ()) -> None:
        self.sorted_sets: Final = frozenset({keys.waiting, keys.wins, keys.acts, keys.proposals})
        self._claims: Final = keys.claim("")
        self._waiting: Final = keys.waiting
        self._kept: dict[str, dict[str, bytes]] = {}
        for key, field, value in rows:
            self._kept.setdefault(key, {})[field] = value

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, bytes]]]:
        return ((key, fields) for key, fields in self._kept.items() if fields)

    def at(self, key: str) -> Mapping[str, bytes]:
        return self._kept.get(key, {})

    def text(self, key: str, field: str) -> str:
        return self.at(key).get(field, b"").decode()

    def put(self, key: str, fields: Mapping[str, str | bytes | int]) -> None:
        fields_of_key = self._kept.setdefault(key, {})
        for field, value in fields.items():
            fields_of_key[field] = value if isinstance(value, bytes) else str(value).encode()

    def add(self, key: str, field: str, number: int) -> None:
        self.put(key, {field: int(self.at(key).get(field, b"0")) + number})

    def drop(self, key: str, *fields: str) -> None:
        fields_of_key = self._kept.get(key, {})
        for field in fields:
            fields_of_key.pop(field, None)

    def clear(self, key: str) -> None:
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
        for key, fields in self:
            for field, value in fields.items():
                yield key, field, value
