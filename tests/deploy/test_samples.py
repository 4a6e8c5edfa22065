"""The sample messages in the documents have the form of the real messages."""

import re
from typing import Final

import msgspec

from meters.web.display_state import FixedJackpotsRow, JackpotRow, LinkRow, MeterRow, WinsRow
from meters.wire.messages import ControllerBeat, Jackpot, MeterValue, Reply, Wagers
from meters.wire.topics import ROOT, controller, jackpot, meter, table_in, table_out
from tests.deploy.tree import DOCS

_HTTP: Final = DOCS / "reference" / "http.md"
_MQTT: Final = DOCS / "reference" / "mqtt.md"
_BLOCK: Final = re.compile(r"^```json\n(.*?)^```", re.DOTALL | re.MULTILINE)
_EVENT: Final = re.compile(r"^event: (\w+)\ndata: (.+)$", re.MULTILINE)
_MESSAGE: Final = re.compile(
    rf"`({ROOT}/[^`{{]+)`:\n\n```json\n(.*?)^```", re.DOTALL | re.MULTILINE
)
_ROWS: Final = {
    "meter": MeterRow,
    "fixed_jackpots": FixedJackpotsRow,
    "controller": LinkRow,
    "jackpot": JackpotRow,
    "wins": WinsRow,
}
_MESSAGES: Final = {
    table_out("tcp-main", "TCP-01"): Wagers,
    table_in("tcp-main", "TCP-01"): Reply,
    meter("tcp-five", "progressive"): MeterValue,
    controller("tcp-five"): ControllerBeat,
    jackpot("tcp-five"): Jackpot,
}


def again(sample: str, kind: object) -> object:
    return msgspec.json.decode(msgspec.json.encode(msgspec.json.decode(sample, type=kind)))


def test_the_list_of_meters_has_the_fields_of_the_real_list() -> None:
    (sample,) = _BLOCK.findall(_HTTP.read_text())
    assert again(sample, list[MeterRow]) == msgspec.json.decode(sample)


def test_the_events_of_the_stream_have_the_fields_of_the_real_events() -> None:
    samples = _EVENT.findall(_HTTP.read_text())
    assert [name for name, _ in samples] == [*_ROWS]
    for name, sample in samples:
        assert again(sample, _ROWS[name]) == msgspec.json.decode(sample)


def test_the_messages_at_the_broker_have_the_fields_of_the_real_messages() -> None:
    samples = _MESSAGE.findall(_MQTT.read_text())
    assert sorted(topic for topic, _ in samples) == sorted(_MESSAGES)
    for topic, sample in samples:
        assert again(sample, _MESSAGES[topic]) == msgspec.json.decode(sample)
