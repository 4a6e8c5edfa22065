"""The `approve` command, by which a user approves a changed floor file for a link."""

import asyncio
from typing import Annotated

import typer
from redis.exceptions import RedisError

from bonus.errors import UserError, nearest
from meters.books.store import BooksError, LinkStore
from meters.floor.config_option import ConfigOption
from meters.floor.floor_file import Floor, Link, read_own_floor
from meters.redis_client.health import redis_problem
from meters.selfcheck.approval_checks import Configuration
from meters.selfcheck.opened_store import open_used_store
from meters.terminal.printing import print_text
from meters.users.confirmation import as_user_error, confirm_person
from meters.users.directory import UserDirectory
from meters.users.errors import UsersError

_REFUSED = {
    "stale": "another floor file was approved meanwhile: look at it again",
    "no_change": "the floor file is approved already",
}


def approve(
    link: Annotated[str, typer.Argument(metavar="LINK", help="The link's id.", show_default=False)],
    config: ConfigOption,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="NAME",
            help="The user who approves it: a supervisor or an administrator.",
        ),
    ],
) -> None:
    """Approve a link's settings in the floor file if they differ from the last approved ones.

    Until the approval, the link is inoperable. Only settings that concern money need an approval:
    the link's meters, its tables, and the facility's amounts in cents. The command shows the
    changes, then asks for the PIN of the user who approves. If standard input is not a terminal,
    the command reads the PIN from the first line of standard input. A running service opens the
    link within seconds. A service with a different floor file keeps the link inoperable until that
    service is restarted.

    The exit status is 1 if there is nothing to approve, or if the approval was refused.
    """
    floor = read_own_floor(config)
    found = {each.id: each for each in floor.link}
    if link not in found:
        raise UserError(f"{config}: there is no link {link}{nearest(link, found)}")
    try:
        asyncio.run(_approve(floor, found[link], by))
    except UsersError as error:
        raise as_user_error(error) from None
    except (RedisError, OSError) as error:
        raise UserError(f"Redis cannot be reached: {error}") from None


async def _approve(floor: Floor, link: Link, by: str) -> None:
    async with open_used_store(floor, users_suffice=True) as redis:
        store = LinkStore(redis, link)
        if problem := await redis_problem(store.redis, store.link.id):
            raise UserError(problem)
        configuration = Configuration(floor, store, (LinkStore(redis, each) for each in floor.link))
        await _show(configuration)
        user_directory = UserDirectory.of_floor(redis, floor.service)
        person = await confirm_person(user_directory, by, "approves it")
        try:
            await configuration.approve(person.name, configuration.filed.digest, person.setters)
        except BooksError as error:
            raise UserError(_REFUSED.get(error.status, error.detail)) from None
        print_text(f"{link.id}: approved by {person.name}")


async def _show(configuration: Configuration) -> None:
    """Print the settings that need an approval.

    Raises:
        UserError: no setting needs an approval, or the settings are not allowed.
    """
    found = await configuration.unapproved()
    if found is not None and found.barred:
        raise UserError(found.problem)
    if found is None and await configuration.is_approved():
        raise UserError(_REFUSED["no_change"])
    for change in found.changed if found else ("the first floor file of this link",):
        print_text(f"  {change}")
    print_text(f"  SHA-256 {configuration.filed.digest}")
