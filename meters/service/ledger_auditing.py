"""Audits of a link's ledger: before the link operates, every minute, and after each failure."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from redis.exceptions import RedisError

from meters.audit.auditor import AuditOrder, AuditorReport
from meters.ledger.link_state import MeterBalances
from meters.service.auditor_client import AuditorError
from meters.service.link_publisher import LinkPublisher
from meters.service.metric_declarations import Audited
from meters.service.pace import Pace
from meters.service.service_metrics import Metrics
from meters.store.failures import failure_text
from meters.store.ledger_mark import LedgerMark
from meters.store.link_store import LinkStore

log = structlog.get_logger()

FOLLOWED_EVERY_S: Final = 5.0
"""How often new ledger entries are read between two audits. After a failure, the link does not
operate until an audit ends, so this audit must have few entries to read."""
NOT_AUDITED: Final = "the ledger is being audited"

CarryOut = Callable[[AuditOrder], Awaitable[AuditorReport]]
"""Function that has the auditor carry out an order, such as `AuditorProcess.carry_out`."""


class LedgerAuditing:
    """Repeated audits, which compare a link's ledger with its meters and other data in Redis.

    The auditor, another process, makes the audits. `books_differ` is true if the last audit found
    an error in the link's data.
    """

    def __init__(
        self,
        store: LinkStore,
        mark: LedgerMark,
        publisher: LinkPublisher,
        metrics: Metrics,
        *,
        carry_out: CarryOut,
        ended: Callable[[], None],
        pace: Pace,
    ) -> None:
        self.books_differ = False
        self._found: str | None = NOT_AUDITED
        self._audited_s = 0.0
        self._link = store.link.id
        self._store = store
        self._carry_out = carry_out
        self._mark = mark
        self._publisher = publisher
        self._metrics = metrics
        self._pace = pace
        self._ended = ended
        self._wanted = asyncio.Event()
        self._times_wanted = 0
        self._log = log.bind(link=self._link)

    @property
    def problem(self) -> str | None:
        """Why the link must not operate: what the last audit found, or that no audit ended in time.

        A dead, frozen or slow auditor stops the link after `Pace.audited_within_s`.
        """
        if self._found is not None:
            return self._found
        if asyncio.get_running_loop().time() - self._audited_s <= self._pace.audited_within_s:
            return None
        return f"no audit has ended for {self._pace.audited_within_s:.0f} seconds"

    def want(self) -> None:
        """Request a new audit. Until its end, `problem` says that the ledger is being audited."""
        self._found = NOT_AUDITED
        self._times_wanted += 1
        self.hurry()

    def hurry(self) -> None:
        self._wanted.set()

    async def run(self) -> None:
        """Have the ledger audited repeatedly until canceled.

        A meter that differs from its ledger is never repaired silently (duty D19). Each audit reads
        some earlier entries again, to find later changes of these entries.
        """
        while True:
            self._wanted.clear()
            began, began_s = self._times_wanted, time.perf_counter()
            try:
                result, found = await self._find()
            except AuditorError as error:
                # A link that operates continues. If no auditor ends an audit in time, `problem`
                # stops the link.
                result, found = Audited.FAILED, str(error) if self._found else None
            except (RedisError, OSError, ValueError) as error:
                result, found = Audited.FAILED, failure_text(error)
            self._metrics.show_audit(self._link, result, time.perf_counter() - began_s)
            if began == self._times_wanted:
                self._found, self.books_differ = found, result is Audited.DIFFERS
            self._ended()
            failed = result is Audited.FAILED
            await self._rest(self._pace.audit_again_s if failed else self._pace.audit_every_s)

    async def _rest(self, pause_s: float) -> None:
        loop = asyncio.get_running_loop()
        due_s = loop.time() + pause_s
        while not self._wanted.is_set() and loop.time() < due_s:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min(due_s, loop.time() + FOLLOWED_EVERY_S)):
                    await self._wanted.wait()
                    return
            if self.problem is None and loop.time() < due_s:
                try:
                    report = await self._carry_out(self._order(entry=0, compares=False))
                except AuditorError:
                    return
                if report.problems:
                    return
                # If Redis failed, the link's next check stops the link.

    async def _find(self) -> tuple[Audited, str | None]:
        """Have the ledger audited; return the result and why the link must not operate.

        If there is no problem, publish the seal.
        """
        seen, held = self._mark.seen, await self._store.meter_balances()
        order = self._order(entry=held.entry, compares=True)
        report = await self._carry_out(order)
        if report.note:
            self._log.warning("auditor reported", note=report.note)
        if report.failure:
            return Audited.FAILED, report.failure
        if report.entries and not seen.entries:
            self._log.warning("ledger mark missing", entries=report.entries)
        if lost := self._mark.problem(report.stored, seen.entries):
            return Audited.DIFFERS, lost
        if report.problems:
            return Audited.DIFFERS, "; ".join(report.problems)
        if wrong := _misreported(report, held):
            return Audited.DIFFERS, wrong
        if report.unreserved:
            self._log.warning("slips reserved again", slips=[*report.unreserved])
            await self._store.slip_register.reserve_paid(report.unreserved)
        self._audited_s = asyncio.get_running_loop().time()
        if report.entries > seen.sealed:
            await self._seal(report)
        return Audited.BALANCED, None

    def _order(self, *, entry: int, compares: bool) -> AuditOrder:
        pace = self._pace
        return AuditOrder(
            number=0,
            link=self._link,
            seen=self._mark.seen,
            entry=entry,
            compares=compares,
            again=pace.audited_again,
            checkpoint_every=pace.checkpoint_every,
        )

    async def _seal(self, report: AuditorReport) -> None:
        """Store and publish the seal of a ledger without errors (duty D17)."""
        await asyncio.to_thread(self._mark.note_seal, report.entries, report.seal)
        self._publisher.publish_seal(report.entries, report.seal)
        self._log.info("ledger sealed", entries=report.entries, seal=report.seal)


def _misreported(report: AuditorReport, held: MeterBalances) -> str | None:
    """Return how the auditor's balances differ from those that this service has read, or None.

    The order does not say what the service has read. So an auditor that calculates nothing cannot
    report the right balances. If the ledger was empty then, a report about entries proves nothing.

    Raises:
        AuditorError: the report lacks the entry of the order, or its ledger began after the order.
    """
    told = report.replayed
    if not held.entry:
        if report.entries:
            raise AuditorError("the ledger began during the audit")
        return None
    if told is None or told.entry != held.entry:
        raise AuditorError(f"the auditor did not report the state at entry {held.entry}")
    for meter, micros in held.micros.items():
        if (other := told.micros.get(meter)) != micros:
            at = f"at entry {held.entry}"
            return f"{at}, the auditor has {other} micros on {meter}, Redis has {micros}"
    if told.chain != held.chain:
        return (
            f"the auditor has another entry {held.entry} than Redis: the auditor's entry has the"
            f" digest {told.chain}"
        )
    return None
