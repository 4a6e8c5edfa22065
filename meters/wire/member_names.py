"""JSON in which an object names a member twice: refused, since readers differ on which one counts.

Decoding by a type takes the last one. What a table sends stands in the ledger as its bytes, where
another reader may take the first.
"""

import contextlib
import json
from collections.abc import Sequence
from typing import Final

import msgspec

_QUICK: Final = msgspec.json.Decoder()
_ENCODER: Final = msgspec.json.Encoder()


class _NamedTwiceError(Exception):
    """An object names a member twice."""


def _check_pairs(pairs: Sequence[tuple[str, object]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise _NamedTwiceError


_STRICT: Final = json.JSONDecoder(object_pairs_hook=_check_pairs, parse_int=str)


def has_name_twice(text: bytes) -> bool:
    r"""Tell whether an object in a JSON text, already decoded by its type, has a name twice.

    >>> has_name_twice(b'{"seq": 1, "at": "2:00"}'), has_name_twice(rb'{"a": 1, "\u0061": 2}')
    (False, True)
    """
    if b"\\" not in text:
        # Without escapes each colon is one of a text, or between a name and its value. Where an
        # object has two of a name, one is gone once it is decoded, and its colon with it.
        with contextlib.suppress(OverflowError):  # a number that only the strict way takes
            return text.count(b":") != _ENCODER.encode(_QUICK.decode(text)).count(b":")
    try:
        _STRICT.decode(text.decode())
    except _NamedTwiceError:
        return True
    return False
