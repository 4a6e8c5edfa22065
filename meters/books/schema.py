"""The schema version: the version of the layout of data in Redis.

A release works only with its own schema version. The schema version of a link's data is in the
link's Redis hash of meters. The schema version of the users' data is at the head of the operators'
log. Data from a release without schema versions has the schema version 1.
"""

from collections.abc import Mapping
from typing import Final

SCHEMA: Final = 5
"""The schema version with which this release works."""

FIELD: Final = "schema"
"""The name of the field with the schema version.

This field is in a link's Redis hash of meters, and in the head of the operators' log.
"""

STEPS: Final[Mapping[int, str]] = {
    1: "its schema version is noted",
    2: "each table notes the hand pays that hold it, and Envy Bonuses are owed until they are paid",
    3: "Redis needs less time for the ledger and the tables",
    4: "Redis needs less memory and disk space for events and replies",
}
"""The changes that an upgrade makes to data of each earlier schema version, as texts."""

_UNNOTED: Final = "1"


def version_of(noted: bytes | str | None, *, begun: bool) -> int | None:
    """Return the schema version of some data in Redis, or None if there is no data yet.

    >>> version_of(b"2", begun=True), version_of(None, begun=True), version_of(None, begun=False)
    (2, 1, None)

    Raises:
        ValueError: the value is not a schema version.
    """
    if noted is None and not begun:
        return None
    version = int(noted if noted is not None else _UNNOTED)
    if version < 1:
        raise ValueError(f"{version} is no schema version")
    return version


def schema_problem(what: str, version: int | None) -> str | None:
    """Return the reason why this release must not use data of a schema version, or None (duty D10).

    Return None if the release can use the data.
    """
    if version is None or version == SCHEMA:
        return None
    problem = f"{what} of schema version {version}, this release works with version {SCHEMA}"
    if version < SCHEMA:
        return f"{problem}: run `pitlink upgrade`"
    return f"{problem}: a later release wrote it, and only that release can use it"
