"""The simulation itself: it passes on fixed seeds, repeats itself, and finds defects."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
WITHIN_S: Final = 300


def simulation(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests", "sim", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=WITHIN_S,
    )  # fmt: skip


@pytest.mark.duty("D11")
@pytest.mark.parametrize(
    ("seed", "seeds", "steps"), [(2, 1, 30), pytest.param(1, 3, 150, marks=pytest.mark.slow)]
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
    ("seed", "defect"),
    [
        (1, "a void changes a meter, and not its version"),
        (1, "a copy in the same batch is refused"),
        (2, "the rate of a tier is one basis point too high"),
        (2, "the percentage of a tier is taken from another meter"),
    ],
)
def test_a_defect_is_found_and_the_seed_that_finds_it_is_shown(seed: int, defect: str) -> None:
    run = simulation("--seed", str(seed), "--steps", "100", "--break", defect)
    assert run.returncode == 1
    assert "FAILED:" in run.stdout
    assert f"again: python -m tests sim --seed {seed} --steps 100" in run.stdout
