"""The `setup` command, which installs a floor on a machine."""

import contextlib
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from bonus.errors import UserError
from meters.cli.install_keys import RootOption
from meters.floor.floor_file import FloorError, parse_floor
from meters.process.printing import print_error, print_text
from meters.process.private_files import read_bytes
from meters.setup import units
from meters.setup.config_files import SERVERS, FilePlan, read_piece
from meters.setup.floor_machine import (
    BY_HAND_PAGE,
    INSTALL_PAGE,
    Setup,
    add_administrator,
    approve_floor,
    install_table,
    next_steps,
    run_check,
    typed,
    waits_for_approval,
)
from meters.setup.floor_text import (
    Answers,
    Machines,
    check_hosts,
    check_name,
    check_servers,
    check_timezone,
    floor_text,
    read_floor_text,
    usual_answers,
)
from meters.setup.places import FLOOR_FILE, MADE_KEYS, SYSTEM, below, check_root
from meters.setup.redis_machine import RedisMachine, install_redis
from meters.users.pin_prompt import ask_new_pin
from meters.users.user_names import clean_name
from meters.users.user_store import UsersError

_EXAMPLE: Final = "floor-tls.toml"
_Found = TypeVar("_Found")


def setup(
    *,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Use the options and the defaults, and write files without asking. With"
            " --administrator, the command still reads a PIN.",
        ),
    ] = False,
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The name of the facility.")
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option(metavar="ZONE", help='The facility\'s time zone: "America/New_York".'),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A host name of this machine, for browsers and tables. May be given several"
            " times.",
        ),
    ] = None,
    machines: Annotated[
        Machines | None,
        typer.Option(help="`one` if all tables run on this machine, or else `several`."),
    ] = None,
    administrator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The first administrator. The command asks for their PIN. If standard input is not"
            " a terminal, its first line is the PIN.",
        ),
    ] = None,
    floor: Annotated[
        Path | None,
        typer.Option(
            metavar="FLOOR.toml",
            help="A floor file to begin with. By default the installed one, or else an example.",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="Install only this table's agent, on the machine of the table. It needs --keys and"
            " --floor.",
        ),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(
            metavar="DIRECTORY",
            help="With --table: the table's directory of keys, brought to this machine. With"
            f" --redis: a directory with redis/ of `pitlink keys`; by default {MADE_KEYS}.",
        ),
    ] = None,
    redis: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Install only Redis and its sentinel, on this machine with this IP address. It"
            " needs --primary.",
        ),
    ] = None,
    primary: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="With --redis: the IP address of the present primary."
        ),
    ] = None,
    root: RootOption = SYSTEM,
) -> None:
    """Install a floor on this machine: files, keys, servers, units.

    Each question of the command has a default, and can be answered with an option. Then the command
    writes the floor file /etc/pitlink/floor.toml, the keys, and the configuration of Redis,
    mosquitto, Caddy and Prometheus; it shows each file first. At the end, it starts the units with
    systemctl, adds the administrator, asks them to approve the first floor file, and runs `pitlink
    check`. With --yes, it asks nobody to approve.

    Example: **pitlink setup**, as root, on a Debian machine of its own.

    A file that a person changed is never replaced: the command writes the new text to another file
    beside it, with a name that ends with `.pitlink`. If the command was interrupted, run it again:
    it does the rest. If everything is done, a run changes nothing.

    For a machine that runs only the agent of a table, use --table, --keys and --floor. A run with
    --machines several prints these commands.

    For Redis with replicas and sentinels, write all sentinels into the floor file and run `pitlink
    keys`. Then use --redis and --primary on each machine of Redis. Begin on the machine of the
    primary: there, the command prints the commands for the other machines. In files that an earlier
    run wrote, a repeated run changes only the lines with addresses.
    """
    check_root(root, "pitlink setup")
    answers_given = {
        "--name": name, "--timezone": timezone, "--host": host, "--machines": machines,
        "--administrator": administrator,
    }  # fmt: skip
    if (table or redis) and (unused := [option for option, text in answers_given.items() if text]):
        raise typer.BadParameter(f"{', '.join(unused)}: only for the machine of the services")
    if (redis is None) != (primary is None):
        raise typer.BadParameter("--redis and --primary go together: give both")
    if redis is not None and primary is not None:
        if table is not None:
            raise typer.BadParameter("--redis and --table are for different machines: give one")
        _install_redis(root, (redis, primary), floor, keys, yes=yes)
        return
    if (table is None) != (keys is None) or (table is not None and floor is None):
        raise typer.BadParameter("--table, --keys and --floor go together: give all three")
    if table is not None and keys is not None and floor is not None:
        install_table(root, table, keys, floor)
        return
    may_write = _show_or_ask(yes=yes)
    starts = root == SYSTEM and units.systemd_runs()
    if root == SYSTEM:
        units.check_programs()
    if starts:
        units.check_units()
        units.check_ports()
        units.check_redis()
    _check_installed(root)
    source, text = _begin_with(root, floor if yes else floor or _ask_floor(root))
    begun = parse_floor(text, source, FLOOR_FILE.parent)
    check_servers(begun, source)
    answers = _answers(
        usual_answers(begun, root=root, example=source == _EXAMPLE),
        yes=yes,
        name=name,
        timezone=timezone,
        hosts=host,
        machines=machines,
    )
    run = Setup(root, answers, floor_text(text, answers, source), may_write)
    who, pin = _administrator(administrator, run.files.record.administrator, yes=yes, starts=starts)
    installed = run.write_files()
    if starts:
        run.start_units()
        _finish(run, who, pin, asks=not yes)
    else:
        _say_what_to_start(administrator)
    print_text("\n".join(next_steps(installed, answers)))


def _install_redis(
    root: Path, machines: tuple[str, str], floor: Path | None, keys: Path | None, *, yes: bool
) -> None:
    """Install Redis and its sentinel. `machines` are this machine and the primary's machine."""
    path = below(root, FLOOR_FILE) if floor is None else floor
    if not path.exists():
        raise UserError(
            f"there is no {path}: install the floor first with `pitlink setup`, or give a copy of"
            " its floor file with --floor"
        )
    source, text = _begin_with(root, path)
    found = parse_floor(text, source, FLOOR_FILE.parent)
    machine = RedisMachine.of(found, source, *machines)
    install_redis(root, machine, keys or below(root, MADE_KEYS), _show_or_ask(yes=yes))


def _ask_floor(root: Path) -> Path | None:
    if below(root, FLOOR_FILE).exists():
        return None
    question = "Floor file of your own (empty: an example with two tables, to try pitlink)"
    name = typer.prompt(question, default="", show_default=False, type=str).strip()
    return Path(name).expanduser() if name else None


def _check_installed(root: Path) -> None:
    """Refuse an installed floor file with several Redis servers before any question is asked."""
    data = read_bytes(path := below(root, FLOOR_FILE))
    # Other errors in an installed floor file are reported when setup would change the file.
    with contextlib.suppress(FloorError):
        installed = parse_floor(
            (data or b"").decode(errors="replace"), str(path), FLOOR_FILE.parent
        )
        check_servers(installed, str(path))


def _begin_with(root: Path, given: Path | None) -> tuple[str, str]:
    path = below(root, FLOOR_FILE) if given is None else given
    if given is None and read_bytes(path) is None:
        return _EXAMPLE, read_piece(_EXAMPLE)
    return str(path), read_floor_text(path)


def _answers(
    usual: Answers,
    *,
    yes: bool,
    name: str | None,
    timezone: str | None,
    hosts: Sequence[str] | None,
    machines: Machines | None,
) -> Answers:
    def answer(
        given: str | None, question: str, default: str, check: Callable[[str], _Found]
    ) -> _Found:
        if given is not None or yes:
            return check(default if given is None else given)
        while True:
            try:
                return check(typer.prompt(question, default=default, type=str))
            except UserError as error:
                print_error(f"{error}: try again")

    return Answers(
        name=answer(name, "Name of the facility", usual.name, check_name),
        timezone=answer(timezone, "Time zone of the facility", usual.timezone, check_timezone),
        hosts=answer(
            " ".join(hosts) if hosts else None,
            "Host names of this machine, separated by spaces",
            " ".join(usual.hosts),
            lambda text: check_hosts(text.split()),
        ),
        machines=answer(
            machines,
            "Do the tables run on this machine (one), or on several machines (several)?",
            usual.machines,
            _check_machines,
        ),
    )


def _check_machines(text: str) -> Machines:
    match text.strip().lower():
        case "one":
            return "one"
        case "several":
            return "several"
        case _:
            raise UserError("answer one or several")


def _administrator(
    given: str | None, added: str | None, *, yes: bool, starts: bool
) -> tuple[str | None, str]:
    if added is not None or not starts:
        return None, ""
    if given is None and not yes:
        question = "Name of the first administrator (empty: add nobody now)"
        given = typer.prompt(question, default="", show_default=False, type=str) or None
    if given is None:
        return None, ""
    try:
        return clean_name(given), ask_new_pin()
    except UsersError as error:
        raise UserError(f"--administrator {given}: {error.message}") from None


def _show_or_ask(*, yes: bool) -> Callable[[FilePlan], bool]:
    """Return a function that asks before a file is written.

    Raises:
        UserError: there is neither a terminal nor `--yes`.
    """
    if not yes and not sys.stdin.isatty():
        raise UserError("there is no terminal to ask at: add --yes", exit_status=2)
    return _say if yes else _ask


def _say(plan: FilePlan) -> bool:
    print_text(f"{plan.place}  {plan.state.value}")
    return True


def _ask(plan: FilePlan) -> bool:
    print_text("\n".join(plan.shown()))
    question = f"{plan.place} {plan.state.value}. Write this text?"
    return typer.confirm(question, default=True)


def _finish(run: Setup, who: str | None, pin: str, *, asks: bool) -> None:
    if who is not None:
        print_text(add_administrator(who, pin))
        run.files.record.administrator = who
        run.files.save_record()
    elif run.files.record.administrator is None:
        command = typed(
            "user", "add", '"Ada Lane"', "--role administrator", f"--config {FLOOR_FILE}"
        )
        print_text(f"Nobody can sign in yet. To add the first administrator: {command}")
    problem = None
    if _is_approved(run.files.record.administrator, pin, asks=asks):
        print_text("waiting for the services")
        problem = units.wait_until_ready(units.SERVICE_PORTS)
        if problem is None:
            units.run_audit()
        else:
            print_error(f"a service is not ready: {problem}")
    good = run_check()
    if problem is not None or not good:
        raise typer.Exit(1)
    print_text(
        f"The floor page is at https://{run.answers.hosts[0]}/floor. Each device must trust this"
        f" page's certificate ({INSTALL_PAGE}, Trust the certificate)."
    )


def _is_approved(who: str | None, pin: str, *, asks: bool) -> bool:
    """Let the administrator approve the floor file if possible. Return whether it is approved.

    This command itself asks: a command of the services' account must not have root's terminal.
    """
    if not waits_for_approval():
        return True
    if who is not None and pin and asks:
        print_text(approve_floor(who, pin, answer="no")[1])
        if typer.confirm(f"Does {who} approve these terms?", default=False):
            approved, printed = approve_floor(who, pin, answer="yes")
            print_text(printed)
            if approved and not waits_for_approval():
                return True
    name = shlex.quote(who or "Ada Lane")
    command = typed("approve", "--by", name, f"--config {FLOOR_FILE}")
    print_text(f"The links open when people have approved the floor file with: {command}")
    return False


def _say_what_to_start(administrator: str | None) -> None:
    config = f"--config {FLOOR_FILE}"
    name = shlex.quote(administrator or "Ada Lane")
    lines = [
        "The files are ready, but nothing was started. To start the floor with systemd:",
        f"  systemctl restart {' '.join(SERVERS)}",
        f"  systemctl enable --now {' '.join((*units.SERVICES, *units.TIMERS))}",
        f"Without systemd, start the programs of {BY_HAND_PAGE} (Install without systemd). Then:",
        f"  {typed('user', 'add', name, '--role administrator', config)}",
        f"  {typed('approve', '--by', name, config)}",
        f"  {typed('check', config)}",
    ]
    print_text("\n".join(lines))
