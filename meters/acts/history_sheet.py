"""The history of a meter as a spreadsheet: the figures of its pictures."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from meters.acts.meter_history import AddedBar, HitRow, MeterHistory, MeterPicture
from meters.floor.facility import GamingDays
from meters.process.clock import text_of
from meters.process.csv_text import SheetCell, csv_text, time_cells, time_columns

_COLUMNS: Final = (
    "link", "meter", "picture", "figure", *time_columns("from"), *time_columns("to"),
    "amount_dollars", "meter_before_dollars", "meter_after_dollars", "percent_of_meter", "table",
    "round", "position", "hand", "claim", "ledger_entry",
)  # fmt: skip


def history_csv(history: MeterHistory, days: GamingDays) -> str:
    """Return a row for each point of the lines, each bar and each win of the pictures.

    The column `figure` has ``meter`` (the amount at a time), ``contributions`` (of an hour or
    a gaming day), ``won``, or ``missing`` (a time for which this machine has no figures).
    """
    pictures = ("day", history.last_day), ("month", history.month)
    return csv_text(
        _COLUMNS,
        (
            {"link": history.link, "meter": history.meter, "picture": name, **row}
            for name, picture in pictures
            for row in _rows(picture, days)
        ),
    )


def _rows(picture: MeterPicture, days: GamingDays) -> Iterator[dict[str, SheetCell]]:
    zone = days.zone
    missing = [
        (int(days.bounds(gap.first)[0].timestamp()), int(days.bounds(gap.last)[1].timestamp()))
        for gap in picture.missing
    ]
    for begins_s, ends_s in missing:
        if begins_s < picture.ends_s and ends_s > picture.begins_s:
            times = _time("from", begins_s, zone) | _time("to", ends_s, zone)
            yield {"figure": "missing", **times}
    for at_s, cents in zip(picture.times_s, picture.amounts, strict=True):
        yield {"figure": "meter", "amount_dollars": _dollars(cents), **_time("from", at_s, zone)}
    for bar in picture.bars:
        if not any(begins_s <= bar.begins_s < ends_s for begins_s, ends_s in missing):
            yield _bar(bar, zone)
    for hit in reversed(picture.hits):
        yield _won(hit, zone)


def _bar(bar: AddedBar, zone: ZoneInfo) -> dict[str, SheetCell]:
    return {
        "figure": "contributions",
        "amount_dollars": _dollars(bar.added),
        **_time("from", bar.begins_s, zone),
        **_time("to", bar.ends_s, zone),
    }


def _won(hit: HitRow, zone: ZoneInfo) -> dict[str, SheetCell]:
    return {
        "figure": "won",
        "amount_dollars": _dollars(hit.amount),
        "meter_before_dollars": _dollars(hit.before),
        "meter_after_dollars": _dollars(hit.after),
        "percent_of_meter": hit.percent,
        "table": hit.table,
        "round": hit.round,
        "position": hit.position,
        "hand": hit.hand_name,
        "claim": hit.claim,
        "ledger_entry": hit.entry,
        **_time("from", hit.at_s, zone),
    }


def _time(name: str, at_s: int, zone: ZoneInfo) -> dict[str, SheetCell]:
    at = text_of(datetime.fromtimestamp(at_s, UTC))
    return dict(zip(time_columns(name), time_cells(at, zone), strict=True))


def _dollars(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)
