"""The scripts of deploy/: what they need, what they print, and what they do only once."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("bash", "cat", "dirname", "tail")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a PATH directory with the programs that the scripts use, without Python."""
    place = tmp_path / "bin"
    place.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (place / tool).symlink_to(found)
    return place


def put(place: Path, name: str, script: str) -> None:
    program = place / name
    program.write_text(f"#!{shutil.which('bash')}\n{script}\n")
    program.chmod(0o755)


def source(
    tools: Path, command: str, *, cwd: Path, root: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    script = f'set -euo pipefail; root={root}; . "$root/deploy/environment.sh"; {command}'
    return subprocess.run(
        ["bash", "-c", script, "deploy/demo"],
        env={"PATH": str(tools)}, cwd=cwd, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_no_python_is_said(tools: Path, tmp_path: Path) -> None:
    done = source(tools, "find_python", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "demo: Python 3.11 or later is needed (on Debian 12: apt install python3 python3-venv)."
        " None was found.\n"
    )


def test_old_python_is_named(tools: Path, tmp_path: Path) -> None:
    put(tools, "python3", 'case "$1" in -V) echo Python 3.9.2;; *) exit 1;; esac')
    done = source(tools, "find_python", cwd=tmp_path)
    assert done.returncode == 1
    assert "python3 is Python 3.9.2" in done.stderr


def test_python_without_venv_is_passed_over(tools: Path, tmp_path: Path) -> None:
    put(tools, "python3.12", 'case "$*" in *venv*) exit 1;; esac')
    done = source(tools, "find_python", cwd=tmp_path)
    assert done.returncode == 1
    assert "apt install python3.12-venv" in done.stderr
    put(tools, "python3", "exit 0")
    done = source(tools, "find_python", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, str(tools / "python3"))


def test_environment_is_installed_once_and_again_when_the_project_changes(
    tools: Path, tmp_path: Path
) -> None:
    """The second run starts in seconds, because it only compares a digest."""
    log = tmp_path / "log"
    put(
        tools,
        "python3",
        f'echo "$*" >>{log}\n'
        'case "$*" in *"-m venv"*) '
        f'{shutil.which("mkdir")} -p "${{@: -1}}/bin"; '
        f'{shutil.which("ln")} -sf "$0" "${{@: -1}}/bin/python";; '
        f'"- "*) exec {sys.executable} "$@";; esac',
    )
    project = tmp_path / "project"
    (project / "deploy").mkdir(parents=True)
    shutil.copy(ROOT / "deploy" / "environment.sh", project / "deploy")
    shutil.copy(ROOT / "pyproject.toml", project)

    def installs() -> int:
        command = 'make_environment "$root/.venv-demo" embedded'
        done = source(tools, command, cwd=tmp_path, root=project)
        assert done.returncode == 0, done.stderr
        return log.read_text().count("install --only-binary")

    assert installs() == 1
    assert installs() == 1
    with (project / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    assert installs() == 2
    assert installs() == 2
