"""A file system of its own for `pitlink setup`, as that of an image: no server starts in it."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from tests.processes import invoke_pitlink

USERS: Final = ("redis", "mosquitto", "pitlink", "pitlink-table")
ANSWERS: Final = (
    "--name", "Lucky Oak", "--timezone", "America/Chicago", "--host", "pit.oak",
    "--machines", "one",
)  # fmt: skip


class Machine:
    """File system below a directory, in which all system users are the user of the tests."""

    def __init__(self, root: Path, like: "Machine | None" = None) -> None:
        self.root = root
        if like is not None:
            shutil.copytree(like.root, root, symlinks=True)
            return
        (root / "etc").mkdir(parents=True)
        ids = f"{os.geteuid()}:{os.getegid()}"
        lines = [f"{user}:x:{ids}::/:/bin/false\n" for user in USERS]
        (root / "etc" / "passwd").write_text("".join(lines))

    def setup(self, *options: str) -> subprocess.CompletedProcess[str]:
        return invoke_pitlink("setup", "--yes", "--root", str(self.root), *options)

    def sets_up(self, *options: str) -> str:
        """Set it up; return what is printed."""
        done = self.setup(*options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def package_file(self, name: str, text: str) -> None:
        """Write a configuration file as a Debian package does, known to dpkg."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        admin = self.root / "var/lib/dpkg"
        (admin / "info").mkdir(parents=True, exist_ok=True)
        (admin / "updates").mkdir(exist_ok=True)
        md5 = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
        entry = (
            f"Package: server-{md5[:8]}\nStatus: install ok installed\n"
            "Maintainer: nobody\nArchitecture: all\nVersion: 1\nDescription: a server\n"
            f"Conffiles:\n /{name.lstrip('/')} {md5}\n\n"
        )
        with (admin / "status").open("a") as status:
            status.write(entry)

    def contents(self) -> dict[str, tuple[int, bytes]]:
        """Return the mode and the bytes of each file, except the list of users and dpkg's own."""
        return {
            str(path.relative_to(self.root)): (path.stat().st_mode & 0o7777, path.read_bytes())
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and "dpkg" not in path.parts and path.name != "passwd"
        }
