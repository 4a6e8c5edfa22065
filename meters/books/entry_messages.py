"""The table's wagers and the service's replies in ledger entries, decoded once.

Several parts of a replay read the same message. The cache is as large as the rounds that are open
at the same time on a large link.
"""

from functools import lru_cache
from typing import Final

import msgspec

from meters.wire.messages import Reply, Wagers

_KEPT: Final = 4_096
_WAGERS: Final = msgspec.json.Decoder(Wagers)
_REPLY: Final = msgspec.json.Decoder(Reply)


@lru_cache(_KEPT)
def wagers_in(event: bytes) -> Wagers:
    """Decode the wagers of a ledger entry.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError: the event has no wagers.
    """
    return _WAGERS.decode(event)


@lru_cache(_KEPT)
def reply_in(reply: bytes) -> Reply:
    """Decode the reply of a ledger entry.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError: it is not a reply.
    """
    return _REPLY.decode(reply)
