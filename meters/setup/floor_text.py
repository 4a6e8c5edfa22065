"""The floor file of an installed floor: the text of a floor file, with the answers put in."""

import json
import re
import socket
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from zoneinfo import ZoneInfo, available_timezones

from bonus.errors import UserError, nearest
from bonus.printable import unprintable_problem
from meters.floor.floor_file import Floor, FloorError, parse_floor
from meters.floor.server_addresses import hosts_of, is_host_name, is_replicated
from meters.floor.toml_errors import SourceLines
from meters.process.private_files import read_bytes
from meters.setup.places import ARCHIVE, DATA, FLOOR_FILE, INSTALLED_KEYS, below

Machines = Literal["one", "several"]

_NAME_MOST: Final = 80
_HERE: Final = "localhost"
_EXAMPLE_HOST: Final = "pit.example"
_Value = str | list[str]
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_LINE: Final = re.compile(
    r"(?P<key>\s*[\w-]+\s*=\s*)(?:\"[^\"\\]*\"|'[^']*'|\[[^\[\]]*\])(?P<rest>\s*(?:#.*)?)"
)
"""A line of a TOML text with a key and its whole value: a text, or a list of texts."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What `pitlink setup` asks about a facility and its machines.

    ``hosts`` are the names of this machine: browsers use all names, tables use the first name.
    """

    name: str
    timezone: str
    hosts: tuple[str, ...]
    machines: Machines


def read_floor_text(path: Path) -> str:
    """Return the text of a floor file. Raise `FloorError` if it is missing or not UTF-8."""
    data = read_bytes(path)
    if data is None:
        raise FloorError(f"{path}: there is no such file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FloorError(f"{path}: the file is not UTF-8: save it as UTF-8") from None


def check_name(name: str) -> str:
    """Return the name of a facility without spaces around it; raise `UserError` if it is wrong."""
    name = name.strip()
    if not 1 <= len(name) <= _NAME_MOST:
        raise UserError(f"the name of the facility must have 1 to {_NAME_MOST} characters")
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
    """Return host names in lower case, each once. Raise `UserError` for a wrong or missing name."""
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
    """Return the default answers from a floor file.

    With the example file, the time zone and the host name come from this machine, if they can be
    used. The example's host name is never an answer, not even in a copy of the example.
    """
    hosts = tuple(host for host in floor.service.hosts if host != _EXAMPLE_HOST)
    broker, here = hosts_of(floor.service.broker), socket.gethostname().lower()
    return Answers(
        name=floor.facility.name,
        timezone=(example and _machine_timezone(root)) or floor.facility.timezone,
        hosts=hosts if hosts and not example else (here if is_host_name(here) else _HERE,),
        machines="one" if example or set(broker) <= {_HERE, "127.0.0.1", "::1"} else "several",
    )


def _machine_timezone(root: Path) -> str | None:
    clock = below(root, Path("/etc/localtime"))
    try:
        _, found, name = str(clock.readlink()).partition("zoneinfo/")
        return check_timezone(name) if found and "UTC" not in name else None
    except (OSError, UserError):
        return None


def floor_text(text: str, answers: Answers, source: str) -> str:
    """Return the text of a floor file with the answers and paths of an installed floor.

    Comments and all other values stay.

    Raises:
        UserError: the floor file has an error or names other servers, a value has several lines, or
            tables could not reach the broker.
    """
    floor = parse_floor(text, source, FLOOR_FILE.parent)
    check_servers(floor, source)
    if answers.machines == "several" and answers.hosts[0] in _LOCAL:
        raise UserError(
            f"tables on other machines cannot reach this one as {answers.hosts[0]}: give the host"
            " name that they use, for example --host pit.example"
        )
    broker = "localhost" if answers.machines == "one" else answers.hosts[0]
    values: dict[tuple[str, str], _Value] = {
        ("facility", "name"): answers.name,
        ("facility", "timezone"): answers.timezone,
        ("service", "broker"): f"mqtts://{broker}:8883",
        ("service", "redis"): "rediss://localhost:6379/0",
        ("service", "data"): str(DATA),
        ("service", "keys"): str(INSTALLED_KEYS),
        ("service", "hosts"): list(answers.hosts),
    }
    if not Path(floor.archive.directory).is_absolute():
        values["archive", "directory"] = str(ARCHIVE)
    return _with_values(text, values, source)


def installed_floor(text: str, source: str, *, of_table: bool = False) -> Floor:
    """Return the floor of an installed floor file that fits the other files of `pitlink setup`.

    With `of_table`, any address of Redis fits, because the agent of a table uses no Redis.

    Raises:
        FloorError: the floor file has an error, or does not fit.
    """
    floor = parse_floor(text, source, FLOOR_FILE.parent)
    service = floor.service
    wanted = {
        f'data = "{DATA}"': service.data == str(DATA),
        f'keys = "{INSTALLED_KEYS}"': service.keys == str(INSTALLED_KEYS),
        'broker = "mqtts://localhost:8883"': service.broker.startswith("mqtts://"),
        'redis = "rediss://localhost:6379/0"': of_table or service.redis.startswith("rediss://"),
    }
    missing = [line for line, there in wanted.items() if not there]
    if missing:
        raise FloorError(
            f"{source} is a floor file that does not fit an installed floor. Write these lines"
            f" under [service], or move the file away: {', '.join(missing)}"
        )
    return floor


def check_servers(floor: Floor, source: str) -> None:
    """Raise `UserError` unless the floor file's Redis is one server on this machine."""
    redis = floor.service.redis
    if is_replicated(redis) or set(hosts_of(redis)) - _LOCAL:
        raise UserError(
            f"{source}: its Redis is not on this machine alone, but `pitlink setup` installs one"
            " Redis on this machine. Change the floor by hand, as"
            " deploy/docs/run/several-services.md says"
        )


def _with_values(text: str, values: Mapping[tuple[str, str], _Value], source: str) -> str:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    wanted = tomllib.loads(text)
    for (section, key), value in values.items():
        if wanted.setdefault(section, {}).get(key) != value:
            wanted[section][key] = value
            text = _with_value(text, section, key, value, source)
    if tomllib.loads(text) != wanted:
        raise UserError(f"{source}: its [service] cannot be changed: begin with another floor file")
    return text


def _with_value(text: str, section: str, key: str, value: _Value, source: str) -> str:
    written = json.dumps(value, ensure_ascii=False)
    lines = text.split("\n")
    places = SourceLines(text)
    if (section, key) in places.known:
        at = places.line_of((section, key))
        found = _LINE.fullmatch(lines[at - 1])
        if found is None:
            raise UserError(f"{source}:{at}: write this value on one line: {key} = {written}")
        lines[at - 1] = f"{found['key']}{written}{found['rest']}"
    elif (section,) in places.known:
        lines.insert(places.line_of((section,)), f"{key} = {written}")
    else:
        lines += [f"[{section}]", f"{key} = {written}", ""]
    return "\n".join(lines)
