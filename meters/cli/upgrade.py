"""The `upgrade` command, which brings the data in Redis to the layout of this release."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from redis.exceptions import RedisError

from bonus.errors import UserError
from meters.archive.archive_days import archived_links
from meters.books.ledger_mark import marked_links
from meters.books.schema import SCHEMA, STEPS, schema_problem
from meters.books.slip_numbers import SLIPS_TAG, SlipRegister, links_with_slips
from meters.books.store import LinkStore
from meters.books.upgrades import upgrade_link
from meters.floor.config_option import ConfigOption
from meters.floor.floor_file import Floor, read_own_floor
from meters.redis_client.health import redis_problem
from meters.redis_client.shards import AnyRedis, every_redis
from meters.redis_client.user_keys import USERS_TAG
from meters.selfcheck.opened_store import open_used_store
from meters.terminal.printing import print_text
from meters.users.errors import UsersError
from meters.users.log_macs import LogSecrets
from meters.users.store import SCHEMA_SUBJECT, UserStore

_BY = "pitlink"
"""The name in the ledger for the author of an upgrade: the program, because no person makes the
change."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the data in Redis (a link, or all users), upgraded one version after another.

    Attributes:
        name: the name of the part.
        subject: the beginning of a sentence about the part, such as "the store of link L is".
        version: the version of the part's data layout; None if the part has no data yet.
        upgrade: a function that upgrades the part to the current version.
    """

    name: str
    subject: str
    version: int | None
    upgrade: Callable[[], Awaitable[None]]

    @property
    def steps(self) -> Sequence[int]:
        """The old versions that the upgrade goes through, one after another, oldest first."""
        return range(SCHEMA if self.version is None else self.version, SCHEMA)


def upgrade(
    config: ConfigOption,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Upgrade without asking.")] = False,
) -> None:
    """Upgrade the data in Redis to the layout of this release.

    The command shows what it will change, and asks before it starts. It changes each link in one
    atomic step, and records this step in the link's ledger. It also changes all users in one atomic
    step. Data that already has the layout of this release is not changed, so you can repeat the
    command. After the upgrade, no earlier release can use the data. deploy/docs/run/upgrade.md says
    in which order to restart the services, and how to return to the earlier release.

    The exit status is 1 if the upgrade was not done. Possible reasons: Redis cannot be reached, a
    later release wrote the data, or the user answered no.
    """
    try:
        asyncio.run(_upgrade(read_own_floor(config), sure=yes))
    except UsersError as error:
        raise UserError(str(error.__cause__ or error.message)) from None
    except (RedisError, OSError) as error:
        raise UserError(f"Redis cannot be reached: {error}") from None
    except ValueError as error:
        raise UserError(f"the data in Redis is damaged: {error}") from None


async def _upgrade(floor: Floor, *, sure: bool) -> None:
    async with open_used_store(floor, users_suffice=True) as redis:
        tags = [USERS_TAG, SLIPS_TAG, *(link.id for link in floor.link)]
        for each, tag in every_redis(redis, tags).items():
            if problem := await redis_problem(each, tag):
                raise UserError(problem)
        parts = await _parts(floor, redis)
        for part in parts:
            if part.version is not None and part.version > SCHEMA:
                raise UserError(str(schema_problem(part.subject, part.version)))
        for part in parts:
            print_text(f"{part.name}: {_planned(part)}")
        due = [part for part in parts if part.steps]
        if due and not sure and not typer.confirm("Do it?"):
            raise typer.Exit(1)
        for part in due:
            await part.upgrade()
            print_text(f"{part.name}: is of version {SCHEMA} now")
        # This is done even if no part needs an upgrade. An earlier upgrade can have stopped here,
        # or the slip numbers can have been lost.
        await _reserve_removed(floor, redis)


async def _reserve_removed(floor: Floor, redis: AnyRedis) -> None:
    """Reserve the payout slip numbers of links that the floor file no longer names.

    A removed link is found by its data in Redis, its ledger mark in the data directory, or its
    files in the archive.
    """
    named = {link.id for link in floor.link}
    found = await links_with_slips(redis, [SLIPS_TAG, *named])
    found |= marked_links(Path(floor.service.data)) | archived_links(Path(floor.archive.directory))
    for link in sorted(found - named):
        if count := await SlipRegister(redis).reserve_all_of(link):
            label = f"link {link}, which the floor file no longer names"
            print_text(f"{label}: the numbers of its {count} payout slips are reserved")


async def _parts(floor: Floor, redis: AnyRedis) -> Sequence[_Part]:
    users = UserStore(redis, LogSecrets.of(floor.service))
    release = f"pitlink {version('pitlink')}: schema version {SCHEMA}"
    parts = [await _link_part(LinkStore(redis, link)) for link in floor.link]
    upgrade_users = partial(users.upgrade, _BY, release)
    return [*parts, _Part("people", SCHEMA_SUBJECT, await users.schema(), upgrade_users)]


async def _link_part(store: LinkStore) -> _Part:
    name = f"link {store.link.id}"
    has = f"the data of {name} is"

    async def upgrade_books() -> None:
        await upgrade_link(store, _BY)
        await store.slip_register.reserve_all_of(store.link.id)

    return _Part(name, has, await store.schema(), upgrade_books)


def _planned(part: _Part) -> str:
    """Return a text that says how a part of the data will be changed."""
    if part.version is None:
        return "not begun yet, nothing to do"
    if not part.steps:
        return f"of version {part.version}, nothing to do"
    steps = "; ".join(f"from version {each} to {each + 1}: {STEPS[each]}" for each in part.steps)
    return f"of version {part.version}; {steps}"
