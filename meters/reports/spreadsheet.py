"""The rows of a report for a spreadsheet: with dollars, local times, and names in full.

Each time has three columns: the time by the facility's clock, the offset of this clock from UTC,
and the time in UTC. A spreadsheet program recognizes both times as dates.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from bonus.wagers import MICROS_PER_CENT
from meters.reports.rows import Cell, Figure

SheetCell = Cell | Decimal
SheetRow = Mapping[str, SheetCell]
ToSheet = Callable[[Figure, ZoneInfo], SheetRow]

FIGURE_SHEET: Final = (
    "gaming_day", "day_state", "link", "meter", "table", "figure", "count", "amount_dollars",
)  # fmt: skip
WIN_SHEET: Final = (
    "gaming_day", "won_at_local", "won_at_utc_offset", "won_at_utc", "link", "table",
    "asset_number", "round", "hand_record", "hand_position", "payment", "paid_position", "meter",
    "wager", "hand", "percent_of_meter", "amount_dollars", "paid_from", "state", "validated_by",
    "validated_at_local", "validated_at_utc_offset", "validated_at_utc", "rejected_by",
    "rejection_requested_by", "rejected_at_local", "rejected_at_utc_offset", "rejected_at_utc",
    "rejection_reason", "envy_taken_back_dollars", "paid_by", "paid_at_local",
    "paid_at_utc_offset", "paid_at_utc", "slip_number", "claim", "ledger_entry",
)  # fmt: skip

_RENAMED: Final = {
    "gaming_day": "day",
    "day_state": "state",
    "asset_number": "asset",
    "paid_position": "position",
    "percent_of_meter": "percent",
    "rejection_reason": "reason",
    "slip_number": "slip",
    "ledger_entry": "order",
}
"""The columns of the spreadsheet whose names differ from the names in the report's rows."""
_TIMES: Final = {
    "won_at": "at",
    "validated_at": "validated_at",
    "rejected_at": "rejected_at",
    "paid_at": "paid_at",
}
_VARIANCE: Final = "variance_of_"
_COUNTED: Final = frozenset({"wagers", "voided_wagers", "wins", "hits", "rejected"})
"""The accounting meters that are counts. All others, and all accounts, are money."""


def figure_row(figure: Figure, _: ZoneInfo) -> SheetRow:
    """Return a spreadsheet row of the report `day`, `month` or `table`."""
    row = _named(figure, FIGURE_SHEET)
    if isinstance(figure["amount_cents"], int):
        micros = int(figure["amount_cents"]) * MICROS_PER_CENT + int(figure["fraction_micros"])
        row["amount_dollars"] = Decimal(micros).scaleb(-6)
    name, number = str(figure["figure"]), figure["count"]
    if name.startswith(_VARIANCE) and isinstance(number, int):
        kind = name.removeprefix(_VARIANCE).partition(":")[0]
        if kind not in _COUNTED:
            # If the name of an accounting meter ends in "cents", its variance is in cents. Every
            # other variance is in micros.
            row["amount_dollars"] = Decimal(number).scaleb(-2 if kind.endswith("_cents") else -6)
            row["count"] = ""
    return row


def win_row(figure: Figure, zone: ZoneInfo) -> SheetRow:
    """Return a spreadsheet row of the report `jackpots`, with local times of the zone."""
    row = _named(figure, WIN_SHEET)
    row["amount_dollars"] = Decimal(figure["amount_cents"]).scaleb(-2)
    row["envy_taken_back_dollars"] = Decimal(figure["envy_taken_back_cents"]).scaleb(-2)
    for name, field in _TIMES.items():
        local, offset, utc = _times(str(figure[field]), zone)
        row |= {f"{name}_local": local, f"{name}_utc_offset": offset, f"{name}_utc": utc}
    return row


def _named(figure: Figure, columns: tuple[str, ...]) -> dict[str, SheetCell]:
    return {column: figure.get(_RENAMED.get(column, column), "") for column in columns}


def _times(at: str, zone: ZoneInfo) -> tuple[str, str, str]:
    """Return a time by the facility's clock, the clock's UTC offset, and the time in UTC.

    All are empty if there is no time.

    >>> _times("2026-03-08T10:00:00.000Z", ZoneInfo("America/New_York"))
    ('2026-03-08 06:00:00', 'UTC-04:00', '2026-03-08 10:00:00')
    """
    if not at:
        return "", "", ""
    local = datetime.fromisoformat(at).astimezone(zone)
    offset = f"{local:%z}"
    return (
        f"{local:%Y-%m-%d %H:%M:%S}",
        f"UTC{offset[:3]}:{offset[3:5]}",
        f"{local.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
    )
