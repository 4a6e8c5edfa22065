"""Rebuild of a link's Redis data in memory from the link's ledger, entry by entry (duty D11).

The ledger entries determine everything that the Lua scripts store, with a few exceptions. For the
exceptions, the rebuild uses safe values:

- In the rebuild, each entry raises the version number of a meter and the count of changes for the
  floor page. In Redis, each script call raises them, and one call can write several entries. So the
  rebuilt numbers are equal or higher.
- A refused event has a sequence number, but no ledger entry. So the rebuild has the sequence number
  of the table's last accepted event. The table's outbox can have a later event.
- A correction request has no ledger entry, so the rebuild does not have it. After the restore, the
  table sends its request once more. In Redis, the request raised the count of changes
  for the floor page; in the rebuild, it does not.
- A field that is zero in Redis can be missing in the rebuild.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

import msgspec

from bonus.settling.settlement_lines import Line
from meters.books.accounts import meter_account
from meters.books.approvals import Approval
from meters.books.approved_configuration import approved_tables, approved_terms
from meters.books.chain import CHAIN
from meters.books.checkpoint import ARCHIVED, EMPTY, Checkpoint
from meters.books.claim_records import Records
from meters.books.dealt_cards import dealt_digest, dealt_field, ring_field
from meters.books.entered_cards import is_act
from meters.books.expected_transfers import HeldEnvy, HeldWin, Transfer, envy_of_result
from meters.books.ledger_replay import Replay
from meters.books.money_terms import terms_digest
from meters.books.outage_entries import OUTAGE
from meters.books.restore_entries import RESTORING
from meters.books.schema import FIELD, SCHEMA
from meters.books.slip_numbers import kept_for
from meters.claims.claim_rows import DecisionRecord
from meters.floor.floor_file import Link
from meters.floor.gaming_day import GamingDays
from meters.links.act_rows import SwitchRecord
from meters.redis_client.link_keys import LinkKeys
from meters.restore.restored_claims import ClaimSnapshot
from meters.restore.restored_tables import TableSnapshot
from meters.restore.store_snapshot import Row, StoreSnapshot
from meters.wire.holds import holds_table
from meters.wire.messages import UNREADABLE, Reply, Result, Wagers

_TRANSFERS: Final = msgspec.json.Decoder(tuple[Transfer, ...])
_REPLY: Final = msgspec.json.Decoder(Reply)
_RESULT: Final = msgspec.json.Decoder(Result)
_DECISION: Final = msgspec.json.Decoder(DecisionRecord)
_SWITCHED: Final = msgspec.json.Decoder(SwitchRecord)
_APPROVAL: Final = msgspec.json.Decoder(Approval)


class _Proposed(msgspec.Struct, frozen=True):
    """The id and the kind of the proposal that a ledger entry is about."""

    proposal: str
    kind: str = ""


_PROPOSED: Final = msgspec.json.Decoder(_Proposed)


@dataclass(frozen=True, slots=True)
class _Before:
    """The state before a ledger entry is applied.

    Attributes:
        wagers: the wagers of the open round at the entry's table, or None.
        fed: the meters to which this round contributed.
        claims: the wins that are not finally decided, by claim.
        envy: the Envy Bonuses that are owed, by claim.
    """

    wagers: Wagers | None
    fed: Sequence[str]
    claims: Mapping[str, HeldWin]
    envy: Mapping[str, HeldEnvy]


class RebuildError(Exception):
    """A rebuild that failed. The text has the problems of the ledger."""


class Rebuild:
    """A link's Redis data that results from the ledger entries that were applied so far.

    Args:
        link: the link in the floor file. The asset numbers of its tables are used for wins that are
            older than the first approval of a floor file.
        days: the gaming days of the facility.
        checkpoint: the balances and claims after an earlier entry, if the rebuild continues from
            this entry.
        rows: the result of the method `rows` after that earlier entry.
    """

    def __init__(
        self, link: Link, days: GamingDays, checkpoint: Checkpoint = EMPTY, rows: Iterable[Row] = ()
    ) -> None:
        self._days = days
        self.keys: Final = LinkKeys(link.id)
        self._assets = {table.id: table.asset for table in link.table}
        self._snapshot = StoreSnapshot(self.keys, rows)
        self._tables = TableSnapshot(self.keys, self._snapshot)
        self._claims = ClaimSnapshot(self.keys, self._snapshot)
        self._filed: Mapping[str, str] = {}
        if approved := self._snapshot.at(self.keys.approved):
            self._apply_floor_file(approved["text"].decode())
        self._replay = Replay.after(checkpoint)
        self._noted: dict[int, int] = {}

    @property
    def entries(self) -> int:
        """The number of the last entry that was applied."""
        return self._replay.entries

    @property
    def chain(self) -> str:
        """The chain digest of the last entry that was applied."""
        return self._replay.chain

    @property
    def checkpoint(self) -> Checkpoint:
        """The balances and claims after the last entry that was applied."""
        return self._replay.checkpoint

    @property
    def open_day(self) -> str:
        """The gaming day that is open after the last entry that was applied."""
        return self._snapshot.text(self.keys.meters, "day")

    def noted_by(self, last: int) -> int | None:
        """Return the number of the entry that records the archiving of a gaming day.

        `last` is the last entry of the gaming day. Return None if the day was not archived.
        """
        return self._noted.get(last)

    def apply_entry(self, number: int, fields: Mapping[str, bytes]) -> None:
        """Apply the next ledger entry.

        Raises:
            RebuildError: the entry is wrong, or cannot be read.
        """
        before = self._before(fields)
        self._replay.apply_entry(number, fields)
        if problems := self._replay.problems:
            raise RebuildError("; ".join(problems[:3]))
        try:
            self._apply(number, fields, before)
        except (*UNREADABLE, ValueError, KeyError) as error:
            raise RebuildError(f"entry {number} cannot be read: {error!r}") from None
        self._open_day(number, fields["at"], closes=fields["kind"] == b"reading")
        if is_act(fields["kind"], fields["event"]):
            self._snapshot.put(self.keys.acts, {str(number): number})

    def rows(self) -> Iterator[Row]:
        """Yield the Redis rows that result from the applied entries, except balances and ledger."""
        return self._snapshot.rows()

    def snapshot(self) -> StoreSnapshot:
        """Return all rebuilt data (balances, claims, indexes) except the ledger entries.

        Raises:
            RebuildError: a claim is undecided, but no ledger entry contains it.
        """
        books, keys = self._replay.books, self.keys
        if unknown := sorted(books.waiting - self._snapshot.at(keys.waiting).keys()):
            raise RebuildError(f"win {unknown[0]} waits, and its entry is not in the archive")
        whole = StoreSnapshot(keys, self._snapshot.rows())
        whole.put(keys.accounts, books.balances)
        whole.put(keys.tallies, books.tallies)
        texts = {meter: _text(terms) for meter, terms in books.terms.items()}
        whole.put(keys.meters, {f"terms:{meter}": text for meter, text in texts.items()})
        whole.put(keys.meters, {f"cycle:{meter}": cycle for meter, cycle in books.cycles.items()})
        whole.put(keys.meters, {"entries": self.entries, "rounds": len(books.rounds)})
        whole.put(keys.meters, {CHAIN: self.chain, "terms": terms_digest(texts), FIELD: SCHEMA})
        return whole

    def _before(self, fields: Mapping[str, bytes]) -> "_Before":
        """Return the part of the state that is needed to apply the next entry."""
        table, books = fields.get("table", b"").decode(), self._replay.books
        fed = [added.meter for added in books.rounds.get(table, ())]
        return _Before(self._tables.opened(table), fed, dict(books.claims), dict(books.envy))

    def _apply(self, number: int, fields: Mapping[str, bytes], before: "_Before") -> None:
        kind, table = fields["kind"], fields["table"].decode()
        match kind:
            case b"wagers":
                added = self._replay.books.rounds[table]
                self._tables.open_round(table, fields, added)
                self._touch(*(one.meter for one in added))
            case b"void":
                self._tables.end_round(table, fields, ())
                self._touch(*before.fed)
            case b"result":
                self._apply_result(number, table, fields, before)
            case b"validate" | b"reject" | b"pay":
                self._apply_decision(number, table, fields, before)
            case b"pay_envy" | b"reject_envy":
                decision = _DECISION.decode(fields["event"])
                waits = decision.claim in self._replay.books.claims
                self._claims.settle_envy(decision, waits=waits, entry=fields)
                self._ring()
            case b"request_reject" | b"request_reopen":
                self._claims.request(number, _DECISION.decode(fields["event"]), fields)
                self._ring()
            case b"reopen":
                self._apply_reopening(table, fields)
            case b"correct_slip":
                self._claims.correct_slip(_DECISION.decode(fields["event"]), fields)
                self._ring()
            case _:
                self._apply_act(kind, number, fields)

    def _note_dealt(self, digest: str, table: str, number: int) -> None:
        """Store the digest of the dealt cards of a round, as the Lua script `apply_events` does."""
        key = self.keys.dealt
        if not digest or dealt_field(digest) in self._snapshot.at(key):
            return
        if before := self._snapshot.text(key, ring_field(number)):
            self._snapshot.drop(key, dealt_field(before))
        self._snapshot.put(
            key, {dealt_field(digest): f"{table} {number}", ring_field(number): digest}
        )

    def _apply_result(
        self, number: int, table: str, fields: Mapping[str, bytes], before: "_Before"
    ) -> None:
        reply, result = _REPLY.decode(fields["reply"]), _RESULT.decode(fields["event"])
        lines, claims = reply.lines or (), reply.claims or ()
        self._note_dealt(dealt_digest(result), table, number)
        owed = envy_of_result(self._replay.books, table, reply.seq or 0)
        alone = (claim for claim, envy in owed.items() if envy.state == "validated")
        self._tables.end_round(table, fields, [*(one.claim for one in claims), *alone])
        meters = self._replay.books.meters_by_item(before.fed)
        self._touch(*{meters[line.item] for line in lines if line.percent})
        if not (claims or owed) or before.wagers is None:
            return
        opened = {one.claim: one for one in claims}
        claimed = {(one.position, one.item) for one in claims}
        waiting = [
            line for line in lines if (line.position, line.item) in claimed and line.paid_from
        ]
        records = Records(
            result,
            before.wagers.positions,
            lines,
            waiting,
            link=self.keys.link,
            table=table,
            asset=self._assets.get(table, ""),
            meter_of=meters.__getitem__,
            owes=bool(owed),
        )
        for line in waiting:
            record = records.record(line)
            held = self._replay.books.claims[record.claim]
            self._claims.open(number, record, held, fields["at"])
            if holds_table(line.paid_from):
                self._tables.hold(table, opened[record.claim])
            self._ring()
        for claim, envy in owed.items():
            if envy.state == "pending":
                self._claims.owe(claim)
            else:
                self._open_envy(number, records, envy, lines, fields["at"])

    def _open_envy(
        self, number: int, records: Records, envy: HeldEnvy, lines: Sequence[Line], at: bytes
    ) -> None:
        record = records.envy_record(envy.holder, envy.lines_of(lines))
        self._claims.open_envy(number, record, envy.after_cents, at)
        self._ring()

    def _apply_reopening(self, table: str, fields: Mapping[str, bytes]) -> None:
        decision = _DECISION.decode(fields["event"])
        held = self._replay.books.claims[decision.claim]
        envy = self._replay.books.envy.get(decision.claim)
        opened = self._claims.reopen(decision, held, envy, fields)
        if opened is not None and held.hand_pay:
            self._tables.hold(table, opened)
        self._tables.repeat_claims(table, [decision.claim])
        if held.percent:
            self._touch(held.meter)
        self._ring()

    def _apply_decision(
        self, number: int, table: str, fields: Mapping[str, bytes], before: _Before
    ) -> None:
        decision = _DECISION.decode(fields["event"])
        held = before.claims[decision.claim]
        envy = before.envy.get(decision.claim), self._replay.books.envy.get(decision.claim)
        self._claims.decide(number, decision, held, envy, fields)
        if decision.act != "validate" or not held.hand_pay:
            self._tables.release(table, decision.claim)
        self._tables.repeat_claims(table, (decision.claim,))
        if held.percent and decision.act != "pay":
            self._touch(held.meter)
        self._ring()

    def _apply_act(self, kind: bytes, number: int, fields: Mapping[str, bytes]) -> None:
        """Apply the entry of an act on the link: an act of a person or of the service itself."""
        image, keys, event = self._snapshot, self.keys, fields["event"]
        match kind:
            case b"seed":
                meter = _seeded(fields)
                filed = self._filed.get(meter, event.decode())
                image.put(keys.meters, {f"file:{meter}": filed})
                self._touch(meter)
                return
            case b"close" | b"open":
                self._switch(fields)
            case b"propose" | b"withdraw" | b"adjust" | b"parameter":
                self._apply_proposal(kind, number, fields)
            case b"approve":
                self._approve(number, fields)
            case b"inoperable":
                image.put(keys.meters, {"outage": OUTAGE.decode(event).id})
            case b"restore":
                restored = RESTORING.decode(event)
                for meter in self._replay.books.terms:
                    image.add(keys.meters, f"version:{meter}", restored.versions_raised)
                kept = {slip: kept_for(claim, number) for slip, claim in restored.kept.items()}
                image.put(keys.slips, kept)
                self._touch(*self._replay.books.terms)
            case b"archive":
                last = ARCHIVED.decode(event).last
                self._noted[last] = number
                image.put(keys.meters, {"archived": last, "archived_at": fields["at"]})
                return
            case b"reading" | b"expire":
                return
        self._ring()

    def _switch(self, fields: Mapping[str, bytes]) -> None:
        image, meters = self._snapshot, self.keys.meters
        if fields["kind"] == b"close":
            image.put(meters, {"closed": _SWITCHED.decode(fields["event"]).reason})
            image.put(meters, {"closed_by": fields["by"], "closed_at": fields["at"]})
        else:
            image.drop(meters, "closed", "closed_by", "closed_at")
        self._touch(*self._replay.books.terms)

    def _open_day(self, number: int, at: bytes, *, closes: bool) -> None:
        """Open the gaming day that the service would open after a ledger entry.

        `closes` is true if the entry is the reading of the meters that closes a gaming day. After
        such an entry, the next gaming day is opened.
        """
        image, meters, closed = self._snapshot, self.keys.meters, self._replay.closed_day
        day = self._days.of(datetime.fromisoformat(at.decode()))
        if closes:
            image.put(meters, {"day_closed": closed, "reading": number, "reading_at": at})
            day = max(day, date.fromisoformat(closed) + timedelta(days=1))
        if closes or not closed:
            image.put(meters, {"day": day.isoformat()})

    def _apply_proposal(self, kind: bytes, number: int, fields: Mapping[str, bytes]) -> None:
        event = fields["event"]
        proposed = _PROPOSED.decode(event)
        if kind != b"propose":
            self._decide_proposal(proposed.proposal, fields)
            return
        key = self.keys.proposal(proposed.proposal)
        self._snapshot.put(key, {"record": event, "kind": proposed.kind, "state": "open"})
        self._snapshot.put(key, {"by": fields["by"], "at": fields["at"]})
        self._snapshot.put(self.keys.proposals, {proposed.proposal: number})

    def _decide_proposal(self, proposal: str, fields: Mapping[str, bytes]) -> None:
        kind = fields["kind"]
        key = self.keys.proposal(proposal)
        self._snapshot.put(key, {"state": "withdrawn" if kind == b"withdraw" else "confirmed"})
        self._snapshot.put(key, {"decided_by": fields["by"], "decided_at": fields["at"]})
        self._snapshot.drop(self.keys.proposals, proposal)
        if kind != b"withdraw":
            self._touch(_CHANGED.decode(fields["event"]).meter)

    def _approve(self, number: int, fields: Mapping[str, bytes]) -> None:
        approval, image, keys = _APPROVAL.decode(fields["event"]), self._snapshot, self.keys
        image.put(keys.approved, {"digest": approval.digest, "text": approval.text})
        image.put(keys.approved, {"by": fields["by"], "at": fields["at"], "entry": number})
        self._apply_floor_file(approval.text)
        image.put(
            keys.meters,
            {
                f"file:{meter}": text
                for meter, text in self._filed.items()
                if meter in self._replay.books.terms
            },
        )

    def _apply_floor_file(self, text: str) -> None:
        """Use the meters and the tables' asset numbers of an approved floor file."""
        self._filed = approved_terms(text)
        self._assets |= {table: one.asset for table, one in approved_tables(text).items()}

    def _touch(self, *meters: str) -> None:
        for meter in meters:
            self._snapshot.add(self.keys.meters, f"version:{meter}", 1)
            self._snapshot.add(self.keys.meters, f"pending:{meter}", 0)

    def _ring(self) -> None:
        self._snapshot.add(self.keys.meters, "desk", 1)


class _Changed(msgspec.Struct, frozen=True):
    """The meter that a ledger entry is about."""

    meter: str


_CHANGED: Final = msgspec.json.Decoder(_Changed)


def _text(terms: object) -> str:
    return msgspec.json.encode(terms).decode()


def _seeded(fields: Mapping[str, bytes]) -> str:
    """Return the meter that got its first seed in a ledger entry."""
    (moved,) = _TRANSFERS.decode(fields["transfers"])
    return moved.target.removeprefix(meter_account(""))
