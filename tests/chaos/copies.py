"""Copies of every event, sent back to back, and a check that all are answered alike."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from tests.mqtt.stranger import Heard

COPIES: Final = 3
_PUBLISH: Final = 3
_LONGEST: Final = 4
"""Longest encoding of a packet's length, in bytes."""


class Copier:
    """Passes on a client's packets to a broker, each event of a table three times."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        self._held += data
        passed = []
        while (size := _packet_size(self._held)) is not None:
            packet, self._held = self._held[:size], self._held[size:]
            passed.append(packet * (COPIES if _is_event(packet) else 1))
        return b"".join(passed)


def _packet_size(data: bytes) -> int | None:
    """Return the length of the first packet, or None if it is incomplete."""
    size = shift = 0
    for place in range(1, 1 + _LONGEST):
        if place >= len(data):
            return None
        size |= (data[place] & 0x7F) << shift
        shift += 7
        if not data[place] & 0x80:
            whole = 1 + place + size
            return whole if whole <= len(data) else None
    raise ValueError("no packet of MQTT begins so")


def _is_event(packet: bytes) -> bool:
    if packet[0] >> 4 != _PUBLISH:
        return False
    start = next(place for place in range(1, len(packet)) if not packet[place] & 0x80) + 1
    length = int.from_bytes(packet[start : start + 2], "big")
    return packet[start + 2 : start + 2 + length].endswith(b"/out")


def answers_of(heard: Iterable[Heard]) -> Mapping[tuple[str, int], Counter[bytes]]:
    """Return how often each event got which answer, by topic and seq."""
    given: defaultdict[tuple[str, int], Counter[bytes]] = defaultdict(Counter)
    for message in heard:
        reply = message.json if message.topic.endswith("/in") else {}
        if reply.get("status") in {"accepted", "refused"}:
            given[message.topic, reply["seq"]][message.payload] += 1
    return given
