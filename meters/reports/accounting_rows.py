"""The rows of a report for other programs, and the same rows for a spreadsheet.

For programs, columns are fixed and amounts are integers. A spreadsheet has dollars, local times and
names in full. Each of its times has three columns: the time by the facility's clock, the offset of
this clock from UTC, and the time in UTC. A spreadsheet program recognizes both times as dates.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from bonus.wagers import MICROS_PER_CENT
from meters.ledger.accounts import HOUSE, PAID
from meters.reports.flows import CLAIMS, ENVY, AccountFlows
from meters.reports.gaming_days import LinkDay, UnpaidEnvy, WaitingWins
from meters.reports.ledger_scan import LinkScan
from meters.reports.win_book import Win, wins_by_hand

Cell = str | int
Figure = Mapping[str, Cell]

FIGURE_COLUMNS: Final = (
    "day", "state", "link", "meter", "table", "figure", "count", "amount_cents", "fraction_micros",
)  # fmt: skip
WIN_COLUMNS: Final = (
    "day", "at", "link", "order", "claim", "table", "asset", "round", "position", "meter",
    "wager", "hand", "percent", "amount_cents", "paid_from", "state", "validated_by",
    "validated_at", "rejected_by", "rejection_requested_by", "rejected_at", "reason",
    "envy_taken_back_cents", "paid_by", "paid_at", "slip", "envy_of", "hand_record",
    "hand_position", "payment",
)  # fmt: skip
_WIN_FIELDS: Final = {
    "wager": "item", "amount_cents": "cents", "envy_taken_back_cents": "envy_back_cents",
}  # fmt: skip
"""The columns whose names differ from the names of the fields of `Win`."""

_POTS: Final = ("meter", "reserve", "overflow")
_COUNTED: Final = (
    ("wagers_accepted", "wagers", "wagered_cents"),
    ("wagers_voided", "voided_wagers", "voided_cents"),
    ("wins", "wins", "won_cents"),
    ("rejected", "rejected", "rejected_cents"),
    ("reopened", "reopened", "reopened_cents"),
    ("envy_owed", "", "envy_owed_cents"),
    ("envy_taken_back", "", "envy_taken_back_cents"),
    ("envy_reopened", "", "envy_reopened_cents"),
    ("paid_at_table", "", "table_paid_cents"),
    ("paid_by_hand", "", "hand_paid_cents"),
)


def day_figures(links: Sequence[LinkScan], meters: Sequence[str] | None) -> Iterator[Figure]:
    """Yield all figures of all days: balances, flows, accounting meters, tables and variances.

    An amount is the sum of `amount_cents` and `fraction_micros`, in ten-thousandths of a cent. The
    fraction is never negative, so an outflow of half a cent has `amount_cents` -1 and
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

    The rows of one hand follow each other, and have the same `hand_record`.
    """
    for each in links:
        shown = [win for win in each.wins if meters is None or win.meter in meters]
        for hand in wins_by_hand(shown):
            for win in hand:
                yield {column: _win_cell(win, column) for column in WIN_COLUMNS}


def _figures(day: LinkDay, meters: Sequence[str]) -> Iterator[Figure]:
    for meter in meters:
        for name, pot in zip(_POTS, day.meter_pots(meter), strict=True):
            yield from _pot_figures(name, pot, meter)
        yield from _counts(day, meter)
    for name, of in (("house", HOUSE), ("waiting", CLAIMS), ("envy", ENVY), ("paid", PAID)):
        yield from _pot_figures(name, day.pot(of), "")
    yield from _of_tables(day, meters)
    for one in day.variances:
        yield _figure(f"variance_of_{one.of}", number=one.read - one.ledger)


def _figure(
    name: str, *, meter: str = "", table: str = "", number: int | None = None,
    micros: int | None = None,
) -> Figure:  # fmt: skip
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


def _counts(day: LinkDay, meter: str) -> Iterator[Figure]:
    for name, tally, of_cents in _COUNTED:
        number = day.rose(tally, meter) if tally else None
        cents = day.rose(of_cents, meter)
        yield _figure(name, meter=meter, number=number, micros=cents * MICROS_PER_CENT)
    hits, won_cents = day.rose("hits", meter), day.percentages_cents(meter)
    yield _figure("hits", meter=meter, number=hits, micros=won_cents * MICROS_PER_CENT)
    waiting = day.waiting.get(meter, WaitingWins())
    micros = waiting.cents * MICROS_PER_CENT
    yield _figure("waiting_at_close", meter=meter, number=waiting.wins, micros=micros)
    envy = day.envy.get(meter, UnpaidEnvy())
    for name, owed in (("pending", envy.pending), ("to_pay", envy.validated)):
        micros = owed.cents * MICROS_PER_CENT
        yield _figure(f"envy_{name}_at_close", meter=meter, number=owed.wins, micros=micros)


def _of_tables(day: LinkDay, meters: Sequence[str]) -> Iterator[Figure]:
    for (table, meter), one in sorted(day.tables.items()):
        if meter not in meters:
            continue
        for name, number, micros in (
            ("table_wagers", one.wagers, one.wagered_cents * MICROS_PER_CENT),
            ("table_contributed", None, one.contributed_micros),
            ("table_wagers_voided", one.voided_wagers, one.voided_cents * MICROS_PER_CENT),
            ("table_contributions_voided", None, one.voided_micros),
            ("table_wins", one.wins, one.won_cents * MICROS_PER_CENT),
            ("table_rejected", one.rejected, one.rejected_cents * MICROS_PER_CENT),
            ("table_reopened", one.reopened, one.reopened_cents * MICROS_PER_CENT),
        ):
            yield _figure(name, meter=meter, table=table, number=number, micros=micros)
    for table, rounds in sorted(day.rounds.items()):
        for name, number in (
            ("table_rounds", rounds.rounds),
            ("table_rounds_voided", rounds.voids),
            ("table_rounds_voided_after_cards", rounds.voids_after_cards),
            ("table_hands_entered_again", rounds.reentered),
            ("table_hands_declared_no_win", rounds.declared),
            ("table_wagers_corrected", rounds.corrected),
        ):
            yield _figure(name, table=table, number=number)


def _win_cell(win: Win, column: str) -> Cell:
    cell: Cell | date | None = getattr(win, _WIN_FIELDS.get(column, column))
    if cell is None:
        return ""
    return cell if isinstance(cell, int) else str(cell)


SheetCell = Cell | Decimal
SheetRow = Mapping[str, SheetCell]

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
_COUNTS: Final = frozenset({"wagers", "voided_wagers", "wins", "hits", "rejected"})
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
        if kind not in _COUNTS:
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
