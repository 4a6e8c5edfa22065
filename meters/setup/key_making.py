"""Keys of an installed floor: made once, and completed by a repeated run.

What is refused, or cannot be read or written, is a UserError.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cryptography import x509

from bonus.errors import UserError
from meters.floor.addresses import hosts_of
from meters.floor.credentials import service_numbers
from meters.floor.floor_file import Floor
from meters.floor.key_bundle import AUTHORITY_FILE
from meters.keys.holders import BROKER, Holder, holders
from meters.keys.keyring import AUTHORITY, Keyring, ServerPaths
from meters.process.private_files import read_bytes
from meters.setup.places import BROKER_KEYS, MADE_KEYS, REDIS_KEYS, below

WORKERS: Final = 2
"""Number of services, as the units of `pitlink setup`."""


def check_authority(root: Path) -> None:
    """Refuse to replace installed keys with keys of another authority.

    Nothing signed by the earlier authority could connect then: no table, and no other machine.
    """
    made = below(root, MADE_KEYS)
    ours = read_bytes(made / AUTHORITY / AUTHORITY_FILE)
    for place in (below(root, BROKER_KEYS), below(root, REDIS_KEYS)):
        installed = read_bytes(place / AUTHORITY_FILE)
        if installed is not None and installed != ours:
            raise UserError(
                f"{place} has keys of an authority that is not in {made}. If {made} was moved to a"
                " safe place, put it back while this command runs. If all keys were made again"
                " there, run `pitlink install-keys` first"
            )


def make_keys(floor: Floor, directory: Path) -> Sequence[str]:
    """Make the missing keys of a floor. Return the names of the directories that changed.

    If the certificate of the broker lacks a host name of this machine, it is renewed.
    """
    workers = max([WORKERS, *service_numbers(directory)])
    hosts = (*hosts_of(floor.service.broker), *floor.service.hosts)
    held = holders(floor, workers, hosts, ())
    renewed = [BROKER.username] if _lacks_host(directory, held) else []
    entries = Keyring(directory, floor, ServerPaths(BROKER_KEYS, REDIS_KEYS)).fill(held, renewed)
    return [entry.place for entry in entries if entry.act != "kept"]


def server_names(certificate: Path) -> frozenset[str]:
    """Return the host names and addresses in the certificate of a server; empty without a file."""
    data = read_bytes(certificate)
    if data is None:
        return frozenset()
    try:
        names = x509.load_pem_x509_certificate(data).extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
    except (ValueError, x509.ExtensionNotFound):
        raise UserError(f"{certificate} is not the certificate of a server") from None
    return frozenset(
        {
            *names.value.get_values_for_type(x509.DNSName),
            *map(str, names.value.get_values_for_type(x509.IPAddress)),
        }
    )


def _lacks_host(directory: Path, held: Sequence[Holder]) -> bool:
    known = server_names(directory / BROKER.place / f"{BROKER.stem}.crt")
    return bool(known) and any(
        set(holder.hosts) - known for holder in held if holder.party is BROKER
    )
