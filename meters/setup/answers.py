"""Answers to the questions of `pitlink setup`: checks (UserError) and defaults."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from zoneinfo import ZoneInfo, available_timezones

from bonus.errors import UserError, nearest
from bonus.printable import unprintable_problem
from meters.floor.addresses import hosts_of, is_host_name
from meters.floor.floor_file import Floor
from meters.setup.places import below

Machines = Literal["one", "several"]

_NAME_MOST: Final = 80
_HERE: Final = "localhost"
_EXAMPLE_HOST: Final = "pit.example"


@dataclass(frozen=True, slots=True)
class Answers:
    """Facts about a facility and its machines that no floor file can guess.

    ``hosts`` are this machine's names: browsers use all, tables the first. ``machines`` says where
    the tables run.
    """

    name: str
    timezone: str
    hosts: tuple[str, ...]
    machines: Machines


def check_name(name: str) -> str:
    """Return the name of a facility without surrounding spaces."""
    name = name.strip()
    if not 1 <= len(name) <= _NAME_MOST:
        raise UserError(f"the name of the facility has 1 to {_NAME_MOST} characters")
    if problem := unprintable_problem(name):
        raise UserError(f"the name of the facility {problem}")
    return name


def check_timezone(name: str) -> str:
    name = name.strip()
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        similar = nearest(name, available_timezones())
        hint = similar if "meant" in similar else ': write one such as "America/New_York"'
        raise UserError(f"there is no time zone {name!r}{hint}") from None
    return name


def check_hosts(names: Sequence[str]) -> tuple[str, ...]:
    """Return host names, at least one, in lower case, each one once."""
    found = tuple(dict.fromkeys(name.strip().lower() for name in names))
    if not found:
        raise UserError("this machine needs a host name, such as pit.example")
    for name in found:
        if not is_host_name(name):
            raise UserError(
                f"{name!r} is not a host name: write one such as pit.example, without scheme or"
                " port"
            )
    return found


def usual_answers(floor: Floor, *, root: Path, example: bool) -> Answers:
    """Return the default answers, from a floor file.

    If it is the example, the time zone and the host name are those of this machine. The host name
    of the example is no answer in a copy either.
    """
    hosts = tuple(host for host in floor.service.hosts if host != _EXAMPLE_HOST)
    broker = hosts_of(floor.service.broker)
    return Answers(
        name=floor.facility.name,
        timezone=(example and _machine_timezone(root)) or floor.facility.timezone,
        hosts=hosts if hosts and not example else (_machine_host(),),
        machines="one" if example or set(broker) <= {_HERE, "127.0.0.1", "::1"} else "several",
    )


def _machine_host() -> str:
    name = socket.gethostname().lower()
    return name if is_host_name(name) else _HERE


def _machine_timezone(root: Path) -> str | None:
    """Return the time zone of this machine; None if it is unknown, or has no place, as UTC."""
    clock = below(root, Path("/etc/localtime"))
    try:
        _, found, name = str(clock.readlink()).partition("zoneinfo/")
        return check_timezone(name) if found and "UTC" not in name else None
    except (OSError, UserError):
        return None
