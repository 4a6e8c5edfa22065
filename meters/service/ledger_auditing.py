"""Audits of a link's ledger: before the link operates, every minute, and after each failure."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Final

import structlog
from redis.exceptions import RedisError

from meters.audit.audit_files import AuditCheckpointFile
from meters.audit.link_audit import Finding, LinkAudit
from meters.ledger.checkpoint import Mark
from meters.ledger.ledger_replay import Replay
from meters.service.link_publisher import LinkPublisher
from meters.service.metric_declarations import Audited
from meters.service.pace import BatchesInWork, Pace
from meters.service.service_metrics import Metrics
from meters.store.health import NotSyncedError, refused_write
from meters.store.ledger_mark import LedgerMark, MarkError
from meters.store.link_store import LinkStore, TermsError

log = structlog.get_logger()

FOLLOWED_EVERY_S: Final = 5.0
"""Time after which new ledger entries are read between two audits. So the audit after a failure,
during which the link does not operate, has few entries to read."""
NOT_AUDITED: Final = "the ledger is being audited"


class LedgerAuditing:
    """Repeated audits, which compare a link's ledger with its meters and other data in Redis.

    `problem` is why the link must not operate. `books_differ` is true if an audit found this
    problem in the link's data.
    """

    def __init__(
        self,
        store: LinkStore,
        mark: LedgerMark,
        publisher: LinkPublisher,
        metrics: Metrics,
        *,
        batches: BatchesInWork,
        ended: Callable[[], None],
        pace: Pace,
    ) -> None:
        self.problem: str | None = NOT_AUDITED
        self.books_differ = False
        self._link = store.link.id
        self._store = store
        self._audit: LinkAudit | None = None
        self._mark = mark
        self._checkpoint_file = AuditCheckpointFile(mark.path, self._link)
        self._checkpointed = 0
        self._resumed = False
        self._publisher = publisher
        self._metrics = metrics
        self._batches = batches
        self._pace = pace
        self._ended = ended
        self._wanted = asyncio.Event()
        self._times_wanted = 0
        self._slice_began_s = 0.0
        self._log = log.bind(link=self._link)

    def want(self) -> None:
        """Request a new audit. Until its end, `problem` says that the ledger is being audited."""
        self.problem = NOT_AUDITED
        self._times_wanted += 1
        self.hurry()

    def hurry(self) -> None:
        self._wanted.set()

    async def run(self) -> None:
        """Audit the ledger repeatedly until canceled.

        A meter that differs from its ledger is never repaired silently (duty D19). Each audit reads
        some earlier entries again, to find later changes of these entries.
        """
        while True:
            self._wanted.clear()
            pause_s, began, problems = self._pace.audit_every_s, self._times_wanted, list[str]()
            began_s, result = time.perf_counter(), Audited.FAILED
            try:
                problems = await self._find()
                found = "; ".join(problems) or None
                result = Audited.DIFFERS if problems else Audited.BALANCED
            except (RedisError, OSError, ValueError) as error:
                found = failure_text(error)
                pause_s = self._pace.audit_again_s
            self._metrics.show_audit(self._link, result, time.perf_counter() - began_s)
            if began == self._times_wanted:
                self.problem, self.books_differ = found, bool(problems)
            self._ended()
            await self._rest(pause_s)

    async def _rest(self, pause_s: float) -> None:
        loop, audit = asyncio.get_running_loop(), self._audit
        due_s = loop.time() + pause_s
        while not self._wanted.is_set() and loop.time() < due_s:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min(due_s, loop.time() + FOLLOWED_EVERY_S)):
                    await self._wanted.wait()
                    return
            if self.problem is None and loop.time() < due_s:
                try:
                    if not (
                        audit
                        and await audit.follow(self._mark.seen, again=self._pace.audited_again)
                    ):
                        return
                except ValueError:
                    return
                except (RedisError, OSError):
                    # The link's check every second stops the link and reports the reason.
                    continue

    async def _find(self) -> list[str]:
        """Audit the ledger and return its problems. If there are none, publish the seal."""
        seen = self._mark.seen
        self._audit = audit = self._audit or await self._first_audit(seen)
        finding = await audit.run(seen, again=self._pace.audited_again)
        if finding.problems and self._resumed:
            # The file of the audit checkpoint can be wrong. Only a whole audit finds this out.
            self._audit = audit = self._new_audit()
            finding = await audit.run(seen, again=self._pace.audited_again)
        self._resumed = False
        lost = self._mark.problem(finding.stored, seen.entries)
        if finding.entries and not seen.entries:
            self._log.warning("ledger mark missing", entries=finding.entries)
        problems = [lost] if lost else list(finding.problems[:3])
        if not problems and finding.entries > seen.sealed:
            await self._seal(finding)
            if finding.entries >= self._checkpointed + self._pace.checkpoint_every:
                await self._keep_checkpoint(audit)
        return problems

    async def _first_audit(self, seen: Mark) -> LinkAudit:
        state = await self._checkpoint_file.read(self._store, seen)
        if state is None:
            return self._new_audit()
        self._checkpointed = state.checkpoint.entries
        self._resumed = True
        return self._new_audit(Replay.resumed(state))

    def _new_audit(self, begun: Replay | None = None) -> LinkAudit:
        return LinkAudit(self._store, begun, pause=self._pause)

    @property
    def behind(self) -> int:
        """The number of this service's ledger entries that are not replayed yet."""
        return self._store.head.entry - (self._audit.entries if self._audit else 0)

    async def _pause(self) -> None:
        """Let other tasks run. While the link operates, wait until no table waits for a reply.

        If the audit is far behind, do not wait: the audit and the other tasks each run for some
        milliseconds in turn.
        """
        behind, pace = self.behind, self._pace
        if self.problem is None and not self._wanted.is_set() and behind < pace.behind_max:
            await self._batches.give_way()
            return
        slice_s = (
            min(pace.slice_max_s, pace.slice_s * behind / pace.behind_max)
            if self.problem is None
            else 0.0
        )
        if time.monotonic() - self._slice_began_s >= slice_s:
            await asyncio.sleep(0)
            self._slice_began_s = time.monotonic()

    async def _keep_checkpoint(self, audit: LinkAudit) -> None:
        state = audit.checkpoint
        if state is None:
            return
        self._checkpointed = state.checkpoint.entries
        try:
            # Only the next audit changes the state.
            await self._checkpoint_file.write(state, self._pause)
        except OSError as error:
            self._log.warning("audit checkpoint not written", reason=str(error))

    async def _seal(self, finding: Finding) -> None:
        """Store and publish the seal of a ledger without errors (duty D17)."""
        await asyncio.to_thread(self._mark.note_seal, finding.entries, finding.seal)
        self._publisher.publish_seal(finding.entries, finding.seal)
        self._log.info("ledger sealed", entries=finding.entries, seal=finding.seal)


def failure_text(error: Exception) -> str:
    """Say why a link cannot operate after a failure of Redis, of its data or of the ledger mark."""
    if isinstance(error, TermsError | MarkError | NotSyncedError):
        return str(error)
    if isinstance(error, RedisError) and (refused := refused_write(error)):
        return refused
    damaged = isinstance(error, ValueError | KeyError)
    return f"{'the data in Redis is damaged' if damaged else 'Redis failed'}: {error}"
