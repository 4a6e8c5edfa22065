"""The ``pitlink`` command, built from the subcommands of all packages.

A package lists its subcommands in the entry-point group ``pitlink.commands``. Each is a function
with parameters annotated for typer, or a typer application for a group. If the user typed the name
of a subcommand, only this subcommand is imported. So ``pitlink settle`` starts without the code of
the broker and the web server. A package of the rules never imports a package that depends on it.
"""

import gc
import os
import resource
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points, version
from typing import Annotated, Final

import typer

from bonus.errors import UserError
from meters.process.printing import print_defect, print_error
from meters.process.signals import hear_signals

_GROUP: Final = "pitlink.commands"
_ANY_ARGUMENTS: Final = {"allow_extra_args": True, "ignore_unknown_options": True}


def run() -> None:
    """Run the command line and end the process with its exit status.

    1: a check failed, or input was refused; 2: wrong usage; 130: interrupted.
    """
    hear_signals()
    sys.excepthook = print_defect
    # Files that a command writes are only for their owner. The memory of the process has secret
    # keys, so it must not be written to a core dump.
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What is imported lives as long as the process, so it needs no garbage collection.
    gc.disable()
    try:
        command = command_line(sys.argv[1:])
        gc.freeze()
        gc.enable()
        command()
    except UserError as error:
        print_error(f"pitlink: {error}")
        sys.exit(error.exit_status)
    except PermissionError as error:
        print_error(
            f"pitlink: {error.filename or 'a file'}: the system user who runs this command has no"
            " access. Run it as the owner of the file, for example with `runuser -u pitlink"
            " --`"
        )
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def command_line(arguments: Sequence[str]) -> typer.Typer:
    """Return the application with the subcommand in the first argument, or with all subcommands.

    If a subcommand cannot be imported, the others still work.
    """
    app = typer.Typer(
        name="pitlink",
        help=_HELP,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    order = [*_PANEL_OF]
    points = sorted(
        entry_points(group=_GROUP),
        key=lambda point: order.index(point.name) if point.name in order else len(order),
    )
    named = [point for point in points if point.name in arguments[:1]]
    for point in named or points:
        _add(app, point)
    return app


_HELP: Final = """\
Linked progressive jackpots for casino table games.

- See it: **pitlink demo --tour** shows a jackpot step by step, and needs nothing else.

- Write your floor as a TOML file: **pitlink check --config floor.toml** says what is wrong.

- Run it: **pitlink serve**, and **pitlink table TABLE --panel** for each table. On a machine of
  its own, **pitlink setup** installs both.

**pitlink COMMAND --help** describes a command, with an example.
"""

_PANELS: Final = {
    "To see it": ("demo", "bots", "game"),
    "To set up a floor": ("setup", "check", "keys", "install-keys", "user", "approve"),
    "To run it, and to look after it": ("serve", "table", "status", "audit", "archive", "restore"),
    "For accounting and the regulator": ("report", "submit", "odds", "settle"),
}
"""The commands in groups by their users, for the help of `pitlink`."""

_PANEL_OF: Final = {name: panel for panel, names in _PANELS.items() for name in names}


def _add(app: typer.Typer, point: EntryPoint) -> None:
    try:
        command: Callable[..., object] | typer.Typer = point.load()
    except (ImportError, AttributeError) as error:
        reason = f"{point.name} is not available here: {error}"
        app.command(point.name, help=reason, context_settings=_ANY_ARGUMENTS)(_refusing(reason))
        return
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=point.name, rich_help_panel=_PANEL_OF.get(point.name))
    else:
        app.command(point.name, rich_help_panel=_PANEL_OF.get(point.name))(command)


def _refusing(reason: str) -> Callable[[], None]:
    def refuse() -> None:
        raise UserError(reason)

    return refuse


def _show_version(wanted: bool) -> None:  # noqa: FBT001  (the signature that typer calls)
    if wanted:
        typer.echo(f"pitlink {version('pitlink')}")
        raise typer.Exit


def _options(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Offer the options that stand before the subcommand: typer reads this signature."""
