"""Fuzz the parsers that read from outside: ``python -m tests fuzz --inputs 1000000``.

Each input is made from a seed and a number, so that what was found is made again by them. Inputs
are shared out over the targets, unless one is named. A target that fails is told with the input,
and the run goes on with the next one; the exit status is then 1.

``python -m tests guided`` has atheris make the inputs, led by what they reach.
"""

import argparse
import asyncio
import logging
import math
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

import structlog

from tests.fuzz import service_targets, store_targets, table_targets, text_targets
from tests.fuzz.target import Check, Target

TARGETS: Final = {
    target.name: target
    for target in (
        *service_targets.TARGETS,
        *table_targets.TARGETS,
        *text_targets.TARGETS,
        *store_targets.TARGETS,
    )
}
SLOW_S: Final = 1.0
"""An input that takes longer, three times over, is a defect: it holds up every table."""


class FoundError(AssertionError):
    """An input that a parser did not stand."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What a run over one target came to."""

    inputs: int
    seconds: float
    slowest_s: float
    slowest_bytes: int


def input_of(target: Target, seed: int, number: int) -> bytes:
    """The input of a number."""
    return target.make(Random(f"{target.name} {seed} {number}"), target.seeds)


async def fuzz(target: Target, inputs: int, seed: int, *, first: int = 0) -> Tally:
    """Put so many inputs into a target.

    Raises:
        FoundError: one of them was not stood.
    """
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
                told = f"{type(error).__name__}: {error}\n  {where}\n  {data[:600]!r}"
                raise FoundError(told) from error
            took_s = time.perf_counter() - at
            if took_s > slowest_s:
                slowest_s, slowest_bytes = took_s, len(data)
                if took_s > SLOW_S:
                    slowest_s = await _again(check, data, took_s)
    return Tally(inputs, time.perf_counter() - began, slowest_s, slowest_bytes)


async def _again(check: Check, data: bytes, took_s: float) -> float:
    """The least time of several; a machine that was busy is no defect."""
    for _ in range(2):
        at = time.perf_counter()
        await check(data)
        took_s = min(took_s, time.perf_counter() - at)
    if took_s > SLOW_S:
        raise FoundError(f"an input of {len(data)} bytes takes {took_s:.1f} s: {data[:200]!r}")
    return took_s


def shares(inputs: int, targets: Sequence[Target]) -> dict[str, int]:
    """How many inputs each target gets, all of them together at least so many."""
    whole = sum(target.share for target in targets)
    return {target.name: math.ceil(inputs * target.share / whole) for target in targets}


async def run(targets: Sequence[Target], inputs: int, seed: int, first: int) -> bool:
    """Fuzz each target and print what it came to; whether all of them stood."""
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


def main() -> None:
    """Read the arguments, and fuzz."""
    parser = argparse.ArgumentParser(prog=sys.argv[0], description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="how many, in all")
    parser.add_argument("--target", choices=sorted(TARGETS), action="append", help="only this one")
    parser.add_argument("--seed", type=int, default=1, help="other inputs")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    asked = parser.parse_args()
    # What is refused is logged; here nearly all is.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    targets = [TARGETS[name] for name in asked.target or TARGETS]
    if not asyncio.run(run(targets, asked.inputs, asked.seed, asked.first)):
        sys.exit(1)


if __name__ == "__main__":
    main()
