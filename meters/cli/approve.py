"""The `approve` command, by which a user approves a changed floor file for a link."""

import asyncio
from typing import Annotated

import typer
from redis.exceptions import RedisError

from bonus.errors import UserError, nearest
from meters.books.store import BooksError, LinkStore
from meters.floor.config_option import ConfigOption
from meters.floor.floor_file import Floor, Link, read_floor
from meters.redis_client.health import redis_problem
from meters.selfcheck.approval_checks import Configuration
from meters.selfcheck.opened_store import open_used_store
from meters.terminal.printing import print_text
from meters.users.directory import UserDirectory
from meters.users.errors import UsersError
from meters.users.pin_prompt import ask_pin
from meters.users.roles import Right, in_words, roles_in_words
from meters.users.sessions import SignedIn
from meters.users.sign_in_attempts import Caller

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
    floor = read_floor(config)
    found = {each.id: each for each in floor.link}
    if link not in found:
        raise UserError(f"{config}: there is no link {link}{nearest(link, found)}")
    try:
        asyncio.run(_approve(floor, found[link], by))
    except UsersError as error:
        if error.code == "store_failed":
            raise UserError(f"Redis cannot be reached: {error.__cause__}") from None
        raise UserError(error.message) from None
    except (RedisError, OSError) as error:
        raise UserError(f"Redis cannot be reached: {error}") from None


async def _approve(floor: Floor, link: Link, by: str) -> None:
    async with open_used_store(floor, users_suffice=True) as redis:
        store = LinkStore(redis, link)
        if problem := await redis_problem(store.redis):
            raise UserError(problem)
        configuration = Configuration(floor, store, (LinkStore(redis, each) for each in floor.link))
        await _show(configuration)
        user_directory = UserDirectory.of_floor(redis, floor.service)
        person = await _vouched(user_directory, by, ask_pin())
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


async def _vouched(user_directory: UserDirectory, name: str, pin: str) -> SignedIn:
    """Return the approving user if the PIN is correct and the user's role allows the approval.

    The function signs the user in and out. So the operators' log records the sign-in, and wrong
    PINs are counted.

    Raises:
        UserError: the user's role does not allow the approval, or the user must choose their own
            PIN first.
        UsersError: the sign-in failed.
    """
    opened = await user_directory.sessions.sign_in(name, pin, Caller(""), None)
    person = await user_directory.sessions.find(opened.token, keep_alive=False, acts=True)
    await user_directory.sessions.sign_out(opened.token, "")
    if person is None:
        raise UserError("your session has ended: approve it again")
    if person.must_choose:
        raise UserError(f"{person.name} has to choose a PIN of their own first, on the floor page")
    if not person.may(Right.LINKS):
        role = in_words(person.role)
        raise UserError(f"{person.name} is {role}: {roles_in_words(Right.LINKS)} approves it")
    return person
