"""The version of the layout of data in Redis. A release works only on its own version.

The version of a link is in its books. The version of the users is at the head of the operators'
log. Data from before there were versions has version 1.
"""

from collections.abc import Mapping
from typing import Final

SCHEMA: Final = 3
"""The version that this release writes and works on."""

FIELD: Final = "schema"
"""The field of the version in a link's hash of meters and in the head of the operators' log."""

STEPS: Final[Mapping[int, str]] = {
    1: "its schema version is noted",
    2: "each table notes the hand pays that hold it, and Envy Bonuses are owed until they are paid",
}
"""The changes that an upgrade makes to each earlier version, as texts."""

_UNNOTED: Final = "1"


def version_of(noted: bytes | str | None, *, begun: bool) -> int | None:
    """Return the version of some books, or None if they have not begun.

    >>> version_of(b"2", begun=True), version_of(None, begun=True), version_of(None, begun=False)
    (2, 1, None)

    Raises:
        ValueError: the value is not a version.
    """
    if noted is None and not begun:
        return None
    version = int(noted if noted is not None else _UNNOTED)
    if version < 1:
        raise ValueError(f"{version} is no schema version")
    return version


def schema_problem(what: str, version: int | None) -> str | None:
    """Return why this release may not work on some books, or None if it may (duty D10)."""
    if version is None or version == SCHEMA:
        return None
    problem = f"{what} of schema version {version}, this release works with version {SCHEMA}"
    if version < SCHEMA:
        return f"{problem}: run `pitlink upgrade`"
    return f"{problem}: a later release wrote it, and only that release can use it"
