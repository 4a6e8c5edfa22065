"""The command that keeps the users: the first administrator comes by it alone."""

import asyncio
import os
import pwd
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec
import typer
from redis.exceptions import RedisError
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from bonus.errors import UserError
from meters.people.errors import PeopleError
from meters.people.people import People
from meters.people.roles import Role
from meters.people.typed_pin import ask_new_pin
from meters.people.users import Doer, UserRow
from meters.wire.floor import Floor, read_floor

_PLAIN_WIDTH: Final = 120
_PIN_HELP: Final = (
    "The PIN, of 6 to 12 digits, is asked for twice; it is never given as an argument. Where"
    " standard input is no terminal, its first line is the PIN."
)
_Found = TypeVar("_Found")

_Config = Annotated[
    Path, typer.Option("--config", help="The floor file, a TOML text.", metavar="FLOOR.toml")
]
_Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The user's name, in any case.", show_default=False)
]

user: Final = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Keep the users of the floor page: add and list them, disable and enable them, set PINs."
    "\n\nIt works beside a running service and without one. Users are never deleted, since the"
    " ledger names them.",
)


@user.command(help=f"Add a user.\n\n{_PIN_HELP}")
def add(
    name: _Name,
    config: _Config,
    role: Annotated[Role, typer.Option("--role", help="What the user is.", show_default=False)],
) -> None:
    """Add a user."""
    pin = ask_new_pin()
    row = _with_people(read_floor(config), lambda people: people.users.add(name, role, pin, _us()))
    _say(f"{row.name} is added as {row.role.value}")


@user.command(name="list")
def list_users(
    config: _Config,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list instead of a table.")
    ] = False,
) -> None:
    """List the users."""
    rows = _with_people(read_floor(config), lambda people: people.users.rows())
    if as_json:
        _say(msgspec.json.encode(rows).decode())
    elif rows:
        _print(rows)
    else:
        _say("There are no users: pitlink user add NAME --role administrator adds the first.")


@user.command()
def disable(name: _Name, config: _Config) -> None:
    """Let a user sign in no more; his sessions end at once."""
    row = _with_people(read_floor(config), lambda people: people.users.disable(name, _us()))
    _say(f"{row.name} is disabled")


@user.command()
def enable(name: _Name, config: _Config) -> None:
    """Let a disabled user sign in again."""
    row = _with_people(read_floor(config), lambda people: people.users.enable(name, _us()))
    _say(f"{row.name} is enabled")


@user.command(help=f"Give a user another PIN; his sessions end at once.\n\n{_PIN_HELP}")
def pin(name: _Name, config: _Config) -> None:
    """Give a user another PIN; his sessions end at once."""
    typed = ask_new_pin()
    row = _with_people(read_floor(config), lambda people: people.users.set_pin(name, typed, _us()))
    _say(f"{row.name} has another PIN")


def _with_people(floor: Floor, ask: Callable[[People], Awaitable[_Found]]) -> _Found:
    """Ask the people of a floor something, on the Redis that the floor file names.

    Raises:
        UserError: it was refused, or the store cannot be reached.
    """
    # The service's room is above: it is looked for only when a command is carried out.
    from meters.redis_connection import open_redis  # noqa: PLC0415

    async def asked() -> _Found:
        async with open_redis(floor) as redis:
            return await ask(People.of(redis, floor.service.idle_minutes))

    try:
        return asyncio.run(asked())
    except PeopleError as error:
        if error.code == "store_failed":
            raise UserError(f"the store cannot be reached: {error.__cause__}") from None
        raise UserError(error.message) from None
    except (RedisError, OSError) as error:
        raise UserError(f"the store cannot be reached: {error}") from None


def _us() -> Doer:
    """Who changes something by command: no user of ours, so the name that the system has.

    The environment is not asked: there everybody may write any name.
    """
    try:
        who = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        who = f"user id {os.getuid()}"
    return Doer(f"command line ({who})")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _print(rows: Sequence[UserRow]) -> None:
    table = Table(box=SIMPLE)
    for heading in ("name", "role", "", "added (UTC)", "by", "last sign-in (UTC)"):
        table.add_column(heading)
    for row in rows:
        table.add_row(
            row.name, row.role.value, "" if row.enabled else "disabled", _minute(row.added_at),
            row.added_by, _minute(row.signed_in_at or ""),
        )  # fmt: skip
    console = Console()
    console = console if console.is_terminal else Console(width=_PLAIN_WIDTH)
    console.print(table)


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")
