"""Two positions of one player without a patron: reported by the dealer, kept until settled."""

import msgspec
import pytest

from bonus.settling.settle_round import settle_line
from controllers.table.state import Phase, TableState
from meters.wire.messages import Result, Wagers
from tests.controllers.floors import HandTable

MAIN = {"ante": 1000, "play": 1000}
DEALERS = "five_card_hand_bonus_dealer"
CARDS = "hand 3 As Ks Qs; hand 4 2h 3h 4h; dealer 2c 3c 4c"
TWO = "wager 3 progressive; wager 4 progressive"

SENT = {
    "as one patron's at lock-out and in the result": f"""
        same_player 3; {TWO}; wager 6 progressive; lockout; patrons: 3 p3, 4 p3, 6 None
        chips 3; {CARDS}; fold 6; settle; patrons: 3 p3, 4 p3, 6 None; joined: none
    """,
    "as one patron's in the result, if they were joined after lock-out": f"""
        wager 4 progressive; lockout; patrons: 4 None; chips 1; same_player 3; {CARDS}; settle
        patrons: 3 p3, 4 p3
    """,
    "with the name reported at lock-out, if others were joined later": f"""
        same_player 3; {TWO}; lockout; chips 2; same_player 2; hand 2 9c 9d 9h; {CARDS}; settle
        patrons: 2 p3, 3 p3, 4 p3
    """,
    "with the patron that a device reported": """
        wager 4 progressive patron=Ann; wager 3 progressive; same_player 2; same_player 3
        lockout; patrons: 3 Ann, 4 Ann
    """,
    "with a name that is nobody else's": """
        wager 6 progressive patron=p3; same_player 3; wager 3 progressive; lockout
        patrons: 3 p3-, 6 p3
    """,
}


@pytest.mark.reading("T9")
@pytest.mark.reading("T17")
@pytest.mark.parametrize("story", SENT.values(), ids=SENT)
def test_positions_of_one_player_are_sent(story: str) -> None:
    HandTable().play(story)


STORIES = {
    "positions of two players are not joined": """
        wager 3 progressive patron=Ann; wager 4 progressive patron=Bob
        same_player 3 -> patron_differs; joined: none; same_player 4
        wager 5 progressive patron=Cid -> patron_differs
    """,
    "positions are parted until they are sent as one player's": f"""
        same_player 3; same_player 3; same_player 3 same=false; joined: none
        same_player 3; {TWO}; lockout; same_player 3 same=false -> same_patron; chips 2
        same_player 5; same_player 5 same=false
    """,
    "only positions of the table with a next one are joined": """
        same_player 0 -> unknown_position; same_player 7 -> unknown_position
        same_player 8 -> unknown_position
    """,
    "the same wagers keep patrons and joined positions": f"""
        wager 6 progressive patron=Ann; {TWO}; same_player 3; lockout; chips 3; {CARDS}; fold 6
        settle; next; repeat; lockout; patrons: 3 p3, 4 p3, 6 Ann
    """,
    "the same wagers keep joined positions after a table was locked out": f"""
        same_player 3; {TWO}; lockout; service knows none; void; repeat; lockout
        patrons: 3 p3, 4 p3
    """,
    "the positions of the same wagers can be parted again": f"""
        same_player 3; {TWO}; lockout; chips 2; {CARDS}; settle; repeat
        same_player 3 same=false; lockout; patrons: 3 None, 4 None
    """,
    "wagers are repeated together or not at all": f"""
        {TWO}; lockout; void; wager 1 progressive; repeat -> wager_twice
        withdraw 1 progressive; repeat; lit: 3 progressive, 4 progressive
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_the_dealer_joins_and_parts_positions(story: str) -> None:
    HandTable().play(story)


def test_positions_are_not_joined_once_the_result_is_in() -> None:
    table = HandTable()
    table.state = TableState(phase=Phase.SETTLING)
    table.play("same_player 3 -> round_over")


def paid(table: HandTable, item: str) -> list[tuple[int, int]]:
    """Return what each position is paid for an item, according to the service's events."""
    wagers, result = table.sent
    assert isinstance(wagers, Wagers)
    assert isinstance(result, Result)
    placed = {position.position: position.wagers for position in wagers.positions}
    dealt = [
        {**msgspec.to_builtins(position), "wagers": {**MAIN, **placed[position.position]}}
        for position in result.positions
    ]
    meters = {"progressive": (100, 100_000), "five_card_hand_bonus": (200, 1_000_000)}
    settled = settle_line(
        msgspec.json.encode(
            {
                "game": "three_card_poker",
                "paytables": {"ante_bonus": "b-A", "progressive": "A"},
                "positions": dealt,
                "dealer": result.dealer,
                "community": result.community,
                "meters": {
                    name: {"wager": wager, "amount": amount}
                    for name, (wager, amount) in meters.items()
                },
            }
        )
    )
    return [(line.position, line.paid) for line in settled.lines if line.item == item]


@pytest.mark.reading("T9")
@pytest.mark.parametrize(("joined", "envied"), [(True, []), (False, [(4, 10_000)])])
def test_reading_t9_nobody_is_paid_envy_for_his_own_hand(
    envied: list[tuple[int, int]], *, joined: bool
) -> None:
    table = HandTable()
    table.play(f"{TWO}; lockout; chips 2; {'same_player 3' * joined}; {CARDS}; settle")
    assert paid(table, "progressive_envy") == envied


@pytest.mark.reading("T17")
@pytest.mark.parametrize("joined", [True, False])
def test_reading_t17_one_player_has_one_share_of_a_jackpot_on_the_dealers_hand(
    *, joined: bool
) -> None:
    table = HandTable()
    table.play(f"""
        wager 1 {DEALERS}; wager 3 {DEALERS}; wager 4 {DEALERS}; {"same_player 3" * joined}
        lockout; chips 0; hand 1 9c 9d 9h; hand 3 2h 7h Jc; hand 4 3h 8d Qc
        dealer As Ks Qs; community Js Ts; settle
    """)
    shares = [(position, cents) for position, cents in paid(table, DEALERS) if cents]
    assert len(shares) == (2 if joined else 3)
    assert len({cents for _, cents in shares}) == 1
