"""The keys of an installed floor: made once, completed later, and copied to their programs.

Only the program that uses a directory of keys can read its copy.
"""

import contextlib
import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509

from bonus.errors import UserError
from meters.floor.floor_file import Floor
from meters.floor.key_bundle import AUTHORITY_FILE, SENTINELS, SERVICES
from meters.floor.own_credentials import service_numbers
from meters.floor.server_addresses import hosts_of
from meters.keys.keyring import AUTHORITY, BROKER, Keyring, holders
from meters.process.printing import print_text
from meters.process.private_files import (
    make_open_directory,
    opened_directory,
    read_bytes,
    write_new,
)
from meters.setup.places import BROKER_KEYS, INSTALLED_KEYS, MADE_KEYS, REDIS_KEYS, below, owner_ids

TABLE_USER: Final = "pitlink-table"
SERVICE_USER: Final = "pitlink"
SERVICES_RUN: Final = 2
"""How many services the units of `pitlink setup` run."""

_TABLES: Final = "tables"
_WITH_SERVICES: Final = ("check", "display", "archive")
"""Directories of keys that every machine with services needs."""
_SERVERS: Final = {"broker": (BROKER_KEYS, "mosquitto"), "redis": (REDIS_KEYS, "redis")}
_PARTS: Final = (*_SERVERS, SERVICES)
_ONE_SERVICE: Final = re.compile(r"service\.(\d+)")
_SHARED_PLACES: Final = (SERVICES, _TABLES)
"""Directories with several bundles for one owner."""
_DIRECTORY: Final = 0o700
_FILE: Final = 0o600

_Files = Mapping[Path, bytes | None]
"""The files and directories in a directory. Files have contents; directories have None."""


def check_authority(root: Path) -> None:
    """Raise `UserError` if installed keys would be replaced with another authority's keys.

    With such keys, no table and no other machine with keys of the earlier authority could connect.
    """
    made = below(root, MADE_KEYS)
    ours = read_bytes(made / AUTHORITY / AUTHORITY_FILE)
    for place in (below(root, BROKER_KEYS), below(root, REDIS_KEYS)):
        installed = read_bytes(place / AUTHORITY_FILE)
        if installed is not None and installed != ours:
            raise UserError(
                f"{place} has keys of an authority that is not in {made}. If {made} was moved to a"
                f" safe place, put it back, then repeat the command. If all keys in {made} were"
                " made again, run `pitlink install-keys` first"
            )


def make_keys(floor: Floor, directory: Path) -> Sequence[str]:
    """Make the missing keys of a floor. Return the directories that changed.

    If the broker's certificate lacks a host name of this machine, the certificate is renewed.
    """
    services = max([SERVICES_RUN, *service_numbers(directory)])
    hosts = (*hosts_of(floor.service.broker), *floor.service.hosts)
    held = holders(floor, services, hosts, ())
    known = server_names(directory / BROKER.place / f"{BROKER.stem}.crt")
    lacks = known and any({*each.hosts} - known for each in held if each.party is BROKER)
    renewed = [BROKER.username] if lacks else []
    keyring = Keyring(directory, floor, broker_home=BROKER_KEYS, redis_home=REDIS_KEYS)
    entries = keyring.fill(held, renewed)
    return [entry.place for entry in entries if entry.act != "kept"]


def server_names(certificate: Path) -> frozenset[str]:
    """Return the names and addresses in a server's certificate; none if the file is missing."""
    data = read_bytes(certificate)
    if data is None:
        return frozenset()
    try:
        names = x509.load_pem_x509_certificate(data).extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
    except (ValueError, x509.ExtensionNotFound):
        raise UserError(f"{certificate} is not the certificate of a server") from None
    addresses = names.value.get_values_for_type(x509.IPAddress)
    return frozenset({*names.value.get_values_for_type(x509.DNSName), *map(str, addresses)})


@dataclass(frozen=True, slots=True)
class KeyDirectory:
    """A directory of keys, the place for its copy, and the system user who may read the copy."""

    source: Path
    target: Path
    owner: str


def directories_of(keys: Path, parts: Sequence[str]) -> Sequence[KeyDirectory]:
    """Return the key directories for some parts of a floor; without parts, all that exist.

    A part is `broker`, `redis`, `services`, one service such as `service.2`, or the id of a table.
    """
    there = [name for name in _PARTS if (keys / name).is_dir()]
    if not there and not (keys / _TABLES).is_dir():
        raise UserError(f"{keys} is no directory of keys: `pitlink keys` makes one")
    bundles = sorted(path.name for path in (keys / _TABLES).glob("*.*") if path.is_dir())
    tables = dict.fromkeys(name.partition(".")[2] for name in bundles)
    return [one for part in parts or [*there, *tables] for one in _part(keys, part)]


def install_keys(root: Path, keys: Sequence[KeyDirectory]) -> None:
    """Copy directories of keys to their places, and print each result.

    A table is on one link, so its installed bundle for another link is removed. If single services
    are given, bundles of other services are removed, because two machines must not use the same
    bundle.

    Raises:
        UserError: a system user or a directory of keys is missing, or a file cannot be written.
    """
    owners = {one.owner: owner_ids(root, one.owner) for one in keys}
    for one in keys:
        if not one.source.is_dir():
            raise UserError(f"there is no {one.source.name} in {one.source.parent}")
    for one in keys:
        target = below(root, one.target)
        try:
            _remove_left_overs(target)
            files = _read_directory(one.source)
            if _is_copy(files, target, owners[one.owner]):
                print_text(f"{target}  unchanged")
            else:
                _put(files, target, owners[one.owner])
                print_text(f"{target}  installed for {one.owner}")
            for old in _unused(target, [below(root, each.target) for each in keys]):
                shutil.rmtree(old)
                print_text(f"{old}  removed")
        except OSError as error:
            raise UserError(f"{error.filename}: cannot be installed: {error.strerror}") from None


def table_keys(bundle: Path, link: str, table: str) -> KeyDirectory:
    return KeyDirectory(bundle, INSTALLED_KEYS / _TABLES / f"{link}.{table}", TABLE_USER)


def _unused(target: Path, targets: Sequence[Path]) -> Sequence[Path]:
    pattern = {_TABLES: f"*.{target.name.partition('.')[2]}", SERVICES: "*"}.get(target.parent.name)
    found = sorted(target.parent.glob(pattern)) if pattern else []
    return [path for path in found if path not in targets]


def _part(keys: Path, part: str) -> Iterator[KeyDirectory]:
    if part in _SERVERS:
        target, owner = _SERVERS[part]
        yield KeyDirectory(keys / part, target, owner)
    elif part == SERVICES:
        yield from _of_services(keys, SERVICES)
    elif one := _ONE_SERVICE.fullmatch(part):
        yield from _of_services(keys, f"{SERVICES}/{one[1]}")
    else:
        found = sorted((keys / _TABLES).glob(f"*.{part}"))
        if not found:
            raise UserError(
                f"there are no keys for {part}: give broker, redis, services, service.1 or the id"
                " of a table"
            )
        if len(found) > 1:
            raise UserError(
                f"table {part} has {len(found)} key bundles: {', '.join(map(str, found))}. Delete"
                " the one that `pitlink keys` calls unused"
            )
        yield table_keys(found[0], found[0].name.partition(".")[0], part)


def _of_services(keys: Path, bundles: str) -> Iterator[KeyDirectory]:
    # The keys have a password of the sentinels only if the floor has sentinels.
    sentinels = [SENTINELS] if (keys / SENTINELS).is_dir() else []
    for name in (bundles, *_WITH_SERVICES, *sentinels):
        yield KeyDirectory(keys / name, INSTALLED_KEYS / name, SERVICE_USER)


def _read_directory(source: Path) -> _Files:
    """Read a directory without its hidden files, which an interrupted `pitlink keys` can leave.

    The person who brought the keys could lead root to any file, even during the reading. So each
    directory stays open while it is read. `OSError` is raised for anything but plain files and
    directories, and for a file with another hard link in a directory of another system user.
    """
    try:
        with opened_directory(source) as (home, foreign), _opened(".", home) as opened:
            return dict(_read_opened(source, opened, foreign=foreign))
    except NotADirectoryError as error:
        raise OSError(error.errno, error.strerror, str(source)) from None


def _read_opened(
    source: Path, home: int, inside: Path = Path(), *, foreign: bool
) -> Iterator[tuple[Path, bytes | None]]:
    for name in sorted(os.listdir(home)):
        if name.startswith("."):
            continue
        path = source / inside / name
        try:
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=home)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        try:
            facts = os.fstat(opened)
            if stat.S_ISDIR(facts.st_mode):
                yield inside / name, None
                yield from _read_opened(source, opened, inside / name, foreign=foreign)
                continue
            if not stat.S_ISREG(facts.st_mode):
                raise OSError(errno.EINVAL, "it is no plain file", str(path))
            if foreign and facts.st_nlink > 1:
                raise OSError(errno.EINVAL, "it has another hard link", str(path))
            with os.fdopen(opened, "rb", closefd=False) as file:
                yield inside / name, file.read()
        finally:
            os.close(opened)


def _is_copy(files: _Files, target: Path, owner: tuple[int, int]) -> bool:
    """Check if a directory is a copy of `files` that only its owner can read.

    If the owner put anything other than a plain file there, it is not read.
    """
    if not target.is_dir() or {*files} != {path.relative_to(target) for path in target.rglob("*")}:
        return False
    for name, content in ((Path(), None), *files.items()):
        there = target / name
        facts = there.lstat()
        mode = stat.S_IFDIR | _DIRECTORY if content is None else stat.S_IFREG | _FILE
        if (facts.st_uid, facts.st_gid, facts.st_mode) != (*owner, mode):
            return False
        if content is not None and not _has_bytes(there, content):
            return False
    return True


def _has_bytes(path: Path, wanted: bytes) -> bool:
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return False
        return file.read(len(wanted) + 1) == wanted


def _put(files: _Files, target: Path, owner: tuple[int, int]) -> None:
    new, old = _temporary(target)
    if target.parent.name in _SHARED_PLACES and not target.parent.is_dir():
        make_open_directory(target.parent.parent)
        target.parent.mkdir(mode=_DIRECTORY)
        os.chown(target.parent, *owner)
    make_open_directory(target.parent)
    with _opened(target.parent) as parent:
        _write_directory(files, parent, new.name, owner)
    if os.path.lexists(target):
        target.rename(old)
    new.rename(target)
    _remove_left_overs(target)


def _temporary(target: Path) -> tuple[Path, Path]:
    return target.with_name(f"{target.name}.new"), target.with_name(f"{target.name}.old")


def _remove_left_overs(target: Path) -> None:
    for path in _temporary(target):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _write_directory(
    files: _Files, parent: int, name: str, owner: tuple[int, int], inside: Path = Path()
) -> None:
    """Write the files that are `inside` a directory into a new directory.

    `parent` is an open directory. The owner of the keys can change some parents of the copy. If
    they replaced a directory with a symbolic link meanwhile, root would write elsewhere. So each
    directory is used only while it is open, and belongs to root until it is complete.
    """
    os.mkdir(name, _DIRECTORY, dir_fd=parent)
    with _opened(name, parent) as home:
        for path in [path for path in files if path.parent == inside]:
            if (content := files[path]) is not None:
                write_new(home, path.name, content, owner)
            else:
                _write_directory(files, home, path.name, owner, path)
        os.fchown(home, *owner)


@contextlib.contextmanager
def _opened(name: str | Path, parent: int | None = None) -> Iterator[int]:
    opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        yield opened
    finally:
        os.close(opened)
