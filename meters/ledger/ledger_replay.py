"""Replay of a link's ledger: it calculates all balances outside Redis, entry by entry."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

import msgspec

from bonus.json_input import UNREADABLE
from meters.ledger.accounts import Moved, Totals, Transfer, meter_account, moved_by
from meters.ledger.chain import CHAIN, ENTRY_FIELDS, link_and_seal
from meters.ledger.checkpoint import Checkpoint, CheckpointError, Mark, read_checkpoint
from meters.ledger.claim_evidence import CLAIM_ACTS, Evidence
from meters.ledger.entry_messages import (
    ARCHIVED,
    CHANGED,
    DECIDED,
    EXPIRED,
    PROMOTION_ADDED,
    READING,
    RESTORING,
    Archived,
    Change,
    CloseReading,
    correction_of_wager,
    placed_in,
    settled_in,
)
from meters.ledger.expected_claims import claim_moved, result_moved
from meters.ledger.expected_must_hit_by import unmet_openings, value_drawn
from meters.ledger.expected_promotions import promotion_moved
from meters.ledger.expected_transfers import Draft, ExpectedBooks, adjustment_moved, seed_moved
from meters.ledger.expected_wagers import ExpectedWagers, correction_moved, void_moved
from meters.ledger.floor_approvals import (
    HALF,
    HalfApproval,
    NotedApproval,
    approval_fault,
    approved_floor,
)
from meters.ledger.hidden_values import HIDDEN_VALUE_DRAWN
from meters.ledger.link_evidence import LinkEvidence
from meters.ledger.money_terms import read_terms
from meters.ledger.table_corrections import ASK_ACTS
from meters.ledger.table_evidence import TableEvidence

PROBLEMS_MAX: Final = 100
"""The greatest number of problems that are collected. More would not help to find the cause."""


_UNCONFIRMED: Final = (
    "entry {entry}: {by} restored the data of the link, and nobody could confirm this name"
)
_FIELDS: Final = ENTRY_FIELDS[:-1]
_FIELD_NAMES: Final = frozenset(_FIELDS)
_MOVES_NOTHING: Final = frozenset({b"propose", b"withdraw", b"inoperable", b"restore", *ASK_ACTS})


class AuditCheckpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The state of a link after an audit that found no problem.

    Its `checkpoint` has more than a checkpoint at the close of a gaming day: all claims that Redis
    can have, and the tables' replies. `closings` are the digests of the checkpoints at the close of
    the gaming days that were not archived yet. `claims_after` is as in `Replay`.
    """

    link: str
    checkpoint: Checkpoint
    closings: dict[str, str]
    claims_after: int


@dataclass
class Replay:
    """The balances and records of one link, calculated only from the link's ledger.

    `entries` is the number of the last replayed ledger entry, `chain` its digest, and `seal` the
    digest over all entries so far. `variances` are differences between meter readings and the
    ledger. `notes` are facts that are no fault, but that a reader of the ledger must know.
    `archived` are the gaming days that were archived, and `expired_to` is the last entry whose
    archive file was deleted, according to the ledger. `begins_after` is the number of the entry
    before the first replayed entry; `Evidence` says what a replay from a checkpoint lacks.
    `evidence` has all claims that were opened after the entry `claims_after`. It can lack earlier
    claims that Redis has, because Redis forgets a claim some time after the entries of the claim.
    """

    entries: int = 0
    chain: str = ""
    seal: str = ""
    problems: list[str] = field(default_factory=list)
    variances: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    archived: list[Archived] = field(default_factory=list)
    expired_to: int = 0
    closed_day: str = ""
    begins_after: int = 0
    claims_after: int = 0
    evidence: Evidence = field(default_factory=Evidence)
    tables: TableEvidence = field(default_factory=TableEvidence)
    link: LinkEvidence = field(default_factory=LinkEvidence)
    books: ExpectedBooks = field(default_factory=ExpectedBooks)
    _wagers: ExpectedWagers = field(default_factory=ExpectedWagers)
    _contributed_micros: int = 0
    closed: bool = False
    _approval: NotedApproval | None = None
    _half: HalfApproval | None = None
    _closings: dict[str, str] = field(default_factory=dict)

    @classmethod
    def after(cls, checkpoint: Checkpoint) -> Self:
        """Continue from a checkpoint. The replay changes the checkpoint object.

        Raises:
            CheckpointError: the checkpoint has a state that no ledger makes.
        """
        return cls._continued(checkpoint, {}, checkpoint.entries)

    @classmethod
    def resumed(cls, state: AuditCheckpoint) -> Self:
        """Continue from an audit checkpoint. The replay changes the checkpoint object.

        Raises:
            CheckpointError: the checkpoint has a state that no ledger makes.
        """
        return cls._continued(state.checkpoint, state.closings, state.claims_after)

    @classmethod
    def _continued(cls, state: Checkpoint, closings: dict[str, str], claims_after: int) -> Self:
        try:
            if state.approval:
                state.books.approved = approved_floor(state.approval.event)
            evidence = Evidence(state.claims, state.ended, state.assets)
        except (*UNREADABLE, ValueError, KeyError) as error:
            raise CheckpointError(
                f"the state at entry {state.entries} is wrong: {error!r}"
            ) from None
        lacking = state.books.waiting - state.claims.keys()
        lacking |= state.books.terms.keys() ^ state.books.cycles.keys()
        if lacking:
            raise CheckpointError(f"the state at entry {state.entries} lacks {min(lacking)}")
        return cls(
            begins_after=state.entries,
            claims_after=claims_after,
            entries=state.entries,
            chain=state.chain,
            seal=state.seal,
            variances=list(state.variances),
            closed_day=state.closed_day,
            closed=state.closed,
            books=state.books,
            tables=state.tables,
            link=state.link,
            evidence=evidence,
            _contributed_micros=state.contributed_micros,
            _approval=state.approval,
            _half=state.half,
            _closings=closings,
        )

    def audit_checkpoint(self, link: str) -> AuditCheckpoint:
        """Return the whole state. The next entry changes the returned object."""
        archived = {one.day.isoformat() for one in self.archived}
        closings = {day: one for day, one in self._closings.items() if day not in archived}
        state = self._state(self.evidence.claims, self.tables)
        return AuditCheckpoint(link, state, closings, self.claims_after)

    @property
    def checkpoint(self) -> Checkpoint:
        """A copy of the state, with only `remaining_claims`, and without the tables' replies."""
        return read_checkpoint(self._closing.text)

    @property
    def closing_digest(self) -> str:
        """The digest of `checkpoint`, as the entry of the archived gaming day records it."""
        return self._closing.digest

    @property
    def _closing(self) -> Checkpoint:
        kept = self.remaining_claims.__contains__
        claims = {claim: fields for claim, fields in self.evidence.claims.items() if kept(claim)}
        return self._state(claims, replace(self.tables, replies={}))

    @property
    def remaining_claims(self) -> set[str]:
        """The claims that remain in Redis when Redis no longer has the entries so far."""
        repeated = self.tables.repeated_claims.values()
        return self.evidence.remaining(self.books.waiting.union(*repeated))

    def _state(self, claims: dict[str, dict[str, str]], tables: TableEvidence) -> Checkpoint:
        evidence = self.evidence
        return Checkpoint(
            entries=self.entries,
            chain=self.chain,
            seal=self.seal,
            closed_day=self.closed_day,
            closed=self.closed,
            contributed_micros=self._contributed_micros,
            variances=tuple(self.variances),
            approval=self._approval,
            half=self._half,
            books=self.books,
            tables=tables,
            link=self.link,
            claims=claims,
            ended={claim: entry for claim, entry in evidence.ended.items() if claim in claims},
            assets=evidence.assets,
        )

    def apply_entry(
        self, number: int, fields: Mapping[str, bytes], seen: Mark | None = None
    ) -> None:
        """Replay a ledger entry, and check its digest, its transfers and the books after it."""
        if number != self.entries + 1:
            self._problem(f"entry {number} follows entry {self.entries}: some are missing")
        self.entries = number
        self._follow_chain(number, fields)
        if seen:
            self.hold_against(seen)
        if not fields.keys() >= _FIELD_NAMES:
            lacking = [name for name in _FIELDS if name not in fields]
            self._problem(f"entry {number} cannot be read: it has no {', '.join(lacking)}")
            return
        try:
            moved = moved_by(fields["transfers"])
        except UNREADABLE as error:
            self._problem(f"entry {number} cannot be read: {error}")
            return
        try:
            self._check(number, fields, moved.transfers)
            self._add_evidence(number, fields, moved)
        except KeyError as error:
            self._problem(f"entry {number} is about {error}, which the ledger does not have")
        except (*UNREADABLE, ValueError) as error:
            self._problem(f"entry {number} cannot be read: {error}")
        self._apply_changes(number, moved)
        if fields["kind"] == b"reading":
            self._closings[self.closed_day] = self.closing_digest

    def hold_against(self, seen: Mark) -> None:
        """Compare the last replayed entry with the ledger mark. Note a difference as a problem.

        The mark names the last ledger entry that was seen (duty D17).
        """
        for difference in seen.differences(self.entries, self.chain, self.seal):
            self._problem(difference)

    @property
    def totals(self) -> Totals:
        return Totals.of(self.books.tallies, self._contributed_micros)

    def other_tallies(self, tallies: Mapping[str, int]) -> list[str]:
        """Return the accounting meters in Redis that differ from the ledger, as texts.

        Accounting meters are counts and sums that only rise (duties D2, D19).
        """
        own = self.books.tallies
        return [
            f"{name} is at {tallies.get(name, 0)}, the ledger says {own[name]}"
            for name in sorted(tallies.keys() | own.keys())
            if tallies.get(name, 0) != own[name]
        ]

    def differences(self, accounts: Mapping[str, int]) -> list[str]:
        """Return the differences between the balances in Redis and in the ledger, as texts."""
        own = self.books.balances
        found = [
            f"{account} holds {accounts.get(account, 0)} micros, the ledger says"
            f" {own.get(account, 0)}: {accounts.get(account, 0) - own.get(account, 0):+d}"
            for account in sorted(accounts.keys() | own.keys())
            if accounts.get(account, 0) != own.get(account, 0)
        ]
        if sum(accounts.values()) != 0:
            found.append(f"all accounts sum to {sum(accounts.values())} micros, not to zero")
        return found

    def _add_evidence(self, number: int, fields: Mapping[str, bytes], moved: Moved) -> None:
        self.evidence.add_entry(number, fields, self.tables, self.books)
        self.link.add_entry(number, fields, moved)
        for fault in self.tables.add_entry(number, fields, self.books):
            self._problem(f"entry {number}: {fault}")

    def _problem(self, what: str) -> None:
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(what)

    def _follow_chain(self, number: int, fields: Mapping[str, bytes]) -> None:
        """Check the digest of a ledger entry, which covers the digest of the entry before.

        The next entry is checked with the digest that this entry has, even if it is wrong, so that
        one wrong digest is reported only once.
        """
        due, self.seal = link_and_seal(self.chain, self.seal, number, fields)
        self.chain = fields.get(CHAIN, b"").decode("utf-8", "replace")
        if not self.chain:
            self._problem(f"entry {number} has no digest")
        elif self.chain != due:
            self._problem(
                f"entry {number} is not as it was written, or replaces another entry: its digest"
                f" must be {due} and is {self.chain}"
            )

    def _check(
        self, number: int, fields: Mapping[str, bytes], transfers: Sequence[Transfer]
    ) -> None:
        """Compare the transfers of an entry with the calculated transfers (duties D6, D15, D19)."""
        due = self._due(fields, transfers)
        if self.books.openings and fields["kind"] != b"hidden_value":
            due.faults += unmet_openings(self.books)
        for fault in due.faults:
            self._problem(f"entry {number}: {fault}")
        had, must = list(transfers), due.transfers
        if had == must:
            return
        in_order = fields["kind"] not in {b"wagers", b"void", b"correct_wager"}
        if in_order or sorted(had) != sorted(must):
            wrong, right = Counter(had) - Counter(must), Counter(must) - Counter(had)
            self._problem(
                f"entry {number} moves {_text_of(wrong)}, and must move {_text_of(right)}"
                if wrong or right
                else f"entry {number} moves the right amounts in another order"
            )

    def _due(self, fields: Mapping[str, bytes], transfers: Sequence[Transfer]) -> Draft:
        books, table, event = self.books, fields["table"].decode(), fields["event"]
        match fields["kind"]:
            case b"wagers":
                text, placed = fields["transfers"], placed_in(event)
                return self._wagers.moved(
                    books, table, placed, text, transfers, reply=fields["reply"]
                )
            case b"result":
                return result_moved(books, table, settled_in(fields["reply"]), transfers)
            case b"void":
                return void_moved(books, table)
            case b"hidden_value" | b"promotion":
                return self._due_by_service(fields)
            case b"correct_wager":
                corrected = correction_of_wager(event)
                return correction_moved(books, table, corrected, transfers, fields["reply"])
            case kind:
                by = fields["by"].decode()
                if kind == b"restore" and not RESTORING.decode(event).confirmed:
                    self.notes.append(_UNCONFIRMED.format(entry=self.entries, by=by))
                return self._act_due(kind, by, event, transfers)

    def _due_by_service(self, fields: Mapping[str, bytes]) -> Draft:
        if fields["kind"] == b"hidden_value":
            return value_drawn(self.books, HIDDEN_VALUE_DRAWN.decode(fields["event"]))
        added = PROMOTION_ADDED.decode(fields["event"])
        state = self.link.promotion_state(added.promotion)
        approval = self.link.approved.get("entry", "")
        due = promotion_moved(self.books, fields, added, state, approval)
        if self.closed:
            due.faults.append(f"promotion {added.promotion} was added while the link was closed")
        return due

    def _act_due(self, kind: bytes, by: str, event: bytes, transfers: Sequence[Transfer]) -> Draft:
        books = self.books
        match kind:
            case b"seed":
                return seed_moved(books, _seeded(transfers), read_terms(event))
            case _ if kind in CLAIM_ACTS:
                return claim_moved(books, kind.decode(), by, DECIDED.decode(event), self.entries)
            case b"adjust" | b"parameter":
                return self._change_due(kind, by, CHANGED.decode(event))
            case b"close" | b"open":
                self.closed = kind == b"close"
            case b"approve" | b"approve_first":
                return self._approval_due(kind, by, event)
            case b"reading":
                self._hold_reading(READING.decode(event))
            case b"archive":
                self._hold_archived(ARCHIVED.decode(event))
            case b"expire":
                self.expired_to = max(self.expired_to, EXPIRED.decode(event).last)
            case _ if kind not in _MOVES_NOTHING:
                raise ValueError(f"its kind {kind!r} is unknown")
        return Draft(books)

    def _approval_due(self, kind: bytes, by: str, event: bytes) -> Draft:
        """Check that enough people approved the floor file (duty D4)."""
        books, due = self.books, Draft(self.books)
        if kind == b"approve_first":
            self._half = HALF.decode(event)
            return due
        noted = NotedApproval(self.entries, books.tallies["approvals"] + 1, by, event.decode())
        if fault := approval_fault(noted, self._approval, self._half, books.terms):
            due.faults.append(fault)
        self._approval, self._half = noted, None
        books.tallies["approvals"] += 1
        books.approved = approved_floor(event)
        return due

    def _hold_reading(self, reading: CloseReading) -> None:
        """Compare the reading at the close of a gaming day with the replayed balances.

        Each difference is a variance, which nobody can remove later (duty D19).
        """
        found = (*self.differences(reading.accounts), *self.other_tallies(reading.tallies))
        problems = (f"at the close of {reading.day}: {one}" for one in found)
        self.variances += [*problems][: PROBLEMS_MAX - len(self.variances)]
        self.closed_day = reading.day.isoformat()
        self.books.requests.clear()
        self.books.rejected.clear()

    def _hold_archived(self, archived: Archived) -> None:
        self.archived.append(archived)
        day = archived.day.isoformat()
        if self._closings.get(day, archived.books) != archived.books:
            self._problem(f"{day} was archived with a state that does not follow from the ledger")

    def _change_due(self, kind: bytes, by: str, changed: Change) -> Draft:
        """Check a change of a meter, and return its transfers (duties D4, D12)."""
        books = self.books
        if kind == b"adjust":
            if books.terms[changed.meter].must_hit_by and changed.amount > 0:
                self._problem(f"entry {self.entries} adds to {changed.meter}, a must-hit-by meter")
            due = adjustment_moved(books, changed.meter, changed.amount)
        else:
            due = Draft(books)
            books.terms[changed.meter] = read_terms(changed.terms)
            due.refill(changed.meter, books.cycles[changed.meter])
            if not self.closed:
                due.faults.append(f"a parameter of {changed.meter} changed while the link was open")
            if books.rounds:
                due.faults.append(f"a parameter of {changed.meter} changed with open rounds")
        if changed.by == by:
            due.faults.append(f"{by} alone proposed and confirmed a change of {changed.meter}")
        return due

    def _apply_changes(self, number: int, moved: Moved) -> None:
        balances = self.books.balances
        for account, micros, never_negative, gone_when_empty in moved.changes:
            after = balances.get(account, 0) + micros
            if after < 0 and never_negative:
                self._problem(f"entry {number} leaves {account} at {after} micros")
            if after == 0 and gone_when_empty:
                balances.pop(account, None)
            else:
                balances[account] = after
        for micros in moved.wrong_micros:
            self._problem(f"entry {number} moves {micros} micros")
        self._contributed_micros += moved.contributed_micros


def _text_of(transfers: Counter[Transfer]) -> str:
    parts = [f"{one.micros} from {one.source} to {one.target}" for one in transfers.elements()]
    return ", ".join(parts) or "nothing"


def _seeded(transfers: Sequence[Transfer]) -> str:
    (target,) = (one.target for one in transfers)
    meter = target.removeprefix(meter_account(""))
    if meter == target:
        raise ValueError(f"a seed went to {target}")
    return meter
