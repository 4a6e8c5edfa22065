"""Figures of a benchmark, computed from the measurements of each pass."""

from collections.abc import Sequence
from statistics import median
from typing import Final

import msgspec

from tests.bench.floor import POSITIONS, WAGERS_AN_EVENT
from tests.bench.machine import Machine
from tests.bench.orders import Finished, LatencyMeasured, Measured, Percentiles
from tests.bench.stand import AuditResult

TEN_TIMES: Final = 10

_US_PER_S: Final = 1e6
_SERVICE: Final = ("load", "mosquitto", "service", "redis")
_PIPE: Final = ("load", "pipe_mosquitto", "mosquitto_sub", "redis_cli", "pipe_redis")
"""Processes whose CPU time is reported: of the service, and of the pipe."""

METHOD: Final = (
    "A window of wagers: every table sends one wagers event at once, and the time runs from the"
    " first publish to the last reply; the rounds are voided after it, untimed. The pipe"
    " is two C programs (mosquitto_sub into redis-cli --pipe) that write the same windows to their"
    " own Redis, one XADD an event, timed until Redis has the last: near the machine's limit. It"
    " begins when the service has ended its audits, which wait while its tables send events. Whole"
    " rounds: every table plays wagers and result in turn, as fast as it is answered. Latency:"
    " rounds begun at a steady pace, the result sent as soon as the wagers are answered; a meter is"
    " seen when the first retained value that covers the wagers arrives (values are published every"
    " 100 ms at most). Phases alternate; each figure is the median of the passes. Redis syncs"
    " every write; its append-only file is not rewritten meanwhile."
)


class _Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all parts of the report."""


class Settings(_Figures, frozen=True, kw_only=True):
    tables: int
    positions_a_table: int
    wagers_an_event: int
    seconds_a_phase: float
    passes: int


class WagersFigures(_Figures, frozen=True, kw_only=True):
    """`wagers` events accepted, from publish to reply, and the CPU time of each process."""

    tables: int
    events_per_s: int
    wagers_per_s: int
    events_per_s_by_pass: list[int]
    cpu_us_per_event: dict[str, float]


class PipeFigures(_Figures, frozen=True, kw_only=True):
    """The bytes of `wagers`, written to a Redis by C programs that promise nothing."""

    events_per_s: int
    events_per_s_by_pass: list[int]
    cpu_us_per_event: dict[str, float]


class RoundsFigures(_Figures, frozen=True, kw_only=True):
    rounds_per_s: int
    rounds_per_s_by_pass: list[int]
    claims_opened: int
    cpu_us_per_round: dict[str, float]


class LatencyFigures(_Figures, frozen=True, kw_only=True):
    """Latencies from publish to reply, and to the first meter value that covers the wagers."""

    rounds_per_s: float
    wagers_to_reply: Percentiles
    result_to_reply: Percentiles
    wagers_to_meter_seen: Percentiles


class Books(_Figures, frozen=True, kw_only=True):
    """Comparison of the load's own books with the audit's: whether anything was lost."""

    balanced: bool
    meters_equal: bool
    counts_equal: bool
    events_sent: int
    events_accepted: int
    events_repeated: int
    events_held: int
    refusals: dict[str, int]
    interruptions: dict[str, int]
    ledger_entries: int

    @property
    def nothing_lost(self) -> bool:
        """True if every event was accepted exactly once, or held, and the books agree."""
        return (
            self.balanced
            and self.meters_equal
            and self.counts_equal
            and self.events_sent == self.events_accepted + self.events_held
        )


class Report(_Figures, frozen=True, kw_only=True):
    """Output of `python -m tests bench`."""

    machine: Machine
    settings: Settings
    wagers: WagersFigures
    c_pipe: PipeFigures
    wagers_to_pipe_ratio: float
    rounds: RoundsFigures
    latency: LatencyFigures
    busy_latency: LatencyFigures
    ten_times_tables: WagersFigures
    ten_times_to_wagers_ratio: float
    books: Books
    nothing_lost: bool
    duration_s: float
    method: str = METHOD


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """Measurements of one pass. The phases of a pass follow each other closely."""

    wagers: Measured
    pipe: Measured
    rounds: Measured
    ten_times: Measured
    latency: LatencyMeasured
    busy_latency: LatencyMeasured


def make_report(
    *,
    machine: Machine,
    settings: Settings,
    passes: Sequence[Pass],
    finished: Finished,
    audit: AuditResult,
    duration_s: float,
) -> Report:
    rounds, pipes = [one.rounds for one in passes], [one.pipe for one in passes]
    books = compare_books(finished, audit)
    return Report(
        machine=machine,
        settings=settings,
        wagers=_wagers(settings.tables, [one.wagers for one in passes]),
        c_pipe=PipeFigures(
            events_per_s=_median_rate(pipes),
            events_per_s_by_pass=_rates(pipes),
            cpu_us_per_event=_cpu_us(pipes, _PIPE),
        ),
        wagers_to_pipe_ratio=_ratio([(one.wagers, one.pipe) for one in passes]),
        rounds=RoundsFigures(
            rounds_per_s=_median_rate(rounds),
            rounds_per_s_by_pass=_rates(rounds),
            claims_opened=sum(one.claims for one in rounds),
            cpu_us_per_round=_cpu_us(rounds),
        ),
        latency=_latency([one.latency for one in passes]),
        busy_latency=_latency([one.busy_latency for one in passes]),
        ten_times_tables=_wagers(settings.tables * TEN_TIMES, [one.ten_times for one in passes]),
        ten_times_to_wagers_ratio=_ratio([(one.ten_times, one.wagers) for one in passes]),
        books=books,
        nothing_lost=books.nothing_lost,
        duration_s=round(duration_s, 1),
    )


def compare_books(finished: Finished, audit: AuditResult) -> Books:
    links = finished.links
    meters = {
        link: {name: meter.amount_micros for name, meter in audited.meters.items()}
        for link, audited in audit.links.items()
    }
    return Books(
        balanced=audit.balanced,
        meters_equal=meters == {link: books.meters_micros for link, books in links.items()},
        counts_equal=audit.totals.wagers == sum(books.wagers for books in links.values())
        and audit.totals.rounds == sum(books.rounds for books in links.values()),
        events_sent=finished.sent,
        events_accepted=finished.accepted,
        events_repeated=finished.repeated,
        events_held=finished.held,
        refusals=finished.refusals,
        interruptions=finished.interruptions,
        ledger_entries=audit.entries,
    )


def settings_of(tables: int, seconds: float, passes: int) -> Settings:
    return Settings(
        tables=tables,
        positions_a_table=POSITIONS,
        wagers_an_event=WAGERS_AN_EVENT,
        seconds_a_phase=seconds,
        passes=passes,
    )


def _wagers(tables: int, measured: Sequence[Measured]) -> WagersFigures:
    return WagersFigures(
        tables=tables,
        events_per_s=_median_rate(measured),
        wagers_per_s=round(median(_rate(one) for one in measured) * WAGERS_AN_EVENT),
        events_per_s_by_pass=_rates(measured),
        cpu_us_per_event=_cpu_us(measured),
    )


def _rate(one: Measured) -> float:
    return one.events / one.elapsed_s


def _rates(measured: Sequence[Measured]) -> list[int]:
    return [round(_rate(one)) for one in measured]


def _median_rate(measured: Sequence[Measured]) -> int:
    return round(median(_rate(one) for one in measured))


def _ratio(pairs: Sequence[tuple[Measured, Measured]]) -> float:
    """Return the median of the passes' ratios. A slow machine slows both sides of a pass."""
    return round(median(_rate(one) / _rate(other) for one, other in pairs), 3)


def _cpu_us(
    measured: Sequence[Measured],
    processes: Sequence[str] = _SERVICE,
) -> dict[str, float]:
    """Return microseconds of CPU per event by process; empty if the system does not report them."""
    if not any(one.cpu_s.get("load") for one in measured):
        return {}
    return {
        name: round(median(one.cpu_s[name] / one.events for one in measured) * _US_PER_S, 1)
        for name in processes
    }


def _latency(measured: Sequence[LatencyMeasured]) -> LatencyFigures:
    return LatencyFigures(
        rounds_per_s=round(median(one.rounds_per_s for one in measured), 1),
        wagers_to_reply=_percentiles([one.wagers_reply for one in measured]),
        result_to_reply=_percentiles([one.result_reply for one in measured]),
        wagers_to_meter_seen=_percentiles([one.wagers_meter_seen for one in measured]),
    )


def _percentiles(measured: Sequence[Percentiles]) -> Percentiles:
    return Percentiles(
        p50_ms=round(median(one.p50_ms for one in measured), 2),
        p99_ms=round(median(one.p99_ms for one in measured), 2),
        samples=sum(one.samples for one in measured),
    )
