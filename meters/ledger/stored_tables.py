"""The layout of tables in Redis: their states, open rounds, repeated claims and kept replies.

Each of these is one Redis hash for all tables of a link. The Lua scripts read and write the same
layout.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from meters.ledger.link_state import TableRecord
from meters.ledger.script_steps import PackedTable

REPLIES_KEPT: Final = 32
"""Count of replies kept for a table. It repeats only its last event, but the broker can be late."""

STATE: Final = msgspec.msgpack.Decoder(PackedTable)

NO_STATE: Final = PackedTable(
    last=0, over="", held="", round="", basis=0, draw="", contributed=(), entry=0, known=""
)
"""The state of a table that has sent no event."""

_DIGITS_MAX: Final = 16
"""Greatest count of digits of a sequence number or an entry number: 2^53 has so many."""

DIGEST: Final = 32
"""Length of an event's digest. Redis keeps the digest in front of the reply to the event."""

PACK: Final = msgspec.msgpack.Encoder()


@dataclass(frozen=True, slots=True)
class StoredTable:
    """The data of a table as Redis has it. A value is None if Redis does not have it.

    `wagers` is the text of the wagers event of the open round, if its ledger entry is no longer in
    Redis; otherwise the state names this entry. `repeated` are the claims whose state the service
    reports again, with blanks between them. `kept` are the texts of the kept replies, by slot, as
    `kept_text` explains. All are None if they were not read.
    """

    packed_state: bytes | None = None
    wagers: bytes | None = None
    repeated: bytes | None = None
    kept: Sequence[bytes | None] = ()

    @property
    def state(self) -> PackedTable:
        """The state of the table.

        Raises:
            ValueError: somebody damaged the state in Redis.
        """
        return NO_STATE if self.packed_state is None else STATE.decode(self.packed_state)

    @property
    def replies(self) -> Mapping[int, bytes]:
        """The kept replies by sequence number, as `kept_text` explains, without this number.

        A text that is no kept reply, or is in the place of another reply, is left out.
        """
        return {
            read[0]: read[1]
            for slot, text in enumerate(self.kept)
            if text is not None and (read := read_kept(text)) and read[0] % REPLIES_KEPT == slot
        }

    @property
    def repeated_claims(self) -> Sequence[str]:
        """The claims whose state the service reports again."""
        return (self.repeated or b"").decode().split()

    def record(self, event: bytes | None) -> TableRecord:
        """Return the data that the service needs to validate the next event of the table.

        `event` is the wagers event in the ledger entry that the state names.

        Raises:
            ValueError: somebody damaged the data in Redis.
        """
        state = self.state
        return TableRecord(
            last_seq=state.last,
            open_round=state.round or None,
            basis=state.basis,
            wagers=(event if state.entry else self.wagers) or b"",
            draw=state.draw.encode() or b"null",
            fed=tuple(one.meter for one in state.contributed),
            claims=tuple(self.repeated_claims),
            known=state.known,
        )


def reply_field(table: str, seq: int) -> str:
    """Return the field with the reply to an event in the Redis hash of replies.

    >>> reply_field("T-1", 33)
    'T-1:1'
    """
    return f"{table}:{seq % REPLIES_KEPT}"


def reply_fields(table: str) -> Iterable[str]:
    """Return all fields of a table in the Redis hash of replies, in the order of their slots."""
    return (reply_field(table, slot) for slot in range(REPLIES_KEPT))


def kept_text(seq: int, stored: bytes) -> bytes:
    """Return the text of a kept reply.

    `stored` is the digest of the event and the reply. If a ledger entry in Redis has the reply,
    `stored` has ``#`` and the number of this entry instead of it.
    """
    return b"%d %s" % (seq, stored)


def entry_of(stored: bytes) -> int | None:
    """Return the number of the ledger entry that has a kept reply, or None if Redis has the reply.

    >>> entry_of(b"0123456789abcdef0123456789abcdef#17")
    17
    """
    named = stored[DIGEST:]
    return _whole_number(named[1:]) if named.startswith(b"#") else None


def read_kept(text: bytes) -> tuple[int, bytes] | None:
    """Read a kept reply. Return the sequence number, and the digest of the event with the reply.

    Return None if the text is no kept reply.

    >>> read_kept(b"7 0123{}"), read_kept(b"x {}")
    ((7, b'0123{}'), None)
    """
    seq, blank, stored = text.partition(b" ")
    number = _whole_number(seq)
    if not blank or number is None or (len(seq) > 1 and seq.startswith(b"0")):
        return None
    return number, stored


def _whole_number(digits: bytes) -> int | None:
    return int(digits) if digits.isdigit() and len(digits) <= _DIGITS_MAX else None
