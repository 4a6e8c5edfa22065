"""One link in operation: its intake, its announcements, and whether it may operate at all."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

import structlog
from redis.exceptions import RedisError

from meters.announcer import COALESCE_S, Announcer
from meters.auditing import NOT_AUDITED, Auditing
from meters.books.figures import FigureBook
from meters.books.mark import LedgerMark, Mark, MarkError
from meters.books.outages import OutageBook
from meters.books.readings import ReadingBook
from meters.books.redis_health import redis_problem
from meters.books.standing import Head, LinkState
from meters.books.store import LinkStore, TermsError
from meters.hits import HitsInBooks
from meters.intake.batches import Arrival, LinkIntake, Outcome
from meters.metrics import Metrics
from meters.outages import Outages
from meters.selfcheck.configuration import Configuration
from meters.selfcheck.running import UNDER_WAY
from meters.wire.floor import Link
from meters.wire.gaming_day import GamingDays
from meters.wire.messages import seq_of
from meters.wire.topics import TableAddress

log = structlog.get_logger()

BEAT_S: Final = 1.0
CHECK_WITHIN_S: Final = 2.0
"""A store that has not answered by then is said to be gone, before displays lose patience."""
SERVICE: Final = "service"
"""The actor of what the service does by itself."""

_PASSING: Final = frozenset({NOT_AUDITED, UNDER_WAY})
"""What passes by itself, at each start and after each failure: nobody need be called."""
_STARTING: Final = "the link has not been checked yet"
_STORE_FAILED: Final = (RedisError, OSError, TermsError, ValueError, KeyError)
"""What the store raises where it fails; a value that is none is what it should not hold."""


def _told(error: Exception) -> str:
    """A failure of the store as displays and logs give it."""
    if isinstance(error, TermsError | MarkError):
        return str(error)
    damaged = isinstance(error, ValueError | KeyError)
    return f"{'the store is damaged' if damaged else 'Redis failed'}: {error}"


class LinkService:
    """Runs one link. It operates only while every check passes (duties D9, D10).

    Args:
        store: its books.
        mark: how far its ledger had come.
        announcer: speaks for it.
        metrics: what Prometheus reads.
        configuration: what of the floor file must have been approved.
        days: the facility's gaming days.
        unfit: says why no link of this service may operate, or None.
        adopt: is given the link as it operates, each time that its parameters were read.
        ring: is called when something has changed that floorpersons see.

    Attributes:
        auditing: whether its ledger and books are in order.
    """

    def __init__(
        self,
        store: LinkStore,
        mark: LedgerMark,
        announcer: Announcer,
        metrics: Metrics,
        *,
        configuration: Configuration,
        days: GamingDays,
        unfit: Callable[[], str | None],
        adopt: Callable[[Link], None],
        ring: Callable[[], None],
    ) -> None:
        self.store = store
        self.announcer = announcer
        self.configuration = configuration
        self._unfit = unfit
        self._metrics = metrics
        self._adopt = adopt
        self._ring = ring
        self._desk = 0
        self._closed: str | None = None
        self._intake = LinkIntake(store, metrics)
        self._hits = HitsInBooks(store, announcer)
        self.auditing = Auditing(store, mark, announcer, metrics, _told)
        self._figures = FigureBook(store)
        self._mark = mark
        outages = mark.path.with_name(f"{store.link.id}.outage.json")
        self._outages = Outages(outages, OutageBook(store, SERVICE).note)
        self._readings = ReadingBook(store, days, SERVICE)
        self._problem: str | None = _STARTING
        self._may_differ = False
        self._changed = asyncio.Event()
        self._log = log.bind(link=store.link.id)

    @property
    def problem(self) -> str | None:
        """Why the link is inoperable, or None while it operates."""
        return self._problem

    @property
    def seen(self) -> Mark:
        """What was seen of the ledger, and up to which entry it was found in order."""
        return self._mark.seen

    async def take(self, arrivals: Sequence[Arrival]) -> Outcome:
        """Take a batch of this link's events.

        While the link is inoperable, and where the store or the mark fails, nothing is answered:
        the tables keep their events and repeat them.
        """
        if self._problem:
            self._log.debug("events left unanswered", events=len(arrivals), reason=self._problem)
            return Outcome()
        try:
            outcome = await self._intake.take(arrivals)
            if outcome.replies:
                self._set_mark(self.store.head)
        except (RedisError, OSError, TermsError) as error:
            self._fail(error)
            return Outcome()
        except Exception:
            if len(arrivals) > 1:
                return await self._take_singly(arrivals)
            # A defect of ours must not stop the other tables; this one stays unanswered.
            self._log.exception(
                "event not taken",
                table=arrivals[0].known.table.id,
                seq=seq_of(arrivals[0].payload),
            )
            self._metrics.running.count_not_taken(self.store.link.id)
            return Outcome()
        if outcome.changed:
            self._changed.set()
        return outcome

    def tell_answered(self, replies: Sequence[tuple[TableAddress, bytes]], *, sent: bool) -> None:
        """Say of each event that it was answered, where each is followed.

        Args:
            replies: the replies.
            sent: whether there was a broker to take them; else the tables repeat their events.
        """
        if self._log.is_enabled_for(logging.DEBUG):
            for address, reply in replies:
                self._log.debug("event answered", table=address.table, seq=seq_of(reply), sent=sent)

    async def _take_singly(self, arrivals: Sequence[Arrival]) -> Outcome:
        """Take each event by itself, so that the one that cannot be taken holds up no other."""
        whole = Outcome()
        for arrival in arrivals:
            whole.add(await self.take([arrival]))
        return whole

    async def look_again(self) -> None:
        """Take in what people changed in the books, and tell every display at once.

        Raises:
            TermsError: the link's terms are not those of the floor file.
            MarkError: the mark cannot be written.
            RedisError: the store failed.
        """
        await self._open()
        state = await self.store.state()
        self._set_mark(state.head)
        self._take_in(state)
        self._tell_beat()

    async def keep_mark(self) -> None:
        """Note outside the store how far its ledger has come, before anybody is told of an entry.

        So a store that loses what was answered is found out, however soon it happens (duty D10).

        Raises:
            MarkError: the mark cannot be written.
            TermsError: the link's terms are no longer those that it opened with.
            RedisError: the store failed.
        """
        self._set_mark((await self.store.state()).head)

    def _set_mark(self, head: Head) -> None:
        self._mark.note(head.entry, head.chain)

    def hear_beat(self, payload: bytes, *, retained: bool) -> None:
        """Take in a beat of this link, ours or another service's.

        That another cannot operate the link is no word on us, who do: our next beat says so, and
        the meters are told anew.
        """
        if self.announcer.others.hear(payload, retained=retained) and self._problem is None:
            self.announcer.forget_told()
            self.meters_changed()

    def meters_changed(self) -> None:
        """Have the meters published soon."""
        self._changed.set()

    async def beat(self) -> None:
        """Check and say, every second, whether the link operates; publish what others changed."""
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            await self._check()
            self._tell_beat()
            self._show_beat(loop.time() - began)
            await asyncio.sleep(max(0.0, began + BEAT_S - loop.time()))

    async def publish(self) -> None:
        """Publish the meters when they changed, coalesced, for ever."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._problem is None:
                try:
                    self._take_in(await self.store.state())
                except _STORE_FAILED as error:
                    self._fail(error)
            await asyncio.sleep(COALESCE_S)

    async def _check(self) -> None:
        try:
            async with asyncio.timeout(CHECK_WITHIN_S):
                problem, audit = await self._find_problem()
                if problem is None:
                    if self._problem is not None:
                        await self.configuration.adopt(SERVICE)
                        await self._open()
                        await self._hits.show_waiting()
                    state = await self.store.state()
                    # First, so that no wager of today is counted with a day that is over.
                    await self._readings.keep(state.day)
                    self._set_mark(state.head)
                    self._set_problem(None)
                    self._take_in(state)
                    await self._hits.look(state)
                    await self._show_figures(state)
                    await self._outages.note()
        except TimeoutError:
            self._metrics.running.show_redis(self.store.link.id, ready=False)
            self._fail(f"Redis has not answered for {CHECK_WITHIN_S:.0f} seconds")
        except _STORE_FAILED as error:
            self._fail(error)
        else:
            if problem is not None:
                self._fail(problem, audit=audit)

    async def _find_problem(self) -> tuple[str | None, bool]:
        """Why the link may not operate, and whether its ledger is to be compared again then.

        What an audit has found comes before the configuration, which is of no use on such books.
        """
        if unfit := self._unfit():
            return unfit, False
        broken = await redis_problem(self.store.redis)
        self._metrics.running.show_redis(self.store.link.id, ready=broken is None)
        if broken:
            self._may_differ = True
            return broken, False
        if other := await self.store.schema_problem():
            self._may_differ = True
            return other, False
        if self._may_differ:
            # What was compared before the cause was gone says nothing of what was done until then.
            self._may_differ = False
            self.auditing.want()
        unbalanced = self.auditing.problem
        if unbalanced is not None and unbalanced != NOT_AUDITED:
            return unbalanced, False
        unapproved = await self.configuration.problem()
        self._metrics.books.show_approval(self.store.link.id, due=unapproved is not None)
        if unapproved:
            return unapproved, unapproved != self._problem
        return unbalanced, False

    async def _open(self) -> None:
        """Open the books, under the parameters that are in force."""
        await self.store.open(SERVICE)
        self.announcer.adopt(self.store.link)
        self._adopt(self.store.link)

    def _take_in(self, state: LinkState) -> None:
        """Tell what the books hold, and whoever watches the desks where they changed."""
        self._closed = state.closure.reason if state.closure else None
        self.announcer.tell_meters(state)
        if state.desk != self._desk:
            self._desk = state.desk
            self._ring()

    def _tell_beat(self) -> None:
        self.announcer.tell_beat(self._problem, self._closed, of_all=self._of_all)

    @property
    def _of_all(self) -> bool:
        """Whether the link is inoperable for what an audit found, whoever else operates it.

        All else may be wrong with this service alone, its way to the store or its floor file. Where
        it is not, the others find it too.
        """
        return self.auditing.books_differ and self._problem == self.auditing.problem

    async def _show_figures(self, state: LinkState) -> None:
        link, sealed = self.store.link.id, self._mark.seen.sealed
        figures = await self._figures.read(state.desk)
        self._metrics.books.show_standing(link, state, figures, sealed)
        self._metrics.running.show_memory(link, await self._figures.memory())

    def _show_beat(self, took_s: float) -> None:
        self._metrics.running.show_beat(
            self.store.link.id,
            operable=self._problem is None,
            closed=self._closed is not None,
            missed=int(took_s / BEAT_S),
            lasted_s=max(took_s, BEAT_S),
        )

    def _fail(self, problem: Exception | str, *, audit: bool = True) -> None:
        """Stop the link; once the cause is gone, its ledger is compared again before it goes on."""
        told, again = problem if isinstance(problem, str) else _told(problem), self._problem is None
        self._set_problem(told)
        self._note_outage(told, again=again)
        self._intake.forget()
        self.announcer.tell_inoperable(of_all=self._of_all)
        if audit:
            self.auditing.want()

    def _note_outage(self, problem: str, *, again: bool) -> None:
        """Keep that the link does not operate, which it does where another service operates it."""
        others = self.announcer.others
        operated = not self._of_all and (others.operate if again else others.may_operate)
        if problem != NOT_AUDITED and not operated:
            self._outages.begin(problem, again=again)

    def _set_problem(self, problem: str | None) -> None:
        if problem != self._problem:
            if problem and self._problem is None:
                self._metrics.running.count_outage(self.store.link.id)
            if problem in _PASSING:
                self._log.info("link waits", reason=problem)
            elif problem:
                self._log.error("link inoperable", reason=problem)
            else:
                self._log.info("link operable")
            self._problem = problem
            self._ring()
