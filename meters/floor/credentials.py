"""Broker credentials of a process: from its key bundle, the environment or the broker's address.

A password can be in an environment variable, or in a file that another variable names, so no floor
file needs to contain one.
"""

import os
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.floor.broker_address import BrokerAddress, parse_broker_url
from meters.floor.facility import Service
from meters.floor.identities import Identity
from meters.floor.key_bundle import KeyBundle, read_secret

KEYS_VARIABLE: Final = "PITLINK_KEYS"
BROKER_PASSWORD: Final = "PITLINK_BROKER_PASSWORD"  # noqa: S105  (a variable's name)
REDIS_PASSWORD: Final = "PITLINK_REDIS_PASSWORD"  # noqa: S105
REDIS_USERS_PASSWORD: Final = "PITLINK_REDIS_PEOPLE_PASSWORD"  # noqa: S105
SENTINEL_PASSWORD: Final = "PITLINK_SENTINEL_PASSWORD"  # noqa: S105


def keys_directory(service: Service) -> Path | None:
    """Return the directory of key bundles, from the environment or else the floor file."""
    directory = os.environ.get(KEYS_VARIABLE) or service.keys
    return Path(directory).absolute() if directory else None


def secret_of(variable: str) -> str | None:
    """Return the password in an environment variable, or in the file that a second one names.

    The second variable has the same name, with the ending ``_FILE``.

    Raises:
        UserError: both variables are set, or the file cannot be read.
    """
    given = os.environ.get(variable)
    file = os.environ.get(f"{variable}_FILE")
    if given and file:
        raise UserError(f"{variable} and {variable}_FILE are both set: remove one")
    return read_secret(Path(file)) if file else given or None


def only_one(variable: str, in_address: str | None, key: str) -> str | None:
    """Return the password from the environment or the address; `UserError` if both have one."""
    given = secret_of(variable)
    if given and in_address:
        raise UserError(f"the floor file's {key} and {variable} both have a password: remove one")
    return given or in_address


def broker_address(service: Service, identity: Identity) -> BrokerAddress:
    """Return the broker's address with the credentials of an identity.

    A key bundle is used only with ``mqtts://``. A user in the address has priority over the
    identity's own user name, a password in the environment or the address over that in the bundle.
    If the broker requests a certificate, the client sends that of the bundle, whose common name the
    broker then uses as the user name.

    Raises:
        UserError: the address is invalid, the bundle is missing or cannot be used, or the password
            is given twice.
    """
    address = parse_broker_url(service.broker)
    password = only_one(BROKER_PASSWORD, address.password, "broker")
    keys = keys_directory(service)
    bundle = KeyBundle.of(keys, identity) if keys and address.tls else None
    if bundle and password is None and address.username is None:
        password = bundle.password()
    username = address.username or (identity.username if password else None)
    found = BrokerAddress(
        address.host,
        address.port,
        username,
        password,
        address.tls,
        bundle.tls_files() if bundle else None,
        bundle.event_group() if bundle else None,
        identity.username if bundle and address.username is None else None,
    )
    found.tls_context()
    return found
