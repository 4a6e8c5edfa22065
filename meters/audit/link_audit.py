"""The audit of a link: it replays the ledger, and compares every balance in Redis (duty D19)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, Self

from meters.audit.claim_audit import ClaimAudit
from meters.audit.link_state_audit import balance_problems, link_state_problems
from meters.audit.table_audit import table_problems
from meters.ledger.accounts import Totals, meter_account, overflow_account, reserve_account
from meters.ledger.checkpoint import Mark
from meters.ledger.ledger_replay import AuditCheckpoint, Replay
from meters.ledger.link_state import MeterBalances, Snapshot
from meters.store.link_store import LinkStore

_PAGE: Final = 1_000
"""Count of ledger entries in one read, which occupies Redis for less than a millisecond."""
_CLAIMS_AGAIN: Final = 500
"""Greatest count of payout slips whose reservations an audit compares, if it continues an earlier
audit and compares all claims."""

RESTORING: Final = (
    "the data in Redis is being restored, or a restore was interrupted: run `pitlink restore` to"
    " its end"
)


class Onlooker(Protocol):
    """An observer of a replay. Its methods are called while the replay runs."""

    def began(self, replay: Replay) -> None:
        """Receive a replay that begins or restarts, before its first entry."""

    def took(self, number: int, fields: Mapping[str, bytes], replay: Replay) -> None: ...


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of the audit of one link.

    For each meter, `meters` has the balances of its accounts in micros. `first` and `entries` are
    the numbers of the first and the last ledger entry that were replayed. `stored` is the number of
    the last entry in Redis, which is lower than `entries` if Redis has lost replayed entries.
    `seal` is the digest over all entries up to `entries`. `variances` are two kinds of findings:
    differences between meter readings and the ledger, which stay in every later audit, and payout
    slips that paid two claims. `notes` are facts that are no fault, but that a reader of the ledger
    must know. `unreserved` has slip numbers that paid a claim and are not reserved, each with its
    claim. `replayed` has the meter balances at the entry that the caller named, if the replay
    reached this entry.
    """

    link: str
    entries: int
    seal: str
    meters: Mapping[str, Mapping[str, int]]
    problems: tuple[str, ...]
    totals: Totals
    variances: tuple[str, ...] = ()
    first: int = 1
    stored: int = 0
    notes: tuple[str, ...] = ()
    unreserved: Mapping[str, str] = field(default_factory=dict)
    replayed: MeterBalances | None = None

    def also(self, problem: str | None) -> Self:
        return replace(self, problems=(problem, *self.problems)) if problem else self

    @property
    def balanced(self) -> bool:
        return not self.problems


class LinkAudit:
    """The audit of a link. It can be repeated often while the link operates.

    Each audit continues the replay of the previous audit. Somebody can change an entry after its
    replay, so an audit can also read some old entries again. If an audit finds a problem in the
    ledger, the next audit reads all entries in Redis: somebody can have repaired the problem.

    `begun` is the replay that the first audit continues: a replay of the archive files, or of the
    entries up to an audit checkpoint. If `begun` is None, the first audit begins with the
    checkpoint in Redis. `onlooker` is called for each entry that is replayed for the first time.
    """

    def __init__(
        self, store: LinkStore, begun: Replay | None = None, onlooker: Onlooker | None = None
    ) -> None:
        self._store = store
        self._onlooker = onlooker
        self._replay = begun
        self._claims = ClaimAudit(store)
        self._again: Replay | None = None
        self._has_run = self._doubtful = self._knows_approval = False

    async def run(
        self,
        seen: Mark | None = None,
        advance: Callable[[int, int], None] | None = None,
        *,
        again: int = 0,
        at: int = 0,
        restoring: bool = False,
    ) -> Finding:
        """Replay the ledger up to its last entry, and compare the data in Redis with the result.

        `seen` is the ledger mark. `advance` receives the numbers of the last replayed entry and of
        the last entry in Redis. `again` is the count of replayed entries to read once more. If
        `again` is not 0, or during a restore, the caller reserves the `unreserved` slip numbers.
        `at` is the number of the entry for `Finding.replayed`.
        """
        replay, goes_on = await self._replay_to_continue()
        part = self._claims.part_of(replay) if goes_on and again else None
        snapshot = await self._store.snapshot(indexes=True, part=part)
        if seen and replay.entries:
            replay.hold_against(seen)
        replayed = None
        if replay.entries <= at <= snapshot.last_entry:
            replay = await self._read(replay, at, seen, advance, self._onlooker)
            if replay.entries == at:
                replayed = MeterBalances(at, replay.chain, self._meter_micros(replay))
        replay, problems = await self._replay_to(
            replay, snapshot.last_entry, seen, advance, again=again if goes_on else None
        )
        stored = replay.entries
        if replay.entries != snapshot.last_entry:
            # Redis can lose entries after they were replayed.
            stored = min(stored, await self._store.last_entry())
            problems.append(
                f"the ledger ends at entry {replay.entries},"
                f" the other data in Redis at entry {snapshot.last_entry}"
            )
        problems += await self._compare(
            replay,
            snapshot,
            _CLAIMS_AGAIN if goes_on and again else None,
            restoring=restoring,
            # Only a service or a restore repairs the data.
            reserves=restoring or again > 0,
        )
        self._has_run = not problems
        if self._replay is not replay:
            self._claims.begin_again()
        return Finding(
            self._store.link.id,
            replay.entries,
            replay.seal,
            self._balances(snapshot),
            tuple(problems),
            replay.totals,
            (*replay.variances, *self._claims.doubles),
            stored=stored,
            notes=tuple(replay.notes),
            unreserved=self._claims.unreserved,
            replayed=replayed,
        )

    async def _replay_to_continue(self) -> tuple[Replay, bool]:
        """Return the replay that an audit continues, and whether an earlier audit has used it."""
        if self._replay is not None and not self._doubtful:
            return self._replay, self._has_run and self._replay.entries > 0
        replay, self._again = await self._begun(), None
        if self._onlooker:
            self._onlooker.began(replay)
        return replay, False

    async def _replay_to(
        self,
        replay: Replay,
        last: int,
        seen: Mark | None,
        advance: Callable[[int, int], None] | None = None,
        *,
        again: int | None,
        begins: bool = True,
    ) -> tuple[Replay, list[str]]:
        """Continue a replay up to entry `last`. Return the replay and the problems that it found.

        `again` is the count of old entries to read once more.
        """
        self._replay = replay = await self._read(replay, last, seen, advance, self._onlooker)
        problems = [*replay.problems]
        if again is not None and replay.entries == last:
            problems += await self._read_again(replay, again, begins=begins)
        self._doubtful = bool(problems)
        return replay, problems

    async def _compare(
        self,
        replay: Replay,
        snapshot: Snapshot,
        at_most: int | None,
        *,
        restoring: bool,
        reserves: bool,
    ) -> list[str]:
        """Compare the data in Redis with a replay, and return the differences as texts.

        If the snapshot has no part, `at_most` is the greatest count of payout slips whose
        reservations are compared. If `at_most` is None, all are compared, and all fields of the
        tables and of the link. If `reserves` is true, a slip number without a reservation is no
        difference.
        """
        store, problems = self._store, list[str]()
        if problem := await store.continuity_problem():
            problems.append(problem)
        if not restoring and await store.redis.exists(store.keys.restoring):
            problems.append(RESTORING)
        problems += balance_problems(replay, snapshot)
        if replay.entries == snapshot.last_entry:
            whole = at_most is None
            problems += await self._claims.problems(replay, snapshot, at_most, reserves=reserves)
            problems += await table_problems(store, replay, whole=whole)
            # While a link operates, its self-check compares the approval with the ledger, and a new
            # approval repairs a difference. So only the first audit compares it.
            approved = whole and not self._knows_approval
            problems += await link_state_problems(
                store, replay, snapshot, whole=whole, approved=approved
            )
            self._knows_approval = True
        return problems

    def _balances(self, snapshot: Snapshot) -> dict[str, dict[str, int]]:
        return {
            meter.meter_id: {
                "amount_micros": snapshot.accounts.get(meter_account(meter.meter_id), 0),
                "reserve_micros": snapshot.accounts.get(reserve_account(meter.meter_id), 0),
                "overflow_micros": snapshot.accounts.get(overflow_account(meter.meter_id), 0),
            }
            for meter in self._store.link.meter
        }

    def _meter_micros(self, replay: Replay) -> dict[str, int]:
        ids, balances = (meter.meter_id for meter in self._store.link.meter), replay.books.balances
        return {meter: balances.get(meter_account(meter), 0) for meter in ids}

    @property
    def entries(self) -> int:
        """The number of the last replayed ledger entry; 0 before the first audit."""
        return self._replay.entries if self._replay else 0

    async def follow(self, seen: Mark, *, again: int) -> bool:
        """Replay new ledger entries, and read `again` old entries once more. Compare no balances.

        Return False after a problem in the ledger, or if there was no audit.
        """
        replay = self._replay
        if replay is None or self._doubtful:
            return False
        store = self._store
        last = int(await store.redis.hget(store.keys.meters, "entries") or 0)
        _, problems = await self._replay_to(replay, last, seen, again=again, begins=False)
        return not problems

    async def _read(
        self,
        replay: Replay,
        last: int,
        seen: Mark | None = None,
        advance: Callable[[int, int], None] | None = None,
        onlooker: Onlooker | None = None,
    ) -> Replay:
        """Continue a replay up to entry `last`, or to the end of the ledger. Return the replay.

        Another process can delete archived entries from Redis before the replay reads them. The
        replay then continues from the checkpoint.
        """
        while replay.entries < last:
            page = await self._store.entries(replay.entries, min(_PAGE, last - replay.entries))
            # Somebody can have inserted entries that have the number of another entry. Without this
            # check, a page of such entries would be read forever.
            onward = bool(page) and page[-1][0] > replay.entries
            if not page or page[0][0] > replay.entries + 1:
                checkpoint = await self._store.checkpoint()
                if checkpoint.entries > replay.entries:
                    replay = Replay.after(checkpoint)
                    if onlooker:
                        onlooker.began(replay)
                    continue
            for number, fields in page:
                replay.apply_entry(number, fields, seen)
                if onlooker:
                    onlooker.took(number, fields, replay)
            if advance:
                advance(replay.entries, last)
            if not onward:
                break
        return replay

    async def _begun(self) -> Replay:
        return Replay.after(await self._store.checkpoint())

    async def _read_again(self, replay: Replay, count: int, *, begins: bool) -> list[str]:
        """Read some old entries once more. After the last entry, begin again if `begins` is true.

        A new beginning takes milliseconds, because the checkpoint in Redis must be decoded.
        """
        if self._again is None and not begins:
            return []
        again = self._again or await self._begun()
        due = min(again.entries + count, replay.entries)
        self._again = again = await self._read(again, due)
        if again.entries < due:
            return [*again.problems, f"the ledger has lost the entries after {again.entries}"]
        if again.entries == replay.entries:
            self._again = None
            if again.seal != replay.seal and not again.problems:
                return ["the ledger is not the one that was read before"]
            if again.begins_after < replay.begins_after and not again.problems:
                # The file of the audit checkpoint can have been changed.
                if again.closing_digest != replay.closing_digest:
                    return ["the state in the audit checkpoint does not follow from the ledger"]
                # This replay also has the payout slips, acts and replies of the entries before the
                # audit checkpoint, so the next audits compare them too.
                self._replay = again
                self._claims.begin_again()
        return again.problems

    @property
    def checkpoint(self) -> AuditCheckpoint | None:
        """The state after the last audit, from which a later start can continue.

        None after a problem in the ledger, or if there was no audit.
        """
        replay = None if self._doubtful else self._replay
        return replay.audit_checkpoint(self._store.link.id) if replay else None
