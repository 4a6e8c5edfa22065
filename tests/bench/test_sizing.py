"""The output of `python -m tests bench --sizing` on real parts, and how it is computed."""

import json
import os
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from meters.floor.floor_file import parse_floor
from meters.wire.messages import TABLE_EVENT, Result, Wagers
from tests.bench.events import EventWriter
from tests.bench.floor import FloorParts, bare_floor_text
from tests.bench.sizing.figures import Archived, Played, Step, mix_figures, slope
from tests.bench.sizing.memory import Held, Memory
from tests.bench.sizing.parts import Seconds
from tests.bench.sizing.play import MIXES
from tests.processes import bench_command, run_pitlink
from tests.waiting import eventually, require

PARTS: Final = FloorParts(
    broker="mqtt://127.0.0.1:1", redis="unix:///none", http="127.0.0.1:2", data="/none"
)
FULL, USUAL = MIXES
MEMORY: Final = Memory(used_bytes=1, rss_bytes=2, rss_to_used_ratio=2.0)
AT_ONCE_BYTES: Final = 5_000_000
"""Bytes that exist once; they must not affect a slope."""


def seconds(elapsed_s: float) -> Seconds:
    return Seconds(elapsed_s=elapsed_s, cpu_s=elapsed_s / 2)


def held(rounds: int, tables: int) -> Held:
    return Held(
        all=AT_ONCE_BYTES + 6_000 * rounds + 70_000 * tables,
        claims=900 * rounds,
        wins=40 * rounds,
        slips=0,
        acts=8 * rounds,
        tables=50_000 * tables,
    )


def step(rounds: int) -> Step:
    """Return a step. A third of its rounds has a win, whose two decisions are further entries."""
    entries = 2 * rounds + 2 * rounds // 3
    return Step(
        rounds=rounds,
        wagers=14 * rounds,
        entries=entries,
        claims=rounds // 3,
        held=held(rounds, 100),
        written_bytes=8_000 * rounds,
        rewritten_bytes=AT_ONCE_BYTES + 2_000 * rounds,
        fork_ms=rounds / 1_000,
        audit=seconds(2 + entries * 50e-6),
        start=seconds(3 + entries * 60e-6),
        service_rss_bytes=AT_ONCE_BYTES,
    )


def played() -> Played:
    last = step(6_000)
    return Played(
        steps=(step(1_000), step(3_000), last),
        archived=Archived(
            entries=last.entries,
            days=((0, 40_000), (14_000, 40_000 + 14_000 * 300), (28_000, 40_000 + 28_000 * 300)),
            writing=seconds(4 + last.entries * 90e-6),
            nothing=seconds(4),
            trimming=seconds(4 + last.entries * 20e-6),
            audit=seconds(2 + last.entries * 110e-6),
            before=MEMORY,
            after=MEMORY,
            settled=MEMORY,
            rewritten_bytes=1,
        ),
        tables=((30, held(0, 30)), (60, held(0, 60)), (90, held(0, 90))),
    )


def test_figures_are_slopes() -> None:
    """Bytes that exist once for any amount of play affect none of the slopes."""
    found = mix_figures(FULL, played())
    live = found.redis_bytes_per_million_wagers
    assert found.claims_per_thousand_rounds == 333.3
    assert live["all"] == round(6_000 / 14 * 10**6)
    assert live["claims"] == round(900 / 14 * 10**6)
    assert live["ledger"] == pytest.approx((6_000 - 900 - 40 - 8) / 14 * 10**6, abs=3)
    assert found.append_only_file_bytes_per_million_wagers == {
        "as_written": round(8_000 / 14 * 10**6),
        "rewritten": round(2_000 / 14 * 10**6),
    }
    assert found.archive_bytes_per_million_wagers == 300_000_000
    assert found.table == msgspec.structs.replace(
        found.table, redis_bytes=70_000, replies_bytes=50_000, claims_bytes=0
    )
    assert found.service_rss_bytes_per_million_entries_live == 0
    assert {name: one.elapsed_s for name, one in found.per_million_entries.items()} == {
        "audit_live": 50.0,
        "audit_archived": pytest.approx(110.0, abs=13),
        "start": 60.0,
        "archive": 90.0,
        "trim": 20.0,
    }


def test_one_disturbed_size_moves_no_figure_far() -> None:
    """The slope is the median of all pairs, not a line through both ends."""
    assert slope([(1, 10), (2, 20), (3, 30), (4, 900)]) <= 437
    assert slope([(1, 10), (2, 20), (3, 30), (4, 40), (5, 900)]) == 10


def test_each_mix_has_its_positions_and_meters() -> None:
    """Each mix has its positions and meters. Only a five-card wager deals community cards."""
    for mix in MIXES:
        writer = EventWriter(1, mix.positions, mix.meters)
        wagers = TABLE_EVENT.decode(writer.wagers(1, 1))
        result = TABLE_EVENT.decode(writer.result(2, 1))
        assert isinstance(wagers, Wagers)
        assert isinstance(result, Result)
        assert sum(len(one.wagers) for one in wagers.positions) == mix.wagers_a_round
        assert len(result.positions) == mix.positions
        dealt = bool(result.community)
        assert dealt == ("five_card_progressive" in mix.meters)
    assert (FULL.wagers_a_round, USUAL.wagers_a_round) == (14, 4)


def test_floor_without_tables_is_one_that_the_service_reads() -> None:
    floor = parse_floor(bare_floor_text(PARTS, links=3, meters=2))
    assert [len({meter.meter_id for meter in link.meter}) for link in floor.link] == [2, 2, 2]
    assert len({link.id for link in floor.link}) == 3


def has_figures(figures: dict[str, Any], *names: str) -> bool:
    """Return whether figures exist. So little play leaves books that Redis's own use hides."""
    return all(isinstance(figures[name], int | float) for name in names)


def positive(figures: dict[str, Any], *names: str) -> bool:
    return all(figures[name] > 0 for name in names)


@pytest.mark.slow
def test_quick_measures_everything_and_leaves_nothing(short_path: Path) -> None:
    """It prints one JSON object. Figures of so few wagers mean little, but each must be there."""
    daemons = [str(Path(require(name)).parent) for name in ("mosquitto", "redis-server")]
    path = os.pathsep.join([os.environ["PATH"], *daemons])
    env = {**os.environ, "PATH": path, "TMPDIR": str(short_path)}
    done = run_pitlink("--sizing", "--quick", program=bench_command, env=env, timeout_s=400)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert has_figures(report, "redis_bytes_per_link", "redis_bytes_per_meter")
    assert has_figures(report["redis_bytes_for_ever"], "operators_log_entry", "slip", "proposal")

    (mix,) = report["mixes"].values()
    # A round is two entries, and has fourteen wagers.
    assert mix["ledger_entries_per_million_wagers"] >= 2 / 14 * 10**6
    assert has_figures(mix["redis_bytes_per_million_wagers"], "all", "ledger", "claims")
    assert has_figures(mix["redis_bytes_per_claim"], "claims", "wins")
    written = mix["append_only_file_bytes_per_million_wagers"]
    assert written["as_written"] > written["rewritten"] > 0
    assert positive(mix, "archive_bytes_per_million_wagers", "append_only_file_bytes_settled")
    assert positive(mix["table"], "replies_bytes")
    assert positive(mix["redis_after_trim"], "used_bytes")
    assert positive(mix["redis_before_archive"], "used_bytes")

    assert positive(report["service"], "rss_bytes_without_tables")
    assert positive(report["outbox"], "bytes_per_event", "agent_rss_bytes")
    eventually(lambda: not list(short_path.iterdir()), what="no file left")
