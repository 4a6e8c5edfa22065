"""One process of the service: the tables' events, the links, and the web server.

The way of a table's event: the broker's connection calls `_receive`, which puts the message into a
lane of the `MessageQueue`. `_apply_batches` takes a message from each lane, `LinkService` and its
`LinkIntake` apply the events of a link, and `_apply_to_link` publishes the replies.
"""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import structlog
from redis.exceptions import RedisError

from bonus.errors import UserError
from bonus.json_input import UNREADABLE
from meters.acts.claim_views import hit_message
from meters.acts.claims import Claims
from meters.acts.correction_decisions import Asks
from meters.acts.floor_history import FloorHistory
from meters.acts.links import Links
from meters.acts.simulated_floorperson import VALIDATES, validate_what_waits
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor, Link
from meters.floor.server_addresses import BrokerAddress
from meters.http.middleware import ServerSettings
from meters.http.server import serve_web
from meters.intake.batches import Arrival
from meters.intake.table_catalog import CatalogTable, table_topics
from meters.ledger.claim_records import ClaimRecord
from meters.mqtt.broker_connect import connect_broker
from meters.mqtt.connection import (
    BrokerConnection,
    BrokerError,
    Message,
    MessageQueue,
    Receive,
    TooLongError,
    prove_size,
)
from meters.mqtt.subscriptions import EventSubscriptions
from meters.process.logs import ThrottledLog
from meters.process.owned_tasks import OwnedTasks
from meters.reports.floor_reports import FloorReports
from meters.selfcheck.break_even import BreakEvens
from meters.selfcheck.software import SelfCheck
from meters.service.auditor_client import AuditorProcess
from meters.service.ledger_auditing import CarryOut
from meters.service.link_publisher import LinkPublisher
from meters.service.link_service import LinkService
from meters.service.log_auditing import LogAuditing, note_start
from meters.service.pace import USUAL, Pace
from meters.service.publishing_turn import HEARD_FOR_S
from meters.service.service_metrics import UNKNOWN, Metrics
from meters.store.client_name import ClientName
from meters.store.credentials import session_secret
from meters.store.event_refusals import refused
from meters.store.facility_notes import stored_event_group
from meters.store.floor_file_approval import Configuration
from meters.store.hidden_value_seal import HiddenValues
from meters.store.ledger_mark import LedgerMark
from meters.store.link_store import LinkStore
from meters.store.redis_clients import AnyRedis
from meters.users.log_audit import LogMark
from meters.users.log_macs import LogSecrets
from meters.users.users import UserDirectory, let_in
from meters.web.display_state import DisplayState
from meters.web.streams import ChangeSignal
from meters.web.table_states import TableStates
from meters.web.web_app import create_app
from meters.wire import topics
from meters.wire.broker_client import ConnectPace
from meters.wire.messages import TABLE_STATUS, Jackpot, seq_of
from meters.wire.topics import TableAddress

log = structlog.get_logger()

BATCH_EVENTS_MAX: Final = 400
BATCHES_AT_ONCE: Final = 3
_LEFT_WITHIN_S: Final = 2.0
_ANSWERED_WITHIN_S: Final = 3.0
_FLUSHED_WITHIN_S: Final = 1.0
_LOOKS: Final = 3
_LOOK_EVERY_S: Final = 0.01

Connect = Callable[
    [BrokerAddress, str, MessageQueue, Receive], AbstractAsyncContextManager[BrokerConnection]
]
"""Function that connects to the broker, such as `connect_broker`."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Options of one run of the service.

    With `auto_floor`, a simulated floorperson validates and pays each win that has waited for
    `auto_floor_after_s`. The simulated floorperson also approves the floor file, unless a person
    has approved it. With `demo_users`, the service adds the users of a demonstration, whose PIN
    everybody knows. It adds none of them if the floor has users of its own, or if people have
    approved the floor.
    """

    auto_floor: bool = False
    auto_floor_after_s: float = 0.0
    demo_users: bool = False
    pace: Pace = USUAL


class MeterService:
    """One process of the service.

    `identifier`, its name at the broker and in its log, is new at each start. `carry_out` has an
    auditor carry out an order; without it, the service starts an auditor of its own.
    """

    def __init__(
        self,
        floor: Floor,
        redis: AnyRedis,
        options: ServeOptions,
        connect: Connect = connect_broker,
        carry_out: CarryOut | None = None,
    ) -> None:
        self._floor, self._redis, self._options, self._connect = floor, redis, options, connect
        self.identifier = f"pitlink-{uuid.uuid4().hex[:12]}"
        data, shared = Path(floor.service.data), floor.service.broker != "embedded"
        log_secrets = LogSecrets.of(floor.service)
        self._metrics = Metrics(floor)
        self._displays, self._bell = DisplayState(), ChangeSignal()
        self._self_check = SelfCheck(floor)
        self._batches: set[asyncio.Task[None]] = set()
        show = partial(self._metrics.set, "auditor_up")
        auditor = AuditorProcess(floor, show)
        self._auditor = None if carry_out else auditor
        self.user_directory = UserDirectory(
            redis,
            floor.service.idle_minutes,
            secret=session_secret(floor.service),
            log_secrets=log_secrets,
            count_refused=partial(self._metrics.count, "sign_ins_refused"),
            demonstration=floor.facility.demonstration,
        )
        self._log_mark = LogMark(data)
        self._log_auditing = LogAuditing(
            redis,
            self._log_mark,
            self._post,
            partial(self._metrics.set, "operators_log_holds"),
            log_secrets,
            pace=options.pace,
        )
        hidden = HiddenValues.of(floor)
        stores = {link.id: LinkStore(redis, link, hidden) for link in floor.link}
        days = GamingDays.of_facility(floor.facility)
        opens_as = VALIDATES if options.auto_floor else None
        self._links = {
            link: LinkService(
                store,
                LedgerMark(data, link),
                LinkPublisher(store, self._displays, self._metrics, self._post),
                self._metrics,
                days=days,
                configuration=Configuration(floor, store, opens_as=opens_as),
                self_check=self._self_check,
                adopt=self._adopt,
                ring=self._ring,
                carry_out=carry_out or auditor.carry_out,
                pace=options.pace,
            )
            for link, store in stores.items()
        }
        self._claims = Claims(floor, self._links, self._publish_jackpot)
        self._asks = Asks(floor, self._links, self._bell.ring)
        self._tasks = OwnedTasks()
        break_evens = BreakEvens(floor, self._tasks)
        self._history = FloorHistory(floor, stores, break_evens.of, self._tasks)
        self._reports = FloorReports(floor, [*stores.values()], self._tasks)
        self._table_states = TableStates(floor)
        self._online: dict[str, set[str]] = {link: set() for link in stores}
        self._link_acts = Links(self._links, self._online)
        follow, watchers = self._metrics.follow, self._displays.watchers
        follow("self_check_passed", lambda: self._self_check.problem is None)
        follow("streams_open", partial(watchers, staff=False), "display")
        follow("streams_open", partial(watchers, staff=True), "staff")
        for link_id, online in self._online.items():
            follow("tables_online", partial(len, online), link_id)
        self._tables: dict[str, CatalogTable] = {}
        self._statuses: dict[str, TableAddress] = {}
        for link in floor.link:
            self._adopt(link)
        self._beats = {topics.controller(id_): link for id_, link in self._links.items()}
        self._meters = {
            topics.meter(link.id, meter.meter_id): self._links[link.id]
            for link in floor.link
            for meter in link.meter
            if shared  # the embedded broker has only this service
        }
        self._events = EventSubscriptions(self._links, self._operable, shared=shared)
        self._client_name = ClientName(redis, floor.link[0].id, self._show_broker_problem)
        self._size_problem: str | None = None
        self._connection: BrokerConnection | None = None
        self._queue: MessageQueue | None = None
        self._free = asyncio.Semaphore(BATCHES_AT_ONCE)
        self._dropped, self._strangers = ThrottledLog(), ThrottledLog()
        self._stopping = False

    def _adopt(self, link: Link) -> None:
        for address, known in table_topics(self._floor, link).items():
            self._tables[topics.table_out(*address)] = known
            self._statuses[topics.table_status(*address)] = address

    def _ring(self) -> None:
        self._bell.ring()
        self._events.refresh()

    def _operable(self) -> Sequence[str]:
        return [id_ for id_, link in self._links.items() if link.problem is None]

    def inoperable(self) -> Mapping[str, str]:
        found = {id_: link.problem for id_, link in self._links.items() if link.problem}
        if self._connection is None:
            found = {id_: found.get(id_, self._broker_problem) for id_ in self._links}
        if self._stopping:
            found = dict.fromkeys(self._links, "the service is stopping")
        return found

    @property
    def _broker_problem(self) -> str:
        return self._client_name.problem or self._size_problem or "no broker"

    def _show_broker_problem(self) -> None:
        for link in self._links.values():
            link.set_broker_problem(self._broker_problem)

    async def run(self, broker: Callable[[], BrokerAddress], ready: asyncio.Event) -> None:
        """Serve until canceled. `broker` returns the broker's address before each connection.

        Raises:
            UserError: the web server cannot listen on its address.
        """
        if self._options.demo_users:
            await self._let_in()
        host, _, port = self._floor.service.http.rpartition(":")
        app = create_app(
            self._floor,
            self._displays,
            claims=self._claims,
            asks=self._asks,
            links=self._link_acts,
            history=self._history,
            reports=self._reports,
            tables=self._table_states,
            changes=self._bell,
            user_directory=self.user_directory,
            log_seal=lambda: self._log_mark.log_seal,
            inoperable=self.inoperable,
            exposition=self._metrics.exposition,
        )
        async with self._tasks, asyncio.TaskGroup() as group:
            group.create_task(note_start(self.user_directory.log), name="log")
            pages = serve_web(
                app,
                host,
                int(port),
                ready,
                self._displays.close,
                settings=ServerSettings.of(self._floor.service),
            )
            group.create_task(pages, name="web")
            if self._options.auto_floor:
                group.create_task(
                    validate_what_waits(self._claims, self._asks, self._options.auto_floor_after_s),
                    name="floorperson",
                )
            await self.work(broker, group)

    async def _let_in(self) -> None:
        try:
            for id_, link in self._links.items():
                if await link.configuration.is_of_people():
                    reason = f"a person approved link {id_} or another link"
                    log.warning("people not let in", reason=reason)
                    return
        except (RedisError, OSError) as error:
            log.warning("people not let in", reason=f"Redis failed: {error}")
            return
        await let_in(self.user_directory.users)

    async def work(self, broker: Callable[[], BrokerAddress], group: asyncio.TaskGroup) -> None:
        """Run the links and apply the tables' events until canceled, without the web server."""
        if self._auditor:
            group.create_task(self._auditor.run(), name="auditor")
        group.create_task(self._self_check.run(), name="self-check")
        group.create_task(self._log_auditing.run(), name="operators' log")
        for link in self._links.values():
            link.publisher.others.listen_first()
            link.set_broker_problem(self._broker_problem)
            for name, job in link.jobs().items():
                group.create_task(job, name=name)
        # After a restart of the broker, a new display sees the old values that the broker retained.
        # So the service waits only shortly before it connects and publishes current values.
        pace = ConnectPace(cap_s=0.5)
        while True:
            pace.begin()
            await self._serve_broker(broker, group)
            await pace.pause()

    async def stop(self) -> None:
        """Leave new events to other services, and reply to the events received so far.

        This returns within a few seconds, even if a part of the service does not respond. Then the
        caller can cancel `run`.
        """
        self._stopping = True
        connection, queue = self._connection, self._queue
        if connection is None or queue is None:
            return
        publishers = [link.publisher for link in self._links.values()]
        for each in publishers:
            each.fall_silent()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LEFT_WITHIN_S):
                await self._events.leave()
        await stays_true(lambda: queue.empty() and not self._batches, within_s=_ANSWERED_WITHIN_S)
        await stays_true(
            lambda: all(each.others.are_known for each in publishers), within_s=HEARD_FOR_S
        )
        for each in publishers:
            each.publish_end()
        await stays_true(lambda: not connection.unsent_bytes, within_s=_FLUSHED_WITHIN_S)

    async def _serve_broker(
        self, broker: Callable[[], BrokerAddress], batches: asyncio.TaskGroup
    ) -> None:
        try:
            queue, address = MessageQueue(), broker()
            await self._client_name.wait_until_free(address)
            receive = partial(self._receive, queue)
            async with self._connect(address, self.identifier, queue, receive) as connection:
                await prove_size(connection, topics.SIZE_PROOF)
                await connection.subscribe(topics.EVERY_TABLE_STATUS)
                for link in self._links.values():
                    link.publisher.turns.forget()
                await connection.subscribe(*self._beats, *self._meters)
                self._connection, self._queue = connection, queue
                self._metrics.set("broker_connected", 1)
                self._metrics.count("broker_connections")
                log.info("broker connected", mqtt=connection.mqtt)
                for link in self._links.values():
                    link.begin_with_broker()
                following = batches.create_task(
                    self._events.follow(
                        connection, partial(self._event_group, address), self._publish_heartbeats
                    ),
                    name="events",
                )
                holding = batches.create_task(self._client_name.hold(address), name="name")
                batches.create_task(self._send_reopened(), name="reopened wins")
                try:
                    await self._apply_batches(connection, queue, batches)
                finally:
                    following.cancel()
                    holding.cancel()
        except (BrokerError, UserError) as error:
            self._size_problem = str(error) if isinstance(error, TooLongError) else None
            log.warning("broker gone", reason=str(error))
        finally:
            self._connection = None
            self._metrics.set("broker_connected", 0)
            if not self._stopping:
                self._show_broker_problem()

    async def _send_reopened(self) -> None:
        """Send the reopened wins again, because the tables can have missed them."""
        try:
            for link in self._links:
                await self._claims.send_reopened(link)
        except (RedisError, OSError) as error:
            log.warning("claims not retold", link=link, reason=str(error))

    def _publish_heartbeats(self) -> None:
        """Publish heartbeats now: a table repeats its event when it hears the service again."""
        for link in self._links.values():
            link.publish_heartbeat()

    async def _event_group(self, address: BrokerAddress) -> str:
        """Return the secret name, from the bundle or Redis, under which services share events."""
        return address.event_group or await stored_event_group(self._redis, self._floor.link[0].id)

    def _receive(self, queue: MessageQueue, message: Message) -> None:
        """Hear a heartbeat or a meter value, or put a table's message into the table's lane.

        All unknown tables have one lane.
        """
        topic = message.topic
        if (known := self._tables.get(topic)) is None:
            if (link := self._beats.get(topic)) is not None:
                link.hear_beat(message.payload, retained=message.retain)
                return
            if (link := self._meters.get(topic)) is not None:
                link.hear_meter(message.payload, retained=message.retain)
                return
        lane = topic if known is not None or topic in self._statuses else ""
        if not queue.put(message, lane):
            self._metrics.count("messages_dropped", known.address.link if known else UNKNOWN)
            if (more := self._dropped.due(lane)) is not None:
                log.warning("flooded", topic=lane or "strangers", kept_back=more)

    async def _apply_batches(
        self, connection: BrokerConnection, queue: MessageQueue, batches: asyncio.TaskGroup
    ) -> None:
        """Apply events in batches: decode one batch while Redis applies another batch.

        At one time, two batches have events of one table only if the table repeats an event. Redis
        recognizes the repeated event. Even if the connection is lost, a batch is completed, because
        displays must show what Redis has applied (duty D8).
        """
        while True:
            await self._free.acquire()
            try:
                batch = await connection.batch(BATCH_EVENTS_MAX)
                arrived_s = time.perf_counter() - queue.waited_s
                self._metrics.observe("intake_lag_seconds", queue.waited_s)
                by_link = self._sort(batch)
            except BaseException:
                self._free.release()
                raise
            task = batches.create_task(self._apply_batch(by_link, arrived_s), name="batch")
            self._batches.add(task)
            task.add_done_callback(self._batch_ended)

    def _batch_ended(self, task: asyncio.Task[None]) -> None:
        self._batches.discard(task)
        self._free.release()

    def _sort(self, batch: Sequence[Message]) -> dict[str, list[Arrival]]:
        by_link: dict[str, list[Arrival]] = {}
        for message in batch:
            topic = message.topic
            if (known := self._tables.get(topic)) is not None:
                arrival = Arrival(known, message.payload, message.correlation)
                by_link.setdefault(known.address.link, []).append(arrival)
            elif (table := self._statuses.get(topic)) is not None:
                self._note_status(table, message.payload)
            elif (stranger := topics.parse_table_out(topic)) is not None:
                self._refuse_stranger(stranger, message)
        return by_link

    async def _apply_batch(
        self, by_link: Mapping[str, Sequence[Arrival]], arrived_s: float
    ) -> None:
        work = (self._apply_to_link(self._links[id_], each) for id_, each in by_link.items())
        await asyncio.gather(*work)
        if by_link:
            self._metrics.observe("reply_seconds", time.perf_counter() - arrived_s)

    async def _apply_to_link(self, link: LinkService, arrivals: Sequence[Arrival]) -> None:
        outcome = await link.apply_batch(arrivals)
        follows = log.is_enabled_for(logging.DEBUG)
        for arrival, reply in outcome.replies:
            address = arrival.known.address
            self._reply(address, reply, arrival.correlation)
            if follows:
                log.debug(
                    "event answered",
                    link=address.link,
                    table=address.table,
                    seq=seq_of(reply),
                    sent=self._connection is not None,
                )
        for record, paid in outcome.hits:
            link.publisher.publish_jackpot(record, hit_message(record, paid))
            self._bell.ring()
        if outcome.asked:
            self._bell.ring()
        try:
            for address, claims in outcome.hellos:
                await self._claims.send_again(address.link, claims)
        except (RedisError, OSError) as error:
            log.warning("claims not retold", link=link.store.link.id, reason=str(error))

    def _note_status(self, address: TableAddress, payload: bytes) -> None:
        online = self._online[address.link]
        try:
            status = TABLE_STATUS.decode(payload)
        except UNREADABLE:
            return
        if status.state == "events_lost":
            log.error("events lost", link=address.link, table=address.table)
        self._table_states.note(*address, status)
        there = status.online
        if there == (address.table in online):
            return
        if there:
            online.add(address.table)
            log.info("table online", link=address.link, table=address.table)
        else:
            online.discard(address.table)
            log.info("table offline", link=address.link, table=address.table)
        self._bell.ring()
        self._metrics.set("table_online", there, *address)

    def _refuse_stranger(self, address: TableAddress, event: Message) -> None:
        message = f"the floor has no table {address.table} on link {address.link}"
        self._metrics.count("refusals", address.link, "unknown_table")
        seq, code = seq_of(event.payload), "unknown_table"
        if (more := self._strangers.due("")) is not None:
            logger = log.bind(link=address.link, table=address.table)
            logger.warning("event refused", seq=seq, code=code, kept_back=more)
        self._reply(address, refused(seq, code, message), event.correlation)

    def _reply(self, address: TableAddress, payload: bytes, correlation: bytes | None) -> None:
        if self._connection is not None:
            self._connection.reply(topics.table_in(*address), payload, correlation)

    def _post(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> bool:
        connection = self._connection
        if connection is not None:
            connection.post(topic, payload, retain=retain, expires_s=expires_s)
        return connection is not None

    def _publish_jackpot(self, record: ClaimRecord, jackpot: Jackpot) -> None:
        link = self._links[record.link]
        reopened = jackpot.event == "hit"
        link.publisher.publish_jackpot(record, jackpot, reopened=reopened)
        link.meters_changed()
        self._bell.ring()


async def stays_true(holds: Callable[[], bool], *, within_s: float) -> bool:
    """Wait until a condition stays true; return False after the time limit.

    The condition is checked several times: while one task hands a value to another, neither task
    has the value for a moment.
    """
    looks = 0
    try:
        async with asyncio.timeout(within_s):
            while looks < _LOOKS:
                looks = looks + 1 if holds() else 0
                await asyncio.sleep(_LOOK_EVERY_S)
    except TimeoutError:
        return False
    return True
