"""JSON texts from elsewhere: the exceptions of decoders, and names that occur twice."""

import contextlib
import json
from collections.abc import Sequence
from typing import Final

import msgspec

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions of a decoder for bytes that are not a valid message."""


class _NamedTwiceError(Exception):
    pass


def _check_pairs(pairs: Sequence[tuple[str, object]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise _NamedTwiceError


_QUICK: Final = msgspec.json.Decoder()
_ENCODER: Final = msgspec.json.Encoder()
_STRICT: Final = json.JSONDecoder(object_pairs_hook=_check_pairs, parse_int=str)


def has_name_twice(text: bytes) -> bool:
    r"""Check if an object in a valid JSON text has a name twice.

    pitlink's decoders use the last value of a repeated name; some other JSON readers use the first.
    The ledger keeps the bytes of a table's event, so another program could read the other value.

    >>> has_name_twice(b'{"seq": 1, "at": "2:00"}'), has_name_twice(rb'{"a": 1, "\u0061": 2}')
    (False, True)
    """
    if b"\\" not in text:
        # Without escapes, a colon is part of a string or separates a name from its value. If a name
        # occurs twice, decoding drops one of the two values, so a colon is missing when the result
        # is encoded.
        with contextlib.suppress(OverflowError):  # a number that only the strict decoder accepts
            return text.count(b":") != _ENCODER.encode(_QUICK.decode(text)).count(b":")
    try:
        _STRICT.decode(text.decode())
    except _NamedTwiceError:
        return True
    return False
