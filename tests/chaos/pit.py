import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

import httpx

from controllers.table.state import Layout
from meters.floor.floor_file import read_floor
from tests.bench.machine import rss_bytes
from tests.chaos.accounts import Report, grown, hold_together
from tests.chaos.copies import answers_of
from tests.chaos.floor import write_floor
from tests.chaos.floorpersons import NAMES, Floorperson
from tests.chaos.parts import AuditorPart, Part, ServerPart, ServicePart, rest, strike, strike_wire
from tests.chaos.plan import AUDITORS, CENTRAL, SERVICES, WIRE, Fault, blows
from tests.chaos.player import Player
from tests.chaos.wire import Wire
from tests.mqtt.stranger import Ear
from tests.processes import run_pitlink
from tests.servers import Mosquitto, RedisServer
from tests.staff import hire
from tests.waiting import eventually, free_port

_READY_WITHIN_S: Final = 60.0
_FINISHED_WITHIN_S: Final = 240.0
_SIMULATED_AFTER_S: Final = 3.0
_LOOK_EVERY_S: Final = 0.25
_MEMORY_EVERY_S: Final = 5.0


class Pit:
    def __init__(self, tables: int, seed: int) -> None:
        self.failed: list[str] = []
        self._seed = seed
        self._up = ExitStack()
        self._home = Path(self._up.enter_context(TemporaryDirectory(prefix="plt-")))
        self._redis, self._mosquitto = RedisServer(), Mosquitto()
        self._tables = tuple(f"C-{number}" for number in range(1, tables + 1))
        self._players: dict[str, Player] = {}
        self._services: list[ServicePart] = []
        self._floorpersons: list[Floorperson] = []
        self._parts: dict[str, Part] = {}
        self._ending = threading.Event()
        self._report = Report(seed, tables)
        self._measured_s = 0.0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.push(self._up.pop_all())
            self._build(stack)
            self._up = stack.pop_all()
        return self

    def __exit__(self, *raised: object) -> None:
        self._ending.set()
        self._up.close()

    def _build(self, stack: ExitStack) -> None:
        self._hands = stack.enter_context(ThreadPoolExecutor(2 * len(CENTRAL)))
        for server in (self._redis, self._mosquitto):
            stack.enter_context(server)
        self._wire = stack.enter_context(Wire(self._mosquitto.port, copies=True))
        ear = Ear(self._mosquitto.port, "pitlink/v1/+/table/+/in")
        self._ear = stack.enter_context(ear)
        self._parts["redis"] = ServerPart(self._redis)
        self._parts["broker"] = ServerPart(self._mosquitto)
        for name, auditor in zip(SERVICES, AUDITORS, strict=True):
            config, port = self._floor(name, self._mosquitto.url)
            options = [] if name == SERVICES[0] else ["--auto-floor"]
            options += ["--auto-floor-after", str(_SIMULATED_AFTER_S)] if options else []
            service = ServicePart(name, config, port, self._home / f"{name}.log", *options)
            stack.callback(service.kill)
            self._services.append(service)
            self._parts[name] = service
            self._parts[auditor] = AuditorPart(service)
        self._config, _ = self._floor("tables", f"mqtt://127.0.0.1:{self._wire.port}")
        floor = read_floor(self._config)
        for name in self._tables:
            found = floor.find_table(name)
            assert found is not None
            log = self._home / f"{name}.log"
            player = Player(Layout.of(*found), self._config, log, self._seed)
            stack.callback(player.agent.kill)
            self._players[name] = player
            self._parts[name] = player.agent

    def _floor(self, name: str, broker: str) -> tuple[Path, int]:
        port = free_port()
        path = write_floor(
            self._home / f"{name}.toml",
            tables=len(self._tables), broker=broker, redis=self._redis.url, port=port,
        )  # fmt: skip
        return path, port

    def begin(self) -> None:
        for name in NAMES:
            hire(self._config, name, "floorperson")
        for service in self._services:
            service.start()
        for service in self._services:
            eventually(service.ready, within_s=_READY_WITHIN_S, what=f"{service.name} ready")
        for player in self._players.values():
            player.agent.start()
            player.start()
        urls = [service.url for service in self._services]
        self._floorpersons = [Floorperson(name, urls, self._seed) for name in NAMES]
        for person in self._floorpersons:
            person.start()
        eventually(
            lambda: all(player.plays for player in self._players.values()),
            within_s=_READY_WITHIN_S,
            what="wagers of every table",
        )
        self._striking = threading.Thread(target=self._strike, name="chaos", daemon=True)
        self._striking.start()

    def _strike(self) -> None:
        for blow in blows(self._seed, self._tables):
            if self._ending.wait(blow.pause_s):
                return
            try:
                list(self._hands.map(self._befall, blow.faults))
            except Exception as error:
                self.failed.append(f"a fault of {blow} could not be made: {error!r}")
                return

    def _befall(self, fault: Fault) -> None:
        self._report.faults[f"{fault.kind} {fault.target}"] += 1
        if fault.target == WIRE:
            strike_wire(self._wire, fault)
        else:
            strike(self._parts[fault.target], fault, self._hands)

    def look(self) -> None:
        rest(_LOOK_EVERY_S)
        now_s = time.monotonic()
        if now_s - self._measured_s >= _MEMORY_EVERY_S:
            self._measured_s = now_s
            self._measure()
        threads: list[Player | Floorperson] = [*self._players.values(), *self._floorpersons]
        self.failed += [f"{each.name}: {each.failed!r}" for each in threads if each.failed]

    def _measure(self) -> None:
        memory = self._report.memory_bytes
        for name, part in self._parts.items():
            if (pid := part.pid) is not None and (now := rss_bytes(pid)):
                first, most = memory.get(name, (now, now))
                memory[name] = first, max(most, now)

    def progress(self) -> str:
        return (
            f"faults {self._report.faults.total()}"
            f"  rounds {sum(player.rounds for player in self._players.values())}"
            f"  decisions {sum(person.acts.total() for person in self._floorpersons)}"
        )

    def settle(self, *, seconds: float) -> Report:
        self._ending.set()
        self._striking.join()
        report, players = self._report, [*self._players.values()]
        report.seconds = round(seconds, 1)
        report.problems += self.failed
        for player in players:
            player.finish()
        self._await_end(report)
        report.rounds = sum(player.rounds for player in players)
        for person in self._floorpersons:
            person.finish()
            person.join()
        self._measure()
        for service in self._services:
            report.expect(service.stop() == 0, f"{service.name} did not end in good order")
        done = run_pitlink("audit", "--config", str(self._config), "--json")
        report.expect(done.returncode == 0, f"the audit does not balance: {done.stdout[:2000]}")
        outboxes, decided = self._home / "data" / "tables", dict[tuple[str, str], str]()
        for link in read_floor(self._config).link:
            decided |= hold_together(link, players, self._redis, outboxes, report)
        for person in self._floorpersons:
            for claim, act in person.decided:
                by = decided.get((claim, act))
                report.expect(
                    by == person.name,
                    f"{person.name} got a success for {act} {claim}; the ledger says {by}",
                )
        for (topic, seq), given in answers_of(self._ear.messages).items():
            report.events_answered_again += given.total() > 1
            report.expect(len(given) == 1, f"{topic} got {[*given]} of {seq}")
        for name, (first, most) in report.memory_bytes.items():
            if grew := grown(name, first, most, report.entries):
                report.fail(grew)
        self._hold_logs(report)
        return report

    def _await_end(self, report: Report) -> None:
        end = time.monotonic() + _FINISHED_WITHIN_S
        for player in self._players.values():
            player.join(max(0.0, end - time.monotonic()))
            if player.is_alive():
                report.fail(f"table {player.name} is stuck: {_tail(player)}")
                player.agent.kill()  # its outbox can then be read
        for player in self._players.values():
            report.expect(player.failed is None, f"table {player.name}: {player.failed!r}")
        try:
            eventually(self._nothing_waits, within_s=60, what="no claim waiting")
        except AssertionError as error:
            report.fail(str(error))

    def _nothing_waits(self) -> bool:
        try:
            answer = httpx.get(f"{self._services[0].url}/api/v1/claims")
        except httpx.HTTPError:
            return False
        waiting: object = answer.json()
        return waiting == []

    def _hold_logs(self, report: Report) -> None:
        for path in sorted(self._home.glob("*.log")):
            text = path.read_text(errors="replace")
            place = text.find("Traceback")
            report.expect(place < 0, f"{path.name} has a traceback: {text[place : place + 3000]}")


def _tail(player: Player) -> str:
    log = player.agent.log
    return log.read_text(errors="replace")[-1_500:] if log.exists() else "no log"
