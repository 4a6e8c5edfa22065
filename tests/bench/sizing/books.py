"""Memory of a floor's books: by tables, links and meters, and as wagers arrive and are archived.

Everything is measured on a separate Redis.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Final

from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from meters.books.store import LinkStore
from tests.bench.floor import bare_floor_text, bench_floor_text
from tests.bench.parts import Part
from tests.bench.sizing.figures import Archived, Sizes, Step
from tests.bench.sizing.memory import Held, all_of, held_by, memory_of, rewrite
from tests.bench.sizing.parts import Seconds, rss_bytes, running_service, timed
from tests.bench.sizing.place import Place, a_place
from tests.bench.sizing.play import Mix, PlayedFloor

SEED: Final = 649

_KEPT_ALL: Final = 400
_KEPT_LEAST: Final = 1

ReportStep = Callable[[str], None]


async def by_tables(
    mix: Mix, sizes: Sizes, report_step: ReportStep
) -> tuple[tuple[int, Held], ...]:
    """Measure floors of several sizes, after archiving everything that they played."""
    found = []
    for tables in sizes.tables:
        report_step(f"{mix.name}: what {tables} tables leave in Redis")
        async with a_place(partial(bench_floor_text, tables=tables)) as place:
            played = PlayedFloor(place.floor, place.redis, mix, SEED)
            await played.open()
            await played.play(sizes.rounds_a_table)
            await played.close_day()
            for store in played.stores:
                archive = ArchiveFiles(place.home / "pitlink-archive", store.link.id)
                await Archiver(store, archive, live_days=0).run(_ignore_progress)
            found.append((tables, await held_by(place.redis, played.stores)))
    return tuple(found)


async def opened_bytes(links: int, meters: int) -> int:
    """Return the bytes that Redis uses for freshly opened links and meters."""
    async with a_place(partial(bare_floor_text, links=links, meters=meters)) as place:
        for link in place.floor.link:
            await LinkStore(place.redis, link).open("benchmark")
        return await all_of(place.redis)


class GrowingFloor:
    """Floor that keeps playing, is measured step by step, and has its days archived at the end."""

    def __init__(self, place: Place, mix: Mix, report_step: ReportStep) -> None:
        self._place = place
        self._mix = mix
        self._report_step = report_step
        self._played = PlayedFloor(place.floor, place.redis, mix, SEED)
        self._written_bytes = 0
        self._days: list[int] = []

    async def open(self) -> None:
        """Open the floor, and begin its first gaming day. Its days stay in Redis."""
        self._place.keep_live(_KEPT_ALL)
        await self._played.open()

    async def step(self, rounds: int) -> Step:
        """Have each table play some rounds in one gaming day, and measure."""
        place, played = self._place, self._played
        self._report_step(f"{self._mix.name}: {rounds} rounds at each table")
        before_bytes, before_wagers = place.written_bytes, played.wagers
        await played.play(rounds)
        self._written_bytes += place.written_bytes - before_bytes
        fork_ms = await rewrite(place.redis)
        await played.close_day()
        self._days.append(played.wagers - before_wagers)
        await played.compress()
        held = await held_by(place.redis, played.stores)
        self._report_step(f"{self._mix.name}: audit and start")
        audit = await timed(place.home / "audit", "audit", "--config", str(place.config))
        # Otherwise the service continues from its audit of the step before.
        place.forget_services()
        async with self._service() as (service, start):
            service_rss_bytes = rss_bytes(service.pid)
        return Step(
            rounds=played.rounds,
            wagers=played.wagers,
            entries=await played.entries(),
            claims=played.claims,
            held=held,
            written_bytes=self._written_bytes,
            rewritten_bytes=place.written_bytes,
            fork_ms=fork_ms,
            audit=audit,
            start=start,
            service_rss_bytes=service_rss_bytes,
        )

    def _service(self) -> AbstractAsyncContextManager[tuple[Part, Seconds]]:
        place = self._place
        return running_service(place.config, place.parts.http, place.home / "service")

    async def archive(self, settle_s: float) -> Archived:
        """Archive all its days, and measure the memory that Redis frees."""
        place = self._place
        config = str(place.config)
        archive = partial(timed, place.home / "archive", "archive", "--config", config)
        self._report_step(f"{self._mix.name}: archive")
        before = await memory_of(place.redis)
        entries = await self._played.entries()
        writing, nothing = await archive(), await archive()
        # The last day on which wins were decided is deleted from Redis once a later day is closed.
        place.keep_live(_KEPT_LEAST)
        await self._played.close_day()
        trimming = await archive()
        after = await memory_of(place.redis)
        audit = await timed(place.home / "audit", "audit", "--config", config)
        await rewrite(place.redis)
        await asyncio.sleep(settle_s)
        sizes = [*place.archived_bytes.values()]
        # The first day was over before a table played. The last day only makes the others old
        # enough.
        return Archived(
            entries=entries,
            days=tuple(zip((0, *self._days), sizes, strict=False)),
            writing=writing,
            nothing=nothing,
            trimming=trimming,
            audit=audit,
            before=before,
            after=after,
            settled=await memory_of(place.redis),
            rewritten_bytes=place.written_bytes,
        )


async def grow(
    mix: Mix, sizes: Sizes, report_step: ReportStep
) -> tuple[tuple[Step, ...], Archived]:
    """Measure a floor as it continues to play, and as its days are archived."""
    async with a_place(partial(bench_floor_text, tables=sizes.play_tables), broker=True) as place:
        floor = GrowingFloor(place, mix, report_step)
        await floor.open()
        steps = tuple([await floor.step(rounds) for rounds in sizes.play_rounds])
        return steps, await floor.archive(sizes.settle_s)


def _ignore_progress(_done: int, _of: int) -> None:
    """Ignore reports of progress."""
