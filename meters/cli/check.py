"""The `check` command: checks the programs, the floor file, and its servers and files."""

import asyncio
from collections.abc import AsyncIterator

import typer
from redis.exceptions import RedisError

from bonus.errors import UserError
from meters.floor.floor_file import ConfigOption, Floor, read_own_floor
from meters.floor.own_credentials import keys_directory
from meters.process.console import PlainConsole
from meters.selfcheck.check_result import Check, failure
from meters.selfcheck.floor_checks import facility_checks
from meters.selfcheck.game_returns import chance_checks, limit_checks, return_checks
from meters.selfcheck.key_checks import check_keys, check_page_certificate, check_transport
from meters.selfcheck.record_checks import archive_checks, note_checks
from meters.selfcheck.server_checks import WITHIN_S, broker_check, store_checks
from meters.selfcheck.software import read_software
from meters.store.redis_connect import open_redis


def check(config: ConfigOption) -> None:
    """Check the programs, the floor file, its servers and files.

    The command prints one line for each check. It compares the programs with the digests of their
    release, the floor file with the last approved settings, and each ledger with the balances.
    `pitlink serve` makes the same comparisons before a link operates.

    Example: **pitlink check --config floor.toml** after each change of the floor file.

    The exit status is 1 if something must be fixed before the floor can operate.
    """
    if not asyncio.run(_show(read_own_floor(config))):
        raise typer.Exit(1)


async def _show(floor: Floor) -> bool:
    console, good = PlainConsole(), True
    async for one in _checks(floor):
        console.print_line(f"{one.mark:<4}  {one.line}")
        good = good and not one.fails
    return good


async def _checks(floor: Floor) -> AsyncIterator[Check]:
    yield read_software().check
    for checks in (facility_checks, return_checks, limit_checks, chance_checks):
        for check in checks(floor):
            yield check
    keys = keys_directory(floor.service)
    of_keys = (
        *check_transport(floor.service),
        *check_page_certificate(floor.service),
        *(check_keys(keys) if keys else ()),
    )
    for check in (*of_keys, *note_checks(floor)):
        yield check
    async for check in _redis_checks(floor):
        yield check
    yield await broker_check(floor)


async def _redis_checks(floor: Floor) -> AsyncIterator[Check]:
    answers = True
    try:
        async with open_redis(floor) as redis:
            async for check in store_checks(floor, redis):
                answers = answers and (check.holds or check.what != "redis")
                yield check
            async for check in archive_checks(floor, redis):
                yield check
    except TimeoutError:
        yield failure("redis", f"no answer within {WITHIN_S:.0f} seconds")
    except (RedisError, OSError, ValueError, UserError) as error:
        if answers:  # an error of Redis is reported once
            yield failure("redis", str(error))
