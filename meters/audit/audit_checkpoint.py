"""The audit checkpoint: a file from which the first audit of a service continues.

Without it, a service that starts must replay all days that are in Redis before its links operate;
with it, only the entries after the last audit. Later audits of the service read the older entries
again in small parts, and `pitlink audit` always replays all of them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from meters.ledger.checkpoint import Mark
from meters.ledger.ledger_replay import AuditCheckpoint
from meters.ledger.table_evidence import LedgerReply, OpenedRound
from meters.process.private_files import replace_private_file
from meters.store.link_store import LinkStore
from meters.wire.messages import UNREADABLE

_FILE: Final = "audit-checkpoint.json"


class _Table(msgspec.Struct, frozen=True, array_like=True, tag="table"):
    """A line with the replies and the open round of one table; see `AuditCheckpoint`."""

    table: str
    replies: dict[int, LedgerReply]
    round: OpenedRound | None
    begun: tuple[bytes, tuple[str, ...]] | None


class _Waiting(msgspec.Struct, frozen=True, array_like=True, tag="waiting"):
    """A line with the fields of one claim that waits."""

    claim: str
    fields: dict[str, str]


_DECODER: Final = msgspec.json.Decoder(AuditCheckpoint)
_LINES: Final = msgspec.json.Decoder(_Table | _Waiting)
_AT_ONCE: Final = 20
"""Count of tables or claims that are encoded at once. It takes a fraction of a millisecond."""


class AuditCheckpointFile:
    """The file with the last audit checkpoint of a link, next to the ledger mark of the link.

    Its first line is the `AuditCheckpoint` without the replies and open rounds of tables, and
    without the claims that wait. Each further line has one of these claims, or the replies and the
    open round of one table.
    """

    def __init__(self, mark_path: Path, link: str) -> None:
        self._path = mark_path.with_name(f"{link}.{_FILE}")
        self._link = link

    async def read(self, store: LinkStore, seen: Mark) -> AuditCheckpoint | None:
        """Return the audit checkpoint if the ledger in Redis continues it, or None.

        Without it, an audit only takes longer. So a file that is missing or damaged, or that
        belongs to another ledger, is no error. A checkpoint after the sealed entry of the ledger
        mark `seen` is not used, because the seal does not confirm it.
        """
        try:
            state = decode_checkpoint(self._path.read_bytes())
        except (OSError, *UNREADABLE):
            return None
        checkpoint = state.checkpoint
        if state.link != self._link or not 0 < checkpoint.entries <= seen.sealed:
            return None
        entries = dict(await store.entries(checkpoint.entries - 1, 1))
        chain = entries.get(checkpoint.entries, {}).get("chain", b"")
        return state if chain == checkpoint.chain.encode() else None

    async def write(self, state: AuditCheckpoint, pause: Callable[[], Awaitable[None]]) -> None:
        """Write the audit checkpoint in one step.

        A floor of 20,000 tables has a hundred megabytes of replies and open rounds. So only a few
        tables or claims are encoded at once, and `pause` is awaited between them. Until the end of
        this call, nobody is allowed to change `state`.

        Raises:
            OSError: the file cannot be written.
        """
        tables = replace(state.tables, replies={}, rounds={})
        first = msgspec.structs.replace(state, tables=tables, waiting={}, begun={})
        lines = [msgspec.json.encode(first)]
        for place, line in enumerate(_lines_of(state)):
            if place % _AT_ONCE == 0:
                await pause()
            lines.append(msgspec.json.encode(line))
        await asyncio.to_thread(self._put, lines)

    def _put(self, lines: Iterable[bytes]) -> None:
        parts = (b"\n" + line if place else line for place, line in enumerate(lines))
        replace_private_file(self._path, parts)


def decode_checkpoint(content: bytes) -> AuditCheckpoint:
    first, *lines = content.split(b"\n")
    state = _DECODER.decode(first)
    for each in map(_LINES.decode, lines):
        if isinstance(each, _Waiting):
            state.waiting[each.claim] = each.fields
            continue
        state.tables.replies[each.table] = each.replies
        if each.round:
            state.tables.rounds[each.table] = each.round
        if each.begun:
            state.begun[each.table] = each.begun
    if state.tables.replies.keys() != state.tables.last.keys():
        raise msgspec.DecodeError("the replies of a table are missing")
    return state


def _lines_of(state: AuditCheckpoint) -> Iterator[_Table | _Waiting]:
    for claim, fields in state.waiting.items():
        yield _Waiting(claim, fields)
    # The tables come last. The first line names them all, so a file that was cut off is refused.
    tables = state.tables
    for table, replies in tables.replies.items():
        yield _Table(table, replies, tables.rounds.get(table), state.begun.get(table))
