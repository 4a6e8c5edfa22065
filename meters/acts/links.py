"""Acts of people on links: open, close, approve a floor file, change parameters, correct meters.

A change of a meter needs two people: one proposes it, and another confirms it (duty D4). A
parameter can only be changed while the link is closed and has no open round (duty D12). A
correction of a meter is always recorded in the ledger (duty D15).
"""

import secrets
from collections.abc import Collection, Coroutine, Mapping, Sequence
from typing import Final, Protocol

import msgspec
import structlog
from redis.exceptions import RedisError

from bonus.wagers import MICROS_PER_CENT
from meters.acts.act_refusals import ActError, RunningLink, refusal, store_failure_as_inoperable
from meters.acts.act_rows import ActRow, act_row, claim_in
from meters.acts.claim_types import PAGE_MAX
from meters.acts.link_view import HighestAmounts, LinkDone, LinkView, unapproved_row, view_meter
from meters.acts.meter_changes import (
    Adjustment,
    LinkParameters,
    ParameterChange,
    ProposalRow,
    adjustment,
    amounts_warning,
    change_of,
    proposal_row,
    proposal_rows,
    return_warning,
    words_of,
)
from meters.archive.archive_days import archived_and_read
from meters.floor.floor_file import NOT_APPROVED, Meter, fewest_positions
from meters.ledger.accounts import meter_account
from meters.ledger.checkpoint import Mark
from meters.ledger.entry_messages import READING, Change, SwitchRecord, Withdrawn
from meters.ledger.money_terms import LinkTerms, terms_text
from meters.ledger.two_people import NO_SETTERS, PinSetters, why_one_person
from meters.store.floor_file_approval import Configuration
from meters.store.link_acts import (
    NewTerms,
    Switch,
    decide_change,
    open_proposals,
    propose_change,
    switch_link,
)
from meters.store.link_store import BooksError, LinkStore, TermsError

log = structlog.get_logger()

_CORRECTIONS: Final = frozenset({"adjust", "correct_slip", "correct_wager", "result", "void"})
_NOT_APPROVED: Final = {
    "stale": "somebody approved a floor file meanwhile, or the service has another file now: read"
    " the new differences",
    "no_change": "the floor file is approved already",
    "barred": "{detail}",
    "same_person": "{detail}",
}


class ChangedLink(RunningLink, Protocol):
    """A running link, with the parts that the acts on the link itself need.

    `seen` is the ledger mark. The acts of people need no broker, so a `broker_problem` does not
    stop them.
    """

    configuration: Configuration

    @property
    def broker_problem(self) -> str | None: ...

    @property
    def seen(self) -> Mark: ...

    async def reload(self) -> None:
        """Read the changed data of the link from Redis, and send the changes to every display."""
        ...


class Links:
    def __init__(
        self, links: Mapping[str, ChangedLink], online: Mapping[str, Collection[str]]
    ) -> None:
        self._links = links
        self._online = online
        self._highest = {id_: HighestAmounts(link.store) for id_, link in links.items()}

    async def links(self) -> Sequence[LinkView]:
        """Return all links in their present state.

        Raises:
            ActError: ``link_inoperable``.
        """
        return [await self._view(link) for link in self._links]

    async def close(self, link: str, actor: str, reason: str) -> LinkView:
        """Close a link: its tables accept no new progressive wagers, but finish open rounds.

        Raises:
            ActError: ``unknown_link``, ``wrong_state``, ``link_inoperable``.
        """
        return await self._switch(link, "close", actor, reason)

    async def open(self, link: str, actor: str) -> LinkView:
        """Open a closed link; raise an `ActError` with the codes of `close`."""
        return await self._switch(link, "open", actor, "")

    async def approve(
        self, link: str, actor: str, digest: str, setters: PinSetters = NO_SETTERS
    ) -> LinkView:
        """Approve the part of the floor file about one link (duties D4, D10, D12).

        One person suffices for the first floor file of an empty floor, and for values that two
        people have confirmed as changes. Otherwise two people are needed: after the first approval,
        the view says that the second is missing. `digest` is the digest of the text that the actor
        saw.

        Raises:
            ActError: ``unknown_link``; ``stale`` if the floor file has another digest, or another
                file was approved since; ``no_change`` if the floor file is already approved;
                ``barred`` if it cannot be approved now; ``same_person`` if the actor approved first
                or could be the person who did, or if a `pitlink` command set the actor's PIN in the
                last 24 hours; ``link_inoperable`` if more than the approval is missing.
        """
        running = self._link(link)
        with store_failure_as_inoperable():
            if running.problem is not None and not running.problem.startswith(NOT_APPROVED):
                raise ActError("link_inoperable", str(running.problem))
            held, seen = (await running.store.snapshot()).last_entry, running.seen.entries
            if held < seen:  # an audit is about to report this
                raise ActError("link_inoperable", f"Redis holds {held} of {seen} ledger entries")
            try:
                await running.configuration.approve(actor, digest, setters)
            except BooksError as error:
                message = _NOT_APPROVED[error.status].format(detail=error.detail)
                raise ActError(error.status, message) from None
        view = await self._view(link)
        if view.unapproved:
            log.info("floor file approved first", link=link, by=actor, digest=digest)
        else:
            log.info("floor file approved", link=link, by=actor, digest=digest)
        return view

    async def propose(
        self,
        link: str,
        actor: str,
        change: ParameterChange | Adjustment,
        setters: PinSetters = NO_SETTERS,
    ) -> ProposalRow:
        """Propose a change of a meter, which another person must confirm (duties D4, D12, D15).

        Raises:
            ActError: ``unknown_link``, ``unknown_meter``, ``bad_value``, ``no_change``,
                ``not_closed``, ``rounds_open``, ``meter_short``, ``above_limit``,
                ``link_inoperable``.
        """
        running = self._running(link, repairs=True)
        store = running.store
        parameters = _parameters(store)
        meter = parameters.meter(change.meter)
        proposal = f"P-{secrets.token_hex(4)}"
        with store_failure_as_inoperable():
            if isinstance(change, Adjustment):
                books = await store.snapshot()
                held = (
                    books.accounts.get(meter_account(change.meter), 0),
                    int(books.meters.get(f"cycle:{change.meter}", "0")),
                )
                proposed = adjustment(proposal, actor, store.link, meter, held=held, request=change)
            else:
                after = parameters.changed(change.meter, change.parameter, change.value)
                warning = amounts_warning(meter, after)
                warning += return_warning(after, fewest_positions(store.link, meter))
                proposed = Change(
                    proposal,
                    "parameter",
                    meter.meter_id,
                    actor,
                    words_of(meter, change.parameter),
                    f"{words_of(after, change.parameter)}{warning}",
                    change.reason,
                    parameter=change.parameter,
                    value=change.value,
                )
            proposed = msgspec.structs.replace(proposed, pin_set_by=setters.own)
            event = msgspec.json.encode(proposed)
            act = propose_change(store, proposal, proposed.kind, actor, event)
            await _carry(store, actor, act)
        log.info("change proposed", link=link, proposal=proposal, by=actor, change=proposed.after)
        return await self._after(running, proposal)

    async def confirm(
        self, link: str, proposal: str, actor: str, setters: PinSetters = NO_SETTERS
    ) -> ProposalRow:
        """Confirm another person's proposal, so the change takes effect.

        Raises:
            ActError: the codes of ``propose``, and these: ``unknown_proposal``; ``wrong_state``;
                ``same_person``; ``stale``; ``below_seed`` if the balance is less than the seed for
                a new wager amount; ``limit_too_low`` if the balance is above a new limit;
                ``meter_short`` if the balance is less than the amount to subtract; ``above_limit``
                if the new balance would be above the limit; ``meter_full`` if the new balance would
                be too large for pitlink.
        """
        running = self._running(link, repairs=True)
        with store_failure_as_inoperable():
            change = msgspec.structs.replace(
                await self._proposed(running.store, proposal), confirmed_by=actor
            )
            parameters = _parameters(running.store)
            after = _changed(parameters, change)
            terms = _new_terms(parameters, after)
            if terms:
                change = msgspec.structs.replace(change, terms=terms.after)
            act = decide_change(
                running.store,
                proposal,
                "confirm",
                actor,
                msgspec.json.encode(change),
                meter=change.meter,
                terms=terms,
                amount_cents=change.amount,
                cycle=change.cycle,
                limit_cents=after.limit or 0,
                setters=setters,
            )
            await _carry(running.store, actor, act)
        log.info("change confirmed", link=link, proposal=proposal, by=actor, change=change.after)
        return await self._after(running, proposal)

    async def withdraw(self, link: str, proposal: str, actor: str) -> ProposalRow:
        """Withdraw a proposal, whoever made it.

        Raises:
            ActError: ``unknown_link``, ``unknown_proposal``, ``wrong_state``, ``link_inoperable``.
        """
        running = self._running(link, repairs=True)
        with store_failure_as_inoperable():
            change = await self._proposed(running.store, proposal)
            event = msgspec.json.encode(Withdrawn(proposal, actor, change.meter))
            act = decide_change(
                running.store, proposal, "withdraw", actor, event, meter=change.meter
            )
            await _carry(running.store, actor, act)
        log.info("change withdrawn", link=link, proposal=proposal, by=actor)
        return await self._after(running, proposal)

    async def acts(self, link: str, before: int | None, limit: int) -> Sequence[ActRow]:
        """Return the acts on a link before a ledger entry, the latest first (duty D17).

        Raises:
            ActError: ``unknown_link``, ``link_inoperable``.
        """
        store = self._link(link).store
        with store_failure_as_inoperable():
            page = await store.acts(before, limit)
            ids = [claim_in(fields) for _, fields in page]
            read = [*dict.fromkeys(filter(None, ids))]
            claims = dict(zip(read, await store.claims(read), strict=True)) if read else {}
        return [
            act_row(entry, fields, claims.get(claim, {}), store.link.titles)
            for (entry, fields), claim in zip(page, ids, strict=True)
        ]

    async def last_done(self, limit: int) -> Sequence[LinkDone]:
        """Return what was last done with each link, with its last acts.

        Raises:
            ActError: ``link_inoperable``.
        """
        return [await self._last_done(running, limit) for running in self._links.values()]

    async def _last_done(self, running: ChangedLink, limit: int) -> LinkDone:
        store, seen = running.store, running.seen
        acts = await self.acts(store.link.id, None, PAGE_MAX)
        with store_failure_as_inoperable():
            archived, read = await archived_and_read(store)
            numbers = sorted({archived, read, seen.sealed} - {0})
            found = dict(await store.entries_at(numbers))
            days = {
                number: READING.decode(found[number]["event"]).day
                for number in (archived, read)
                if number in found
            }
        at = {number: fields["at"].decode() for number, fields in found.items()}
        return LinkDone(
            link=store.link.id,
            link_name=store.link.name,
            sealed_entry=seen.sealed,
            sealed_at=at.get(seen.sealed),
            seal=seen.seal,
            read_day=days.get(read),
            read_at=at.get(read),
            archived_day=days.get(archived),
            correction=next((act for act in acts if act.what in _CORRECTIONS), None),
            acts=tuple(acts[:limit]),
        )

    async def _switch(self, link: str, act: Switch, actor: str, reason: str) -> LinkView:
        running = self._running(link, repairs=act == "close")
        event = msgspec.json.encode(SwitchRecord(act, actor, reason))
        with store_failure_as_inoperable():
            try:
                await switch_link(running.store, act, actor, reason, event)
            except BooksError as error:
                by = f" by {error.detail}" if error.detail else ""
                state = f"closed already{by}" if act == "close" else "open already"
                raise ActError("wrong_state", f"the link is {state}") from None
        log.info("link switched", link=link, act=act, by=actor, reason=reason)
        await _reload(running)
        return await self._view(link)

    async def _view(self, link: str) -> LinkView:
        running = self._links[link]
        with store_failure_as_inoperable():
            proposals = await open_proposals(running.store)
            books = await running.store.snapshot()
            unapproved = await running.configuration.unapproved()
            highest = await self._highest[link].at(books)
        parameters, problem = _parameters(running.store), running.problem
        shown, closed = problem or running.broker_problem, books.meters.get("closed")
        wrong_parameters = problem is not None and problem == parameters.problem
        of, seen, online = parameters.link, running.seen, self._online[link]
        return LinkView(
            link=of.id,
            name=of.name,
            state="inoperable" if shown else "operable" if closed is None else "closed",
            reason=shown or closed or "",
            changeable=problem is None or wrong_parameters,
            wrong_parameters=wrong_parameters,
            closed_by=books.meters.get("closed_by"),
            closed_at=books.meters.get("closed_at"),
            rounds_open=int(books.meters.get("rounds", "0")),
            tables=len(of.table),
            tables_online=sum(table.id in online for table in of.table),
            tables_offline=tuple(
                f"{table.id} (asset {table.asset})" for table in of.table if table.id not in online
            ),
            sealed_entry=seen.sealed,
            seal=seen.seal,
            meters=tuple(
                view_meter(parameters, meter, books, highest.get(meter.meter_id, 0))
                for meter in of.meter
            ),
            proposals=tuple(proposal_rows(link, proposals)),
            unapproved=unapproved_row(unapproved) if unapproved else None,
        )

    async def _after(self, running: ChangedLink, proposal: str) -> ProposalRow:
        link = running.store.link.id
        await _reload(running)
        with store_failure_as_inoperable():
            return proposal_row(link, await _found(running.store, proposal))

    async def _proposed(self, store: LinkStore, proposal: str) -> Change:
        fields = await _found(store, proposal)
        if not fields:
            raise refusal("unknown_proposal")
        if fields["state"] != "open":
            raise refusal("wrong_state", f"{fields['state']} by {fields.get('decided_by', '')}")
        return change_of(fields)

    def _link(self, link: str) -> ChangedLink:
        if link not in self._links:
            raise ActError("unknown_link", f"there is no link {link}")
        return self._links[link]

    def _running(self, link: str, *, repairs: bool = False) -> ChangedLink:
        """Return a link; refuse an unknown or inoperable one.

        With `repairs`, accept a link whose parameters do not fit, so that people can correct them.
        """
        running = self._link(link)
        problem = running.problem
        if problem and not (repairs and problem == _parameters(running.store).problem):
            raise ActError("link_inoperable", problem)
        return running


async def _found(store: LinkStore, proposal: str) -> dict[str, str]:
    _, (fields,) = await store.proposals_at([proposal])
    return fields


def _parameters(store: LinkStore) -> LinkParameters:
    return LinkParameters(store.link, store.filed)


def _changed(parameters: LinkParameters, change: Change) -> Meter:
    meter = parameters.meter(change.meter)
    if change.parameter is None or change.value is None:
        return meter
    if words_of(meter, change.parameter) != change.before:
        raise refusal("stale")
    return parameters.changed(change.meter, change.parameter, change.value)


def _new_terms(parameters: LinkParameters, after: Meter) -> NewTerms | None:
    meter = parameters.meter(after.meter_id)
    if after == meter:
        return None
    changes_wager, terms = after.wager != meter.wager, after.terms
    return NewTerms(
        terms_text(meter),
        terms_text(after),
        LinkTerms(parameters.after(after)).digest,
        seed_micros=terms.seed_cents * MICROS_PER_CENT if changes_wager else 0,
        reseed_micros=terms.reseed_cents * MICROS_PER_CENT if changes_wager else 0,
    )


async def _reload(running: ChangedLink) -> None:
    """Send a change of a link to every display. If this fails, the change remains valid."""
    try:
        await running.reload()
    except (RedisError, OSError, TermsError, ValueError, KeyError) as error:
        log.warning("displays not told", link=running.store.link.id, reason=str(error))


async def _carry(store: LinkStore, by: str, act: Coroutine[None, None, None]) -> None:
    try:
        await act
    except BooksError as error:
        if error.status == "same_person":
            message = why_one_person(
                error.detail, by, error.setter, did="proposed this change", does="confirm it"
            )
            raise ActError(error.status, message) from None
        detail = error.detail
        if error.status == "rounds_open":
            detail = await _rounds_in_hand(store, int(detail))
        raise refusal(error.status, detail) from None


async def _rounds_in_hand(store: LinkStore, count: int) -> str:
    tables = [table.id for table in store.link.table]
    states = await store.table_states(tables)
    found = [table for table, state in zip(tables, states, strict=True) if state.open_round]
    if len(found) < count:
        found.append("a table that has left the floor file: put it back and void its round")
    return ", ".join(found)
