"""An installed copy of the programs: the built wheel, unpacked, with its record."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

from tests.servers import Pitlink, run_pitlink

ROOT: Final = Path(__file__).resolve().parents[2]


def build_wheel(target: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = target.glob("*.whl")
    return wheel


class Installed:
    def __init__(self, wheel: Path, home: Path) -> None:
        self.home = home
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(home)

    @property
    def env(self) -> dict[str, str]:
        return dict(os.environ) | {"PYTHONPATH": str(self.home), "PYTHONSAFEPATH": "1"}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_pitlink(*arguments, env=self.env)

    def start(self, *arguments: str, approved: bool = True) -> Pitlink:
        return Pitlink(*arguments, env=self.env, approved=approved)
