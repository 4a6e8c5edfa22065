"""Times in UTC, as the messages contain them."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the current time, to the millisecond."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def now_text() -> str:
    """Return the current time as RFC 3339 text, to the millisecond."""
    return text_of(datetime.now(UTC))


def text_of(moment: datetime) -> str:
    """Return a time as RFC 3339 text in UTC, to the millisecond."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"
