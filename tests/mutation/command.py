"""`python -m tests mutate`: put each known defect into a copy of the code, and run its tests."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from tests.mutation.mutants import ROOT, Mutant, Verdict, mutants, tests_of
from tests.test_tree import TOP_LEVEL, files

_SECONDS_MAX: Final = 600
_FAILED: Final = re.compile(
    r"^(?:FAILED|ERROR) (tests/\S+?\.py::[\w:]+)(\[.*?\](?= - |$))?", re.MULTILINE
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; return 0 if every defect was found for each of its rows."""
    parser = argparse.ArgumentParser(
        prog="python -m tests mutate",
        description="Put each known defect into a copy of the code, one at a time. Run the tests"
        " that prove the rows of law.md or duties.md that the defect breaks, or that are its rows"
        " themselves. A defect survives a row if all tests of the row pass. The exit status is 1 if"
        " a defect survives.",
    )
    parser.add_argument(
        "row", nargs="*", help="only the defects of these rows: 649a.12, D7, tests/sim"
    )
    parser.add_argument("--jobs", type=int, default=2, help="defects tried at a time (default 2)")
    asked = parser.parse_args(arguments)
    chosen = [
        mutant
        for mutant in mutants()
        if not asked.row or any(row.startswith(tuple(asked.row)) for row in mutant.rows)
    ]
    if not chosen:
        sys.stdout.write(f"no defect is known for {', '.join(asked.row)}\n")
        return 2
    copies: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        for number in range(asked.jobs):
            copies.put(_compiled(copy_tree(Path(directory, str(number)))))
        if failed := _run(copies, sorted(_tests_of(chosen))):
            sys.stdout.write(f"without a defect these tests fail already: {', '.join(failed)}\n")
            return 1
        with ThreadPoolExecutor(asked.jobs) as pool:
            verdicts = list(pool.map(lambda mutant: _try(copies, mutant), chosen))
    return _report(verdicts)


def copy_tree(to: Path) -> Path:
    for path in files():
        name = path.relative_to(ROOT)
        if name.parts[0] in TOP_LEVEL:
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to / name)
    return to


def _compiled(copy: Path) -> Path:
    command = [sys.executable, "-m", "compileall", "-q", "bonus", "meters", "controllers", "tests"]
    subprocess.run(command, cwd=copy, check=True)
    return copy


def _tests_of(chosen: Iterable[Mutant]) -> set[str]:
    return {test for mutant in chosen for row in mutant.rows for test in tests_of(row)}


def _try(copies: "SimpleQueue[Path]", mutant: Mutant) -> Verdict:
    tests = sorted(_tests_of([mutant]))
    try:
        failed = _run(copies, tests, mutant)
        verdict = _verdict(mutant, failed, quick=True)
        if verdict.survived:
            failed |= _run(copies, tests, mutant, slow=True)
            verdict = _verdict(mutant, failed, quick=False)
    except _BrokenError as error:
        verdict = Verdict(mutant, {}, str(error))
    bad = verdict.broken or ", ".join(verdict.survived)
    label = "SURVIVED" if bad else "found" if verdict.quick else "found by --all"
    by = sorted({test for tests in verdict.found_by.values() for test in tests})
    sys.stdout.write(f"{label}  {_shown(mutant)}  {bad or ' '.join(by)}\n")
    sys.stdout.flush()
    return verdict


def _verdict(mutant: Mutant, failed: frozenset[str], *, quick: bool) -> Verdict:
    found = {row: failed.intersection(tests_of(row)) for row in mutant.rows}
    return Verdict(mutant, found, quick=quick)


class _BrokenError(Exception):
    """The tests could not be collected, or did not end: they say nothing about the defect."""


def _run(
    copies: "SimpleQueue[Path]",
    tests: Sequence[str],
    mutant: Mutant | None = None,
    *,
    slow: bool = False,
) -> frozenset[str]:
    """Run tests in a copy, with the defect, and return those that fail: the fast or the slow."""
    copy = copies.get()
    path = copy / mutant.file if mutant else None
    before = path.read_bytes() if path else b""
    kept = path.stat() if path else None
    try:
        if mutant and path:
            path.write_text(mutant.applied(copy), encoding="utf-8")
        command = [
            sys.executable,
            *["-m", "pytest", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider"],
        ]
        command += ["--hypothesis-profile", "unshrunk"]
        command += ["-m", "slow and not system" if slow else "not slow and not system"]
        if mutant and len(mutant.rows) == 1:
            command.append("-x")  # one test that finds it is enough
        done = subprocess.run(
            [*command, *tests],
            cwd=copy,
            # A compiled defect would outlive its source text.
            env=os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=_SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _BrokenError(f"the tests do not end within {_SECONDS_MAX} s") from None
    finally:
        if path and kept:
            path.write_bytes(before)
            os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
        copies.put(copy)
    if done.returncode not in {0, 1, 5} or "error during collection" in done.stdout:
        raise _BrokenError(f"the tests do not start: {done.stdout[-400:]}{done.stderr[-200:]}")
    failed = _FAILED.findall(done.stdout)
    return frozenset(name for test, of in failed for name in (test, f"{test}{of}"))


def _report(verdicts: Sequence[Verdict]) -> int:
    """Print the defects that no test found, and which run of `deploy/test` finds the others."""
    survivors = [verdict for verdict in verdicts if verdict.broken or verdict.survived]
    for verdict in survivors:
        sys.stdout.write(f"survived: {_shown(verdict.mutant)}: {', '.join(verdict.survived)}\n")
    slow = sum(not verdict.quick and verdict not in survivors for verdict in verdicts)
    sys.stdout.write(
        f"{len(verdicts)} defects: {len(verdicts) - len(survivors) - slow} found at each commit,"
        f" {slow} by --all, {len(survivors)} survived\n"
    )
    return 1 if survivors else 0


def _shown(mutant: Mutant) -> str:
    return f"{mutant.file}: {' '.join(mutant.new.split())[:90] or '(nothing)'}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
