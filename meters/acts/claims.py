"""Claims: wins that wait for a floorperson, and the floorpersons' decisions on these wins."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import structlog

from meters.acts.act_refusals import (
    ActError,
    RunningLink,
    refusal,
    refusals,
    store_failure_as_inoperable,
)
from meters.acts.claim_types import ClaimRequestRow, ClaimRow, WinPage, WinSearch
from meters.acts.claim_views import (
    EVENT_OF,
    ClaimRows,
    envy_message,
    is_reopened,
    state_message,
    win_message,
)
from meters.acts.slip_reservations import SlipNumbers, slip_of
from meters.acts.win_search import History
from meters.floor.floor_file import Floor
from meters.ledger.approved_configuration import LinkConfiguration
from meters.ledger.claim_records import ClaimRecord, record_of
from meters.ledger.entry_messages import DecisionRecord
from meters.ledger.link_state import Act, ClaimRequest, EnvyAct
from meters.ledger.two_people import NO_SETTERS, PinSetters
from meters.store import link_acts
from meters.store.link_reader import DayClaims
from meters.wire.messages import Jackpot

log = structlog.get_logger()

LISTED_MAX: Final = 1_000
_FINAL: Final = frozenset({"validated", "paid", "rejected"})


class Claims:
    """The claims of all links. `on_decision` publishes a message about each decision."""

    def __init__(
        self,
        floor: Floor,
        links: Mapping[str, RunningLink],
        on_decision: Callable[[ClaimRecord, Jackpot], None],
    ) -> None:
        self._links = links
        self._on_decision = on_decision
        self._rows = ClaimRows(floor)
        self._floor_digests = {
            link.id: LinkConfiguration.of(floor, link).digest
            for link in floor.link
            if link.id in links
        }
        self._slips = SlipNumbers(links)
        self._reopenings = [DayClaims(link.store, "request_reopen") for link in links.values()]
        self._history = History(floor, links, self._rows)

    async def waiting(self) -> Sequence[ClaimRow]:
        """Return the claims that wait, oldest first; of each link, only the 1,000 oldest.

        Claims with only Envy Bonuses are included.

        Raises:
            ActError: ``link_inoperable``.
        """
        rows: list[ClaimRow] = []
        for link in self._links.values():
            with store_failure_as_inoperable():
                ids = await link.store.waiting(LISTED_MAX)
                rows += self._rows.rows(await link.store.claims(ids))
        return sorted(rows, key=lambda row: (row.at, int(row.order)))

    async def to_reopen(self) -> Sequence[ClaimRow]:
        """Return the rejected wins with a request to reopen them that nobody has confirmed yet.

        Raises:
            ActError: ``link_inoperable``.
        """
        with store_failure_as_inoperable():
            found = list[ClaimRow]()
            for requested in self._reopenings:
                found += self._rows.rows(
                    [
                        fields
                        for fields in await requested.claims()
                        if fields["state"] == "rejected" and "request_entry" in fields
                    ]
                )
            return found

    async def find(self, claim: str) -> ClaimRow:
        """Return one claim, decided or undecided.

        Raises:
            ActError: ``unknown_claim``, ``link_inoperable``.
        """
        with store_failure_as_inoperable():
            _, fields = await self._find(claim)
        return self._rows.row(fields)

    async def hand(self, claim: str) -> Sequence[ClaimRow]:
        """Return all claims of the hand that a claim is about, in the order of payment.

        Claims that are only in the archive are left out.

        Raises:
            ActError: ``unknown_claim``, ``link_inoperable``.
        """
        with store_failure_as_inoperable():
            link, fields = await self._find(claim)
            record = record_of(fields)
            stem = claim.rpartition("-")[0]
            others = [f"{stem}-{turn}" for turn in range(1, record.turns + 1)]
            if record.only_envy or record.is_must_hit_by or record.hand_table:
                others = [claim]
            rows = self._rows.rows(await link.store.claims(others))
        return [row for row in rows if row.hand_record == record.hand_record]

    async def wins(self, search: WinSearch) -> WinPage:
        """Return decided and undecided wins, the latest first (duty D16).

        Raises:
            ActError: ``unknown_link``, ``unknown_meter``, ``bad_value``, ``link_inoperable``.
        """
        with store_failure_as_inoperable():
            return await self._history.page(search)

    async def decide(
        self,
        claim: str,
        act: Act,
        actor: str,
        *,
        reason: str | None = None,
        slip: str | None = None,
        envy_not_due: bool = False,
        envy_paid: bool = False,
        setters: PinSetters = NO_SETTERS,
        confirms: ClaimRequestRow | None = None,
    ) -> ClaimRow:
        """Apply a floorperson's decision on a claim, exactly once. Return the changed claim.

        A rejection with `envy_not_due` says that the entered hand was wrong, so the Envy Bonuses
        for other players are not due. `confirms` is another person's request, which this rejection
        confirms. A payment with `envy_paid` says that the Envy Bonuses of the hand were paid with
        the win.

        Raises:
            ActError: ``unknown_claim``; ``wrong_state`` with the person who decided earlier;
                ``two_people`` if this win can be rejected only after a request; ``no_request``;
                ``same_person`` if one person does, or can have done, both acts (validates and pays
                a win, or requests and confirms); ``not_approved`` if another floor
                file was approved; ``bad_value`` for an invalid slip number; ``slip_used``;
                ``envy_decided``; ``books_differ``; ``books_full``; ``link_inoperable``.
        """
        with store_failure_as_inoperable():
            link, fields = await self._operable(claim)
            store, record = link.store, _win_of(fields)
            if act == "reject" and confirms is None and self._two_people(fields):
                message = (
                    "two people must reject this win: one requests the rejection, and another"
                    " confirms it"
                )
                raise ActError("two_people", message)
            slip = slip_of(slip)
            envy_cents = sum(owed.amount for owed in record.envy)
            decision = DecisionRecord(
                claim,
                act,
                actor,
                reason,
                slip,
                envy_back=envy_cents if act == "reject" and envy_not_due else 0,
                pin_set_by=setters.own,
                envy_paid=envy_cents if act == "pay" and envy_paid else 0,
                request=confirms.entry if confirms else 0,
                requested_by=confirms.by if confirms else None,
            )
            digest = self._floor_digests.get(store.link.id, "")
            async with self._slips.reserved(store, claim, slip):
                with refusals(record, decision):
                    decided = await link_acts.decide_claim(store, record, decision, setters, digest)
            after = await self._after(link, record, decision, decided.entry)
        self._on_decision(
            record,
            win_message(
                EVENT_OF[decided.state], record, decided.amount_cents, decided.meter_after_cents
            ),
        )
        self._send_envy_decisions(record, after)
        return self._rows.row(after)

    async def reject(
        self,
        claim: str,
        actor: str,
        *,
        reason: str,
        envy_not_due: bool = False,
        setters: PinSetters = NO_SETTERS,
    ) -> ClaimRow:
        """Reject a win, or request the rejection if two people must reject the win.

        A new request replaces an earlier one.

        Raises:
            ActError: the codes of `decide`.
        """
        with store_failure_as_inoperable():
            _, fields = await self._operable(claim)
            two_people = self._two_people(fields)
        if not two_people:
            return await self.decide(
                claim, "reject", actor, reason=reason, envy_not_due=envy_not_due, setters=setters
            )
        envy_cents = sum(owed.amount for owed in _win_of(fields).envy)
        return await self._request(
            claim, "request_reject", actor, reason, setters, envy_cents if envy_not_due else 0
        )

    async def request_reopening(
        self, claim: str, actor: str, *, reason: str, setters: PinSetters = NO_SETTERS
    ) -> ClaimRow:
        """Request to reopen a rejected win, which another person must confirm.

        Raises:
            ActError: ``unknown_claim``, ``wrong_state``, ``day_closed``, ``link_inoperable``.
        """
        return await self._request(claim, "request_reopen", actor, reason, setters)

    async def withdraw_request(
        self, claim: str, actor: str, entry: int, setters: PinSetters = NO_SETTERS
    ) -> ClaimRow:
        """Withdraw a request about a win. The request is the ledger entry `entry`.

        Raises:
            ActError: ``unknown_claim``, ``no_request``, ``link_inoperable``.
        """
        return await self._request(claim, "withdraw_request", actor, None, setters, entry=entry)

    async def confirm(
        self, claim: str, actor: str, entry: int, setters: PinSetters = NO_SETTERS
    ) -> ClaimRow:
        """Confirm another person's request about a win.

        `entry` is the ledger entry of the request that the actor saw.

        Raises:
            ActError: the codes of `decide`, and ``day_closed``.
        """
        with store_failure_as_inoperable():
            _, fields = await self._operable(claim)
            request = self._rows.row(fields).request
        if request is None or request.entry != entry:
            raise refusal("no_request")
        if request.act == "reject":
            return await self.decide(
                claim,
                "reject",
                actor,
                reason=request.reason,
                envy_not_due=request.envy_not_due,
                setters=setters,
                confirms=request,
            )
        return await self._reopen(claim, actor, request, setters)

    async def correct_slip(
        self, claim: str, actor: str, *, slip: str, replaces: str, reason: str
    ) -> ClaimRow:
        """Correct a paid win's slip number. No other claim can use the old number, `replaces`.

        Raises:
            ActError: ``unknown_claim``; ``wrong_state`` if the win is not paid; ``bad_value`` for
                an invalid slip number; ``no_change``; ``slip_changed`` if `replaces` is not the
                present number; ``slip_used``; ``link_inoperable``.
        """
        number = slip_of(slip) or ""
        if number == replaces:
            raise ActError("no_change", "the new slip number is the old one: type another number")
        with store_failure_as_inoperable():
            link, fields = await self._operable(claim)
            store, record = link.store, _win_of(fields)
            correction = DecisionRecord(
                claim, "correct_slip", actor, reason, number, old_slip=replaces
            )
            async with self._slips.reserved(store, claim, number, corrects=True):
                with refusals(record, correction):
                    entry = await link_acts.correct_slip(store, record, correction)
            after = await self._after(link, record, correction, entry)
        return self._rows.row(after)

    async def _request(  # noqa: PLR0917
        self,
        claim: str,
        act: ClaimRequest,
        actor: str,
        reason: str | None,
        setters: PinSetters,
        envy_back: int = 0,
        entry: int = 0,
    ) -> ClaimRow:
        with store_failure_as_inoperable():
            link, fields = await self._operable(claim)
            record = _win_of(fields)
            request = DecisionRecord(
                claim,
                act,
                actor,
                reason,
                envy_back=envy_back,
                pin_set_by=setters.own,
                request=entry,
            )
            with refusals(record, request):
                noted = await link_acts.request_claim(link.store, record, request)
            after = await self._after(link, record, request, noted)
        return self._rows.row(after)

    async def _reopen(
        self, claim: str, actor: str, request: ClaimRequestRow, setters: PinSetters
    ) -> ClaimRow:
        with store_failure_as_inoperable():
            link, fields = await self._operable(claim)
            record = _win_of(fields)
            decision = DecisionRecord(
                claim,
                "reopen",
                actor,
                request.reason,
                pin_set_by=setters.own,
                request=request.entry,
                requested_by=request.by,
            )
            holds = record.opened(int(fields["amount"])) if record.holds_table else None
            with refusals(record, decision):
                entry = await link_acts.reopen_claim(link.store, record, decision, holds, setters)
            after = await self._after(link, record, decision, entry)
        self._send_state(record, after)
        return self._rows.row(after)

    async def decide_envy(
        self,
        claim: str,
        act: EnvyAct,
        actor: str,
        *,
        reason: str | None = None,
        setters: PinSetters = NO_SETTERS,
    ) -> ClaimRow:
        """Apply a decision on owed Envy Bonuses, exactly once: paid at the table, or not due.

        Raises:
            ActError: ``unknown_claim``; ``wrong_state`` with the person who decided earlier;
                ``books_differ``; ``books_full``; ``link_inoperable``.
        """
        with store_failure_as_inoperable():
            link, fields = await self._operable(claim)
            record = record_of(fields)
            decision = DecisionRecord(claim, act, actor, reason, pin_set_by=setters.own)
            with refusals(record, decision):
                entry = await link_acts.decide_envy(link.store, record, decision)
            after = await self._after(link, record, decision, entry)
        self._send_envy_decisions(record, after)
        return self._rows.row(after)

    async def _after(
        self, link: RunningLink, record: ClaimRecord, decision: DecisionRecord, entry: int
    ) -> dict[str, str]:
        await link.keep_mark()
        (after,) = await link.store.claims([record.claim])
        decided = log.bind(
            link=record.link,
            table=record.table,
            round=record.round,
            claim=record.claim,
            act=decision.act,
            by=decision.by,
            entry=entry,
        )
        if decision.act in {"pay_envy", "reject_envy"}:
            decided.info("envy decided", amount_cents=sum(owed.amount for owed in record.envy))
        else:
            decided.info("claim decided", amount_cents=int(after["amount"]))
        return after

    def _two_people(self, fields: Mapping[str, str]) -> bool:
        return self._rows.two_people_reject(record_of(fields), int(fields["amount"]))

    async def _operable(self, claim: str) -> tuple[RunningLink, dict[str, str]]:
        link, fields = await self._find(claim)
        if problem := link.problem:
            raise ActError("link_inoperable", problem)
        return link, fields

    async def send_again(self, link: str, claims: Sequence[str]) -> None:
        """Send the decisions on claims again, because the table can have missed them."""
        for fields in await self._links[link].store.claims(claims):
            if fields:
                self._send_state(record_of(fields), fields)

    async def send_reopened(self, link: str) -> None:
        """Send the states of a link's wins that were reopened and are undecided.

        The first message about a reopened win can be lost with the service's connection to the
        broker. The table does not notice this loss, so it sends no hello event.
        """
        store = self._links[link].store
        for fields in await store.claims(await store.waiting(LISTED_MAX)):
            if fields and "reopen_at" in fields:
                self._send_state(record_of(fields), fields)

    def _send_state(self, record: ClaimRecord, fields: Mapping[str, str]) -> None:
        """Send the state of a decided or reopened claim; a reopened claim has the state ``hit``."""
        if not record.only_envy and (fields["state"] in _FINAL or is_reopened(fields)):
            self._on_decision(record, state_message(record, fields))
        self._send_envy_decisions(record, fields)

    def _send_envy_decisions(self, record: ClaimRecord, fields: Mapping[str, str]) -> None:
        """Send the state of a claim's Envy Bonuses, unless the message about the win implies it."""
        state, win = fields.get("envy"), fields["state"]
        if state in {"paid", "rejected"} or (state == "validated" and win == "rejected"):
            for owed in record.envy:
                self._on_decision(
                    record, envy_message(record, owed, EVENT_OF[state], int(fields["after"]))
                )

    async def _find(self, claim: str) -> tuple[RunningLink, dict[str, str]]:
        """Search all links for a claim, because the floor file can lack the claim's table."""
        for link in self._links.values():
            (fields,) = await link.store.claims([claim])
            if fields:
                return link, fields
        raise ActError("unknown_claim", f"there is no claim {claim}")


def _win_of(fields: Mapping[str, str]) -> ClaimRecord:
    record = record_of(fields)
    if record.only_envy:
        raise ActError("wrong_state", f"claim {record.claim} has only Envy Bonuses")
    return record
