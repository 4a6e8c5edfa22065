"""Rebuild of a link's Redis data in memory from the link's ledger, entry by entry (duty D11).

The ledger entries determine everything that the Lua scripts store, with a few exceptions, for which
the rebuild uses safe values:

- In the rebuild, each entry raises the version number of a meter and the count of changes for the
  floor page. In Redis, each script call raises them, and one call can write several entries. So the
  rebuilt numbers are equal or higher.
- A refused event has a sequence number, but no ledger entry. So the rebuild has the sequence number
  of the table's last accepted event. The table's outbox can have a later event.
- A correction request has no ledger entry, so the rebuild does not have it, nor the change that it
  counted for the floor page. After the restore, the table sends its request once more. The cards in
  a request on which somebody decided are in the entry of the decision, so the round still needs a
  confirmation after the restore.
- A field that is zero in Redis can be missing in the rebuild.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from meters.books.chain import CHAIN
from meters.books.checkpoint import EMPTY, Checkpoint
from meters.books.claim_evidence import CLAIM_ACTS, DECIDED, Evidence, win_members
from meters.books.correction_requests import ASK_DECISION
from meters.books.dealt_cards import dealt_digest
from meters.books.entry_messages import settled_in
from meters.books.expected_transfers import ExpectedBooks, HeldWin, envy_of_result
from meters.books.ledger_replay import BalanceReplay
from meters.books.money_terms import terms_digest
from meters.books.schema import FIELD, SCHEMA
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Link
from meters.redis_client.link_keys import LinkKeys
from meters.restore.restored_link import LinkSnapshot, NotedDay
from meters.restore.restored_tables import TableSnapshot
from meters.restore.store_snapshot import Row, StoreSnapshot
from meters.wire.messages import UNREADABLE, ClaimOpened, Result

_RESULT: Final = msgspec.json.Decoder(Result)
_DECISIONS: Final = frozenset({b"validate", b"reject", b"pay", b"reopen"})


@dataclass(frozen=True, slots=True)
class _Before:
    """The state before a ledger entry is applied.

    `fed` are the meters to which the open round at the entry's table contributed. `claims` are the
    wins that are not finally decided. `opened` is the count of claims that were opened.
    """

    fed: Sequence[str]
    claims: Mapping[str, HeldWin]
    opened: int


class RebuildError(Exception):
    """A rebuild that failed. The text has the problems of the ledger."""


class Rebuild:
    """A link's Redis data that results from the ledger entries that were applied so far.

    For wins that are older than the first approval of a floor file, the asset numbers of the tables
    of `link`, from the floor file, are used. A rebuild that continues from an earlier entry gets
    the `checkpoint` after it, and the result of the method `rows`.
    """

    def __init__(
        self, link: Link, days: GamingDays, checkpoint: Checkpoint = EMPTY, rows: Iterable[Row] = ()
    ) -> None:
        self.keys: Final = LinkKeys(link.id)
        self._snapshot = StoreSnapshot(self.keys, rows)
        self._tables = TableSnapshot(self.keys, self._snapshot)
        self._link = LinkSnapshot(self.keys, self._snapshot, days)
        self._replay = BalanceReplay.after(checkpoint)
        self._evidence = Evidence(
            claims=self._snapshot.take_claims(),
            assets={table.id: [table.asset] for table in link.table},
            begun={
                table: (wagers, tuple(added.meter for added in checkpoint.rounds[table]))
                for table, wagers in self._snapshot.at(self.keys.rounds).items()
            },
        )
        if checkpoint.approval:
            self._evidence.add_approval(checkpoint.approval.event)

    @property
    def entries(self) -> int:
        return self._replay.entries

    @property
    def chain(self) -> str:
        return self._replay.chain

    @property
    def checkpoint(self) -> Checkpoint:
        return self._replay.checkpoint

    @property
    def open_day(self) -> str:
        return self._snapshot.text(self.keys.meters, "day")

    @property
    def noted(self) -> Mapping[int, NotedDay]:
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
            self._evidence.add_entry(number, fields, self._replay.books)
            self._apply(number, fields, before)
        except (*UNREADABLE, ValueError, KeyError) as error:
            raise RebuildError(f"entry {number} cannot be read: {error!r}") from None
        if fields["kind"] == b"reading" or not self._replay.closed_day:
            self._link.open_day(number, fields["at"], self._replay.closed_day)

    def rows(self) -> Iterator[Row]:
        """Yield the Redis rows that result from the applied entries, except balances and ledger."""
        return self._with_claims().rows()

    def _with_claims(self) -> StoreSnapshot:
        keys, books, evidence = self.keys, self._replay.books, self._evidence
        whole = StoreSnapshot(keys, self._snapshot.rows())
        for claim, fields in evidence.claims.items():
            whole.put(keys.claim(claim), fields)
            whole.put(keys.wins, dict.fromkeys(win_members(claim, fields), 0))
            if claim in books.claims or claim in books.envy:
                whole.put(keys.waiting, {claim: fields["entry"]})
        whole.put(keys.slips, evidence.slips)
        whole.put(keys.acts, {str(number): number for number in evidence.acts})
        whole.put(keys.meters, _pending_counts(books))
        return whole

    def snapshot(self) -> StoreSnapshot:
        """Return all rebuilt data (balances, claims, indexes) except the ledger entries.

        Raises:
            RebuildError: a claim is undecided, but no ledger entry contains it.
        """
        books, keys = self._replay.books, self.keys
        if unknown := sorted(books.waiting - self._evidence.claims.keys()):
            raise RebuildError(f"win {unknown[0]} waits, and its entry is not in the archive")
        whole = self._with_claims()
        whole.put(keys.accounts, books.balances)
        whole.put(keys.tallies, books.tallies)
        texts = {meter: _text(terms) for meter, terms in books.terms.items()}
        whole.put(keys.meters, {f"terms:{meter}": text for meter, text in texts.items()})
        whole.put(keys.meters, {f"cycle:{meter}": cycle for meter, cycle in books.cycles.items()})
        whole.put(keys.meters, {"entries": self.entries, "rounds": len(books.rounds)})
        whole.put(keys.meters, {CHAIN: self.chain, "terms": terms_digest(texts), FIELD: SCHEMA})
        return whole

    def _before(self, fields: Mapping[str, bytes]) -> _Before:
        table, books = fields.get("table", b"").decode(), self._replay.books
        fed = [added.meter for added in books.rounds.get(table, ())]
        decides = fields.get("kind") in _DECISIONS
        return _Before(fed, dict(books.claims) if decides else {}, len(self._evidence.in_order))

    def _apply(self, number: int, fields: Mapping[str, bytes], before: _Before) -> None:
        kind, table = fields["kind"], fields["table"].decode()
        match kind:
            case b"wagers" | b"correct_wager" | b"void":
                self._apply_round(table, fields, before)
            case b"result":
                self._apply_result(number, table, fields, before)
            case _ if kind in CLAIM_ACTS:
                self._apply_act_on_claim(table, fields, before)
            case b"confirm_correction" | b"refuse_correction":
                self._tables.know_entered(table, ASK_DECISION.decode(fields["event"]).entered)
                self._link.ring()
            case _:
                touched = self._link.apply_act(kind, number, fields, self._replay.books.terms)
                self._touch(*touched)

    def _apply_round(self, table: str, fields: Mapping[str, bytes], before: _Before) -> None:
        added = self._replay.books.rounds.get(table)
        if added is None:
            self._tables.end_round(table, fields, ())
        else:
            self._tables.open_round(table, fields, added)
        fed = before.fed if fields["kind"] != b"wagers" else ()
        self._touch(*{*fed, *(one.meter for one in added or ())})

    def _apply_result(
        self, number: int, table: str, fields: Mapping[str, bytes], before: _Before
    ) -> None:
        reply, books = settled_in(fields["reply"]).reply, self._replay.books
        self._link.note_dealt(dealt_digest(_RESULT.decode(fields["event"])), table, number)
        owed = envy_of_result(books, table, reply.seq or 0)
        alone = (claim for claim, envy in owed.items() if envy.state == "validated")
        claims = {one.claim: one for one in reply.claims or ()}
        self._tables.end_round(table, fields, [*claims, *alone])
        meters = books.meters_by_item(before.fed)
        self._touch(*{meters[line.item] for line in reply.lines or () if line.percent})
        for _, claim in self._evidence.in_order[before.opened :]:
            if claim in books.claims and books.claims[claim].hand_pay:
                self._tables.hold(table, claims[claim])
            self._link.ring()

    def _apply_act_on_claim(self, table: str, fields: Mapping[str, bytes], before: _Before) -> None:
        self._link.ring()
        kind, claim = fields["kind"], DECIDED.decode(fields["event"]).claim
        if kind not in _DECISIONS:
            return
        self._tables.repeat_claims(table, [claim])
        reopens = kind == b"reopen"
        held = self._replay.books.claims[claim] if reopens else before.claims[claim]
        if held.percent and kind != b"pay":
            self._touch(held.meter)
        if reopens and held.hand_pay and (won := self._evidence.position_of(claim)):
            position, item = won
            opened = ClaimOpened(claim=claim, position=position, item=item, amount=held.cents)
            self._tables.hold(table, opened)
        elif not reopens and (kind != b"validate" or not held.hand_pay):
            self._tables.release(table, claim)

    def _touch(self, *meters: str) -> None:
        for meter in meters:
            self._snapshot.add(self.keys.meters, f"version:{meter}", 1)


def _text(terms: object) -> str:
    return msgspec.json.encode(terms).decode()


def _pending_counts(books: ExpectedBooks) -> Mapping[str, int]:
    """Return for each meter the field with the count of its undecided percentage wins."""
    counts = Counter(
        held.meter for held in books.claims.values() if held.percent and held.state == "pending"
    )
    return {f"pending:{meter}": counts[meter] for meter in books.terms}
