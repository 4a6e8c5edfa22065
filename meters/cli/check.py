import asyncio

import typer

from meters.cli.check_output import run_check
from meters.floor.floor_file import ConfigOption


def check(config: ConfigOption) -> None:
    """Check the programs, the floor file, and the servers and files that the floor file names.

    The command prints one line for each check. It compares the programs with the digests that the
    wheel recorded. It compares the floor file with the last approved settings, and each ledger with
    the balances. `pitlink serve` also makes these comparisons before a link operates.

    The exit status is 1 if something must be fixed before the floor can operate.
    """
    if not asyncio.run(run_check(config)):
        raise typer.Exit(1)
