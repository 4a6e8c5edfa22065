"""A meter of a house game whose rates change at an amount: the dice jackpot, at $21.

Below $21, 20% of a wager goes to the meter and 5% to its reserve; from $21 on, 7.5% and 17.5%.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec
import pytest
from redis.asyncio import Redis

from bonus.rounds import Line
from meters.floor.floor_file import parse_floor
from meters.intake.table_catalog import table_topics
from meters.intake.wager_judging import judge_wagers
from meters.ledger.approved_configuration import LinkConfiguration
from meters.wire.messages import Reply, WageredPosition
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.games.test_changing_rates import ABOVE
from tests.games.texts import DRAWN
from tests.model.pit import CENT, Pit, code
from tests.model.tampering import Fields, rewrite
from tests.model.test_asks import Bets, confirm, correct

DICE, BET = "dice_jackpot", "dice_bet"
SEED, THRESHOLD = 2_000 * CENT, 2_100 * CENT
LOW, HIGH = (200_000, 50_000), (75_000, 175_000)

FLOOR: Final = floor_text(
    link_text(
        "dice",
        meter_text(DICE),
        *(table_text(f"T-{n}", DICE, game="keystone_dice", positions=8) for n in (1, 2)),
    ),
    games=str(HOUSE),
    two_people_reject_above=10**9,
)


@pytest.fixture
async def dice(redis: Redis) -> Pit:
    return await Pit.opened(redis, FLOOR)


async def held(pit: Pit) -> tuple[int, int]:
    await pit.check_sound()
    return await pit.meter(DICE), await pit.reserve(DICE)


async def bet(pit: Pit, *positions: int, table: str = "T-1", round_id: str = "R1") -> Reply:
    reply = await pit.wagers(dict.fromkeys(positions, BET), table=table, round_id=round_id)
    assert code(reply) == "accepted"
    return reply


async def roll(
    pit: Pit, rolled: str, *positions: int, table: str = "T-1", round_id: str = "R1"
) -> Sequence[Line]:
    hands = dict.fromkeys(positions, "")
    reply = await pit.result(hands, table=table, round_id=round_id, dealer=rolled, community=None)
    assert code(reply) == "accepted"
    await pit.pay_all([claim.claim for claim in reply.claims or ()])
    return reply.lines or ()


async def corrected(pit: Pit, action: str, position: int, after: Bets) -> None:
    assert code(await correct(pit, action, position, after, wager=BET)) == "unconfirmed"
    await confirm(pit)
    assert code(await correct(pit, action, position, after, wager=BET)) == "accepted"


async def test_the_meter_before_an_event_decides_for_all_of_its_wagers(dice: Pit) -> None:
    await bet(dice, 1, 2, 3, 4)
    assert await held(dice) == (SEED + 4 * LOW[0], 4 * LOW[1])
    await bet(dice, 1, 2, 3, table="T-2")
    meter, reserve = SEED + 7 * LOW[0], 7 * LOW[1]
    assert await held(dice) == (meter, reserve)
    # From here on, the meter is above its threshold.
    await corrected(dice, "add", 5, dict.fromkeys((1, 2, 3, 4, 5), BET))
    assert await held(dice) == (meter + HIGH[0], reserve + HIGH[1])
    await corrected(dice, "take_back", 2, dict.fromkeys((1, 3, 4, 5), BET))
    assert await held(dice) == (meter + HIGH[0] - LOW[0], reserve + HIGH[1] - LOW[1])
    await corrected(dice, "take_back", 5, dict.fromkeys((1, 3, 4), BET))
    assert await held(dice) == (meter - LOW[0], reserve - LOW[1])
    await dice.void(table="T-2")
    assert await held(dice) == (SEED + 3 * LOW[0], 3 * LOW[1])
    await dice.void()
    assert await held(dice) == (SEED, 0)


async def test_wagers_of_a_high_meter_are_taken_back_after_it_fell(dice: Pit) -> None:
    await bet(dice, *range(1, 7), table="T-2")
    await bet(dice, 1, 2, 3)
    meter, reserve = SEED + 6 * LOW[0] + 3 * HIGH[0], 6 * LOW[1] + 3 * HIGH[1]
    assert await held(dice) == (meter, reserve)
    (line, *_) = await roll(dice, "hard_eight", *range(1, 7), table="T-2")
    meter -= 6 * line.paid * CENT
    assert meter < THRESHOLD
    await corrected(dice, "take_back", 1, dict.fromkeys((2, 3), BET))
    assert await held(dice) == (meter - HIGH[0], reserve - HIGH[1])
    await corrected(dice, "add", 7, dict.fromkeys((2, 3, 7), BET))
    assert await held(dice) == (meter - HIGH[0] + LOW[0], reserve - HIGH[1] + LOW[1])
    await dice.void()
    assert await held(dice) == (meter - 3 * HIGH[0], reserve - 3 * HIGH[1])


@pytest.mark.parametrize("cents", [50, 100, 200])
async def test_an_audit_finds_a_wager_taken_back_with_another_amount(dice: Pit, cents: int) -> None:
    """Then it goes on: a part of what the wagers added is never a part of nothing."""
    await bet(dice, 1, 2)
    for position, rest in ((1, (2,)), (2, ())):
        await corrected(dice, "take_back", position, dict.fromkeys(rest, BET))
    numbers = [
        int(entry["id"]) for entry in await dice.entries() if entry["kind"] == "correct_wager"
    ]

    def forged(entry: int, fields: Fields) -> Fields:
        event = msgspec.json.decode(fields[b"event"], type=dict[str, object])
        changed = fields | {b"event": msgspec.json.encode(event | {"amount": cents})}
        return changed if entry == numbers[0] else fields

    await rewrite(dice, forged)
    problems = " ".join((await dice.audit()).problems)
    fault = f"{cents} cents taken back, which no wager on {DICE} is"
    assert (fault in problems) == (cents != 100)
    assert "ZeroDivisionError" not in problems


async def test_the_next_cycle_begins_with_the_larger_reserve(dice: Pit) -> None:
    await bet(dice, *range(1, 7))
    await roll(dice, "other", *range(1, 7))
    await bet(dice, 1, 2, round_id="R2")
    reserve = 6 * LOW[1] + 2 * HIGH[1]
    assert await held(dice) == (SEED + 6 * LOW[0] + 2 * HIGH[0], reserve)
    lines = await roll(dice, "twelve", 1, 2, round_id="R2")
    left = SEED + 6 * LOW[0] + 2 * HIGH[0] - sum(line.paid for line in lines) * CENT
    assert await held(dice) == (1_000 * CENT + reserve + left, 0)


@pytest.mark.parametrize(
    ("rounds", "threshold", "rates"),
    [(5, THRESHOLD + 1, LOW), (4, THRESHOLD - LOW[0], HIGH)],
    ids=["too late by one micro", "too early"],
)
async def test_an_audit_finds_an_event_at_the_wrong_rates(
    dice: Pit, rounds: int, threshold: int, rates: tuple[int, int]
) -> None:
    """Equal wagers with equal transfers before the event do not hide it."""
    for number in range(rounds):
        await bet(dice, 1, round_id=f"R{number}")
        await roll(dice, "other", 1, round_id=f"R{number}")
    known = dice.known["T-1"]
    offers = {
        wager: tuple(replace(each, threshold_micros=threshold) for each in fed)
        for wager, fed in known.offers.items()
    }
    dice.known["T-1"] = replace(known, offers=offers)
    before = await dice.meter(DICE)
    assert (await dice.audit()).problems == ()
    await bet(dice, 1, round_id="R9")
    assert await dice.meter(DICE) == before + rates[0]
    assert (await dice.audit()).problems != ()


def test_wagers_of_two_names_add_up_at_both_rates(tmp_path: Path) -> None:
    above = ABOVE.replace("$21", "$10,001").replace("17.5%", "21.5%")
    text = DRAWN.replace('reserve = "8%"\n', f'reserve = "8%"\n{above}')
    (tmp_path / "drawn.toml").write_text(text)
    table = table_text("T-1", "five_card_hand_bonus", game="drawn", positions=6)
    link = link_text("one", meter_text("five_card_hand_bonus"), table)
    floor = parse_floor(floor_text(link, games=str(tmp_path)))
    known = next(iter(table_topics(floor, floor.link[0]).values()))
    both = WageredPosition(position=1, wagers={"own": 100, "own_dealer": 100})
    other = WageredPosition(position=2, wagers={"own_dealer": 100})
    (added,) = judge_wagers(known, [both, other]).contributions
    assert (added.wagers, added.wagered_cents) == (3, 300)
    assert added.threshold_micros == 1_000_100 * CENT
    assert (added.meter_micros, added.reserve_micros) == (3 * 210_000, 3 * 80_000)
    assert (added.meter_above_micros, added.reserve_above_micros) == (3 * 75_000, 3 * 215_000)


async def test_people_approve_both_rates(dice: Pit) -> None:
    floor = parse_floor(FLOOR)
    words = LinkConfiguration.of(floor, floor.link[0]).in_words
    (line,) = [each for each in words if each.startswith(f"meter {DICE}")]
    assert "20.00% of a wager to the meter; 5.00% to the reserve; from $21.00, 7.50% to the" in line
    shown = await dice.shown_meter(DICE)
    assert (shown.primary_bps, shown.reserve_bps) == (2_000, 500)
    assert (shown.threshold, shown.primary_above_bps, shown.reserve_above_bps) == (
        2_100, 750, 1_750,
    )  # fmt: skip
