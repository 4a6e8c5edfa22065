"""Comparison of a link's settings in the floor file with the last approved settings (D4, D10, D12).

One person approves the first floor file of an empty floor. Later, two people approve a change of a
link, a meter or their terms; one person suffices for values that two people have confirmed as a
proposal.
In a demonstration, or with a simulated floorperson, the service itself approves the first floor
file, changes and new links, until a person has approved a link. In all other cases, an approval by
the service does not count.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import structlog

from meters.floor.floor_file import NOT_APPROVED, Floor, Link, link_problem
from meters.floor.roles import Right, roles_in_words
from meters.ledger.approved_configuration import LinkConfiguration
from meters.ledger.entry_messages import SERVICE
from meters.ledger.floor_approvals import Approval, HalfApproval, table_names, tables_left
from meters.ledger.link_state import Snapshot
from meters.ledger.money_terms import adopted, terms_text
from meters.ledger.two_people import NO_SETTERS, PinSetters, is_person
from meters.store.approval_book import Approved, ForgedError, Waiting
from meters.store.facility_notes import Noted
from meters.store.link_store import BooksError, LinkStore, TermsError
from meters.store.moved_tables import KnownLink, MovedTables

log = structlog.get_logger()

_NAMED_MOST: Final = 5
_UNPLAYED_MOST: Final = 1_000
_OPENING: Final = frozenset({b"approve", b"seed", b"inoperable"})
LOST: Final = "Redis has lost what was approved"
_NEW: Final = "the link is new"
_FIRST: Final = "the first floor file"
_ALSO: Final = "a table was on another link"
_NO_PERSON: Final = "approved by {by}, and by no person"
_KNOWN: Final = (
    "{setter} set your PIN in the last 24 hours, and can have changed the floor file:"
    " another person must approve it"
)
_WHERE: Final = "under Meters, or with `pitlink approve`"


@dataclass(frozen=True, slots=True)
class Unapproved:
    """Settings of a link in the floor file that are not the last approved ones.

    Attributes:
        digest: the digest of the settings in the floor file that concern money.
        replaces: the digest of the approved configuration in Redis.
        changed: the differences, in words.
        approved: the last approval; None if there is none, or if it is unknown.
        barred: why the settings cannot be approved now.
        terms: all settings that concern money, in words and dollars, with the values that two
            people have changed by proposal.
        seeds_cents: the seeds of the meters that Redis does not have yet.
        first: one person suffices, because this is the first floor file of an empty floor.
        confirmed: one person suffices, because two people have confirmed all differences as
            changes of parameters.
        in_force: the digest of the link's terms in Redis, which an approval of `confirmed` values
            checks again; empty for no check.
        after: the order of the last approval, on any link, that had one of this link's tables.
        waiting: the first of two approvals.
    """

    digest: str
    replaces: str
    changed: tuple[str, ...]
    approved: Approved | None
    barred: str | None
    terms: tuple[str, ...] = ()
    seeds_cents: Mapping[str, int] = field(default_factory=dict)
    first: bool = False
    automatic: bool = False
    confirmed: bool = False
    in_force: str = ""
    after: int = 0
    waiting: Waiting = field(default_factory=Waiting)

    @property
    def facility(self) -> tuple[str, ...]:
        """The differences that concern the whole facility, not only this link."""
        own = ("meter ", "table ", "game ", "promotion ", "approved by ", _NEW, _FIRST, _ALSO)
        return tuple(one for one in self.changed if not one.startswith(own))

    @property
    def first_by(self) -> str | None:
        """The person who approved exactly these settings first; None if nobody did."""
        half = self.waiting.half
        counts = self.waiting.counts_for(self.digest, self.replaces, self.after)
        return half.by if half and counts else None

    @property
    def problem(self) -> str:
        more = len(self.changed) - _NAMED_MOST
        names = ", ".join(self.changed[:_NAMED_MOST]) + (f" and {more} more" if more > 0 else "")
        return f"{NOT_APPROVED}: {names}; {self.barred or self.act}"

    @property
    def adopts(self) -> bool:
        return self.automatic and self.barred is None

    @property
    def act(self) -> str:
        roles = roles_in_words(Right.LINKS)
        if self.first or self.confirmed:
            return f"{roles} approves it {_WHERE}"
        if self.first_by:
            return (
                f"{self.first_by} approved it first, and one more person is needed: {roles}"
                f" approves it {_WHERE}"
            )
        return f"two people approve it, each {roles}, {_WHERE}"


class Configuration:
    """Configuration of one link: its settings in the floor file, and their approval in Redis.

    The data of all links is read, also of links that are no longer in the floor file. Their hand
    pays and open rounds can bar this link, and their ledgers show if the whole floor is empty.

    `opens_as` is the simulated person as whom the service approves the floor file. By default, the
    service approves under its own name in a demonstration; on any other floor, people approve.
    """

    def __init__(self, floor: Floor, store: LinkStore, *, opens_as: str | None = None) -> None:
        self._store = store
        self._own = KnownLink.of(store)
        self._book = self._own.book
        self._others: dict[str, KnownLink] = {}
        self._opens_as = opens_as or (SERVICE if floor.facility.demonstration else None)
        self._floor = floor
        self._link = next(link for link in floor.link if link.id == store.link.id)
        self._seen = False
        self._watched: Sequence[KnownLink] | None = None
        self._note_step: Callable[[], None] = lambda: None
        self._assets = {table.id: table.asset for table in self._link.table}
        self.filed = LinkConfiguration.of(floor, self._link)
        self._tables = MovedTables(floor, self._link, self._own, self.filed)

    @cached_property
    def _floor_digest(self) -> str:
        lines = [
            f"{link.id} {LinkConfiguration.of(self._floor, link).digest}"
            for link in self._floor.link
        ]
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()

    async def unapproved(self) -> Unapproved | None:
        """Return how the floor file differs from the approved settings; None if it does not.

        If a link came back into the floor file too early, return why it must not operate yet.
        """
        try:
            approved = await self._book.current()
        except ForgedError as error:
            await self._read_note()
            return await self._unapproved((str(error),), replaces=error.held)
        if approved is None:
            await self._read_note()
            kept = await self._store.snapshot()
            if self._seen or _terms_in(kept.meters) or "approvals" in kept.tallies:
                return await self._unapproved((LOST,))
            first = await self._is_first()
            return await self._unapproved((_FIRST if first else _NEW,), new=True, first=first)
        self._seen = True
        counts = is_person(approved.by) or await self._is_of_program()
        same = counts and approved.digest == self.filed.digest
        if same and self._watched is not None:
            left = await self._left_at(self._watched)
            if not left and not await self._lost_tables(approved, self._steps(self._watched)):
                return None
            self._watched = None
        await self._read_note()
        since = await self._lost_tables(approved, self._other_links)
        if same and not since:
            return await self._back_too_early(approved)
        before, confirmed = LinkConfiguration(approved.text), False
        held = (await self._store.snapshot()).meters
        try:
            changed = (*self.filed.changed_from(before), *since)
            confirmed = counts and not since and self.filed.only_follows(before, _terms_in(held))
        except ValueError:
            changed = ("what was approved cannot be read",)
        if not counts:
            changed = (*changed, _NO_PERSON.format(by=approved.by))
        return await self._unapproved(
            changed, approved, confirmed=confirmed, in_force=held.get("terms", "")
        )

    async def problem(self, note_step: Callable[[], None] | None = None) -> str | None:
        """Return why the link must not operate with this floor file, or None.

        To read many links takes long, so `note_step` is called before each link.
        """
        self._note_step = note_step or self._note_step
        found = await self.unapproved()
        return None if found is None or found.adopts else found.problem

    async def adopt(self) -> None:
        """Approve the floor file without a person, if this is allowed.

        Raises:
            TermsError: the floor file is not approved, and a person must approve it.
        """
        found = await self.unapproved()
        if found is not None:
            if not found.adopts:
                raise TermsError(found.problem)
            try:
                by = self._opens_as or ""
                _, order = await self._note(by)
                await self._adopt(found, by, order)
                log.info("floor file approved", link=self._link.id, by=by, digest=found.digest)
            except BooksError as error:
                # Two services can start at the same time: the other one has approved.
                log.info("floor file not approved", link=self._link.id, reason=error.status)
            if (found := await self.unapproved()) is not None:
                raise TermsError(found.problem)
        # A restored Redis can lack the note. Without it, another file could count as the first.
        if approved := await self._book.current():
            await self._note(approved.by)

    async def approve(
        self, by: str, digest: str, setters: PinSetters = NO_SETTERS
    ) -> tuple[str, ...]:
        """Approve the floor file as the first, second or only person; return its differences.

        `digest` is the digest of the settings that the user saw. `setters` are the people who
        recently set the user's PIN. If somebody set it with `pitlink user`, the user can approve
        only the first floor file: the person who used `pitlink user` can also change the file.

        Raises:
            BooksError: ``stale``: the floor file has changed since it was shown, or somebody else
                approved. ``no_change``: it is already approved. ``barred``, with the reason: it
                cannot be approved now. ``same_person``, with the reason: another person must
                approve it.
        """
        found = await self.unapproved()
        if digest != self.filed.digest:
            raise BooksError("stale")
        if found is None:
            raise BooksError("no_change")
        if found.barred:
            raise BooksError("barred", found.barred)
        noted, order = await self._note(by)
        if found.first and noted:
            await self._adopt(found, by, order, setters.own)
            return found.changed
        # If another approval takes a table after this point, that approval has a larger order.
        await self._read_note()
        if await self._last_order() != found.after:
            raise BooksError("stale")
        if setters.by_command:
            raise BooksError("same_person", _KNOWN.format(setter=setters.by_command))
        if found.confirmed and found.approved:
            await self._adopt(found, by, found.approved.order, setters.own)
            return found.changed
        first_by, half = found.first_by or "", found.waiting.half
        if half and _is_past(half, by, setters):
            first_by = ""
        approval = await self._approval(found, by, order, first_by=first_by, setters=setters.own)
        if not first_by:
            await self._book.approve_first(approval, found.replaces, found.after, found.waiting)
        else:
            await self._book.approve_second(approval, found.replaces, found.waiting, setters)
        return found.changed

    async def approved(self) -> Approved | None:
        return await self._book.current()

    async def is_of_people(self) -> bool:
        """Check if a person has approved a link, or the first floor file in this Redis.

        A forged approval also counts, because nobody knows who approved before.
        """
        noted = await self._read_note()
        try:
            names = [one.by for each in self._all_links if (one := await each.book.current())]
        except ForgedError:
            return True
        return any(is_person(name) for name in (noted.by, *names) if name)

    async def _is_of_program(self) -> bool:
        return self._opens_as is not None and not await self.is_of_people()

    async def _adopt(
        self, found: Unapproved, by: str, order: int, setters: Sequence[str] = ()
    ) -> None:
        # Two people can have approved another file since the last read. Any approval from now on
        # has a larger order.
        if found.first and not await self._is_first():
            raise BooksError("stale")
        floor = self._floor_digest if found.first else ""
        # A person can have begun the first approval since the service read the note.
        if floor and not is_person(by) and await self.is_of_people():
            raise BooksError("stale")
        approval = await self._approval(found, by, order, floor=floor, setters=setters)
        await self._book.approve_alone(
            approval,
            found.replaces,
            of_empty_link=found.first,
            terms=found.in_force,
            continues=f"{found.approved.entry} {found.approved.at}" if found.approved else "",
        )

    async def _approval(
        self,
        found: Unapproved,
        by: str,
        order: int,
        *,
        first_by: str = "",
        floor: str = "",
        setters: Sequence[str] = (),
    ) -> Approval:
        before = found.approved or await self._book.last_noted()
        return Approval(
            self.filed.digest,
            self.filed.text,
            by,
            found.changed,
            first_by,
            floor,
            tuple(setters),
            order,
            tables_left(before, table_names(self._assets)),
        )

    async def _is_first(self) -> bool:
        """Check if one person suffices: this link is empty, and nobody has played on any other.

        The first approval is for all links. It can be interrupted between two links, and a service
        then opens the approved ones. So another link can have entries, if it was approved under
        this floor file. Otherwise, if a link has no approval yet, two people approve it.
        """
        if (await self._store.snapshot()).last_entry:
            return False
        noted = await self._read_note()
        if noted.floor not in ("", self._floor_digest):
            return False
        for each in self._other_links:
            held = await each.store.snapshot()
            if not held.last_entry:
                continue
            approved = await each.approved()
            if approved is None or approved.floor != self._floor_digest:
                return False
            if await _has_played(each.store, held):
                return False
        return True

    async def _note(self, by: str) -> tuple[bool, int]:
        """Note that somebody approves the link. Return the values of `FacilityNote.note`."""
        known = [await each.approved() for each in self._all_links]
        last = max((approved.order for approved in known if approved), default=0)
        return await self._store.facility.note(self._floor_digest, by, self._link.id, last)

    async def _lost_tables(
        self, approved: Approved, others: Iterable[KnownLink]
    ) -> tuple[str, ...]:
        if await self._is_of_program():
            return ()
        return tuple(
            f"table {table} was later approved on link {link}"
            for table, (order, link) in sorted((await self._last_approvals(others)).items())
            if order > approved.order
        )

    async def _last_approvals(self, links: Iterable[KnownLink]) -> Mapping[str, tuple[int, str]]:
        last = dict.fromkeys(self._assets, (0, ""))
        for each in links:
            approved = await each.approved()
            had = approved.had if approved else {}
            for table, asset in self._assets.items():
                order = max(had.get(name, 0) for name in table_names({table: asset}))
                last[table] = max(last[table], (order, each.store.link.id))
        return last

    async def _last_order(self) -> int:
        last = await self._last_approvals(self._all_links)
        return max((order for order, _ in last.values()), default=0)

    @property
    def _all_links(self) -> Iterator[KnownLink]:
        yield self._own
        yield from self._other_links

    @property
    def _other_links(self) -> Iterator[KnownLink]:
        return self._steps(tuple(self._others.values()))

    def _steps(self, links: Iterable[KnownLink]) -> Iterator[KnownLink]:
        """Yield links, and call `note_step` before each link."""
        for each in links:
            self._note_step()
            yield each

    async def _read_note(self) -> Noted:
        noted = await self._store.facility.read()
        named = {link.id: link for link in self._floor.link}
        for each in sorted(noted.links | {*named}):
            if each not in self._others and each != self._link.id:
                link = named.get(each) or Link(id=each, name=each, games=self._floor.games)
                self._others[each] = KnownLink.of(self._store.of_link(link))
        return noted

    async def _unapproved(
        self,
        changed: tuple[str, ...],
        approved: Approved | None = None,
        *,
        replaces: str = "",
        new: bool = False,
        first: bool = False,
        confirmed: bool = False,
        in_force: str = "",
    ) -> Unapproved:
        held = (await self._store.snapshot()).meters
        tables = self._tables
        barred = _barred(self._link, held) or await tables.held_at(self._all_links)
        seeds_cents = {
            meter: seed
            for meter, seed in self.filed.seeds_cents.items()
            if meter not in _terms_in(held)
        }
        of_no_person = new or (approved is not None and not is_person(approved.by))
        automatic = await self._is_of_program() and (
            first or (of_no_person and (await self._store.facility.read()).floor != "")
        )
        if barred is None and not automatic:
            barred = (
                await tables.round_taken()
                or await tables.in_round_at(self._other_links)
                or await tables.hold_taken()
            )
        return Unapproved(
            digest=self.filed.digest,
            replaces=approved.digest if approved else replaces,
            changed=changed,
            approved=approved,
            barred=barred,
            terms=self._terms_in_words(held),
            seeds_cents=seeds_cents,
            first=first,
            automatic=automatic,
            confirmed=confirmed and not seeds_cents,  # a new meter has no values in force
            in_force=in_force,
            after=await self._last_order(),
            waiting=await self._book.waiting(),
        )

    async def _back_too_early(self, approved: Approved) -> Unapproved | None:
        """Return why a link must not operate although its settings are the approved ones, or None.

        A removed link keeps its approval. If the link comes back into the floor file, its tables
        can still have hand pays and open rounds on another link. If no table has any, the links
        that were approved with these tables are watched, because another service can still have the
        earlier file.
        """
        if barred := await self._left_at((self._own, *self._others.values())):
            return replace(await self._unapproved((_ALSO,), approved), barred=barred)
        others = self._other_links
        self._watched = [each for each in others if await self._tables.present_at(each)]
        return None

    async def _left_at(self, links: Sequence[KnownLink]) -> str | None:
        held = await self._tables.held_at(self._steps(links))
        if held or self._opens_as is not None:
            return held
        others = (each for each in links if each is not self._own)
        return await self._tables.in_round_at(self._steps(others))

    def _terms_in_words(self, held: Mapping[str, str]) -> tuple[str, ...]:
        """Return all terms, with the values that two people have changed by proposal."""
        in_force = adopted(self._link, held)
        if link_problem(in_force):  # the file is barred, and its games do not have these values
            return self.filed.in_words
        return LinkConfiguration.of(self._floor, in_force).in_words


def _is_past(half: HalfApproval, by: str, setters: PinSetters) -> bool:
    """Check if only PINs that were set before the first approval bar the second approval.

    Whoever set such a PIN does not know the present PIN. So the caller stores the approval by `by`
    as a new first approval, which waits for a second person.
    """
    if by == half.by:
        return not {*half.pin_set_by} <= {*setters.own}
    return half.by not in setters.shared and not {by, *setters.own}.isdisjoint(half.pin_set_by)


async def _has_played(store: LinkStore, held: Snapshot) -> bool:
    """Check if a link has entries other than those that a service writes when it opens the link.

    At this time, a service writes the approval, the seeds of the meters, and how long the link
    waited for the approval.
    """
    if held.last_entry > _UNPLAYED_MOST:
        return True
    kinds = {fields["kind"] for _, fields in await store.entries(0, _UNPLAYED_MOST)}
    return not kinds <= _OPENING


def _terms_in(meters: Mapping[str, str]) -> Mapping[str, str]:
    begin = "terms:"
    return {name.removeprefix(begin): of for name, of in meters.items() if name.startswith(begin)}


def _barred(link: Link, meters: Mapping[str, str]) -> str | None:
    held = _terms_in(meters)
    if gone := sorted(held.keys() - {meter.meter_id for meter in link.meter}):
        return f"Redis has meter {gone[0]}: put it back into the floor file"
    in_force = adopted(link, meters)
    if reason := link_problem(in_force):
        return (
            f"with the parameters that were changed by proposal, {reason}: set the floor file and"
            " the game files back"
        )
    for meter in in_force.meter:
        if held.get(meter.meter_id, terms_text(meter)) != terms_text(meter):
            return (
                f"the parameters of meter {meter.meter_id} change by proposal while the link is"
                " closed, not by the floor file or a game file: undo the change in the file"
            )
    return None
