"""A bad beat, from the result to the slip.

Keystone Five: a pair that is beaten wins 50% of the meter, the hand that beats it 25%, and the
table 25%.
"""

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

import msgspec
import pytest
from pypdf import PdfReader
from redis.asyncio import Redis

import meters.intake.result_judging
from controllers.panel.settlement_view import settled_view
from controllers.table.state import Layout
from controllers.table.win_decisions import decide, hear_win
from meters.acts.floor_history import percent_of_hand
from meters.floor.patron_words import PatronWords
from meters.floor.paytable_text import pays_of
from meters.ledger.claim_records import record_of
from meters.ledger.day_summary import DayFold
from meters.ledger.script_steps import PercentStep
from meters.web.payout_slip import slip_pdf
from meters.wire.messages import Reply
from tests.controllers.floors import HandTable, accepted
from tests.floor_text import ONE_REJECTS, floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.model.pit import CENT, Pit

METER: Final = "five_jackpot"
WAGER: Final = "five_progressive"
LOSER, WINNER, TABLE = (f"{METER}_bad_beat_{part}" for part in ("loser", "winner", "table"))
FLOOR: Final = floor_text(
    link_text(
        "pit",
        meter_text(METER),
        table_text("T-1", METER, game="keystone_five", positions=5),
        table_text("T-2", METER, game="keystone_five", positions=5),
    ),
    games=str(HOUSE),
    two_people_reject_above=ONE_REJECTS,
)
STRAIGHT, FLUSH, NOTHING = "Ac Kd Qh Js Tc", "2d 5d 7d 9d Jd", "2h 4c 6d 8s Td"


@pytest.fixture
async def five(redis: Redis) -> Pit:
    return await Pit.opened(redis, FLOOR)


async def play(pit: Pit, hands: dict[int, str], bets: Iterable[int] = (1, 3, 5)) -> Reply:
    return await pit.round(dict.fromkeys(bets, WAGER), hands, dealer="", community=None)


async def bad_beat(pit: Pit) -> Reply:
    return await play(pit, {5: STRAIGHT, 3: FLUSH, 1: NOTHING})


def won(reply: Reply) -> list[tuple[int, str, int, int | None]]:
    return [
        (line.position, line.item, line.paid, line.hand_of)
        for line in reply.lines or ()
        if line.percent
    ]


async def test_each_part_is_a_hand_pay_and_the_meter_begins_again(five: Pit) -> None:
    reply = await bad_beat(five)
    left = 5_036 - 251 - 478
    assert won(reply) == [
        (5, WAGER, 251, None),
        (3, WAGER, 478, None),
        (5, LOSER, left * 50 // 100, None),
        (3, WINNER, left * 25 // 100, None),
        *((position, TABLE, left * 25 // 100 // 3, 5) for position in (5, 3, 1)),
    ]
    assert (await five.store.snapshot()).meters[f"cycle:{METER}"] == "2"
    rows = await five.claims.waiting()
    assert len(rows) == 7
    await five.check_sound()
    beats = {row.item: row for row in rows if "bad_beat" in row.item}
    assert beats[LOSER].cards == tuple(STRAIGHT.split())
    assert beats[WINNER].cards == tuple(FLUSH.split())
    assert {row.cards for row in rows if row.item == TABLE} == {tuple(STRAIGHT.split())}
    await five.pay_all([row.claim for row in rows])
    await five.check_sound()


async def test_a_rejected_part_goes_to_the_next_cycle_and_can_be_reopened(five: Pit) -> None:
    await bad_beat(five)
    before = await five.meter(METER)
    row = next(row for row in await five.claims.waiting() if row.item == LOSER)
    await five.claims.decide(row.claim, "reject", "amy", reason="the hand was misread")
    assert await five.meter(METER) == before + row.amount * CENT
    await five.check_sound()
    asked = await five.claims.request_reopening(row.claim, "amy", reason="the camera shows it")
    assert asked.request is not None
    await five.claims.confirm(row.claim, "ben", asked.request.entry)
    assert await five.meter(METER) == before
    await five.check_sound()


async def test_history_keeps_the_bad_beat_apart_from_the_wins_of_its_hands(five: Pit) -> None:
    await bad_beat(five)
    fold = DayFold("pit", 0, "", {})
    for number, fields in await five.store.entries(0, 100):
        fold.add(number, fields)
    hits = fold.summary().meters[METER].hits
    assert [hit.before_cents for hit in hits] == [5_036, 5_036 - 251, *(5 * [5_036 - 251 - 478])]
    claims = await five.store.claims([hit.claim for hit in hits])
    records = [record_of(fields) for fields in claims]
    assert percent_of_hand(records[::-1]) == 100
    assert percent_of_hand(records) == 5
    assert [record.shown_percent for record in records] == [5, 10, *(5 * [None])]


@pytest.mark.parametrize("lost", ["continues", "reseeds"])
async def test_the_audit_finds_a_part_of_another_balance_or_without_a_new_cycle(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    def broken(*parts: object) -> PercentStep:
        right = PercentStep(*parts)  # type: ignore[arg-type]
        return msgspec.structs.replace(right, **{lost: False})

    pit = await Pit.opened(redis, FLOOR)
    monkeypatch.setattr(meters.intake.result_judging, "PercentStep", broken)
    await bad_beat(pit)
    problems = " ".join((await pit.audit()).problems)
    assert ("25% of five_jackpot was" if lost == "continues" else "must move") in problems


async def test_dealers_and_floorpersons_see_the_parts(five: Pit) -> None:
    reply = await bad_beat(five)
    rows = {(row.position, row.item): row for row in await five.claims.waiting()}
    layout = Layout.of(five.link, five.link.table[0])
    table = HandTable(layout=layout)
    table.replies += [accepted(1), reply]
    wagers = "; ".join(f"wager {position} {WAGER} 100" for position in (1, 3, 5))
    table.say_all(f"{wagers}; lockout; chips 3; hand 5 {STRAIGHT}; hand 3 {FLUSH}; hand 1 {NOTHING}"
                  "; settle")  # fmt: skip
    settled = table.state.settled
    assert settled is not None
    view = settled_view(layout, settled)
    assert [turn.position for turn in view.turns] == [5, 3, 1, 5, 3, 5]
    assert str(view.turns[3].lines[0].why[0]) == "KV.4(d): a bad beat pays 50% of the meter."
    loser = rows[5, LOSER]
    assert "Five Jackpot Bad Beat (losing hand)" in str(view.turns[3].lines[0].item)

    forgotten = table.state.__class__()
    jackpot = next(one for one in five.published if one.claim == loser.claim)
    reopened = hear_win(layout, forgotten, jackpot)
    assert [(line.item, line.percent) for line in reopened.waiting[0].lines] == [(LOSER, 50)]
    assert decide(reopened, loser.claim, "paid").held == ()

    row = await five.decide(loser.claim, "validate")
    pdf = slip_pdf(five.floor, row, "Sue", datetime(2026, 11, 20, tzinfo=UTC))
    words = " ".join(PdfReader(io.BytesIO(pdf)).pages[0].extract_text().split())
    assert "50% of the meter (equal hands divide it)" in words


def test_patrons_read_what_a_bad_beat_pays(redis: Redis) -> None:
    pit = Pit(redis, FLOOR)
    assert pays_of(pit.link.meter, PatronWords()).rules[1] == (
        "Bad beat: Pair or higher, beaten by the hand of another player who made the wager."
        " All other wins of the round are paid first. The beaten hand wins 50% of the meter."
        " The higher hand wins 25% of the meter. All players who made the wager divide 25% of the"
        " meter."
    )
