"""A run of the demonstration: service, bot tables, and the panel of one more table."""

import asyncio
import fcntl
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rich.live import Live

from bonus.errors import UserError
from controllers.agent.agent_metrics import AgentMetrics
from controllers.agent.startup import cancel_all, run_agents, served
from controllers.demo.bot_tables import (
    BookedAgent,
    BotOptions,
    TableBooks,
    booked_agents,
    play_tables,
)
from controllers.demo.dealer_bots import RoundPlayed
from controllers.demo.demo_floor import PANEL_TABLE, playing_tables, write_demo_floor
from controllers.demo.demo_report import (
    progress_line,
    progress_view,
    show_rounds,
    show_summary,
    show_welcome,
)
from controllers.demo.demo_service import (
    LOOPBACK,
    DemoService,
    LedgerTotals,
    MeterShown,
    audit,
    check_port,
    demo_service,
)
from controllers.demo.kills import kill_in_turn
from controllers.demo.resettlement import ROUNDS_FILE, RoundFiles
from controllers.demo.tour import Tour
from controllers.panel.access import panel_key, panel_key_path
from controllers.panel.panel_pages import serve_panel
from meters.floor.floor_file import Floor
from meters.process.console import PlainConsole
from meters.process.logs import log_to
from meters.process.signals import interrupt, on_stop

_FLOORPERSON_AFTER_S: Final = 20.0
_FLOORPERSON_LEAST_S: Final = 1.0
_FLOORPERSON_ON_TOUR_S: Final = 300.0
"""On a tour, a person must have the time to read before a simulated person decides the win."""
PORTS_MAX: Final = 65_535
_KILL_EVERY_S: Final = 10.0
_KILL_LEAST_S: Final = 2.0
_SHOW_EVERY_S: Final = 1.0
_LINE_EVERY_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """Options of a demonstration.

    The service's pages are on loopback at `port`, and the panel is at `panel_port` (default: the
    port after `port`). `data` keeps the meters between runs. With `auto_floor`, a simulated
    floorperson validates the wins. The file `signage` decides how the displays look. After a
    `tour`, the demonstration ends. With `kill`, the service, Redis and the broker are killed in
    turn while the tables play. With `all_games`, bots also play the other example games.
    """

    bots: BotOptions
    tables: int
    port: int
    data: Path
    auto_floor: bool
    panel_port: int | None = None
    signage: Path | None = None
    tour: bool = False
    kill: bool = False
    all_games: bool = False

    @property
    def panel_at(self) -> int:
        if self.panel_port is not None:
            return self.panel_port
        return self.port + 1 if self.port < PORTS_MAX else self.port - 1

    @property
    def auto_floor_after_s(self) -> float | None:
        """How long a win waits for the simulated floorperson; None if it waits for people."""
        if not self.auto_floor:
            return None
        if self.tour:
            return _FLOORPERSON_ON_TOUR_S
        return max(_FLOORPERSON_LEAST_S, _FLOORPERSON_AFTER_S / self.bots.speed)


def run_demo(options: DemoOptions) -> bool:
    """Run a demonstration until its end, and print the result.

    Return True if the ledger balances, and each round that was settled a second time has the same
    result. With `kill`, the ledger must also have what the tables counted. If the demonstration is
    stopped before the service is ready, return True without a check.

    Raises:
        UserError: the data directory or a port is in use, or the service failed.
    """
    with _alone_in(options.data), _logging_to(options.data / "logs" / "tables.log"):
        floor_file, floor = write_demo_floor(
            options.data, options.tables, options.port, options.signage, all_games=options.all_games
        )
        return run_agents(_Demo(options, floor_file, floor).run())


class _Demo:
    def __init__(self, options: DemoOptions, floor_file: Path, floor: Floor) -> None:
        self._options = options
        self._floor_file = floor_file
        self._floor = floor
        self._playing = playing_tables(floor, options.tables, all_games=options.all_games)
        self._console = PlainConsole(soft_wrap=True)
        self._books = TableBooks()
        self._metrics = AgentMetrics()
        self._meters: Sequence[MeterShown] = ()
        self._stopping = asyncio.Event()
        self._tour: asyncio.Task[None] | None = None
        self._kills: Counter[str] = Counter()

    async def run(self) -> bool:
        on_stop(self._stop)
        options = self._options
        log = options.data / "logs" / "service.log"
        check_port(options.panel_at, "--panel-port")
        async with demo_service(
            self._floor_file, log, options.port, auto_floor_after_s=options.auto_floor_after_s
        ) as service:
            if not await self._start(service):
                return True
            before = LedgerTotals()
            if (options.data / ROUNDS_FILE).exists():
                before = (await audit(self._floor_file)).totals
            with RoundFiles.under(options.data) as rounds:
                async with self._panel() as (agent, panel_url):
                    show_welcome(
                        self._console,
                        f"http://{LOOPBACK}:{options.port}",
                        panel_url,
                        tables=len(self._playing),
                        auto_floor_after_s=options.auto_floor_after_s,
                        tour=options.tour,
                        kill=options.kill,
                    )
                    await self._play(service, rounds, agent)
        report = await audit(self._floor_file)
        kills = self._kills if options.kill else None
        agrees = show_summary(self._console, self._books, before, report, kills)
        show_rounds(self._console, rounds, options.data)
        return agrees and not rounds.different

    def _stop(self) -> None:
        if self._stopping.is_set():
            interrupt()
        self._stopping.set()
        if self._tour is not None:
            self._tour.cancel()

    async def _start(self, service: DemoService) -> bool:
        ready = asyncio.create_task(service.become_ready())
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({ready, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not ready.done():
                return False
            ready.result()
        finally:
            await cancel_all([ready, stopped])
        return True

    @asynccontextmanager
    async def _panel(self) -> AsyncIterator[tuple[BookedAgent, str]]:
        floor, port = self._floor, self._options.panel_at
        found = floor.find_table(PANEL_TABLE)
        if found is None:
            raise UserError(f"the demonstration's floor has no table {PANEL_TABLE}")
        key = panel_key(panel_key_path(floor, PANEL_TABLE))
        async with (
            booked_agents(floor, [found], self._books, self._metrics) as (agent,),
            served(
                lambda ready: serve_panel(
                    floor,
                    agent,
                    LOOPBACK,
                    port,
                    ready,
                    key=key,
                    metrics=self._metrics,
                    demonstration=True,
                )
            ) as serving,
        ):
            yield agent, f"http://{LOOPBACK}:{port}/?key={key}"
            if serving.done():
                serving.result()

    async def _play(self, service: DemoService, rounds: RoundFiles, own: BookedAgent) -> None:
        def write(agent: BookedAgent, played: RoundPlayed) -> None:
            if played.record is not None:
                link = agent.layout.link
                shown = {meter.meter: meter.amount for meter in self._meters if meter.link == link}
                rounds.write(played.record, shown)

        options = self._options
        async with booked_agents(self._floor, self._playing, self._books, self._metrics) as agents:
            ended = asyncio.create_task(service.ended())
            if options.tour:
                tour = Tour(
                    self._console,
                    own,
                    service.client,
                    options.data / "tour-slip.pdf",
                    speed=options.bots.speed,
                    on_round=partial(write, own),
                )
                showing = self._tour = asyncio.create_task(self._walk(tour))
            else:
                showing = asyncio.create_task(self._show(service))
            beside = [showing]
            if options.kill:
                beside.append(asyncio.create_task(self._kill(service)))
            try:
                await play_tables(agents, self._stopping, ended, options.bots, write)
            finally:
                await cancel_all(beside)
            for task in beside:
                if not task.cancelled():
                    task.result()

    async def _kill(self, service: DemoService) -> None:
        try:
            pause_s = max(_KILL_LEAST_S, _KILL_EVERY_S / self._options.bots.speed)
            async for name, back_s in kill_in_turn(service, self._options.data, pause_s):
                self._kills[name] += 1
                self._console.print(f"kill -9: {name}, back after {back_s:.1f} s")
        finally:
            self._stopping.set()

    async def _walk(self, tour: Tour) -> None:
        try:
            await tour.walk()
        finally:
            self._stopping.set()

    async def _show(self, service: DemoService) -> None:
        loop = asyncio.get_running_loop()
        begun_s = loop.time()
        if not self._console.is_terminal:
            while True:
                await asyncio.sleep(_LINE_EVERY_S)
                self._meters = await service.meters()
                line = progress_line(loop.time() - begun_s, self._books, self._meters)
                self._console.print(line)
        with Live(console=self._console, auto_refresh=False) as live:
            while True:
                self._meters = await service.meters()
                view = progress_view(loop.time() - begun_s, self._books, self._meters)
                live.update(view, refresh=True)
                await asyncio.sleep(_SHOW_EVERY_S)


@contextmanager
def _alone_in(data: Path) -> Iterator[None]:
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock = (data / "demo.lock").open("ab")
    except OSError as error:
        raise UserError(f"the data directory {data} cannot be used: {error}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another demonstration uses {data}: stop it, or choose another directory with"
                " --data"
            ) from None
        yield


@contextmanager
def _logging_to(path: Path) -> Iterator[None]:
    """Write the tables' logs to a new file: the terminal shows the demonstration."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", buffering=1, encoding="utf-8") as file:
        log_to(file)
        yield
