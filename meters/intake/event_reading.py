"""Reading of a table's event: its bytes are decoded, and its texts are checked."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from bonus.json_input import UNREADABLE, has_name_twice
from bonus.printable import name_problem, unseen_problem
from meters.intake.table_catalog import CatalogTable
from meters.intake.wager_judging import AddedWagers
from meters.store.event_refusals import EventRefusal
from meters.wire.messages import (
    EVENT_BYTES_MAX,
    TABLE_EVENT,
    UNDECODED_WAGERS,
    DealtPosition,
    EnteredCards,
    Hello,
    MoneyEvent,
    Result,
    Void,
    WagerCorrection,
    WageredPosition,
    Wagers,
    Withdrawal,
    seq_of,
)

_QUOTES_BESIDE: Final = 16
"""Number of quotation marks in a wagers event outside the positions: around five names, and around
the texts of `type`, `at` and `round`."""
_NAMED: Final = re.compile(r" field `([^`]+)`")


@dataclass(frozen=True, slots=True)
class _LastWagers:
    """The last valid wagers of a table: `text` are their positions.

    `quotes` and `escapes` count the quotation marks and backslashes of an event with these
    positions. The event's other texts have no escapes, and no field appears twice.
    """

    known: CatalogTable
    text: msgspec.Raw
    quotes: int
    escapes: int
    positions: list[WageredPosition]
    added: AddedWagers


class EventReader:
    """Decoder of events. It keeps the last valid wagers of each table.

    Players often repeat their wagers, so this saves two fifths of the service's time for wagers.
    """

    def __init__(self) -> None:
        self._last: dict[str, _LastWagers] = {}

    def event_in(
        self, known: CatalogTable, payload: bytes
    ) -> tuple[MoneyEvent | Hello | EventRefusal, int | None, AddedWagers | None]:
        """Return an event or its refusal, the event's number, and what repeated wagers add.

        Wagers are repeated if their positions and terms are those of the table's last valid wagers.
        """
        last = self._last.get(known.table.id)
        if last is not None and last.known is known:
            event = _repeated(last, payload)
            if event is not None:
                return event, event.seq, last.added
        return *read_event(payload), None

    def note(self, known: CatalogTable, payload: bytes, event: Wagers, added: AddedWagers) -> None:
        raw = UNDECODED_WAGERS.decode(payload).positions.copy()
        text = bytes(raw)
        self._last[known.table.id] = _LastWagers(
            known, raw, text.count(b'"') + _QUOTES_BESIDE, text.count(b"\\"), event.positions, added
        )


def _repeated(last: _LastWagers, payload: bytes) -> Wagers | None:
    if (
        len(payload) > EVENT_BYTES_MAX
        or payload.count(b'"') != last.quotes
        or payload.count(b"\\") != last.escapes
    ):
        return None
    try:
        event = UNDECODED_WAGERS.decode(payload)
    except UNREADABLE:
        return None
    if event.positions != last.text or unseen_problem(event.round):
        return None
    return Wagers(seq=event.seq, at=event.at, round=event.round, positions=last.positions)


def read_event(payload: bytes) -> tuple[MoneyEvent | Hello | EventRefusal, int | None]:
    if len(payload) > EVENT_BYTES_MAX:
        message = f"an event has {EVENT_BYTES_MAX} bytes at most, not {len(payload)}"
        return EventRefusal("too_long", message), seq_of(payload)
    try:
        event = TABLE_EVENT.decode(payload)
    except msgspec.ValidationError as error:
        return _unfit(error), seq_of(payload)
    except UNREADABLE as error:
        return EventRefusal("not_json", f"the event is not JSON: {error}"), None
    if has_name_twice(payload):
        return EventRefusal("name_twice", "the event names a field twice"), seq_of(payload)
    return event, None if isinstance(event, Hello) else event.seq


def _unfit(error: msgspec.ValidationError) -> EventRefusal:
    reason, _, path = str(error).partition(" - at `$")
    path = path.rstrip("`")
    if named := _NAMED.search(reason):
        path += f".{named[1]}"
    code = "unknown_field" if "unknown field" in reason else "bad_field"
    return EventRefusal(code, reason, path.lstrip(".") or None)


def check_texts(event: MoneyEvent) -> None:
    """Refuse an event with a blank or unprintable text, or a patron that slips cannot print.

    The round id is checked only in wagers: every other event needs the id of a round with wagers.
    """
    if isinstance(event, Wagers) or (isinstance(event, Result) and not event.entered_before):
        # Nearly all wagers and results have only printable ASCII, which is found fast.
        texts = [one.patron for one in event.positions if one.patron is not None]
        texts.append(event.round)
        whole = "".join(texts)
        if whole.isascii() and whole.isprintable() and all(map(str.strip, texts)):
            return
    for field, text in _texts(event):
        is_name = field.endswith(".patron")
        if problem := name_problem(text) if is_name else unseen_problem(text):
            raise EventRefusal("unprintable_text", f"{field} {problem}", field)


def _texts(event: MoneyEvent) -> Iterator[tuple[str, str]]:
    if isinstance(event, Void | WagerCorrection):
        yield "reason", event.reason
    if isinstance(event, Void):
        yield from _reasons("entered", event.entered or ())
        return
    if isinstance(event, Withdrawal):
        return
    if isinstance(event, Wagers):
        yield "round", event.round
    positions: Sequence[WageredPosition | DealtPosition] = event.positions
    for index, position in enumerate(positions):
        if position.patron is not None:
            yield f"positions[{index}].patron", position.patron
    if isinstance(event, Result):
        yield from _reasons("entered_before", event.entered_before or ())


def _reasons(field: str, entered: Sequence[EnteredCards]) -> Iterator[tuple[str, str]]:
    for index, cards in enumerate(entered):
        if cards.reason is not None:
            yield f"{field}[{index}].reason", cards.reason
