"""`python -m tests naive`: any number of random rounds, each settled twice."""

import argparse
import sys
from collections.abc import Sequence

from tests.naive.agreement import GAMES, ROUNDS_IN_A_CHUNK, first_disagreement


def main(arguments: Sequence[str]) -> int:
    """Run the command. Return 0 if both settlements agree on every round."""
    asked = _parser().parse_args(arguments)
    for game in asked.game or GAMES:
        chunks = range(asked.first, asked.first + -(-asked.rounds // ROUNDS_IN_A_CHUNK))
        for chunk in chunks:
            if differs := first_disagreement(game, chunk, ROUNDS_IN_A_CHUNK):
                sys.stdout.write(f"{game}, {differs}\n")
                return 1
        sys.stdout.write(f"{game}: {len(chunks) * ROUNDS_IN_A_CHUNK:,} rounds agree\n")
        sys.stdout.flush()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests naive", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=100_000, metavar="N",
        help=f"of each game, {ROUNDS_IN_A_CHUNK:,} to a chunk",
    )  # fmt: skip
    parser.add_argument(
        "--first", type=int, default=0, metavar="CHUNK",
        help="the chunk to begin with; each is a seed, and the tests go through the first few",
    )  # fmt: skip
    parser.add_argument("--game", action="append", choices=GAMES, help="all unless given")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
