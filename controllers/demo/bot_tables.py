"""Tables at which bots play, with totals from the answers to their device events."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from msgspec import UNSET

from bonus.errors import UserError, nearest
from controllers.agent.agent import Agent
from controllers.agent.agent_metrics import AgentMetrics, serve_metrics
from controllers.agent.delivery import BrokerPlace
from controllers.agent.startup import broker_of, cancel_all, outbox_path, run_agents
from controllers.demo.dealer_bots import ROUND_S, RoundPlayed, end_rounds, run_bot
from controllers.table.device_events import DeviceAnswer
from controllers.table.state import PlacedWager
from meters.floor.floor_file import Floor, Link, Table, read_own_floor
from meters.floor.server_addresses import HostPort
from meters.http.middleware import ServerSettings
from meters.process.logs import LogLevel, log_to_stderr
from meters.process.printing import print_text
from meters.process.signals import on_stop


@dataclass(frozen=True, slots=True)
class BotOptions:
    """How bots play, at a `speed` relative to a real table.

    They play for `for_s` seconds, or without a time limit if it is None. On average, one of
    `stack_every` decks is stacked; 0 means that no deck is stacked.
    """

    speed: float
    for_s: float | None
    stack_every: int


@dataclass(slots=True)
class TableBooks:
    """Totals of all tables, without the wagers and contributions of void rounds.

    `rounds` counts rounds with a progressive wager; `wins` counts settlement lines with a payout,
    and must-hit-by wins.
    In `meter_wagers`, as in the ledger, a wager counts once for each meter that it feeds. The
    contributions are those to meters and reserves, at the rates of the meters.
    """

    rounds: int = 0
    wagers: int = 0
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
        hidden = link.must_hit_by_of(table)
        self._rates_bps = {
            wager: [
                *(rates_bps[kind] for kind in tables.fed if kind in rates_bps),
                *(meter.terms.primary_bps for meter in hidden if wager in meter.wagers),
            ]
            for wager, tables in self.layout.rules.meters.terms.items()
        }
        self._counted: tuple[PlacedWager, ...] = ()

    def on_answer(self, answer: DeviceAnswer) -> None:
        if not answer.ok:
            return
        if answer.event in {"lockout", "correct_wager"}:
            for won in answer.claims or ():
                self._books.wins += 1
                self._books.won_cents += won.amount
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
            for rate_bps in self._rates_bps[placed.wager]:
                self._books.meter_wagers += sign
                self._books.meter_wagered_cents += cents
                self._books.contributions_micros += cents * rate_bps


@asynccontextmanager
async def booked_agents(
    floor: Floor, tables: Iterable[tuple[Link, Table]], books: TableBooks, metrics: AgentMetrics
) -> AsyncIterator[list[BookedAgent]]:
    """Run the agents of tables while the block runs.

    Raises:
        UserError: the broker's address, the keys of a table, or an outbox cannot be used.
    """
    async with AsyncExitStack() as stack:
        agents = []
        for link, table in tables:
            path = outbox_path(floor, table.id)
            agent = BookedAgent(link, table, broker_of(floor, link, table), path, books)
            agents.append(await stack.enter_async_context(agent))
            metrics.add(agent)
        yield agents


async def play_tables(
    agents: Sequence[BookedAgent],
    stopping: asyncio.Event,
    ended: "asyncio.Task[None]",
    options: BotOptions,
    on_round: Callable[[BookedAgent, RoundPlayed], None] | None = None,
) -> None:
    """Let bots deal until `stopping` is set, the time is over, or the task `ended` or a bot ends.

    Then the bots end their current rounds. If a task failed, raise its error.
    """
    bots = [
        asyncio.create_task(
            run_bot(
                agent,
                random.Random(),  # noqa: S311  (a simulation)
                round_s=ROUND_S / options.speed,
                stack_every=options.stack_every,
                stopping=stopping,
                on_round=on_round and partial(on_round, agent),
            )
        )
        for agent in agents
    ]
    stopped = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait(
            {*bots, ended, stopped}, timeout=options.for_s, return_when=asyncio.FIRST_COMPLETED
        )
        stopping.set()
        await end_rounds(agents, bots, ended)
        for task in (ended, *bots):
            if task.done():
                task.result()
    finally:
        await cancel_all([*bots, ended, stopped])


def run_bot_tables(
    config: Path, tables: Sequence[str], options: BotOptions, metrics_at: HostPort | None
) -> None:
    """Let bots play at `tables`, or at all tables of the floor file; then print the totals.

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
    everywhere = {table.id: (link, table) for link in floor.link for table in link.table}
    for name in tables:
        if name not in everywhere:
            raise UserError(f"--table: the floor has no table {name}{nearest(name, everywhere)}")
    chosen = [everywhere[name] for name in dict.fromkeys(tables or everywhere)]
    books = TableBooks()
    run_agents(_play(floor, chosen, options, metrics_at, books))
    print_text(
        f"{counted(len(chosen), 'table')}: {counted(books.rounds, 'round')} with progressive"
        f" wagers, {counted(books.wagers, 'wager')}, {counted(books.wins, 'win')}"
    )


async def _play(
    floor: Floor,
    chosen: Sequence[tuple[Link, Table]],
    options: BotOptions,
    metrics_at: HostPort | None,
    books: TableBooks,
) -> None:
    stopping, metrics = asyncio.Event(), AgentMetrics()
    on_stop(stopping.set)
    async with booked_agents(floor, chosen, books, metrics) as agents:
        serving = asyncio.create_task(_serve_metrics(floor, metrics, metrics_at))
        await play_tables(agents, stopping, serving, options)


async def _serve_metrics(floor: Floor, metrics: AgentMetrics, at: HostPort | None) -> None:
    ready = asyncio.Event()
    if at is None:
        await ready.wait()
    else:
        settings = ServerSettings.of(floor.service)
        await serve_metrics(metrics, at.host, at.port, ready, settings=settings)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
