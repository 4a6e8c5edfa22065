import hashlib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from meters.books.correction_requests import known_cards, known_text, merged
from meters.books.entered_cards import entered_in
from meters.books.expected_transfers import Added, transfers_in
from meters.books.script_steps import PackedTable, RoundContribution
from meters.books.stored_tables import (
    PACK,
    REPLIES_KEPT,
    StoredTable,
    kept_text,
    reply_field,
    reply_fields,
)
from meters.books.table_audit import stored_contribution
from meters.books.table_evidence import REPEATED_CLAIMS_MAX
from meters.redis_client.link_keys import LinkKeys
from meters.restore.outboxes import Answered
from meters.restore.store_snapshot import StoreSnapshot
from meters.wire.messages import (
    ClaimOpened,
    DrawMade,
    EnteredCards,
    WagerCorrection,
    Wagers,
    Withdrawal,
)


class _Drawn(msgspec.Struct, frozen=True):
    draw: DrawMade | None = None


_Value = str | int | tuple[RoundContribution, ...]

_CLAIM: Final = msgspec.json.Decoder(ClaimOpened)
_DRAWN: Final = msgspec.json.Decoder(_Drawn)


def digest_of(event: bytes) -> bytes:
    """Return an event's digest, by which the Lua scripts recognize a repeated event."""
    return hashlib.blake2b(event, digest_size=16).hexdigest().encode()


def claim_of_hold(line: str) -> str:
    return _CLAIM.decode(line).claim


class TableSnapshot:
    def __init__(self, keys: LinkKeys, snapshot: StoreSnapshot) -> None:
        self._keys = keys
        self._snapshot = snapshot

    def stored(self, table: str) -> StoredTable:
        keys, at = self._keys, self._snapshot.at
        return StoredTable(
            at(keys.tables).get(table),
            at(keys.rounds).get(table),
            at(keys.repeated_claims).get(table),
            [at(keys.replies).get(field) for field in reply_fields(table)],
        )

    def opened(self, table: str) -> bytes | None:
        return self._snapshot.at(self._keys.rounds).get(table)

    def open_round(self, table: str, entry: Mapping[str, bytes], added: Sequence[Added]) -> None:
        """Apply wagers or a correction. `added` are the contributions of all the round's wagers."""
        draw, before = _DRAWN.decode(entry["reply"]).draw, self._state(table).contributed
        self._snapshot.put(self._keys.rounds, {table: entry["event"]})
        self._keep_reply(
            table,
            entry,
            round=entry["round"].decode(),
            basis=int(entry["seq"]),
            draw=msgspec.json.encode(draw).decode(),
            contributed=tuple(
                stored_contribution(one) for one in _in_order(added, entry["transfers"], before)
            ),
            known="",
        )

    def know_entered(self, table: str, entered: Sequence[EnteredCards]) -> None:
        """Apply a correction request, or the decision on one. `entered` are the cards in it."""
        state = self._state(table)
        known = merged(known_cards(state.known), entered)
        self._put(table, state, known=known_text(known))

    def end_round(self, table: str, entry: Mapping[str, bytes], claims: Sequence[str]) -> None:
        """Apply the ledger entry that ends a round. `claims` are those that a result opened."""
        if claims:
            self.repeat_claims(table, claims)
        self._snapshot.drop(self._keys.rounds, table)
        over = entry["round"].decode()
        self._keep_reply(
            table, entry, round="", basis=0, draw="", contributed=(), over=over, known=""
        )

    def repeat_claims(self, table: str, claims: Sequence[str]) -> None:
        """List a table's latest claims, each once: the service reports them after a hello event."""
        key = self._keys.repeated_claims
        known = self._snapshot.text(key, table).split()
        every = [*(claim for claim in known if claim not in claims), *claims]
        self._snapshot.put(key, {table: " ".join(every[-REPEATED_CLAIMS_MAX:])})

    def keep_replies(self, table: str, entries: Iterable[Mapping[str, bytes]]) -> None:
        """Store the replies to events of a table that are older than its last event."""
        for entry in entries:
            self._keep_reply(table, entry)

    def note_over(self, table: str, round_id: str) -> None:
        self._put(table, self._state(table), over=round_id)

    def take_events(
        self, table: str, events: Iterable[Answered], added: Sequence[Added] | None
    ) -> None:
        """Store the state of a table whose last events are only in its outbox.

        `events` are all events of the table. `added` has the contributions of its open round; None
        if no round is open.
        """
        latest: deque[Mapping[str, bytes]] = deque(maxlen=REPLIES_KEPT)
        over, opened, requested = "", 0, []
        for one in events:
            seq, event = one.seq, one.event
            latest.append({
                "seq": b"%d" % seq, "round": event.round.encode(), "transfers": b"[]",
                "event": one.payload, "reply": one.reply_payload,
            })  # fmt: skip
            if one.requested:
                requested.append(event)
            if one.reply.status != "accepted" or isinstance(event, Withdrawal):
                continue
            if isinstance(event, Wagers | WagerCorrection) and event.positions:
                opened = seq
            else:
                over = event.round
        for entry in latest:
            if added is not None and int(entry["seq"]) == opened:
                self.open_round(table, entry, added)
            else:
                self.keep_replies(table, [entry])
        for event in requested if added is not None else ():
            if event.round == self._state(table).round:
                self.know_entered(table, entered_in(event))
        self.note_over(table, over)

    def put_holds(self, held: Mapping[str, str]) -> None:
        """Store for each held table the claims that hold it: the text in the table's state."""
        for table, text in held.items():
            self._put(table, self._state(table), held=text)

    def hold(self, table: str, claim: ClaimOpened) -> None:
        """Hold a table until the claim of a win is finally decided."""
        state = self._state(table)
        line = msgspec.json.encode(claim).decode()
        self._put(table, state, held="\n".join((*state.held.splitlines(), line)))

    def release(self, table: str, claim: str) -> None:
        """End the hold of a table for one decided claim. Other claims can still hold the table."""
        state = self._state(table)
        lines = state.held.splitlines()
        holding = [line for line in lines if claim_of_hold(line) != claim]
        if holding != lines:
            self._put(table, state, held="\n".join(holding))

    def _state(self, table: str) -> PackedTable:
        return StoredTable(self._snapshot.at(self._keys.tables).get(table)).state

    def _put(self, table: str, state: PackedTable, **changes: _Value) -> None:
        changed = msgspec.structs.replace(state, **changes)
        self._snapshot.put(self._keys.tables, {table: PACK.encode(changed)})

    def _keep_reply(
        self, table: str, entry: Mapping[str, bytes], **changes: _Value
    ) -> None:  # fmt: skip
        """Store the newest reply to a table, and remove old replies, as the Lua scripts do."""
        state, seq, key = self._state(table), int(entry["seq"]), self._keys.replies
        # Redis had the replies to the refused events before this one. The rebuild lacks them.
        refused = range(max(state.last + 1, seq - REPLIES_KEPT + 1), seq)
        self._snapshot.drop(key, *(reply_field(table, one) for one in refused))
        text = kept_text(seq, digest_of(entry["event"]) + entry["reply"])
        self._snapshot.put(key, {reply_field(table, seq): text})
        self._put(table, state, last=seq, **changes)


def _in_order(
    added: Sequence[Added], transfers: bytes, before: Sequence[RoundContribution]
) -> Sequence[Added]:
    """Return the contributions of wagers in the order in which Redis has them.

    It is the order of their transfers: first of the wagers at lock-out, then of each wager that a
    correction added. `before` are the contributions before a correction. The order of `added`
    depends on the entry with which a replay began.
    """
    had = [(one.wager, one.meter) for one in before]
    targets = [one.target for one in transfers_in(transfers)]

    def place(one: Added) -> tuple[bool, int, int]:
        own, moved = (one.wager, one.meter), [*map(targets.index, one.micros.keys() & {*targets})]
        earlier = had.index(own) if own in had else len(had)
        return bool(one.wager), earlier, min(moved, default=len(targets))

    return sorted(added, key=place)
