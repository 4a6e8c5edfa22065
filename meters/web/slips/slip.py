"""The payout slip: one win on one Letter page, with all that is recorded of it and who signs.

What duty D16 asks of every win stands on it: date, time, table, position, hand, amount, order.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from bonus.display import card_words, hand_words, item_words, money
from meters.floor.demonstration import MARK
from meters.floor.floor_file import Floor
from meters.floor_api.types import ClaimRow, EnvyOwed, Wagered
from meters.web.slips.formatting import amount_words, moment_words
from meters.web.slips.sheet import FAINT, HUSH, INNER, MARGIN, WIDTH, SlipPage

_SIGNATURES: Final = ("Dealer", "Floorperson", "Cashier or second person", "Patron")
_MARKS: Final = {"rejected": "REJECTED", "pending": "NOT YET VALIDATED", "paid": "PAID"}
_TAX_NOTICE: Final = "Tax documents are needed before this is paid"
_SIGNING_HEIGHT: Final = 118.0
_SMALLEST: Final = 0.4
_STEP: Final = 0.04
_GAP: Final = 18.0
_LABEL: Final = 84.0
_PAID_FROM: Final = {
    "hand_pay": "Hand pay",
    "table_inventory": "Table inventory",
    "game_account": "Game account",
}

Fact = tuple[str, str]


def slip_pdf(floor: Floor, row: ClaimRow, printed_by: str, at: datetime) -> bytes:
    """The slip of one win as a PDF of one page (duty D16; the order is that of duty D7).

    What has much to say is set smaller until it fits. Equal wins, printed by the same person at
    the same moment, give equal files.

    Args:
        floor: the facility, its zone, and whether it is a demonstration.
        row: the win; amounts in cents.
        printed_by: who prints it.
        at: when, an aware moment.
    """
    scale = 1.0
    while True:
        sheet = SlipPage(f"Payout slip {row.claim}", floor.facility.name, scale)
        _Slip(floor, row, sheet).write()
        if sheet.y >= MARGIN + _SIGNING_HEIGHT or scale <= _SMALLEST:
            break
        scale -= _STEP
    _sign(sheet)
    zone = ZoneInfo(floor.facility.timezone)
    printed = f"Printed by {printed_by}, {moment_words(at, zone)} · claim {row.claim}"
    sheet.foot(f"{printed} · rule {row.rule}" if row.rule else printed, MARGIN - 16)
    return sheet.finished()


def _sign(sheet: SlipPage) -> None:
    width = (INNER - _GAP) / 2
    for at, who in enumerate(_SIGNATURES):
        x = MARGIN + (at % 2) * (width + _GAP)
        y = MARGIN + 62 - (at // 2) * 48
        sheet.signature(f"{who}: name, signature, date and time", x, y, width)


class _Slip:
    """One win, written on one sheet from the top down."""

    def __init__(self, floor: Floor, row: ClaimRow, sheet: SlipPage) -> None:
        self._facility = floor.facility
        self._zone = ZoneInfo(floor.facility.timezone)
        self._row = row
        self._sheet = sheet

    def write(self) -> None:
        mark = _MARKS.get(self._row.state)
        if mark:
            self._sheet.across(mark)
        self._head()
        self._amount()
        self._facts()
        self._cards()
        self._evidence()
        self._decisions()

    def _head(self) -> None:
        sheet = self._sheet
        if self._facility.demonstration:
            sheet.line(MARK, 11, bold=True, align="center")
        sheet.line(self._facility.name, 17, bold=True)
        sheet.line("Progressive payout slip", 11, gray=HUSH)
        sheet.rule(0)

    def _amount(self) -> None:
        row, sheet = self._row, self._sheet
        sheet.down(4)
        if row.tax_documents and row.state in {"pending", "validated"}:
            top = sheet.y
            sheet.down(3)
            sheet.line(_TAX_NOTICE, 12, bold=True, align="center")
            sheet.down(5)
            sheet.frame(top)
            sheet.down(4)
        cents = row.envy_amount if row.only_envy else row.amount
        sheet.line(money(cents), 34, bold=True)
        sheet.text(amount_words(cents), 11)
        sheet.down(2)

    def _facts(self) -> None:
        sheet = self._sheet
        sheet.rule()
        width = (INNER - _GAP) / 2
        top = sheet.y
        bottoms = []
        for x, facts in ((MARGIN, self._where()), (MARGIN + width + _GAP, self._what())):
            sheet.y = top
            for name, told in facts:
                self._fact(name, told, x, width)
            bottoms.append(sheet.y)
        sheet.y = min(bottoms)

    def _fact(self, name: str, text: str, x: float, width: float) -> None:
        sheet = self._sheet
        label = _LABEL * min(sheet.scale, 1)
        start = sheet.y
        sheet.down(1.5)
        sheet.line(name, 9, x=x, width=label, gray=HUSH)
        after = sheet.y
        sheet.y = start
        sheet.text(text, 10.5, x=x + label, width=width - label, bold=True)
        sheet.y = min(after, sheet.y)
        sheet.down(1.5)

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
        yield "Wager", f"{row.item_name or item_words(row.item)}, {money(row.wagered)}"
        yield "Hand", row.hand_name or hand_words(row.hand)
        if row.only_envy:
            yield "Pays", "Envy Bonuses alone: no win of this hand waits"
        elif row.percent is None:
            yield "Pays", "at odds, not off the meter"
        else:
            yield "Pays", f"{row.percent}% of the meter"
            yield "Meter after it", money(row.meter_after)
        yield "Paid from", _PAID_FROM.get(row.paid_from, item_words(row.paid_from))
        yield "Order", f"ledger entry {row.order}; win {row.turn} of {row.turns} of its round"
        if row.rule:
            yield "Rule", row.rule
        yield "State", row.state
        if row.tax_documents:
            yield "Tax documents", "needed"

    def _cards(self) -> None:
        groups = [
            (title, names)
            for title, names in (
                (f"Position {self._row.position}", self._row.cards),
                ("Dealer", self._row.dealer),
                ("Community", self._row.community),
            )
            if names
        ]
        if not groups:
            return
        sheet = self._sheet
        sheet.rule()
        gap = 14.0
        width = (INNER - gap * (len(groups) - 1)) / len(groups)
        top = sheet.y
        bottoms = []
        for at, (title, names) in enumerate(groups):
            x = MARGIN + at * (width + gap)
            sheet.y = top
            sheet.line(title, 9, x=x, width=width, gray=HUSH)
            card = min(30 * sheet.scale, width / len(names) - 4)
            sheet.y -= 1.38 * card + 4
            for number, name in enumerate(names):
                sheet.card(name, x + number * (card + 4), sheet.y, card)
            sheet.down(1)
            sheet.text(", ".join(map(card_words, names)), 8, x=x, width=width, gray=HUSH)
            bottoms.append(sheet.y)
        sheet.y = min(bottoms)

    def _evidence(self) -> None:
        row, sheet = self._row, self._sheet
        if row.wagers:
            sheet.rule()
            sheet.line("Wagers accepted at lock-out", 9, gray=HUSH)
            for wagered in row.wagers:
                sheet.text(_wagered(wagered), 9)
        if row.envy:
            sheet.rule()
            sheet.text(self._envy_words(), 9, gray=HUSH)
            for owed in row.envy:
                sheet.text(_owed(owed), 9)

    def _envy_words(self) -> str:
        """Where the Envy Bonuses of the hand are."""
        row = self._row
        if row.envy_state == "paid":
            by = f", {self._by(row.envy_by, row.envy_at)}" if row.envy_by else ""
            return f"Envy Bonuses: paid{by}"
        if row.envy_not_due:
            return f"Envy Bonuses: not due, {row.envy_reason or 'the hand was not as entered'}"
        if row.envy_state == "pending":
            return "Envy Bonuses: owed for this hand once the win is decided"
        return "Envy Bonuses owed for this hand"

    def _decisions(self) -> None:
        facts = list(self._decided())
        if not facts:
            return
        sheet = self._sheet
        sheet.rule(FAINT)
        for name, told in facts:
            self._fact(name, told, MARGIN, WIDTH - 2 * MARGIN)

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
            yield "Rejected", self._by(row.decided_by or "", row.decided_at)
            yield "Reason", row.reason or "none given"

    def _by(self, who: str, at: str | None) -> str:
        return f"by {who}, {moment_words(at, self._zone)}" if at else f"by {who}"


def _who(position: int, patron: str | None) -> str:
    return f"Position {position} ({patron})" if patron else f"Position {position}"


def _wagered(one: Wagered) -> str:
    wagers = ", ".join(f"{item_words(item)} {money(cents)}" for item, cents in one.wagers.items())
    return f"{_who(one.position, one.patron)}: {wagers}"


def _owed(one: EnvyOwed) -> str:
    return f"{_who(one.position, one.patron)}: {item_words(one.item)} {money(one.amount)}"
