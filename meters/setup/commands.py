import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec

from bonus.errors import UserError
from meters.process.printing import print_text
from meters.selfcheck.approval_checks import NOT_APPROVED
from meters.setup.key_installation import SERVICE_USER
from meters.setup.places import DATA, FLOOR_FILE

_WITHIN_S: Final = 600


class _User(msgspec.Struct, frozen=True):
    name: str
    role: str
    enabled: bool


def add_administrator(name: str, pin: str) -> str:
    """Add an administrator, unless there is one already, and return a message.

    Raises:
        UserError: the administrator cannot be added.
    """
    listed = _run("user", "list", "--json", "--config", str(FLOOR_FILE))
    if listed.returncode == 0:
        for user in msgspec.json.decode(listed.stdout, type=list[_User]):
            if user.role == "administrator" and user.enabled:
                return f"there is an administrator already, {user.name}: nobody is added"
    done = _run(
        "user", "add", name, "--role", "administrator", "--config", str(FLOOR_FILE), pin=pin
    )
    if done.returncode != 0:
        raise UserError(done.stderr.strip().removeprefix("pitlink: "))
    return done.stdout.strip()


def approve_floor(name: str, pin: str, *, answer: str) -> tuple[bool, str]:
    """Run `pitlink approve` with a person's PIN and their answer to its question.

    Return True if they approved, and what it printed: first of all, the terms.
    """
    command = ("approve", "--by", name, "--config", str(FLOOR_FILE))
    done = _run(*command, pin=f"{pin}\n{answer}")
    return done.returncode == 0, f"{done.stdout}{done.stderr}"


def waits_for_approval() -> bool:
    return NOT_APPROVED in _run("check", "--config", str(FLOOR_FILE)).stdout


def run_check() -> bool:
    done = _run("check", "--config", str(FLOOR_FILE))
    print_text(f"{done.stdout}{done.stderr}".rstrip())
    return done.returncode == 0


def typed(*words: str) -> str:
    """Return a command line of pitlink as root types it, for the system user of the services."""
    return " ".join(["runuser", "-u", SERVICE_USER, "--", "pitlink", *words])


def _run(*arguments: str, pin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of these same programs. A PIN goes to its standard input.

    It never has root's terminal: its account could type commands as root there, read what root
    types, and control what root sees. If it does not end, it is a UserError.
    """
    try:
        return subprocess.run(
            [str(Path(sys.executable).with_name("pitlink")), *arguments],
            input=f"{pin or ''}\n", capture_output=True, text=True, errors="replace", check=False,
            timeout=_WITHIN_S, user=SERVICE_USER, group=SERVICE_USER, extra_groups=[], cwd=DATA,
            env={**os.environ, "HOME": str(DATA)}, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise UserError(
            f"{typed(arguments[0])} did not end within {_WITHIN_S} s: look at the services' log"
        ) from None
