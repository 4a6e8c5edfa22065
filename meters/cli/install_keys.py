"""The `install-keys` command: each program of a machine gets its own keys."""

from pathlib import Path
from typing import Annotated

import typer

from meters.setup.key_installation import directories_of
from meters.setup.key_installation import install_keys as install
from meters.setup.places import SYSTEM, check_root

RootOption = Annotated[
    Path,
    typer.Option(
        metavar="DIRECTORY",
        help="The top directory of the file system to change, for example of a disk image.",
    ),
]


def install_keys(
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="The directory of `pitlink keys`.")
    ],
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[broker] [redis] [services] [service.N] [TABLE]...",
            help="What runs on this machine; by default, everything in DIRECTORY.",
            show_default=False,
        ),
    ] = None,
    *,
    root: RootOption = SYSTEM,
) -> None:
    """Install keys for the programs of this machine.

    Each program gets its own directory of keys, which no other program can read:

    - broker/ goes to /etc/mosquitto/pitlink, for the user mosquitto
    - redis/ goes to /etc/redis/pitlink, for the user redis
    - services/, check/, display/, archive/ and sentinels/ go to /etc/pitlink/keys, for the user
      pitlink
    - tables/LINK.TABLE/ goes to /etc/pitlink/keys/tables, for the user pitlink-table

    Example: **pitlink install-keys pitlink-keys broker redis services**

    Give `pitlink keys` the options --broker-home /etc/mosquitto/pitlink and --redis-home
    /etc/redis/pitlink. Run this command as root after every `pitlink keys`, and then restart each
    program whose keys have changed. On the machine of a table, give only the id of the table, such
    as TCP-01. If services run on several machines, give on each machine only its own services, such
    as service.3 service.4: two machines must not use the same bundle.
    """
    check_root(root, "pitlink install-keys")
    install(root, directories_of(directory, parts or ()))
