"""Comparison of a link's settings in the floor file with the last approved ones (D10, D12)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import structlog

from meters.books.approvals import Approval, ApprovalBook, Approved, ForgedError
from meters.books.approved_configuration import (
    ApprovedTable,
    LinkConfiguration,
    approved_tables,
)
from meters.books.hand_pay_holds import ReopenableHolds, TableHold, holding_claims
from meters.books.money_terms import adopted, terms_text
from meters.books.store import BooksError, LinkStore, TermsError
from meters.books.two_people import NO_SETTERS, PinSetters
from meters.floor.floor_file import Floor, Link, link_problem
from meters.selfcheck.check_result import Check
from meters.users.roles import Right, roles_in_words

log = structlog.get_logger()

_NAMED_MOST: Final = 5
_LOST: Final = "Redis has lost what was approved"
_KNOWN: Final = (
    "{setter} set your PIN in the last 24 hours, and may have changed the floor file:"
    " another person must approve it"
)
_UNCHANGED: Final = "its game, game file and meters as they were"


@dataclass(frozen=True, slots=True)
class Unapproved:
    """Settings of a link in the floor file that differ from the last approved ones.

    Attributes:
        digest: the digest of the floor file's settings that concern money.
        replaces: the digest of the approved settings in Redis; empty if no settings are approved.
        changed: the differences, in words.
        approved: the last approval; None if it is unknown.
        barred: the reason why these settings cannot be approved now; None if they can be.
    """

    digest: str
    replaces: str
    changed: tuple[str, ...]
    approved: Approved | None
    barred: str | None

    @property
    def facility(self) -> tuple[str, ...]:
        """The differences that concern the whole facility, not only this link."""
        return tuple(one for one in self.changed if not one.startswith(("meter ", "table ")))

    @property
    def problem(self) -> str:
        """The text that says why the link is inoperable."""
        more = len(self.changed) - _NAMED_MOST
        names = ", ".join(self.changed[:_NAMED_MOST]) + (f" and {more} more" if more > 0 else "")
        act = self.barred or (
            f"{roles_in_words(Right.LINKS)} approves it under Links, or with `pitlink approve`"
        )
        return f"the floor file is not as approved: {names}; {act}"


class Configuration:
    """Configuration of one link: its settings in the floor file, and their approval in Redis.

    Args:
        floor: the floor file.
        store: the link's data in Redis.
        stores: the data of all links of the floor. This data shows if a table of this link still
            waits for a hand pay under another link or another name, or if such a hand pay can be
            reopened. It also shows if a table still has an open round on another link. Such a table
            must not play.
        adopts: true if a changed floor file needs no approval. Only a demonstration is allowed to
            set this, because its floor is new in each run and involves no real money.
    """

    def __init__(
        self,
        floor: Floor,
        store: LinkStore,
        stores: Iterable[LinkStore] = (),
        *,
        adopts: bool = False,
    ) -> None:
        self._store = store
        others = tuple(stores)
        self._holds = tuple((each, ReopenableHolds(each)) for each in others)
        self._reopenable = ReopenableHolds(store)
        self._book = ApprovalBook(store)
        self._other_books = tuple(
            (each, ApprovalBook(each)) for each in others if each.link.id != store.link.id
        )
        self._adopts = adopts
        self._link = next(link for link in floor.link if link.id == store.link.id)
        self._seen = False
        self.filed = LinkConfiguration.of(floor, self._link)

    async def unapproved(self) -> Unapproved | None:
        """Return how the floor file differs from the approved settings; None if it does not.

        The result is also None if no floor file was ever approved. The first floor file needs no
        approval: it is adopted when the link is opened.

        Raises:
            RedisError: Redis failed.
        """
        try:
            approved = await self._book.current()
        except ForgedError as error:
            return await self._unapproved((str(error),), None, error.held)
        if approved is None:
            return (
                await self._unapproved((_LOST,), None, "") if await self._was_approved() else None
            )
        self._seen = True
        if approved.digest == self.filed.digest:
            return None
        try:
            changed = self.filed.changed_from(LinkConfiguration(approved.text))
        except ValueError:
            changed = ("what was approved cannot be read",)
        return await self._unapproved(changed, approved, approved.digest)

    async def problem(self) -> str | None:
        """Return the reason why the link must not operate with this floor file, or None."""
        found = await self.unapproved()
        return None if found is None or self._will_adopt(found) else found.problem

    async def adopt(self, by: str) -> None:
        """Adopt the floor file if none was ever approved, or if it is for a demonstration.

        Raises:
            TermsError: other settings are approved, or Redis has lost the approval.
            RedisError: Redis failed.
        """
        found = await self.unapproved()
        if found is not None and not self._will_adopt(found):
            raise TermsError(found.problem)
        try:
            if found is not None:
                await self._approve(by, found.changed, found.replaces)
            elif self._seen:
                return  # this floor file is already approved
            else:
                if left := await self._held_elsewhere() or await self._round_left_open():
                    raise TermsError(left)
                await self._approve(by, (), "", first=True)
        except BooksError as error:
            self._seen = self._seen or error.status == "lost"
        # Read the approval again, because this service or another worker can have just written it.
        if (found := await self.unapproved()) is not None:
            raise TermsError(found.problem)

    async def is_approved(self) -> bool:
        """Check if Redis has an approval of a floor file for this link.

        Raises:
            ForgedError: the approval in Redis differs from the approval in the ledger.
            RedisError: Redis failed.
        """
        return await self._book.current() is not None

    async def approve(
        self, by: str, digest: str, setters: PinSetters = NO_SETTERS
    ) -> tuple[str, ...]:
        """Approve the current floor file. Return its differences from the last approved one.

        `digest` is the digest of the settings that the user saw. If the settings are different now,
        the approval is refused. `setters` are the people who recently set the user's PIN. The
        approval is also refused if one of them used `pitlink user`. Such a person can change the
        floor file, and so does not count as a second person.

        Raises:
            BooksError: the approval is refused. ``stale``: the floor file has changed since it was
                shown. ``no_change``: the floor file is already approved. ``barred``: the floor file
                cannot be approved now. ``same_person``: another person must approve it. With the
                code ``barred`` or ``same_person``, the error also has the reason.
            RedisError: Redis failed.
        """
        if setters.by_command:
            raise BooksError("same_person", _KNOWN.format(setter=setters.by_command))
        found = await self.unapproved()
        if digest != self.filed.digest:
            raise BooksError("stale")
        if found is None and await self.is_approved():
            raise BooksError("no_change")
        if found is not None and found.barred:
            raise BooksError("barred", found.barred)
        changed = found.changed if found else ()
        await self._approve(by, changed, found.replaces if found else "")
        return changed

    async def check(self) -> Check:
        """Return, as a result of the self-check, whether the floor file is approved."""
        what, short = f"configuration of {self._link.id}", f"SHA-256 {self.filed.digest}"
        if problem := await self.problem():
            return Check(what, holds=False, seen=f"{problem} ({short})")
        approved = await self._book.current()
        if approved is None:
            return Check(what, holds=True, seen=f"adopted at the first start ({short})")
        return Check(
            what, holds=True, seen=f"as {approved.by} approved it, {approved.at} ({short})"
        )

    def _will_adopt(self, found: Unapproved) -> bool:
        return self._adopts and found.approved is not None and found.barred is None

    async def _approve(
        self, by: str, changed: tuple[str, ...], replaces: str, *, first: bool = False
    ) -> None:
        filed = self.filed
        approval = Approval(filed.digest, filed.text, by, changed)
        await self._book.approve(approval, replaces, first=first)
        log.info("floor file approved", link=self._link.id, by=by, digest=filed.digest)

    async def _was_approved(self) -> bool:
        return self._seen or "approvals" in (await self._store.snapshot()).tallies

    async def _unapproved(
        self, changed: tuple[str, ...], approved: Approved | None, replaces: str
    ) -> Unapproved:
        barred = _barred(self._link, (await self._store.snapshot()).meters)
        if barred is None:
            barred = (
                await self._held_elsewhere()
                or await self._round_left_open()
                or await self._held_at_changed_table()
            )
        return Unapproved(self.filed.digest, replaces, changed, approved, barred)

    async def _held_elsewhere(self) -> str | None:
        """Return a text if a table of this link has a hand pay elsewhere that is not final.

        Such a hand pay waits, or was rejected and can be reopened. Elsewhere means: under another
        link or another name. If no table has such a hand pay, the result is None.
        """
        for store, reopenable in self._holds:
            # A claim that is rejected between these two reads is in the second one.
            for held in await holding_claims(store):
                if table := self._has_moved(store, held):
                    return (
                        f"table {table} is held for claim {held.claim.claim} as table {held.table}"
                        f" of link {store.link.id}: leave it there until that is paid or rejected"
                    )
            for held in await reopenable.claims():
                if table := self._has_moved(store, held):
                    return (
                        f"claim {held.claim.claim} of table {table} was rejected, and can still be"
                        f" reopened: leave the table in link {store.link.id}, as table"
                        f" {held.table}, until this gaming day is closed"
                    )
        return None

    async def _round_left_open(self) -> str | None:
        """Return a text if the floor file takes a table, its game or a meter from its open round.

        Nobody could finish or void the round of such a table any more, and the link of the round
        could not change a parameter. If the game changes, the round would be settled by other rules
        than those under which its wagers were accepted. If the table loses a meter, a replay would
        not know the wagers on this meter any more. A demonstration has no such limit, because
        its floor is new in each run.
        """
        if self._adopts:
            return None
        ids = {table.id for table in self._link.table}
        gone = [table for table in await _approved_tables(self._book) if table not in ids]
        if table := await _with_open_round(self._store, gone):
            return _open_round_text(table, self._store)
        if table := await _with_open_round(self._store, await self._changed_tables()):
            return (
                f"table {table} has an open round: leave {_UNCHANGED} until the round is settled,"
                " or voided at the panel"
            )
        assets = {table.asset for table in self._link.table}
        for store, book in self._other_books:
            before = await _approved_tables(book)
            moved = [table for table, one in before.items() if table in ids or one.asset in assets]
            if table := await _with_open_round(store, moved):
                return _open_round_text(table, store)
        return None

    async def _held_at_changed_table(self) -> str | None:
        """Return a text if a changed table has a hand pay that is not final, or None.

        A table that forgot the round, for example after its machine was replaced, finds the win of
        such a hand pay in its present game. With another game, it would show another win.
        """
        if self._adopts or not (changed := await self._changed_tables()):
            return None
        # A claim that is rejected between these two reads is in the second one.
        for held in await holding_claims(self._store):
            if held.table in changed:
                return (
                    f"table {held.table} is held for claim {held.claim.claim}: leave {_UNCHANGED}"
                    " until that is paid or rejected"
                )
        for held in await self._reopenable.claims():
            if held.table in changed:
                return (
                    f"claim {held.claim.claim} of table {held.table} was rejected, and can still be"
                    f" reopened: leave {_UNCHANGED} until this gaming day is closed"
                )
        return None

    async def _changed_tables(self) -> list[str]:
        """Return the tables whose game or game file changes, or that lose a meter."""
        approved, filed = await _approved_tables(self._book), approved_tables(self.filed.text)
        return [
            table
            for table, before in sorted(approved.items())
            if (now := filed.get(table))
            and (now.plays != before.plays or not {*before.meters} <= {*now.meters})
        ]

    def _has_moved(self, store: LinkStore, held: TableHold) -> str | None:
        """Return the name of the table of a claim if it is at another place in the floor file."""
        for table in self._link.table:
            same = held.table == table.id or held.asset == table.asset
            if same and (store.link.id, held.table) != (self._link.id, table.id):
                return f"{table.id} (asset {table.asset})"
        return None


async def _approved_tables(book: ApprovalBook) -> Mapping[str, ApprovedTable]:
    """Return the tables of a link in its approved floor file, by id."""
    try:
        approved = await book.current()
        return approved_tables(approved.text) if approved else {}
    except (ForgedError, msgspec.DecodeError):
        return {}


async def _with_open_round(store: LinkStore, tables: Sequence[str]) -> str | None:
    """Return the first of some tables that has an open round on a link, or None."""
    states = await store.table_states(tables)
    return next((table for table, one in zip(tables, states, strict=True) if one.open_round), None)


def _open_round_text(table: str, store: LinkStore) -> str:
    return (
        f"table {table} has an open round on link {store.link.id}: leave the table there until the"
        " round is settled, or voided at the panel"
    )


def _barred(link: Link, meters: Mapping[str, str]) -> str | None:
    """Return why a link could not operate with this floor file even if approved, or None."""
    named = {f"terms:{meter.meter_id}" for meter in link.meter}
    for name in sorted(meters):
        if name.startswith("terms:") and name not in named:
            meter_id = name.removeprefix("terms:")
            return f"Redis has meter {meter_id}: put it back into the floor file"
    in_force = adopted(link, meters)
    if reason := link_problem(in_force):
        return (
            f"with the parameters that were changed by proposal, {reason}: set the floor file and"
            " the game files back"
        )
    for meter in in_force.meter:
        held = meters.get(f"terms:{meter.meter_id}")
        if held is not None and held != terms_text(meter):
            return (
                f"the parameters of meter {meter.meter_id} change by proposal while the link is"
                " closed, not by the floor file or a game file: set it back"
            )
    return None
