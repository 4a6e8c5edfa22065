"""What Redis keeps has a layout with a version: a release works on its own and on no other's.

The version of a link is in its books, that of the people beside the operators' log. What was
written before there were versions is of version 1.
"""

from collections.abc import Mapping
from typing import Final

SCHEMA: Final = 3
"""The version that this release writes, and works on."""

FIELD: Final = "schema"
"""Where a link's hash of meters, and the head of the operators' log, have it."""

STEPS: Final[Mapping[int, str]] = {
    1: "its schema version is noted",
    2: "each table notes the hand pays that hold it, and Envy Bonuses are owed until they are paid",
}
"""What an upgrade does to each earlier version, in words."""

_UNNOTED: Final = "1"


def version_of(noted: bytes | str | None, *, begun: bool) -> int | None:
    """The version of some books, None where they have not begun.

    >>> version_of(b"2", begun=True), version_of(None, begun=True), version_of(None, begun=False)
    (2, 1, None)

    Raises:
        ValueError: what is noted is no version.
    """
    if noted is None and not begun:
        return None
    version = int(noted if noted is not None else _UNNOTED)
    if version < 1:
        raise ValueError(f"{version} is no schema version")
    return version


def schema_problem(what: str, version: int | None) -> str | None:
    """Why this release may not work on some books, or None (duty D10)."""
    if version is None or version == SCHEMA:
        return None
    problem = f"{what} of schema version {version}, this release works with version {SCHEMA}"
    if version < SCHEMA:
        return f"{problem}: `pitlink upgrade` brings it there"
    return f"{problem}: a later release wrote it, and only that one may go on with it"
