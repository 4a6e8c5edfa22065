"""Text for spreadsheets: CSV with local times, in which no cell is read as a formula."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from bonus.printable import escape_unprintable

SheetCell = str | int | Decimal
SheetRow = Mapping[str, SheetCell]

_FORMULAS: Final = frozenset("=+-@\N{MINUS SIGN}")
"""Characters with which a formula begins. Their wide forms in Unicode are converted first."""


def csv_text(columns: Sequence[str], rows: Iterable[SheetRow]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows({name: _plain(cell) for name, cell in one.items()} for one in rows)
    return text.getvalue()


def _plain(cell: SheetCell) -> SheetCell:
    r"""Change a text that a spreadsheet could read as a formula: a name can look like a formula.

    Control characters are escaped. A text that could be a formula gets an apostrophe before it.
    Each part after a semicolon counts as a text: in many countries, semicolons separate cells, and
    Excel then respects only the quotes of the first cell. Numbers do not come from people, so they
    are not changed.

    >>> _plain(-250), _plain(" =cmd"), _plain("x\r=cmd"), _plain("x; =cmd")
    (-250, "' =cmd", 'x\\r=cmd', "x;' =cmd")
    """
    if not isinstance(cell, str):
        return cell
    parts = escape_unprintable(cell).split(";")
    return ";".join(f"'{part}" if _begins_formula(part) else part for part in parts)


def _begins_formula(text: str) -> bool:
    """Check whether a spreadsheet could read the text as a formula.

    Before a formula, a spreadsheet can drop spaces, invisible characters, combining marks and
    quotes. So the first other character decides, in its normal form.
    """
    shown = (char for char in text if unicodedata.category(char)[0] not in "ZCM")
    first = next((char for char in shown if char != '"'), "")
    return unicodedata.normalize("NFKC", first)[:1] in _FORMULAS


def time_columns(name: str) -> tuple[str, str, str]:
    return f"{name}_local", f"{name}_utc_offset", f"{name}_utc"


def time_cells(at: str, zone: ZoneInfo) -> tuple[str, str, str]:
    """Return a time by the facility's clock, the clock's UTC offset, and the time in UTC.

    If there is no time, all three are empty.

    >>> time_cells("2026-03-08T10:00:00.000Z", ZoneInfo("America/New_York"))
    ('2026-03-08 06:00:00', 'UTC-04:00', '2026-03-08 10:00:00')
    """
    if not at:
        return "", "", ""
    local = datetime.fromisoformat(at).astimezone(zone)
    return (
        f"{local:%Y-%m-%d %H:%M:%S}",
        f"UTC{local.isoformat()[-6:]}",
        f"{local.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
    )
