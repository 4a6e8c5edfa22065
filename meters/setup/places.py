"""Paths of an installed floor, as in the systemd units, and the owners of files."""

import os
import pwd
from pathlib import Path
from typing import Final

from bonus.errors import UserError

SYSTEM: Final = Path("/")
FLOOR_FILE: Final = Path("/etc/pitlink/floor.toml")
RECORD: Final = Path("/etc/pitlink/setup.json")
DATA: Final = Path("/var/lib/pitlink")
ARCHIVE: Final = DATA / "archive"
INSTALLED_KEYS: Final = Path("/etc/pitlink/keys")
MADE_KEYS: Final = SYSTEM / "root" / "pitlink-keys"
"""Directory where `pitlink setup` makes the keys.

It belongs to root, because it has the private key of the authority.
"""
BROKER_KEYS: Final = Path("/etc/mosquitto/pitlink")
REDIS_KEYS: Final = Path("/etc/redis/pitlink")


def below(root: Path, path: Path) -> Path:
    """Return the place of an absolute path in the file system with the top `root`.

    >>> str(below(Path("/mnt"), Path("/etc/redis")))
    '/mnt/etc/redis'
    """
    return root / path.relative_to(SYSTEM)


def owner_ids(root: Path, user: str) -> tuple[int, int]:
    """Return the user id and the group id of a system user, from the users below `root`."""
    if root == SYSTEM:
        try:
            found = pwd.getpwnam(user)
        except KeyError:
            raise UserError(f"there is no user {user} on this machine{_hint(user)}") from None
        return found.pw_uid, found.pw_gid
    listed = root / "etc" / "passwd"
    try:
        lines = listed.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UserError(f"{listed}: cannot be read: {error.strerror}") from None
    for line in lines:
        name, *rest = line.split(":")
        if name == user and len(rest) > 2:
            return int(rest[1]), int(rest[2])
    raise UserError(f"there is no user {user} in {listed}{_hint(user)}")


def check_root(root: Path, what: str) -> None:
    """Raise `UserError` if `root` is no absolute path of a directory.

    Only the user root may give `/`.
    """
    if not root.is_absolute() or not root.is_dir():
        raise UserError(f"--root {root}: give the whole path of an existing directory")
    if root == SYSTEM and os.geteuid() != 0:
        raise UserError(
            f"{what} changes files of the system: run it as root, for example with sudo"
        )


def _hint(user: str) -> str:
    if user.startswith("pitlink"):
        return (
            ": the Debian package of pitlink adds it; without the package, run"
            " `systemd-sysusers pitlink.conf` (deploy/docs/run/install-by-hand.md)"
        )
    return ": install the server first"
