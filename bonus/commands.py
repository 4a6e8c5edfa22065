"""The commands of the rules."""

import sys

import typer

from bonus.settle import settle_lines


def settle() -> None:
    """Settle rounds: one JSON object a line in, one settlement a line out.

    Reads rounds from standard input and writes their settlements to standard output, in the same
    order. It needs no server. A round that cannot be settled yields an error in its place; the
    rest still run, and the exit status is then 1.
    """
    if not settle_lines(sys.stdin.buffer, sys.stdout.buffer):
        raise typer.Exit(1)
