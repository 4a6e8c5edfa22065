"""Holding the tables of a store against its ledger: their rounds, and the wins that hold them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from meters.books.accounts import meter_account, overflow_account, reserve_account
from meters.books.asks import KeptAsk, kept_asks
from meters.books.evidence import shown, table_of
from meters.books.expected import Added
from meters.books.ledger import Replay
from meters.books.standing import Snapshot
from meters.books.store import CONTRIBUTED, LinkStore
from meters.books.table_evidence import DecidedAsk
from meters.schema import FIELD, SCHEMA
from meters.wire.messages import ClaimOpened, DrawMade, Reply

_AT_ONCE: Final = 100
"""So many tables are read at once: Redis is held up for less than a millisecond."""
_FIELDS: Final = ("last", "round", "basis", "wagers", "draw", "contributed", "held")
_ROUND: Final = ("round", "basis", "wagers", "draw", "contributed")

_REPLY: Final = msgspec.json.Decoder(Reply)
_DRAW: Final = msgspec.json.Decoder(DrawMade | None)
_HELD: Final = msgspec.json.Decoder(ClaimOpened)

_Row = Mapping[str, bytes]
"""A table's hash, as far as it is looked at."""


class TableAudit:
    """Compares the tables of one link with its ledger.

    Whoever changes an open round in the store has its result settled on wagers or a draw that there
    were not, and whoever takes away what holds a table has it play on before a hand pay is paid.
    """

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def problems(self, replay: Replay, snapshot: Snapshot) -> list[str]:
        """What of the tables is not as the ledger says, in words.

        Args:
            replay: the replay of the ledger up to the last entry of the snapshot.
            snapshot: the books.

        Raises:
            RedisError: the store failed.
        """
        holding = _holding(replay)
        known = {table.id for table in self._store.link.table}
        tables = sorted({*known, *replay.books.rounds, *replay.tables.last, *holding})
        # Before the third schema no table said which wins hold it.
        holds = snapshot.meters.get(FIELD) == str(SCHEMA)
        found: list[str] = []
        for begin in range(0, len(tables), _AT_ONCE):
            some = tables[begin : begin + _AT_ONCE]
            entries, rows = await self._store.tables_at(some, _FIELDS)
            moved = await self._moved_since(replay.entries, entries)
            for table, values in zip(some, rows, strict=True):
                if table in moved:
                    continue
                row = {
                    name: value
                    for name, value in zip(_FIELDS, values, strict=True)
                    if value is not None
                }
                told = [*_other_seq(replay, table, row), *_other_round(replay, table, row)]
                if holds:
                    told += _other_hold(replay, holding.get(table, ()), row.get("held", b""))
                found += [f"table {table}: {each}" for each in told]
        return [*found, *await self._other_asks(replay)]

    async def _other_asks(self, replay: Replay) -> list[str]:
        """Where what is asked, or was decided about it, is not what the ledger says."""
        entries, asks = await self._store.asks_at()
        moved = await self._moved_since(replay.entries, entries)
        return [
            f"table {one.table}: {told}"
            for one in kept_asks(asks)
            if one.table not in moved
            for told in _other_ask(replay, one)
        ]

    async def _moved_since(self, after: int, last: int) -> set[str]:
        """The tables that entries are about which were written while the audit ran."""
        moved: set[str] = set()
        while after < last and (page := await self._store.entries(after, min(250, last - after))):
            for number, fields in page:
                after = max(number, after + 1)
                moved.add(fields.get("table", b"").decode("utf-8", "replace"))
        return moved


def _holding(replay: Replay) -> dict[str, list[str]]:
    """The claims that hold each table: the hand pays that are neither paid nor rejected."""
    found: dict[str, list[str]] = {}
    for claim, held in replay.books.claims.items():
        if held.hand_pay:
            found.setdefault(table_of(claim), []).append(claim)
    return found


def _other_seq(replay: Replay, table: str, row: _Row) -> Iterable[str]:
    """An event that the store would take once more. Refused ones are in no ledger, and count."""
    text, due = row.get("last", b"0"), replay.tables.last.get(table, 0)
    if not text.isdigit() or int(text) < due:
        yield f"its last event is {_told(text)}, the ledger has event {due}"


def _other_round(replay: Replay, table: str, row: _Row) -> Iterable[str]:
    """Where the open round is not the one whose wagers were counted."""
    added = replay.books.rounds.get(table)
    if added is None:
        names = ", ".join(name for name in _ROUND if name in row)
        if names:
            yield f"it has {names} of an open round, the ledger says that there is none"
        return
    if _contributed(row.get("contributed")) != sorted(map(_as_kept, added)):
        yield "what its open round contributed is not what the ledger says"
    opened = replay.tables.rounds.get(table)
    if opened is None:
        if "round" not in row:
            yield "it has no open round, the ledger says that there is one"
        return
    due = {"round": opened.round.encode(), "basis": b"%d" % opened.seq, "wagers": opened.event}
    for name, value in due.items():
        if row.get(name) != value:
            yield f"{name} is {_told(row.get(name))}, the ledger says {_told(value)}"
    draw = msgspec.json.encode(_REPLY.decode(opened.reply).draw)
    if not _is_draw(row.get("draw"), draw):
        yield f"draw is {_told(row.get('draw'))}, the ledger says {_told(draw)}"


def _is_draw(held: bytes | None, due: bytes) -> bool:
    try:
        return bool(_DRAW.decode(held or b"") == _DRAW.decode(due))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _contributed(held: bytes | None) -> list[tuple[str, int, int, int, int, int, int]] | None:
    try:
        return sorted(CONTRIBUTED.decode(held or b""))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _as_kept(one: Added) -> tuple[str, int, int, int, int, int, int]:
    """What a round added to one meter, as `apply_events` keeps it."""
    kept = (meter_account, reserve_account, overflow_account)
    to_meter, to_reserve, over = (one.micros.get(account(one.meter), 0) for account in kept)
    return one.meter, one.wagers, one.wagered_cents, to_meter, to_reserve, over, one.cycle


def _other_hold(replay: Replay, due: Sequence[str], held: bytes) -> Iterable[str]:
    """Wins that hold it in the store or in the ledger alone, or as another than they are."""
    try:
        holding = {one.claim: one for one in map(_HELD.decode, held.splitlines())}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        yield f"what holds it cannot be read: {error}"
        return
    for claim in due:
        if claim not in holding:
            yield f"claim {claim} does not hold it, the ledger says that it is not paid"
            continue
        one, cents = holding[claim], replay.books.claims[claim].cents
        if one.amount != cents:
            yield f"claim {claim} holds it with {one.amount} cents, the ledger says {cents}"
        place = replay.evidence.place_of(claim)
        if place and place != (one.position, one.item):
            told = f"{one.item} at position {one.position}"
            yield f"claim {claim} holds it as {told}, the ledger says {place[1]} at {place[0]}"
    for claim in holding.keys() - {*due}:
        yield f"claim {claim} holds it, the ledger says that it does not"


def _other_ask(replay: Replay, kept: KeptAsk) -> Iterable[str]:
    """Where somebody changed what a floorperson is asked, or made up what was decided."""
    if kept.table not in replay.books.rounds:
        yield "it asks a floorperson for a correction, the ledger says that no round is open"
        return
    try:
        correction = kept.ask.correction
    except ValueError as error:
        yield f"what it asks a floorperson for was changed: {error}"
        return
    opened = replay.tables.rounds.get(kept.table)
    if opened is None:
        return
    if correction.round != opened.round:
        yield f"it asks for a correction of round {correction.round}, not of {opened.round}"
    if kept.decision:
        state, by = kept.decided
        decided = DecidedAsk(state, correction.round, correction.digest, by)
        if replay.tables.decided.get(kept.table) != decided:
            yield f"its correction is {shown(state)} by {shown(by)}, the ledger does not say so"


def _told(value: bytes | None) -> str:
    return shown(None if value is None else value.decode("utf-8", "replace"))
