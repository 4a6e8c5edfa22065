"""A table's disk under a real SQLite outbox: full at times, and torn after a power failure."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from controllers.agent.outbox import Outbox
from tests.sim.world import World

_QUICK_S: Final = (0.0005, 0.01)
_SYNCED_AT_COMMIT: Final = 2
"""Lowest value of SQLite's `synchronous` at which committed data is on the disk."""
_IMAGES_KEPT: Final = 3

Image = dict[str, bytes]


class ServiceDisk:
    """The disk of a service: each call is run a little later."""

    def __init__(self, world: World, name: str = "service disks") -> None:
        self._world = world
        self._chance = world.chance(name)

    def call(self, work: Callable[[], object], done: "asyncio.Future[object]") -> None:
        self._later(self._carry_out, work, done)

    def _carry_out(self, work: Callable[[], object], done: "asyncio.Future[object]") -> None:
        try:
            result = work()
        except Exception as error:
            self._later(_give, done, None, error)
        else:
            self._later(_give, done, result, None)

    def _later(self, callback: Callable[..., object], *given: object) -> None:
        self._world.loop.call_later(self._chance.uniform(*_QUICK_S), callback, *given)


def _give(done: "asyncio.Future[object]", result: object, error: Exception | None) -> None:
    if done.cancelled():
        return
    if error is not None:
        done.set_exception(error)
    else:
        done.set_result(result)


class OutboxDisk(ServiceDisk):
    """Files of one outbox: what is certainly on the disk, and what remains after a crash.

    Attributes:
        kill: ends the agent immediately; set by the code that runs it.
        lost: whether a synced write was lost, which a disk should never do.
        shaken: whether the power failed, until somebody reads and clears it.
    """

    def __init__(self, world: World, path: Path) -> None:
        super().__init__(world, f"disk/{path.stem}")
        self._path = path
        self._files = (path, path.with_name(path.name + "-wal"))
        self._synced: list[Image] = [{}]
        self._seen: Image = {}
        self._outbox: Outbox | None = None
        self.kill: Callable[[], None] = lambda: None
        self.lost = False
        self.shaken = False

    def _carry_out(self, work: Callable[[], object], done: "asyncio.Future[object]") -> None:
        """Run a call; the agent may be killed before or after it."""
        weather = self._world.weather
        if weather.strikes("agent killed before"):
            self._world.note("killed before it wrote")
            self.kill()
            return
        full = self._outbox is not None and weather.strikes("disk full")
        try:
            if full:
                self._refuse_writes()
            result = work()
        except Exception as error:
            self._later(_give, done, None, error)
            return
        finally:
            if full and self._outbox is not None:
                with contextlib.suppress(sqlite3.ProgrammingError):
                    self._outbox._connection.set_authorizer(None)
        if isinstance(opened := getattr(result, "outbox", None), Outbox):
            self._outbox = opened
        self._look()
        if weather.strikes("agent killed after"):
            self._world.note("killed after it wrote")
            self.kill()
            return
        self._later(_give, done, result, None)

    def _refuse_writes(self) -> None:
        """Make the next writes fail, in the middle or at commit."""
        at = self._chance.choice((sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_TRANSACTION))

        def judge(act: int, first: str | None, *_: str | None) -> int:
            refused = act == at and first not in {"BEGIN", "ROLLBACK"}
            return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK

        assert self._outbox is not None
        self._outbox._connection.set_authorizer(judge)

    def _look(self) -> None:
        """Record what is certainly on the disk, according to SQLite's guarantees in its mode."""
        if self._outbox is None:
            return
        try:
            found = self._outbox._connection.execute("PRAGMA synchronous").fetchone()
        except sqlite3.ProgrammingError:  # it is closed, so the file has everything
            self._outbox, level = None, _SYNCED_AT_COMMIT
        else:
            level = int(found[0])
        now = self._read()
        checkpointed = level > 0 and now.get(self._path.name) != self._seen.get(self._path.name)
        if (level >= _SYNCED_AT_COMMIT or checkpointed) and now != self._synced[-1]:
            self._synced = [*self._synced, now][-_IMAGES_KEPT:]
        self._seen = now

    def crash(self) -> None:
        """Leave on the disk what remains when the agent is gone: everything, or what was synced."""
        weather = self._world.weather
        image = self._read()
        if weather.strikes("power lost"):
            image, self.shaken = self._torn(image), True
            if len(self._synced) > 1 and weather.strikes("outbox write lost"):
                image = self._synced[-2]
                self._synced.pop()
                self.lost = True
            self._world.note("the power was lost")
        if self._outbox is not None:
            self._outbox.close()
            self._outbox = None
        for file in self._files:
            file.unlink(missing_ok=True)
            if file.name in image:
                file.write_bytes(image[file.name])
        self._seen = image

    def _torn(self, now: Image) -> Image:
        """Return the files as last synced, with a random part of what was written since."""
        synced = self._synced[-1]
        main, log = (file.name for file in self._files)
        before, after = synced.get(log, b""), now.get(log, b"")
        if now.get(main) != synced.get(main) or not after.startswith(before):
            return synced
        cut = self._chance.randint(len(before), len(after))
        return {**synced, log: after[:cut]}

    def _read(self) -> Image:
        image: Image = {}
        for file in self._files:
            with contextlib.suppress(FileNotFoundError), open(file, "rb", buffering=0) as stored:  # noqa: PTH123
                image[file.name] = stored.read()
        return image
