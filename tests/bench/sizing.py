"""Measured size of a floor: `python -m tests bench --sizing`.

Everything is measured on servers of its own, at several sizes. A figure is what one more unit adds.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple, cast

import msgspec
from redis.asyncio import Redis

from bonus.errors import UserError
from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from meters.store.link_store import LinkStore
from meters.users.operators_log import OperatorsLog
from meters.users.user_store import UserStore
from tests.bench.floor import bare_floor_text, bench_floor_text, table_address
from tests.bench.load import ReportStep
from tests.bench.machine import auditor_of, rss_bytes, this_machine
from tests.bench.place import Place, Seconds, a_place
from tests.bench.play import MIXES, Mix, PlayedFloor, withdraw_a_proposal
from tests.processes import Pitlink
from tests.servers import eventually_async

Point = Mapping[str, float]
"""Measurements at one size, with the size itself."""

METHOD: Final = (
    "Every figure per unit is a slope: the median over all pairs of sizes that were measured, so"
    " that what is there once does not count. The floor plays in the benchmark's process, through"
    " the intake, the scripts, the claims and the readings of the service, on a redis-server that"
    " syncs every write; every win is validated, and paid by hand where the chapter wants that."
    " Memory is Redis's used_memory less what serves connections; a table's is measured after its"
    " day was archived and deleted from Redis, with all replies and claims that are kept for it."
    " `usual_table` is four positions with the Progressive, `full_table` seven with it and the"
    " Five-Card Progressive. Wins come as the cards do; a floorperson validates each of them."
    " Times are those of whole commands; cpu_s is of one core and without Redis's part."
)
_SEED: Final = 649
_UNITS: Final = 1_000
_PROPOSALS: Final = 20
_MILLION: Final = 1_000_000
_KEEP_ALL: Final = "\n[archive]\nlive_days = 400\n"
KEEP_LEAST: Final = "\n[archive]\nlive_days = 1\n"
_FIVES: Final = {
    1: ("2c", "7d", "9h"), 2: ("3c", "8d", "Th"), 3: ("4c", "9d", "Jh"), 4: ("5c", "Td", "Qh"),
    5: ("2d", "8h", "Js"), 6: ("3d", "9s", "Qs"), 7: ("4d", "Ts", "Ks"),
}  # fmt: skip


class Sizes(NamedTuple):
    """Sizes at which the run measures.

    Floors of so many `tables` are compared, where each table plays `rounds_a_table`. One floor of
    `play_tables` grows, step by step, by `play_rounds` at each table. `links` are numbers of links,
    and of meters in a link. `service_tables` are numbers of tables of the floors whose services are
    compared. All `outbox_rounds` go to one outbox. Redis has `settle_s` to free memory.
    """

    mixes: Sequence[Mix]
    tables: Sequence[int]
    rounds_a_table: int
    play_tables: int
    play_rounds: Sequence[int]
    links: Sequence[int]
    service_tables: Sequence[int]
    outbox_rounds: Sequence[int]
    settle_s: float


WHOLE: Final = Sizes(
    MIXES, (30, 60, 90), 80, 100, (40, 80, 120), (20, 40, 60), (100, 400, 700), (100, 200, 400), 15
)
QUICK: Final = Sizes(MIXES[:1], (2, 4), 20, 8, (4, 8), (2, 4), (4, 8), (2, 40), 0)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the rise of the second number per unit of the first: the median over all pairs.

    >>> slope([(1, 110), (2, 120), (4, 140)])
    10.0
    """
    return median(
        (after - before) / (high - low) for (low, before), (high, after) in combinations(points, 2)
    )


def slopes(points: Sequence[Point], **units: int) -> dict[str, dict[str, float]]:
    """Return by how much the numbers of the points rise for so many more of each given unit.

    >>> slopes([{"wagers": 1, "bytes": 50}, {"wagers": 3, "bytes": 60}], wagers=1_000)
    {'per 1,000 wagers': {'bytes': 5000.0}}
    """
    return {
        f"per {count:,} {unit}": {
            name: round(count * slope([(one[unit], one[name]) for one in points]), 1)
            for name in points[0]
            if name != unit
        }
        for unit, count in units.items()
    }


async def measure_sizing(sizes: Sizes, report_step: ReportStep) -> dict[str, Any]:
    began, mixes = time.monotonic(), dict[str, Any]()
    for mix in sizes.mixes:
        found = []
        for tables in sizes.tables:
            report_step(f"{mix.name}: what {tables} tables leave in Redis")
            found.append(await _of_tables(mix, tables, sizes.rounds_a_table))
        grown = await _grow(mix, sizes, report_step)
        mixes[mix.name] = {"tables": slopes(found, tables=1), **grown}
    report_step("links, meters, and what stays for ever")
    links = [await _of_links(links=count, meters=1) for count in sizes.links]
    meters = [await _of_links(links=1, meters=count) for count in sizes.links]
    for_ever = await _for_ever()
    services = []
    for tables in sizes.service_tables:
        report_step(f"the service of {tables} tables")
        services.append(await _of_service(tables))
    report_step("the outbox of a table")
    return {
        "machine": this_machine(),
        "sizes": sizes._asdict(),
        **mixes,
        "links": slopes(links, links=1),
        "meters": slopes(meters, meters=1),
        "redis_bytes_for_ever": for_ever,
        "service": {"smallest": services[0], **slopes(services, tables=1)},
        "outbox": await _of_outbox(sizes),
        "duration_s": round(time.monotonic() - began, 1),
        "method": METHOD,
    }


async def _of_tables(mix: Mix, tables: int, rounds: int) -> Point:
    """Measure a floor of so many tables, after archiving everything that they played."""
    async with a_place(partial(bench_floor_text, tables=tables)) as place:
        played = PlayedFloor(place.floor, place.redis, mix, _SEED)
        await played.open()
        await played.play(rounds)
        await played.close_day()
        for store in played.stores:
            files = ArchiveFiles(place.archive, store.link.id)
            await Archiver(store, files, live_days=0).run(lambda _done, _of: None)
        return {"tables": tables, **await _held_by(place.redis, played.stores)}


async def _of_links(links: int, meters: int) -> Point:
    async with a_place(partial(bare_floor_text, links=links, meters=meters)) as place:
        for link in place.floor.link:
            await LinkStore(place.redis, link).open("benchmark")
        return {"links": links, "meters": meters, "redis_bytes": await all_of(place.redis)}


async def _for_ever() -> Point:
    """Measure what no archive deletes: the operators' log, slips and decided proposals."""
    async with a_place(partial(bench_floor_text, tables=2)) as place:
        store, users = LinkStore(place.redis, place.floor.link[0]), UserStore(place.redis)
        await store.open("benchmark")
        claims = [f"bench-a.B-000001-{number:08d}-1" for number in range(_UNITS)]
        for claim in claims:
            await OperatorsLog(users).note(
                "slip_printed", by="Ada Lane", about=claim, client="10.20.30.40"
            )
        slips = [text for slip in range(_UNITS) for text in (f"hp-{slip:07d}", claims[slip])]
        await place.redis.hset(store.keys.slips, items=slips)
        proposals = [await withdraw_a_proposal(store, number) for number in range(_PROPOSALS)]
        return {
            "operators_log_entry": await bytes_of(place.redis, [users.keys.log]) // _UNITS,
            "slip": await bytes_of(place.redis, [store.keys.slips]) // _UNITS,
            "proposal": await bytes_of(place.redis, proposals) // _PROPOSALS,
        }


async def _of_service(tables: int) -> Point:
    async with a_place(partial(bench_floor_text, tables=tables)) as place:
        with place.service() as (service, _):
            pid = service.process.pid
            auditor_bytes = rss_bytes(auditor_of(pid))
            return {"tables": tables, "rss_bytes": rss_bytes(pid), "auditor_bytes": auditor_bytes}


async def _of_outbox(sizes: Sizes) -> dict[str, Any]:
    """Play rounds without a win at one table; measure its outbox, and the memory of its agent."""
    async with a_place(partial(bench_floor_text, tables=sizes.service_tables[0])) as place:
        outbox, points = place.home / "outbox.sqlite", list[Point]()
        played = rss = 0
        command = ("table", table_address(0).table, "--config", str(place.config), "--events")
        with place.service():
            for rounds in sizes.outbox_rounds:
                rss = _play_agent(*command, "--outbox", str(outbox), rounds=rounds)
                played += rounds
                points.append({"events": 2 * played, "bytes": outbox.stat().st_size})
        return {"agent_rss_bytes": rss, **slopes(points, events=1)}


def _play_agent(*command: str, rounds: int) -> int:
    """Play rounds through an agent until it ends; return its memory in bytes."""
    lines = [*_round()]
    with Pitlink(*command, stdin=True) as agent:
        for played in range(1, rounds + 1):
            agent.write_line(b"\n".join(map(msgspec.json.encode, lines)))
            agent.until(partial(_has_answered, agent, played * len(lines)), what="its answers")
        found = rss_bytes(agent.process.pid)
        agent.close_input()
        agent.wait()
    return found


def _has_answered(agent: Pitlink, said: int) -> bool:
    if '"ok":false' in (answers := agent.output):
        raise UserError(f"the agent refused an event: {answers[-1_000:]}")
    return answers.count("\n") >= said


def _round() -> Iterator[dict[str, object]]:
    for position in _FIVES:
        for wager in ("progressive", "five_card_progressive"):
            amount = {"amount": 100, "patron": f"p{position}"}
            yield {"event": "wager", "position": position, "wager": wager, **amount}
    yield {"event": "lockout"}
    yield {"event": "chips", "count": 2 * len(_FIVES)}
    for position, cards in _FIVES.items():
        yield {"event": "hand", "position": position, "cards": cards}
    yield {"event": "dealer", "cards": ("6c", "8s", "Kh")}
    yield {"event": "community", "cards": ("5h", "Ac")}
    yield {"event": "settle"}
    yield {"event": "next"}


async def _grow(mix: Mix, sizes: Sizes, report_step: ReportStep) -> dict[str, Any]:
    async with a_place(partial(bench_floor_text, tables=sizes.play_tables)) as place:
        place.write_floor(_KEEP_ALL)
        played = PlayedFloor(place.floor, place.redis, mix, _SEED)
        await played.open()
        steps, days, as_written = list[Point](), [0], 0
        for rounds in sizes.play_rounds:
            report_step(f"{mix.name}: {rounds} rounds at each table")
            before_bytes, before_wagers = place.written_bytes, played.wagers
            await played.play(rounds)
            as_written += place.written_bytes - before_bytes
            days.append(played.wagers - before_wagers)
            steps.append({"file_bytes_as_written": as_written, **await _step(place, played)})
        found = {
            "wagers_a_round": mix.wagers_a_round,
            "claims_per_1000_rounds": round(played.claims / played.rounds * 1_000, 1),
            **slopes(steps, wagers=_MILLION, rounds=1_000, entries=_MILLION),
        }
        report_step(f"{mix.name}: archive")
        return found | await _archive(place, played, days, steps[0], sizes.settle_s)


async def _step(place: Place, played: PlayedFloor) -> Point:
    """Close the gaming day, and measure the floor, with all that it has played so far."""
    await rewrite(place.redis)
    await played.close_day()
    await played.compress()
    held = await _held_by(place.redis, played.stores)
    audit = place.timed("audit")
    # Otherwise the service continues from its audit of the step before.
    place.forget_services()
    with place.service() as (service, start):
        service_rss_bytes = rss_bytes(service.process.pid)
    return {
        "rounds": played.rounds,
        "wagers": played.wagers,
        "entries": await played.entries(),
        "claims": played.claims,
        **held,
        "file_bytes_rewritten": place.written_bytes,
        "service_rss_bytes": service_rss_bytes,
        **_times(audit=audit, start=start),
    }


async def _archive(
    place: Place, played: PlayedFloor, days: Sequence[int], first: Point, settle_s: float
) -> dict[str, Any]:
    before, entries = await _memory_of(place.redis), await played.entries()
    writing, nothing = place.timed("archive"), place.timed("archive")
    # The last day on which wins were decided is deleted from Redis once a later day is closed.
    place.write_floor(KEEP_LEAST)
    await played.close_day()
    trimming = place.timed("archive")
    after, audit = await _memory_of(place.redis), place.timed("audit")
    await rewrite(place.redis)
    await asyncio.sleep(settle_s)
    # The first day was over before a table played. The last day only makes the others old enough.
    sizes = zip(days, _sizes_by_day(place.archive), strict=False)
    commands = [
        {"entries": 0, **_times(writing=nothing, trimming=nothing)},
        {"entries": entries, **_times(writing=writing, trimming=trimming)},
    ]
    audits = [
        {name: first[name] for name in ("entries", "audit_elapsed_s", "audit_cpu_s")},
        {"entries": entries, **_times(audit=audit)},
    ]
    return {
        "archive": slopes([{"wagers": day, "bytes": size} for day, size in sizes], wagers=_MILLION),
        "archived": slopes(commands, entries=_MILLION)
        | {"audit": slopes(audits, entries=_MILLION)},
        "redis_before_archive": before,
        "redis_after_trim": after,
        "redis_settled": await _memory_of(place.redis),
        "file_bytes_settled": place.written_bytes,
    }


def _times(**found: Seconds) -> dict[str, float]:
    return {
        f"{name}_{key}": value
        for name, seconds in found.items()
        for key, value in msgspec.structs.asdict(seconds).items()
    }


def _sizes_by_day(archive: Path) -> list[int]:
    """Return the bytes of the archive's files by gaming day, the earliest first."""
    found: dict[str, int] = {}
    for file in sorted(archive.glob("*/*"), key=lambda at: at.name):
        found[file.name] = found.get(file.name, 0) + file.stat().st_size
    return [*found.values()]


async def all_of(redis: Redis) -> int:
    """Return the bytes of memory of the data and of the structures that hold it."""
    info = cast("dict[str, int]", await redis.info("memory"))
    return info["used_memory"] - info["mem_clients_normal"] - info["mem_aof_buffer"]


async def _memory_of(redis: Redis) -> Point:
    """Return Redis's memory in bytes: in use, and taken from the machine."""
    info = cast("dict[str, int]", await redis.info("memory"))
    return {"used_bytes": info["used_memory"], "rss_bytes": info["used_memory_rss"]}


async def _held_by(redis: Redis, stores: Sequence[LinkStore]) -> Point:
    """Return the bytes of Redis's memory by what uses it.

    The ledgers are what remains of the total, because Redis's own figure for a stream is an
    estimate that is too high. The total is without the cards of the last results, whose number is
    limited.
    """
    keys = [store.keys for store in stores]
    claims = [
        key.decode()
        for one in keys
        async for key in redis.scan_iter(match=one.claim("*"), count=_UNITS)
    ]
    held = {
        "wins": claims,
        "indexes": [name for one in keys for name in (one.wins, one.slips, one.acts)],
        "replies": [
            name
            for one in keys
            for name in (one.tables, one.rounds, one.replies, one.repeated_claims)
        ],
    }
    found = {name: await bytes_of(redis, names) for name, names in held.items()}
    whole = await all_of(redis) - await bytes_of(redis, [one.dealt for one in keys])
    ledger = whole - found["wins"] - found["indexes"]
    return {
        "redis_bytes": whole,
        "redis_bytes_ledger": ledger,
        **{f"redis_bytes_{name}": size for name, size in found.items()},
    }


async def bytes_of(redis: Redis, keys: Sequence[str]) -> int:
    """Return the bytes of memory of some keys, each measured completely."""
    total = 0
    for begin in range(0, len(keys), _UNITS):
        async with redis.pipeline(transaction=False) as pipe:
            for key in keys[begin : begin + _UNITS]:
                pipe.memory_usage(key, samples=0)
            total += sum(size or 0 for size in await pipe.execute())
    return total


async def rewrite(redis: Redis) -> None:
    await redis.bgrewriteaof()

    async def ended() -> bool:
        now = await redis.info("persistence")
        return not (now["aof_rewrite_in_progress"] or now["aof_rewrite_scheduled"])

    await eventually_async(ended, within_s=300, what="the end of the rewrite")
    if (await redis.info("persistence"))["aof_last_bgrewrite_status"] != "ok":
        raise UserError("Redis could not rewrite its append-only file")
