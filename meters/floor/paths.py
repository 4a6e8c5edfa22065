"""Paths in a floor file. A relative path starts at the floor file's directory."""

import os
import pwd
import re
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

import msgspec

from bonus.errors import UserError
from meters.floor.branding import Branding
from meters.floor.facility import ArchiveSettings, Service

_SERVICE_PATHS: Final = ("data", "keys", "certificate", "private_key", "metrics_token")
PATHS: Final = frozenset({*_SERVICE_PATHS, "directory", "logo", "games"})
_REDIS_PATH: Final = re.compile(
    r"(?P<name>[?&]ssl_(?:ca_certs|ca_path|certfile|keyfile)=)(?P<path>[^&#]+)"
)


def service_from(service: Service, directory: Path) -> Service:
    found = {
        name: str(directory / of)
        for name in _SERVICE_PATHS
        if (of := getattr(service, name)) is not None
    }

    def rooted(option: re.Match[str]) -> str:
        return option["name"] + quote(str(directory / unquote(option["path"])))

    return msgspec.structs.replace(service, **found, redis=_REDIS_PATH.sub(rooted, service.redis))


def archive_from(archive: ArchiveSettings, directory: Path) -> ArchiveSettings:
    return msgspec.structs.replace(archive, directory=str(directory / archive.directory))


def branding_from(branding: Branding, directory: Path) -> Branding:
    if branding.logo is None:
        return branding
    return msgspec.structs.replace(branding, logo=str(directory / branding.logo))


def check_account(*directories: str) -> None:
    """Refuse that root works on data of another account.

    That account can put links to files of root there, and root would read or write those files.

    Raises:
        UserError: the message names the account.
    """
    if os.geteuid() != 0:
        return
    for directory in map(Path, directories):
        there = next(each for each in (directory, *directory.parents) if each.exists())
        owner = there.stat().st_uid
        if owner == 0:
            continue
        try:
            name = pwd.getpwuid(owner).pw_name
        except KeyError:
            name = f"'#{owner}'"
        raise UserError(
            f"{there} belongs to the account {name}, and root would follow the links that it puts"
            f" there. Run the command as that account: runuser -u {name} -- pitlink ..."
        )
