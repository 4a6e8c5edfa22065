"""Growth of a floor's ledger: time of a start and of an audit, and memory of Redis, by entries."""

from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from tests.bench.floor import bench_floor_text
from tests.bench.sizing.books import GrowingFloor
from tests.bench.sizing.figures import FromCheckpoints, Step
from tests.bench.sizing.parts import Seconds
from tests.bench.sizing.place import a_place
from tests.bench.sizing.play import MIXES

Rounds = tuple[int, int, int]
"""Rounds that each table plays before the measurement of the base, of small and of large.

The base needs 20 rounds: then each link has all the entries that stay uncompressed. Small needs 50
rounds, with those of the base: then each link has enough entries for an audit checkpoint of the
service.
"""
WHOLE: Final[Rounds] = (20, 30, 80)
SHORT: Final[Rounds] = (20, 30, 30)
QUICK: Final[Rounds] = (1, 1, 2)
"""Shows that it works, and measures little."""
STEPS: Final = 8
"""Number of reports of progress."""

_TABLES: Final = 100
_US_PER_S: Final = 1e6


class WholeAudit(Seconds, frozen=True, kw_only=True):
    """Duration of `pitlink audit`, and ledger entries a second, with the start of the command."""

    entries_per_s: int


class LedgerSize(msgspec.Struct, frozen=True, kw_only=True):
    """Costs of a ledger of some size, all of it in Redis.

    Attributes:
        entries: number of ledger entries of all links.
        redis_bytes: memory of the data in Redis, with the old entries compressed.
        whole_audit: an audit of the whole ledger.
        first_start: time until a service operates that has no audit checkpoint: it replays the
            whole ledger.
    """

    entries: int
    redis_bytes: int
    whole_audit: WholeAudit
    first_start: Seconds


class PerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Increase since the base, per ledger entry, at the sizes small and large.

    `large_to_small_ratio` is 1 if the cost is flat. It is None if small had no increase, because
    the machine was busy with something else.
    """

    small: float
    large: float
    large_to_small_ratio: float | None


class ForAnySize(msgspec.Struct, frozen=True, kw_only=True):
    """A time that must not grow with the ledger, at the sizes small and large.

    `large_to_small_ratio` is that of the elapsed times. It is 1 if the time is flat.
    """

    small: Seconds
    large: Seconds
    large_to_small_ratio: float


class GrowthFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Costs of one floor at three sizes of its ledger: base, small and large.

    Attributes:
        tables: number of tables.
        base: costs after the first rounds. Most of them do not grow with the ledger.
        per_entry: each cost that grows with the ledger. Memory is without that of the tables,
            each of which keeps a limited number of replies and wins. It rises in steps, because
            entries are compressed in blocks of a thousand.
        audit_since_last: `pitlink audit --since-last`, which continues from the checkpoint of the
            last archived day. This day is without play, and all days are in the archive.
        later_start: time until a service operates that continues from its audit checkpoint.
    """

    tables: int
    base: LedgerSize
    small: LedgerSize
    large: LedgerSize
    per_entry: dict[str, PerEntry]
    audit_since_last: ForAnySize
    later_start: ForAnySize


async def measure_growth(rounds: Rounds, report_step: Callable[[str], None]) -> GrowthFigures:
    """Let a floor play, and measure it at three sizes of its ledger.

    Raises:
        UserError: a part is missing, or failed.
    """
    to_base, to_small, to_large = rounds
    async with a_place(partial(bench_floor_text, tables=_TABLES), broker=True) as place:
        floor = GrowingFloor(place, MIXES[0], lambda what: report_step(f"growth, {what}"))
        await floor.open()
        base = await floor.step(to_base)
        small = await floor.step(to_small), await floor.from_checkpoints()
        large = await floor.step(to_large), await floor.from_checkpoints()
    return growth_figures(base, small, large)


def growth_figures(
    base: Step, small: tuple[Step, FromCheckpoints], large: tuple[Step, FromCheckpoints]
) -> GrowthFigures:
    """Compute the costs per entry, and the ratios that show whether a cost is flat."""
    (at_small, small_from), (at_large, large_from) = small, large

    def per_entry(cost: Callable[[Step], float]) -> PerEntry:
        by_small, by_large = (
            (cost(step) - cost(base)) / (step.entries - base.entries)
            for step in (at_small, at_large)
        )
        return PerEntry(
            small=round(by_small, 1),
            large=round(by_large, 1),
            large_to_small_ratio=round(by_large / by_small, 3) if by_small > 0 else None,
        )

    return GrowthFigures(
        tables=_TABLES,
        base=_size(base),
        small=_size(at_small),
        large=_size(at_large),
        per_entry={
            "redis_bytes": per_entry(lambda step: step.held.all - step.held.tables),
            "whole_audit_us": per_entry(lambda step: step.audit.elapsed_s * _US_PER_S),
            "whole_audit_cpu_us": per_entry(lambda step: step.audit.cpu_s * _US_PER_S),
            "first_start_us": per_entry(lambda step: step.start.elapsed_s * _US_PER_S),
            "first_start_cpu_us": per_entry(lambda step: step.start.cpu_s * _US_PER_S),
        },
        audit_since_last=_for_any_size(small_from.audit, large_from.audit),
        later_start=_for_any_size(small_from.start, large_from.start),
    )


def _size(step: Step) -> LedgerSize:
    return LedgerSize(
        entries=step.entries,
        redis_bytes=step.held.all,
        whole_audit=WholeAudit(
            elapsed_s=round(step.audit.elapsed_s, 3),
            cpu_s=round(step.audit.cpu_s, 3),
            entries_per_s=round(step.entries / step.audit.elapsed_s),
        ),
        first_start=_rounded(step.start),
    )


def _for_any_size(small: Seconds, large: Seconds) -> ForAnySize:
    return ForAnySize(
        small=_rounded(small),
        large=_rounded(large),
        large_to_small_ratio=round(large.elapsed_s / small.elapsed_s, 3),
    )


def _rounded(one: Seconds) -> Seconds:
    return Seconds(elapsed_s=round(one.elapsed_s, 3), cpu_s=round(one.cpu_s, 3))
