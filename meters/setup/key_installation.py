"""Installation of key bundles: each program's directory of keys, which only this program reads."""

import contextlib
import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from bonus.errors import UserError
from meters.floor.key_bundle import SENTINELS, SERVICES
from meters.process.private_files import opened_directory
from meters.setup.file_writing import make_open_directory
from meters.setup.places import BROKER_KEYS, INSTALLED_KEYS, REDIS_KEYS, below, owner_ids

TABLE_USER: Final = "pitlink-table"
SERVICE_USER: Final = "pitlink"
_TABLES: Final = "tables"
_WITH_SERVICES: Final = ("check", "display", "archive")
"""Directories that every machine of services needs."""
_SERVERS: Final = {
    "broker": (BROKER_KEYS, "mosquitto"),
    "redis": (REDIS_KEYS, "redis"),
}
_PARTS: Final = (*_SERVERS, SERVICES)
_ONE_SERVICE: Final = re.compile(r"service\.(\d+)")
_SHARED_PLACES: Final = (SERVICES, _TABLES)
"""Directories with several bundles of one owner."""
_DIRECTORY: Final = 0o700
_FILE: Final = 0o600

_Files: TypeAlias = "Mapping[str, bytes | _Files]"
"""Files and directories by their names."""


@dataclass(frozen=True, slots=True)
class KeyDirectory:
    """Directory of keys, the place for its copy, and the system user who may read the copy."""

    source: Path
    target: Path
    owner: str


@dataclass(frozen=True, slots=True)
class InstalledKeys:
    place: Path
    act: str


def directories_of(keys: Path, parts: Sequence[str]) -> Sequence[KeyDirectory]:
    """Return the directories of keys for some parts of a floor; without parts, all that are there.

    A part is `broker`, `redis`, `services`, one service such as `service.2`, or the id of a table.

    Raises:
        UserError: the keys do not have a part, or have two bundles for a table.
    """
    there = [name for name in _PARTS if (keys / name).is_dir()]
    if not there and not (keys / _TABLES).is_dir():
        raise UserError(f"{keys} is no directory of keys: `pitlink keys` makes one")
    named = parts or [*there, *_tables_in(keys)]
    return [one for part in named for one in _part(keys, part)]


def install_keys(root: Path, keys: Sequence[KeyDirectory]) -> Iterator[InstalledKeys]:
    """Copy directories of keys to their places, and yield each result.

    A directory that is installed already is not changed. An installed bundle of a table for another
    link is removed, because a table is on one link. If single services are given, bundles of other
    services are removed: two machines must not use the same bundle.

    Raises:
        UserError: a system user is missing, or a file cannot be written.
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
            done = _is_copy(files, target, owners[one.owner])
            if not done:
                _put(files, target, owners[one.owner])
            yield InstalledKeys(target, "unchanged" if done else f"installed for {one.owner}")
            for old in _unused(target, [below(root, each.target) for each in keys]):
                shutil.rmtree(old)
                yield InstalledKeys(old, "removed")
        except OSError as error:
            raise UserError(f"{error.filename}: cannot be installed: {error.strerror}") from None


def table_keys(bundle: Path, link: str, table: str) -> KeyDirectory:
    """Return a bundle of a table that was brought to the machine of this table."""
    return KeyDirectory(bundle, INSTALLED_KEYS / _TABLES / f"{link}.{table}", TABLE_USER)


def _unused(target: Path, targets: Sequence[Path]) -> Sequence[Path]:
    """Return the installed bundles that an installed bundle replaces."""
    pattern = {_TABLES: f"*.{target.name.partition('.')[2]}", SERVICES: "*"}.get(target.parent.name)
    found = sorted(target.parent.glob(pattern)) if pattern else []
    return [path for path in found if path not in targets]


def _tables_in(keys: Path) -> Sequence[str]:
    names = sorted(path.name for path in (keys / _TABLES).glob("*.*") if path.is_dir())
    return [*dict.fromkeys(name.partition(".")[2] for name in names)]


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
                f"nobody is called {part}: give broker, redis, services, service.1 or the id of a"
                " table"
            )
        if len(found) > 1:
            raise UserError(
                f"table {part} has {len(found)} key bundles: {', '.join(map(str, found))}. Delete"
                " the one that `pitlink keys` calls unused"
            )
        link = found[0].name.partition(".")[0]
        yield table_keys(found[0], link, part)


def _of_services(keys: Path, bundles: str) -> Iterator[KeyDirectory]:
    """Yield bundles of services, and what a machine of services needs besides.

    Only keys of a floor with sentinels have the password of the sentinels.
    """
    sentinels = [SENTINELS] if (keys / SENTINELS).is_dir() else []
    for name in (bundles, *_WITH_SERVICES, *sentinels):
        yield KeyDirectory(keys / name, INSTALLED_KEYS / name, SERVICE_USER)


def _read_directory(source: Path) -> _Files:
    """Read a directory without its hidden files: an interrupted `pitlink keys` can leave some.

    Whoever brought the keys could lead root to any file that root can read, also while it reads. So
    each directory stays open while it is read, and anything but plain files is an OSError.
    """
    try:
        with opened_directory(source) as (home, foreign), _opened(".", home) as opened:
            return _read_opened(source, opened, foreign=foreign)
    except NotADirectoryError as error:
        raise OSError(error.errno, error.strerror, str(source)) from None


def _read_opened(source: Path, home: int, *, foreign: bool) -> _Files:
    files: dict[str, bytes | _Files] = {}
    for name in sorted(os.listdir(home)):
        if name.startswith("."):
            continue
        path = source / name
        try:
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=home)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        try:
            facts = os.fstat(opened)
            if stat.S_ISDIR(facts.st_mode):
                files[name] = _read_opened(path, opened, foreign=foreign)
                continue
            if not stat.S_ISREG(facts.st_mode) or (foreign and facts.st_nlink > 1):
                raise OSError(errno.EINVAL, "it is no plain file", str(path))
            with os.fdopen(opened, "rb", closefd=False) as file:
                files[name] = file.read()
        finally:
            os.close(opened)
    return files


def _is_copy(files: _Files, target: Path, owner: tuple[int, int]) -> bool:
    """Check if a directory has the same files as another one, and only its owner can read them.

    What the owner put there instead of a file is not read.
    """
    wanted = dict(_flat(files, Path()))
    if not target.is_dir() or {*wanted} != {path.relative_to(target) for path in target.rglob("*")}:
        return False
    for name, content in ((Path(), None), *wanted.items()):
        there = target / name
        facts = there.lstat()
        mode = stat.S_IFDIR | _DIRECTORY if content is None else stat.S_IFREG | _FILE
        if (facts.st_uid, facts.st_gid, facts.st_mode) != (*owner, mode):
            return False
        if content is not None and not _has_bytes(there, content):
            return False
    return True


def _flat(files: _Files, inside: Path) -> Iterator[tuple[Path, bytes | None]]:
    for name, content in files.items():
        if isinstance(content, bytes):
            yield inside / name, content
        else:
            yield inside / name, None
            yield from _flat(content, inside / name)


def _has_bytes(path: Path, wanted: bytes) -> bool:
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return False
        return file.read(len(wanted) + 1) == wanted


def _put(files: _Files, target: Path, owner: tuple[int, int]) -> None:
    """Replace a directory with these files. No earlier file remains."""
    new, old = _temporary(target)
    if target.parent.name in _SHARED_PLACES and not target.parent.is_dir():
        make_open_directory(target.parent.parent)
        _make_directory(target.parent, owner)
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


def _make_directory(path: Path, owner: tuple[int, int]) -> None:
    path.mkdir(mode=_DIRECTORY)
    os.chown(path, *owner)


def _write_directory(files: _Files, parent: int, name: str, owner: tuple[int, int]) -> None:
    """Write files into a new directory in an open directory.

    The owner of the keys can change some parents of the copy. If they replaced a directory with a
    symbolic link meanwhile, root would write elsewhere. So each directory is used only while it is
    open, and belongs to root until it is complete.
    """
    os.mkdir(name, _DIRECTORY, dir_fd=parent)
    with _opened(name, parent) as home:
        for each, content in files.items():
            if isinstance(content, bytes):
                _write_file(content, home, each, owner)
            else:
                _write_directory(content, home, each, owner)
        os.fchown(home, *owner)


def _write_file(content: bytes, parent: int, name: str, owner: tuple[int, int]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(name, flags, _FILE, dir_fd=parent), "wb") as file:
        os.fchown(file.fileno(), *owner)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def _opened(name: str | Path, parent: int | None = None) -> Iterator[int]:
    """Open a directory that is not a symbolic link, by its path or in an open directory."""
    opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        yield opened
    finally:
        os.close(opened)
