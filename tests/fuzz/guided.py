"""Fuzz one target by coverage: ``python -m tests guided --target wire --inputs 100000``.

atheris makes the inputs, led by what of our code they reach; it is in the extra `fuzz`. It ends
the process, with status 0 where the target stood; an input that it did not stand is kept in a file
that it names.
"""

import argparse
import asyncio
import logging
import sys
from random import Random

import atheris
import structlog

with atheris.instrument_imports(include=["bonus", "meters", "controllers"]):
    from tests.fuzz.junk import mutated
    from tests.fuzz.run import TARGETS
    from tests.fuzz.target import Check, Target


async def take(check: Check, data: bytes) -> None:
    """Put one input in."""
    await check(data)


def fuzz(target: Target, inputs: int, seed: int) -> None:
    """Fuzz until so many inputs were put in."""
    runner = asyncio.Runner()
    opened = target.opened()
    check = runner.run(opened.__aenter__())

    def put_in(data: bytes) -> None:
        runner.run(take(check, data))

    def change(data: bytes, size_max: int, number: int) -> bytes:
        """Bytes are changed as bytes, and every other time as the JSON that they may be."""
        if number % 2:
            return bytes(atheris.Mutate(data, size_max))
        return mutated(Random(number), [data, *target.seeds])[:size_max]

    options = [f"-runs={inputs}", f"-seed={seed}", "-max_len=20000", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options], put_in, custom_mutator=change)
    atheris.Fuzz()


def main() -> None:
    """Read the arguments, and fuzz."""
    parser = argparse.ArgumentParser(prog=sys.argv[0], description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="how many")
    parser.add_argument("--target", choices=sorted(TARGETS), default="wire", help="which parser")
    parser.add_argument("--seed", type=int, default=1, help="other inputs")
    asked = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    fuzz(TARGETS[asked.target], asked.inputs, asked.seed)


if __name__ == "__main__":
    main()
