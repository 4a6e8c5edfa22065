"""The payout slip: the record of one win and the signature lines, on one Letter page.

The slip shows what the record of a win must have (duty D16): date, time, table, position, hand,
amount, and the win's place in the order of wins.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from reportlab.graphics.shapes import Drawing, Rect, String  # type: ignore[import-untyped]
from reportlab.lib.colors import Color  # type: ignore[import-untyped]
from reportlab.platypus import FrameBreak, KeepInFrame  # type: ignore[import-untyped]

from bonus.cards import JOKER_NAME, are_cards
from bonus.display import card_words, hand_place, hand_words, item_words, money, part_of_meter
from bonus.wagers import MUST_HIT_BY
from meters.acts.claim_types import ClaimRow, EnvyOwed, Wagered
from meters.floor.facility import DEMONSTRATION_MARK
from meters.floor.floor_file import Floor
from meters.process.pdf_pages import (
    HUSH,
    INK,
    PageLayout,
    face_of,
    paragraph,
    pdf_file,
    rule,
    signature_lines,
    table,
)

_WIDTH: Final = 612.0
_HEIGHT: Final = 792.0
_MARGIN: Final = 46.0
_INNER: Final = _WIDTH - 2 * _MARGIN
_SIGNING_HEIGHT: Final = 64.0
_SIGNING_APART: Final = 48.0
_WIDEST: Final = 250
"""Limit on the width of the layout, in percent of the frame. The layout is shrunk to the frame."""
_GAP: Final = 18.0
_LABEL: Final = 84.0
_SIGNATURES: Final = ("Dealer", "Floorperson", "Cashier or second person", "Patron")
_MARKS: Final = {"rejected": "REJECTED", "pending": "NOT YET VALIDATED", "paid": "PAID"}
_TAX_NOTICE: Final = "Tax documents are needed before this is paid"
_PAID_FROM: Final = {
    "hand_pay": "Hand pay",
    "table_inventory": "Table inventory",
    "game_account": "Game account",
}

_BLACK: Final = (0.0, 0.0, 0.0)
_RED: Final = (0.7, 0.07, 0.12)
_SUITS: Final = {
    "c": ("\N{BLACK CLUB SUIT}", _BLACK),
    "d": ("\N{BLACK DIAMOND SUIT}", _RED),
    "h": ("\N{BLACK HEART SUIT}", _RED),
    "s": ("\N{BLACK SPADE SUIT}", _BLACK),
    "k": ("\N{BLACK STAR}", _BLACK),
}
"""The sign for the second character of a card's name; the joker has a star, and no rank."""

_CARD_GAP: Final = 4.0
_SMALL: Final = (
    "", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = (
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_SCALES: Final = ((10**9, "billion"), (10**6, "million"), (10**3, "thousand"))

Fact = tuple[str, str]


def slip_pdf(
    floor: Floor, row: ClaimRow, printed_by: str, at: datetime, hand: Sequence[ClaimRow] = ()
) -> bytes:
    """Return the payout slip of one win as a PDF of one page (duty D16).

    The slip shows the win's place in the order of wins (duty D7). If `hand` has several claims, the
    slip shows the payments of all of them. `at` is the time of printing. Files for equal data,
    printed by one person at one time, are identical.
    """
    printed = f"Printed by {printed_by}, {moment_words(at, ZoneInfo(floor.facility.timezone))}"
    lowest = _MARGIN + _SIGNING_HEIGHT + _SIGNING_APART
    body = (_MARGIN, lowest, _INNER, _HEIGHT - _MARGIN - lowest)
    layout = PageLayout(
        title=f"Payout slip {row.claim}",
        author=floor.facility.name,
        width=_WIDTH,
        height=_HEIGHT,
        margin=_MARGIN,
        foot=" · ".join(
            [printed, f"claim {row.claim}", *([f"rule {row.rule}"] if row.rule else [])]
        ),
        foot_y=_MARGIN - 16,
        frames=[body, (_MARGIN, _MARGIN, _INNER, _SIGNING_HEIGHT)],
        mark=_MARKS.get(row.state, ""),
    )
    signers = [f"{who}: name, signature, date and time" for who in _SIGNATURES]
    return pdf_file(
        layout,
        [
            _fitting(floor, row, hand, body[3]),
            FrameBreak(),
            signature_lines(signers, _INNER, gap=_GAP, apart=_SIGNING_APART),
        ],
    )


def _fitting(floor: Floor, row: ClaimRow, hand: Sequence[ClaimRow], height: float) -> object:
    for percent in range(100, _WIDEST, 5):
        width = _INNER * percent / 100
        slip = _Slip(floor, row, hand, width)
        _, needed = KeepInFrame(0, 0, list(slip.contents())).wrapOn(None, width, 100 * height)
        if needed <= height * percent / 100:
            break
    return KeepInFrame(_INNER, height, list(slip.contents()), fakeWidth=False)


class _Slip:
    def __init__(self, floor: Floor, row: ClaimRow, hand: Sequence[ClaimRow], width: float) -> None:
        self._facility = floor.facility
        self._width = width
        self._zone = ZoneInfo(floor.facility.timezone)
        self._row = row
        self._hand = hand
        self._titles = floor.games.titles

    def contents(self) -> Iterator[object]:
        yield from self._head()
        yield from self._amount()
        yield rule()
        half = (self._width - _GAP) / 2
        halves = [_facts(self._where(), half), _facts(self._what(), half)]
        yield table([halves], (half + _GAP, half), gap=_GAP)
        yield from self._cards()
        yield from self._record()
        yield from self._evidence()
        if decided := list(self._decided()):
            yield rule()
            yield _facts(decided, self._width)

    def _head(self) -> Iterator[object]:
        if self._facility.demonstration:
            yield paragraph(DEMONSTRATION_MARK, 11, bold=True, align="center")
        yield paragraph(self._facility.name, 17, bold=True)
        yield paragraph("Progressive payout slip", 11, gray=HUSH)
        yield rule(INK)

    def _amount(self) -> Iterator[object]:
        row = self._row
        if row.tax_documents and row.state in {"pending", "validated"}:
            notice = paragraph(_TAX_NOTICE, 12, bold=True, align="center")
            frame = [("BOX", (0, 0), (-1, -1), 1.2, (INK, INK, INK)), ("ROUNDEDCORNERS", [4] * 4)]
            yield table([[notice]], (self._width,), clear=4, rules=frame)
        cents = row.envy_amount if row.only_envy else row.amount
        yield paragraph(money(cents), 34, bold=True, before=4)
        yield paragraph(amount_words(cents), 11)

    def _where(self) -> Iterator[Fact]:
        row = self._row
        yield "Won at", moment_words(row.at, self._zone)
        yield "Table", f"{row.table}, asset {row.asset}"
        yield "Position", str(row.position)
        yield "Patron", row.patron or "not named"
        yield "Round", row.round
        yield "Claim", row.claim
        yield "Link", row.link_name or row.link
        yield "Meter", row.meter_name or row.meter

    def _what(self) -> Iterator[Fact]:
        row = self._row
        item = row.wager_name or row.item_name or item_words(row.item, self._titles)
        yield "Wager", f"{item}, {money(row.wagered)}"
        if row.hand == MUST_HIT_BY:
            yield "Won by", "the wager that took the meter to its hidden value"
        else:
            yield "Hand", row.hand_name or hand_words(row.hand)
        if row.only_envy:
            yield "Pays", "Only Envy Bonuses: no win of this hand waits"
        elif row.percent is None:
            yield "Pays", "at odds, not from the meter"
        else:
            yield "Pays", _share_words(row)
            yield "Meter after win", money(row.meter_after)
        yield "Paid from", _PAID_FROM.get(row.paid_from, item_words(row.paid_from))
        # The part of a player at another table is no win of a hand of this round.
        turn = "" if row.hand_table else f"; win {row.turn} of {row.turns} of its round"
        yield "Order", f"ledger entry {row.order}{turn}"
        if row.rule:
            yield "Rule", row.rule
        yield "State", row.state
        if row.tax_documents:
            yield "Tax documents", "needed"

    def _holder(self) -> str:
        place = hand_place(self._row.hand_of or self._row.position, self._row.hand_table)
        return f"{place[0].upper()}{place[1:]}"

    def _cards(self) -> Iterator[object]:
        # Of a wager on the flop, only the cards that decide it.
        counted = tuple(name for name in self._row.community if name in self._row.counted)
        groups = [
            (title, names)
            for title, names in (
                (self._holder(), self._row.cards),
                ("Dealer" if are_cards(self._row.dealer) else "Result", self._row.dealer),
                ("Community", counted or self._row.community),
            )
            if names
        ]
        if groups:
            yield rule()
            width = self._width / len(groups)
            cells = [
                [
                    paragraph(title, 9, gray=HUSH),
                    *([_cards_drawing(names, width - _GAP)] if are_cards(names) else []),
                    paragraph(", ".join(map(card_words, names)), 8, gray=HUSH),
                ]
                for title, names in groups
            ]
            yield table([cells], [width] * len(groups), gap=_GAP)

    def _record(self) -> Iterator[object]:
        if len(self._hand) < 2:
            return
        lines = [(self._claim_line(one), *_due(one)) for one in self._hand]
        total = money(sum(won + envy for _, won, envy in lines))
        yield rule()
        yield paragraph(
            f"All payments of this hand, without what was rejected: {total}", 9, gray=HUSH
        )
        for one, (line, _, _) in zip(self._hand, lines, strict=True):
            yield paragraph(line, 9)
            if one.claim != self._row.claim:
                for owed in one.envy:
                    yield paragraph(self._owed(owed), 9)

    def _evidence(self) -> Iterator[object]:
        row = self._row
        if row.wagers:
            yield rule()
            yield paragraph("Accepted wagers", 9, gray=HUSH)
            for wagered in row.wagers:
                declared = wagered.position in row.no_win
                note = "; hand declared to win nothing" if declared else ""
                yield paragraph(self._wagered(wagered) + note, 9)
        if row.envy:
            yield rule()
            yield paragraph(self._envy_words(), 9, gray=HUSH)
            for owed in row.envy:
                yield paragraph(self._owed(owed), 9)

    def _envy_words(self) -> str:
        row = self._row
        if row.envy_state == "paid":
            by = f", {self._by(row.envy_by, row.envy_at)}" if row.envy_by else ""
            return f"Envy Bonuses: paid{by}"
        if row.envy_not_due:
            return f"Envy Bonuses: not due, {row.envy_reason or 'the hand was not as entered'}"
        if row.envy_state == "pending":
            return "Envy Bonuses: owed for this hand once the win is decided"
        return "Envy Bonuses owed for this hand"

    def _decided(self) -> Iterator[Fact]:
        row = self._row
        if row.validated_by:
            yield "Validated", self._by(row.validated_by, row.validated_at)
        if row.paid_by:
            yield "Paid", self._by(row.paid_by, row.paid_at)
        if row.slip:
            yield "Slip number", row.slip
        elif row.state != "rejected" and row.paid_from == "hand_pay":
            yield "Slip number", "_" * 24
        if row.state == "rejected":
            yield "Rejected", self._two(row)
            yield "Reason", row.reason or "none given"
        elif row.state == "pending" and row.decided_by:
            yield "Reopened", self._two(row)
            yield "Reason", row.reason or "none given"

    def _two(self, row: ClaimRow) -> str:
        by = self._by(row.decided_by or "", row.decided_at)
        return f"{by}, requested by {row.requested_by}" if row.requested_by else by

    def _by(self, who: str, at: str | None) -> str:
        return f"by {who}, {moment_words(at, self._zone)}" if at else f"by {who}"

    def _wagered(self, one: Wagered) -> str:
        wagers = ", ".join(
            f"{item_words(item, self._titles)} {money(cents)}" for item, cents in one.wagers.items()
        )
        return f"{_who(one.position, one.patron)}: {wagers}"

    def _claim_line(self, one: ClaimRow) -> str:
        share = "at odds" if one.percent is None else part_of_meter(one.percent, one.item)
        item = one.item_name or item_words(one.item, self._titles)
        this = ", this slip" if one.claim == self._row.claim else ""
        hand = one.hand_name or hand_words(one.hand)
        to = "" if one.hand_of is None else f"{_who(one.position, one.patron)}: "
        return f"{to}{item}, {hand}, {share}: {money(one.amount)}, {one.state}{this}"

    def _owed(self, one: EnvyOwed) -> str:
        item = item_words(one.item, self._titles)
        return f"{_who(one.position, one.patron)}: {item} {money(one.amount)}"


def _share_words(row: ClaimRow) -> str:
    share = part_of_meter(row.percent or 0, row.item)
    if row.hand_of is None:
        return share
    return f"{share}, for the hand of {hand_place(row.hand_of, row.hand_table)}"


def _who(position: int, patron: str | None) -> str:
    return f"Position {position} ({patron})" if patron else f"Position {position}"


def _due(one: ClaimRow) -> tuple[int, int]:
    won = 0 if one.state == "rejected" or one.only_envy else one.amount
    return won, 0 if one.envy_not_due else one.envy_amount


def _facts(facts: Iterable[Fact], width: float) -> object:
    rows = [
        (paragraph(name, 9, gray=HUSH), paragraph(value, 10.5, bold=True)) for name, value in facts
    ]
    return table(rows, (_LABEL, width - _LABEL), clear=1)


def _cards_drawing(names: Sequence[str], width_max: float) -> object:
    """Return cards such as "Td", the ten of diamonds, in a row of at most `width_max` points."""
    width = min(30.0, width_max / len(names) - _CARD_GAP)
    height = 1.38 * width
    drawing = Drawing(len(names) * (width + _CARD_GAP), height + 2 * _CARD_GAP)
    for number, name in enumerate(names):
        x = number * (width + _CARD_GAP)
        suit, rgb = _SUITS[name[1]]
        signs = [("10" if name[0] == "T" else name[0], 0.59, 0.52), (suit, 0.14, 0.62)]
        if name == JOKER_NAME:
            signs = [(suit, 0.28, 0.9)]  # in the middle: no space where a rank could be written
        edge = 0.1 * width
        drawing.add(
            Rect(
                x,
                _CARD_GAP,
                width,
                height,
                rx=edge,
                ry=edge,
                fillColor=Color(1, 1, 1),
                strokeColor=Color(0.25, 0.25, 0.25),
                strokeWidth=0.8,
            )
        )
        for text, y, size in signs:
            drawing.add(
                String(
                    x + width / 2,
                    _CARD_GAP + y * height,
                    text,
                    fontName=face_of(text, bold=text != suit),
                    fontSize=size * width,
                    fillColor=Color(*rgb),
                    textAnchor="middle",
                )
            )
    return drawing


def amount_words(amount_cents: int) -> str:
    """Return an amount in words. On a printed slip, nobody can change words by adding a digit.

    >>> amount_words(151_000), amount_words(100_045), amount_words(99)
    ('One thousand five hundred ten and 00/100 dollars', 'One thousand and 45/100 dollars', \
'Zero and 99/100 dollars')
    """
    dollars, cents = divmod(amount_cents, 100)
    words = _number(dollars) or "zero"
    return f"{words[0].upper()}{words[1:]} and {cents:02}/100 dollars"


def moment_words(moment: str | datetime, zone: ZoneInfo) -> str:
    """Return the words for a time in the facility's time zone.

    >>> moment_words("2026-11-20T02:14:07.250Z", ZoneInfo("America/New_York"))
    'Thu, Nov 19, 2026, 21:14:07 EST'
    """
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    local = at.astimezone(zone)
    return f"{local:%a, %b} {local.day}, {local:%Y, %H:%M:%S %Z}"


def _number(number: int) -> str:
    for scale, name in _SCALES:
        if number >= scale:
            return f"{_number(number // scale)} {name} {_number(number % scale)}".rstrip()
    if number >= 100:
        return f"{_SMALL[number // 100]} hundred {_number(number % 100)}".rstrip()
    if number >= 20:
        return f"{_TENS[number // 10]}-{_SMALL[number % 10]}".rstrip("-")
    return _SMALL[number]
