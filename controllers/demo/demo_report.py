import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

from msgspec.structs import astuple
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bonus.display import exact_money, money
from controllers.demo.bot_tables import TableBooks, counted
from controllers.demo.demo_floor import FLOOR_FILE, PANEL_TABLE
from controllers.demo.demo_service import AuditReport, LedgerTotals, MeterShown
from controllers.demo.resettlement import ROUNDS_FILE, SETTLEMENTS_FILE, RoundFiles
from meters.floor.facility import PUBLIC_PIN, demonstration_users


def show_welcome(
    console: Console,
    base_url: str,
    panel_url: str,
    *,
    tables: int,
    auto_floor_after_s: float | None,
    tour: bool,
    kill: bool,
) -> None:
    """Say where to look, how to sign in and, without a `tour`, what to try first."""
    # Each address has its own line and is never cut, so that a person can click or copy it.
    for what, url in (
        ("The signage, as patrons see it", f"{base_url}/signage"),
        (f"The floor page: sign in as Flo, PIN {PUBLIC_PIN}", f"{base_url}/floor"),
        (f"The panel of {PANEL_TABLE}, where you deal", panel_url),
    ):
        console.print(f"{what}\n  ", Text(url, "bold"), sep="", soft_wrap=True)
    if tour:
        console.print(
            f"\nThe tour follows one jackpot at {PANEL_TABLE}. If you take a step"
            " yourself, the tour goes on from there. Ctrl-C ends the demonstration."
        )
        return
    validate = "validate it"
    if auto_floor_after_s is not None:
        validate += f" before a simulated colleague does, {auto_floor_after_s:.0f} s after the hit"
    console.print(
        f"\nTry first ({counted(tables, 'table')} with bots, no money):\n"
        "  1. Watch the signage until a table wins a jackpot.\n"
        f"  2. On the floor page, open the win, look at its cards and {validate}.\n"
        f"  3. At {PANEL_TABLE}, place a wager, lock out, count the chip, and deal a royal flush.\n"
        f"A hand pay needs a second person: {demonstration_users()} have the same PIN.\n"
        + ("Service, Redis and broker are killed in turn while the tables play.\n" if kill else "")
        + "Ctrl-C ends the demonstration, and shows whether every cent and every hand is right.\n"
    )


def progress_line(elapsed_s: float, books: TableBooks, meters: Sequence[MeterShown]) -> str:
    highest = max(meters, key=lambda meter: meter.amount, default=None)
    top = f"; {highest.name} at {money(highest.amount)}" if highest else ""
    minutes, seconds = divmod(int(elapsed_s), 60)
    return (
        f"{minutes:02d}:{seconds:02d}  {counted(books.rounds, 'round')},"
        f" {counted(books.wagers, 'wager')}, {counted(books.wins, 'win')}{top}"
    )


def progress_view(
    elapsed_s: float, books: TableBooks, meters: Sequence[MeterShown]
) -> RenderableType:
    table = Table(box=None, padding=(0, 2), show_header=False)
    for meter in meters:
        state = "" if meter.state == "open" else meter.state
        table.add_row(meter.link, meter.name, Text(money(meter.amount), justify="right"), state)
    return Group(Text(progress_line(elapsed_s, books, ())), table)


def show_summary(
    console: Console,
    books: TableBooks,
    before: LedgerTotals,
    report: AuditReport,
    kills: Mapping[str, int] | None,
) -> bool:
    """Print the totals of this run beside those of the ledger.

    Return whether the ledger balances and, after kills, has what the tables counted. `kills` says
    how often each process was killed; None if the run had no kills.
    """
    after = report.totals
    new = LedgerTotals(
        *(end - begin for end, begin in zip(astuple(after), astuple(before), strict=True))
    )
    table = Table("", "tables", "new in ledger", "whole ledger", box=None, padding=(0, 2, 0, 0))
    for column in table.columns[1:]:
        column.justify = "right"
    for row, shown, counts in (
        ("rounds on meters", _number, (books.rounds, new.rounds, after.rounds)),
        ("wagers, once per meter", _number, (books.meter_wagers, new.wagers, after.wagers)),
        (
            "wagered, once per meter",
            money,
            (books.meter_wagered_cents, new.wagered_cents, after.wagered_cents),
        ),
        (
            "contributions",
            exact_money,
            (books.contributions_micros, new.contributions_micros, after.contributions_micros),
        ),
        ("wins", _number, (books.wins, new.wins, after.wins)),
        ("won", money, (books.won_cents, new.won_cents, after.won_cents)),
    ):
        table.add_row(row, *map(shown, counts))
    console.print(table)
    console.print("\nWhat was proven:")
    kept = kills is None or _show_kills(console, books, new, kills)
    if report.balanced:
        console.print(
            "  The ledger balances to the micro, a ten-thousandth of a cent: every balance in Redis"
            f" is exactly what its {report.entries:,} entries add up to.",
            style="green",
        )
    else:
        console.print("  The ledger DOES NOT BALANCE:", style="bold red")
        for problem in report.problems:
            console.print(f"    {problem}", soft_wrap=True)
    return kept and report.balanced


def _show_kills(
    console: Console, books: TableBooks, new: LedgerTotals, kills: Mapping[str, int]
) -> bool:
    counted_here = (
        books.rounds,
        books.meter_wagers,
        books.meter_wagered_cents,
        books.contributions_micros,
        books.wins,
        books.won_cents,
    )
    kept = astuple(new) == counted_here
    killed = ", ".join(f"{name} {counted(number, 'time')}" for name, number in kills.items())
    if kept:
        verdict = (
            f"The tables accepted {counted(books.wagers, 'wager')}, which feed meters"
            f" {counted(books.meter_wagers, 'time')}. The ledger has each exactly once."
        )
    else:
        verdict = "The ledger DOES NOT HAVE what the tables counted: compare the columns."
    console.print(
        f"  Killed by kill -9: {killed or 'nothing yet'}. {verdict}",
        style="green" if kept else "bold red",
    )
    return kept


def _number(value: int) -> str:
    return f"{value:,}"


def show_rounds(console: Console, rounds: RoundFiles, data: Path) -> None:
    settled = counted(rounds.settled, "round")
    if rounds.different:
        found = f"  Of {settled} settled again, {rounds.different:,} HAD A DIFFERENT RESULT."
        console.print(found, style="bold red")
    else:
        console.print(
            f"  {settled} settled again from their wagers and cards, with the same results to the"
            " cent.",
            style="green",
        )
    console.print("\nTo compare the results yourself (this prints nothing if they are equal):")
    console.print(
        f"  {_own_command()} settle --config {quote(str(data / FLOOR_FILE))}"
        f" < {quote(str(data / ROUNDS_FILE))}"
        f" | cmp - {quote(str(data / SETTLEMENTS_FILE))}",
        soft_wrap=True,
    )


def _own_command() -> str:
    program = Path(sys.argv[0]).absolute()
    on_path = shutil.which("pitlink")
    if on_path is not None and program.exists() and program.samefile(on_path):
        return "pitlink"
    if len(program.parts) > len(Path.cwd().parts) + 1 and program.is_relative_to(Path.cwd()):
        program = program.relative_to(Path.cwd())
    return quote(str(program))
