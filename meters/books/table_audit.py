"""Comparison of tables in Redis with the ledger: rounds, replies, hand pays that hold tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from meters.books.accounts import meter_account, overflow_account, reserve_account
from meters.books.claim_evidence import shown, table_of
from meters.books.correction_requests import StoredAsk, stored_asks
from meters.books.expected_transfers import Added
from meters.books.ledger_replay import Replay
from meters.books.link_state import Snapshot
from meters.books.schema import FIELD, SCHEMA
from meters.books.script_steps import RoundContribution
from meters.books.store import CONTRIBUTED, REPLIES_KEPT, LinkStore
from meters.books.table_evidence import DecidedAsk, stored_reply_digest
from meters.wire.messages import ClaimOpened, DrawMade, Reply

_AT_ONCE: Final = 100
"""Count of tables that one call reads. Such a call delays Redis by less than a millisecond."""
_WHOLE_AT_ONCE: Final = 10
"""Count of tables that one call reads with all fields. A table has dozens of kilobytes."""
_FIELDS: Final = ("last", "round", "basis", "wagers", "draw", "contributed", "held", "over")
_ROUND: Final = ("round", "basis", "wagers", "draw", "contributed")

_KEPT: Final = "reply:"
_DIGEST: Final = 32
"""Length of an event's digest. Redis keeps the digest in front of the reply to the event."""

_REPLY: Final = msgspec.json.Decoder(Reply)
_DRAW: Final = msgspec.json.Decoder(DrawMade | None)
_HELD: Final = msgspec.json.Decoder(ClaimOpened)

_Row = Mapping[str, bytes]
"""The fields of a table's Redis hash."""


class TableAudit:
    """The comparison of one link's tables in Redis with the link's ledger.

    The comparison finds changes that somebody makes directly in Redis. Somebody could change an
    open round: its result would then be settled with wrong wagers or a wrong draw. Somebody could
    remove the hold of a table: the table would then play on before its hand pay is paid.
    """

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def problems(
        self, replay: Replay, snapshot: Snapshot, *, whole: bool = True
    ) -> list[str]:
        """Return the differences between the tables in Redis and the ledger, as texts.

        Args:
            replay: the replay of the ledger up to the last entry of `snapshot`.
            snapshot: the data of the link in Redis at one moment.
            whole: True to check all fields of the tables, such as the kept replies. False to check
                only the last event, the open round and the hold.

        Raises:
            RedisError: Redis failed.
        """
        holding = _holding(replay)
        known = {table.id for table in self._store.link.table}
        tables = sorted({*known, *replay.books.rounds, *replay.tables.last, *holding})
        # Before schema version 3, the data of a table did not name the wins that hold it.
        holds = snapshot.meters.get(FIELD) == str(SCHEMA)
        found: list[str] = []
        at_once = _WHOLE_AT_ONCE if whole else _AT_ONCE
        for begin in range(0, len(tables), at_once):
            some = tables[begin : begin + at_once]
            entries, rows = await self._read(some, whole=whole)
            moved = await self._moved_since(replay.entries, entries)
            for table, row in zip(some, rows, strict=True):
                if table in moved:
                    continue
                problems_found = [
                    *_other_seq(replay, table, row),
                    *_other_round(replay, table, row),
                ]
                if whole and not problems_found:
                    problems_found += _other_replies(replay, table, row)
                if whole:
                    problems_found += _other_rest(replay, table, row)
                if holds:
                    problems_found += _other_hold(
                        replay, holding.get(table, ()), row.get("held", b"")
                    )
                found += [f"table {table}: {each}" for each in problems_found]
        return [*found, *await self._other_asks(replay)]

    async def _other_asks(self, replay: Replay) -> list[str]:
        """Report correction requests and decisions on them, if they differ from the ledger."""
        entries, asks = await self._store.asks_at()
        moved = await self._moved_since(replay.entries, entries)
        return [
            f"table {one.table}: {problem}"
            for one in stored_asks(asks)
            if one.table not in moved
            for problem in _other_ask(replay, one)
        ]

    async def _read(
        self, tables: Sequence[str], *, whole: bool
    ) -> tuple[int, Sequence[_Row]]:  # fmt: skip
        if whole:
            return await self._store.whole_tables_at(tables)
        entries, rows = await self._store.tables_at(tables, _FIELDS)
        return entries, [
            {name: one for name, one in zip(_FIELDS, row, strict=True) if one is not None}
            for row in rows
        ]

    async def _moved_since(self, after: int, last: int) -> set[str]:
        """Return the tables with new ledger entries, written while the audit ran."""
        moved: set[str] = set()
        while after < last and (page := await self._store.entries(after, min(250, last - after))):
            for number, fields in page:
                after = max(number, after + 1)
                moved.add(fields.get("table", b"").decode("utf-8", "replace"))
        return moved


def _holding(replay: Replay) -> dict[str, list[str]]:
    """Return, for each held table, the hand pays that are neither paid nor rejected."""
    found: dict[str, list[str]] = {}
    for claim, held in replay.books.claims.items():
        if held.hand_pay:
            found.setdefault(table_of(claim), []).append(claim)
    return found


def _other_seq(replay: Replay, table: str, row: _Row) -> Iterable[str]:
    """Report a table if the sequence number of its last event is too low in Redis.

    With such a number, the service would accept an event a second time. The number in Redis can be
    higher than in the ledger, because the ledger does not have refused events.
    """
    text, due = row.get("last", b"0"), replay.tables.last.get(table, 0)
    if not text.isdigit() or int(text) < due:
        yield f"its last event is {_words(text)}, the ledger has event {due}"


def _other_replies(replay: Replay, table: str, row: _Row) -> Iterable[str]:
    """Report replies in Redis that differ from the replies in the ledger.

    The replies to withdrawals and to refused events are not in the ledger, and are not compared.
    """
    text, due = row.get("last", b"0"), replay.tables.replies.get(table, {})
    last = int(text) if text.isdigit() else 0
    held = {name.removeprefix(_KEPT): one for name, one in row.items() if name.startswith(_KEPT)}
    for seq, digest in due.items():
        one = held.get(str(seq))
        if seq > last - REPLIES_KEPT and (one is None or stored_reply_digest(one) != digest):
            yield f"the reply that it keeps to event {seq} is not the one in the ledger"
    for name, one in held.items():
        if not name.isdecimal() or not last - REPLIES_KEPT < int(name) <= last:
            yield f"it keeps a reply to an event {name[:20]!r}, its last event is {last}"
        elif int(name) not in due and int(name) > _first_replayed(replay, table):
            said = one[_DIGEST:]
            if said.startswith(b"{") and not _has_no_entry(said, int(name)):
                yield f"it keeps a reply to event {name}, no refusal, that is in no ledger entry"
    # After a restore, Redis has only the replies that the ledger and the outboxes had.
    first = last if replay.link.restored or replay.begins_after else max(1, last - REPLIES_KEPT + 1)
    lacking = [seq for seq in range(max(first, 1), last + 1) if str(seq) not in held]
    if lacking and not set(lacking) <= due.keys():
        yield f"it keeps no reply to event {lacking[-1]}, its last event is {last}"


def _first_replayed(replay: Replay, table: str) -> int:
    """Return a sequence number: the replay has all accepted events of the table above this number.

    If the replay began after the first entry and has no event of the table, the number is above all
    sequence numbers.
    """
    if replay.begins_after == 0:
        return 0
    return min(replay.tables.replies.get(table, {2**63: b""}))


def _has_no_entry(reply: bytes, seq: int) -> bool:
    """Check whether a reply is for a refused event or a withdrawal, which have no ledger entry."""
    try:
        read = _REPLY.decode(reply)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    withdrawn = Reply(seq=seq, status="accepted")
    return (read.status, read.seq) == ("refused", seq) or read == withdrawn


def _other_rest(replay: Replay, table: str, row: _Row) -> Iterable[str]:
    """Report differences in a table's last finished round and in its repeated claims.

    Also report fields that no table has.
    """
    over = replay.tables.over.get(table)
    if over is not None or replay.begins_after == 0:
        due = None if over is None else over.encode()
        if row.get("over") != due:
            yield f"the round that was over last is {_words(row.get('over'))}, not {_words(due)}"
    # The service reports the state of recent claims to a table again. Earlier releases chose other
    # claims for this report.
    if replay.begins_after == 0 and not replay.link.upgraded:
        claims = " ".join(replay.tables.repeated_claims.get(table, ())).encode()
        if row.get("claims", b"") != claims:
            yield f"its repeated claims are {_words(row.get('claims'))}, not {_words(claims)}"
    for name in row:
        if name not in _FIELDS and name != "claims" and not name.startswith(_KEPT):
            yield f"it has a field {name[:20]!r} that no table has"


def _other_round(replay: Replay, table: str, row: _Row) -> Iterable[str]:
    """Report an open round in Redis that differs from the open round in the ledger."""
    added = replay.books.rounds.get(table)
    if added is None:
        names = ", ".join(name for name in _ROUND if name in row)
        if names:
            yield f"it has {names} of an open round, the ledger says that there is none"
        return
    if _contributed(row.get("contributed")) != sorted(map(stored_contribution, added)):
        yield "the contributions of its open round differ from the ledger"
    opened = replay.tables.rounds.get(table)
    if opened is None:
        if "round" not in row:
            yield "it has no open round, the ledger says that there is one"
        return
    due = {"round": opened.round.encode(), "basis": b"%d" % opened.seq, "wagers": opened.event}
    for name, value in due.items():
        if row.get(name) != value:
            yield f"{name} is {_words(row.get(name))}, the ledger says {_words(value)}"
    draw = msgspec.json.encode(_REPLY.decode(opened.reply).draw)
    if not _is_draw(row.get("draw"), draw):
        yield f"draw is {_words(row.get('draw'))}, the ledger says {_words(draw)}"


def _is_draw(held: bytes | None, due: bytes) -> bool:
    try:
        return bool(_DRAW.decode(held or b"") == _DRAW.decode(due))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _contributed(held: bytes | None) -> list[RoundContribution] | None:
    try:
        return sorted(CONTRIBUTED.decode(held or b""))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def stored_contribution(one: Added) -> RoundContribution:
    """Make the contribution of a round to one meter, in the form that `apply_events` stores."""
    return RoundContribution(
        meter=one.meter,
        wagers=one.wagers,
        wagered_cents=one.wagered_cents,
        meter_micros=one.micros.get(meter_account(one.meter), 0),
        reserve_micros=one.micros.get(reserve_account(one.meter), 0),
        overflow_micros=one.micros.get(overflow_account(one.meter), 0),
        cycle=one.cycle,
    )


def _other_hold(replay: Replay, due: Sequence[str], held: bytes) -> Iterable[str]:
    """Report differences between Redis and the ledger in the hand pays that hold a table."""
    try:
        holding = {one.claim: one for one in map(_HELD.decode, held.splitlines())}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        yield f"the wins that hold it cannot be read: {error}"
        return
    for claim in due:
        if claim not in holding:
            yield f"claim {claim} does not hold it, the ledger says that it is not paid"
            continue
        one, cents = holding[claim], replay.books.claims[claim].cents
        if one.amount != cents:
            yield f"claim {claim} holds it with {one.amount} cents, the ledger says {cents}"
        due_line = replay.evidence.position_of(claim)
        if due_line and due_line != (one.position, one.item):
            held_line = f"{one.item} at position {one.position}"
            position, item = due_line
            yield f"claim {claim} holds it as {held_line}, the ledger says {item} at {position}"
    for claim in holding.keys() - {*due}:
        yield f"claim {claim} holds it, the ledger says that it does not"


def _other_ask(replay: Replay, stored: StoredAsk) -> Iterable[str]:
    """Report a correction request that somebody changed, or a decision that nobody made."""
    if stored.table not in replay.books.rounds:
        yield "it asks a floorperson for a correction, the ledger says that no round is open"
        return
    try:
        correction = stored.ask.correction
    except ValueError as error:
        yield f"its correction request was changed: {error}"
        return
    opened = replay.tables.rounds.get(stored.table)
    if opened is None:
        return
    if correction.round != opened.round:
        yield f"it asks for a correction of round {correction.round}, not of {opened.round}"
    if stored.decision:
        state, by = stored.decided
        decided = DecidedAsk(state, correction.round, correction.digest, by)
        if replay.tables.decided.get(stored.table) != decided:
            yield f"its correction is {shown(state)} by {shown(by)}, the ledger does not say so"


def _words(value: bytes | None) -> str:
    return shown(None if value is None else value.decode("utf-8", "replace"))
