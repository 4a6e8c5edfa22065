"""Fuzz one target by coverage: ``python -m tests guided --target wire --inputs 100000``.

atheris, from the extra `fuzz`, makes the inputs, guided by the code that they reach. It ends the
process, with status 0 if no input failed. An input that failed is written to a file whose name it
prints.
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
    """Check one input."""
    await check(data)


def fuzz(target: Target, inputs: int, seed: int) -> None:
    """Fuzz until a number of inputs is checked."""
    runner = asyncio.Runner()
    opened = target.opened()
    check = runner.run(opened.__aenter__())

    def put_in(data: bytes) -> None:
        runner.run(take(check, data))

    def change(data: bytes, size_max: int, number: int) -> bytes:
        """Change bytes as bytes, or every other time as JSON if they are JSON."""
        if number % 2:
            return bytes(atheris.Mutate(data, size_max))
        return mutated(Random(number), [data, *target.seeds])[:size_max]

    options = [f"-runs={inputs}", f"-seed={seed}", "-max_len=20000", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options], put_in, custom_mutator=change)
    atheris.Fuzz()


def main() -> None:
    """Read the arguments, and fuzz."""
    parser = argparse.ArgumentParser(prog=sys.argv[0], description=__doc__)
    parser.add_argument(
        "--inputs", type=int, default=100_000, help="number of inputs (default 100000)"
    )
    parser.add_argument(
        "--target", choices=sorted(TARGETS), default="wire", help="parser (default wire)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="another seed makes other inputs (default 1)"
    )
    asked = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    fuzz(TARGETS[asked.target], asked.inputs, asked.seed)


if __name__ == "__main__":
    main()
