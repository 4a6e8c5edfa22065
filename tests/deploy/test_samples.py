"""The sample answers in the documents have the form of the real answers."""

import re
from typing import Final

import msgspec

from meters.displays.display_state import LinkRow, MeterRow
from tests.deploy.tree import DOCS

_PAGE: Final = DOCS / "reference" / "http.md"
_LIST: Final = re.compile(r"^```json\n(.*?)^```", re.DOTALL | re.MULTILINE)
_EVENT: Final = re.compile(r"^event: (\w+)\ndata: (.+)$", re.MULTILINE)
_ROWS: Final[dict[str, type[MeterRow | LinkRow]]] = {"meter": MeterRow, "controller": LinkRow}


def again(sample: str, kind: object) -> object:
    """Return a sample after it was decoded as a type and encoded again, as plain JSON."""
    return msgspec.json.decode(msgspec.json.encode(msgspec.json.decode(sample, type=kind)))


def test_the_list_of_meters_has_the_fields_of_the_real_list() -> None:
    (sample,) = _LIST.findall(_PAGE.read_text())
    assert again(sample, list[MeterRow]) == msgspec.json.decode(sample)


def test_the_events_of_the_stream_have_the_fields_of_the_real_events() -> None:
    samples = _EVENT.findall(_PAGE.read_text())
    assert [name for name, _ in samples] == [*_ROWS]
    for name, sample in samples:
        assert again(sample, _ROWS[name]) == msgspec.json.decode(sample)
