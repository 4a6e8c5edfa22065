"""Figures of a sizing run, computed from measurements at several sizes."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import Final

import msgspec

from tests.bench.machine import Machine
from tests.bench.sizing.memory import Held, Memory
from tests.bench.sizing.parts import Seconds
from tests.bench.sizing.play import Mix

MILLION: Final = 1_000_000

METHOD: Final = (
    "Every figure a unit is a slope: the median over all pairs of sizes that were measured, so that"
    " what is there once does not count. The floor plays in the benchmark's process, through the"
    " intake, the scripts, the claims and the readings of the service, on a redis-server that"
    " syncs every write; every win is validated, and paid by hand where the chapter wants that."
    " Memory is Redis's used_memory less what serves connections; a table's is measured after its"
    " day has been archived and trimmed, with all the replies and claims that are kept for it."
    " `usual_table` is four positions with the Progressive, `full_table` seven with it and the"
    " Five-Card Progressive. Wins come as the cards do, none is validated at the table alone."
    " Times are those of whole commands; cpu_s is of one core and without Redis's part."
)


class _Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all parts of the report."""


class Sizes(_Figures, frozen=True, kw_only=True):
    """Sizes at which the run measured.

    Attributes:
        mixes: names of the mixes of wagers.
        tables: numbers of tables of the floors that are compared.
        rounds_a_table: rounds that each of these tables plays.
        play_tables: tables of the floor whose ledger grows.
        play_rounds: rounds that each of those tables plays, step by step.
        links: numbers of links, and of meters in a link, that are compared.
        service_tables: numbers of tables of the floors whose services are compared.
        outbox_rounds: rounds in each of the outboxes that are compared.
        settle_s: wait before the memory that Redis has freed is measured.
    """

    mixes: tuple[str, ...]
    tables: tuple[int, ...]
    rounds_a_table: int
    play_tables: int
    play_rounds: tuple[int, ...]
    links: tuple[int, ...]
    service_tables: tuple[int, ...]
    outbox_rounds: tuple[int, ...]
    settle_s: float


class Step(_Figures, frozen=True, kw_only=True):
    """State of a floor after some play, counted from its beginning."""

    rounds: int
    wagers: int
    entries: int
    claims: int
    held: Held
    written_bytes: int
    rewritten_bytes: int
    fork_ms: float
    audit: Seconds
    start: Seconds
    service_rss_bytes: int


class Archived(_Figures, frozen=True, kw_only=True):
    """Measurements of the same floor while its days were archived.

    Attributes:
        entries: number of entries in the archive.
        days: wagers of each day, and bytes of its files.
        writing: time of `pitlink archive` for all days.
        nothing: time of the same command with nothing to do.
        trimming: time of the same command when it deletes all archived days from Redis.
        audit: time of `pitlink audit` across the archive.
        before: Redis's memory before anything was deleted.
        after: Redis's memory after that.
        settled: Redis's memory some time later, with the append-only file rewritten.
    """

    entries: int
    days: tuple[tuple[int, int], ...]
    writing: Seconds
    nothing: Seconds
    trimming: Seconds
    audit: Seconds
    before: Memory
    after: Memory
    settled: Memory
    rewritten_bytes: int


class Played(_Figures, frozen=True, kw_only=True):
    """A mix, step by step, and its archive; `tables` are numbers of tables and the memory held."""

    steps: tuple[Step, ...]
    archived: Archived
    tables: tuple[tuple[int, Held], ...]


class TableFigures(_Figures, frozen=True, kw_only=True):
    """Memory of a table that has played for long: its kept replies and claims, and the rest."""

    redis_bytes: int
    replies_bytes: int
    claims_bytes: int


class MixFigures(_Figures, frozen=True, kw_only=True):
    """Memory of a mix of wagers. `redis_bytes_…` holds while it is live, by what uses it."""

    wagers_a_round: int
    claims_per_thousand_rounds: float
    ledger_entries_per_million_wagers: int
    table: TableFigures
    redis_bytes_per_million_wagers: dict[str, int]
    redis_bytes_per_claim: dict[str, int]
    append_only_file_bytes_per_million_wagers: dict[str, int]
    append_only_file_fork_ms: float
    archive_bytes_per_million_wagers: int
    per_million_entries: dict[str, Seconds]
    service_rss_bytes_per_million_entries_live: int
    redis_before_archive: Memory
    redis_after_trim: Memory
    redis_settled: Memory
    append_only_file_bytes_settled: int


class ServiceFigures(_Figures, frozen=True, kw_only=True):
    rss_bytes_without_tables: int
    rss_bytes_per_table: int


class OutboxFigures(_Figures, frozen=True, kw_only=True):
    """A table's outbox, with two events a round, and the memory of its agent."""

    bytes_per_event: int
    agent_rss_bytes: int


class SizingReport(_Figures, frozen=True, kw_only=True):
    """Output of `python -m tests bench --sizing`."""

    machine: Machine
    sizes: Sizes
    redis_bytes_per_link: int
    redis_bytes_per_meter: int
    redis_bytes_for_ever: dict[str, int]
    mixes: dict[str, MixFigures]
    service: ServiceFigures
    outbox: OutboxFigures
    duration_s: float
    method: str = METHOD


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the rise of the second number per unit of the first: the median over all pairs.

    >>> slope([(1, 110), (2, 120), (4, 140)])
    10.0
    """
    return median(
        (after - before) / (high - low) for (low, before), (high, after) in combinations(points, 2)
    )


def mix_figures(mix: Mix, played: Played) -> MixFigures:
    steps, archived = played.steps, played.archived
    last = steps[-1]

    def a_million(values: Mapping[str, Sequence[tuple[float, float]]]) -> dict[str, int]:
        return {name: round(slope(points) * MILLION) for name, points in values.items()}

    held = {name: [(one.wagers, _part(one.held, name)) for one in steps] for name in _PARTS}
    files = {
        "as_written": [(one.wagers, one.written_bytes) for one in steps],
        "rewritten": [(one.wagers, one.rewritten_bytes) for one in steps],
    }
    live = a_million(held)
    live["ledger"] = 2 * live["all"] - sum(live.values())
    return MixFigures(
        wagers_a_round=mix.wagers_a_round,
        claims_per_thousand_rounds=round(last.claims / last.rounds * 1_000, 1),
        ledger_entries_per_million_wagers=round(
            slope([(one.wagers, one.entries) for one in steps]) * MILLION
        ),
        table=TableFigures(
            redis_bytes=_per_table(played, "all"),
            replies_bytes=_per_table(played, "tables"),
            claims_bytes=_per_table(played, "claims") + _per_table(played, "wins"),
        ),
        redis_bytes_per_million_wagers=live,
        redis_bytes_per_claim={
            name: round(slope([(one.claims, _part(one.held, name)) for one in steps]))
            for name in ("claims", "wins")
        },
        append_only_file_bytes_per_million_wagers=a_million(files),
        append_only_file_fork_ms=last.fork_ms,
        archive_bytes_per_million_wagers=round(slope(archived.days) * MILLION),
        per_million_entries={
            "audit_live": _times([(one.entries, one.audit) for one in steps]),
            "audit_archived": _times(
                [(steps[0].entries, steps[0].audit), (archived.entries, archived.audit)]
            ),
            "start": _times([(one.entries, one.start) for one in steps]),
            "archive": _times([(0, archived.nothing), (archived.entries, archived.writing)]),
            "trim": _times([(0, archived.nothing), (archived.entries, archived.trimming)]),
        },
        service_rss_bytes_per_million_entries_live=round(
            slope([(one.entries, one.service_rss_bytes) for one in steps]) * MILLION
        ),
        redis_before_archive=archived.before,
        redis_after_trim=archived.after,
        redis_settled=archived.settled,
        append_only_file_bytes_settled=archived.rewritten_bytes,
    )


_PARTS: Final = ("all", "claims", "wins", "slips", "acts")


def _part(held: Held, name: str) -> int:
    sizes: dict[str, int] = msgspec.structs.asdict(held)
    return sizes[name]


def _per_table(played: Played, name: str) -> int:
    return round(slope([(tables, _part(held, name)) for tables, held in played.tables]))


def _times(points: Sequence[tuple[int, Seconds]]) -> Seconds:
    return Seconds(
        elapsed_s=round(slope([(at, one.elapsed_s) for at, one in points]) * MILLION, 1),
        cpu_s=round(slope([(at, one.cpu_s) for at, one in points]) * MILLION, 1),
    )
