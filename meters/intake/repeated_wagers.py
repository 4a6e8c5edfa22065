"""Wagers that a table sends again: the positions of its last round, with the same bytes.

Players often repeat their wagers, and the same bytes need not be decoded and validated again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from meters.books.script_steps import Contribution, contributions_text
from meters.intake.table_catalog import CatalogTable
from meters.wire.messages import (
    EVENT_BYTES_MAX,
    UNDECODED_WAGERS,
    UNREADABLE,
    WageredPosition,
    Wagers,
    has_name_twice,
)


class AddedByWagers:
    """What an event's wagers add to the meters, also as JSON (`text`) for the Lua script."""

    def __init__(
        self, contributions: Sequence[Contribution], positions: Sequence[WageredPosition]
    ) -> None:
        self.contributions = contributions
        self.text = contributions_text(contributions)
        self.meters = tuple([one.meter for one in contributions])
        # Not the sums of the contributions: a wager can contribute to several meters.
        self.wagers = sum([len(one.wagers) for one in positions])
        self.wagered_cents = sum([sum(one.wagers.values()) for one in positions])


@dataclass(frozen=True, slots=True)
class _LastWagers:
    known: CatalogTable
    text: bytes
    positions: list[WageredPosition]
    added: AddedByWagers


class RepeatedWagers:
    def __init__(self) -> None:
        self._last: dict[str, _LastWagers] = {}

    def read(self, known: CatalogTable, payload: bytes) -> Wagers | None:
        """Decode a wagers event if its positions are those of the table's last wagers.

        Return None for every other event, and for an event that must be refused.
        """
        last = self._last.get(known.table.id)
        if last is None or last.text not in payload or len(payload) > EVENT_BYTES_MAX:
            return None
        try:
            event = UNDECODED_WAGERS.decode(payload)
        except UNREADABLE:
            return None
        # The last positions name no field twice. So only the rest of the event is checked, with a
        # number in place of the positions. If it names `positions` twice, one of the two remains.
        rest = payload.replace(last.text, b"0", 1)
        if bytes(event.positions) != last.text or has_name_twice(rest):
            return None
        return Wagers(seq=event.seq, at=event.at, round=event.round, positions=last.positions)

    def added(self, known: CatalogTable, event: Wagers) -> AddedByWagers | None:
        """Return what an event that `read` returned adds; None for other wagers.

        Return None also if the terms of the table have changed since its last wagers.
        """
        last = self._last.get(known.table.id)
        if last is None or last.positions is not event.positions or last.known is not known:
            return None
        return last.added

    def note(
        self, known: CatalogTable, payload: bytes, event: Wagers, added: AddedByWagers
    ) -> None:
        text = bytes(UNDECODED_WAGERS.decode(payload).positions)
        self._last[known.table.id] = _LastWagers(known, text, event.positions, added)
