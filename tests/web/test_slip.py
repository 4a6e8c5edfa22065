"""The payout slip, read back from the PDF: one page, with everything recorded of a win."""

import io
import unicodedata
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
import pytest
from pypdf import PdfReader

from bonus.printable import name_problem
from meters.acts.claim_types import ClaimRow, EnvyOwed, Wagered
from meters.floor.floor_file import Floor, parse_floor
from meters.process.pdf_pages import parts_of
from meters.web.payout_slip import amount_words, moment_words, slip_pdf
from tests.web.floor_hand import ROYAL
from tests.web.stand import FLOOR, SMALL

NOW: Final = datetime(2026, 11, 20, 2, 30, tzinfo=UTC)
DEMONSTRATION: Final = FLOOR.replace("[facility]", "[facility]\ndemonstration = true", 1)
DECIDED: Final = {"decided_by": "Flo", "decided_at": "2026-11-20T02:16:00Z"}
VALIDATED: Final = {
    "state": "validated", "validated_by": "Flo", "validated_at": "2026-11-20T02:16:00Z",
}  # fmt: skip
PAID: Final = {
    **VALIDATED, "state": "paid", "paid_by": "Finn", "paid_at": "2026-11-20T02:26:00Z",
    "slip": "PS-00412",
}  # fmt: skip


def changed(row: ClaimRow, **fields: object) -> ClaimRow:
    return msgspec.convert(msgspec.to_builtins(row) | fields, ClaimRow)


def slip(row: ClaimRow, floor_text: str = FLOOR, by: str = "Sue") -> bytes:
    floor: Floor = parse_floor(floor_text)
    return slip_pdf(floor, row, by, NOW)


def words_on(pdf: bytes) -> str:
    pages = PdfReader(io.BytesIO(pdf)).pages
    assert len(pages) == 1
    assert (pages[0].mediabox.width, pages[0].mediabox.height) == (612, 792)
    return " ".join(pages[0].extract_text().split())


@pytest.mark.duty("D5", proof=True)
def test_everything_recorded_of_a_win_is_on_its_slip() -> None:
    """Duty D16: date, time, table, position, hand, amount, order; and who did what."""
    words = words_on(slip(changed(ROYAL, **PAID)))
    for fact in (
        "Keystone <Casino> & Resort", "Three Card Poker Jackpot", "5 of 6 Progressive",
        "TCP-04-R12-1", "Thu, Nov 19, 2026, 21:15:30 EST", "TCP-04, asset 104214",
        "Position 7", "Walter Ng", "Royal flush of spades",
        "ace of spades, king of spades, queen of spades", "jack of diamonds, four of hearts",
        "two of clubs, ten of spades, jack of spades", "$23,456.78",
        "Twenty-three thousand four hundred fifty-six and 78/100 dollars", "100% of the meter",
        "$10,000.00", "ledger entry 21; win 1 of 1 of its round", "649a.12(j)(1)", "Hand pay",
        "Position 5 (p5): 5 of 6 Envy Bonus $1,000.00", "Position 2: 5 of 6 Envy Bonus $1,000.00",
        "Five Card Hand Bonus (dealer) $5.00",
        "by Flo, Thu, Nov 19, 2026, 21:16:00 EST", "by Finn, Thu, Nov 19, 2026, 21:26:00 EST",
        "PS-00412", "Tax documents needed", "Printed by Sue, Thu, Nov 19, 2026, 21:30:00 EST",
        "Dealer: name, signature", "Floorperson: name, signature",
        "Cashier or second person: name, signature", "Patron: name, signature",
    ):  # fmt: skip
        assert fact in words, fact
    assert "REJECTED" not in words
    assert "NOT YET VALIDATED" not in words
    assert "Demonstration" not in words


ENVY_AT: Final = DECIDED["decided_at"]
ENVY_ALONE: Final = {
    "only_envy": True, "amount": 0, "percent": None, "envy_amount": 200_000, "state": "validated",
    "envy_state": "validated",
}  # fmt: skip
PLAIN: Final = [{"position": at, "patron": None, "wagers": {"progressive": 100}} for at in (3, 4)]
REJECTED: Final = {
    "state": "rejected", "reason": "Hand misread", "envy_not_due": True, **DECIDED,
}  # fmt: skip


@pytest.mark.parametrize(
    ("row", "facts", "others"),
    [
        pytest.param(SMALL, ["at odds, not from the meter", "Table inventory"],
                     ["% of the meter", "Tax documents"], id="a win at odds"),
        pytest.param(ROYAL, ["NOT YET VALIDATED"], ["REJECTED"], id="not validated"),
        pytest.param(changed(ROYAL, **VALIDATED), [], ["NOT YET VALIDATED"], id="validated"),
        pytest.param(changed(ROYAL, **REJECTED),
                     ["REJECTED", "Hand misread", "by Flo, Thu", "Envy Bonuses: not due"], [],
                     id="rejected, with who and why"),
        pytest.param(changed(ROYAL, envy_state="pending"),
                     ["Envy Bonuses: owed for this hand once the win is decided"], [],
                     id="its Envy waits for its win"),
        pytest.param(changed(ROYAL, envy_state="validated"), ["Envy Bonuses owed for this hand"],
                     [], id="its Envy is owed"),
        pytest.param(changed(ROYAL, envy_state="paid", envy_by="Cora", envy_at=ENVY_AT),
                     ["Envy Bonuses: paid, by Cora, Thu"], [], id="its Envy is paid"),
        pytest.param(changed(ROYAL, **ENVY_ALONE),
                     ["$2,000.00", "Only Envy Bonuses: no win of this hand waits"], [],
                     id="Envy alone is of its sum"),
        pytest.param(changed(ROYAL, wagers=PLAIN, no_win=(4,)),
                     ["Position 4: Progressive $1.00; hand declared to win nothing",
                      "Position 3: Progressive $1.00 Position 4"], [],
                     id="a hand that was declared to win nothing"),
        pytest.param(changed(ROYAL, cards=("As", "Jk", "Qs")),
                     ["ace of spades, joker, queen of spades", "★"], [], id="a joker"),
        pytest.param(changed(ROYAL, patron="Nguyễn Žižka"), ["Nguyễn Žižka"], [],
                     id="letters beyond the standard fonts"),
    ],
)  # fmt: skip
def test_the_slip_says_where_a_win_and_its_envy_are(
    row: ClaimRow, facts: list[str], others: list[str]
) -> None:
    words = words_on(slip(row))
    assert [fact for fact in facts if fact not in words] == []
    assert [other for other in others if other in words] == []


def test_all_payments_of_the_hand_are_on_each_of_its_slips() -> None:
    first = changed(ROYAL, claim="pit.T-1-2-1", percent=100, amount=100_042, envy=(), envy_amount=0)
    envy = [EnvyOwed(position=5, patron=None, item="five_card_envy", amount=30_000)]
    second = changed(
        first, claim="pit.T-1-2-2", item="five_card_progressive", item_name="Five-Card Progressive",
        hand="straight_flush", hand_name="Straight flush", percent=None, amount=5_000,
        state="pending", envy=msgspec.to_builtins(envy), envy_amount=30_000,
    )  # fmt: skip
    floor = parse_floor(FLOOR)
    words = words_on(slip_pdf(floor, first, "Sue", NOW, (first, second)))
    assert "All payments of this hand, without what was rejected: $1,350.42" in words
    assert "100% of the meter: $1,000.42, pending, this slip" in words
    assert "Five-Card Progressive, Straight flush, at odds: $50.00, pending" in words
    assert "Position 5: Five-Card Envy Bonus $300.00" in words
    assert "All payments" not in words_on(slip_pdf(floor, first, "Sue", NOW, (first,)))


@pytest.mark.duty("D4")
@pytest.mark.parametrize(("state", "act"), [("rejected", "Rejected"), ("pending", "Reopened")])
def test_both_people_who_rejected_or_reopened_a_win_are_on_its_slip(state: str, act: str) -> None:
    row = changed(ROYAL, state=state, reason="Misread", requested_by="Amy", **DECIDED)
    words = words_on(slip(row))
    assert (
        f"{act} by Flo, Thu, Nov 19, 2026, 21:16:00 EST, requested by Amy Reason Misread" in words
    )
    assert "requested by" not in words_on(slip(changed(row, requested_by=None)))


def test_a_win_on_the_flop_shows_only_the_community_cards_that_count() -> None:
    flop = ("Qs", "Js", "Ts")
    row = changed(
        ROYAL,
        cards=("As", "Ks"),
        dealer=(),
        community=(*flop, "2c", "3d"),
        counted=("As", "Ks", *flop),
    )
    words = words_on(slip(row))
    assert "queen of spades, jack of spades, ten of spades" in words
    assert "two of clubs" not in words
    river = words_on(slip(changed(row, counted=("As", "Ks", *flop, "2c", "3d"))))
    assert "two of clubs, three of diamonds" in river


@pytest.mark.parametrize("state", ["pending", "paid"])
def test_long_names_and_a_full_table_stay_on_one_page(state: str) -> None:
    patron = "W" * 64
    everything = {
        "progressive": 500, "five_card_progressive": 500, "five_of_six_progressive": 500,
        "five_card_hand_bonus": 123_456, "five_card_hand_bonus_dealer": 123_456,
    }  # fmt: skip
    row = changed(
        changed(ROYAL, **PAID), state=state, patron=patron, claim="C" * 80, round="R" * 64,
        link_name="L" * 80, meter_name="M" * 80, amount=99_999_999_999, slip="S" * 200,
        cards=("As", "Ks", "Qs"), dealer=("2c", "3d", "Th"), community=("Js", "Ts"),
        wagers=msgspec.to_builtins(
            [Wagered(position=at, patron=patron, wagers=everything) for at in range(1, 8)]
        ),
        envy=msgspec.to_builtins(
            [
                EnvyOwed(position=at, patron=patron, item="five_of_six_envy", amount=500_000)
                for at in range(1, 7)
            ]
        ),
    )  # fmt: skip
    pdf = slip(row, DEMONSTRATION.replace("Keystone <Casino> & Resort", "K" * 80), by="P" * 40)
    words = words_on(pdf)
    assert "$999,999,999.99" in words
    assert all(f"Position {at} (WWW" in words for at in range(1, 8))
    placed = places_but_signatures(pdf)
    assert min(y for _, _, y in placed) > 150
    assert {round(x) for text, x, _ in placed if text in {"Won at", "Slip number"}} == {46}


def places_but_signatures(pdf: bytes) -> list[tuple[str, float, float]]:
    """Return the texts of the page with their positions, in points from the lower left corner."""
    places: list[tuple[str, float, float]] = []

    def look(text: str, page: list[float], line: list[float], *_: object) -> None:
        signed = "signature" in text or text.startswith("Printed by")
        across = page[1] != 0
        if text.strip() and not signed and not across:
            x, y = page[0] * line[4] + page[4], page[3] * line[5] + page[5]
            places.append((text.strip(), x, y))

    PdfReader(io.BytesIO(pdf)).pages[0].extract_text(visitor_text=look)
    return places


def test_equal_slips_are_equal_files_and_a_demonstration_is_marked() -> None:
    assert slip(ROYAL) == slip(ROYAL)
    assert slip(ROYAL) != slip(changed(ROYAL, amount=1))
    assert "Demonstration: simulated play, no real money" in words_on(slip(ROYAL, DEMONSTRATION))


def test_amounts_are_written_out() -> None:
    for cents, expected in {
        0: "Zero and 00/100 dollars",
        1_905: "Nineteen and 05/100 dollars",
        2_100: "Twenty-one and 00/100 dollars",
        30_000: "Three hundred and 00/100 dollars",
        100_000_000: "One million and 00/100 dollars",
        99_900_099_912:
            "Nine hundred ninety-nine million nine hundred ninety-nine and 12/100 dollars",
    }.items():  # fmt: skip
        assert amount_words(cents) == expected


@pytest.mark.duty("D16", proof=True)
def test_moments_are_those_of_the_facility() -> None:
    floor = parse_floor(FLOOR)
    zone = ZoneInfo(floor.facility.timezone)
    assert moment_words("2026-07-01T03:59:59Z", zone) == "Tue, Jun 30, 2026, 23:59:59 EDT"


NAMES: Final = {
    "Latin": "Zoë Łukasz Ğışőž Ångström-O\u2019Neill",
    "Vietnamese": "Nguyễn Thị Đặng Ưỡng",
    "Vietnamese in parts": "Nguye\u0302\u0303n",
    "Greek": "Γιώργος Παπαδόπουλος Ύβρις",
    "Cyrillic": "Олександр Щербаков Ђорђе",
    "Chinese": "李小龙 陳大文 歐陽鋒",
    "Japanese": "佐々木 さくら ヴィクター",
    "Korean": "김민준 뷁 똠",
    "several scripts": "Walter 李 (김) Щ",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_patron_s_name_is_printed_in_its_script(name: str) -> None:
    """A character that the font lacks would be extracted as another character, or not at all."""
    assert name_problem(name) is None
    row = changed(ROYAL, patron=name)
    printed = words_on(slip(row, by=name)).replace(" ", "")
    plain = unicodedata.normalize("NFC", name).replace(" ", "")
    assert printed.count(plain) == 2


@pytest.mark.slow
@pytest.mark.parametrize("weight", ["regular", "bold"])
def test_every_character_of_an_accepted_name_has_a_glyph(weight: str) -> None:
    characters = [char for char in map(chr, range(0x1_1000)) if name_problem(f"Щ{char}") is None]
    assert len(characters) > 40_000
    lacking = [
        char for char in characters
        if "".join(part for _, part in parts_of(f"Щ{char}", bold=weight == "bold"))
        != unicodedata.normalize("NFC", f"Щ{char}")
    ]  # fmt: skip
    assert lacking == []


@pytest.mark.parametrize("name", ["สมชาย", "محمد", "דוד", "राज", "𠮷野"])
def test_any_other_name_is_refused_and_an_old_one_is_printed_as_escapes(name: str) -> None:
    assert "write it in Latin letters, as in a passport" in (name_problem(name) or "")
    printed = words_on(slip(changed(ROYAL, patron=name))).replace(" ", "")
    shown = (char if char == "野" else char.encode("unicode_escape").decode() for char in name)
    assert "".join(shown) in printed
    assert "U+1F3B2" in (name_problem("Zoë 🎲") or "")
