"""Moments as they stand on the wire, told in UTC."""

from datetime import UTC, datetime


def now() -> datetime:
    """This moment, to the millisecond."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def now_text() -> str:
    """This moment as RFC 3339 has it, to the millisecond."""
    return text_of(datetime.now(UTC))


def text_of(moment: datetime) -> str:
    """A moment as RFC 3339 has it in UTC, to the millisecond."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"
