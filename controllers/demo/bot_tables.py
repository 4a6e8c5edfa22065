"""Tables at which bots play, with totals from the answers to their device events."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import uvloop
from msgspec import UNSET

from bonus.errors import UserError, nearest
from controllers.agent.agent import Agent
from controllers.agent.delivery import BrokerPlace
from controllers.agent.metrics import AgentMetrics, serve_metrics
from controllers.agent.startup import ListeningAddress, broker_of, outbox_path, user_error_in
from controllers.demo.dealer_bots import ROUND_S, STACK_EVERY, end_rounds, run_bot
from controllers.table.device_events import DeviceAnswer
from controllers.table.state import PlacedWager
from meters.floor.floor_file import Floor, Link, Table, read_own_floor
from meters.http.middleware import ServerSettings
from meters.process.logs import LogLevel, log_to_stderr
from meters.process.printing import print_text
from meters.process.signals import on_stop


@dataclass(slots=True)
class TableBooks:
    """Totals of all tables; wagers and contributions of voided rounds are not included.

    `rounds` counts those with a progressive wager, and `wins` settlement lines with a payout. In
    `meter_wagers`, as in the ledger, a wager counts once for each meter that it feeds. The
    contributions are those to meters and reserves, at the rates of the meters.
    """

    rounds: int = 0
    wagers: int = 0
    wagered_cents: int = 0
    meter_wagers: int = 0
    meter_wagered_cents: int = 0
    contributions_micros: int = 0
    wins: int = 0
    won_cents: int = 0


class BookedAgent(Agent):
    def __init__(
        self, link: Link, table: Table, broker: BrokerPlace, outbox_path: Path, books: TableBooks
    ) -> None:
        super().__init__(link, table, broker, outbox_path)
        self._books = books
        rates_bps = {
            kind: meter.terms.primary_bps + meter.terms.reserve_bps
            for kind, meter in link.meters_of(table).items()
        }
        self._rates_bps = {
            wager: [rates_bps[kind] for kind in tables.fed if kind in rates_bps]
            for wager, tables in self.layout.rules.meters.terms.items()
        }
        self._counted: tuple[PlacedWager, ...] = ()

    def on_answer(self, answer: DeviceAnswer) -> None:
        if not answer.ok:
            return
        match answer.event:
            case "lockout" if answer.round is not UNSET:
                self._counted = self.table_state.wagers
                self._count(1)
            case "correct_wager":
                self._count(-1)
                self._counted = self.table_state.wagers
                self._count(1)
            case "settle" if self._counted:
                self._counted = ()
                self._books.rounds += 1
                paid_cents = [line.paid for line in answer.lines or () if line.paid]
                self._books.wins += len(paid_cents)
                self._books.won_cents += sum(paid_cents)
            case "void":
                self._count(-1)
                self._counted = ()

    def _count(self, sign: int) -> None:
        for placed in self._counted:
            cents = sign * placed.amount_cents
            self._books.wagers += sign
            self._books.wagered_cents += cents
            for rate_bps in self._rates_bps[placed.wager]:
                self._books.meter_wagers += sign
                self._books.meter_wagered_cents += cents
                self._books.contributions_micros += cents * rate_bps


@dataclass(frozen=True, slots=True)
class BotOptions:
    """Options of bots; without `tables`, they play at all tables of the floor file.

    `speed` is relative to a real table. Without `for_s`, there is no limit. One deck of every
    `stack_every` is stacked on average; with 0, none.
    """

    tables: tuple[str, ...] = ()
    speed: float = 1.0
    for_s: float | None = None
    stack_every: int = STACK_EVERY
    metrics: ListeningAddress | None = None


def run_bot_tables(config: Path, options: BotOptions) -> None:
    """Let bots play until they are stopped, and print the totals.

    Raises:
        UserError: the floor is not a demonstration, a table is not on the floor, or the floor's
            broker, keys or outboxes cannot be used.
    """
    log_to_stderr(None, LogLevel.INFO)
    floor = read_own_floor(config)
    if not floor.facility.demonstration:
        raise UserError(
            f"{config} does not say `demonstration = true` under [facility]. Bots may play only on"
            " such a floor, because their wagers stay in the ledger"
        )
    chosen = _chosen(floor, options.tables)
    books = TableBooks()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_play(floor, chosen, options, books))
    except BaseExceptionGroup as group:
        raise user_error_in(group) or group from None
    print_text(
        f"{counted(len(chosen), 'table')}: {counted(books.rounds, 'round')} with progressive"
        f" wagers, {counted(books.wagers, 'wager')}, {counted(books.wins, 'win')}"
    )


def _chosen(floor: Floor, tables: Sequence[str]) -> Sequence[tuple[Link, Table]]:
    everywhere = {table.id: (link, table) for link in floor.link for table in link.table}
    for name in tables:
        if name not in everywhere:
            raise UserError(f"--table: the floor has no table {name}{nearest(name, everywhere)}")
    return [everywhere[name] for name in dict.fromkeys(tables or everywhere)]


async def _play(
    floor: Floor, chosen: Sequence[tuple[Link, Table]], options: BotOptions, books: TableBooks
) -> None:
    """Play until SIGINT, SIGTERM or the time limit, then wait for the current rounds to end."""
    stopping = asyncio.Event()
    on_stop(stopping.set)
    async with AsyncExitStack() as stack:
        agents = [
            await stack.enter_async_context(
                BookedAgent(
                    link, table, broker_of(floor, link, table), outbox_path(floor, table.id), books
                )
            )
            for link, table in chosen
        ]
        bots = [asyncio.create_task(_deal(agent, options, stopping)) for agent in agents]
        stopped = asyncio.create_task(stopping.wait())
        serving = asyncio.create_task(_serve_metrics(floor, agents, options.metrics))
        try:
            await asyncio.wait(
                {*bots, stopped, serving},
                timeout=options.for_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            stopping.set()
            await end_rounds(agents, bots)
            for ended in (serving, *bots):
                if ended.done():
                    ended.result()
        finally:
            for task in (*bots, serving, stopped):
                task.cancel()
            await asyncio.gather(*bots, serving, stopped, return_exceptions=True)


async def _serve_metrics(
    floor: Floor, agents: Sequence[BookedAgent], at: ListeningAddress | None
) -> None:
    """Serve the metrics of all agents until canceled; without an address, only wait."""
    metrics = AgentMetrics()
    for agent in agents:
        metrics.add(agent)
    ready = asyncio.Event()
    if at is None:
        await ready.wait()
    else:
        await serve_metrics(
            metrics, at.host, at.port, ready, settings=ServerSettings.of(floor.service)
        )


async def _deal(agent: BookedAgent, options: BotOptions, stopping: asyncio.Event) -> None:
    await run_bot(
        agent,
        random.Random(),  # noqa: S311  (a simulation)
        round_s=ROUND_S / options.speed,
        stack_every=options.stack_every,
        stopping=stopping,
    )


def counted(number: int, noun: str) -> str:
    """Return text such as ``1 table`` or ``1,200 rounds``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
