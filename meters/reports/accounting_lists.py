"""The lists of accounting reports: meters, tables, games, wins, acts and variances."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from datetime import date, datetime, timedelta
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

from bonus.display import (
    exact_money,
    hand_place,
    hand_words,
    item_words,
    money,
    part_of_meter,
    wager_text,
)
from bonus.wagers import MUST_HIT_BY
from meters.acts.act_rows import ActRow
from meters.floor.floor_file import Link, Meter
from meters.ledger.accounts import HOUSE, PAID
from meters.ledger.table_corrections import confirmed_by
from meters.reports.day_figures import LinkDay, Sums, TableFigures, TableRounds, places_of
from meters.reports.flows import CLAIMS, ENVY, AccountFlows, Flow
from meters.reports.report_document import Column, ReportSection, Row, columns
from meters.reports.win_book import Win, wins_by_hand

NOTHING: Final = "—"


def moved_money(micros: int) -> str:
    return exact_money(micros) if micros else NOTHING


def count(number: int) -> str:
    return f"{number:,}"


def day_words(day: date) -> str:
    """Return a date in words, with its weekday.

    >>> day_words(date(2026, 3, 8))
    'Sunday, March 8, 2026'
    """
    return f"{day:%A, %B} {day.day}, {day.year}"


def moment(at: str | datetime, zone: ZoneInfo) -> str:
    """Return the text of a time in the facility's time zone. As text, `at` is in RFC 3339.

    >>> moment("2026-03-08T10:00:00.000Z", ZoneInfo("America/New_York"))
    '2026-03-08 06:00:00 EDT (UTC-04:00)'
    """
    local = (datetime.fromisoformat(at) if isinstance(at, str) else at).astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S %Z} (UTC{local.isoformat()[-6:]})"


def short_moment(at: str, zone: ZoneInfo) -> str:
    """Return the text of a time without the UTC offset. Reports show the offset above their lists.

    >>> short_moment("2026-11-01T05:30:00.000Z", ZoneInfo("America/New_York"))
    '2026-11-01 01:30:00 EDT'
    """
    return moment(at, zone).partition(" (")[0] if at else ""


def lasted(since: str, until: str) -> str:
    """Return the duration between two times as text.

    >>> lasted("2026-11-20T02:00:00Z", "2026-11-20T04:02:05Z")
    '2:02:05'
    """
    duration = datetime.fromisoformat(until) - datetime.fromisoformat(since)
    return str(timedelta(seconds=max(0, round(duration.total_seconds()))))


_METER_FLOWS: Final = (
    Flow.CONTRIBUTIONS, Flow.VOIDED, Flow.SEEDS, Flow.RESEEDS, Flow.FROM_RESERVE,
    Flow.FROM_OVERFLOW, Flow.PERCENTAGES, Flow.REJECTED, Flow.ADJUSTED_UP, Flow.ADJUSTED_DOWN,
)  # fmt: skip
_HOUSE_FLOWS: Final = (
    Flow.SEEDS, Flow.RESEEDS, Flow.VOIDED_BY_HOUSE, Flow.ODDS, Flow.PERCENTAGES, Flow.PAID,
    Flow.REJECTED, Flow.ENVY_BACK, Flow.ADJUSTED_UP, Flow.ADJUSTED_DOWN,
)  # fmt: skip
ROUNDS_TITLE: Final = "Rounds with a progressive wager"

Figures = TypeVar("Figures", bound=Sums)

_HOLDS: Final = "The opening and the movements give the closing."
_HOLDS_NOT: Final = "THE OPENING AND THE MOVEMENTS DO NOT GIVE THE CLOSING."


def meter_sections(meter: Meter, day: LinkDay) -> list[ReportSection]:
    """Make two lists for a meter (D2, D19): one of its money, and one of its accounting meters."""
    stake = " or ".join(map(wager_text, sorted(meter.wagers_cents)))
    if hit_by := meter.must_hit_by:
        stake = f"must hit by {money(hit_by.maximum)}"
    named = f"{meter.title} ({meter.meter_id}), {stake}"
    pots = day.meter_pots(meter.meter_id)
    moved = _pots_section(named, ("Meter", "Reserve", "Overflow"), pots, _METER_FLOWS)
    counts = day.counts(meter.meter_id)
    counts["won_at_odds"] = (
        day.rose("wins", meter.meter_id) - day.rose("hits", meter.meter_id),
        counts["wins"][1] - counts["hits"][1],
    )
    rows = [
        (words, "" if number is None else count(number), money(cents))
        for name, words in _COUNT_WORDS.items()
        for number, cents in (counts[name],)
        if number or cents
    ]
    none = _none_of([words for name, words in _COUNT_WORDS.items() if not any(counts[name])])
    return [moved, ReportSection("", _COUNT_COLUMNS, rows, note=none)]


_COUNT_COLUMNS: Final = columns("Accounting meters 3 | >Number 1 | >Amount 2")
_COUNT_WORDS: Final = {
    "wagers_accepted": "Wagers accepted",
    "wagers_voided": "Of these in void rounds or taken back",
    "hits": "Hits: percentages of the meter won",
    "won_at_odds": "Won at odds, with Envy Bonuses",
    "rejected": "Rejected by floorpersons",
    "reopened": "Of these reopened on the same day",
    "envy_owed": "Envy Bonuses of the day, owed until somebody has paid them",
    "envy_taken_back": "Envy Bonuses found not to be due",
    "envy_reopened": "Envy Bonuses reopened with their win",
    "paid_at_table": "Paid at the table",
    "paid_by_hand": "Paid by hand",
    "waiting_at_close": "Waiting for a floorperson at the close",
    "envy_pending_at_close": "Envy Bonuses at the close whose win is not decided",
    "envy_to_pay_at_close": "Envy Bonuses at the close that are validated and not paid",
}


def money_section(day: LinkDay) -> ReportSection:
    pots = [day.pot(name) for name in (HOUSE, CLAIMS, ENVY, PAID)]
    title = "House, wins that wait, Envy Bonuses that are owed, and paid"
    return _pots_section(title, ("House", "Waiting", "Envy owed", "Paid"), pots, _HOUSE_FLOWS)


def _pots_section(
    title: str, names: Sequence[str], pots: Sequence[AccountFlows], usual: Collection[Flow]
) -> ReportSection:
    moved = [flow for flow in Flow if any(pot.flows.get(flow) for pot in pots)]
    rows = [
        ("Opening", *(exact_money(pot.opening_micros) for pot in pots)),
        *((flow.words, *(moved_money(pot.flows.get(flow, 0)) for pot in pots)) for flow in moved),
        ("Closing", *(exact_money(pot.closing_micros) for pot in pots)),
    ]
    header = columns(" | ".join(["3", *(f">{name} 2" for name in names)]))
    none = _none_of([flow.words for flow in usual if flow not in moved])
    return ReportSection(title, header, rows, 1, f"{held(pots)} {none}".strip())


def held(pots: Sequence[AccountFlows]) -> str:
    return _HOLDS if all(pot.balanced for pot in pots) else _HOLDS_NOT


def _none_of(words: Sequence[str]) -> str:
    plain = (each if each.startswith("Envy") else each[0].lower() + each[1:] for each in words)
    return f"None: {'; '.join(plain)}." if words else ""


TABLE_COLUMNS: Final = columns(
    "Table 1.4 | Asset 1.2 | Meter 3.1 | >Wagers 1 | >Wagered 1.6 | >Contributed 2"
    " | >Off for voids 1.9 | >Wins 0.8 | >Won 1.8 | >Rejected 1.5"
)


def tables_section(link: Link, day: LinkDay, meters: Sequence[str]) -> ReportSection:
    assets = {table.id: table.asset for table in link.table}
    figures = [
        ((table, assets.get(table, NOTHING), meter), figures)
        for (table, meter), figures in sorted(day.tables.items())
        if meter in meters
    ]
    section = summed_section("By table", TABLE_COLUMNS, figures, TableFigures(), table_cells)
    return replace(section, note=note_of_tiers(link))


def games_section(link: Link, day: LinkDay, meters: Sequence[str]) -> list[ReportSection]:
    """List the figures of each game, if the link has several games in the present floor file."""
    titles = {table.id: table.chapter.title for table in link.table}
    if len({*titles.values()}) < 2:
        return []
    figures: dict[tuple[str, str], TableFigures] = {}
    for (table, meter), one in day.tables.items():
        if meter in meters:
            game = titles.get(table, NOTHING)
            figures.setdefault((game, meter), TableFigures()).add(one)
    header = (*columns("Game 2.6"), *TABLE_COLUMNS[2:])
    listed = sorted(figures.items(), key=lambda item: item[0])
    section = summed_section("By game", header, listed, TableFigures(), table_cells)
    return [replace(section, note=note_of_tiers(link))]


def note_of_tiers(link: Link) -> str:
    """Return a note about the sums; empty if no wager of the link feeds several meters."""
    tiers = any(len(wager.fed) > 1 for table in link.table for wager in table.chapter.wager)
    if tiers or len(link.hand_meters) < len(link.meter):
        return (
            "A wager that feeds several meters is counted for each of them. So the sums of all"
            " meters count such a wager several times."
        )
    return ""


def summed_section(
    title: str,
    header: Sequence[Column],
    listed: Sequence[tuple[Row, Figures]],
    total: Figures,
    cells: Callable[[Figures], Row],
) -> ReportSection:
    rows = [(*names, *cells(figures)) for names, figures in listed]
    if not listed:
        return ReportSection(title, header, rows)
    for _, figures in listed:
        total.add(figures)
    blanks = [""] * (len(listed[0][0]) - 1)
    return ReportSection(title, header, [*rows, ("All", *blanks, *cells(total))], 1)


def table_cells(figures: TableFigures) -> tuple[str, ...]:
    return (
        count(figures.wagers),
        money(figures.wagered_cents),
        exact_money(figures.contributed_micros),
        moved_money(-figures.voided_micros),
        count(figures.wins),
        money(figures.won_cents),
        money(figures.rejected_cents - figures.reopened_cents),
    )


def rounds_section(day: LinkDay) -> ReportSection:
    played = [((table,), one) for table, one in sorted(day.rounds.items())]
    header = columns(
        "Table 2 | >Rounds 1 | >Voided 1 | >Of these after cards 1.5 | >Hands entered again 1.5"
        " | >Hands declared to win nothing 1.5 | >Wagers corrected 1.5"
    )
    return summed_section(ROUNDS_TITLE, header, played, TableRounds(), round_cells)


def round_cells(rounds: TableRounds) -> tuple[str, ...]:
    return tuple(map(count, astuple(rounds)))


_ENTERED: Final[Mapping[str, str]] = {
    "void": "void", "result": "entered again", "correct_wager": "wager",
}  # fmt: skip


def entered_section(day: LinkDay, zone: ZoneInfo) -> ReportSection:
    rows = [
        (
            f"{short_moment(row.at, zone)}, entry {row.entry}",
            row.table,
            _ENTERED[row.what],
            f"{row.told}; confirmed by {confirmed_by(row.by) or 'nobody'}",
        )
        for row in sorted(day.entered, key=lambda row: (row.table, row.entry))
    ]
    title = "Voids after cards, hands entered again, wagers corrected"
    return ReportSection(title, columns("At 2.2 | Table 1.2 | What 1.2 | 6.4"), rows)


_WIN_COLUMNS: Final = columns(
    "Won at, order 2.1 | Table, asset 1.3 | >Pos. 0.55 | Wager and hand 2.4 | >Amount 1.6"
    " | State 1.1 | Validated or rejected 2.3 | Paid, slip 2.1"
)


def wins_section(
    title: str, wins: Sequence[Win], zone: ZoneInfo, titles: Mapping[str, str]
) -> ReportSection:
    """List the hands that won, with all the details of duty D16.

    Each hand has one record, with a line for each percentage of a meter, each fixed amount and each
    Envy Bonus. If the record has several lines, a line with their sum comes first.
    """
    rows = [row for hand in wins_by_hand(wins) for row in _hand_rows(hand, zone, titles)]
    decided = [win for win in wins if win.envy_of is None]
    envy = [win for win in wins if win.envy_of is not None]
    sums = [*_sum_rows("Wins", decided), *_sum_rows("Envy Bonuses", envy)]
    return ReportSection(title, _WIN_COLUMNS, [*rows, *sums], len(sums))


def _hand_rows(
    hand: Sequence[Win], zone: ZoneInfo, titles: Mapping[str, str]
) -> Iterator[tuple[str, ...]]:
    rows = [_win_row(win, zone, titles) for win in hand]
    if len(rows) == 1:
        yield rows[0]
        return
    first = hand[0]
    due = [win for win in hand if win.state != "rejected"]
    words = f"Position {first.hand_position}, round {first.round or NOTHING}, {len(hand)} lines"
    if len(due) < len(hand):
        words += f", {len(hand) - len(due)} of them rejected and not in the sum"
    total = money(sum(win.amount_cents for win in due))
    position = str(first.hand_position or "")
    yield (*rows[0][:2], position, words, total, "", "", "")
    for row in rows:
        yield ("", "", *row[2:])


def _sum_rows(what: str, wins: Sequence[Win]) -> Iterator[tuple[str, ...]]:
    counted = [(state, [win for win in wins if _state(win) == state]) for state in _STATES]
    for words, those in (*counted, ("in all", wins)):
        if those:
            cents = sum(win.amount_cents for win in those)
            yield (f"{what}: {len(those)} {words}", "", "", "", money(cents), "", "", "")


_STATES: Final = ("pending", "validated, to be paid", "paid", "rejected")


def _state(win: Win) -> str:
    # A win that needs no record of payment is paid when it is validated.
    if win.state != "validated":
        return win.state
    return "validated, to be paid" if win.to_be_paid else "paid"


def _win_row(win: Win, zone: ZoneInfo, titles: Mapping[str, str]) -> tuple[str, ...]:
    share = part_of_meter(win.percent, win.wager) if win.percent else "at odds"
    if win.envy_of is not None:
        share = f"for the hand of position {win.envy_of}"
    elif win.hand_of is not None:
        share = f"{share}, for the hand of {hand_place(win.hand_of, win.hand_table)}"
    item = item_words(win.wager, titles)
    description = f"{item}: {hand_words(win.hand)}, {share}"
    if win.hand == MUST_HIT_BY:
        description = f"{item}: must-hit-by meter {win.meter}"
    if not win.order:
        description = f"{item}, won before the first entry that was read"
    by, at = win.validated_by or win.rejected_by, win.validated_at or win.rejected_at
    decided = [f"{by}, {short_moment(at, zone)}"] if by else []
    if win.rejection_requested_by:
        decided.append(f"requested by {win.rejection_requested_by}")
    paid = [f"{win.paid_by}, {short_moment(win.paid_at, zone)}"] if win.paid_by else []
    return (
        f"{short_moment(win.at, zone)}, entry {win.order}" if win.order else NOTHING,
        f"{win.table}, {win.asset or NOTHING}",
        str(win.position),
        description,
        money(win.amount_cents),
        win.state,
        "; ".join([*decided, *filter(None, [win.reason])]),
        "; ".join([*paid, *([f"slip {win.slip}"] if win.slip else [])]) or _paid_where(win),
    )


def _paid_where(win: Win) -> str:
    at_table = win.state == "paid" if win.envy_of is not None else win.state == "validated"
    return "at the table" if at_table and win.decided else ""


def acts_section(title: str, acts: Sequence[ActRow], zone: ZoneInfo) -> ReportSection:
    """List what people did: a row for each act, with the name of the person (duty D17)."""
    rows = [
        (f"{short_moment(act.at, zone)}, entry {act.entry}", act.by, act.what, act.told)
        for act in acts
    ]
    return ReportSection(title, columns("At 2.2 | By 1.6 | What 1.4 | 6"), rows)


def act_sections(day: LinkDay, zone: ZoneInfo) -> list[ReportSection]:
    adjusted = [act for act in day.acts if act.what == "adjust"]
    promoted = [act for act in day.acts if act.what == "promotion"]
    others = [act for act in day.acts if act.what not in {"adjust", "promotion"}]
    return [
        acts_section("Adjustments", adjusted, zone),
        *([acts_section("Promotions", promoted, zone)] if promoted else []),
        acts_section(
            "Seeds, parameters, approvals, restores, link closed and opened", others, zone
        ),
        _outages_section(day, zone),
        _variances_section(day),
    ]


def _outages_section(day: LinkDay, zone: ZoneInfo) -> ReportSection:
    rows = [
        (
            short_moment(one.outage.since, zone),
            short_moment(one.outage.until, zone),
            lasted(one.outage.since, one.outage.until),
            "; ".join(one.outage.reasons)
            + (f" ({one.outage.times} times)" if one.outage.times > 1 else ""),
        )
        for one in day.outages
    ]
    return ReportSection("Inoperable", columns("Since 2 | Until 2 | Lasted 1 | Why 5"), rows)


def _variances_section(day: LinkDay) -> ReportSection:
    rows = [
        (one.of, *(_in_unit(one.of, of) for of in (one.read, one.ledger, one.read - one.ledger)))
        for one in day.variances
    ]
    unread = "The day is not closed: its meters have not been read." if day.open else ""
    quiet = "No service ran that day, and nothing was read." if day.quiet else ""
    return ReportSection(
        "Variance between the meters as read at the close and the ledger",
        columns("Account or accounting meter 3 | >Read 2 | >Ledger 2 | >Variance 2"),
        rows,
        note=unread or quiet,
    )


def _in_unit(name: str, number: int) -> str:
    places = places_of(name)
    return f"{number:,}" if places is None else exact_money(number * 10 ** (6 - places))
