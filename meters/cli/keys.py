"""The `keys` command: makes the keys and certificates of a floor."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from bonus.errors import UserError, nearest
from meters.floor.floor_file import ConfigOption, Floor, read_floor
from meters.floor.own_credentials import keys_directory, service_numbers
from meters.keys.keyring import Holder, Keyring, KeyringEntry, by_name, holders
from meters.process.printing import print_text

_USUAL: Final = "pitlink-keys"
_ALL: Final = "all"


def keys(
    config: ConfigOption,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIRECTORY",
            help="The directory of the keys. By default the floor file's `keys`, or else"
            f" {_USUAL} next to the floor file.",
        ),
    ] = None,
    broker_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A host name or address of the broker, besides localhost and those in the floor"
            " file; may be given several times. A renewed certificate keeps its earlier names.",
        ),
    ] = None,
    redis_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A host name or address of Redis, besides localhost and those in the floor file;"
            " may be given several times.",
        ),
    ] = None,
    broker_home: Annotated[
        Path | None,
        typer.Option(
            metavar="DIRECTORY",
            help="Where broker/ will be on the broker's machine, such as /etc/mosquitto/pitlink;"
            " written into listeners.conf.",
        ),
    ] = None,
    redis_home: Annotated[
        Path | None,
        typer.Option(
            metavar="DIRECTORY",
            help="Where redis/ will be on Redis's machine, such as /etc/redis/pitlink; written"
            " into tls.conf.",
        ),
    ] = None,
    services: Annotated[
        int,
        typer.Option(
            min=1,
            max=99,
            help="How many services (`pitlink serve`) share the work. Each gets a key.",
        ),
    ] = 1,
    renew: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Replace the key and passwords of a table (its id), `service.1`, `archive`,"
            " `check`, `display`, `broker`, `redis`, or `all`, and revoke the old certificate; may"
            " be given several times.",
        ),
    ] = None,
) -> None:
    """Make the keys by which broker and Redis know every program.

    The floor's own certificate authority signs a certificate for each program. All but the broker
    and Redis also get a password; mosquitto and Redis get access lists, hashes of the passwords,
    and TLS settings. A table may publish only its own events and status.

    Run the command again when you add tables: it makes missing keys, keeps the others, and writes
    the access lists again. Then copy to each machine only what is for this machine:

    - broker/ to the broker
    - redis/ to Redis
    - services/, check/ and display/ to the service
    - archive/ to the machine of `pitlink archive`
    - tables/LINK.TABLE/ to the table
    - display/ to any other reader
    - sentinels/ to the service, and to the machine of `pitlink archive`; it exists only if the
    floor has sentinels

    Keep authority/ offline: its key can make a certificate for any name. Then add `keys =
    "DIRECTORY"` to the section [service] of the floor file. In the same section, set `broker` to
    "mqtts://HOST:8883" and `redis` to "rediss://HOST:6379/0". When an access list has changed,
    check that its server can read it, and restart mosquitto or Redis. If mosquitto cannot read its
    list on SIGHUP, it gives everybody all rights.

    Example: **pitlink keys --config floor.toml --out pitlink-keys --services 2**

    The command prints nothing secret. `pitlink check` warns before a certificate expires.
    """
    floor = read_floor(config)
    directory = (out or keys_directory(floor.service) or config.parent / _USUAL).absolute()
    highest = max([services, *service_numbers(directory)])
    held = holders(floor, highest, broker_host or (), redis_host or ())
    keyring = Keyring(
        directory,
        floor,
        broker_home=_home(broker_home, "--broker-home"),
        redis_home=_home(redis_home, "--redis-home"),
    )
    entries = keyring.fill(held, _renewed(by_name(held), renew or ()))
    _show(directory, entries, _unused(directory, held), floor)


def _home(given: Path | None, option: str) -> Path | None:
    # The path is on another machine, so only its form is checked.
    if given is not None and not (given.is_absolute() and str(given).isprintable()):
        raise typer.BadParameter(f"{option} {given}: write a whole path, such as /etc/pitlink/keys")
    return given


def _renewed(known: Mapping[str, Holder], names: Sequence[str]) -> frozenset[str]:
    if _ALL in names and _ALL not in known:
        return frozenset(holder.party.username for holder in known.values())
    for name in names:
        if name not in known:
            raise UserError(
                f"--renew: no table or program is called {name}{nearest(name, [*known, _ALL])}"
            )
    return frozenset(known[name].party.username for name in names)


def _unused(directory: Path, held: Sequence[Holder]) -> Sequence[str]:
    """Return the key directories of tables that the floor file no longer has."""
    used = {holder.party.place for holder in held}
    found = (f"tables/{each.name}" for each in sorted((directory / "tables").glob("*")))
    return [place for place in found if place not in used]


def _show(
    directory: Path, entries: Sequence[KeyringEntry], unused: Sequence[str], floor: Floor
) -> None:
    width = max(len(entry.place) for entry in entries)
    lines = [f"keys in {directory}"]
    lines += [f"{one.act:8}{one.place:{width}}  until {one.until.date()}" for one in entries]
    lines += [
        f"unused  {place:{width}}  not on the floor: it gives no rights, and can be deleted"
        for place in unused
    ]
    named = keys_directory(floor.service)
    if named is None:
        lines.append(f'Put  keys = "{directory}"  under [service] of the floor file, to use it.')
    elif named != directory:
        lines.append(f"The floor file names {named}: copy each machine's part of the keys there.")
    print_text("\n".join(lines))
