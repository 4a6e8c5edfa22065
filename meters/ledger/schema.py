"""The schema version: the version of the layout of data in Redis.

A release works only with its own. That of a link's data is in the link's Redis hash of meters, that
of the users' data at the head of the operators' log.
"""

from typing import Final

SCHEMA: Final = 5

FIELD: Final = "schema"
"""The name of the field with the schema version, in a link's Redis hash of meters and in the head
of the operators' log."""


def version_of(noted: bytes | str | None, *, begun: bool) -> int | None:
    """Return the schema version of some data in Redis, or None if there is no data yet.

    >>> version_of(b"5", begun=True), version_of(None, begun=False)
    (5, None)

    Raises:
        ValueError: there is data, and the value is missing or not a schema version.
    """
    if noted is None and not begun:
        return None
    if not noted or not noted.isdigit():
        raise ValueError("its schema version is missing or damaged")
    return int(noted)


def schema_problem(what: str, version: int | None) -> str | None:
    """Return why this release must not use data of a schema version, or None (duty D10)."""
    if version is None or version == SCHEMA:
        return None
    return (
        f"{what} of schema version {version}, this release works with version {SCHEMA}: another"
        " release wrote it, and only a release of that version can use it"
    )
