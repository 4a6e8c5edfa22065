"""Choice of the key bundle that a worker of the service uses.

A bundle has the worker's name at the broker, which allows each name only once: it would disconnect
one of two workers with the same bundle.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from bonus.errors import UserError
from meters.floor.credentials import keys_directory
from meters.floor.facility import Service
from meters.floor.identities import AUTHORITY_FILE, SERVICES, Identity, service_identity


def service_numbers(keys: Path) -> Sequence[int]:
    """Return the numbers of the workers whose bundles are on this machine, in order."""
    found = (directory.name for directory in (keys / SERVICES).glob("*") if directory.is_dir())
    return sorted(int(name) for name in found if name.isascii() and name.isdigit())


@contextlib.contextmanager
def own_identity(service: Service) -> Iterator[Identity]:
    """Yield the first worker identity whose bundle on this machine no other worker uses.

    The bundle is locked until the caller is done. One that this user of the system may not read is
    for a worker of another user, and is left out.

    Raises:
        UserError: all bundles are in use, or no bundle can be read.
    """
    keys = keys_directory(service)
    numbers = service_numbers(keys) if keys else ()
    if keys is not None and _is_closed(keys / SERVICES):
        raise UserError(_unreadable(keys / SERVICES))
    if keys is None or not numbers:
        yield service_identity(1)
        return
    used: list[int] = []
    with contextlib.ExitStack() as stack:
        for number in numbers:
            party = service_identity(number)
            try:
                file = stack.enter_context((keys / party.place / AUTHORITY_FILE).open("rb"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                used.append(number)
                continue
            except PermissionError:
                continue
            except OSError as error:
                raise UserError(f"{error.filename}: cannot be read: {error.strerror}") from None
            yield party
            return
        if not used:
            raise UserError(_unreadable(keys / SERVICES))
        readable = "bundles" if len(used) == len(numbers) else "bundles that this user can read"
        raise UserError(
            f"each of the {len(used)} {readable} in {keys / SERVICES} is used by another"
            " `pitlink serve` of this machine: `pitlink keys --services N` makes more"
        )


def _is_closed(directory: Path) -> bool:
    """Return True if a directory exists, but this user of the system may not list it."""
    try:
        readable = os.access(directory, os.R_OK | os.X_OK, effective_ids=True)
        return not readable and directory.exists()
    except PermissionError:
        return True


def _unreadable(directory: Path) -> str:
    return (
        f"{directory}: the user {os.geteuid()} of the system may not read the keys of the services:"
        " run the command as the owner of the keys, for example with `runuser -u pitlink --`"
    )
