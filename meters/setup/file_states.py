"""Comparison of a file on the machine with the text that it must have."""

import difflib
import hashlib
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from meters.keys.files import read_bytes
from meters.setup.places import SYSTEM, below
from meters.setup.record import SetupRecord
from meters.setup.wanted_files import WantedFile

_OTHER_TEXT: Final = ".pitlink"
"""Ending of the file with the wanted text, next to a file that a person changed."""


class FileState(Enum):
    """Relation of a file on the machine to the text that it must have."""

    DONE = "has the right text already"
    NEW = "does not exist yet"
    PACKAGED = "is the file of its Debian package"
    OURS = "was written by `pitlink setup`"
    FOREIGN = "was written or changed by a person"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """Wanted file, and its state on this machine.

    Attributes:
        place: the path of the file on this machine.
        before: the bytes of the file now; None if it does not exist.
    """

    wanted: WantedFile
    place: Path
    before: bytes | None
    state: FileState

    @property
    def data(self) -> bytes:
        """The bytes that the file must have."""
        return self.wanted.text.encode()

    @property
    def is_kept(self) -> bool:
        """True if the file may have another text than the wanted one."""
        return self.wanted.is_example or self.wanted.mark is not None

    @property
    def other_place(self) -> Path:
        """The path for the wanted text if a person changed the file."""
        return self.place.with_name(f"{self.place.name}{_OTHER_TEXT}")

    def diff(self) -> Iterator[str]:
        """Yield the lines of a diff. The unchanged file of a package counts as empty."""
        compared = self.before if self.state is FileState.OURS else None
        old = (compared or b"").decode(errors="replace").splitlines()
        name = "/dev/null" if compared is None else str(self.place)
        yield from difflib.unified_diff(
            old, self.wanted.text.splitlines(), name, str(self.place), lineterm=""
        )


def plan_file(
    wanted: WantedFile, root: Path, record: SetupRecord, conffiles: Mapping[str, str]
) -> FilePlan:
    """Compare a file of this machine with its wanted text.

    Raises:
        UserError: the file cannot be read.
    """
    place = below(root, wanted.path)
    before = read_bytes(place)
    return FilePlan(wanted, place, before, _state(wanted, before, record, conffiles))


def _state(
    wanted: WantedFile, before: bytes | None, record: SetupRecord, conffiles: Mapping[str, str]
) -> FileState:
    if before is None:
        return FileState.NEW
    lines = before.decode(errors="replace").splitlines()
    has_needed = wanted.needed is None or wanted.needed in lines
    is_marked = wanted.mark in lines
    if wanted.is_example or before == wanted.text.encode() or (is_marked and has_needed):
        return FileState.DONE
    if is_marked or record.has_written(wanted.path, before):
        return FileState.OURS
    md5 = hashlib.md5(before, usedforsecurity=False).hexdigest()
    if wanted.example_mark in lines or conffiles.get(str(wanted.path)) == md5:
        return FileState.PACKAGED
    return FileState.FOREIGN


def packaged_conffiles(root: Path) -> Mapping[str, str]:
    """Return the configuration files of all Debian packages, each with the MD5 of its first text.

    On a system without dpkg, there are none.
    """
    where = [] if root == SYSTEM else [f"--admindir={root / 'var/lib/dpkg'}"]
    try:
        done = subprocess.run(
            ["dpkg-query", *where, "-W", "-f=${Conffiles}\n"],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    except OSError:
        return {}
    words = (line.split() for line in done.stdout.splitlines())
    return {found[0]: found[1] for found in words if len(found) == 2}
