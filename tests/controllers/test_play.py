"""The table's rules alone: what they accept, what they refuse, what goes to the service."""

import msgspec
import pytest

from controllers.table.device_events import DeviceRefusal, encode_answer, parse_event
from tests.controllers.floors import HandTable

TO_DEAL = "wager 3 progressive; lockout; chips 1"
READ = "hand 3 As Ks Qs; dealer 2c 3c 4c"
DEALT = "wager 3 progressive; wager 4 five_of_six_progressive; lockout; chips 2"
TWO = "wager 3 progressive; wager 5 progressive; lockout; chips 2"


@pytest.mark.section("649a.2(c)", proof=True)
@pytest.mark.section("649a.2(c)(1)", proof=True)
def test_a_wager_lights_up_until_it_is_withdrawn() -> None:
    HandTable().play("""
        wager 3 progressive; light: yes
        wager 3 progressive -> wager_twice; light: yes
        withdraw 3 progressive; light: no
        wager 3 progressive; light: yes
    """)


REFUSED = {
    "while betting is open": """
        wager 0 progressive -> unknown_position; wager 8 progressive -> unknown_position
        wager 1 double -> unknown_wager; wager 1 ante -> unknown_wager
        wager 1 progressive 500 -> wrong_amount; wager 1 progressive 99 -> wrong_amount
        repeat -> nothing_there; withdraw 1 progressive -> no_wager
        chips 0 -> not_locked; hand 1 As Ks Qs -> not_locked; settle -> not_locked
        wager 1 progressive; wager 1 progressive -> wager_twice
        withdraw 2 progressive -> no_wager; void -> not_locked; retract hand 3 -> not_locked
    """,
    "after lock-out": """
        wager 1 progressive; lockout
        wager 2 progressive -> betting_locked; withdraw 1 progressive -> betting_locked
        lockout -> betting_locked; next -> betting_locked; retract chips -> chips_first
        hand 1 As Ks Qs -> chips_first; no_win -> chips_first; settle -> chips_first
        chips 1; chips 1 -> chips_counted; wager 2 progressive -> betting_locked
    """,
    "before the first card": f"""
        {DEALT}; fold 8 -> unknown_position; hand 8 As Ks Qs -> unknown_position
        hand 3 As Ks -> wrong_cards; hand 3 As Ks Qs Js -> wrong_cards
        hand 3 As Ks 1s -> bad_card; hand 3 As Ks As -> card_twice
        community As -> wrong_cards; dealer As Ks -> wrong_cards
        retract hand -> no_position; retract hand 3 -> nothing_there
        retract fold 3 -> nothing_there; retract dealer -> nothing_there
        retract community -> nothing_there
    """,
    "among the cards": f"""
        {TO_DEAL}; dealer As Ks Qs; settle -> hand_missing; dealer 2c 3c 4c -> hand_twice
        hand 3 Js Ts Qs -> card_twice; retract chips -> cards_first
        community 2h 3h; community 4h 5h -> hand_twice; hand 3 2h 4c 5c -> card_twice
        hand 1 Jc Tc 9c; hand 3 Js Ts 9c -> card_twice; hand 1 2d 3d 4d -> hand_twice
        fold 3; fold 3 -> fold_twice
    """,
    "without the dealer's hand": f"{TO_DEAL}; hand 3 As Ks Qs; settle -> dealer_missing",
    "of a hand that stays folded": f"""
        {DEALT}; hand 4 As Ks Qs; fold 4; retract hand 4 -> fold_first
    """,
    "of what went to the service": """
        retract wagers -> bad_event; retract lockout -> bad_event; retract settle -> bad_event
    """,
}


@pytest.mark.parametrize("story", REFUSED.values(), ids=REFUSED)
def test_refused_with_its_code_and_nothing_changed(story: str) -> None:
    HandTable().play(story)


@pytest.mark.reading("T22")
def test_a_table_without_the_meter_refuses_its_wager() -> None:
    HandTable("T-2").play("wager 1 five_card_progressive -> unknown_meter")
    HandTable("T-3").play("wager 1 progressive -> unknown_meter")


STORIES = {
    "another patron at the same position is refused": """
        wager 3 progressive patron=p1; wager 3 five_card_progressive patron=p2 -> patron_differs
        wager 3 five_card_progressive
    """,
    "duty D13: no new wager without a live link, but the round goes on": f"""
        wager 3 progressive; wager 4 progressive; fault link_down
        wager 5 progressive -> link_down; light: no; withdraw 4 progressive
        lockout; chips 1; {READ}; settle; sent: Wagers R1 1, Result R1 2
    """,
    "no round of a game begins that has expired": """
        fault game_not_in_effect; lockout -> game_not_in_effect; fault none
        wager 3 progressive; fault game_not_in_effect; wager 4 progressive -> game_not_in_effect
        lockout -> game_not_in_effect; withdraw 3 progressive; sent: none
    """,
    "the round of a game that has expired is settled": f"""
        wager 3 progressive; lockout; fault game_not_in_effect; chips 1; {READ}; settle
        sent: Wagers R1 1, Result R1 2
    """,
    "the round of a game that has expired is void": """
        wager 3 progressive; lockout; fault game_not_in_effect; chips 1; void
        sent: Wagers R1 1, Void R1 2
    """,
    "a round without a progressive wager sends nothing": """
        lockout; chips 0; hand 3 As Ks Qs; fold 4; dealer 2c 3c 4c; settle
        wager 3 progressive; withdraw 3 progressive; lockout; chips 0; void
        lockout; void; sent: none; phase: open
    """,
    "the names of rounds are numbered without gaps": f"""
        {TO_DEAL}; void; {TO_DEAL}; fold 3; dealer As Ks Qs; settle; {TO_DEAL}
        sent: Wagers R1 1, Void R1 2, Wagers R2 3, Result R2 4, Wagers R3 5
    """,
    "refused wagers go back, and the round is played without progressives": f"""
        wager 3 progressive; wager 3 five_card_progressive
        service refuses link_closed; lockout -> link_closed; lit: none
        chips 1 -> chips_differ; chips 2; {READ}; settle; sent: Wagers R1 1; {TO_DEAL}
    """,
    "a refused result can be settled again": f"""
        {TO_DEAL}; {READ}; service refuses store_failed; settle -> store_failed; phase: dealt
        settle; sent: Wagers R1 1, Result R1 2, Result R1 3
    """,
    "each mistake is taken back, and what is right is settled": f"""
        {DEALT}; hand 3 As Ks Qs; retract hand 3; hand 3 2h 3h 4h; fold 3; retract fold 3
        dealer As Ks Qs; retract dealer; dealer 5c 6c 7c; community As Ks; retract community
        hand 4 As Ks Qs; fold 4; retract fold 4; settle
        positions: 3 2h 3h 4h, 4 As Ks Qs; dealer: 5c 6c 7c; community: none
    """,
    "a collected hand can be taken back while its fold stays": f"""
        {DEALT}; hand 3 As Ks Qs; fold 3; retract hand 3; hands: none; folded: 3
    """,
    "a fold with collected cards is taken back, and the hand entered": f"""
        {DEALT}; fold 3 cards=collected; retract fold 3; hand 3 As Ks Qs; retract hand 3
        folded: none; collected: none; hands: none
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_story_of_the_rules(story: str) -> None:
    HandTable().play(story)


def test_a_four_card_prime_table_has_its_own_number_of_cards() -> None:
    HandTable("T-3").play("""
        lockout; chips 0; hand 1 As Ks Qs Js Ts; dealer 2c 3c 4c 5c 6c 7c; settle; sent: none
    """)


@pytest.mark.section("649a.8(b)", "649a.9(a)(3)", "649a.10(a)(2)", proof=True)
def test_the_chips_counted_are_the_chip_wagers_accepted() -> None:
    """Five Card Hand Bonus wagers are electronic and not chips."""
    HandTable().play("""
        wager 1 progressive; wager 1 five_card_hand_bonus; wager 2 five_of_six_progressive
        wager 2 five_card_progressive; wager 3 five_card_hand_bonus_dealer; lockout; chips: 3
        chips 2 -> chips_differ; chips 4 -> chips_differ; chips 5 -> chips_differ; phase: locked
        chips 3; phase: dealt
    """)


@pytest.mark.section("649a.8(b)", proof=True)
@pytest.mark.section("649a.13")
def test_a_wrong_count_is_refused_and_stays_visible_until_the_right_one() -> None:
    """A wrong count may end in a void too."""
    wrong = "wager 1 progressive; lockout; chips 2 -> chips_differ; differs: 2; phase: locked"
    HandTable().play(f"{wrong}; chips 0 -> chips_differ; differs: 0; sent: Wagers R1 1; chips 1")
    HandTable().play(f"{wrong}; chips 1; phase: dealt; differs: none")
    HandTable().play(f"{wrong}; void; phase: open; wager 1 progressive")
    HandTable().play(f"""
        {DEALT}; retract chips; phase: locked; chips 2; fold 3; retract chips -> cards_first
        retract fold 3; retract chips; phase: locked
    """)


@pytest.mark.section("649a.8(b)")
def test_what_was_accepted_goes_out_at_lock_out_by_position() -> None:
    table = HandTable()
    table.play("""
        wager 5 progressive; wager 2 five_card_hand_bonus patron=p2; wager 2 progressive; lockout
    """)
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


FOLDED = {
    "it was entered, and has stayed if only for a Six Card Bonus": f"""
        {TO_DEAL}; hand 3 As Ks Qs; fold 3; hand 4 2c 3c 4c; dealer 2d 3d 4d; community 2h 3h
        settle; positions: 3 As Ks Qs folded, 4 2c 3c 4c
    """,
    "it was not entered": f"""
        {TO_DEAL}; fold 3; hand 4 2c 3c 4c; dealer 2d 3d 4d; settle
        positions: 3 folded, 4 2c 3c 4c
    """,
    "it may be collected unread, unless a wager keeps it": f"""
        {DEALT}; fold 3; fold 4 -> hand_missing; hand 4 As Ks Qs; fold 4; fold 5
        dealer 2c 3c 4c; settle; positions: 3 folded, 4 As Ks Qs folded, 5 folded
    """,
    "it is in the rack though it was entered": f"""
        {TWO}; hand 5 As Ks Qs; fold 5 cards=collected; hands: none
        hand 5 Ad Kd Qd -> cards_collected; hand 3 As Kc Qd; dealer 2c 3c 4c; settle
        positions: 3 As Kc Qd, 5 folded
    """,
    "a Six Card Bonus keeps it": f"""
        {TWO}; fold 3; fold 5 cards=stay -> hand_missing; hand 5 As Ks Qs; fold 5 cards=stay
        dealer 2c 3c 4c; settle; positions: 3 folded, 5 As Ks Qs folded
    """,
    "a wager of this table keeps it": f"""
        {DEALT}; hand 4 As Ks Qs; fold 4 cards=collected -> cards_stay; fold 4 cards=stay
    """,
}


@pytest.mark.reading("T8")
@pytest.mark.section("649a.11(c)")
@pytest.mark.parametrize("story", FOLDED.values(), ids=FOLDED)
def test_reading_t8_a_folded_hand_is_in_the_result_where_it_stayed_to_be_entered(
    story: str,
) -> None:
    HandTable().play(story)


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
    missing = "settle -> community_missing; community Js Ts;" if needed else ""
    HandTable().play(f"""
        wager 3 {wager}; lockout; chips {chips}; {READ}; {missing} settle
        community: {"Js Ts" if needed else "none"}
    """)


@pytest.mark.section("649a.13")
@pytest.mark.reading("T28")
@pytest.mark.parametrize(
    "before",
    ["wager 3 progressive; lockout", TO_DEAL, f"{TO_DEAL}; hand 3 As Ks Qs", f"{TO_DEAL}; {READ}"],
)
def test_a_round_can_be_void_at_any_point_after_lock_out(before: str) -> None:
    HandTable().play(f"{before}; void; phase: open; lit: none; sent: Wagers R1 1, Void R1 2")


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
