"""The table's rules alone: what they accept, what they refuse, what goes to the service."""

import msgspec
import pytest

from controllers.table.device_events import DeviceRefusal, encode_answer, parse_event
from controllers.table.state import Phase
from meters.wire.messages import ErrorDetail, Reply, Result, Void, Wagers
from tests.controllers.floors import HandTable, refusal_code

TO_DEAL = "wager 3 progressive; lockout; chips 1"


@pytest.mark.section("649a.2(c)(1)")
def test_a_wager_lights_up_until_it_is_withdrawn() -> None:
    table = HandTable()
    placed = table.say_short("wager 3 progressive")
    assert (placed.ok, placed.position, placed.wager, placed.light) == (
        True,
        3,
        "progressive",
        True,
    )
    again = table.say_short("wager 3 progressive")
    assert (again.ok, again.light) == (False, True)
    gone = table.say_short("withdraw 3 progressive")
    assert (gone.ok, gone.light) == (True, False)
    assert table.say_all("wager 3 progressive").light is True


REFUSED = [
    ("position 0", "", "wager 0 progressive", "unknown_position"),
    ("position beyond the table", "", "wager 8 progressive", "unknown_position"),
    ("no such wager", "", "wager 1 double", "unknown_wager"),
    ("a wager that feeds no meter", "", "wager 1 ante", "unknown_wager"),
    ("another amount than the meter's", "", "wager 1 progressive 500", "wrong_amount"),
    ("one cent less", "", "wager 1 progressive 99", "wrong_amount"),
    ("twice at a position", "wager 1 progressive", "wager 1 progressive", "wager_twice"),
    ("a wager after lock-out", "lockout", "wager 1 progressive", "betting_locked"),
    ("a wager after the chips", "lockout; chips 0", "wager 1 progressive", "betting_locked"),
    ("nothing to withdraw", "", "withdraw 1 progressive", "no_wager"),
    ("a withdrawal elsewhere", "wager 1 progressive", "withdraw 2 progressive", "no_wager"),
    (
        "a withdrawal after lock-out",
        "wager 1 progressive; lockout",
        "withdraw 1 progressive",
        "betting_locked",
    ),
    ("lock-out twice", "lockout", "lockout", "betting_locked"),
    ("chips before lock-out", "", "chips 0", "not_locked"),
    ("chips twice", "lockout; chips 0", "chips 0", "chips_counted"),
    ("a hand before lock-out", "", "hand 1 As Ks Qs", "not_locked"),
    ("a hand before the chips", "lockout", "hand 1 As Ks Qs", "chips_first"),
    ("settle before the chips", "lockout", "settle", "chips_first"),
    ("settle before lock-out", "", "settle", "not_locked"),
    ("void before lock-out", "wager 1 progressive", "void", "not_locked"),
    ("two cards", TO_DEAL, "hand 3 As Ks", "wrong_cards"),
    ("four cards", TO_DEAL, "hand 3 As Ks Qs Js", "wrong_cards"),
    ("no card", TO_DEAL, "hand 3 As Ks 1s", "bad_card"),
    ("a card twice in a hand", TO_DEAL, "hand 3 As Ks As", "card_twice"),
    ("a card in two hands", f"{TO_DEAL}; hand 1 As Ks Qs", "hand 3 Js Ts Qs", "card_twice"),
    ("the dealer's card again", f"{TO_DEAL}; dealer As Ks Qs", "hand 3 Js Ts Qs", "card_twice"),
    ("a community card again", f"{TO_DEAL}; community As Ks", "dealer Js Ts Ks", "card_twice"),
    ("one community card", TO_DEAL, "community As", "wrong_cards"),
    ("two dealer's cards", TO_DEAL, "dealer As Ks", "wrong_cards"),
    ("a hand twice", f"{TO_DEAL}; hand 3 As Ks Qs", "hand 3 2c 3c 4c", "hand_twice"),
    ("the dealer twice", f"{TO_DEAL}; dealer As Ks Qs", "dealer 2c 3c 4c", "hand_twice"),
    ("the community twice", f"{TO_DEAL}; community As Ks", "community 2c 3c", "hand_twice"),
    ("a hand beyond the table", TO_DEAL, "hand 8 As Ks Qs", "unknown_position"),
    ("a fold beyond the table", TO_DEAL, "fold 8", "unknown_position"),
    ("a fold twice", f"{TO_DEAL}; fold 3", "fold 3", "fold_twice"),
    ("a wagered hand missing", f"{TO_DEAL}; dealer As Ks Qs", "settle", "hand_missing"),
    ("no dealer's hand", f"{TO_DEAL}; hand 3 As Ks Qs", "settle", "dealer_missing"),
]


@pytest.mark.parametrize(
    ("before", "event", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_refused_with_its_code_and_nothing_changed(before: str, event: str, code: str) -> None:
    table = HandTable()
    if before:
        table.say_all(before)
    state, sent = table.state, list(table.sent)
    answer = table.say_short(event)
    assert not answer.ok
    assert isinstance(answer.error, ErrorDetail)
    assert answer.error.code == code
    assert answer.error.message
    assert (table.state, table.sent) == (state, sent)


@pytest.mark.reading("T22")
def test_a_table_without_the_meter_refuses_its_wager() -> None:
    answer = HandTable("T-2").say_short("wager 1 five_card_progressive")
    assert isinstance(answer.error, ErrorDetail)
    assert answer.error.code == "unknown_meter"
    prime = HandTable("T-3").say_short("wager 1 progressive")
    assert isinstance(prime.error, ErrorDetail)
    assert prime.error.code == "unknown_meter"


def test_another_patron_at_the_same_position_is_refused() -> None:
    table = HandTable()
    wager = {"position": 3, "amount": 100}
    assert table.say("wager", wager="progressive", patron="p1", **wager).ok
    assert (
        refusal_code(table.say("wager", wager="five_card_progressive", patron="p2", **wager))
        == "patron_differs"
    )
    assert table.say("wager", wager="five_card_progressive", **wager).ok


def test_duty_d13_no_new_wager_without_a_live_link_but_the_round_goes_on() -> None:
    table = HandTable()
    table.say_all("wager 3 progressive")
    table.fault = DeviceRefusal("link_down", "no beat")
    refused = table.say_short("wager 4 progressive")
    assert isinstance(refused.error, ErrorDetail)
    assert (refused.error.code, refused.light) == ("link_down", False)
    table.say_all("lockout; chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c; settle")
    assert [type(event) for event in table.sent] == [Wagers, Result]


@pytest.mark.parametrize("lit", ["", "wager 3 progressive"])
def test_a_table_begins_no_round_of_a_game_that_has_expired(lit: str) -> None:
    """Wagers that were lit before can be withdrawn."""
    table = HandTable()
    if lit:
        table.say_all(lit)
    table.fault = DeviceRefusal("game_not_in_effect", "cannot be played after 2026-11-23")
    for event in ("wager 4 progressive", "lockout"):
        assert table.refusal(event) == "game_not_in_effect"
    assert table.sent == []
    if lit:
        assert table.say_short("withdraw 3 progressive").ok


@pytest.mark.parametrize("end", ["hand 3 As Ks Qs; dealer 2c 3c 4c; settle", "void misdeal"])
def test_a_table_finishes_the_round_of_a_game_that_has_expired(end: str) -> None:
    table = HandTable()
    table.say_all("wager 3 progressive; lockout")
    table.fault = DeviceRefusal("game_not_in_effect", "cannot be played after 2026-11-23")
    table.say_all(f"chips 1; {end}")
    assert len(table.sent) == 2


def test_duty_d13_a_wager_may_be_withdrawn_without_a_live_link() -> None:
    table = HandTable()
    table.say_all("wager 3 progressive")
    table.fault = DeviceRefusal("link_down", "no beat")
    assert table.say_short("withdraw 3 progressive").ok


@pytest.mark.section("649a.8(b)")
@pytest.mark.section("649a.9(a)(3)")
@pytest.mark.section("649a.10(a)(2)")
def test_the_chips_counted_are_the_chip_wagers_accepted() -> None:
    """Five Card Hand Bonus wagers are electronic and not chips."""
    table = HandTable()
    locked = table.say_all(
        "wager 1 progressive; wager 1 five_card_hand_bonus; wager 2 five_of_six_progressive;"
        "wager 2 five_card_progressive; wager 3 five_card_hand_bonus_dealer; lockout"
    )
    assert locked.chips == 3
    for count in ("2", "4", "5"):
        assert not table.say_short(f"chips {count}").ok
        assert table.state.phase is Phase.LOCKED
    assert table.say_short("chips 3").ok
    assert table.state.phase is Phase.DEALT


@pytest.mark.section("649a.8(b)")
@pytest.mark.parametrize("count", [0, 2])
def test_a_wrong_count_is_refused_and_stays_visible_until_the_right_one(count: int) -> None:
    table = HandTable()
    table.say_all("wager 1 progressive; lockout")
    assert table.refusal(f"chips {count}") == "chips_differ"
    assert (table.state.phase, table.state.differs, len(table.sent)) == (Phase.LOCKED, count, 1)
    table.say_all("chips 1")
    assert (table.state.phase, table.state.differs) == (Phase.DEALT, None)


@pytest.mark.section("649a.8(b)")
@pytest.mark.section("649a.13")
def test_a_wrong_count_may_end_in_a_void() -> None:
    table = HandTable()
    table.say_all("wager 1 progressive; lockout")
    assert not table.say_short("chips 2").ok
    assert table.say_short("void").ok
    assert table.state.phase is Phase.OPEN
    assert table.say_short("wager 1 progressive").ok


@pytest.mark.section("649a.8(b)")
def test_what_was_accepted_goes_out_at_lock_out_by_position() -> None:
    table = HandTable()
    table.say("wager", position=5, wager="progressive", amount=100)
    table.say("wager", position=2, wager="five_card_hand_bonus", amount=200, patron="p2")
    table.say("wager", position=2, wager="progressive", amount=100)
    table.say_all("lockout")
    assert msgspec.to_builtins(table.sent[0]) == {
        "type": "wagers",
        "seq": 1,
        "at": "2026-11-20T02:14:07Z",
        "round": "R1",
        "positions": [
            {
                "position": 2,
                "patron": "p2",
                "wagers": {"five_card_hand_bonus": 200, "progressive": 100},
            },
            {"position": 5, "patron": None, "wagers": {"progressive": 100}},
        ],
    }


def test_a_round_without_a_progressive_wager_sends_nothing() -> None:
    table = HandTable()
    table.say_all("lockout; chips 0; hand 3 As Ks Qs; fold 4; dealer 2c 3c 4c; settle")
    table.say_all("wager 3 progressive; withdraw 3 progressive; lockout; chips 0; void")
    table.say_all("lockout; void")
    assert table.sent == []
    assert table.state.phase is Phase.OPEN


def test_the_names_of_rounds_are_numbered_without_gaps() -> None:
    table = HandTable()
    table.say_all(f"{TO_DEAL}; void; {TO_DEAL}; fold 3; dealer As Ks Qs; settle; {TO_DEAL}")
    assert [(event.round, event.seq) for event in table.sent if not isinstance(event, Result)] == [
        ("R1", 1),
        ("R1", 2),
        ("R2", 3),
        ("R3", 5),
    ]


def positions_of(event: object) -> dict[int, tuple[tuple[str, ...] | None, bool]]:
    assert isinstance(event, Result)
    return {
        dealt.position: (None if dealt.cards is None else tuple(dealt.cards), dealt.folded)
        for dealt in event.positions
    }


@pytest.mark.reading("T8")
@pytest.mark.section("649a.11(c)")
@pytest.mark.parametrize("entered", [True, False])
def test_reading_t8_a_folded_hand_is_in_the_result_where_it_stayed_to_be_entered(
    *, entered: bool
) -> None:
    """Nobody sees collected cards. Entered cards have stayed, if only for a Six Card Bonus."""
    table = HandTable()
    hand = "hand 3 As Ks Qs; " if entered else ""
    table.say_all(f"wager 3 progressive; lockout; chips 1; {hand}fold 3; hand 4 2c 3c 4c")
    table.say_all("dealer 2d 3d 4d; community 2h 3h; settle")
    cards = ("As", "Ks", "Qs") if entered else None
    assert positions_of(table.sent[-1]) == {3: (cards, True), 4: (("2c", "3c", "4c"), False)}


@pytest.mark.reading("T8")
def test_reading_t8_a_hand_that_is_collected_unread_may_be_folded_without_its_cards() -> None:
    table = HandTable()
    table.say_all("wager 3 progressive; wager 4 five_of_six_progressive; lockout; chips 2; fold 3")
    assert table.refusal("fold 4") == "hand_missing"
    table.say_all("hand 4 As Ks Qs; fold 4; fold 5; dealer 2c 3c 4c; settle")
    assert positions_of(table.sent[-1]) == {
        3: (None, True),
        4: (("As", "Ks", "Qs"), True),
        5: (None, True),
    }


@pytest.mark.section("649a.8(d)")
@pytest.mark.parametrize(
    ("wager", "chips", "needed"),
    [
        ("progressive", 1, False),
        ("five_of_six_progressive", 1, False),
        ("five_card_progressive", 1, True),
        ("five_card_hand_bonus", 0, True),
        ("five_card_hand_bonus_dealer", 0, True),
    ],
)
def test_community_cards_are_needed_where_they_are_dealt(
    wager: str, chips: int, *, needed: bool
) -> None:
    table = HandTable()
    table.say_all(f"wager 3 {wager}; lockout; chips {chips}; hand 3 As Ks Qs; dealer 2c 3c 4c")
    answer = table.say_short("settle")
    assert answer.ok is not needed
    if needed:
        assert isinstance(answer.error, ErrorDetail)
        assert answer.error.code == "community_missing"
        table.say_all("community Js Ts; settle")
        assert isinstance(table.sent[-1], Result)
        assert table.sent[-1].community == ["Js", "Ts"]


@pytest.mark.section("649a.13")
@pytest.mark.reading("T28")
@pytest.mark.parametrize(
    "before",
    [
        "wager 3 progressive; lockout",
        TO_DEAL,
        f"{TO_DEAL}; hand 3 As Ks Qs",
        f"{TO_DEAL}; hand 3 As Ks Qs; dealer 2c 3c 4c",
    ],
)
def test_a_round_can_be_void_at_any_point_after_lock_out(before: str) -> None:
    table = HandTable()
    table.say_all(before)
    assert table.say_short("void").ok
    assert table.state.phase is Phase.OPEN
    assert not table.state.wagers
    assert isinstance(table.sent[-1], Void)
    assert (table.sent[-1].round, table.sent[-1].reason) == ("R1", "misdeal")


def test_refused_wagers_go_back_and_the_round_is_played_without_progressives() -> None:
    table = HandTable()
    error = ErrorDetail(code="link_closed", message="closed for the night")
    table.replies.append(Reply(seq=1, status="refused", error=error))
    table.say_all("wager 3 progressive; wager 3 five_card_progressive")
    locked = table.say_short("lockout")
    assert (locked.ok, locked.error) == (False, error)
    assert not table.state.is_lit(3, "progressive")
    assert not table.say_short("chips 1").ok
    table.say_all("chips 2; hand 3 As Ks Qs; dealer 2c 3c 4c; settle")
    assert len(table.sent) == 1
    assert table.say_all(f"{TO_DEAL}").ok


def test_a_refused_result_can_be_settled_again_or_voided() -> None:
    table = HandTable()
    table.say_all(f"{TO_DEAL}; hand 3 As Ks Qs; dealer 2c 3c 4c")
    table.replies.append(Reply(seq=2, status="refused"))
    assert not table.say_short("settle").ok
    assert table.state.phase is Phase.DEALT
    assert table.say_short("settle").ok
    assert [event.seq for event in table.sent] == [1, 2, 3]


def test_a_four_card_prime_table_has_its_own_number_of_cards() -> None:
    table = HandTable("T-3")
    table.say_all("lockout; chips 0; hand 1 As Ks Qs Js Ts; dealer 2c 3c 4c 5c 6c 7c; settle")
    assert table.sent == []


BAD_LINES = [
    (b"", "not_json"),
    (b"hello", "not_json"),
    (b'{"event": "lockout"', "not_json"),
    (b"\xff\xfe", "not_json"),
    (b"[" * 4000, "bad_event"),
    (b"[]", "bad_event"),
    (b"{}", "bad_event"),
    (b'{"event": "dance"}', "bad_event"),
    (b'{"event": "lockout", "now": true}', "bad_event"),
    (b'{"event": "chips"}', "bad_event"),
    (b'{"event": "chips", "count": "4"}', "bad_event"),
    (b'{"event": "chips", "count": true}', "bad_event"),
    (b'{"event": "chips", "count": 4.0}', "bad_event"),
    (b'{"event": "chips", "count": -1}', "bad_event"),
    (b'{"event": "wager", "position": 1, "wager": "progressive", "amount": 1.5}', "bad_event"),
    (b'{"event": "wager", "position": 1, "wager": "progressive", "amount": 0}', "bad_event"),
    (b'{"event": "wager", "position": 1, "wager": "progressive", "amount_cents": 1}', "bad_event"),
    (b'{"event": "void"}', "bad_event"),
    (b'{"event": "hand", "position": 1, "cards": "AsKsQs"}', "bad_event"),
    (b'{"event": "void", "reason": "mis\\u001b[2Jdeal"}', "unprintable_text"),
    (b'{"event": "void", "reason": "mis\\rdeal"}', "unprintable_text"),
    (b'{"event": "void", "reason": "  "}', "unprintable_text"),
    (b'{"event": "done", "round": "R\\u202e1"}', "unprintable_text"),
    (
        b'{"event": "wager", "position": 1, "wager": "x", "amount": 100, "patron": "p\xc2\x9b"}',
        "unprintable_text",
    ),
    (
        b'{"event": "wager", "position": 1, "wager": "x", "amount": 100, "patron": "\\u0e2a"}',
        "unprintable_text",
    ),
    (b'{"event": "wager", "position": 1, "wager": "progressive", "amount": 1e2}', "bad_event"),
    (b'{"event": "chips", "count": 4, "count": 5}', "bad_event"),
    (b'{"event": "done", "round": "R1", "lines": {"0": "ask", "0": "pay"}}', "bad_event"),
    (b'{"event": "chips", "count": 4' + b" " * 4096 + b"}", "line_too_long"),
]


@pytest.mark.parametrize(("line", "code"), BAD_LINES)
def test_a_line_that_is_no_device_event_is_refused(line: bytes, code: str) -> None:
    with pytest.raises(DeviceRefusal) as caught:
        parse_event(line)
    assert caught.value.code == code


def test_answers_are_one_line_each_with_the_fields_of_the_contract() -> None:
    table = HandTable()
    line = encode_answer(table.say_short("wager 3 progressive"))
    assert msgspec.json.decode(line) == {
        "event": "wager",
        "ok": True,
        "position": 3,
        "wager": "progressive",
        "light": True,
    }
    locked = msgspec.json.decode(encode_answer(table.say_short("lockout")))
    assert locked == {"event": "lockout", "ok": True, "round": "R1", "draw": None, "chips": 1}
    assert b"\n" not in encode_answer(table.say_short("chips 9"))
