"""One link in operation: its events, its messages, and the checks that allow it to operate."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, Final

import structlog
from redis.exceptions import RedisError, ResponseError

from meters.acts.meter_changes import LinkParameters
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Link
from meters.intake.batches import Arrival, BatchResult, LinkIntake
from meters.ledger.checkpoint import Mark
from meters.ledger.entry_messages import SERVICE
from meters.ledger.link_state import LedgerHead, LinkState
from meters.selfcheck.software import UNDER_WAY, SelfCheck
from meters.service.ledger_auditing import NOT_AUDITED, CarryOut, LedgerAuditing
from meters.service.link_outages import Outages
from meters.service.link_publisher import COALESCE_S, LinkPublisher
from meters.service.pace import Pace
from meters.service.service_metrics import Metrics
from meters.store.failures import failure_text
from meters.store.floor_file_approval import Configuration
from meters.store.health import FileWatch, NotSyncedError, must_keep, redis_problem
from meters.store.hidden_value_seal import HiddenValueError
from meters.store.ledger_mark import LedgerMark, MarkError
from meters.store.link_acts import CloseReadings, DuePromotions, note_outage
from meters.store.link_stats import LinkStatsReader
from meters.store.link_store import LinkStore, TermsError
from meters.store.redis_clients import ReplicatedRedis
from meters.wire.messages import seq_of

log = structlog.get_logger()

OLD_AFTER_S: Final = 0.5
"""If Redis answers later than this, its answer is too old to be published as current."""
_STEP_WITHIN_S: Final = 4.0
_HELD_UP_S: Final = 0.5
SERVERS_EVERY_S: Final = 15.0
"""Name of the service in ledger entries and in the operators' log."""

_PASSING: Final = frozenset({NOT_AUDITED, UNDER_WAY})
"""Problems that end by themselves, so no alert calls a technician."""
_STARTING: Final = "the link has not been checked yet"
_STORE_FAILED: Final = (RedisError, OSError, TermsError, ValueError, KeyError)
"""Failures of Redis or its data. A ValueError or KeyError means that the data is damaged."""


async def _ended(task: asyncio.Task[Any]) -> None:
    """Cancel a task again and again until it is done: the Redis client can lose a cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_HELD_UP_S)


class LinkService:
    """One link in operation. It operates only while every check passes (duties D9, D10).

    `adopt` receives the link with its new parameters, if the games can use them. `ring` is called
    after each change that the floor page shows. `carry_out` has the auditor audit the link.
    """

    def __init__(
        self,
        store: LinkStore,
        mark: LedgerMark,
        publisher: LinkPublisher,
        metrics: Metrics,
        *,
        configuration: Configuration,
        days: GamingDays,
        self_check: SelfCheck,
        adopt: Callable[[Link], None],
        ring: Callable[[], None],
        carry_out: CarryOut,
        pace: Pace,
    ) -> None:
        self.store = store
        store.must_keep = True
        self.publisher = publisher
        self.configuration = configuration
        self._self_check = self_check
        self._pace = pace
        self._metrics = metrics
        self._adopt = adopt
        self._ring = ring
        self._floor_changes = 0
        self._closed: str | None = None
        self._intake = LinkIntake(store)
        self._check_now = asyncio.Event()
        self.auditing = LedgerAuditing(
            store,
            mark,
            publisher,
            metrics,
            carry_out=carry_out,
            ended=self._check_now.set,
            pace=pace,
        )
        self._figures = LinkStatsReader(store)
        self._mark = mark
        outages = mark.path.with_name(f"{store.link.id}.outage.json")
        self._outages = Outages(outages, partial(note_outage, store, SERVICE))
        self._readings = CloseReadings(store, days, SERVICE)
        digest = configuration.filed.digest
        self._promotions = DuePromotions(store, days.zone, digest, SERVICE)
        self.problem: str | None = _STARTING
        self._may_differ = False
        self._file_watch = FileWatch()
        self._answered_s = self._step_s = 0.0
        self._changed = asyncio.Event()
        self._reading_again: asyncio.TimerHandle | None = None
        self._log = log.bind(link=store.link.id)

    @property
    def broker_problem(self) -> str | None:
        return self.publisher.broker_problem

    def begin_with_broker(self) -> None:
        """Show that this service has a broker, and publish the meters.

        Before that, begin to listen: while another service can operate the link, this service must
        publish no failure.
        """
        self.publisher.others.listen_first()
        self.set_broker_problem(None)
        self.meters_changed()

    def set_broker_problem(self, problem: str | None) -> None:
        """Show on this service's pages why the service has no broker.

        If `problem` is None, show that the service has a broker.
        """
        if problem != self.publisher.broker_problem:
            self.publisher.broker_problem = problem
            self.publish_heartbeat()
            self._ring()

    @property
    def seen(self) -> Mark:
        """The content of the ledger mark, a file outside Redis."""
        return self._mark.seen

    async def apply_batch(self, arrivals: Sequence[Arrival]) -> BatchResult:
        """Apply a batch of this link's events and return the replies.

        If the link is or becomes inoperable, there are no replies, and the tables repeat the
        events.
        """
        if self.problem:
            self._log.debug("events left unanswered", events=len(arrivals), reason=self.problem)
            return BatchResult()
        try:
            outcome = await self._intake.apply_batch(arrivals)
            self._metrics.add(outcome.counts)
            if outcome.applied:
                self._metrics.observe("batch_events", outcome.applied)
                self._metrics.observe("script_seconds", outcome.script_s)
            if outcome.replies:
                self._set_mark(self.store.head)
        except (RedisError, OSError, TermsError, HiddenValueError) as error:
            self._fail(error)
            return BatchResult()
        except Exception:
            if len(arrivals) > 1:
                return await self._apply_singly(arrivals)
            # If one event meets a defect in pitlink, the other tables must not stop. The event gets
            # no reply.
            self._log.exception(
                "event not taken", table=arrivals[0].known.table.id, seq=seq_of(arrivals[0].payload)
            )
            self._metrics.count("events_not_taken", self.store.link.id)
            return BatchResult()
        if outcome.changed:
            self._changed.set()
        return outcome

    async def _apply_singly(self, arrivals: Sequence[Arrival]) -> BatchResult:
        whole = BatchResult()
        for arrival in arrivals:
            whole.add(await self.apply_batch([arrival]))
        return whole

    async def reload(self) -> None:
        """Read the changes that people made to the link, and publish them immediately.

        Raises:
            TermsError: the link's terms differ from the floor file.
            MarkError: the ledger mark cannot be written.
        """
        wrong = await self._open()
        state, values_seen = await self._read()
        await must_keep(self.store.redis)
        self._set_mark(state.head)
        if wrong is not None:
            self._fail(wrong, audit=False)
            self._ring()
            return
        self._publish_state(state, values_seen)
        self.publish_heartbeat()

    async def keep_mark(self) -> None:
        """Note the last ledger entry in the ledger mark, a file outside Redis (duty D10).

        The mark is written before anybody is told that the entry exists. So if Redis loses the
        entry, the loss is detected.

        Raises:
            MarkError: the mark cannot be written.
            TermsError: the link's terms have changed since they were last read.
            RedisError: Redis failed, or its writes are possibly not on disk.
        """
        head = (await self.store.state()).head
        await must_keep(self.store.redis)
        self._set_mark(head)

    def _set_mark(self, head: LedgerHead) -> None:
        if not head.in_ledger:
            # If the mark named an entry that never existed, later checks would call the entry lost.
            raise MarkError(
                f"Redis names entry {head.entry} as the last one, but the ledger ends with another"
            )
        self._mark.note(head.entry, head.chain)

    def hear_beat(self, payload: bytes, *, retained: bool) -> None:
        """Process a heartbeat of this link, from this service or another one.

        If another service reports a failure, but this one operates the link, publish the meters
        again.
        """
        if self.publisher.others.hear(payload, retained=retained) and self.problem is None:
            self.publisher.turns.forget()
            self.meters_changed()

    def hear_meter(self, payload: bytes, *, retained: bool) -> None:
        if self.publisher.turns.hear(payload, retained=retained):
            self.meters_changed()

    def meters_changed(self) -> None:
        self._changed.set()

    def jobs(self) -> Mapping[str, Coroutine[None, None, None]]:
        jobs = {
            "beat": self._beat(),
            "redis": self._listen_to_redis(),
            "check": self._keep_checking(),
            "publish": self._publish(),
            "audit": self.auditing.run(),
        }
        redis = self.store.redis
        if isinstance(redis, ReplicatedRedis):
            jobs["servers"] = self._watch_servers(redis)
        return jobs

    async def _beat(self) -> None:
        """Publish the heartbeat every second, even while a check takes longer."""
        loop = asyncio.get_running_loop()
        last_s = loop.time()
        while True:
            await asyncio.sleep(max(0.0, last_s + self._pace.check_every_s - loop.time()))
            took_s, last_s = loop.time() - last_s, loop.time()
            self.publish_heartbeat()
            self._show_beat(took_s)

    async def _listen_to_redis(self) -> None:
        """Ping Redis every second, to know if Redis is silent or only a check is slow."""
        loop = asyncio.get_running_loop()
        while True:
            began_s = loop.time()
            # If Redis fails, the link's next check reports the failure.
            with contextlib.suppress(RedisError, OSError, TimeoutError):
                async with asyncio.timeout(self._pace.answered_within_s):
                    # A Redis that refuses writes can also refuse a ping, but it answers.
                    with contextlib.suppress(ResponseError):
                        await self.store.redis.ping()
                self._answered_s = loop.time()
            await asyncio.sleep(max(0.0, began_s + self._pace.check_every_s - loop.time()))

    async def _keep_checking(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due_s, problem = loop.time() + self._pace.check_every_s, self.problem
            self._check_now.clear()
            await self._check()
            if self.problem != problem:
                self.publish_heartbeat()
            await self._report_promotions()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(due_s):
                    await self._check_now.wait()

    async def _report_promotions(self) -> None:
        """Log the promotions that ended without their money."""
        if self.problem is not None:
            self._promotions.hold_back(self.problem)
        # If Redis fails, the next check reports the failure, and the report is tried again.
        with contextlib.suppress(*_STORE_FAILED):
            async with asyncio.timeout(self._pace.answered_within_s):
                await self._promotions.report_ended()

    async def _publish(self) -> None:
        """Publish the meters after each change, at most once per `COALESCE_S`, until canceled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self.problem is None:
                try:
                    read = await self._read()
                    if self.problem is None:
                        self._publish_state(*read)
                except _STORE_FAILED as error:
                    self._fail(error)
            await asyncio.sleep(COALESCE_S)

    async def _check(self) -> None:
        """Check if the link can operate. If Redis is silent during the check, stop the link.

        A slow check is no failure: each failure causes an audit, whose load would make the next
        check slow. But each single call of Redis must end within `_STEP_WITHIN_S`, even if Redis
        answers pings.
        """
        loop = asyncio.get_running_loop()
        self._step_s = began_s = loop.time()

        def due() -> float:
            silent_s = max(began_s, self._answered_s) + self._pace.answered_within_s
            return min(silent_s, self._step_s + max(_STEP_WITHIN_S, self._pace.answered_within_s))

        looking = asyncio.create_task(self._check_state(), name="look")
        try:
            while not looking.done():
                due_s = due()
                await asyncio.wait({looking}, timeout=max(0.0, due_s - loop.time()))
                late_s = loop.time() - due_s
                if looking.done() or late_s < 0:
                    continue
                if late_s > _HELD_UP_S:
                    # This process was delayed. It can have answers of Redis that it has not read.
                    await asyncio.wait({looking}, timeout=_HELD_UP_S)
                if due_s == due():
                    break
        finally:
            await _ended(looking)
        if looking.cancelled():
            self._metrics.set("redis_ready", 0, self.store.link.id)
            self._fail(f"Redis has not answered for {self._pace.answered_within_s:.0f} seconds")
            return
        try:
            problem, audit = looking.result()
        except _STORE_FAILED as error:
            self._fail(error)
        else:
            if problem is not None:
                self._fail(problem, audit=audit)

    async def _check_state(self) -> tuple[str | None, bool]:
        """Check the link as `_find_problem` does. If there is no problem, let the link operate."""
        problem, audit = await self._find_problem()
        if problem is not None:
            return problem, audit
        if self.problem is not None:
            self._note_step()
            await self.configuration.adopt()
            self._note_step()
            if (wrong := await self._open()) is not None:
                return wrong, False
            self._promotions.forget()
            self._note_step()
            await self.publisher.show_waiting()
        self._note_step()
        state, values_seen = await self._read()
        # The closed gaming day's meter reading is made before the link operates, so that no wager
        # of today counts as a wager of the closed day.
        await self._readings.keep(state.day)
        if (unknown := self.auditing.problem) is not None:
            # A failure happened after `_find_problem` had read the result of the audit.
            return unknown, False
        if state.closure is not None:
            self._promotions.hold_back("closed")
        elif await self._promotions.add(self._note_step):
            await must_keep(self.store.redis)
            state, values_seen = await self._read()
        self._set_mark(state.head)
        self._set_problem(None)
        self._publish_state(state, values_seen)
        self._note_step()
        await self.publisher.show_recorded(state)
        self._note_step()
        await self._show_figures(state)
        await self._outages.note()
        return None, False

    def _note_step(self) -> None:
        self._step_s = asyncio.get_running_loop().time()

    async def _find_problem(self) -> tuple[str | None, bool]:
        """Return why the link must not operate, and whether a new audit is needed.

        A problem in the link's data comes before a problem in the floor file.
        """
        if unfit := self._self_check.problem:
            return unfit, False
        broken = await redis_problem(self.store.redis, self.store.link.id, self._file_watch)
        self._metrics.set("redis_ready", broken is None, self.store.link.id)
        if broken:
            self._may_differ = True
            return broken, False
        self._note_step()
        if other := await self.store.schema_problem():
            self._may_differ = True
            return other, False
        if self._may_differ:
            # An audit that began during the problem can have missed some of its effects.
            self._may_differ = False
            self.auditing.want()
        unbalanced = self.auditing.problem
        if unbalanced is not None and unbalanced != NOT_AUDITED:
            return unbalanced, False
        self._note_step()
        unapproved = await self.configuration.problem(self._note_step)
        self._metrics.set("approvals_due", unapproved is not None, self.store.link.id)
        if unapproved:
            return unapproved, unapproved != self.problem
        return unbalanced, False

    async def _open(self) -> str | None:
        """Use the parameters in Redis from now on, or return why the games cannot use them."""
        await self.store.open(SERVICE)
        wrong = LinkParameters(self.store.link, self.store.filed).problem
        if wrong is None:
            self.publisher.adopt(self.store.link)
            self._adopt(self.store.link)
        return wrong

    async def _read(self) -> tuple[LinkState, int]:
        """Read the link's state, and the number of meter values that were heard before the read.

        If Redis answers slowly, or this service was frozen, the state is read once more.
        """
        loop = asyncio.get_running_loop()
        values_seen, began_s = self.publisher.turns.heard, loop.time()
        state = await self.store.state()
        if loop.time() - began_s > OLD_AFTER_S:
            values_seen = self.publisher.turns.heard
            state = await self.store.state()
        return state, values_seen

    def _publish_state(self, state: LinkState, values_seen: int) -> None:
        self._closed = state.closure.reason if state.closure else None
        if (wait_s := self.publisher.publish_meters(state, values_seen)) is not None:
            if self._reading_again is not None:
                self._reading_again.cancel()
            loop = asyncio.get_running_loop()
            self._reading_again = loop.call_later(wait_s, self.meters_changed)
        if state.floor_changes != self._floor_changes:
            self._floor_changes = state.floor_changes
            self._ring()

    def publish_heartbeat(self) -> None:
        self.publisher.publish_heartbeat(self.problem, self._closed, of_all=self._of_all)

    @property
    def _of_all(self) -> bool:
        """True if the link is inoperable because an audit found an error in its data.

        Every service of the link has this problem; any other problem can be this service's alone.
        """
        return self.auditing.books_differ and self.problem == self.auditing.problem

    async def _show_figures(self, state: LinkState) -> None:
        link, sealed = self.store.link.id, self._mark.seen.sealed
        figures = await self._figures.read(state.floor_changes)
        self._metrics.show_link_state(link, state, figures, sealed)
        if (memory := await self._figures.memory()) is not None:
            self._metrics.set("redis_memory_used_bytes", memory.used_bytes, link)
            self._metrics.set("redis_memory_limit_bytes", memory.limit_bytes, link)

    async def _watch_servers(self, redis: ReplicatedRedis) -> None:
        """Count missing sentinels, replicas and nodes.

        Without them, the failure of another server can stop the link.
        """
        before: set[str] = set()
        while True:
            missing = await redis.discovery.missing()
            self._metrics.set("redis_servers_missing", len(missing), self.store.link.id)
            if set(missing) != before:
                before = set(missing)
                if missing:
                    self._log.warning("redis servers missing", missing=missing)
                else:
                    self._log.info("redis servers complete")
            await asyncio.sleep(SERVERS_EVERY_S)

    def _show_beat(self, took_s: float) -> None:
        self._metrics.show_beat(
            self.store.link.id,
            operable=self.problem is None and self.broker_problem is None,
            closed=self._closed is not None,
            missed=max(0, round(took_s / self._pace.check_every_s) - 1),
            lasted_s=took_s,
        )

    def _fail(self, problem: Exception | str, *, audit: bool = True) -> None:
        """Stop the link. With `audit`, it must be audited before it operates again."""
        message = problem if isinstance(problem, str) else failure_text(problem)
        again = self.problem is None
        if isinstance(problem, NotSyncedError):
            self._file_watch.note_unsynced()
        self._set_problem(message)
        self._note_outage(message, again=again)
        self._intake.forget()
        self.publisher.publish_inoperable(of_all=self._of_all)
        if audit:
            self.auditing.want()

    def _note_outage(self, problem: str, *, again: bool) -> None:
        """Record an outage, unless another service operates the link, or only an audit is due."""
        others = self.publisher.others
        operated = not self._of_all and (others.operate if again else others.may_operate)
        if problem != NOT_AUDITED and not operated:
            self._outages.begin(problem, again=again)

    def _set_problem(self, problem: str | None) -> None:
        if problem != self.problem:
            if problem and self.problem is None:
                self._metrics.count("link_outages", self.store.link.id)
            if problem in _PASSING:
                self._log.info("link waits", reason=problem)
            elif problem:
                self._log.error("link inoperable", reason=problem)
            else:
                self._log.info("link operable")
            self.problem = problem
            self._ring()
