import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

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
    """Say where to look, who to be and, without a `tour`, what to try first."""
    # Each address has its own line and is never cut, so a person can click or copy it.
    for what, url in (
        ("The signage, as patrons see it", f"{base_url}/signage"),
        (f"The floor page: sign in as Flo, PIN {PUBLIC_PIN}", f"{base_url}/floor"),
        (f"The panel of {PANEL_TABLE}, where you deal", panel_url),
    ):
        console.print(f"{what}\n  ", Text(url, "bold"), sep="", soft_wrap=True)
    if tour:
        console.print(
            f"\nThe tour follows one jackpot at {PANEL_TABLE}. What you do yourself counts."
            " Ctrl-C ends it."
        )
        return
    validate = "validate it"
    if auto_floor_after_s is not None:
        validate += f" before a simulated colleague does, {auto_floor_after_s:.0f} s after the hit"
    console.print(
        f"\nTry first ({counted(tables, 'table')} with bots, no money):\n"
        "  1. Watch the signage until a table wins a jackpot.\n"
        f"  2. On the floor page, open the win, look at its cards and {validate}.\n"
        f"  3. At {PANEL_TABLE}, place a wager, lock out, count it, and deal a royal flush.\n"
        f"A hand pay needs a second person: {demonstration_users()} have the same PIN.\n"
        + ("Service, Redis and broker are killed in turn while the tables play.\n" if kill else "")
        + "Ctrl-C ends it, and shows whether every cent and every hand is right.\n"
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


def show_summary(console: Console, books: TableBooks, report: AuditReport) -> None:
    """Print this run and the ledger, where a wager counts for each meter that it feeds."""
    ledger = report.totals
    table = Table("", "this run", "in the ledger", box=None, padding=(0, 2, 0, 0))
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("rounds on meters", f"{books.rounds:,}", f"{ledger.rounds:,}")
    table.add_row("wagers on meters", f"{books.meter_wagers:,}", f"{ledger.wagers:,}")
    table.add_row(
        "wagered on meters", money(books.meter_wagered_cents), money(ledger.wagered_cents)
    )
    table.add_row(
        "contributions",
        exact_money(books.contributions_micros),
        exact_money(ledger.contributions_micros),
    )
    table.add_row("wins", f"{books.wins:,}", f"{ledger.wins:,}")
    table.add_row("won", money(books.won_cents), money(ledger.won_cents))
    console.print(table)
    console.print("\nWhat was proven:")
    if report.balanced:
        console.print(
            "  The ledger balances to the micro, a ten-thousandth of a cent: every balance in Redis"
            f" is exactly what its {report.entries:,} entries add up to.",
            style="green",
        )
        return
    console.print("  The ledger DOES NOT BALANCE:", style="bold red")
    for problem in report.problems:
        console.print(f"    {problem}", soft_wrap=True)


def show_kills(
    console: Console,
    kills: Mapping[str, int],
    books: TableBooks,
    before: LedgerTotals,
    after: LedgerTotals,
) -> bool:
    """Return whether this run's entries in the ledger add up to what the tables counted."""
    times = ", ".join(f"{name} {counted(number, 'time')}" for name, number in kills.items())
    in_ledger = (
        after.wagers - before.wagers,
        after.contributions_micros - before.contributions_micros,
        after.wins - before.wins,
        after.won_cents - before.won_cents,
    )
    wagers = books.meter_wagers
    kept = in_ledger == (wagers, books.contributions_micros, books.wins, books.won_cents)
    console.print(
        f"  Killed with kill -9: {times or 'nothing yet'}. "
        + (
            f"Each of the {counted(wagers, 'wager')} on meters and {counted(books.wins, 'win')}"
            " is in the ledger exactly once."
            if kept
            else "The ledger DOES NOT HAVE what the tables counted: compare the two columns."
        ),
        style="green" if kept else "bold red",
    )
    return kept


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
    """Return the command that runs this program, to be typed in the present directory."""
    program = Path(sys.argv[0]).absolute()
    on_path = shutil.which("pitlink")
    if on_path is not None and program.exists() and program.samefile(on_path):
        return "pitlink"
    if len(program.parts) > len(Path.cwd().parts) + 1 and program.is_relative_to(Path.cwd()):
        program = program.relative_to(Path.cwd())
    return quote(str(program))
