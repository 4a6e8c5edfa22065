"""The simulation itself: it passes on fixed seeds, repeats itself, and finds defects."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.mutation.command import copy_tree
from tests.mutation.mutants import ROOT, mutants

WITHIN_S: Final = 300
SIMULATION: Final = (
    "tests/sim/test_simulation.py::test_under_all_faults_no_cent_is_lost_and_play_continues"
)


def simulation(*arguments: str, tree: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests", "sim", *arguments],
        cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)}, capture_output=True, text=True,
        check=False, timeout=WITHIN_S,
    )  # fmt: skip


@pytest.mark.duty("D11")
@pytest.mark.parametrize(
    ("seed", "seeds", "steps"),
    [
        (2, 1, 30),
        pytest.param(1, 4, 150, marks=pytest.mark.slow),
        pytest.param(13, 1, 150, marks=pytest.mark.slow),
    ],
)
def test_under_all_faults_no_cent_is_lost_and_play_continues(
    seed: int, seeds: int, steps: int
) -> None:
    run = simulation("--seed", f"{seed}", "--seeds", f"{seeds}", "--steps", f"{steps}")
    assert run.returncode == 0, run.stdout
    assert run.stdout.endswith("all held\n")


@pytest.mark.slow
def test_the_same_seed_is_the_same_run() -> None:
    one, other = (simulation("--seed", "4", "--steps", "40") for _ in range(2))
    assert one.returncode == 0, one.stdout
    assert one.stdout == other.stdout
    assert "trace" in one.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "old"), [(1, "touch_meter(meter)"), (2, "PercentWon(meter, percent)")]
)
def test_a_defect_is_found_and_the_seed_that_finds_it_is_shown(
    tmp_path: Path, seed: int, old: str
) -> None:
    """`python -m tests mutate tests/sim` tries each defect that the simulation must find."""
    (defect,) = (one for one in mutants() if SIMULATION in one.rows and old in one.old)
    copy = copy_tree(tmp_path / "copy")
    (copy / defect.file).write_text(defect.applied(copy))
    run = simulation("--seed", str(seed), "--steps", "100", tree=copy)
    assert run.returncode == 1
    assert "FAILED:" in run.stdout
    assert f"again: python -m tests sim --seed {seed} --steps 100" in run.stdout
