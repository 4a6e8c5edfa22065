"""Two positions of one player without a patron: reported by the dealer, kept until settled."""

import msgspec
import pytest

from bonus.settling.settle import settle_line
from controllers.table.replies import reconcile
from controllers.table.state import TableState
from meters.wire.messages import Result, Wagers
from tests.controllers.floors import HandTable, refusal_code

MAIN = {"ante": 1000, "play": 1000}
DEALERS = "five_card_hand_bonus_dealer"
CARDS = "hand 3 As Ks Qs; hand 4 2h 3h 4h; dealer 2c 3c 4c"


def patrons(table: HandTable, at: int) -> dict[int, str | None]:
    event = table.sent[at]
    assert isinstance(event, Wagers | Result)
    return {position.position: position.patron for position in event.positions}


def code_of(table: HandTable, position: int, *, same: bool = True) -> str | None:
    return refusal_code(table.say("same_player", position=position, same=same))


def join(table: HandTable, *positions: int) -> None:
    for position in positions:
        assert code_of(table, position) is None


@pytest.mark.reading("T9")
@pytest.mark.reading("T17")
def test_boxes_of_one_player_are_sent_as_one_patrons() -> None:
    table = HandTable()
    join(table, 3)
    table.say_all("wager 3 progressive; wager 4 progressive; wager 6 progressive; lockout")
    table.say_all(f"chips 3; {CARDS}; fold 6; settle")
    assert patrons(table, 0) == {3: "p3", 4: "p3", 6: None}
    assert patrons(table, 1) == {3: "p3", 4: "p3", 6: None}
    assert table.state.joined == ()


@pytest.mark.reading("T9")
def test_boxes_joined_after_lock_out_are_one_patrons_in_the_result() -> None:
    table = HandTable()
    table.say_all("wager 4 progressive; lockout; chips 1")
    join(table, 3)
    table.say_all(f"{CARDS}; settle")
    assert (patrons(table, 0), patrons(table, 1)) == ({4: None}, {3: "p3", 4: "p3"})


@pytest.mark.reading("T9")
def test_positions_joined_later_have_the_name_reported_at_lock_out() -> None:
    table = HandTable()
    join(table, 3)
    table.say_all("wager 3 progressive; wager 4 progressive; lockout; chips 2")
    join(table, 2)
    table.say_all(f"hand 2 9c 9d 9h; {CARDS}; settle")
    assert patrons(table, 1) == {2: "p3", 3: "p3", 4: "p3"}


@pytest.mark.reading("T9")
def test_a_patron_from_a_device_is_that_of_all_joined_positions() -> None:
    table = HandTable()
    table.say("wager", position=4, wager="progressive", amount=100, patron="Ann")
    table.say_all("wager 3 progressive")
    join(table, 2, 3)
    table.say_all("lockout")
    assert patrons(table, 0) == {3: "Ann", 4: "Ann"}


@pytest.mark.reading("T9")
def test_the_name_of_joined_boxes_is_nobody_elses() -> None:
    table = HandTable()
    table.say("wager", position=6, wager="progressive", amount=100, patron="p3")
    join(table, 3)
    table.say_all("wager 3 progressive; lockout")
    assert patrons(table, 0) == {3: "p3-", 6: "p3"}


def test_boxes_of_two_players_are_not_joined() -> None:
    table = HandTable()
    table.say("wager", position=3, wager="progressive", amount=100, patron="Ann")
    table.say("wager", position=4, wager="progressive", amount=100, patron="Bob")
    assert code_of(table, 3) == "patron_differs"
    assert table.state.joined == ()
    join(table, 4)
    assert (
        refusal_code(table.say("wager", position=5, wager="progressive", amount=100, patron="Cid"))
        == "patron_differs"
    )


def test_boxes_are_parted_until_they_are_sent_as_one_players() -> None:
    table = HandTable()
    join(table, 3, 3)
    assert code_of(table, 3, same=False) is None
    assert table.state.joined == ()
    join(table, 3)
    table.say_all("wager 3 progressive; wager 4 progressive; lockout")
    assert code_of(table, 3, same=False) == "same_patron"
    table.say_all("chips 2")
    join(table, 5)
    assert code_of(table, 5, same=False) is None


@pytest.mark.parametrize("position", [0, 7, 8])
def test_only_boxes_of_the_table_with_a_next_one_are_joined(position: int) -> None:
    assert code_of(HandTable(), position) == "unknown_position"


def test_the_same_wagers_keep_patrons_and_joins() -> None:
    table = HandTable()
    table.say("wager", position=6, wager="progressive", amount=100, patron="Ann")
    table.say_all("wager 3 progressive; wager 4 progressive")
    join(table, 3)
    table.say_all(f"lockout; chips 3; {CARDS}; fold 6; settle; next; repeat; lockout")
    assert patrons(table, 2) == {3: "p3", 4: "p3", 6: "Ann"}


def test_the_same_wagers_keep_joins_after_a_table_was_locked_out() -> None:
    table = HandTable()
    join(table, 3)
    table.say_all("wager 3 progressive; wager 4 progressive; lockout")
    table.state = reconcile(table.state, None)
    table.say_all("void; repeat; lockout")
    assert patrons(table, 1) == {3: "p3", 4: "p3"}


def test_the_same_wagers_can_be_parted_again() -> None:
    table = HandTable()
    join(table, 3)
    table.say_all(f"wager 3 progressive; wager 4 progressive; lockout; chips 2; {CARDS}; settle")
    table.say_all("repeat")
    assert code_of(table, 3, same=False) is None
    table.say_all("lockout")
    assert patrons(table, 2) == {3: None, 4: None}


def test_wagers_are_repeated_together_or_not_at_all() -> None:
    table = HandTable()
    assert not table.say_short("repeat").ok
    table.say_all("wager 3 progressive; wager 4 progressive; lockout; void; wager 1 progressive")
    state = table.state
    assert not table.say_short("repeat").ok
    assert table.state == state
    table.say_all("withdraw 1 progressive; repeat")
    assert [placed.position for placed in table.state.wagers] == [3, 4]


def test_boxes_are_not_joined_once_the_result_is_in() -> None:
    table = HandTable()
    table.state = TableState(phase=table.state.phase.SETTLING)
    assert code_of(table, 3) == "round_over"


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
    table.say_all("wager 3 progressive; wager 4 progressive; lockout; chips 2")
    if joined:
        join(table, 3)
    table.say_all(f"{CARDS}; settle")
    assert paid(table, "progressive_envy") == envied


@pytest.mark.reading("T17")
@pytest.mark.parametrize("joined", [True, False])
def test_reading_t17_one_player_has_one_share_of_a_jackpot_on_the_dealers_hand(
    *, joined: bool
) -> None:
    table = HandTable()
    for position in (1, 3, 4):
        table.say_all(f"wager {position} five_card_hand_bonus_dealer")
    if joined:
        join(table, 3)
    table.say_all("lockout; chips 0; hand 1 9c 9d 9h; hand 3 2h 7h Jc; hand 4 3h 8d Qc")
    table.say_all("dealer As Ks Qs; community Js Ts; settle")
    shares = [(position, cents) for position, cents in paid(table, DEALERS) if cents]
    assert len(shares) == (2 if joined else 3)
    assert len({cents for _, cents in shares}) == 1
