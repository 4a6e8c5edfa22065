"""Pages of past wins, meter by meter, latest first (duty D16)."""

from collections.abc import Sequence
from typing import Final, cast

from meters.books.store import LinkStore

_ORDER_DIGITS: Final = 16
_ANY: Final = ":"
_METER_AWARD: Final = "!"


class WinIndex:
    """The wins of one link that waited, or wait, for a floorperson."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def page(
        self, meter: str, before: int | None, count: int, *, meter_awards: bool
    ) -> Sequence[tuple[int, str]]:
        """Return wins of a meter with their orders, latest first.

        All have an order below `before`. If it is None, the page begins with the latest win. With
        `meter_awards` only percentages of the meter are returned.

        Raises:
            RedisError: the store failed.
        """
        prefix = f"{meter}{_METER_AWARD if meter_awards else _ANY}"
        # Members with the same score are sorted by their bytes, and "~" is after every digit.
        most = f"{prefix}~" if before is None else f"{prefix}{before:0{_ORDER_DIGITS}d}"
        rows = cast(
            "list[bytes]",
            await self._store.redis.zrevrangebylex(
                self._store.keys.wins, f"({most}", f"[{prefix}", start=0, num=count
            ),
        )
        return [_parsed(row.decode().removeprefix(prefix)) for row in rows]


def _parsed(member: str) -> tuple[int, str]:
    order, _, claim = member.partition(":")
    return int(order), claim
