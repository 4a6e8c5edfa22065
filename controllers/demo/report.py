"""Output of a demonstration: its addresses, its progress, and its results."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bonus.display import exact_money, money
from controllers.demo.floor import PANEL_TABLE
from controllers.demo.rounds import ROUNDS_FILE, SETTLEMENTS_FILE, RoundFiles
from controllers.demo.service import AuditReport, MeterShown
from controllers.demo.table_books import TableBooks
from meters.floor.demonstration import PIN, users_text


def show_addresses(
    console: Console, base_url: str, panel_url: str, *, tables: int, stack_every: int
) -> None:
    """Print the addresses of the pages, and a notice that the floor is simulated."""
    # Each address has its own line and is never cut, so a person can click or copy it.
    for what, url in (
        ("Signage, for patrons", f"{base_url}/signage"),
        ("Floor, for floorpersons", f"{base_url}/floor"),
        (f"Panel of table {PANEL_TABLE}, to deal at", panel_url),
    ):
        console.print(f"{what}\n  ", Text(url, "bold"), sep="", soft_wrap=True)
    console.print(
        f"\nA simulated floor: {tables} tables with bot dealers and bot players, no money. One deck"
        f" in {stack_every} is stacked, so jackpots occur.",
    )


def show_users(console: Console, auto_floor_after_s: float | None) -> None:
    """Print the names for signing in, and say who validates the wins."""
    console.print(
        f"Sign in as {users_text()}, each with the PIN ",
        Text(PIN, "bold"),
        ": demonstration only.",
        sep="",
    )
    waits = "Wins wait for you. A hand pay needs two people: one validates it, and another pays it."
    if auto_floor_after_s is not None:
        waits = (
            f"A simulated floorperson validates a win after {auto_floor_after_s:.0f} s, and another"
            " pays it (with --no-auto-floor, you do it)."
        )
    console.print(f"{waits} Ctrl-C stops the demonstration.\n")


def progress_line(elapsed_s: float, books: TableBooks, meters: Sequence[MeterShown]) -> str:
    """Return the progress on one line."""
    highest = max(meters, key=lambda meter: meter.amount, default=None)
    top = f"; {highest.name} at {money(highest.amount)}" if highest else ""
    return (
        f"{_clock(elapsed_s)}  {books.rounds:,} rounds, {books.wagers:,} wagers,"
        f" {books.wins:,} wins{top}"
    )


def progress_view(
    elapsed_s: float, books: TableBooks, meters: Sequence[MeterShown]
) -> RenderableType:
    """Return the progress for a terminal: a line, and every meter."""
    table = Table(box=None, padding=(0, 2), show_header=False)
    for meter in meters:
        state = "" if meter.state == "open" else meter.state
        table.add_row(meter.link, meter.name, Text(money(meter.amount), justify="right"), state)
    line = (
        f"{_clock(elapsed_s)}  {books.rounds:,} rounds, {books.wagers:,} wagers,"
        f" {books.wins:,} wins"
    )
    return Group(Text(line), table)


def show_summary(console: Console, books: TableBooks, report: AuditReport) -> None:
    """Print the results of this run, the totals of the ledger, and whether the ledger balances."""
    ledger = report.totals
    table = Table("", "this run", "in the ledger", title="Summary", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("rounds", f"{books.rounds:,}", f"{ledger.rounds:,}")
    table.add_row("wagers", f"{books.wagers:,}", f"{ledger.wagers:,}")
    table.add_row("wagered", money(books.wagered_cents), money(ledger.wagered_cents))
    table.add_row(
        "contributions",
        exact_money(books.contributions_micros),
        exact_money(ledger.contributions_micros),
    )
    table.add_row("wins", f"{books.wins:,}", f"{ledger.wins:,}")
    table.add_row("won", money(books.won_cents), money(ledger.won_cents))
    console.print(table)
    if report.balanced:
        console.print(
            f"The ledger balances to the micro: {report.entries:,} entries replayed.",
            style="green",
        )
        return
    console.print("The ledger DOES NOT BALANCE:", style="bold red")
    for problem in report.problems:
        console.print(f"  {problem}", soft_wrap=True)


def show_rounds(console: Console, rounds: RoundFiles, data: Path) -> None:
    """Print whether second settlements agree with the service, and where the rounds are stored."""
    settled = f"{rounds.settled:,} rounds of all games were settled again from wagers and cards"
    if rounds.different:
        console.print(f"{settled}: {rounds.different:,} HAD A DIFFERENT RESULT.", style="bold red")
    else:
        console.print(f"{settled}, with the same results.", style="green")
    console.print(
        f"  pitlink settle < {quote(str(data / ROUNDS_FILE))}"
        f" | cmp - {quote(str(data / SETTLEMENTS_FILE))}",
        soft_wrap=True,
    )


def _clock(elapsed_s: float) -> str:
    minutes, seconds = divmod(int(elapsed_s), 60)
    return f"{minutes:02d}:{seconds:02d}"
