"""Bad input made from good input: JSON changed as a tree, then bytes changed as bytes.

All randomness comes from the given `Random`, so a seed makes the same input again. A Hypothesis
strategy or a coverage-guided fuzzer can also provide it.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

NUMBERS: Final = (
    *("0", "-0", "-1", "1", "1.0", "0.5", "1e2", "1e400", "-1e400", "1E-400", "0e0", "00", "+1"),
    *(str(2**53 - 1), str(2**53), str(2**63 - 1), str(2**63), str(2**64), str(-(2**63))),
    *("9" * 40, "9" * 4_300, "9" * 4_301, "NaN", "Infinity", "0x10", "1_000", "1.", ".5"),
)
TEXTS: Final = (
    *('""', '" "', '"1"', '"null"', '"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\x00"'),
    *('"\\uFEFF"', '"e\u0301"', '"\u202e"', '"\U0001f0a1"', '"' + "x" * 3_000 + '"', '"\\x41"'),
    *('"As"', '"aS"', '"10s"', '"tcp/+/#"', '"../../x"', '"2026-13-45T25:61:61Z"', '"`$.seq`"'),
    *('"0001-01-01T00:00:00+23:59"', '"9999-12-31T23:59:60Z"', '"2026-01-01T00:00:00"'),
)
OTHERS: Final = ("null", "true", "false", "{}", "[]", "[null]", '{"":{}}', "[[[]]]", "", ",", "]")
KEYS: Final = ('"seq"', '"type"', '"round"', '"x"', '""', '"\\u0073eq"', '"SEQ"', "seq", '"a`b"')
BYTES: Final = (
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\\"),
    *(b'"', b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r", b"\x1b[2J", b"\xe2\x80\xa8", b"//"),
    *(b"\\ud800", b"\\u0000", b"1e400", b"-0", b"9" * 400, b"null", b"\x85", b"<script>", b"&#0;"),
)
TOML: Final = (
    *(b"0", b"-1", b"1", b"7", b"52", b"1.5", b"nan", b"inf", b"true", b"1e400", b"9" * 5_000),
    *(b"1979-05-27", b"07:32:00", b'""', b'"x"', b'"' + b"x" * 5_000 + b'"', b'"\\u0000"'),
    *(b"[]", b"{}", b'["", ""]', b"[1, 2]", b"{ a = 1 }", b"[" * 300 + b"]" * 300),
    *(b"{a=" * 90 + b"1" + b"}" * 90, b"'''\n'''", b'"\\uD800"'),
)
_TOML_LINES: Final = (
    *(b"[[link]]", b"[link]", b"[[link.table]]", b"[service]", b"a" + b".a" * 400 + b" = 1"),
    *(b"[" + b"a." * 400 + b"a]", b'"" = 1', b"\xef\xbb\xbf", b"# \xff", b"\r", b"x = '\x7f'"),
)
DEEP: Final = (2, 40, 400, 1_200, 6_000)
LONG_BYTES: Final = 70_000
_NESTED_MAX: Final = 300
_CHANGES: Final = (1, 1, 1, 1, 2, 2, 3, 5)


@dataclass(slots=True)
class Members:
    """JSON object with its members in order; a key may occur twice."""

    pairs: list[list[object]]


@dataclass(frozen=True, slots=True)
class Raw:
    """Text that goes into the output unchanged, whether it is JSON or not."""

    text: str


def mutated(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Return one of the seeds after a few changes; rarely unchanged, rarely empty."""
    choice = random.random()
    seed = random.choice(seeds)
    if choice < 0.03:
        return seed
    if choice < 0.06:
        return random.randbytes(random.randrange(200))
    if choice < 0.75 and (tree := _tree(seed)) is not None:
        seed = _changed(random, tree).encode("utf-8", "surrogatepass")
        if random.random() < 0.85:
            return seed
    return _bytes_changed(random, seed)


def toml_with(*values: bytes) -> Callable[[Random, Sequence[bytes]], bytes]:
    """Return a maker of TOML with lines left out, repeated or moved, other words, or new values."""

    def make(random: Random, seeds: Sequence[bytes]) -> bytes:
        if random.random() < 0.3:
            return mutated(random, seeds)
        lines = random.choice(seeds).split(b"\n")
        for _ in range(random.randrange(1, 4)):
            number = random.randrange(len(lines))
            match random.randrange(8):
                case 0:
                    del lines[number]
                case 1:
                    lines.insert(number, random.choice(lines))
                case 2:
                    lines.insert(number, random.choice(random.choice(seeds).split(b"\n")))
                case 3:
                    lines.insert(number, random.choice(_TOML_LINES))
                case 4:
                    lines[number] = _with_word(random, lines[number], random.choice(lines))
                case _:
                    keys = [at for at, line in enumerate(lines) if b" = " in line] or [number]
                    number = random.choice(keys)
                    key = lines[number].partition(b" = ")[0]
                    lines[number] = key + b" = " + random.choice((*TOML, *values))
        return b"\n".join(lines or [b""])

    return make


def _with_word(random: Random, line: bytes, other: bytes) -> bytes:
    words, others = (re.findall(rb"[\w$%,.]+", each) for each in (line, other))
    if not words or not others:
        return line
    return line.replace(random.choice(words), random.choice(others), 1)


def _tree(seed: bytes) -> object:
    if seed.count(b"[") + seed.count(b"{") > _NESTED_MAX:
        return None
    try:
        return json.loads(seed, object_pairs_hook=lambda pairs: Members([[*one] for one in pairs]))
    except ValueError:
        return None


def _changed(random: Random, tree: object) -> str:
    holder: list[object] = [tree]
    for _ in range(random.choice(_CHANGES)):
        _change(random, holder)
    return _written(holder[0]) if holder else ""


def _change(random: Random, top: list[object]) -> None:
    places = [*_places(top)]
    if not places:
        return
    items, at = random.choice(places)
    match random.randrange(10):
        case 0:
            del items[at]
        case 1:
            other_items, other = random.choice(places)
            items[at] = Raw(_written(other_items[other]))  # no list is in itself
        case 2:
            items.insert(at, items[at])
        case 3:
            items[at] = _deep(random, items[at])
        case 4 | 5 if isinstance(items[at], Members):
            _change_member(random, items[at])
        case 6 if isinstance(number := items[at], int):
            items[at] = Raw(str(_near(random, int(number))))
        case _:
            items[at] = Raw(random.choice(random.choice((NUMBERS, TEXTS, OTHERS))))


def _change_member(random: Random, members: object) -> None:
    assert isinstance(members, Members)
    pairs = members.pairs
    value: object = Raw(random.choice(random.choice((NUMBERS, TEXTS, OTHERS))))
    key: object = Raw(random.choice(KEYS))
    if pairs and random.random() < 0.4:
        key = (random.choice(pairs) or [key])[0]  # the same key once more, with another value
    pairs.insert(random.randrange(len(pairs) + 1), [key, value])


def _near(random: Random, number: int) -> int:
    return random.choice(
        (number + 1, number - 1, -number, number * 2, number + 2**53, number << 64)
    )


def _deep(random: Random, value: object) -> Raw:
    depth = random.choice(DEEP)
    left, right = random.choice((("[", "]"), ('{"x":', "}"), ("[", ""), ('{"type":', "")))
    return Raw(left * depth + _written(value) + right * depth)


def _places(items: list[object]) -> Iterator[tuple[list[object], int]]:
    """Yield every value of a tree, as the list that holds it and its index there."""
    stack = [items]
    while stack:
        here = stack.pop()
        for at, value in enumerate(here):
            yield here, at
            if isinstance(value, Members):
                stack += value.pairs
            elif isinstance(value, list):
                stack.append(value)


def _written(value: object) -> str:
    match value:
        case Raw(text):
            return text
        case Members(pairs):
            return "{" + ",".join(":".join(_written(part) for part in pair) for pair in pairs) + "}"
        case list():
            return "[" + ",".join(_written(one) for one in value) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _bytes_changed(random: Random, data: bytes) -> bytes:
    for _ in range(random.choice(_CHANGES)):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.randrange(12))
        match random.randrange(7):
            case 0:
                data = data[:at] + data[end:]
            case 1:
                data = data[:at] + random.choice(BYTES) + data[end:]
            case 2:
                data = data[:at] + random.randbytes(random.randrange(6)) + data[at:]
            case 3:
                data = data[:end] + data[at:]
            case 4:
                data = data[:at]
            case 5 if random.random() < 0.05:
                data = data[:at] + random.choice(BYTES) * (LONG_BYTES // 8) + data[at:]
            case _ if at < len(data):
                data = data[:at] + bytes((data[at] ^ 1 << random.randrange(8),)) + data[at + 1 :]
    return data[: 4 * LONG_BYTES]
