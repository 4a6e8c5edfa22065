"""Targets that the service reads from the broker: events, statuses and topics."""

import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, Final

from bonus.json_input import UNREADABLE
from meters.floor.floor_file import parse_floor
from meters.intake.event_reading import EventReader, read_event
from meters.intake.result_judging import judge_result
from meters.intake.table_catalog import CatalogTable, table_topics
from meters.intake.wager_judging import OpenRound, judge_correction, judge_wagers, placed_wagers
from meters.store.event_refusals import EventRefusal, refused
from meters.wire.messages import (
    EVENT_BYTES_MAX,
    TABLE_EVENT,
    TABLE_STATUS,
    Hello,
    MoneyEvent,
    Result,
    Void,
    WagerCorrection,
    Wagers,
    Withdrawal,
)
from meters.wire.topics import TableAddress, parse_table_out, table_out
from tests.fuzz.target import Target, check_refusal, plain, pure
from tests.model.pit import FLOOR
from tests.mqtt.events import AT, encode, result, void, wagers

SEQ_MAX: Final = 2**53 - 1
BOXES: Final = [
    {"position": 3, "patron": "p3", "wagers": {"progressive": 100, "five_card_progressive": 100}},
    {"position": 4, "wagers": {"five_card_hand_bonus": 100, "five_card_hand_bonus_dealer": 100}},
    {"position": 6, "patron": "p6", "wagers": {"five_of_six_progressive": 100}},
]
HANDS: Final = [
    {"position": 3, "patron": "p3", "cards": ["As", "Ks", "Qs"], "folded": False},
    {"position": 4, "cards": ["2h", "7d", "9c"], "folded": True},
    {"position": 6, "cards": ["Th", "Jh", "Qh"]},
]
EVENTS: Final = (
    encode(wagers(1, positions=BOXES)),
    encode(wagers(7)),
    encode(result(2, positions=HANDS, dealer=["Kh", "Ah", "Kc"], community=["Js", "Ts"])),
    encode(result(3, positions=HANDS[:1], dealer=["3h", "8d", "Kc"], community=["Js", "Ts"])),
    encode(void(2)),
    encode(void(2, entered=[{"what": "hand", "position": 3, "cards": ["As", "Ks", "Qs"]}])),
    encode(
        result(
            2,
            entered_before=[
                {"what": "dealer", "cards": ["3h"], "taken_back": True, "reason": "Misread"}
            ],
        )
    ),
    encode({"type": "hello", "at": AT}),
    encode(
        void(2)
        | {
            "type": "correct_wager",
            "action": "take_back",
            "amount": 100,
            "position": 3,
            "wager": "progressive",
            "positions": [
                {"position": 3, "patron": "p3", "wagers": {"five_card_progressive": 100}},
                *BOXES[1:],
            ],
        }
    ),
)
STATUSES: Final = (encode({"online": True, "state": "open", "at": AT}),)


def known_table() -> CatalogTable:
    floor = parse_floor(FLOOR)
    return table_topics(floor, floor.link[0])[TableAddress("pit", "T-1")]


def opened_round() -> OpenRound:
    event = TABLE_EVENT.decode(EVENTS[0])
    assert isinstance(event, Wagers)
    return OpenRound(1, event, placed_wagers(event.positions), None, ())


_KNOWN: Final = known_table()
_OPEN: Final = opened_round()
_READER: Final = EventReader()
_WAGERS: Final = _OPEN.wagers
assert isinstance(_WAGERS, Wagers)
_READER.note(_KNOWN, EVENTS[0], _WAGERS, judge_wagers(_KNOWN, _WAGERS.positions))


def check_event(payload: bytes) -> bool:
    """Parse and judge an event; return whether it may change something."""
    event, seq = read_event(payload)
    assert seq is None or 1 <= seq <= SEQ_MAX
    if isinstance(event, EventRefusal):
        assert isinstance(_READER.event_in(_KNOWN, payload)[0], EventRefusal)
        check_refusal(refused(seq, event.code, event.message, event.field), seq)
        return False
    assert _READER.event_in(_KNOWN, payload)[:2] == (event, seq)
    assert len(payload) <= EVENT_BYTES_MAX
    fields = plain(payload)
    assert fields["type"] == event.__struct_config__.tag
    if isinstance(event, Hello):
        assert set(fields) <= {"type", "at"}
        return False
    assert fields["seq"] == seq
    try:
        _judge(event, fields)
    except EventRefusal as refusal:
        check_refusal(refused(seq, refusal.code, refusal.message, refusal.field), seq)
        return False
    return True


def _judge(event: MoneyEvent, fields: dict[str, Any]) -> None:
    match event:
        case Wagers():
            contributions = judge_wagers(_KNOWN, event.positions).contributions
            cents = check_wagers(fields)
            assert sum(one.wagered_cents for one in contributions) == cents
            assert sum(one.wagers for one in contributions) * 100 == cents
        case Result():
            if event.round == _OPEN.wagers.round:
                judge_result(_KNOWN, event, _OPEN)
                check_dealt(fields)
                assert {3, 4, 6} <= {box["position"] for box in fields["positions"]}
        case Void():
            assert set(fields) - {"entered", "confirm"} == {"seq", "at", "type", "round", "reason"}
            check_entered(fields.get("entered", []))
        case WagerCorrection():
            if event.round == _OPEN.wagers.round:
                _, work, _ = judge_correction(_KNOWN, event, _OPEN)
                assert work.adds is (fields["action"] == "add")
        case Withdrawal():
            assert set(fields) == {"seq", "at", "type", "round"}


def check_wagers(fields: dict[str, Any]) -> int:
    """Check accepted wagers without our types; return their sum in cents."""
    assert set(fields) == {"seq", "at", "type", "round", "positions"}
    positions = [box["position"] for box in fields["positions"]]
    assert all(type(position) is int and 1 <= position <= 7 for position in positions)
    assert len(set(positions)) == len(positions)
    amounts = [cents for box in fields["positions"] for cents in box["wagers"].values()]
    assert all(type(cents) is int and cents == 100 for cents in amounts), amounts
    return sum(amounts)


def check_dealt(fields: dict[str, Any]) -> None:
    known = {"seq", "at", "type", "round", "positions", "dealer", "community", "entered_before",
             "confirm"}  # fmt: skip
    assert set(fields) <= known
    check_entered(fields.get("entered_before", []))
    hands = [box.get("cards") or [] for box in fields["positions"]]
    cards = Counter(card for hand in [*hands, fields["dealer"]] for card in hand)
    cards.update(fields.get("community") or [])
    assert set(cards.values()) == {1}, cards
    assert all(len(c) == 2 and c[0] in "23456789TJQKA" and c[1] in "cdhs" for c in cards)


def check_entered(entered: list[dict[str, Any]]) -> None:
    for one in entered:
        assert set(one) <= {"what", "position", "cards", "taken_back", "reason"}
        assert one["what"] in {"hand", "dealer", "community"}
        assert 1 <= len(one["cards"]) <= 8
        # A result that is no card has the form of a name.
        assert all(
            re.fullmatch("[2-9TJQKA][cdhs]|Jk|[a-z][a-z0-9_]*", card) for card in one["cards"]
        )


def check_status(payload: bytes) -> None:
    try:
        status = TABLE_STATUS.decode(payload)
    except UNREADABLE:
        return
    assert type(plain(payload)["online"]) is bool
    assert isinstance(status.state, str)


def check_topic(data: bytes) -> None:
    topic = data.decode("utf-8", "replace")
    found = parse_table_out(topic)
    if found is not None:
        assert table_out(*found) == topic
        assert found.link.isascii()


def make_topic(random: Random, seeds: Sequence[bytes]) -> bytes:
    parts = random.choice(seeds).split(b"/")
    pieces = (b"", b"+", b"#", b"$share", b"\n", b"T-1\n", b"x" * 33, b"\xc3\xa9", b"a b", b"\x00")
    parts[random.randrange(len(parts))] = random.choice((*pieces, random.randbytes(3)))
    return b"/".join(parts)


TARGETS: Final = (
    Target("wire", EVENTS, pure(check_event), share=30),
    Target("status", STATUSES, pure(check_status), share=4),
    Target(
        "topics",
        (b"pitlink/v1/pit/table/T-1/out", b"pitlink/v1/pit/table/T-1/status"),
        pure(check_topic),
        make_topic,
        share=4,
    ),
)
