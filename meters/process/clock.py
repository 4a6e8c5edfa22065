from datetime import UTC, datetime


def now() -> datetime:
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def now_text() -> str:
    return text_of(datetime.now(UTC))


def text_of(moment: datetime) -> str:
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"
