"""Pages of the wins of a meter, the latest first (duty D16)."""

from collections.abc import Sequence
from typing import Final, cast

from meters.books.indexes import ANY_WIN, METER_AWARD
from meters.books.store import LinkStore

_ORDER_DIGITS: Final = 16


class WinIndex:
    """The index of those wins of one link that wait for a floorperson, or have waited for one."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def page(
        self, meter: str, before: int | None, count: int, *, meter_awards: bool
    ) -> Sequence[tuple[int, str]]:
        """Return up to `count` wins of a meter, each with its place, the latest first.

        The place of a win is the number of its ledger entry. All are lower than `before`, if it is
        given. With `meter_awards`, only wins of a percentage of the meter are returned.
        """
        prefix = f"{meter}{METER_AWARD if meter_awards else ANY_WIN}"
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
