"""Credentials of a process, from its key bundle, the environment or the server's address.

A password can be in an environment variable, or in a file that another variable names, so no floor
file needs a password. The broker knows a program by the name in its bundle, and allows each name
only one connection: it would disconnect one of two services with the same bundle.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.floor.facility import Service
from meters.floor.key_bundle import (
    AUTHORITY_FILE,
    SERVICES,
    Identity,
    KeyBundle,
    read_secret,
    service_identity,
)
from meters.floor.server_addresses import BrokerAddress, parse_broker_url

KEYS_VARIABLE: Final = "PITLINK_KEYS"
BROKER_PASSWORD: Final = "PITLINK_BROKER_PASSWORD"  # noqa: S105  (a variable's name)
REDIS_PASSWORD: Final = "PITLINK_REDIS_PASSWORD"  # noqa: S105
REDIS_USERS_PASSWORD: Final = "PITLINK_REDIS_PEOPLE_PASSWORD"  # noqa: S105
SENTINEL_PASSWORD: Final = "PITLINK_SENTINEL_PASSWORD"  # noqa: S105


def keys_directory(service: Service) -> Path | None:
    """Return the directory of key bundles from the environment, or else from the floor file."""
    directory = os.environ.get(KEYS_VARIABLE) or service.keys
    return Path(directory).absolute() if directory else None


def secret_of(variable: str) -> str | None:
    """Return the password in an environment variable, or in the file that `VARIABLE_FILE` names.

    Raises:
        UserError: both variables are set, or the file cannot be read.
    """
    given = os.environ.get(variable)
    file = os.environ.get(f"{variable}_FILE")
    if given and file:
        raise UserError(f"{variable} and {variable}_FILE are both set: remove one")
    return read_secret(Path(file)) if file else given or None


def only_one(variable: str, in_address: str | None, key: str) -> str | None:
    """Return the password from the environment or from the address.

    Raises:
        UserError: both have a password.
    """
    given = secret_of(variable)
    if given and in_address:
        raise UserError(f"the floor file's {key} and {variable} both have a password: remove one")
    return given or in_address


def broker_address(service: Service, identity: Identity) -> BrokerAddress:
    """Return the broker's address with the credentials of an identity.

    A key bundle is used only with ``mqtts://``. A user in the address replaces the identity's user
    name. A password in the environment or in the address replaces the password in the bundle. If
    the broker asks for a certificate, the client sends the bundle's certificate. The broker then
    uses the certificate's common name as the user name.

    Raises:
        UserError: the address is wrong, the bundle is missing or wrong, or there are two passwords.
    """
    address = parse_broker_url(service.broker)
    password = only_one(BROKER_PASSWORD, address.password, "broker")
    keys = keys_directory(service)
    bundle = KeyBundle.of(keys, identity) if keys and address.tls else None
    if bundle and password is None and address.username is None:
        password = bundle.password()
    found = replace(
        address,
        username=address.username or (identity.username if password else None),
        password=password,
        files=bundle.tls_files() if bundle else None,
        event_group=bundle.event_group() if bundle else None,
        client_name=identity.username if bundle and address.username is None else None,
    )
    found.tls_context()
    return found


def service_numbers(keys: Path) -> Sequence[int]:
    """Return in order the numbers of the services whose bundles are on this machine."""
    found = (directory.name for directory in (keys / SERVICES).glob("*") if directory.is_dir())
    return sorted(int(name) for name in found if name.isascii() and name.isdigit())


@contextlib.contextmanager
def own_identity(service: Service) -> Iterator[Identity]:
    """Yield the first identity with a bundle that no other service on this machine uses.

    The bundle is locked until the caller is done. A bundle that this user of the system cannot
    read belongs to a service of another user, and is left out. If this machine has no bundles,
    yield the identity of the first service.

    Raises:
        UserError: all bundles are in use, or none can be read.
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
            f"all key {readable} in {keys / SERVICES} are in use on this machine:"
            " make more with `pitlink keys --services N`, then run `pitlink install-keys`"
        )


def _is_closed(directory: Path) -> bool:
    try:
        readable = os.access(directory, os.R_OK | os.X_OK, effective_ids=True)
        return not readable and directory.exists()
    except PermissionError:
        return True


def _unreadable(directory: Path) -> str:
    return (
        f"{directory}: the system user {os.geteuid()} cannot read the keys of the services:"
        " run the command as the owner of the keys, for example with `runuser -u pitlink --`"
    )
