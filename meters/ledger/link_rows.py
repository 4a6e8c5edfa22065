"""The rows that Redis must hold for a link, as they follow from its ledger (duty D11).

The Lua scripts write the same rows, with a few exceptions:

- A version number of a meter rises with each script call that affects the meter. Here, the number
  can be higher, but not lower.
- The count of changes for the floor page is here the count of entries. The pages only check whether
  the count differs, and load again when a service starts.
- A refused event has a sequence number, but no ledger entry. So a table's last event is here the
  last accepted event, and the kept replies lack refusals. The table's outbox has the refusals.
- A correction request has no ledger entry before somebody decides on it. After a restore, the table
  sends it once more. The cards in a request with a decision are in the entry of the decision, so
  the round still needs a confirmation.
- The wins that hold a table, and the contributions of its open round, can be in another order.
- A count of zero can be missing.
"""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from meters.ledger.accounts import meter_account, overflow_account, reserve_account
from meters.ledger.chain import CHAIN
from meters.ledger.claim_evidence import slips_in, table_of
from meters.ledger.claim_records import record_of
from meters.ledger.entry_messages import reply_in
from meters.ledger.expected_transfers import Added
from meters.ledger.ledger_replay import Replay
from meters.ledger.money_terms import terms_as_text, terms_digest
from meters.ledger.redis_layout import (
    NO_STATE,
    PACK,
    REPLIES_KEPT,
    SCHEMA,
    SCHEMA_FIELD,
    LinkKeys,
    dealt_digest,
    dealt_field,
    kept_text,
    reply_field,
    ring_field,
)
from meters.ledger.script_steps import PackedTable, RoundContribution
from meters.ledger.table_corrections import OF_TABLES, known_text
from meters.wire.messages import ClaimOpened, Result

Fields = Mapping[str, str | bytes | int]

_RESULT: Final = msgspec.json.Decoder(Result)


class LinkRows:
    """A link's Redis hashes and sorted sets (scores as values), without its ledger."""

    def __init__(self, keys: LinkKeys) -> None:
        self.keys: Final = keys
        self._rows: dict[str, dict[str, bytes]] = {}

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, bytes]]]:
        return ((key, fields) for key, fields in self._rows.items() if fields)

    def at(self, key: str) -> Mapping[str, bytes]:
        return self._rows.get(key, {})

    def put(self, key: str, fields: Fields) -> None:
        fields_of_key = self._rows.setdefault(key, {})
        for field, value in fields.items():
            fields_of_key[field] = value if isinstance(value, bytes) else str(value).encode()

    def drop(self, key: str, fields: Iterable[str]) -> None:
        for field in fields:
            self._rows[key].pop(field, None)


class EntryRows:
    """The rows that come from single ledger entries, and that no checkpoint has.

    These are replies to the tables' latest events, the latest dealt cards, and all payout slips.
    """

    def __init__(self) -> None:
        self._replies: dict[str, deque[tuple[int, bytes, bytes]]] = {}
        self._dealt: dict[str, str] = {}
        self._slips: dict[str, str] = {}

    def add(self, number: int, fields: Mapping[str, bytes]) -> None:
        """Add a ledger entry.

        Raises:
            ValueError, msgspec.DecodeError: the entry cannot be read.
        """
        self._slips |= slips_in(number, fields)
        if fields["kind"] not in OF_TABLES:
            return
        table, seq = fields["table"].decode(), int(fields["seq"])
        kept = self._replies.setdefault(table, deque(maxlen=REPLIES_KEPT))
        kept.append((seq, fields["event"], fields["reply"]))
        if fields["kind"] != b"result":
            return
        dealt, digest = self._dealt, dealt_digest(_RESULT.decode(fields["event"]))
        if digest and dealt_field(digest) not in dealt:
            dealt.pop(dealt_field(dealt.get(ring_field(number), "")), None)
            dealt |= {dealt_field(digest): f"{table} {number}", ring_field(number): digest}

    def put(self, rows: LinkRows) -> None:
        keys = rows.keys
        rows.put(keys.slips, self._slips)
        rows.put(keys.dealt, self._dealt)
        for table, kept in self._replies.items():
            last = kept[-1][0]
            rows.put(
                keys.replies,
                {
                    reply_field(table, seq): kept_text(seq, event_digest(event) + reply)
                    for seq, event, reply in kept
                    if seq > last - REPLIES_KEPT
                },
            )


def event_digest(event: bytes) -> bytes:
    """Return an event's digest, by which the Lua scripts recognize a repeated event."""
    return hashlib.blake2b(event, digest_size=16).hexdigest().encode()


def link_rows(keys: LinkKeys, replay: Replay, single: EntryRows, open_day: str) -> LinkRows:
    """Return the rows of a link after a replay.

    `open_day` is not in the ledger, because it depends on the time.
    """
    books, evidence, tables, link = replay.books, replay.evidence, replay.tables, replay.link
    rows, waiting = LinkRows(keys), books.waiting
    version = replay.entries + link.versions_raised
    rows.put(keys.meters, meters_row(replay))
    rows.put(keys.meters, {f"file:{meter}": one for meter, one in link.filed.items()})
    rows.put(keys.meters, {f"version:{meter}": version for meter in books.terms})
    rows.put(
        keys.meters,
        {
            "entries": replay.entries,
            "changes": replay.entries,
            "day": open_day,
            SCHEMA_FIELD: SCHEMA,
        },
    )
    rows.put(keys.accounts, books.balances)
    rows.put(keys.tallies, books.tallies)
    rows.put(keys.approved, link.approved)
    rows.put(keys.proposals, link.open)
    for proposal, fields in link.proposals.items():
        rows.put(keys.proposal(proposal), fields)
    for claim, fields in evidence.claims.items():
        rows.put(keys.claim(claim), fields)
        if claim in waiting:
            rows.put(keys.waiting, {claim: fields["entry"]})
    for place in evidence.in_order:
        rows.put(keys.wins, dict.fromkeys(place.members, 0))
    rows.put(keys.acts, {str(number): number for number in evidence.acts})
    held = holding(replay)
    for table in {*tables.last, *tables.repeated_claims, *held}:
        state = table_state(replay, table, held.get(table, ()))
        rows.put(keys.tables, {table: PACK.encode(state)})
        if state.round:
            rows.put(keys.rounds, {table: tables.rounds[table].event})
        if repeated := tables.repeated_claims.get(table):
            rows.put(keys.repeated_claims, {table: " ".join(repeated)})
    single.put(rows)
    return rows


def meters_row(replay: Replay) -> dict[str, str]:
    """Return the fields of the link's hash of meters that the ledger alone decides."""
    books = replay.books
    texts = {meter: terms_as_text(one) for meter, one in books.terms.items()}
    found = {name: value for name, value in replay.link.standing.items() if value is not None}
    found |= {"rounds": str(len(books.rounds))}
    found |= {"terms": terms_digest(texts)} if texts else {}
    found |= {CHAIN: replay.chain} if replay.chain else {}
    found |= {"day_closed": replay.closed_day} if replay.closed_day else {}
    for meter, text in texts.items():
        found[f"terms:{meter}"] = text
        found[f"cycle:{meter}"] = str(books.cycles.get(meter, 0))
        found[f"pending:{meter}"] = str(books.pending[meter])
        if meter in books.hidden:
            found[f"hidden:{meter}"] = books.hidden[meter].sealed
    return found


def holding(replay: Replay) -> Mapping[str, Sequence[ClaimOpened]]:
    """Return, for each held table, the hand pays that are neither paid nor rejected.

    A must-hit-by win holds no table: no cards need to stay there. Nor does the part of a community
    share that a player at another table gets.
    """
    found: dict[str, list[ClaimOpened]] = {}
    for claim, win in replay.books.claims.items():
        # A ledger with an entry that cannot be read can lack the record of a claim that waits.
        hidden = replay.books.terms[win.meter].must_hit_by
        if win.hand_pay and not (hidden or win.table) and claim in replay.evidence.claims:
            one = record_of(replay.evidence.claims[claim]).opened(win.cents)
            found.setdefault(table_of(claim), []).append(one)
    return found


def table_state(replay: Replay, table: str, held: Iterable[ClaimOpened]) -> PackedTable:
    """Return the state of a table. `held` are the wins that hold the table."""
    tables, opened = replay.tables, replay.tables.rounds.get(table)
    state = msgspec.structs.replace(
        NO_STATE,
        last=tables.last.get(table, 0),
        over=tables.over.get(table, ""),
        held="\n".join(msgspec.json.encode(one).decode() for one in held),
    )
    added = replay.books.rounds.get(table)
    if opened is None or added is None:
        return state
    return msgspec.structs.replace(
        state,
        round=opened.round,
        basis=opened.seq,
        draw=msgspec.json.encode(reply_in(opened.reply).draw).decode(),
        contributed=tuple(map(_stored_contribution, added)),
        known=known_text(tables.known.get(table, ())),
    )


def _stored_contribution(one: Added) -> RoundContribution:
    return RoundContribution(
        meter=one.meter,
        wagers=one.wagers,
        wagered_cents=one.wagered_cents,
        meter_micros=one.micros.get(meter_account(one.meter), 0),
        reserve_micros=one.micros.get(reserve_account(one.meter), 0),
        overflow_micros=one.micros.get(overflow_account(one.meter), 0),
        cycle=one.cycle,
        wager=one.wager,
        passed_to=one.passed_to,
        passed_cycle=one.passed_cycle,
    )
