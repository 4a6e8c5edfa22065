"""The layout of links' data in Redis: its version, the keys, and the packed states of tables.

The Lua scripts read and write the same layout. The keys of a link have the same hash tag, so a
Redis Cluster keeps them on one primary. All tables of a link share four Redis hashes: states, open
rounds, repeated claims and kept replies.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from bonus.cards import are_cards
from meters.ledger.link_state import TableRecord
from meters.ledger.script_steps import PackedTable
from meters.wire.messages import Result

SCHEMA: Final = 5
"""The schema version: the version of the layout of data in Redis.

A release works only with its own version. The version of a link's data is in the link's Redis hash
of meters. The version of the users' data is in the head of the operators' log.
"""

SCHEMA_FIELD: Final = "schema"
"""The name of the field with the schema version."""


def version_of(noted: bytes | str | None, *, begun: bool) -> int | None:
    """Return the schema version of some data in Redis, or None if there is no data yet.

    >>> version_of(b"5", begun=True), version_of(None, begun=False)
    (5, None)

    Raises:
        ValueError: there is data, and the value is missing or not a schema version.
    """
    if noted is None and not begun:
        return None
    if not noted or not noted.isdigit():
        raise ValueError("its schema version is missing or damaged")
    return int(noted)


def schema_problem(what: str, version: int | None) -> str | None:
    """Return why this release must not use data of a schema version, or None (duty D10)."""
    if version is None or version == SCHEMA:
        return None
    return (
        f"{what} of schema version {version}, and this release works with version {SCHEMA}: another"
        " release wrote it, and only a release of that version can use it"
    )


_ROOT: Final = "pitlink"

ANY_WIN: Final = ":"
"""In the index of wins, the mark between meter and place in the first member of each win."""
METER_AWARD: Final = "!"
"""In the index of wins, the mark in the second member of a win of a percentage of the meter."""


class _Key:
    """A key of a link. The key has the name of the attribute, and is made at its first use."""

    def __set_name__(self, _: object, name: str) -> None:
        self._name = name

    def __get__(self, keys: "LinkKeys", _: object) -> str:
        key = keys.named(self._name)
        keys.__dict__[self._name] = key
        return key


@dataclass(frozen=True)
class LinkKeys:
    link: str

    accounts = _Key()
    """Hash: the balance of each account in micros, by account name."""

    tallies = _Key()
    """Hash: counts and sums that never decrease (duty D2)."""

    meters = _Key()
    """Hash: the state of the link and its meters, such as terms and the last ledger entry."""

    ledger = _Key()
    """Stream: the ledger. The ledger entries of one script call are one entry of the stream.

    The id of such an entry is ``n-0``, where n is the number of its last ledger entry."""

    ledger_blocks = _Key()
    """Stream: blocks of old ledger entries, compressed. The last entries are in `ledger`.

    The id of a block is ``n-0``, where n is the number of its last ledger entry."""

    tables = _Key()
    """Hash: the packed state of each table, by table: a `PackedTable`.

    The state has the last sequence number (`seq`), the open round without its wagers event, and the
    hand pays for which the table must wait."""

    rounds = _Key()
    """Hash: by table, the open round's wagers event, if Redis no longer has its ledger entry."""

    replies = _Key()
    """Hash: the replies to the last events of each table.

    The field ``{table}:{seq % REPLIES_KEPT}`` has a reply in the form of `kept_text`. A new reply
    replaces the old reply in its field."""

    repeated_claims = _Key()
    """Hash: the claims whose state the service reports to a table again, by table."""

    waiting = _Key()
    """Sorted set: undecided claims, sorted by the number of the ledger entry of the win."""

    wins = _Key()
    """Sorted set with all scores 0: ``{meter}:{entry}:{claim}`` for each win.

    A win that is paid as a percentage of the meter has a second member, with ``!`` instead of
    the first colon."""

    slips = _Key()
    """Hash: for each payout slip's number, the claim that was paid with the slip.

    The slip numbers are in the folded form (`fold_slip`). If a restore has reserved a number for a
    claim, the value is the claim, a colon, and the number of the restore's ledger entry."""

    acts = _Key()
    """Sorted set: the numbers of the ledger entries that are acts (`is_act`)."""

    dealt = _Key()
    """Hash: the last results, by a digest of their cards. A new result can replace an old result.

    ``d:{digest}`` has the table of the result, and the number of its ledger entry. At most
    `DEALT_KEPT` results are kept, each at the place ``s:{entry % DEALT_KEPT}``, which has the
    digest of the result."""

    asks = _Key()
    """Hash: the open correction requests, by table.

    The field ``{table}!`` has the floorperson's decision, until the table sends its request
    again."""

    checkpoint = _Key()
    """Hash: the link's state at the end of the ledger's archived part, and the archive entry.

    The archive entry is the ledger entry that records this state. The entries up to the state are
    only in the archive."""

    approved = _Key()
    """Hash: the floor file's last approved settings, their approver, and the ledger entry.

    `first` is the ledger entry of the first of two approvals, while it waits for the second."""

    proposals = _Key()
    """Sorted set: proposed changes without a decision, in the order of their ledger entries."""

    restoring = _Key()
    """Hash: who runs `pitlink restore` now, and since when. At the end, the hash is deleted."""

    event_group = _Key()
    """Stream with one entry: the secret group name of services without key bundles."""

    services = _Key()
    """Hash: for each key bundle of a service, the processes that use it or wait for it."""

    def named(self, name: str) -> str:
        return f"{_ROOT}:{{{self.link}}}:{name}"

    @property
    def sorted_sets(self) -> frozenset[str]:
        return frozenset({self.waiting, self.wins, self.acts, self.proposals})

    def proposal(self, proposal: str) -> str:
        """Return the key of a hash: a proposed change, and the decision on it."""
        return self.named(f"proposal:{proposal}")

    def claim(self, claim: str) -> str:
        """Return the key of a hash: the record, amount and state of a claim."""
        return self.named(f"claim:{claim}")


REPLIES_KEPT: Final = 32
"""Count of replies kept for a table. A table repeats only its last event, but an MQTT broker can
deliver an older event late."""

STATE: Final = msgspec.msgpack.Decoder(PackedTable)

NO_STATE: Final = PackedTable(
    last=0, over="", held="", round="", basis=0, draw="", contributed=(), entry=0, known=""
)
"""The state of a table that has sent no event."""

_DIGITS_MAX: Final = 16
"""Greatest count of digits of a sequence number or an entry number: 2^53 has 16 digits."""

DIGEST: Final = 32
"""Length of an event's digest. Redis keeps the digest in front of the reply to the event."""

PACK: Final = msgspec.msgpack.Encoder()


@dataclass(frozen=True, slots=True)
class StoredTable:
    """The data of a table as Redis has it. A value is None if Redis does not have it.

    If the ledger entry with the wagers event of the open round is no longer in Redis, `wagers` is
    the text of this event; otherwise the state names the entry. `repeated` are the claims whose
    state the service reports again, with blanks between them. `kept` are the texts of the kept
    replies, by slot, as `kept_text` explains. If the replies were not read, each text is None.
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
        """The kept replies by sequence number, in the form of `kept_text` without this number.

        A text that is no kept reply, or is in the place of another reply, is left out.
        """
        return {
            read[0]: read[1]
            for slot, text in enumerate(self.kept)
            if text is not None and (read := read_kept(text)) and read[0] % REPLIES_KEPT == slot
        }

    @property
    def repeated_claims(self) -> Sequence[str]:
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

    `stored` is the digest of the event, and then the reply. If a ledger entry in Redis has the
    reply, `stored` has ``#`` and the number of this entry in place of the reply.
    """
    return b"%d %s" % (seq, stored)


def entry_of(stored: bytes) -> int | None:
    """Return the number of the ledger entry that `stored` has instead of a kept reply, or None.

    >>> entry_of(b"0123456789abcdef0123456789abcdef#17")
    17
    """
    named = stored[DIGEST:]
    return _whole_number(named[1:]) if named.startswith(b"#") else None


def read_kept(text: bytes) -> tuple[int, bytes] | None:
    """Read a kept reply. Return the sequence number, and `stored` as in `kept_text`.

    If the text is no kept reply, return None.

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


DEALT_KEPT: Final = 16_384
"""The greatest number of results whose cards a link remembers. The number of a result's ledger
entry determines the place of its digest. A new digest replaces the old digest in its place."""


def dealt_digest(event: Result) -> str:
    """Return a digest of a round's id and cards, or an empty text if no player has a hand of cards.

    Results that are not cards repeat in honest rounds, so they have no digest. The digest does not
    depend on the positions of the hands or on the order of the cards. So a copied result is found
    even if somebody changed the positions or the order.
    """
    hands = sorted(sorted(dealt.cards) for dealt in event.positions if dealt.cards)
    if not hands or not are_cards(hands[0]):
        return ""
    content = [event.round, hands, sorted(event.dealer), sorted(event.community or ())]
    return hashlib.blake2b(msgspec.json.encode(content), digest_size=8).hexdigest()


def dealt_field(digest: str) -> str:
    """Return the field for the digest of a result's cards."""
    return f"d:{digest}"


def ring_field(entry: int) -> str:
    """Return the field that has the digest of the result in a ledger entry."""
    return f"s:{entry % DEALT_KEPT}"
