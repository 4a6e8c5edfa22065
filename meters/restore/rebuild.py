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
  for the floor page; in the rebuild, it does not. The cards in a request on which somebody decided
  are in the entry of the decision, so the round still needs a confirmation after the restore.
- A field that is zero in Redis can be missing in the rebuild.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from bonus.settling.settlement_lines import Line
from meters.books.chain import CHAIN
from meters.books.checkpoint import EMPTY, Checkpoint
from meters.books.claim_records import Records
from meters.books.correction_requests import ASK_DECISION
from meters.books.dealt_cards import dealt_digest
from meters.books.entered_cards import is_act
from meters.books.entry_messages import settled_in, wagers_in
from meters.books.expected_transfers import HeldEnvy, HeldWin, envy_of_result
from meters.books.ledger_replay import BalanceReplay
from meters.books.money_terms import terms_digest
from meters.books.schema import FIELD, SCHEMA
from meters.claims.claim_rows import DecisionRecord
from meters.floor.floor_file import Link
from meters.floor.gaming_day import GamingDays
from meters.redis_client.link_keys import LinkKeys
from meters.restore.restored_claims import ClaimSnapshot
from meters.restore.restored_link import LinkSnapshot, NotedDay
from meters.restore.restored_tables import TableSnapshot
from meters.restore.store_snapshot import Row, StoreSnapshot
from meters.wire.holds import holds_table
from meters.wire.messages import UNREADABLE, Result

_RESULT: Final = msgspec.json.Decoder(Result)
_DECISION: Final = msgspec.json.Decoder(DecisionRecord)


@dataclass(frozen=True, slots=True)
class _Before:
    """The state before a ledger entry is applied.

    Attributes:
        wagers: the text of the wagers of the open round at the entry's table, or None.
        fed: the meters to which this round contributed.
        claims: the wins that are not finally decided, by claim.
        envy: the Envy Bonuses that are owed, by claim.
    """

    wagers: bytes | None
    fed: Sequence[str]
    claims: Mapping[str, HeldWin]
    envy: Mapping[str, HeldEnvy]


_NOTHING_BEFORE: Final = _Before(None, (), {}, {})


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
        self.keys: Final = LinkKeys(link.id)
        self._snapshot = StoreSnapshot(self.keys, rows)
        self._tables = TableSnapshot(self.keys, self._snapshot)
        self._claims = ClaimSnapshot(self.keys, self._snapshot)
        assets = {table.id: table.asset for table in link.table}
        self._link = LinkSnapshot(self.keys, self._snapshot, days, assets)
        self._replay = BalanceReplay.after(checkpoint)

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

    @property
    def noted(self) -> Mapping[int, NotedDay]:
        """The ledger entries that record archived gaming days, by the last entry of the day."""
        return self._link.noted

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
        if fields["kind"] == b"reading" or not self._replay.closed_day:
            self._link.open_day(number, fields["at"], self._replay.closed_day)
        if is_act(fields["kind"], fields["event"], fields["by"]):
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
        match fields.get("kind"):
            case b"wagers":
                return _NOTHING_BEFORE
            case b"result" | b"void" | b"correct_wager":
                fed = [added.meter for added in books.rounds.get(table, ())]
                return _Before(self._tables.opened(table), fed, {}, {})
            case _:
                return _Before(None, (), dict(books.claims), dict(books.envy))

    def _apply(self, number: int, fields: Mapping[str, bytes], before: "_Before") -> None:
        kind, table = fields["kind"], fields["table"].decode()
        match kind:
            case b"wagers" | b"correct_wager" | b"void":
                self._apply_round(table, fields, before)
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
            case b"confirm_correction" | b"refuse_correction":
                self._tables.know_entered(table, ASK_DECISION.decode(fields["event"]).entered)
                self._ring()
            case _:
                touched = self._link.apply_act(kind, number, fields, self._replay.books.terms)
                self._touch(*touched)

    def _apply_round(self, table: str, fields: Mapping[str, bytes], before: "_Before") -> None:
        """Apply wagers, the correction of a wager, or a void."""
        added = self._replay.books.rounds.get(table)
        if added is None:
            self._tables.end_round(table, fields, ())
        else:
            self._tables.open_round(table, fields, added)
        self._touch(*{*before.fed, *(one.meter for one in added or ())})

    def _apply_result(
        self, number: int, table: str, fields: Mapping[str, bytes], before: "_Before"
    ) -> None:
        reply, result = settled_in(fields["reply"]).reply, _RESULT.decode(fields["event"])
        lines, claims = reply.lines or (), reply.claims or ()
        self._link.note_dealt(dealt_digest(result), table, number)
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
            wagers_in(before.wagers).positions,
            lines,
            waiting,
            link=self.keys.link,
            table=table,
            asset=self._link.assets.get(table, ""),
            meter_of=meters.__getitem__,
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

    def _touch(self, *meters: str) -> None:
        for meter in meters:
            self._snapshot.add(self.keys.meters, f"version:{meter}", 1)
            self._snapshot.add(self.keys.meters, f"pending:{meter}", 0)

    def _ring(self) -> None:
        self._link.ring()


def _text(terms: object) -> str:
    return msgspec.json.encode(terms).decode()
