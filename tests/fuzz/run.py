"""Fuzz the parsers that read from outside: ``python -m tests fuzz --inputs 1000000``.

Each input follows from a seed and a number, so a finding can be repeated with them. The inputs are
divided among the targets, unless one is named. If a target fails, the input is printed, the run
continues with the next target, and the exit status is 1.

With ``--guided``, atheris from the extra `fuzz` makes the inputs, guided by the code that they
reach. It ends the process at the first input that fails, and writes it to a file.
"""

import argparse
import asyncio
import logging
import math
import resource
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from random import Random
from typing import Final

import structlog

if "--guided" in sys.argv:
    import atheris

    led = atheris.instrument_imports(include=["bonus", "meters", "controllers"])
else:
    led = nullcontext()
with led:
    from tests.fuzz import game_targets, service_targets, store_targets, table_targets, text_targets
    from tests.fuzz.junk import mutated
    from tests.fuzz.target import Check, Target

TARGETS: Final = {
    target.name: target
    for target in (
        *service_targets.TARGETS,
        *table_targets.TARGETS,
        *text_targets.TARGETS,
        *game_targets.TARGETS,
        *store_targets.TARGETS,
    )
}
SLOW_S: Final = 1.0
"""Seconds for one input. An input that needs more, three times, is a defect because it delays every
table."""


class FoundError(AssertionError):
    """A parser failed on an input."""


@dataclass(frozen=True, slots=True)
class Tally:
    inputs: int
    seconds: float
    slowest_s: float
    slowest_bytes: int


def input_of(target: Target, seed: int, number: int) -> bytes:
    return target.make(Random(f"{target.name} {seed} {number}"), target.seeds)


async def fuzz(target: Target, inputs: int, seed: int, *, first: int = 0) -> Tally:
    began = time.perf_counter()
    slowest_s, slowest_bytes = 0.0, 0
    async with target.opened() as check:
        for number in range(first, first + inputs):
            data = input_of(target, seed, number)
            at = time.perf_counter()
            try:
                await check(data)
            except Exception as error:
                where = f"--target {target.name} --seed {seed} --first {number} --inputs 1"
                message = f"{type(error).__name__}: {error}\n  {where}\n  {data[:600]!r}"
                raise FoundError(message) from error
            took_s = time.perf_counter() - at
            if took_s > slowest_s:
                slowest_s, slowest_bytes = took_s, len(data)
                if took_s > SLOW_S:
                    slowest_s = await _again(check, data, took_s)
    return Tally(inputs, time.perf_counter() - began, slowest_s, slowest_bytes)


async def _again(check: Check, data: bytes, took_s: float) -> float:
    """Raise unless one of several repetitions is fast enough; a busy machine is no defect."""
    for _ in range(2):
        at = time.perf_counter()
        await check(data)
        took_s = min(took_s, time.perf_counter() - at)
    if took_s > SLOW_S:
        raise FoundError(f"an input of {len(data)} bytes takes {took_s:.1f} s: {data[:200]!r}")
    return took_s


def shares(inputs: int, targets: Sequence[Target]) -> dict[str, int]:
    """Return the number of inputs for each target; together at least the requested number."""
    whole = sum(target.share for target in targets)
    return {target.name: math.ceil(inputs * target.share / whole) for target in targets}


async def run(targets: Sequence[Target], inputs: int, seed: int, first: int) -> bool:
    stood, done = True, 0
    print(f"{'target':12} {'inputs':>9} {'seconds':>8} {'slowest ms':>11} {'of bytes':>9}")  # noqa: T201
    for name, share in shares(inputs, targets).items():
        try:
            tally = await fuzz(TARGETS[name], share, seed, first=first)
        except FoundError as found:
            stood = False
            print(f"{name:12} FAILED {found}")  # noqa: T201
            continue
        done += tally.inputs
        print(  # noqa: T201
            f"{name:12} {tally.inputs:9} {tally.seconds:8.1f} {tally.slowest_s * 1000:11.2f}"
            f" {tally.slowest_bytes:9}",
            flush=True,
        )
    most_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{done} inputs, seed {seed}, at most {most_kib // 1024} MiB")  # noqa: T201
    return stood


def guided(target: Target, inputs: int, seed: int) -> None:
    """Check a number of inputs that atheris makes, and end the process."""
    runner = asyncio.Runner()
    opened = target.opened()
    check = runner.run(opened.__aenter__())

    async def take(data: bytes) -> None:
        await check(data)

    def change(data: bytes, size_max: int, number: int) -> bytes:
        """Change bytes as bytes, or every other time as JSON if they are JSON."""
        if number % 2:
            return bytes(atheris.Mutate(data, size_max))
        return mutated(Random(number), [data, *target.seeds])[:size_max]

    options = [f"-runs={inputs}", f"-seed={seed}", "-max_len=20000", "-rss_limit_mb=2048"]
    atheris.Setup(
        [sys.argv[0], *options], lambda data: runner.run(take(data)), custom_mutator=change
    )
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(prog=sys.argv[0], description=__doc__)
    parser.add_argument(
        "--inputs", type=int, default=100_000, help="number of inputs in total (default 100000)"
    )
    parser.add_argument(
        "--target", choices=sorted(TARGETS), action="append", help="fuzz only this parser"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="another seed makes other inputs (default 1)"
    )
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first input (default 0)"
    )
    parser.add_argument(
        "--guided", action="store_true", help="have atheris make the inputs of one target"
    )
    asked = parser.parse_args()
    # Refused input is logged, and here nearly all input is refused.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    targets = [TARGETS[name] for name in asked.target or TARGETS]
    if asked.guided:
        guided(targets[0], asked.inputs, asked.seed)
    if not asyncio.run(run(targets, asked.inputs, asked.seed, asked.first)):
        sys.exit(1)


if __name__ == "__main__":
    main()
