"""The Lua scripts of the package, with their shared fragments included."""

import re
from functools import cache
from importlib.resources import files
from typing import Final

from meters.ledger.redis_layout import SCHEMA
from meters.ledger.script_steps import POSITIONS
from meters.store.event_refusals import refusal_texts

_INCLUDE: Final = re.compile(r"^--include ([a-z_]+)$", re.MULTILINE)
_NAME: Final = re.compile(r"\b[A-Z]+_[A-Z_]+\b")


class ScriptError(Exception):
    """A Lua script could not be assembled from its files."""


@cache
def load_script(name: str, package: str = "meters.store") -> str:
    """Load a Lua script with the numbers of array positions in place of their names.

    Lua allows at most 200 local variables, and needs time for each of them.

    Raises:
        ScriptError: a file is missing, or a fragment is included twice.
    """
    text = script_text(name, package)
    return _NAME.sub(lambda match: str(POSITIONS.get(match[0], match[0])), text)


def script_text(name: str, package: str = "meters.store") -> str:
    """Return a Lua script with its fragments and, at its beginning, the schema version.

    Raises:
        ScriptError: a file is missing, or a fragment is included twice.
    """
    return f"local SCHEMA = '{SCHEMA}'\n{_flatten(package, _read(package, name), seen=set())}"


def _flatten(package: str, text: str, seen: set[str]) -> str:
    def put(match: re.Match[str]) -> str:
        fragment = match[1]
        if fragment in seen:
            raise ScriptError(f"the fragment {fragment} is included twice")
        seen.add(fragment)
        return _flatten(package, _read(package, f"includes/{fragment}"), seen)

    return _INCLUDE.sub(put, text)


def _read(package: str, name: str) -> str:
    if name == "includes/refusal_texts":
        return f"local REFUSALS = [==[{refusal_texts()}]==]"
    try:
        return (files(package) / "scripts" / f"{name}.lua").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ScriptError(f"there is no script {name}") from None
