"""Bad input of every kind, each with the refusal that it must get."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tests.mqtt.events import Event, encode, result, void, wagers

LONG_BYTES: Final = 16_385
DEEP: Final = 16_000

IN_THE_OPEN_ROUND: Final = {
    "position": 3,
    "patron": "p3",
    "wagers": {"progressive": 100, "five_card_progressive": 100, "five_card_hand_bonus": 200},
}
"""Wagers in the open round of the cases that need one."""


@dataclass(frozen=True, slots=True)
class Bad:
    """A bad event.

    Attributes:
        name: what is bad.
        make: builds the event's bytes for the next seq at the table.
        code: code of the refusal.
        field: field that the refusal names, or None.
        used: whether the seq is readable, and so is used up.
        opened: whether round R1 must be open at the table before.
    """

    name: str
    make: Callable[[int], bytes]
    code: str
    field: str | None = None
    used: bool = True
    opened: bool = False


def placed(*wagers_made: dict[str, Any] | None, **position: object) -> Callable[[int], bytes]:
    """Return a `wagers` event with other wagers, at position 3 and those after it."""
    boxes = [
        {"position": 3 + index, "wagers": made, **position}
        for index, made in enumerate(wagers_made)
    ]
    return lambda seq: encode(wagers(seq, positions=boxes))


def changed(make: Callable[..., Event], **changes: object) -> Callable[[int], bytes]:
    return lambda seq: encode(make(seq, **changes))


def without(make: Callable[..., Event], name: str) -> Callable[[int], bytes]:

    def drop(seq: int) -> bytes:
        event = make(seq)
        del event[name]
        return encode(event)

    return drop


def numbered(seq_text: str) -> Callable[[int], bytes]:
    return lambda _seq: encode(wagers(-77)).replace(b"-77", seq_text.encode(), 1)


def raw(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    return make


def dealt(**changes: object) -> Callable[[int], bytes]:
    """Return a `result` for the open round with another hand, or other cards."""
    box: dict[str, Any] = {
        "position": 3,
        "patron": "p3",
        "cards": ["2h", "7d", "9c"],
        "folded": False,
    }
    top: dict[str, Any] = {"dealer": ["3h", "8d", "Kc"], "community": ["4s", "Jd"]}
    for name, value in changes.items():
        (box if name in box else top)[name] = value
    more = top.pop("more", [])
    return lambda seq: encode(result(seq, positions=[box, *more], **top))


def _amounts() -> Iterator[Bad]:
    """Yield the same wager with values that are not amounts, or not the meter's amount."""
    at = "positions[0].wagers"
    for name, amount, code in (
        ("the amount of another meter", 200, "wrong_amount"),
        ("one cent too little", 99, "wrong_amount"),
        ("all the money there is", 10**12, "wrong_amount"),
        ("a float", 100.0, "bad_field"),
        ("a float with cents", 1.5, "bad_field"),
        ("true", True, "bad_field"),
        ("a number in quotes", "100", "bad_field"),
        ("null", None, "bad_field"),
        ("nothing", 0, "bad_field"),
        ("less than nothing", -100, "bad_field"),
        ("more than a machine word", 10**40, "bad_field"),
        ("2^63", 2**63, "bad_field"),
        ("a list", [100], "bad_field"),
    ):
        field = f"{at}.progressive" if code == "wrong_amount" else f"{at}[...]"
        yield Bad(f"amount: {name}", placed({"progressive": amount}), code, field)
    exponent = encode(wagers(77, positions=[{"position": 3, "wagers": {"progressive": 555}}]))
    yield Bad(
        "amount: an exponent",
        lambda seq: exponent.replace(b"77", str(seq).encode()).replace(b"555", b"1e2"),
        "bad_field",
        f"{at}[...]",
    )


def _places() -> Iterator[Bad]:
    """Yield wagers at positions or on meters that allow none."""
    yield Bad(
        "wager without a meter at the table",
        placed({"progressive": 100}, {"five_of_six_progressive": 100}),
        "unknown_meter",
        "positions[1].wagers.five_of_six_progressive",
    )
    yield Bad(
        "wager that feeds no meter", placed({"ante": 1000}), "unknown_wager",
        "positions[0].wagers.ante",
    )  # fmt: skip
    yield Bad(
        "wager nobody knows", placed({"jackpot": 100}), "unknown_wager",
        "positions[0].wagers.jackpot",
    )  # fmt: skip
    for name, position, code in (
        ("one more than the table has", 7, "unknown_position"),
        ("the last that is a number here", 99, "unknown_position"),
        ("0", 0, "bad_field"),
        ("100", 100, "bad_field"),
        ("-1", -1, "bad_field"),
        ("true", True, "bad_field"),
        ("a float", 3.0, "bad_field"),
        ("the dealer", "dealer", "bad_field"),
    ):
        yield Bad(
            f"position: {name}",
            placed({"progressive": 100}, position=position),
            code,
            "positions[0].position",
        )
    twice = [{"position": 3, "wagers": {"progressive": 100}}] * 2
    yield Bad(
        "position twice", changed(wagers, positions=twice), "position_twice",
        "positions[1].position",
    )  # fmt: skip
    yield Bad("no positions", changed(wagers, positions=[]), "bad_field", "positions")
    yield Bad("no wagers at a position", placed({}), "bad_field", "positions[0].wagers")
    many = [{"position": 3, "wagers": {"progressive": 100}}] * 100
    yield Bad("a hundred positions", changed(wagers, positions=many), "bad_field", "positions")


def _rounds() -> Iterator[Bad]:
    yield Bad("result of an unknown round", changed(result, round="R8"), "unknown_round")
    yield Bad("void of an unknown round", changed(void, round="R8"), "unknown_round")
    yield Bad(
        "result of another round than the open one",
        changed(result, round="R2"),
        "unknown_round",
        opened=True,
    )
    yield Bad(
        "void of another round than the open one",
        changed(void, round="R2"),
        "unknown_round",
        opened=True,
    )
    yield Bad("wager after lock-out", changed(wagers), "after_lockout", opened=True)
    yield Bad(
        "another round while one is open", changed(wagers, round="R2"), "round_open", opened=True
    )
    for name, round_id in (("empty", ""), ("too long", "R" * 65)):
        yield Bad(f"round {name}", changed(wagers, round=round_id), "bad_field", "round")
    yield Bad("a number for a round", changed(wagers, round=1), "bad_field", "round")


def _texts() -> Iterator[Bad]:
    """Yield blank texts, and texts that would control a terminal or mislead a reader."""
    yield Bad("a name that no slip could print", placed({"progressive": 100}, patron="\u0e2a"),
              "unprintable_text", "positions[0].patron")  # fmt: skip
    for name, text in (("an escape", "R\x1b[2J"), ("C1", "R\x9b2J"), ("a return", "R\r=cmd"),
                       ("a turn of direction", "R\u202e1"), ("no width", "R\u200b"),
                       ("nothing to see", "R\u3164"), ("a blank", " "),
                       ("wide blanks", "\u2003\u3000")):  # fmt: skip
        code = "unprintable_text"
        yield Bad(f"{name} in a round", changed(wagers, round=text), code, "round")
        yield Bad(f"{name} in a patron", placed({"progressive": 100}, patron=text), code,
                  "positions[0].patron")  # fmt: skip
        yield Bad(f"{name} in a reason", changed(void, reason=text), code, "reason",
                  opened=True)  # fmt: skip
        box = {"position": 4, "patron": text, "cards": ["5h", "6d", "Qs"]}
        yield Bad(f"{name} in a patron of a result", dealt(more=[box]), code,
                  "positions[1].patron", opened=True)  # fmt: skip


def _cards() -> Iterator[Bad]:
    """Yield results that cannot have been dealt."""

    def bad(name: str, make: Callable[[int], bytes], code: str, field: str | None) -> Bad:
        return Bad(f"result: {name}", make, code, field, opened=True)

    hand, at = "positions[0].cards", "positions[1]"
    other = {"position": 4, "cards": ["5h", "6d", "Qs"]}
    yield bad("a card twice in a hand", dealt(cards=["2h", "2h", "9c"]), "card_twice", hand)
    yield bad(
        "a card in two hands",
        dealt(more=[other | {"cards": ["9c", "6d", "Qs"]}]),
        "card_twice",
        f"{at}.cards",
    )
    yield bad("a card also the dealer's", dealt(dealer=["2h", "8d", "Kc"]), "card_twice", "dealer")
    yield bad("a card also common", dealt(community=["4s", "Kc"]), "card_twice", "community")
    yield bad("no such rank", dealt(cards=["1h", "7d", "9c"]), "bad_card", hand)
    yield bad("a rank in small letters", dealt(dealer=["3h", "8d", "kc"]), "bad_card", "dealer")
    yield bad("an empty card", dealt(cards=["", "7d", "9c"]), "bad_card", hand)
    yield bad(
        "a card of a thousand letters", dealt(cards=["A" * 1000, "7d", "9c"]), "bad_card", hand
    )
    yield bad("a card too many", dealt(cards=["2h", "7d", "9c", "Th"]), "wrong_cards", hand)
    yield bad("a dealer with two cards", dealt(dealer=["3h", "8d"]), "wrong_cards", "dealer")
    yield bad("one community card", dealt(community=["4s"]), "wrong_cards", "community")
    yield bad("a number for a card", dealt(cards=[2, "7d", "9c"]), "bad_field", f"{hand}[0]")
    yield bad("nine cards", dealt(cards=["2h"] * 9), "bad_field", hand)
    yield bad("no community cards", dealt(community=None), "community_missing", "community")
    yield bad("a hand to be shown without cards", dealt(cards=None), "cards_missing", hand)
    yield bad(
        "a folded hand to be shown without cards",
        dealt(cards=None, folded=True),
        "cards_missing",
        hand,
    )
    yield bad("position twice", dealt(more=[other | {"position": 3}]), "position_twice",
              f"{at}.position")  # fmt: skip
    yield bad("a position too far", dealt(more=[other | {"position": 7}]), "unknown_position",
              f"{at}.position")  # fmt: skip
    yield bad("a wager without a hand", dealt(position=4), "position_missing", "positions")
    yield bad("another patron", dealt(patron="p4"), "patron_differs", "positions[0].patron")
    yield bad("1 for folded", dealt(folded=1), "bad_field", "positions[0].folded")


def _fields() -> Iterator[Bad]:
    """Yield fields that the contract does not know, and events without a required field."""
    yield Bad("unknown field", changed(wagers, tip=5), "unknown_field", "tip")
    yield Bad(
        "unknown field in a position", placed({"progressive": 100}, seat=3), "unknown_field",
        "positions[0].seat",
    )  # fmt: skip
    yield Bad("unknown field in a result", changed(result, winner=3), "unknown_field", "winner")
    yield Bad("another type's field", changed(void, dealer=[]), "unknown_field", "dealer")
    yield Bad("unknown type", changed(wagers, type="bet"), "bad_field", "type")
    yield Bad("no type", without(wagers, "type"), "bad_field", "type")
    for name in ("at", "round", "positions"):
        yield Bad(f"no {name}", without(wagers, name), "bad_field", name)
    yield Bad("no dealer", without(result, "dealer"), "bad_field", "dealer")
    yield Bad("a time that is none", changed(wagers, at="yesterday"), "bad_field", "at")
    yield Bad("seconds for a time", changed(wagers, at=1_700_000_000), "bad_field", "at")
    yield Bad("an empty reason", changed(void, reason=""), "bad_field", "reason")
    yield Bad("a reason too long", changed(void, reason="x" * 201), "bad_field", "reason")
    yield Bad("hello with more", raw(lambda _: b'{"type": "hello", "who": "me"}'),
              "unknown_field", "who", used=False)  # fmt: skip
    yield Bad("hello with a seq", changed(lambda seq: {"type": "hello", "seq": seq}),
              "unknown_field", "seq")  # fmt: skip
    for name in ("patron", "wagers"):
        yield Bad(f"a list for {name}", placed({"progressive": 100}, **{name: []}), "bad_field",
                  f"positions[0].{name}")  # fmt: skip
    yield Bad("an empty patron", placed({"progressive": 100}, patron=""), "bad_field",
              "positions[0].patron")  # fmt: skip


def _seqs() -> Iterator[Bad]:
    """Yield invalid seqs: no answer can name them, and none is used up."""
    for text in ("0", "-1", "1.0", "1e0", "true", '"1"', "null", str(2**53), str(10**40), "[1]"):
        yield Bad(f"seq {text[:20]}", numbered(text), "bad_field", "seq", used=False)
    yield Bad("no seq", without(wagers, "seq"), "bad_field", "seq", used=False)


def _bytes() -> Iterator[Bad]:
    good = encode(wagers(1))
    for name, payload in (
        ("nothing", b""),
        ("words", b"hello there"),
        ("half an event", good[: len(good) // 2]),
        ("two events", good + good),
        ("an event and a null byte", good + b"\0"),
        ("a null byte in a name", good.replace(b'"R1"', b'"R\x001"')),
        ("only null bytes", bytes(64)),
        ("invalid UTF-8 in a text", encode(void(1)).replace(b"misdeal", b"mis\xff\xfedeal")),
        ("invalid UTF-8 for a name", good.replace(b'"round"', b'"\xc3\x28"')),
        ("UTF-16", good.decode().encode("utf-16")),
        ("a byte-order mark", b"\xef\xbb\xbf" + good),
        ("half a surrogate", encode(void(1)).replace(b"misdeal", b"\\ud800")),
        ("not a number", good.replace(b"100", b"NaN")),
        ("a comment", good.replace(b"{", b"{/* */", 1)),
        ("single quotes", good.replace(b'"', b"'")),
    ):
        yield Bad(f"bytes: {name}", raw(lambda _, p=payload: p), "not_json", used=False)  # type: ignore[misc]
    for name, payload in (
        ("null", b"null"),
        ("a number", b"42"),
        ("a list", b"[" + good + b"]"),
        ("a text", b'"hello"'),
    ):
        yield Bad(f"JSON: {name}", raw(lambda _, p=payload: p), "bad_field", used=False)  # type: ignore[misc]
    yield Bad("an empty object", raw(lambda _: b"{}"), "bad_field", "type", used=False)


def _sizes() -> Iterator[Bad]:

    def padded(seq: int, size: int) -> bytes:
        text = encode(wagers(seq))
        return text[:-1] + b" " * (size - len(text)) + b"}"

    yield Bad("one byte too long", lambda seq: padded(seq, LONG_BYTES), "too_long")
    yield Bad("a megabyte", lambda seq: padded(seq, 1_000_000), "too_long", used=False)
    yield Bad("a megabyte of nothing", raw(lambda _: b"x" * 1_000_000), "too_long", used=False)
    nest = b"[" * DEEP
    yield Bad("lists in lists", raw(lambda _: nest), "bad_field", used=False)
    yield Bad(
        "lists in lists in an unknown field", raw(lambda _: b'{"x":' + nest), "not_json",
        used=False,
    )  # fmt: skip
    yield Bad(
        "lists in lists for positions",
        lambda seq: encode(wagers(seq, positions="@")).split(b'"@"')[0] + nest,
        "bad_field",
        "positions[0]",
        used=False,
    )
    yield Bad(
        "objects in objects before the type",
        raw(lambda _: b'{"seq":1,"x":' + b'{"x":' * 3_000),
        "not_json",
        used=False,
    )
    yield Bad(
        "a long line of lists in lists",
        raw(lambda _: b'{"x":' + b"[" * 1_000_000),
        "too_long",
        used=False,
    )


def _twice() -> Iterator[Bad]:
    """Yield events with a duplicate field, which two readers could interpret differently."""

    def again(old: bytes, new: bytes) -> Callable[[int], bytes]:
        return lambda seq: encode(wagers(seq)).replace(old, new, 1)

    for name, old, new in (
        ("round", b'{"', b'{"round":"R7","'),
        ("seq", b'{"', b'{"seq":7,"'),
        ("amount", b'"progressive"', b'"progressive":200,"progressive"'),
        ("escaped", b'{"', b'{"roun\\u0064":"R7","'),
        ("with blanks and colons", b'{"', b'{"round" :\n":R7:", "'),
    ):
        yield Bad(f"twice: {name}", again(old, new), "name_twice")


def opening(seq: int) -> Event:
    """Return the wagers that open round R1 for the cases that need it open."""
    return wagers(seq, positions=[IN_THE_OPEN_ROUND])


BAD: Final = [
    *_amounts(), *_places(), *_rounds(), *_cards(), *_fields(), *_texts(), *_seqs(),
    *_bytes(), *_sizes(), *_twice(),
]  # fmt: skip
