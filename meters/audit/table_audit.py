"""Comparison of tables in Redis with the ledger: rounds, replies, and claims that hold tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from meters.audit.claim_audit import LaterEntries
from meters.ledger.claim_evidence import shown
from meters.ledger.ledger_replay import Replay
from meters.ledger.link_rows import holding, table_state
from meters.ledger.redis_layout import DIGEST, REPLIES_KEPT, StoredTable, read_kept
from meters.ledger.script_steps import PackedTable
from meters.ledger.table_corrections import StoredAsk, known_cards, merged, stored_asks
from meters.ledger.table_evidence import DecidedAsk
from meters.store.link_store import LinkStore
from meters.wire.messages import ClaimOpened, DrawMade, EnteredCards, Reply

_AT_ONCE: Final = 100
"""Count of tables that one call reads. Such a call delays Redis by less than a millisecond."""
_WHOLE_AT_ONCE: Final = 10
"""Count of tables that one call reads with all fields. A table has dozens of kilobytes."""
_REPLIES_OF: Final = 500
"""Greatest count of tables for which one call reads all kept replies. This takes about ten
milliseconds. If there are more tables, the audit reads only the replies of known tables."""
_SLOTS: Final = frozenset(map(str, range(REPLIES_KEPT)))
"""The last part of the names of the fields with kept replies."""

_REPLY: Final = msgspec.json.Decoder(Reply)
_DRAW: Final = msgspec.json.Decoder(DrawMade | None)
_HELD: Final = msgspec.json.Decoder(ClaimOpened)


async def table_problems(store: LinkStore, replay: Replay, *, whole: bool) -> list[str]:
    """Return the differences between the tables in Redis and the ledger, as texts.

    A difference means that somebody changed data directly in Redis. If an open round was changed,
    its result would be settled with wrong wagers or a wrong draw. If the hold of a table was
    changed, the table would play on before its hand pay is paid.

    `replay` ends at the last entry in Redis. If `whole` is false, only the last event, the open
    round, the hold and the correction requests are checked.
    """
    later = LaterEntries(store, replay.entries)
    asks = await _other_asks(store, replay, later)
    held = holding(replay)
    known = {table.id for table in store.link.table}
    known |= {*replay.books.rounds, *replay.tables.last, *held}
    found: list[str] = []
    tables = known
    if whole:
        named, found = await _named(store, len(known))
        tables = known | named
    at_once = _WHOLE_AT_ONCE if whole else _AT_ONCE
    ordered = sorted(tables)
    for begin in range(0, len(ordered), at_once):
        some = ordered[begin : begin + at_once]
        entries, rows = await store.tables_at(some, replies=whole)
        events = await _round_events(store, replay, some) if whole else {}
        for table, row in zip(some, rows, strict=True):
            problems = _problems_of(replay, table, row, held.get(table, ()), whole=whole)
            problems += _other_event(replay, table, events)
            if not problems and table not in known and not row.state.last:
                problems = ["Redis has data of this table, but the link does not have it"]
            if problems:
                # The table can have sent an event since the replay.
                await later.read_to(entries)
                if table in later.tables:
                    continue
            found += [f"table {table}: {each}" for each in problems]
    return [*found, *asks]


async def _round_events(
    store: LinkStore, replay: Replay, tables: Iterable[str]
) -> dict[int, bytes]:
    rounds = replay.tables.rounds
    numbers = sorted(rounds[table].entry for table in tables if table in rounds)
    entries = await store.entries_at(numbers)
    return {number: fields.get("event", b"") for number, fields in entries}


async def _named(store: LinkStore, count: int) -> tuple[set[str], list[str]]:
    """Return the tables of which Redis has data, even if they are no longer in the floor file.

    Also return texts about kept replies in fields whose names have no table or no place. `count` is
    the number of known tables.
    """
    keys, named, found = store.keys, set[str](), list[str]()
    for key, fields in (await store.table_fields(replies=count <= _REPLIES_OF)).items():
        if key != keys.replies:
            named |= fields
            continue
        for field in sorted(fields):
            table, _, slot = field.rpartition(":")
            if table and slot in _SLOTS:
                named.add(table)
            else:
                found.append(
                    f"Redis has a kept reply in the field {shown(field[:40])}, which is no field"
                    " for a table's reply"
                )
    return named, found


async def _other_asks(store: LinkStore, replay: Replay, later: LaterEntries) -> list[str]:
    entries, asks = await store.asks_at()
    found = [
        (one.table, problem) for one in stored_asks(asks) for problem in _other_ask(replay, one)
    ]
    if found:
        # The table can have withdrawn the request since the replay.
        await later.read_to(entries)
    return [f"table {table}: {problem}" for table, problem in found if table not in later.tables]


def _problems_of(
    replay: Replay, table: str, row: StoredTable, held: Sequence[ClaimOpened], *, whole: bool
) -> list[str]:
    try:
        state = row.state
    except ValueError as error:
        return [f"its data in Redis cannot be read: {error}"]
    due, found = table_state(replay, table, held), list[str]()
    if state.last < due.last:
        # The service would accept an event a second time. The number can be higher than in the
        # ledger, which does not have refused events.
        found.append(f"its last event is {state.last}, the ledger has event {due.last}")
    found += _other_round(replay, table, state, due, row.wagers)
    if problem := replay.tables.unconfirmed.get(table):
        found.append(problem)
    if whole and not found:
        found += _other_replies(replay, table, state.last, row)
    if whole:
        # The service reports the state of recent claims to a table again.
        claims = " ".join(replay.tables.repeated_claims.get(table, ())) or None
        found += _others(
            ("its last finished round", state.over or None, due.over or None),
            ("its list of repeated claims", _text(row.repeated), claims),
        )
    return [*found, *_other_hold(held, state.held)]


def _others(*compared: tuple[str, str | None, str | None]) -> Iterable[str]:
    for name, held, due in compared:
        if held != due:
            yield f"{name} is {shown(held)}, the ledger says {shown(due)}"


def _other_replies(replay: Replay, table: str, last: int, row: StoredTable) -> Iterable[str]:
    """Compare the replies. The ledger has no replies to withdrawals and refused events."""
    due, held = replay.tables.replies.get(table, {}), row.replies
    for slot, text in enumerate(row.kept):
        read = read_kept(text) if text is not None else None
        if text is not None and (read is None or read[0] % REPLIES_KEPT != slot):
            yield f"it keeps {shown(_text(text[:20]))} in place {slot}, where it does not belong"
    for seq, reply in due.items():
        one = held.get(seq)
        if seq > last - REPLIES_KEPT and (one is None or not reply.is_kept_as(one)):
            yield f"the reply that it keeps to event {seq} is not the one in the ledger"
    for seq, one in held.items():
        if not last - REPLIES_KEPT < seq <= last:
            yield f"it keeps a reply to event {seq}, its last event is {last}"
        elif seq not in due and seq > _lowest_replayed(replay, table):
            said = one[DIGEST:]
            if said.startswith((b"{", b"#")) and not _has_no_entry(said, seq):
                yield f"it keeps a reply to event {seq} that is neither a refusal nor in the ledger"
    # After a restore, Redis has only the replies that the archive and the outboxes had.
    restored = replay.link.restored
    first = last if restored or replay.begins_after else max(1, last - REPLIES_KEPT + 1)
    lacking = [seq for seq in range(max(first, 1), last + 1) if seq not in held]
    before_archive = restored and last == replay.tables.last.get(table)
    if lacking and not set(lacking) <= due.keys() and not before_archive:
        yield f"it keeps no reply to event {lacking[-1]}, its last event is {last}"


def _lowest_replayed(replay: Replay, table: str) -> int:
    """Return the lowest sequence number of a table's events whose reply the replay still has.

    The replay has all accepted events of the table above this number. If the replay began with the
    first entry, the number is 0. If the replay began later and has no event of the table, the
    number is above all sequence numbers.
    """
    if replay.begins_after == 0:
        return 0
    return min(replay.tables.replies.get(table) or (2**63,))


def _has_no_entry(reply: bytes, seq: int) -> bool:
    """Return whether a reply is for a refused event or a withdrawal: these have no ledger entry."""
    try:
        read = _REPLY.decode(reply)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    withdrawn = Reply(seq=seq, status="accepted")
    return (read.status, read.seq) == ("refused", seq) or read == withdrawn


def _other_round(
    replay: Replay, table: str, state: PackedTable, due: PackedTable, wagers: bytes | None
) -> Iterable[str]:
    if not due.round:
        has = {
            "round": state.round, "basis": state.basis, "wagers": wagers is not None,
            "entry": state.entry, "draw": state.draw, "contributed": state.contributed,
            "known": state.known,
        }  # fmt: skip
        if names := ", ".join(name for name, value in has.items() if value):
            yield f"it has {names} of an open round, the ledger says that there is none"
        return
    opened = replay.tables.rounds[table]
    if sorted(state.contributed) != sorted(due.contributed):
        yield "the contributions of its open round differ from the ledger"
    # Redis has the text of the wagers only if their ledger entry is no longer in Redis.
    yield from _others(
        ("round", state.round or None, due.round),
        ("basis", str(state.basis), str(due.basis)),
        ("entry", str(state.entry), str(opened.entry if state.entry else 0)),
        ("wagers", _text(wagers), None if state.entry else _text(opened.event)),
    )
    yield from _other_known(
        state,
        replay.tables.known.get(table, ()),
        community_ordered=replay.books.approved.community_ordered(table),
    )
    if not _is_draw(state.draw, due.draw):
        yield f"draw is {shown(state.draw or None)}, the ledger says {shown(due.draw)}"


def _other_known(
    state: PackedTable, due: Sequence[EnteredCards], *, community_ordered: bool
) -> Iterable[str]:
    """Report a round whose correction requests were changed.

    The ledger has only the requests on which somebody decided, so Redis can have more cards.
    """
    try:
        known = known_cards(state.known)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        yield f"the entered cards of its correction requests cannot be read: {error}"
    else:
        if merged(known, due, community_ordered=community_ordered) != known:
            yield "it lacks entered cards of a correction request that the ledger has"


def _other_event(replay: Replay, table: str, events: Mapping[int, bytes]) -> Iterable[str]:
    """Report an open round whose ledger entry was changed after its replay.

    The service would settle the round with the changed wagers. An audit that continues from an
    audit checkpoint does not replay the entry again.
    """
    opened = replay.tables.rounds.get(table)
    if opened and events.get(opened.entry, opened.event) != opened.event:
        yield f"the wagers of its open round were changed in ledger entry {opened.entry}"


def _is_draw(held: str, due: str) -> bool:
    try:
        return bool(_DRAW.decode(held) == _DRAW.decode(due))
    except ValueError:
        return False


def _other_hold(due: Iterable[ClaimOpened], held: str) -> Iterable[str]:
    try:
        there = {one.claim: one for one in map(_HELD.decode, held.splitlines())}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        yield f"the wins that hold it cannot be read: {error}"
        return
    for one in due:
        found = there.pop(one.claim, None)
        if found is None:
            yield f"claim {one.claim} does not hold it, but the claim is not paid in the ledger"
        elif found != one:
            yield f"claim {one.claim} holds it {_held_as(found)}, the ledger says {_held_as(one)}"
    for claim in there:
        yield f"claim {claim} holds it, the ledger says that it does not"


def _held_as(one: ClaimOpened) -> str:
    of = "" if one.hand_of is None else f" for the hand of position {one.hand_of}"
    return f"as {one.item} at position {one.position}{of} with {one.amount} cents"


def _other_ask(replay: Replay, stored: StoredAsk) -> Iterable[str]:
    """Report a correction request that somebody changed, or a decision that nobody made."""
    if stored.table not in replay.tables.rounds:
        yield "it asks a floorperson for a correction, the ledger says that no round is open"
        return
    try:
        correction = stored.ask.correction
    except ValueError as error:
        yield f"its correction request was changed: {error}"
        return
    opened = replay.tables.rounds[stored.table]
    if correction.round != opened.round:
        yield f"it asks for a correction of round {correction.round}, not of {opened.round}"
    if stored.decision:
        state, by = stored.decided
        decided = DecidedAsk(state, correction.round, correction.digest, by)
        if replay.tables.decided.get(stored.table) != decided:
            yield f"its correction is {shown(state)} by {shown(by)}, the ledger does not say so"


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")
