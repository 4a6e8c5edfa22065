"""The PDF of a submission, which the house signs and files: titles, facts and lists for people."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil
from typing import Final

from reportlab.platypus import (  # type: ignore[import-untyped]
    CondPageBreak,
    KeepTogether,
    PageBreak,
    Spacer,
)

from bonus.display import money, rate_text, short_money
from bonus.odds.odds_words import plain_name
from meters.floor.facility import DEMONSTRATION_MARK
from meters.reports.pdf_pages import (
    HUSH,
    INK,
    code_lines,
    paragraph,
    pdf_file,
    rule,
    signature_lines,
)
from meters.reports.report_document import (
    Column,
    Fact,
    ReportDocument,
    ReportPart,
    ReportSection,
    numbers,
    only_used,
)
from meters.reports.report_pdf import Format, head_elements, inner_width, page_layout, part_elements
from meters.reports.submission_contents import (
    AddedByHouse,
    FacilitySettings,
    GameFiling,
    LinkFiling,
    MeterFeed,
    MeterFiling,
    Submission,
)
from meters.reports.wager_filings import validated_wins
from meters.reports.wager_parts import wager_part

TITLE: Final = "Rules Submission and linked progressive filing"

_NONE: Final = "none"
_NEVER: Final = "never"


def submission_document(submission: Submission, json_sha256: str) -> ReportDocument:
    """Make the document of a submission. `json_sha256` is the digest of the file with its JSON."""
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


def _facts(submission: Submission, json_sha256: str) -> Iterator[Fact]:
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
    amounts = "those of the floor file, without changes of a parameter on the floor page since then"
    yield "Amounts", amounts
    if submission.demonstration:
        yield "Demonstration", "The floor file is for a demonstration. Do not file this."


def _overview(submission: Submission) -> ReportPart:
    games = ReportSection(
        "Games",
        (Column("Game", 2), Column("Rules", 2), numbers("Tables"), numbers("Wagers")),
        [
            (game.title, f"{game.source} {game.chapter}", str(len(game.tables)),
             str(len(game.wagers)))
            for game in submission.games
        ],
    )  # fmt: skip
    links = ReportSection(
        "Links",
        (Column("Link", 2), Column("Name", 2), numbers("Meters"), numbers("Tables")),
        [
            (link.link, link.name, str(len(link.meters)), str(len(link.tables)))
            for link in submission.links
        ],
    )
    return ReportPart("", "Overview", [], [games, links])


def _game_parts(game: GameFiling) -> Iterator[ReportPart]:
    yield ReportPart(
        "", f"Game: {game.title}", list(_game_facts(game)), [_tables(game), _names(game)]
    )
    for wager in game.wagers:
        yield wager_part(game, wager)


def _game_facts(game: GameFiling) -> Iterator[Fact]:
    deal = game.deal
    yield "Rules", f"{game.source} {game.chapter}"
    yield "Name in files", game.game
    yield "File", game.file.name
    yield "Digest of file", game.file.sha256
    if game.effective:
        yield "First day of play", game.effective
    if game.expires:
        yield "Last day of play", game.expires
    cards = [f"{deal.hand} to each position"]
    if deal.dealer:
        cards.append(f"{deal.dealer} to the dealer")
    if deal.community:
        cards.append(f"{deal.community} community")
    yield "Cards", f"{', '.join(cards)} ({deal.rule}); one deck ({deal.deck_rule})"
    yield "Positions", f"at most {deal.positions} ({deal.positions_rule})"


def _names(game: GameFiling) -> ReportSection:
    return ReportSection(
        "Wagers and meters, and their names in files",
        (Column("Wager or meter", 2), Column("Name in files", 2)),
        [(title, name) for name, title in game.titles.items()],
    )


def _tables(game: GameFiling) -> ReportSection:
    return only_used(
        ReportSection(
            "Tables and their choices",
            (
                Column("Table", 1.2),
                Column("Asset"),
                Column("Link", 1.2),
                Column("Positions", 0.9),
                Column("Choices", 4),
                Column("Not offered", 2.4),
            ),
            [
                (
                    table.table,
                    table.asset,
                    table.link,
                    str(table.positions),
                    ", ".join(
                        f"{plain_name(each.name)} {plain_name(each.option)} ({each.rule})"
                        for each in table.choices
                    )
                    or _NONE,
                    ", ".join(game.titles[name] for name in table.not_offered) or _NONE,
                )
                for table in game.tables
            ],
        )
    )


def _link_part(link: LinkFiling, titles: dict[str, str], names: dict[str, str]) -> ReportPart:
    facts = [
        ("Link", link.link),
        ("Digest of settings", f"{link.configuration_sha256} (the digest that is approved)"),
    ]
    sections = [_link_tables(link, titles)]
    if link.meters:
        sections = [
            *map(
                only_used,
                (
                    _amounts(link.meters),
                    _parameters(link.meters),
                    _fed_by(link.meters, titles, names),
                    _cells(link.meters, titles),
                ),
            ),
            _chances(link.meters, titles, names),
            *sections,
        ]
    return ReportPart(link.link, f"Link: {link.name}", facts, sections)


def _amounts(meters: Sequence[MeterFiling]) -> ReportSection:
    return ReportSection(
        "Meters: wagers, seeds and rates",
        (
            Column("Meter", 2), Column("Name in files", 2), numbers("Wager"), numbers("Seed", 1.4),
            numbers("Reseed", 1.4), numbers("Primary rate"), numbers("Reserve rate"),
        ),
        [
            (
                meter.title, meter.meter, short_money(meter.wager_cents), money(meter.seed_cents),
                money(meter.reseed_cents), rate_text(meter.primary_bps),
                rate_text(meter.reserve_bps),
            )
            for meter in meters
        ],
    )  # fmt: skip


def _parameters(meters: Sequence[MeterFiling]) -> ReportSection:
    return ReportSection(
        "Meters: further parameters",
        (
            Column("Meter", 2), Column("Kind", 2), Column("Paytable"), numbers("Payout limit", 1.4),
            numbers("Largest contribution", 1.4), numbers("Magic Card, one round in"),
            numbers("Lucky Bonus, one round in"),
        ),
        [
            (
                meter.title, meter.kind, meter.paytable or _NONE,
                optional_money(meter.limit_cents), optional_money(meter.contribution_max_cents),
                _every(meter.magic_card_every), _every(meter.lucky_every),
            )
            for meter in meters
        ],
    )  # fmt: skip


def _fed_by(
    meters: Sequence[MeterFiling], titles: dict[str, str], names: dict[str, str]
) -> ReportSection:
    return ReportSection(
        "Games and tables that feed each meter",
        (
            Column("Meter", 1.6), Column("Game", 1.4), Column("Wagers", 2),
            Column("Other meters of the same wager", 2), Column("Tables", 2),
        ),
        [
            (
                meter.title, titles.get(feed.game, feed.game),
                ", ".join(names.get(wager, plain_name(wager)) for wager in feed.wagers),
                ", ".join(names.get(kind, plain_name(kind)) for kind in feed.with_meters) or _NONE,
                ", ".join(feed.tables) or _NONE,
            )
            for meter in meters
            for feed in meter.feeds
        ],
    )  # fmt: skip


def _cells(meters: Sequence[MeterFiling], titles: dict[str, str]) -> ReportSection:
    def row(meter: MeterFiling, feed: MeterFeed) -> tuple[str, ...]:
        cells = (feed.seed, feed.reseed, feed.primary, feed.reserve)
        return (meter.title, titles.get(feed.game, feed.game), feed.rule, *cells)

    return ReportSection(
        "Seeds and rates as the rules print them, for each dollar of the wager",
        (
            Column("Meter", 1.6), Column("Game", 1.4), Column("Rule", 1.2), Column("Seed", 1.2),
            Column("Reseed", 1.2), Column("Primary", 0.7), Column("Reserve", 0.7),
        ),
        [row(meter, feed) for meter in meters for feed in meter.feeds],
    )  # fmt: skip


def _chances(
    meters: Sequence[MeterFiling], titles: dict[str, str], names: dict[str, str]
) -> ReportSection:
    return ReportSection(
        "Chance of a dollar wagered to win each meter, at each game and wager",
        (
            Column("Meter", 1.6), Column("Game", 1.6), Column("Wager", 2), numbers("Chance", 1.4),
            numbers("Exactly", 2.4), numbers("Highest / lowest", 1.8), numbers("Accepted"),
        ),
        [
            (
                meter.title, titles.get(each.game, each.game), names[each.wager],
                each.chance.one_in, each.chance.exact,
                *((_times(meter), f"{meter.chance_ratio_max:,}") if at == 0 else ("", "")),
            )
            for meter in meters
            for at, each in enumerate(meter.dollar_chances)
        ],
        note="A hand that wins a part of a meter counts as that part of a chance.",
    )  # fmt: skip


def _times(meter: MeterFiling) -> str:
    """Return the ratio of the chances of a meter: rounded up to hundredths, and exactly."""
    ratio = Fraction(meter.chance_ratio)
    hundredths = ceil(ratio * 100)
    rounded = f"{hundredths // 100:,}.{hundredths % 100:02}"
    return "1" if ratio == 1 else f"{rounded} ({meter.chance_ratio})"


def _link_tables(link: LinkFiling, titles: dict[str, str]) -> ReportSection:
    meters = {meter.meter: meter.title for meter in link.meters}
    return only_used(ReportSection(
        "Tables",
        (Column("Table"), Column("Asset"), Column("Game", 2), Column("Positions"),
         Column("Meters", 4)),
        [
            (table.table, table.asset, titles[table.game], str(table.positions),
             ", ".join(meters[meter] for meter in table.meters) or _NONE)
            for table in link.tables
        ],
    ))  # fmt: skip


def _settings_part(settings: FacilitySettings) -> ReportPart:
    two = settings.two_people_reject_above_cents
    validated = validated_wins(settings.validate_from_cents)
    facts = [
        (
            "Validation",
            f"by a floorperson: {validated} (validate_from {money(settings.validate_from_cents)})",
        ),
        ("Tax documents", _above(settings.tax_documents_above_cents)),
        ("Two people reject", "each hand pay" if two is None else _above(two)),
        ("Corrections", "a floorperson confirms each" if settings.confirm_corrections else _NONE),
        ("All hands", "cards of all hands" if settings.require_all_hands else "not required"),
        ("Gaming day", f"begins at {settings.day_starts}"),
    ]
    return ReportPart("", "Settings of the facility", facts, [])


def _added_part(added: Sequence[AddedByHouse], titles: dict[str, str]) -> ReportPart:
    section = ReportSection(
        "",
        (Column("For", 1.4), Column("What", 5), Column("Asked for in", 2)),
        [
            (titles[each.game] if each.game else "the whole submission", each.what, each.rule)
            for each in added
        ],
        note="pitlink does not know these. The house adds them before it files.",
    )
    return ReportPart("", "To be added by the house", [], [section])


def optional_money(amount_cents: int | None) -> str:
    return _NONE if amount_cents is None else money(amount_cents)


def _above(amount_cents: int | None) -> str:
    return _NEVER if amount_cents is None else f"wins above {money(amount_cents)}"


def _every(rounds: int | None) -> str:
    if rounds is None:
        return _NONE
    return f"{rounds:,}" if rounds else _NEVER


_SIGNERS: Final = ("Prepared by", "Filed for the certificate holder by")


def submission_pdf(submission: Submission, json_sha256: str, size: Format = "letter") -> bytes:
    """Make the PDF of a submission. Equal submissions make equal files.

    Each page shows the facility's name, the title, the page number, and the SHA-256 of the file
    with the JSON.
    """
    mark = DEMONSTRATION_MARK if submission.demonstration else ""
    title = f"{TITLE} · {submission.date} · JSON {json_sha256}"
    layout = page_layout(submission.facility, title, size, mark=mark)
    inner = inner_width(layout)
    return pdf_file(layout, list(_contents(submission, json_sha256, inner)))


def _contents(submission: Submission, json_sha256: str, inner: float) -> Iterator[object]:
    document = submission_document(submission, json_sha256)
    overview, *parts = document.parts
    yield from head_elements(document, inner)
    yield from part_elements(overview, inner)
    yield _signing(_SIGNERS, inner)
    yield PageBreak()
    for part in parts:
        yield from part_elements(part, inner)
    for game in submission.games:
        if game.text is not None:
            yield from _game_text(game, game.text, inner)


def _game_text(game: GameFiling, text: str, inner: float) -> Iterator[object]:
    yield CondPageBreak(150)
    yield rule(INK, before=10, after=0)
    yield paragraph(f"Full text of {game.file.name}: {game.title}", 12, bold=True, before=3)
    yield paragraph(f"SHA-256 {game.file.sha256}", 8, gray=HUSH)
    note = "A line that is too long continues in the next line, after four blanks."
    yield paragraph(note, 8, gray=HUSH)
    yield Spacer(0, 4)
    yield from code_lines(text, 7, inner)


def _signing(signers: Sequence[str], inner: float) -> object:
    words = [f"{who}: name, title, signature, date" for who in signers]
    lines = signature_lines(words, inner, gap=24, apart=48)
    return KeepTogether([Spacer(0, 48), lines])
