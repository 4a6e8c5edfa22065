"""Bad input of every kind, each with the refusal that it must get."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from tests.mqtt.events import Event, encode, result, void, wagers

LONG_BYTES: Final = 16_385
NEST: Final = b"[" * 16_000

Make = Callable[[int], bytes]
"""Builds an event's bytes for the next seq at the table."""


@dataclass(frozen=True, slots=True)
class Bad:
    """A bad event: `field` is what the refusal names, and only a readable seq is `used` up.

    Round R1 must be `opened` at the table before.
    """

    name: str
    make: Make
    code: str
    field: str | None = None
    used: bool = True
    opened: bool = False


def opening(seq: int) -> Event:
    made = {"progressive": 100, "five_card_progressive": 100, "five_card_hand_bonus": 200}
    return wagers(seq, positions=[{"position": 3, "patron": "p3", "wagers": made}])


def two_wagers(seq: int) -> Event:
    boxes = [{"position": 3 + more, "wagers": {"progressive": 100}} for more in (0, 1)]
    return wagers(seq, positions=boxes)


def full_result(seq: int) -> Event:
    event = result(seq, community=["4s", "Jd"])
    event["positions"].append({"position": 4, "cards": ["5h", "6d", "Qs"]})
    return event


GONE: Final = object()
"""Value of a field that is left out."""


def changed(make: Callable[[int], Event], changes: Mapping[str, object]) -> Make:
    """Return an event with other fields, named by their places: ``positions.0.cards``."""

    def build(seq: int) -> bytes:
        event = deepcopy(make(seq))
        for place, value in changes.items():
            *way, last = place.split(".")
            at: Any = event
            for name in way:
                at = at[int(name)] if isinstance(at, list) else at[name]
            key: Any = int(last) if isinstance(at, list) else last
            if value is GONE:
                del at[key]
            else:
                at[key] = value
        return encode(event)

    return build


def raw(payload: bytes) -> Make:
    return lambda _: payload


def replaced(old: bytes, new: bytes, make: Callable[[int], Event] = wagers) -> Make:
    return lambda seq: encode(make(seq)).replace(old, new, 1)


Rows = Mapping[str, tuple[object, ...]]
"""The new value of one field by what is bad, with the code and the field of the refusal."""


def _rows(
    make: Callable[[int], Event], place: str, rows: Rows, *, opened: bool = False
) -> Iterator[Bad]:
    for name, (value, code, *field) in rows.items():
        at = str(field[0]) if field else place
        yield Bad(
            f"{place}: {name}", changed(make, {place: value}), str(code), at or None, opened=opened
        )


def _wagers() -> Iterator[Bad]:
    at = "positions[0].wagers"
    wrong, bad = ("wrong_amount", f"{at}.progressive"), ("bad_field", f"{at}[...]")
    yield from _rows(wagers, "positions.0.wagers.progressive", {
        "the amount of another meter": (200, *wrong), "one cent too little": (99, *wrong),
        "all the money there is": (10**12, *wrong), "a float": (100.0, *bad),
        "a float with cents": (1.5, *bad), "true": (True, *bad), "in quotes": ("100", *bad),
        "null": (None, *bad), "nothing": (0, *bad), "less than nothing": (-100, *bad),
        "more than a machine word": (10**40, *bad), "2^63": (2**63, *bad), "a list": ([100], *bad),
    })  # fmt: skip
    yield Bad("amount: an exponent", replaced(b": 100}", b": 1e2}"), *bad)
    of = "positions[1].wagers.five_of_six_progressive"
    yield from _rows(two_wagers, "positions.1.wagers", {
        "without a meter at the table": ({"five_of_six_progressive": 100}, "unknown_meter", of),
    })  # fmt: skip
    yield from _rows(wagers, "positions.0.wagers", {
        "on no meter": ({"ante": 1000}, "unknown_wager", f"{at}.ante"),
        "nobody knows": ({"jackpot": 100}, "unknown_wager", f"{at}.jackpot"),
        "none": ({}, "bad_field", at), "a list": ([], "bad_field", at),
    })  # fmt: skip
    unknown, at = ("unknown_position", "positions[0].position"), "positions[0].position"
    yield from _rows(wagers, "positions.0.position", {
        "one more than the table has": (7, *unknown), "the last that is a number": (99, *unknown),
    } | {repr(each): (each, "bad_field", at) for each in (0, 100, -1, True, 3.0, "dealer")}
    )  # fmt: skip
    yield from _rows(two_wagers, "positions.1.position", {
        "wagers twice": (3, "position_twice", "positions[1].position"),
    })  # fmt: skip
    many = [{"position": 3, "wagers": {"progressive": 100}}] * 100
    yield from _rows(wagers, "positions", {
        "none": ([], "bad_field"), "a hundred": (many, "bad_field"), "missing": (GONE, "bad_field"),
    })  # fmt: skip


def _rounds() -> Iterator[Bad]:
    for make in (result, void):
        yield from _rows(make, "round", {f"{make.__name__}, unknown": ("R8", "unknown_round", "")})
        rows = {f"{make.__name__}, not the open one": ("R2", "unknown_round", "")}
        yield from _rows(make, "round", rows, opened=True)
    rows = {"after lock-out": ("R1", "after_lockout", ""), "while open": ("R2", "round_open", "")}
    yield from _rows(wagers, "round", rows, opened=True)
    yield from _rows(wagers, "round", {
        "empty": ("", "bad_field"), "too long": ("R" * 65, "bad_field"),
        "a number": (1, "bad_field"), "missing": (GONE, "bad_field"),
    })  # fmt: skip


def _texts() -> Iterator[Bad]:
    """Yield blank texts, and texts that would control a terminal or mislead a reader."""
    name = ("\u0e2a", "unprintable_text", "positions[0].patron")
    yield from _rows(wagers, "positions.0.patron", {"no slip could print it": name})
    for what, text in (("an escape", "R\x1b[2J"), ("C1", "R\x9b2J"), ("a return", "R\r=cmd"),
                       ("a turn of direction", "R\u202e1"), ("no width", "R\u200b"),
                       ("nothing to see", "R\u3164"), ("a blank", " "),
                       ("wide blanks", "\u2003\u3000")):  # fmt: skip
        for make, place, field in (
            (wagers, "round", "round"),
            (wagers, "positions.0.patron", "positions[0].patron"),
            (void, "reason", "reason"),
            (full_result, "positions.1.patron", "positions[1].patron"),
        ):
            rows = {f"{what} in {make.__name__}": (text, "unprintable_text", field)}
            yield from _rows(make, place, rows, opened=make is not wagers)


def _cards() -> Iterator[Bad]:
    hand, twice = "positions[0].cards", "card_twice"
    missing = "cards_missing"
    places: Mapping[str, Rows] = {
        "positions.0.cards": {
            "a card twice": (["2h", "2h", "9c"], twice, hand),
            "no such rank": (["1h", "7d", "9c"], "bad_card", hand),
            "an empty card": (["", "7d", "9c"], "bad_card", hand),
            "a card of a thousand letters": (["A" * 1000, "7d", "9c"], "bad_card", hand),
            "a card too many": (["2h", "7d", "9c", "Th"], "wrong_cards", hand),
            "a number for a card": ([2, "7d", "9c"], "bad_field", f"{hand}[0]"),
            "nine cards": (["2h"] * 9, "bad_field", hand),
            "a hand to be shown without cards": (None, missing, hand),
        },
        "positions.1.cards": {"of another": (["9c", "6d", "Qs"], twice, "positions[1].cards")},
        "dealer": {
            "a card of a hand": (["2h", "8d", "Kc"], twice),
            "a rank in small letters": (["3h", "8d", "kc"], "bad_card"),
            "two cards": (["3h", "8d"], "wrong_cards"),
        },
        "community": {
            "a card of the dealer": (["4s", "Kc"], twice), "one card": (["4s"], "wrong_cards"),
            "none": (None, "community_missing"),
        },
        "positions.1.position": {
            "twice": (3, "position_twice", "positions[1].position"),
            "too far": (7, "unknown_position", "positions[1].position"),
        },
        "positions.0.position": {"not the wager's": (5, "position_missing", "positions")},
        "positions.0.patron": {"another": ("p4", "patron_differs", "positions[0].patron")},
        "positions.0.folded": {"1": (1, "bad_field", "positions[0].folded")},
    }  # fmt: skip
    for place, rows in places.items():
        yield from _rows(full_result, place, rows, opened=True)
    folded = changed(full_result, {"positions.0.cards": None, "positions.0.folded": True})
    yield Bad("a folded hand to be shown without cards", folded, missing, hand, opened=True)


def _fields() -> Iterator[Bad]:
    yield from _rows(wagers, "tip", {"unknown": (5, "unknown_field")})
    rows: Rows = {"unknown": (3, "unknown_field", "positions[0].seat")}
    yield from _rows(wagers, "positions.0.seat", rows)
    yield from _rows(result, "winner", {"unknown": (3, "unknown_field")})
    yield from _rows(result, "dealer", {"missing": (GONE, "bad_field")})
    yield from _rows(void, "dealer", {"of another type": ([], "unknown_field")})
    rows = {"unknown": ("bet", "bad_field"), "missing": (GONE, "bad_field")}
    yield from _rows(wagers, "type", rows)
    yield from _rows(wagers, "at", {
        "no time": ("yesterday", "bad_field"), "seconds": (1_700_000_000, "bad_field"),
        "missing": (GONE, "bad_field"),
    })  # fmt: skip
    rows = {"empty": ("", "bad_field"), "too long": ("x" * 201, "bad_field")}
    yield from _rows(void, "reason", rows)
    patron = ("bad_field", "positions[0].patron")
    rows = {"a list": ([], *patron), "empty": ("", *patron)}
    yield from _rows(wagers, "positions.0.patron", rows)
    hello = raw(b'{"type": "hello", "who": "me"}')
    yield Bad("hello with more", hello, "unknown_field", "who", used=False)
    seq = changed(lambda seq: {"type": "hello", "seq": seq}, {})
    yield Bad("hello with a seq", seq, "unknown_field", "seq")


def _seqs() -> Iterator[Bad]:
    """Yield invalid seqs: no answer can name them, and none is used up."""
    for text in ("0", "-1", "1.0", "1e0", "true", '"1"', "null", str(2**53), str(10**40), "[1]"):
        event = raw(encode(wagers(-77)).replace(b"-77", text.encode(), 1))
        yield Bad(f"seq {text[:20]}", event, "bad_field", "seq", used=False)
    yield Bad("no seq", changed(wagers, {"seq": GONE}), "bad_field", "seq", used=False)


def _bytes() -> Iterator[Bad]:
    good = encode(wagers(1))
    for name, payload in {
        "nothing": b"", "words": b"hello there", "half an event": good[: len(good) // 2],
        "two events": good + good, "an event and a null byte": good + b"\0",
        "a null byte in a name": good.replace(b'"R1"', b'"R\x001"'),
        "only null bytes": bytes(64),
        "invalid UTF-8 in a text": encode(void(1)).replace(b"misdeal", b"mis\xff\xfedeal"),
        "invalid UTF-8 for a name": good.replace(b'"round"', b'"\xc3\x28"'),
        "UTF-16": good.decode().encode("utf-16"), "a byte-order mark": b"\xef\xbb\xbf" + good,
        "half a surrogate": encode(void(1)).replace(b"misdeal", b"\\ud800"),
        "not a number": good.replace(b"100", b"NaN"),
        "a comment": good.replace(b"{", b"{/* */", 1), "single quotes": good.replace(b'"', b"'"),
        "lists in lists in an unknown field": b'{"x":' + NEST,
        "objects in objects before the type": b'{"seq":1,"x":' + b'{"x":' * 3_000,
    }.items():  # fmt: skip
        yield Bad(f"bytes: {name}", raw(payload), "not_json", used=False)
    for name, payload in {
        "null": b"null", "a number": b"42", "a list": b"[" + good + b"]", "a text": b'"hello"',
        "lists in lists": NEST,
    }.items():  # fmt: skip
        yield Bad(f"JSON: {name}", raw(payload), "bad_field", used=False)
    yield Bad("an empty object", raw(b"{}"), "bad_field", "type", used=False)
    nested = encode(wagers(1, positions="@")).split(b'"@"')[0] + NEST
    yield Bad("lists for positions", raw(nested), "bad_field", "positions[0]", used=False)
    for name, payload in {
        "a megabyte": encode(wagers(1)).ljust(1_000_000), "of nothing": b"x" * 1_000_000,
        "a long line of lists in lists": b'{"x":' + b"[" * 1_000_000,
    }.items():  # fmt: skip
        yield Bad(f"too long: {name}", raw(payload), "too_long", used=False)
    yield Bad("a byte too long", lambda seq: encode(wagers(seq)).ljust(LONG_BYTES), "too_long")


def _twice() -> Iterator[Bad]:
    """Yield events with a duplicate field, which two readers could interpret differently."""
    for name, old, new in (
        ("round", b'{"', b'{"round":"R7","'),
        ("seq", b'{"', b'{"seq":7,"'),
        ("amount", b'"progressive"', b'"progressive":200,"progressive"'),
        ("escaped", b'{"', b'{"roun\\u0064":"R7","'),
        ("with blanks and colons", b'{"', b'{"round" :\n":R7:", "'),
    ):
        yield Bad(f"twice: {name}", replaced(old, new), "name_twice")


BAD: Final = [
    *_wagers(), *_rounds(), *_cards(), *_fields(), *_texts(), *_seqs(), *_bytes(), *_twice(),
]  # fmt: skip
