"""Moments as they stand on the wire, told in UTC."""

from datetime import UTC, datetime


def now() -> datetime:
    """This moment, to the millisecond."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def now_text() -> str:
    """This moment as RFC 3339 has it, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
