"""The PDF of a submission, which the house signs and files: titles, facts and lists."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Final

from reportlab.platypus import PageBreak, Spacer  # type: ignore[import-untyped]

from bonus.display import money, rate_text, short_money
from bonus.odds.odds_words import one_in, percent, plain_name
from meters.floor.facility import DEMONSTRATION_MARK
from meters.floor.promotions import days_in_words
from meters.process.pdf_pages import HUSH, code_lines, paragraph, pdf_file
from meters.reports import submission_contents as filed
from meters.reports.report_document import (
    Fact,
    Format,
    ReportDocument,
    ReportPart,
    ReportSection,
    columns,
    head_elements,
    page_layout,
    part_elements,
    part_heading,
    signing,
)
from meters.reports.wager_filings import validated_wins
from meters.reports.wager_parts import wager_part
from meters.selfcheck.must_hit_by_entries import MustHitByEntry

TITLE: Final = "Rules Submission and linked progressive filing"

_NONE: Final = "none"
_NEVER: Final = "never"


def submission_document(submission: filed.Submission, json_sha256: str) -> ReportDocument:
    """Make the document of a submission. `json_sha256` is the digest of the JSON file."""
    titles = {game.game: game.title for game in submission.games}
    names = {name: title for game in submission.games for name, title in game.titles.items()}
    return ReportDocument(
        title=TITLE,
        facility=submission.facility,
        facts=list(_facts(submission, json_sha256)),
        parts=[
            _overview(submission),
            *(part for game in submission.games for part in _game_parts(game)),
            *(_link_part(link, titles, names) for link in submission.links),
            _settings_part(submission.settings),
            _added_part(submission.added_by_house, titles),
        ],
    )


def _facts(submission: filed.Submission, json_sha256: str) -> Iterator[Fact]:
    software = submission.software
    yield "Date", f"{submission.date} ({submission.timezone})"
    yield (
        "Filed under",
        "58 Pa. Code § 601a.2 (Rules Submission) and § 605a.8 (linked progressives)",
    )
    yield "Software", f"pitlink {software.version}, {software.files} files"
    yield "Digest of software", software.sha256
    as_installed = "as the wheel recorded them" if software.from_wheel else "a checkout, no wheel"
    yield "Files of software", as_installed
    yield "Floor file", submission.floor_file.name
    yield "Digest of floor file", submission.floor_file.sha256
    yield "Digest of JSON", f"{json_sha256} (submission.json has the same contents)"
    yield "Digests", "SHA-256, in hexadecimal"
    amounts = "those of the floor file, without later changes of parameters on the floor page"
    yield "Amounts", amounts
    if submission.demonstration:
        yield "Demonstration", "The floor file is for a demonstration. Do not file this."


def _overview(submission: filed.Submission) -> ReportPart:
    games = ReportSection(
        "Games",
        columns("Game 2 | Rules 2 | >Tables 1 | >Wagers 1"),
        [
            (
                game.title,
                f"{game.source} {game.chapter}",
                str(len(game.tables)),
                str(len(game.wagers)),
            )
            for game in submission.games
        ],
    )
    links = ReportSection(
        "Links",
        columns("Link 2 | Name 2 | >Meters 1 | >Tables 1"),
        [
            (link.link, link.name, str(len(link.meters)), str(len(link.tables)))
            for link in submission.links
        ],
    )
    return ReportPart("", "Overview", [], [games, links])


def _game_parts(game: filed.GameFiling) -> Iterator[ReportPart]:
    tables = ReportSection(
        "Tables and their choices",
        columns("Table 1.2 | Asset 1 | Link 1.2 | Positions 0.9 | Choices 4 | Not offered 2.4"),
        [_table_row(game, table) for table in game.tables],
    )
    names = ReportSection(
        "Wagers and meters, and their names in files",
        columns("Wager or meter 2 | Name in files 2"),
        [(title, name) for name, title in game.titles.items()],
    )
    facts = list(_game_facts(game))
    yield ReportPart("", f"Game: {game.title}", facts, [tables.only_used, names])
    for wager in game.wagers:
        yield wager_part(game, wager)


def _game_facts(game: filed.GameFiling) -> Iterator[Fact]:
    deal = game.deal
    yield "Rules", f"{game.source} {game.chapter}"
    yield "Name in files", game.game
    yield "File", game.file.name
    yield "Digest of file", game.file.sha256
    if game.effective:
        yield "First day of play", game.effective
    if game.expires:
        yield "Last day of play", game.expires
    if game.results:
        one = "for each position" if deal.hand else "for the table"
        names = ", ".join(map(plain_name, game.results))
        rules = f"{deal.rule}; {deal.deck_rule}"
        yield "Results", f"one {one}, entered by the dealer: {names} ({rules})"
        yield "Chances", game.chances
    else:
        cards = [f"{deal.hand} to each position"]
        if deal.exchange:
            most = "one" if deal.exchange == 1 else f"up to {deal.exchange}"
            cards[0] += f", who can exchange {most} of them"
        decks = "one deck" if deal.decks == 1 else f"{deal.decks} decks"
        decks += " with a joker" if deal.jokers else ""
        if deal.dealer:
            cards.append(f"{deal.dealer} to the dealer")
        if deal.community:
            cards.append(f"{deal.community} community")
        yield "Cards", f"{', '.join(cards)} ({deal.rule}); {decks} ({deal.deck_rule})"
    yield "Positions", f"at most {deal.positions} ({deal.positions_rule})"


def _table_row(game: filed.GameFiling, table: filed.GameTable) -> tuple[str, ...]:
    choices = [
        f"{plain_name(each.name)} {plain_name(each.option)} ({each.rule})" for each in table.choices
    ]
    not_offered = [game.titles[name] for name in table.not_offered]
    return (
        table.table,
        table.asset,
        table.link,
        str(table.positions),
        _all(choices),
        _all(not_offered),
    )


def _all(words: Sequence[str]) -> str:
    return ", ".join(words) or _NONE


def _link_part(
    link: filed.LinkFiling, titles: Mapping[str, str], names: Mapping[str, str]
) -> ReportPart:
    facts = [
        ("Link", link.link),
        ("Digest of settings", f"{link.configuration_sha256} (the digest that is approved)"),
    ]
    meters = {meter.meter: meter.title for meter in link.meters}
    meters |= {meter.meter: meter.title for meter in link.must_hit_by}
    tables = ReportSection(
        "Tables",
        columns("Table 1 | Asset 1 | Game 2 | Positions 1 | Meters 4"),
        [
            (
                table.table,
                table.asset,
                titles[table.game],
                str(table.positions),
                _all([meters[meter] for meter in table.meters]),
            )
            for table in link.tables
        ],
    )
    sections = [*_meter_sections(link.meters), *_feed_sections(link.meters, titles, names)]
    hidden = [*_must_hit_by_sections(link.must_hit_by, names)] if link.must_hit_by else []
    promoted = [_promotion_section(link.promotions, meters)] if link.promotions else []
    every = (*(sections if link.meters else ()), *hidden, *promoted, tables)
    listed = [each.only_used for each in every]
    return ReportPart(link.link, f"Link: {link.name}", facts, listed)


def _meter_sections(meters: Sequence[filed.MeterFiling]) -> Iterator[ReportSection]:
    yield ReportSection(
        "Meters: wagers, seeds and rates",
        columns(
            "Meter 2 | Name in files 2 | >Wager 1 | >Seed 1.4 | >Reseed 1.4 | >Primary rate 1"
            " | >Reserve rate 1 | >Rates change at 1.4 | >Primary from there 1"
            " | >Reserve from there 1"
        ),
        [
            (
                meter.title,
                meter.meter,
                ", ".join(map(short_money, (meter.wager_cents, *meter.smaller_wagers_cents))),
                money(meter.seed_cents),
                money(meter.reseed_cents),
                rate_text(meter.primary_bps),
                rate_text(meter.reserve_bps),
                *_rates_above(meter),
            )
            for meter in meters
        ],
    )
    yield ReportSection(
        "Meters: further parameters",
        columns(
            "Meter 2 | Kind 2 | Paytable 1 | >Payout limit 1.4 | >Largest contribution 1.4"
            " | >Magic Card, one round in 1 | >Lucky Bonus, one round in 1"
        ),
        [
            (
                meter.title,
                meter.kind,
                meter.paytable or _NONE,
                _optional(meter.limit_cents)
                + (f", above it to {meter.overflow_to}" if meter.overflow_to else ""),
                _optional(meter.contribution_max_cents),
                _every(meter.magic_card_every),
                _every(meter.lucky_every),
            )
            for meter in meters
        ],
    )


def _must_hit_by_sections(
    meters: Sequence[MustHitByEntry], names: Mapping[str, str]
) -> Iterator[ReportSection]:
    yield ReportSection(
        "Must-hit-by meters: won at a hidden value, whatever the cards",
        columns(
            "Meter 1.6 | Rule 1 | >Minimum 1.2 | >Maximum 1.2 | >Rate 1 | Wagers 2 | Tables 2"
            " | Hidden value 1.2 | >Average win 1.2 | >Returned 1"
        ),
        [
            (
                each.title,
                each.rule or _NONE,
                money(each.minimum_cents),
                money(each.maximum_cents),
                rate_text(each.primary_bps),
                ", ".join(names.get(wager, plain_name(wager)) for wager in each.wagers),
                _all(each.tables),
                each.distribution,
                money(int(Fraction(each.mean_win_cents))),
                percent(Fraction(each.return_of_wager)),
            )
            for each in meters
        ],
    )
    yield ReportSection(
        "Chance of one wager to win a must-hit-by meter",
        columns("Meter 2 | >Wager 1 | >Meter at 1.4 | >Chance 2 | Exactly 3"),
        [
            (
                each.title,
                short_money(one.wager_cents),
                money(at.amount_cents),
                one_in(Fraction(at.chance)),
                at.chance,
            )
            for each in meters
            for one in each.by_wager
            for at in one.chances
        ],
    )


def _promotion_section(
    promotions: Sequence[filed.PromotionFiling], meters: Mapping[str, str]
) -> ReportSection:
    return ReportSection(
        "Promotions: the house adds money to a meter, at each start, or a part of each wager",
        columns(
            "Promotion 2 | Name in files 1.4 | Meter 2 | >Added 1.4 | Days 2 | From 0.8 | To 0.8"
            " | First day 1.2 | Last day 1.2"
        ),
        [
            (
                each.name,
                each.promotion,
                meters[each.meter],
                f"{each.raises} of each wager" if each.raises else money(each.adds_cents or 0),
                days_in_words(each.days),
                each.starts,
                each.ends,
                each.first or _NONE,
                each.last or _NONE,
            )
            for each in promotions
        ],
    )


def _feed_sections(
    meters: Sequence[filed.MeterFiling], titles: Mapping[str, str], names: Mapping[str, str]
) -> Iterator[ReportSection]:
    feeds = [
        ((meter.title, titles.get(feed.game, feed.game)), feed)
        for meter in meters
        for feed in meter.feeds
    ]
    yield ReportSection(
        "Games and tables that feed each meter",
        columns("Meter 1.6 | Game 1.4 | Wagers 2 | Other meters of the same wager 2 | Tables 2"),
        [
            (
                *of,
                ", ".join(names.get(wager, plain_name(wager)) for wager in feed.wagers),
                _all([names.get(kind, plain_name(kind)) for kind in feed.with_meters]),
                _all(feed.tables),
            )
            for of, feed in feeds
        ],
    )
    yield ReportSection(
        "Seeds and rates as the rules print them, for each dollar of the wager",
        columns(
            "Meter 1.6 | Game 1.4 | Rule 1.2 | Seed 1.2 | Reseed 1.2 | Primary 0.7 | Reserve 0.7"
            " | Change at 1.2 | Primary from there 0.7 | Reserve from there 0.7"
        ),
        [
            (
                *of,
                feed.rule,
                feed.seed,
                feed.reseed,
                feed.primary,
                feed.reserve,
                feed.above,
                feed.primary_above,
                feed.reserve_above,
            )
            for of, feed in feeds
        ],
    )
    yield ReportSection(
        "Chance of a dollar wagered to win each meter, at each game and wager",
        columns(
            "Meter 1.6 | Game 1.6 | Wager 2 | >Chance 1.4 | >Exactly 2.4 | >Highest / lowest 1.8"
            " | >Accepted 1"
        ),
        [
            (
                meter.title,
                titles.get(each.game, each.game),
                names[each.wager],
                each.chance.one_in,
                each.chance.exact,
                *((_times(meter), f"{meter.chance_ratio_max:,}") if at == 0 else ("", "")),
            )
            for meter in meters
            for at, each in enumerate(meter.dollar_chances)
        ],
        note="A hand that wins a percentage of a meter counts with this percentage of its chance.",
    )


def _times(meter: filed.MeterFiling) -> str:
    """Return the ratio of the highest to the lowest chance: rounded up to hundredths, and exact."""
    ratio = Fraction(meter.chance_ratio)
    hundredths = ceil(ratio * 100)
    rounded = f"{hundredths // 100:,}.{hundredths % 100:02}"
    return "1" if ratio == 1 else f"{rounded} ({meter.chance_ratio})"


def _settings_part(settings: filed.FacilitySettings) -> ReportPart:
    tax, two = settings.tax_documents_from_cents, settings.two_people_reject_above_cents
    validated = validated_wins(settings.validate_from_cents)
    facts = [
        (
            "Validation",
            f"by a floorperson: {validated} (validate_from {money(settings.validate_from_cents)})",
        ),
        ("Tax documents", _NEVER if tax is None else f"wins of {money(tax)} or more"),
        ("Two people reject", "each hand pay" if two is None else f"wins above {money(two)}"),
        (
            "Corrections",
            "a floorperson confirms each"
            if settings.confirm_corrections
            else "a floorperson confirms each at pitlink's panel, and each corrected wager",
        ),
        ("Cards of all hands", "required" if settings.require_all_hands else "not required"),
        ("Gaming day", f"begins at {settings.day_starts}"),
    ]
    return ReportPart("", "Settings of the facility", facts, [])


def _added_part(added: Sequence[filed.AddedByHouse], titles: Mapping[str, str]) -> ReportPart:
    section = ReportSection(
        "",
        columns("For 1.4 | What 5 | Asked for in 2"),
        [
            (titles[each.game] if each.game else "the whole submission", each.what, each.rule)
            for each in added
        ],
        note="pitlink does not know these. The house adds them before it files.",
    )
    return ReportPart("", "To be added by the house", [], [section])


def _rates_above(meter: filed.MeterFiling) -> tuple[str, str, str]:
    if meter.threshold_cents is None:
        return "", "", ""
    bps = meter.primary_above_bps, meter.reserve_above_bps
    return money(meter.threshold_cents), rate_text(bps[0]), rate_text(bps[1])


def _optional(amount_cents: int | None) -> str:
    return _NONE if amount_cents is None else money(amount_cents)


def _every(rounds: int | None) -> str:
    if rounds is None:
        return _NONE
    return f"{rounds:,}" if rounds else _NEVER


_SIGNERS: Final = (
    "Prepared by: name, title, signature, date",
    "Filed for the certificate holder by: name, title, signature, date",
)


def submission_pdf(
    submission: filed.Submission, json_sha256: str, size: Format = "letter"
) -> bytes:
    """Make the PDF of a submission. Equal submissions make equal files.

    Each page shows the facility's name, the title, the page number, and the SHA-256 of the JSON
    file.
    """
    document = submission_document(submission, json_sha256)
    mark = DEMONSTRATION_MARK if submission.demonstration else ""
    title = f"{TITLE} · {submission.date} · JSON {json_sha256}"
    layout = page_layout(submission.facility, title, size, mark=mark)
    overview, *parts = document.parts
    contents = [
        *head_elements(document, layout.inner),
        *part_elements(overview, layout.inner),
        signing(_SIGNERS, layout.inner, Spacer(0, 48)),
        PageBreak(),
        *(element for part in parts for element in part_elements(part, layout.inner)),
    ]
    for game in submission.games:
        if game.text is not None:
            contents += _game_text(game, game.text, layout.inner)
    return pdf_file(layout, contents)


def _game_text(game: filed.GameFiling, text: str, inner: float) -> Iterator[object]:
    yield from part_heading(f"Full text of {game.file.name}: {game.title}")
    yield paragraph(f"SHA-256 {game.file.sha256}", 8, gray=HUSH)
    note = "A line that is too long continues in the next line, after four blanks."
    yield paragraph(note, 8, gray=HUSH)
    yield Spacer(0, 4)
    yield from code_lines(text, 7, inner)
