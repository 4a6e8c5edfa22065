import re
from typing import Final

import msgspec

from meters.books.refusals import EventRefusal
from meters.wire.messages import (
    EVENT_BYTES_MAX,
    TABLE_EVENT,
    UNREADABLE,
    Hello,
    MoneyEvent,
    has_name_twice,
    seq_of,
)

_NAMED: Final = re.compile(r" field `([^`]+)`")


def read_event(payload: bytes) -> tuple[MoneyEvent | Hello | EventRefusal, int | None]:
    """Return the event in a payload or its refusal, and the sequence number, if there is one."""
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
