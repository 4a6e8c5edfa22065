"""What tables leave behind if a floor file moves or changes them: hand pays, open rounds (D4, D10).

A table plays under another link, another name or other rules only after its hand pays are final and
its open round is over.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

import msgspec

from meters.floor.floor_file import Floor, Link
from meters.ledger.approved_configuration import APPROVED_FLOOR, ApprovedTable, LinkConfiguration
from meters.ledger.claim_records import ClaimRecord
from meters.store.approval_book import ApprovalBook, Approved, ForgedError
from meters.store.link_reader import DayClaims, holding_claims, reopenable_holds
from meters.store.link_store import LinkStore

_UNCHANGED: Final = "its asset number, game, game file, meters and positions as they were"


@dataclass(frozen=True, slots=True)
class KnownLink:
    """A link's data in Redis: the link of a configuration, another link, or a former one."""

    store: LinkStore
    book: ApprovalBook
    rejected: DayClaims

    @classmethod
    def of(cls, store: LinkStore) -> Self:
        return cls(store, ApprovalBook(store), DayClaims(store, "reject"))

    async def approved(self) -> Approved | None:
        """Return the last approval; None if Redis has none, or an altered one."""
        try:
            return await self.book.current()
        except ForgedError:
            return None

    async def approved_tables(self) -> Mapping[str, ApprovedTable]:
        approved = await self.approved()
        try:
            return APPROVED_FLOOR.decode(approved.text).tables if approved else {}
        except msgspec.DecodeError:
            return {}

    async def holds(self) -> Sequence[tuple[ClaimRecord, bool]]:
        """Return the hand pays that are not final, each with True if it was rejected."""
        # A claim that is rejected between these two reads is in the second read.
        waiting = await holding_claims(self.store)
        rejected = await reopenable_holds(self.rejected)
        return [*((held, False) for held in waiting), *((held, True) for held in rejected)]

    async def open_round(self, tables: Sequence[str]) -> str | None:
        states = await self.store.table_states(tables)
        return next(
            (name for name, one in zip(tables, states, strict=True) if one.open_round), None
        )


class MovedTables:
    """The tables of a link in a floor file, and what they leave behind on this and on other links.

    `own` is the data of this link; `filed` are the link's settings in the floor file.
    """

    def __init__(self, floor: Floor, link: Link, own: KnownLink, filed: LinkConfiguration) -> None:
        self._links = {each.id for each in floor.link}
        self._link = link
        self._own = own
        self._filed = filed

    async def held_at(self, links: Iterable[KnownLink]) -> str | None:
        """Return, in words, which hand pay elsewhere bars a table of this link; None if none does.

        Such a hand pay has another link or table name. It waits, or it was rejected and can be
        reopened.
        """
        for each in links:
            link = each.store.link.id
            for held, is_rejected in await each.holds():
                if not (table := self._has_moved(link, held)):
                    continue
                if is_rejected:
                    leave = f"the table in link {link}, as table {held.table},"
                    text = _rejected_text(held.claim, table, leave)
                else:
                    where = f"{held.claim} as table {held.table} of link {link}"
                    text = _waiting_text(where, table, "the table there")
                return f"{text}{self._put_back(link)}"
        return None

    async def in_round_at(self, links: Iterable[KnownLink]) -> str | None:
        """Return, in words, which table of this link has an open round on `links`, or None.

        After the move, nobody could finish or void such a round any more, and no parameter of the
        other link could be changed.
        """
        for each in links:
            moved = await self.present_at(each)
            # If a table had a round on each of two links, each link would wait for the other.
            moved = [one for one in moved if not await self._own.open_round([one])]
            if table := await each.open_round(moved):
                return f"{_round_text(table, each.store)}{self._put_back(each.store.link.id)}"
        return None

    async def present_at(self, each: KnownLink) -> Sequence[str]:
        ids = {table.id for table in self._link.table}
        assets = {table.asset for table in self._link.table}
        before = await each.approved_tables()
        return [table for table, one in before.items() if table in ids or one.asset in assets]

    async def round_taken(self) -> str | None:
        """Return, in words, which table with an open round would change or be missing, or None.

        Nobody could finish the round of a missing table. Another game would settle the round by
        other rules than those under which its wagers were accepted. If a meter were missing, a
        replay would no longer know the wagers on this meter. The result of a missing position would
        be refused. With another asset number, a win would show another table, and the old number
        could play on another link.
        """
        before, ids = await self._own.approved_tables(), {table.id for table in self._link.table}
        if table := await self._own.open_round([table for table in before if table not in ids]):
            return _round_text(table, self._own.store)
        if table := await self._own.open_round(self._changed(before)):
            return (
                f"table {table} has an open round: leave {_UNCHANGED} until the round is settled,"
                " or voided at the panel"
            )
        return None

    async def hold_taken(self) -> str | None:
        """Return, in words, which changed table has a hand pay that is not final, or None.

        Such a hand pay waits, or was rejected and can be reopened.

        A table that forgot the round, for example after its machine was replaced, looks up the win
        in its present game: another game would show another win.
        """
        if not (changed := self._changed(await self._own.approved_tables())):
            return None
        for held, is_rejected in await self._own.holds():
            if held.table in changed:
                text = _rejected_text if is_rejected else _waiting_text
                return text(held.claim, held.table, _UNCHANGED)
        return None

    def _changed(self, approved: Mapping[str, ApprovedTable]) -> list[str]:
        """Return the tables that change, other than by a new meter or more positions."""
        filed = APPROVED_FLOOR.decode(self._filed.text).tables
        return [
            table
            for table, before in sorted(approved.items())
            if (now := filed.get(table))
            and (
                (now.asset, now.plays) != (before.asset, before.plays)
                or not {*before.meters} <= {*now.meters}
                or now.positions < before.positions
            )
        ]

    def _put_back(self, link: str) -> str:
        return "" if link in self._links else f"; first put link {link} back into the floor file"

    def _has_moved(self, link: str, held: ClaimRecord) -> str | None:
        for table in self._link.table:
            same = held.table == table.id or held.asset == table.asset
            if same and (link, held.table) != (self._link.id, table.id):
                return f"{table.id} (asset {table.asset})"
        return None


def _rejected_text(claim: str, table: str, leave: str) -> str:
    return (
        f"claim {claim} of table {table} was rejected, and can still be reopened: leave {leave}"
        " until this gaming day is closed"
    )


def _waiting_text(claim: str, table: str, leave: str) -> str:
    return (
        f"table {table} is held for claim {claim}: leave {leave} until the claim is paid or"
        " rejected"
    )


def _round_text(table: str, store: LinkStore) -> str:
    return (
        f"table {table} has an open round on link {store.link.id}: leave the table there until the"
        " round is settled, or voided at the panel"
    )
