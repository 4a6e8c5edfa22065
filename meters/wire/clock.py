"""Moments as they stand on the wire, told in UTC."""

from datetime import UTC, datetime


def now_text() -> str:
    """This moment as RFC 3339 has it, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
