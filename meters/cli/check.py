"""The `check` command: the self-check."""

import asyncio

import typer

from meters.cli.check_output import run_check
from meters.floor.config_option import ConfigOption


def check(config: ConfigOption) -> None:
    """Check the programs, the floor file and the parts that it names, one line each.

    The programs are held against the digests that the wheel recorded, the floor file against what
    was approved last, the ledger against the balances. `pitlink serve` checks the same before a
    link operates.

    Exit status 1 where something must be mended before the floor can operate.
    """
    if not asyncio.run(run_check(config)):
        raise typer.Exit(1)
