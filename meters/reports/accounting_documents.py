"""The accounting reports for people: about a day, a month, the jackpots, or the tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from typing import Final
from zoneinfo import ZoneInfo

from bonus.display import exact_money, money
from meters.floor.facility import DEMONSTRATION_MARK, GamingDays
from meters.floor.floor_file import Floor, Meter
from meters.ledger.accounts import meter_account, overflow_account, reserve_account
from meters.reports import accounting_lists as lists
from meters.reports.day_figures import LinkDay, TableFigures, TableRounds
from meters.reports.flows import CLAIMS, ENVY, Flow
from meters.reports.ledger_scan import LedgerScan, LinkScan
from meters.reports.report_document import (
    Fact,
    ReportDocument,
    ReportPart,
    ReportSection,
    Row,
    columns,
    in_cents,
)
from meters.reports.win_book import Win

SO_FAR: Final = "SO FAR"
DOES_NOT_TIE: Final = "DOES NOT TIE"


@dataclass(frozen=True, slots=True)
class _LinkView:
    scan: LinkScan
    span: LinkDay
    meters: Sequence[Meter]
    ids: Sequence[str]
    zone: ZoneInfo

    @property
    def titles(self) -> Mapping[str, str]:
        return self.scan.link.titles


def day_document(floor: Floor, found: LedgerScan, meters: Sequence[str] | None) -> ReportDocument:
    """Make the report of a gaming day, with everything that changed each meter (duty D19)."""

    def sections(of: _LinkView) -> list[ReportSection]:
        day, zone = of.span, of.zone
        return [
            *(section for meter in of.meters for section in lists.meter_sections(meter, day)),
            *_play_sections(of),
            lists.wins_section("Hands that won on the day", _of(day.wins, of.ids), zone, of.titles),
            lists.wins_section(
                "Hands that won on earlier days and were decided on this day",
                _of(day.decided, of.ids),
                zone,
                of.titles,
            ),
            *lists.act_sections(day, zone),
        ]

    return _document(floor, found, meters, "Gaming day", sections, summary=_summary_sections)


def _summary_sections(views: Sequence[_LinkView]) -> list[ReportSection]:
    rows = [
        (of.scan.link.id, meter.title, *_money_cells(meter.meter_id, of.span))
        for of in views
        for meter in of.meters
    ]
    pots = [of.span.pot(meter_account(meter)) for of in views for meter in of.ids]
    header = columns(f"Link 1.1 | Meter 1.8 | {_MONEY_COLUMNS}")
    meters = ReportSection("Meters", header, rows, note=lists.held(pots))
    return [_if_promoted(meters), _played(views), _liability(views)]


def _played(views: Sequence[_LinkView]) -> ReportSection:
    days = [of.span for of in views]

    def risen(tally: str) -> int:
        return sum(day.rose(tally, meter) for of in views for day in [of.span] for meter in of.ids)

    rounds = sum(one.rounds for day in days for one in day.rounds.values())
    voided = sum(one.rounds_voided for day in days for one in day.rounds.values())
    rows = [
        ("Rounds with a progressive wager", lists.count(rounds), ""),
        ("Rounds voided", lists.count(voided), ""),
        ("Wagers accepted", lists.count(risen("wagers")), money(risen("wagered_cents"))),
        ("Wins", lists.count(risen("wins")), money(risen("won_cents"))),
        (
            "Rejected less reopened, of these and of earlier wins",
            lists.count(risen("rejected") - risen("reopened")),
            money(risen("rejected_cents") - risen("reopened_cents")),
        ),
        ("Paid at the table", "", money(risen("table_paid_cents"))),
        ("Paid by hand", "", money(risen("hand_paid_cents"))),
    ]
    note = next(filter(None, (lists.note_of_tiers(of.scan.link) for of in views)), "")
    return ReportSection("Played", columns("3 | >Number 1 | >Amount 2"), rows, note=note)


def _liability(views: Sequence[_LinkView]) -> ReportSection:
    closing = [
        (words, sum(of.span.pot(name(meter)).closing_micros for of in views for meter in of.ids))
        for words, name in (
            ("Meters", meter_account),
            ("Reserves", reserve_account),
            ("Overflow", overflow_account),
        )
    ]
    closing += [
        (words, sum(of.span.pot(pot).closing_micros for of in views))
        for words, pot in (("Wins that wait", CLAIMS), ("Envy Bonuses that are owed", ENVY))
    ]
    total = sum(micros for _, micros in closing)
    rows = [(words, exact_money(micros)) for words, micros in closing if micros]
    every = [*rows, ("All", exact_money(total))]
    return ReportSection(
        "What the house owes at the close", columns("3 | >Amount 2"), every, sums=1
    )


def month_document(floor: Floor, found: LedgerScan, meters: Sequence[str] | None) -> ReportDocument:
    def sections(of: _LinkView) -> list[ReportSection]:
        listed = []
        for meter in of.meters:
            title = f"{meter.title} ({meter.meter_id}): the meter, day by day"
            money_cells = partial(_money_cells, meter.meter_id)
            listed += [
                _if_promoted(_by_day(title, f"Day 1.1 | {_MONEY_COLUMNS}", of, money_cells)),
                _by_day(
                    f"{meter.title}: the accounting meters, day by day",
                    _COUNTS_HEADER,
                    of,
                    partial(_count_cells, meter.meter_id),
                ),
                *lists.meter_sections(meter, of.span),
            ]
        return [*listed, *_play_sections(of), *lists.act_sections(of.span, of.zone)]

    return _document(floor, found, meters, "Month", sections, wide=True)


def jackpots_document(
    floor: Floor, found: LedgerScan, meters: Sequence[str] | None
) -> ReportDocument:
    """Make the report of hands that won, one record for each hand (duty D16).

    The report has each win that a floorperson decides, and each Envy Bonus, in its present state.
    """

    def sections(of: _LinkView) -> list[ReportSection]:
        wins = _of(of.scan.wins, of.ids)
        title = "Hands that won, for a floorperson's decision"
        return [lists.wins_section(title, wins, of.zone, of.titles)]

    return _document(floor, found, meters, "Jackpots", sections, wide=True)


def tables_document(
    floor: Floor, found: LedgerScan, meters: Sequence[str] | None, table: str | None
) -> ReportDocument:
    """Make the report of all tables, or the report of one table day by day."""

    def sections(of: _LinkView) -> list[ReportSection]:
        if table is None:
            return [
                lists.tables_section(of.scan.link, of.span, of.ids),
                *lists.games_section(of.scan.link, of.span, of.ids),
                lists.rounds_section(of.span),
            ]
        days = list(of.scan.days.values())
        return [_table_by_day(table, days, of.ids), _rounds_by_day(table, days)]

    title = "Tables" if table is None else f"Table {table}"
    return _document(floor, found, meters, title, sections, wide=True)


def _play_sections(of: _LinkView) -> list[ReportSection]:
    return [
        lists.money_section(of.span),
        lists.tables_section(of.scan.link, of.span, of.ids),
        *lists.games_section(of.scan.link, of.span, of.ids),
        lists.rounds_section(of.span),
        lists.entered_section(of.span, of.zone),
    ]


def _of(wins: Sequence[Win], meters: Sequence[str]) -> list[Win]:
    return [win for win in wins if win.meter in meters]


def _by_day(
    title: str, header: str, of: _LinkView, cells: Callable[[LinkDay], Row]
) -> ReportSection:
    rows = [(_day_cell(day), *cells(day)) for day in of.scan.days.values()]
    return ReportSection(title, columns(header), [*rows, ("All", *cells(of.span))], 1)


def _day_cell(day: LinkDay) -> str:
    return f"{day.first_day}, so far" if day.open else str(day.first_day)


_MONEY_COLUMNS: Final = (
    ">Opening 1.7 | >Contributed 1.5 | >Off for voids 1.5 | >Seeded 1.5 | >Won 1.5"
    " | >Rejected less reopened 1.5 | >Adjusted 1.5 | >Promotions 1.5 | >Closing 1.7"
)
_DAILY_FLOWS: Final = (
    (Flow.CONTRIBUTIONS,),
    (Flow.VOIDED,),
    (Flow.SEEDS, Flow.RESEEDS, Flow.FROM_RESERVE, Flow.FROM_OVERFLOW, Flow.PASSED_ON),
    (Flow.PERCENTAGES,),
    (Flow.REJECTED, Flow.REOPENED),
    (Flow.ADJUSTED_UP, Flow.ADJUSTED_DOWN, Flow.OTHER),
    (Flow.PROMOTIONS,),
)
"""The flows in each column. Each flow that a meter can have is in exactly one column."""


def _money_cells(meter: str, day: LinkDay) -> Row:
    pot, _, _ = day.meter_pots(meter)
    moved = [sum(pot.flows.get(flow, 0) for flow in flows) for flows in _DAILY_FLOWS]
    return (
        exact_money(pot.opening_micros),
        *(lists.moved_money(micros) for micros in moved),
        exact_money(pot.closing_micros),
    )


def _if_promoted(section: ReportSection) -> ReportSection:
    """Return a list of meters; without the column of promotions if they added nothing."""
    at = [column.title for column in section.columns].index("Promotions")
    if any(row[at] != lists.NOTHING for row in section.rows):
        return section
    return replace(
        section,
        columns=[*section.columns[:at], *section.columns[at + 1 :]],
        rows=[(*row[:at], *row[at + 1 :]) for row in section.rows],
    )


_COUNTS_HEADER: Final = (
    "Day 1.1 | >Wagers 0.7 | >Wagered 1.3 | >Voided 0.7 | >Voided 1.3 | >Hits 0.7 | >Wins 0.7"
    " | >Won 1.3 | >Rejected 1.3 | >Reopened 1.3 | >Paid at table 1.3 | >Paid by hand 1.3"
)
_DAILY_TALLIES: Final = (
    "wagers", "wagered_cents", "voided_wagers", "voided_cents", "hits", "wins", "won_cents",
    "rejected_cents", "reopened_cents", "table_paid_cents", "hand_paid_cents",
)  # fmt: skip


def _count_cells(meter: str, day: LinkDay) -> Row:
    return tuple(
        (money if tally.endswith("_cents") else lists.count)(day.rose(tally, meter))
        for tally in _DAILY_TALLIES
    )


def _table_by_day(table: str, days: Sequence[LinkDay], meters: Sequence[str]) -> ReportSection:
    figures = [
        ((_day_cell(day), meter), figures)
        for day in days
        for (of, meter), figures in sorted(day.tables.items())
        if of == table and meter in meters
    ]
    header = (*columns("Day 1.6"), *lists.TABLE_COLUMNS[2:])
    return lists.summed_section("By day", header, figures, TableFigures(), lists.table_cells)


def _rounds_by_day(table: str, days: Sequence[LinkDay]) -> ReportSection:
    played = [((_day_cell(day),), day.rounds[table]) for day in days if table in day.rounds]
    header = columns("Day 2 | >Rounds 1 | >Voided 1")
    return lists.summed_section(
        lists.ROUNDS_TITLE, header, played, TableRounds(), lambda one: lists.round_cells(one)[:2]
    )


def _part(
    each: LinkScan, span: LinkDay, sections: Sequence[ReportSection], zone: ZoneInfo
) -> ReportPart:
    facts: list[Fact] = [("Link", f"{each.link.name} ({each.link.id})")]
    if span.entries:
        entries = f"{span.first_entry:,} to {span.last_entry:,} ({lists.count(span.entries)})"
        facts.append(("Ledger entries", entries))
    else:
        facts.append(("Ledger entries", f"none; the last earlier entry is {span.last_entry:,}"))
    facts += [("Chain at the close", span.chain), ("Seal at the close", span.seal)]
    if span.closed_at:
        facts.append(("Meters read", lists.moment(span.closed_at, zone)))
    elif span.open:
        facts.append(("Meters read", f"not yet: the gaming day {span.last_day} is still open"))
    else:
        facts.append(("Meters read", "no: no service ran at the close, and nothing happened"))
    finding = each.finding
    audited = f"{finding.entries - finding.first + 1:,} entries audited"
    ended = finding.entries < finding.stored
    if ended:
        audited += f", from {finding.first:,} to {finding.entries:,}"
    elif finding.first > 1:
        audited += f", from {finding.first:,} on"
    whole = "Whole ledger" if finding.first == 1 and not ended else "Ledger"
    facts.append((whole, f"{audited}, seal {finding.seal}"))
    return ReportPart(each.link.id, each.link.name, facts, sections, each.problems, each.variances)


def _why_without(each: LinkScan, found: LedgerScan) -> str:
    if found.span.last < each.first_day:
        return f"its first gaming day is {each.first_day}"
    return f"its open gaming day is {each.open_day}, because no service has run since"


def _document(
    floor: Floor,
    found: LedgerScan,
    meters: Sequence[str] | None,
    title: str,
    sections: Callable[[_LinkView], Sequence[ReportSection]],
    *,
    wide: bool = False,
    summary: Callable[[Sequence[_LinkView]], Sequence[ReportSection]] | None = None,
) -> ReportDocument:
    zone = ZoneInfo(floor.facility.timezone)
    spans, parts, views = [], [], []
    for each in found.links:
        if each.days:
            shown = [one for one in each.link.meter if meters is None or one.meter_id in meters]
            ids = [one.meter_id for one in shown]
            view = _LinkView(each, each.span, shown, ids, zone)
            spans.append(view.span)
            views.append(view)
            parts.append(_part(each, view.span, [*map(in_cents, sections(view))], zone))
    days = GamingDays.of_facility(floor.facility)
    first, last = min(one.first_day for one in spans), max(one.last_day for one in spans)
    begins, ends = days.bounds(first)[0], days.bounds(last)[1]
    hours = (ends - begins) // timedelta(hours=1)
    span = ", to ".join(dict.fromkeys((lists.day_words(first), lists.day_words(last))))
    facts = [
        ("Gaming day" if first == last else "Gaming days", span),
        ("From", lists.moment(begins, days.zone)),
        ("To", f"{lists.moment(ends, days.zone)}, {hours} hours"),
        ("Made", f"{lists.moment(found.at, days.zone)}, pitlink {version('pitlink')}"),
    ]
    if floor.facility.demonstration:
        facts.insert(0, ("Note", DEMONSTRATION_MARK))
    facts += [
        ("Not in it", f"{each.link.name}: {_why_without(each, found)}")
        for each in found.links
        if not each.days
    ]
    unsigned = SO_FAR if any(one.open for one in spans) else ""
    if any(part.problems for part in parts):
        unsigned = DOES_NOT_TIE
    first_page = tuple(map(in_cents, summary(views))) if summary else ()
    return ReportDocument(title, floor.facility.name, facts, parts, unsigned, wide, first_page)
