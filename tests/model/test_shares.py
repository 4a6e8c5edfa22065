"""Parts of a meter that a hand brings to other players, from the result to the slip.

Keystone Trips: suited trips win 90% of the meter, and 10% for the table. A straight flush wins 10%,
5% for the table, and 2% for each other wager.
"""

import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from unittest.mock import Mock

import msgspec
import pytest
from pypdf import PdfReader
from redis.asyncio import Redis

import meters.intake.result_judging
from bonus.odds.enumerations import Enumerator
from bonus.odds.wager_odds import entry_of
from controllers.panel.settlement_view import held_views, settled_view
from controllers.table.open_settlements import line_state
from controllers.table.state import Layout
from controllers.table.win_decisions import decide
from meters.acts.claim_types import ClaimRow
from meters.acts.floor_history import percent_of_hand
from meters.acts.meter_changes import Adjustment
from meters.floor.floor_file import parse_floor
from meters.floor.patron_words import PatronWords
from meters.floor.paytable_text import pays_of
from meters.ledger.claim_records import record_of
from meters.ledger.day_summary import DayFold
from meters.ledger.script_steps import PercentStep
from meters.reports.wager_filings import hand_rows, rules_of, wager_odds
from meters.selfcheck.floor_offers import floor_offers
from meters.service.link_publisher import LinkPublisher
from meters.service.service_metrics import Metrics
from meters.web.display_state import DisplayState
from meters.web.payout_slip import slip_pdf
from meters.wire.messages import Reply
from tests.controllers.floors import HandTable, accepted
from tests.floor_text import ONE_REJECTS, floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.model.pit import CENT, Pit, code

METER: Final = "trips_jackpot"
WAGER: Final = "trips_progressive"
COMMUNITY: Final = "trips_jackpot_community_share"
ENVY: Final = "trips_jackpot_envy_share"
FLOOR: Final = floor_text(
    link_text(
        "pit",
        meter_text(METER, 500),
        table_text("T-1", METER, game="keystone_trips"),
        table_text("T-2", METER, game="keystone_trips"),
    ),
    games=str(HOUSE),
    two_people_reject_above=ONE_REJECTS,
)
SEED: Final = 250_000
"""In cents: $2,500, which is $500 for each dollar of the wager."""

Won = tuple[int, str, int, int | None]


@pytest.fixture
async def trips(redis: Redis) -> Pit:
    return await Pit.opened(redis, FLOOR)


async def play(
    pit: Pit, bets: Iterable[int], patrons: dict[int, str], round_id: str = "R1", **hands: str
) -> Reply:
    """Play a round; ``p5="trips"`` is the result of position 5, and the others have ``other``."""
    results = {int(name[1:]): result for name, result in hands.items()}
    bets = dict.fromkeys(bets, WAGER)
    return await pit.round(
        bets, dict.fromkeys(bets, "other") | results, dealer="", community=None, patrons=patrons,
        round_id=round_id,
    )  # fmt: skip


def won(reply: Reply) -> list[Won]:
    return [
        (line.position, line.item, line.paid, line.envy_of or line.hand_of)
        for line in reply.lines or ()
        if line.paid
    ]


async def test_holder_and_table_win_the_whole_meter_and_each_share_is_a_hand_pay(
    trips: Pit,
) -> None:
    """By hand. Ann plays two positions: she holds the hand, and has one share like Bob."""
    reply = await play(trips, (2, 4, 6), {4: "ann", 6: "ann"}, p4="suited_trips")
    assert won(reply) == [
        (4, WAGER, 225_202, None),
        (6, COMMUNITY, 12_511, 4),
        (2, COMMUNITY, 12_511, 4),
        (2, "trips_envy", 10_000, 4),
    ]
    assert await trips.meter(METER) == (SEED + 1) * CENT
    assert (await trips.store.snapshot()).meters[f"cycle:{METER}"] == "2"
    assert [(one.position, one.item, one.hand_of, one.amount) for one in reply.claims or ()] == [
        (4, WAGER, None, 225_202), (6, COMMUNITY, 4, 12_511), (2, COMMUNITY, 4, 12_511),
    ]  # fmt: skip
    rows = await trips.claims.waiting()
    assert len({row.hand_record for row in rows}) == 1
    assert {row.claim for row in await trips.claims.hand(rows[2].claim)} == {
        row.claim for row in rows
    }
    assert [(row.cards, row.hand_of, bool(row.envy)) for row in rows] == [
        (("suited_trips",), None, True),
        (("suited_trips",), 4, False),
        (("suited_trips",), 4, False),
    ]
    await trips.check_sound()
    for row in rows:
        assert code(await trips.wagers({1: WAGER}, round_id="R2")) == "held"
        await trips.pay_all([row.claim])
    assert code(await trips.wagers({1: WAGER}, round_id="R2")) == "accepted"
    assert (await trips.accounts())["paid"] == (225_202 + 2 * 12_511 + 10_000) * CENT
    await trips.check_sound()


async def test_history_has_the_parts_of_one_hand_together(trips: Pit) -> None:
    """The last hit is of the whole meter, and its parts are of one balance."""
    reply = await play(trips, (2, 4, 6), {}, p4="suited_trips")
    fold = DayFold("pit", 0, "", {})
    for number, fields in await trips.store.entries(0, 100):
        fold.add(number, fields)
    hits = fold.summary().meters[METER].hits
    assert {hit.before_cents for hit in hits} == {SEED + 225}
    assert len(hits) == len(reply.claims or ())
    records = [
        record_of(fields) for fields in await trips.store.claims([hit.claim for hit in hits])
    ]
    assert percent_of_hand(records[::-1]) == 100
    assert percent_of_hand(records[:1]) == 90
    assert [jackpot.hand_of for jackpot in trips.published] == [None, 4, 4, 4]


async def test_displays_name_no_percentage_beside_one_players_part_of_it(trips: Pit) -> None:
    """Two players divide 10%: neither of them has won 10% of the jackpot."""
    await play(trips, (2, 4, 6), {}, p4="suited_trips")
    displays = DisplayState()
    post = Mock(side_effect=AssertionError)
    await LinkPublisher(trips.store, displays, Metrics(trips.floor), post).show_waiting()
    shown = {(row.item, row.percent) for row in displays.pending_jackpots("pit")}
    assert shown == {(WAGER, 90), (COMMUNITY, None)}


async def two_holders(pit: Pit) -> tuple[Reply, list[ClaimRow]]:
    """Play a round in which position 1 gets both shares of two hands.

    The second hand is paid from what the first has left.
    """
    reply = await play(pit, (5, 3, 1), {}, p5="straight_flush", p3="straight_flush")
    return reply, sorted(await pit.claims.waiting(), key=lambda row: row.turn)


TWO_HOLDERS: Final = [
    (5, WAGER, 25_022, None),
    *((position, COMMUNITY, 4_170, 5) for position in (5, 3, 1)),
    *((position, ENVY, 5_004, 5) for position in (3, 1)),
    (3, WAGER, 20_268, None),
    *((position, COMMUNITY, 3_378, 3) for position in (5, 3, 1)),
    *((position, ENVY, 4_053, 3) for position in (5, 1)),
]


async def test_shares_of_two_hands_for_one_player_have_claims_of_their_own(trips: Pit) -> None:
    reply, rows = await two_holders(trips)
    assert won(reply) == TWO_HOLDERS
    assert await trips.meter(METER) == (SEED + 225) * CENT - sum(
        cents * CENT for _, _, cents, _ in TWO_HOLDERS
    )
    assert len({row.claim for row in rows}) == len(rows) == len(TWO_HOLDERS)
    assert [(row.position, row.item, row.amount, row.hand_of) for row in rows] == TWO_HOLDERS
    await trips.check_sound()


async def test_a_rejected_share_goes_back_to_the_meter_and_can_be_reopened(trips: Pit) -> None:
    _, rows = await two_holders(trips)
    left = await trips.meter(METER)
    share = next(row for row in rows if (row.position, row.item, row.hand_of) == (1, ENVY, 3))
    row = await trips.claims.decide(share.claim, "reject", "amy", reason="the hand was misread")
    assert (row.state, await trips.meter(METER)) == ("rejected", left + 4_053 * CENT)
    others = [one for one in await trips.claims.waiting() if one.claim != share.claim]
    assert len(others) == len(TWO_HOLDERS) - 1
    await trips.check_sound()
    asked = await trips.claims.request_reopening(share.claim, "amy", reason="the camera shows it")
    assert asked.request is not None
    await trips.claims.confirm(share.claim, "ben", asked.request.entry)
    assert await trips.meter(METER) == left
    await trips.check_sound()


@pytest.mark.parametrize("parts", [("90%", "10%"), ("100%", "")], ids=["two parts", "one part"])
@pytest.mark.parametrize("taken", ["won", "subtracted"])
async def test_a_reopened_part_of_a_whole_meter_leaves_the_reseed(
    redis: Redis, tmp_path: Path, parts: tuple[str, str], taken: str
) -> None:
    """By hand: whatever parts won the meter, the house pays what the meter has not above $2,500.

    After the rejection, the meter lost money: to other wins, or because it was subtracted.
    """
    text = (HOUSE / "keystone_trips.toml").read_text()
    text = text.replace('suited_trips = "90% of', f'suited_trips = "{parts[0]} of')
    if not parts[1]:
        text = text.replace('suited_trips = "10% of meter", straight', "straight")
    (tmp_path / "keystone_trips.toml").write_text(text)
    pit = await Pit.opened(redis, FLOOR.replace(str(HOUSE), str(tmp_path)))
    await play(pit, (3, 5), {}, p5="suited_trips")
    rows = sorted(await pit.claims.waiting(), key=lambda row: row.turn)
    assert {row.meter_after for row in rows} == {await pit.meter(METER) // CENT}
    assert {row.meter_after for row in rows} == {jackpot.meter_after for jackpot in pit.published}
    for row in rows:
        await pit.claims.decide(row.claim, "reject", "amy", reason="the hand was misread")
    if taken == "won":
        hands = dict.fromkeys(("p1", "p3", "p5"), "straight_flush")
        await play(pit, (1, 3, 5), {}, round_id="R2", **hands)
    else:
        await pit.change(Adjustment(meter=METER, amount=-SEED, reason="the reseed"))
    before = await pit.accounts()
    asked = await pit.claims.request_reopening(rows[0].claim, "amy", reason="the camera shows it")
    assert asked.request is not None
    await pit.claims.confirm(rows[0].claim, "ben", asked.request.entry)
    assert await pit.meter(METER) == SEED * CENT
    of_house = before["house"] - (await pit.accounts())["house"]
    assert of_house == rows[0].amount * CENT - (before[f"meter:{METER}"] - SEED * CENT)
    await pit.check_sound()


async def test_a_reopened_part_comes_back_from_what_the_other_parts_left(trips: Pit) -> None:
    """The meter is below its reseed, and has all that the rejection gave it."""
    await play(trips, (5, 3), {}, p5="straight_flush")
    left = await trips.meter(METER)
    rows = await trips.claims.waiting()
    assert {row.meter_after for row in rows} == {left // CENT}
    own = next(row for row in rows if row.item == WAGER)
    await trips.claims.decide(own.claim, "reject", "amy", reason="the hand was misread")
    house = (await trips.accounts())["house"]
    asked = await trips.claims.request_reopening(own.claim, "amy", reason="the camera shows it")
    assert asked.request is not None
    await trips.claims.confirm(own.claim, "ben", asked.request.entry)
    assert (await trips.meter(METER), (await trips.accounts())["house"]) == (left, house)
    await trips.check_sound()


async def test_a_hand_without_the_wager_brings_shares(trips: Pit) -> None:
    """Reading T10: nobody wins the holder's 90%, and the cycle goes on."""
    reply = await play(trips, (2, 3), {}, p7="suited_trips")
    assert won(reply) == [
        (3, COMMUNITY, 12_507, 7), (2, COMMUNITY, 12_507, 7),
        (3, "trips_envy", 10_000, 7), (2, "trips_envy", 10_000, 7),
    ]  # fmt: skip
    assert (await trips.store.snapshot()).meters[f"cycle:{METER}"] == "1"
    claims = [claim for (claim,) in sorted((row.claim,) for row in await trips.claims.waiting())]
    assert claims == ["pit.T-1-2-1", "pit.T-1-2-2", "pit.T-1-2-e7"]
    await trips.check_sound()


@pytest.mark.parametrize("lost", ["continues", "reseeds"])
async def test_the_audit_finds_shares_of_another_balance_or_without_a_new_cycle(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    def broken(*parts: object) -> PercentStep:
        right = PercentStep(*parts)  # type: ignore[arg-type]
        return msgspec.structs.replace(right, **{lost: False})

    pit = await Pit.opened(redis, FLOOR)
    monkeypatch.setattr(meters.intake.result_judging, "PercentStep", broken)
    await play(pit, (2, 4, 6), {}, p4="suited_trips")
    problems = " ".join((await pit.audit()).problems)
    assert ("10% of trips_jackpot was" if lost == "continues" else "must move") in problems


async def test_dealers_and_floorpersons_see_whose_hand_brought_a_share(trips: Pit) -> None:
    reply, rows = await two_holders(trips)
    layout = Layout.of(trips.link, trips.link.table[0])
    table = HandTable(layout=layout)
    table.replies += [accepted(1), reply]
    wagers = "; ".join(f"wager {position} {WAGER} 500" for position in (1, 3, 5))
    table.say_all(f"{wagers}; lockout; chips 3; hand 5 straight_flush; hand 3 straight_flush;"
                  " hand 1 other; settle")  # fmt: skip
    settled = table.state.settled
    assert settled is not None
    view = settled_view(layout, settled)
    due = {turn.position: sum(line.amount > 0 for line in turn.lines) for turn in view.turns}
    assert due == {5: 6, 3: 6, 1: 0}
    of_one = [line for turn in view.turns for line in turn.lines if line.position == 1]
    assert [(line.envy_of, line.kind) for line in of_one if line.amount] == [
        (5, "wager"), (5, "envy"), (3, "wager"), (3, "envy"),
    ]  # fmt: skip
    assert len(held_views(layout, table.state)) == len(TWO_HOLDERS)
    share = next(row for row in rows if (row.position, row.item, row.hand_of) == (1, COMMUNITY, 3))
    states = [line_state(settled, number) for number in range(len(settled.lines))]
    assert states.count("hand_pay") == len(TWO_HOLDERS)

    after = decide(table.state, share.claim, "rejected").settled
    assert after is not None
    changed = [
        line
        for number, line in enumerate(after.lines)
        if line_state(after, number) != line_state(settled, number)
    ]
    assert [(line.position, line.item, line.hand_of) for line in changed] == [(1, COMMUNITY, 3)]

    row = await trips.decide(share.claim, "validate")
    pdf = slip_pdf(trips.floor, row, "Sue", datetime(2026, 11, 20, tzinfo=UTC))
    words = " ".join(PdfReader(io.BytesIO(pdf)).pages[0].extract_text().split())
    assert "an equal share of 5% of the meter, for the hand of position 3" in words
    act = (await trips.link_acts.acts("pit", None, 1))[0]
    assert "for the hand of position 3, $33.78" in act.told


def test_patrons_read_what_the_table_divides(redis: Redis) -> None:
    pit = Pit(redis, FLOOR)
    pays = pays_of(pit.link.meter, PatronWords())
    assert pays.rules == (
        "Suited trips: all players who made the wager divide 10% of the meter.",
        "Straight flush: all players who made the wager divide 5% of the meter.",
        "Envy Bonus: paid to every other player who made the wager.",
    )
    cells = {row.hand: [[part.text for part in cell] for cell in row.cells] for row in pays.rows}
    assert cells["Straight flush"] == [["10% of the meter"], ["2% of the meter"]]


async def test_a_reply_names_the_hand_only_for_shares(trips: Pit) -> None:
    await two_holders(trips)
    (entry,) = [one for one in await trips.entries() if one["kind"] == "result"]
    lines = json.loads(entry["reply"])["lines"]
    assert {line["item"] for line in lines if "hand_of" in line} == {COMMUNITY, ENVY}


def test_a_submission_lists_every_share_with_its_section() -> None:
    (offer,) = {offer.wager: offer for offer in floor_offers(parse_floor(FLOOR))}.values()
    entry = entry_of(offer, Enumerator())
    odds = wager_odds(offer, entry)
    assert [(row.hand, row.envy_cents, row.share, row.rule) for row in odds.envy] == [
        ("suited_trips", 10_000, "", "KT.4(c)"), ("straight_flush", 0, "2% of meter", "KT.4(c)"),
    ]  # fmt: skip
    best, straight, *_ = hand_rows(offer, entry)
    assert [(cell.pays, cell.rule) for cell in best.cells] == [
        ("90% of meter", "KT.4(a)"), ("10% of meter", "KT.4(d)"),
    ]  # fmt: skip
    assert [cell.pays for cell in straight.cells] == ["10% of meter", "5% of meter"]
    assert ("community share", "KT.4(d)") in [
        (rule.subject, rule.rule) for rule in rules_of(offer, 0)
    ]
    (meter,) = odds.meters
    assert meter.whole_chance is not None
    assert meter.whole_chance.exact == "1/468"
