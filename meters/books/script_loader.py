"""The Lua scripts of the package, with their shared fragments included."""

import re
from functools import cache
from importlib.resources import files
from typing import Final

from meters.books.refusals import refusal_texts
from meters.books.schema import SCHEMA
from meters.books.script_steps import position_names

_INCLUDE: Final = re.compile(r"^--include ([a-z_]+)$", re.MULTILINE)


class ScriptError(Exception):
    """A Lua script could not be assembled from its files."""


@cache
def load_script(name: str, package: str = "meters.books") -> str:
    """Load a Lua script with the fragments that it includes.

    The returned text begins with the schema version of the data that the script uses.

    Raises:
        ScriptError: a file is missing, a fragment is included twice, or a fragment includes itself.
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
    if name == "includes/positions":
        return position_names()
    if name == "includes/refusal_texts":
        return f"local REFUSALS = [==[{refusal_texts()}]==]"
    try:
        return (files(package) / "scripts" / f"{name}.lua").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ScriptError(f"there is no script {name}") from None
