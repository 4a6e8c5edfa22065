"""The `user` command, which manages users, and adds the first administrator of a floor."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec
import typer
from rich.box import SIMPLE
from rich.table import Table

from meters.floor.floor_file import ConfigOption, Floor, read_own_floor
from meters.floor.roles import Role
from meters.process.console import PlainConsole
from meters.process.printing import print_json, print_text
from meters.selfcheck.opened_store import is_opened, open_used_store, store_address
from meters.store.redis_connect import open_redis
from meters.users.pin_prompt import ask_new_pin, plain_errors
from meters.users.pins import generate_pin
from meters.users.users import Actor, UserDirectory, UserRow, Users

_PLAIN_WIDTH: Final = 120
_PIN_HELP: Final = (
    "The command asks twice for the PIN, which has 6 to 12 digits. If standard input is not a"
    " terminal, its first line is the PIN. For 24 hours, the user can sign in with this PIN, but"
    " only to choose another one."
)
_Found = TypeVar("_Found")

_Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="The user's name, in capital or small letters.", show_default=False
    ),
]

_Generate = Annotated[bool, typer.Option("--generate", help="Generate the PIN, and print it once.")]

user: Final = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Manage the users of the floor page, and their PINs."
    "\n\nThe command works with or without a running service. Users are never deleted, because"
    " the ledger names them.",
)


@user.command(
    help=f"Add a user.\n\n{_PIN_HELP}\n\nExample:"
    ' **pitlink user add "Flo Reyes" --role floorperson --generate --config floor.toml**'
)
def add(
    name: _Name,
    config: ConfigOption,
    role: Annotated[Role, typer.Option("--role", help="The user's role.", show_default=False)],
    *,
    generate: _Generate = False,
) -> None:
    floor, pin = read_own_floor(config), generate_pin() if generate else ask_new_pin()
    with plain_errors():
        row, begun = asyncio.run(_add(floor, name, role, pin))
    print_text(f"{row.name} is added as {row.role.value}")
    _say_pin(row, pin if generate else None)
    if begun is not None:
        print_text(f"{begun} is new: this is its first user")


@user.command(name="list")
def list_users(
    config: ConfigOption,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list instead of a table.")
    ] = False,
) -> None:
    """List the users: **pitlink user list --config floor.toml**."""
    rows = _with_users(read_own_floor(config), Users.rows)
    if as_json:
        print_json(msgspec.json.encode(rows))
    elif rows:
        _print(rows)
    else:
        print_text("There are no users: pitlink user add NAME --role administrator adds the first.")


@user.command()
def disable(name: _Name, config: ConfigOption) -> None:
    """Disable a user's sign-in. The user's sessions end immediately.

    Example: **pitlink user disable "Flo Reyes" --config floor.toml**
    """
    _change(config, lambda users: users.disable(name, Actor.of_command()), "is disabled")


@user.command()
def enable(name: _Name, config: ConfigOption) -> None:
    """Let a disabled user sign in again.

    Example: **pitlink user enable "Flo Reyes" --config floor.toml**
    """
    _change(config, lambda users: users.enable(name, Actor.of_command()), "is enabled")


@user.command()
def unlock(name: _Name, config: ConfigOption) -> None:
    """Let a user sign in again after too many wrong PINs have locked their name.

    Example: **pitlink user unlock "Flo Reyes" --config floor.toml**
    """
    _change(config, lambda users: users.unlock(name, Actor.of_command()), "is unlocked")


@user.command(
    help=f"Set a user's new PIN; their sessions end immediately.\n\n{_PIN_HELP}\n\nExample:"
    ' **pitlink user pin "Flo Reyes" --generate --config floor.toml**'
)
def pin(name: _Name, config: ConfigOption, *, generate: _Generate = False) -> None:
    floor, new = read_own_floor(config), generate_pin() if generate else ask_new_pin()
    row = _with_users(floor, lambda users: users.set_pin(name, new, Actor.of_command()))
    print_text(f"{row.name} has another PIN")
    _say_pin(row, new if generate else None)


def _change(config: Path, act: Callable[[Users], Awaitable[UserRow]], done: str) -> None:
    row = _with_users(read_own_floor(config), act)
    print_text(f"{row.name} {done}")


def _with_users(floor: Floor, ask: Callable[[Users], Awaitable[_Found]]) -> _Found:
    async def asked() -> _Found:
        async with open_used_store(floor, users_suffice=True) as redis:
            return await ask(UserDirectory.of_floor(redis, floor).users)

    with plain_errors():
        return asyncio.run(asked())


async def _add(floor: Floor, name: str, role: Role, pin: str) -> tuple[UserRow, str | None]:
    """Add a user. Return the user, and the address of a Redis that had no data before.

    This command may use an empty Redis, because the first user comes before the first service.
    """
    async with open_redis(floor) as redis:
        begun = not await is_opened(floor, redis, users_suffice=True)
        user_directory = UserDirectory.of_floor(redis, floor)
        row = await user_directory.users.add(name, role, pin, Actor.of_command())
    return row, store_address(floor) if begun else None


def _say_pin(row: UserRow, generated: str | None) -> None:
    if generated is not None:
        print_text(f"The PIN is {generated}. It is not shown again.")
    print_text(
        f"{row.name} must sign in on the floor page within 24 hours, and choose another PIN."
    )


def _print(rows: Sequence[UserRow]) -> None:
    table = Table(box=SIMPLE)
    for heading in ("name", "role", "", "added (UTC)", "by", "last sign-in (UTC)"):
        table.add_column(heading)
    for row in rows:
        table.add_row(
            row.name,
            row.role.value,
            "" if row.enabled else "disabled",
            _minute(row.added_at),
            row.added_by,
            _minute(row.signed_in_at or ""),
        )
    PlainConsole(width=_PLAIN_WIDTH).print(table)


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")
