import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from cryptography import x509

from bonus.errors import UserError
from meters.floor.floor_file import Floor
from meters.floor.key_bundle import (
    ARCHIVE,
    AUTHORITY_FILE,
    CHECK,
    DISPLAY,
    EVENT_GROUP_FILE,
    HIDDEN_VALUE_SECRETS_FILE,
    LOG_SECRETS_FILE,
    PASSWORD_FILE,
    REDIS_AUDIT_PASSWORD_FILE,
    REDIS_PASSWORD_FILE,
    REDIS_USERS_PASSWORD_FILE,
    SENTINELS,
    SERVICES,
    Identity,
    read_secret,
    read_secrets,
    service_identity,
    table_identity,
)
from meters.floor.server_addresses import hosts_of, is_replicated, parse_replicated
from meters.keys.authority import Authority, Issued
from meters.keys.server_files import (
    REPLICA_ACCESS,
    SENTINEL_ACCESS,
    broker_access_list,
    broker_listeners,
    broker_passwords,
    redis_tls,
    redis_users,
    replica_access_text,
    sentinel_access_text,
)
from meters.process.private_files import make_directory, read_bytes, write_private
from meters.store.facility_notes import new_event_group

AUTHORITY: Final = "authority"
_AUTHORITY_KEY: Final = "ca.key"
_REVOKED: Final = "revoked"
"""File with the serial numbers of revoked certificates, one on each line."""
_PASSWORD_BYTES: Final = 32
_REPLICA_PASSWORD: Final = "replica-password"  # noqa: S105  (the name of a file)
_SENTINEL_PASSWORD: Final = "sentinel-password"  # noqa: S105

BROKER: Final = Identity("broker", "broker", "broker")
REDIS: Final = Identity("redis", "redis", "redis")
_OF_SERVICES: Final = (
    PASSWORD_FILE,
    REDIS_PASSWORD_FILE,
    REDIS_USERS_PASSWORD_FILE,
    REDIS_AUDIT_PASSWORD_FILE,
)
_HERE: Final = ("localhost", "127.0.0.1", "::1")

Act = Literal["made", "kept", "renewed", "changed"]


@dataclass(frozen=True, slots=True)
class Holder:
    """Holder of a certificate. ``passwords`` are the names of its password files."""

    party: Identity
    hosts: tuple[str, ...] = ()
    passwords: tuple[str, ...] = (PASSWORD_FILE,)


def holders(
    floor: Floor, services: int, broker_hosts: Sequence[str], redis_hosts: Sequence[str]
) -> Sequence[Holder]:
    return [
        Holder(BROKER, _hosts(floor.service.broker, broker_hosts), ()),
        Holder(REDIS, _hosts(floor.service.redis, redis_hosts), ()),
        *(Holder(service_identity(number), (), _OF_SERVICES) for number in range(1, services + 1)),
        Holder(ARCHIVE, (), (REDIS_PASSWORD_FILE,)),
        Holder(CHECK),
        Holder(DISPLAY),
        *(Holder(table_identity(link.id, table.id)) for link in floor.link for table in link.table),
    ]


def by_name(held: Sequence[Holder]) -> Mapping[str, Holder]:
    """Return the holders by user name. A table is also found by its table id."""
    found = {
        each.party.username.removeprefix("table."): each
        for each in held
        if each.party.stem == "table"
    }
    return found | {each.party.username: each for each in held}


def _hosts(url: str, given: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*hosts_of(url), *given, *_HERE]))


@dataclass(frozen=True, slots=True)
class KeyringEntry:
    place: str
    act: Act
    until: datetime


class Keyring:
    """Directory of keys for a floor. Missing keys are made. Existing keys are kept unless renewed.

    `broker_home` and `redis_home` are the directories on the servers' machines where the servers'
    files will be; None if a server reads the directory of keys itself.
    """

    def __init__(
        self,
        directory: Path,
        floor: Floor,
        *,
        broker_home: Path | None = None,
        redis_home: Path | None = None,
    ) -> None:
        self._directory = directory
        self._floor = floor
        self._broker_home = broker_home
        self._redis_home = redis_home
        self._signer: Authority | None = None
        self._authority_pem = b""

    def fill(self, held: Sequence[Holder], renewed: Collection[str]) -> Sequence[KeyringEntry]:
        """Make the missing keys of every holder, and write the configuration of the servers again.

        Return the result for the authority, and then for each holder. The users in `renewed` get
        new keys, and their old certificates are revoked. If a table has moved to another link, the
        certificate of its earlier bundle is also revoked, because both bundles have the same
        user name.

        Raises:
            UserError: a file cannot be read or written, or the authority's key is missing.
        """
        make_directory(self._directory)
        entries = [self._open_authority()]
        entries += [self._give(one, renew=one.party.username in renewed) for one in held]
        entries = self._share(entries, EVENT_GROUP_FILE, _event_group)
        entries = self._share(entries, LOG_SECRETS_FILE, _joined_secrets)
        entries = self._share(entries, HIDDEN_VALUE_SECRETS_FILE, _joined_secrets)
        self._revoke_moved(held)
        self._write_broker_files(held)
        self._write_redis_files(held)
        return entries

    def _open_authority(self) -> KeyringEntry:
        home = self._directory / AUTHORITY
        make_directory(home)
        key, pem = read_bytes(home / _AUTHORITY_KEY), read_bytes(home / AUTHORITY_FILE)
        act: Act = "kept"
        if pem is None:
            if key is not None or any(self._directory.glob(f"*/**/{AUTHORITY_FILE}")):
                raise UserError(
                    f"{home / AUTHORITY_FILE} is missing, but there are keys that it signed: put it"
                    " back, or start again in another directory"
                )
            self._signer, issued = Authority.found(self._floor.facility.name)
            self._write_authority(home, issued)
            pem, act = issued.certificate, "made"
        elif key is not None:
            try:
                self._signer = Authority.read(Issued(key, pem))
            except UserError as error:
                files = f"{home / _AUTHORITY_KEY} and {home / AUTHORITY_FILE}"
                raise UserError(f"{files}: {error}") from None
        self._authority_pem = pem
        return KeyringEntry(AUTHORITY, act, _certificate(home / AUTHORITY_FILE).not_valid_after_utc)

    def _write_authority(self, home: Path, issued: Issued) -> None:
        new = home.with_name(f".{AUTHORITY}.new")
        make_directory(new)
        write_private(new / _AUTHORITY_KEY, issued.key)
        write_private(new / AUTHORITY_FILE, issued.certificate)
        try:
            new.rename(home)
        except OSError as error:
            raise UserError(f"{home} cannot be made: {error.strerror}") from None

    def _signing(self) -> Authority:
        """Return the authority. Its key can be in a safe while nothing is signed."""
        if self._signer is None:
            raise UserError(
                f"{self._directory / AUTHORITY / _AUTHORITY_KEY} is missing, and nothing can"
                " be signed without it: put it back, run the command again, and take it away"
                " afterwards"
            )
        return self._signer

    def _give(self, holder: Holder, *, renew: bool) -> KeyringEntry:
        party = holder.party
        home = self._directory / party.place
        make_directory(home)
        certificate, key = home / f"{party.stem}.crt", home / f"{party.stem}.key"
        exists = certificate.exists() and key.exists()
        act: Act = "kept"
        before = _certificate(certificate) if certificate.exists() else None
        if before is not None:
            renew = renew or before.serial_number in self._revoked()
            if renew:
                self._revoke(before.serial_number)
        if renew or not exists:
            act = "renewed" if renew and exists else "made"
            signer = self._signing()
            issued = signer.issue(
                party.username, holder.hosts, calls_others=party is REDIS, replaces=before
            )
            certificate.unlink(missing_ok=True)
            write_private(key, issued.key)
            write_private(certificate, issued.certificate)
        if read_bytes(home / AUTHORITY_FILE) != self._authority_pem:
            write_private(home / AUTHORITY_FILE, self._authority_pem)
        for name in holder.passwords:
            if renew or not (home / name).exists():
                act = act if act != "kept" else "changed"
                write_private(home / name, secrets.token_urlsafe(_PASSWORD_BYTES) + "\n")
        return KeyringEntry(party.place, act, _certificate(certificate).not_valid_after_utc)

    def _share(
        self,
        entries: Sequence[KeyringEntry],
        name: str,
        text_of: Callable[[Sequence[Path], bool], str],
    ) -> list[KeyringEntry]:
        """Write one text to the file `name` of each service; return the entries with these changes.

        `text_of` gets the present files, and True after a renewal.
        """
        services = [one for one in entries if one.place.startswith(f"{SERVICES}/")]
        paths = {one.place: self._directory / one.place / name for one in services}
        renewed = any(one.act == "renewed" for one in services)
        text = text_of([path for path in paths.values() if path.exists()], renewed)
        lacking = {place for place, path in paths.items() if read_bytes(path) != text.encode()}
        for place in lacking:
            write_private(paths[place], text)
        return [
            replace(one, act="changed") if one.act == "kept" and one.place in lacking else one
            for one in entries
        ]

    def _revoke_moved(self, held: Sequence[Holder]) -> None:
        places = {one.party.username: one.party.place for one in held}
        for home in sorted((self._directory / "tables").glob("*.*")):
            certificate = home / "table.crt"
            place = places.get(f"table.{home.name.partition('.')[2]}")
            if place not in {None, f"tables/{home.name}"} and certificate.exists():
                serial = _certificate(certificate).serial_number
                if serial not in self._revoked():
                    self._revoke(serial)

    def _revoke(self, serial: int) -> None:
        signer = self._signing()
        serials = [*dict.fromkeys([*self._revoked(), serial])]
        self._write_revoked(signer, serials)
        write_private(
            self._directory / AUTHORITY / _REVOKED, "".join(f"{each:x}\n" for each in serials)
        )

    def _revoked(self) -> Sequence[int]:
        path = self._directory / AUTHORITY / _REVOKED
        try:
            return [int(each, 16) for each in (read_bytes(path) or b"").split()]
        except ValueError:
            raise UserError(
                f"{path} is not a list of serial numbers: put it back from a backup"
            ) from None

    def _write_revoked(self, signer: Authority, serials: Sequence[int]) -> None:
        home = self._directory / BROKER.place
        make_directory(home)
        write_private(home / "revoked.crl", signer.sign_revocation_list(serials))

    def _write_broker_files(self, held: Sequence[Holder]) -> None:
        home = self._directory / BROKER.place
        services = sum(one.party.place.startswith(f"{SERVICES}/") for one in held)
        write_private(home / "acl", broker_access_list(self._floor, services))
        before = (read_bytes(home / "passwords") or b"").decode(errors="replace")
        passwords = self._passwords(held, PASSWORD_FILE)
        write_private(home / "passwords", broker_passwords(passwords, before))
        if not (home / "revoked.crl").exists():
            self._write_revoked(self._signing(), self._revoked())
        if self._broker_home or not (home / "listeners.conf").exists():
            write_private(home / "listeners.conf", broker_listeners(self._broker_home or home))

    def _write_redis_files(self, held: Sequence[Holder]) -> None:
        home = self._directory / REDIS.place
        before = (read_bytes(home / "users.acl") or b"").decode(errors="replace")
        books = self._passwords(held, REDIS_PASSWORD_FILE)
        archive = books.pop(ARCHIVE.username)
        user_store = self._passwords(held, REDIS_USERS_PASSWORD_FILE)
        replica, sentinel = self._write_replication_files(home)
        listed = redis_users(
            books=[*books.values()],
            users=[*user_store.values()],
            audit=[*self._passwords(held, REDIS_AUDIT_PASSWORD_FILE).values()],
            archive=archive,
            replica=replica,
            sentinel=sentinel,
            before=before,
        )
        write_private(home / "users.acl", listed)
        if self._redis_home or not (home / "tls.conf").exists():
            write_private(home / "tls.conf", redis_tls(self._redis_home or home))

    def _write_replication_files(self, home: Path) -> tuple[str | None, str | None]:
        """Write the files of replicas and sentinels. Return their passwords at the Redis servers.

        These passwords are never renewed, because Redis and sentinels write them into their files.
        """
        url = self._floor.service.redis
        address = parse_replicated(url) if is_replicated(url) else None
        if address is None or not address.tls:
            return None, None
        replica = _kept_password(home / _REPLICA_PASSWORD)
        write_private(home / REPLICA_ACCESS, replica_access_text(replica))
        if not address.service:
            return replica, None
        sentinel = _kept_password(home / _SENTINEL_PASSWORD)
        others = self._directory / SENTINELS
        make_directory(others)
        at_sentinels = _kept_password(others / PASSWORD_FILE)
        access = sentinel_access_text(address.service, sentinel, at_sentinels)
        write_private(home / SENTINEL_ACCESS, access)
        return replica, sentinel

    def _passwords(self, held: Sequence[Holder], name: str) -> dict[str, str]:
        return {
            one.party.username: read_secret(self._directory / one.party.place / name)
            for one in held
            if name in one.passwords
        }


def _kept_password(path: Path) -> str:
    if not path.exists():
        write_private(path, secrets.token_urlsafe(_PASSWORD_BYTES) + "\n")
    return read_secret(path)


def _event_group(present: Sequence[Path], renewed: bool) -> str:  # noqa: FBT001  (a callback)
    """Return the secret group name of all services. A renewal makes a new name.

    Services with the same name share the tables' events and the users' sign-ins. With different
    names, each service gets every event, and a user must sign in at each service.
    """
    names = {read_secret(path) for path in present}
    return f"{new_event_group() if renewed or len(names) != 1 else names.pop()}\n"


def _joined_secrets(present: Sequence[Path], renewed: bool) -> str:  # noqa: FBT001  (a callback)
    """Return the secrets that all services share. A renewal adds one secret.

    Earlier secrets stay after the new one, to check or read what was written with them.
    """
    stored = sorted(map(read_secrets, present), key=len, reverse=True)
    known = [*dict.fromkeys(secret for lines in stored for secret in lines)]
    new = [secrets.token_urlsafe(_PASSWORD_BYTES)] if renewed or not known else []
    return "".join(f"{secret}\n" for secret in [*new, *known])


def _certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(read_bytes(path) or b"")
    except ValueError:
        raise UserError(f"{path} is not a certificate") from None
