"""Auditing a link: its ledger replayed, and every balance compared to the micro (duty D19)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol, Self

from meters.books.accounts import meter_account, overflow_account, reserve_account
from meters.books.claim_audit import ClaimAudit
from meters.books.ledger_mark import Mark
from meters.books.ledger_replay import Replay
from meters.books.ledger_totals import Totals
from meters.books.link_audit import LinkStateAudit
from meters.books.store import LinkStore
from meters.books.table_audit import TableAudit

_PAGE: Final = 100
"""Entries are read in pages that hold up the tables for some milliseconds at most."""

_CLAIMS_AGAIN: Final = 500
"""So many claims that are decided for good are compared again with each later audit."""

RESTORING: Final = (
    "the store is being restored, or that was interrupted: run `pitlink restore` to its end"
)


class Onlooker(Protocol):
    """Looks on while a ledger is replayed."""

    def began(self, replay: Replay) -> None:
        """The replay begins, or begins anew, with the books as they stand."""

    def took(self, number: int, fields: Mapping[str, bytes], replay: Replay) -> None:
        """An entry was replayed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit of one link found; micros by meter, and what does not hold, in words.

    `entries` were replayed, by now or before, and `stored` of them the store still holds, which may
    have lost some since. `first` is the first entry that was replayed. `seal` is over all entries
    up to the last; `variances` are what was read at the close of a gaming day and was not what the
    ledger says, which no later act can undo.
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

    def also(self, problem: str | None) -> Self:
        """The finding with one more problem, where there is one."""
        return replace(self, problems=(problem, *self.problems)) if problem else self

    @property
    def balanced(self) -> bool:
        """Whether all holds."""
        return not self.problems


class LinkAudit:
    """A replay that goes on from where it stood, so that an operating link can be audited often.

    What it has passed can be read again bit by bit, since somebody may change it afterwards; and
    where something in the ledger does not hold, all of it is, since somebody may put it right.

    It goes on from `begun`, a replay that has taken what is in the archive, or else from the books
    that the store carries over from there. `onlooker` is shown every entry that is replayed for the
    first time.
    """

    def __init__(
        self, store: LinkStore, begun: Replay | None = None, onlooker: Onlooker | None = None
    ) -> None:  # fmt: skip
        self._store = store
        self._onlooker = onlooker
        self._replay = begun
        self._claims = ClaimAudit(store)
        self._tables = TableAudit(store)
        self._link_state = LinkStateAudit(store)
        self._again: Replay | None = None
        self._doubtful = False

    async def run(
        self,
        seen: Mark | None = None,
        advance: Callable[[int, int], None] | None = None,
        *,
        again: int = 0,
        restoring: bool = False,
    ) -> Finding:
        """Replay up to the entry at which the balances are read, and compare.

        Args:
            seen: what was seen of the ledger before, kept outside the store.
            advance: told how many entries are done and how many there are.
            again: how many of the entries that were passed before are read once more.
            restoring: whether whoever asks is restoring the store.

        Raises:
            RedisError: the store failed.
        """
        store, replay = self._store, self._replay
        if replay is None or self._doubtful:
            replay, self._again = await self._begun(), None
            goes_on = False
            if self._onlooker:
                self._onlooker.began(replay)
        else:
            goes_on = replay.entries > 0
        snapshot = await store.snapshot(indexes=True)
        if seen and replay.entries:
            replay.hold_against(seen)
        self._replay = replay = await self._read(
            replay, snapshot.last_entry, seen, advance, self._onlooker
        )
        problems = [*replay.problems]
        if goes_on and replay.entries == snapshot.last_entry:
            problems += await self._read_again(replay, again)
        self._doubtful = bool(problems)
        stored = replay.entries
        if replay.entries != snapshot.last_entry:
            # What was replayed before may be gone since.
            stored = min(stored, await store.last_entry())
            problems.append(
                f"the ledger ends at entry {replay.entries}, the books at {snapshot.last_entry}"
            )
        if not restoring and await store.redis.exists(store.keys.restoring):
            problems.append(RESTORING)
        problems += replay.differences(snapshot.accounts)
        problems += replay.other_terms(snapshot.meters)
        problems += replay.state_difference(snapshot.meters)
        problems += replay.other_tallies(snapshot.tallies)
        if replay.entries == snapshot.last_entry:
            at_most = _CLAIMS_AGAIN if goes_on and again else None
            # What is only read is left as it is; a service, and a restoring, may put it in order.
            problems += await self._claims.problems(
                replay, snapshot, at_most, reserves=restoring or again > 0
            )
            whole = at_most is None
            problems += await self._tables.problems(replay, snapshot, whole=whole)
            problems += await self._link_state.problems(replay, snapshot, whole=whole)
        meters = {
            meter.meter_id: {
                "amount_micros": snapshot.accounts.get(meter_account(meter.meter_id), 0),
                "reserve_micros": snapshot.accounts.get(reserve_account(meter.meter_id), 0),
                "overflow_micros": snapshot.accounts.get(overflow_account(meter.meter_id), 0),
            }
            for meter in store.link.meter
        }
        return Finding(
            store.link.id,
            replay.entries,
            replay.seal,
            meters,
            tuple(problems),
            replay.totals,
            (*replay.variances, *self._claims.doubles),
            stored=stored,
        )

    async def follow(self, seen: Mark, *, again: int) -> bool:
        """Replay what is new since the last audit, and some entries again; compare no balances.

        Returns:
            Whether what was read holds; where it does not, the next audit reads all of it.

        Raises:
            RedisError: the store failed.
        """
        replay = self._replay
        if replay is None or self._doubtful:
            return False
        store = self._store
        last = int(await store.redis.hget(store.keys.meters, "entries") or 0)
        self._replay = replay = await self._read(replay, last, seen, None, self._onlooker)
        problems = [*replay.problems]
        if replay.entries == last:
            problems += await self._read_again(replay, again)
        self._doubtful = bool(problems)
        return not problems

    async def _read(
        self,
        replay: Replay,
        last: int,
        seen: Mark | None = None,
        advance: Callable[[int, int], None] | None = None,
        onlooker: Onlooker | None = None,
    ) -> Replay:
        """Have a replay go on up to an entry, or to where the ledger ends; give where it is then.

        What it has not reached may be trimmed meanwhile: it goes on from the books carried over.
        """
        while replay.entries < last:
            page = await self._store.entries(replay.entries, min(_PAGE, last - replay.entries))
            # An entry beside another has its number: a page of such would be read for ever.
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

    async def _read_again(self, replay: Replay, count: int) -> list[str]:
        """Read some of what was passed once more; what of it does not hold now, in words."""
        again = self._again or await self._begun()
        due = min(again.entries + count, replay.entries)
        self._again = again = await self._read(again, due)
        if again.entries < due:
            return [*again.problems, f"the ledger has lost what follows entry {again.entries}"]
        if again.entries == replay.entries:
            self._again = None
            if again.seal != replay.seal and not again.problems:
                return ["the ledger is not the one that was read before"]
        return again.problems
