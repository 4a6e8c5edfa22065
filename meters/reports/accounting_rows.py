"""The rows of a report for other programs, and for a spreadsheet.

For programs, columns are fixed, and amounts are integers. A spreadsheet has dollars, local times
and names in full. Each time in a spreadsheet has three columns: the time by the facility's clock,
the offset of this clock from UTC, and the time in UTC. Spreadsheet programs recognize the first and
the last of these columns as dates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import date
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from bonus.wagers import MICROS_PER_CENT
from meters.ledger.accounts import HOUSE, PAID
from meters.process.csv_text import SheetCell, SheetRow, time_cells, time_columns
from meters.reports.day_figures import LinkDay, places_of
from meters.reports.flows import CLAIMS, ENVY, AccountFlows
from meters.reports.ledger_scan import LinkScan
from meters.reports.win_book import Win, wins_by_hand

Cell = str | int
Figure = Mapping[str, Cell]

WIN_COLUMNS: Final = (
    *(field.name for field in fields(Win)), "hand_record", "hand_position", "payment",
)  # fmt: skip

_VARIANCE: Final = "variance_of_"
_OF_TABLES: Final = (
    ("table_wagers", "wagers", "wagered_cents"),
    ("table_contributed", "", "contributed_micros"),
    ("table_wagers_voided", "voided_wagers", "voided_cents"),
    ("table_contributions_voided", "", "voided_micros"),
    ("table_wins", "wins", "won_cents"),
    ("table_rejected", "rejected", "rejected_cents"),
    ("table_reopened", "reopened", "reopened_cents"),
)
"""Each row has the name of a figure, and the fields of `TableFigures` with its count and amount."""


def day_figures(links: Sequence[LinkScan], meters: Sequence[str] | None) -> Iterator[Figure]:
    """Yield all figures of all days: balances, flows, accounting meters, tables and variances.

    An amount is the sum of `amount_cents` and `fraction_micros` (ten-thousandths of a cent). The
    fraction is never negative: an outflow of half a cent has `amount_cents` -1 and
    `fraction_micros` 5000.
    """
    for each in links:
        ids = [one.meter_id for one in each.link.meter if meters is None or one.meter_id in meters]
        for day in each.days.values():
            state = "so_far" if day.open else "closed"
            of_day = {"day": str(day.first_day), "state": state, "link": each.link.id}
            for figure in _figures(day, ids):
                yield {**of_day, **figure}


def table_figures(
    links: Sequence[LinkScan], meters: Sequence[str] | None, table: str | None
) -> Iterator[Figure]:
    for figure in day_figures(links, meters):
        if figure["table"] and table in {None, figure["table"]}:
            yield figure


def win_figures(links: Sequence[LinkScan], meters: Sequence[str] | None) -> Iterator[Figure]:
    """Yield a row for each win that a floorperson decides, and for each Envy Bonus (duty D16).

    The rows of one hand follow each other, and share a `hand_record`.
    """
    for each in links:
        shown = [win for win in each.wins if meters is None or win.meter in meters]
        for hand in wins_by_hand(shown):
            for win in hand:
                yield {column: _win_cell(win, column) for column in WIN_COLUMNS}


def _figures(day: LinkDay, meters: Sequence[str]) -> Iterator[Figure]:
    for meter in meters:
        for name, pot in zip(("meter", "reserve", "overflow"), day.meter_pots(meter), strict=True):
            yield from _pot_figures(name, pot, meter)
        for name, (number, cents) in day.counts(meter).items():
            yield _figure(name, meter=meter, number=number, micros=cents * MICROS_PER_CENT)
    for name, of in (("house", HOUSE), ("waiting", CLAIMS), ("envy", ENVY), ("paid", PAID)):
        yield from _pot_figures(name, day.pot(of), "")
    yield from _of_tables(day, meters)
    for variance in day.variances:
        yield _figure(f"{_VARIANCE}{variance.of}", number=variance.read - variance.ledger)


def _of_tables(day: LinkDay, meters: Sequence[str]) -> Iterator[Figure]:
    for (table, meter), one in sorted(day.tables.items()):
        if meter in meters:
            for name, counted, amount in _OF_TABLES:
                number = getattr(one, counted) if counted else None
                unit = MICROS_PER_CENT if amount.endswith("_cents") else 1
                micros = getattr(one, amount) * unit
                yield _figure(name, meter=meter, table=table, number=number, micros=micros)
    for table, rounds in sorted(day.rounds.items()):
        for name in rounds.__slots__:
            yield _figure(f"table_{name}", table=table, number=getattr(rounds, name))


def _figure(
    name: str,
    *,
    meter: str = "",
    table: str = "",
    number: int | None = None,
    micros: int | None = None,
) -> Figure:
    cents, fraction = ("", "") if micros is None else divmod(micros, MICROS_PER_CENT)
    return {
        "meter": meter,
        "table": table,
        "figure": name,
        "count": "" if number is None else number,
        "amount_cents": cents,
        "fraction_micros": fraction,
    }


def _pot_figures(name: str, pot: AccountFlows, meter: str) -> Iterator[Figure]:
    yield _figure(f"{name}_opening", meter=meter, micros=pot.opening_micros)
    for flow, micros in pot.flows.items():
        yield _figure(f"{name}_{flow}", meter=meter, micros=micros)
    yield _figure(f"{name}_closing", meter=meter, micros=pot.closing_micros)


def _win_cell(win: Win, column: str) -> Cell:
    cell: Cell | date | None = getattr(win, column)
    if cell is None:
        return ""
    return cell if isinstance(cell, int) else str(cell)


FIGURE_SHEET: Final = (
    "gaming_day", "day_state", "link", "meter", "table", "figure", "count", "amount_dollars",
)  # fmt: skip
WIN_CELLS: Final = (
    "day", "at", "link", "table", "asset", "round", "hand_record", "hand_position", "payment",
    "position", "meter", "wager", "hand", "percent", "amount_cents", "paid_from", "state",
    "validated_by", "validated_at", "rejected_by", "rejection_requested_by", "rejected_at",
    "reason", "envy_taken_back_cents", "paid_by", "paid_at", "slip", "claim", "order",
)  # fmt: skip
"""The columns of a win's row that the spreadsheet has, in the order of the spreadsheet."""
_RENAMED: Final = {
    "day": "gaming_day",
    "at": "won_at",
    "asset": "asset_number",
    "position": "paid_position",
    "percent": "percent_of_meter",
    "reason": "rejection_reason",
    "slip": "slip_number",
    "order": "ledger_entry",
}


def figure_row(figure: Figure, _: ZoneInfo) -> SheetRow:
    """Return a spreadsheet row of the report `day`, `month` or `table`."""
    row: dict[str, SheetCell] = {"gaming_day": figure["day"], "day_state": figure["state"]}
    row |= {name: figure[name] for name in ("link", "meter", "table", "figure", "count")}
    row["amount_dollars"] = ""
    if isinstance(figure["amount_cents"], int):
        micros = int(figure["amount_cents"]) * MICROS_PER_CENT + int(figure["fraction_micros"])
        row["amount_dollars"] = Decimal(micros).scaleb(-6)
    name = str(figure["figure"])
    if name.startswith(_VARIANCE) and (places := places_of(name.removeprefix(_VARIANCE))):
        row |= {"count": "", "amount_dollars": Decimal(figure["count"]).scaleb(-places)}
    return row


def win_row(figure: Figure, zone: ZoneInfo) -> SheetRow:
    """Return a spreadsheet row of the report `jackpots`, with local times of the zone."""
    row: dict[str, SheetCell] = {}
    for column in WIN_CELLS:
        names, cell = sheet_names(column), figure[column]
        if len(names) > 1:
            row |= zip(names, time_cells(str(cell), zone), strict=True)
        else:
            row[names[0]] = Decimal(cell).scaleb(-2) if column.endswith("_cents") else cell
    return row


def sheet_names(column: str) -> tuple[str, ...]:
    """Return the spreadsheet columns for a column of the report's rows: three for a time."""
    name = _RENAMED.get(column, column)
    if name.endswith("_at"):
        return time_columns(name)
    return (name.replace("_cents", "_dollars"),)


WIN_SHEET: Final = tuple(name for column in WIN_CELLS for name in sheet_names(column))
