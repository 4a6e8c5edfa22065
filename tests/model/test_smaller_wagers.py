"""A meter of a house game with $5, $2.50 and $1 wagers: a whole link, and its audit."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
import pytest
from redis.asyncio import Redis

import bonus.law.meter_terms
from bonus.law.meter_terms import meter_terms
from bonus.rounds import Line
from meters.acts.meter_changes import Adjustment, ParameterChange
from meters.floor.branding import Branding, Language
from meters.floor.patron_words import PatronWords, patron_words
from meters.floor.paytable_text import pays_of, winners_of
from meters.ledger.approved_configuration import LinkConfiguration
from meters.ledger.money_terms import read_terms, terms_text
from meters.wire.messages import Reply
from tests.floor_text import floor_text, link_text, meter_text, section_text, table_text
from tests.games.naive import HOUSE
from tests.model.pit import CENT, HIDDEN_VALUES, Pit, code
from tests.model.tampering import Fields, rewrite
from tests.model.test_asks import confirm

DICE, BET = "dice_jackpot", "dice_bet"
TRIPS, PROGRESSIVE = "trips_jackpot", "trips_progressive"
SEED, THRESHOLD = 10_000 * CENT, 10_500 * CENT
LOW, HIGH = (2_000, 500), (750, 1_750)
"""In micros for each cent: to the meter and to its reserve, below $105 and from there on."""

FLOOR: Final = floor_text(
    link_text(
        "pit",
        meter_text(DICE, 500, smaller_wagers=[250, 100]),
        meter_text(TRIPS, 500, smaller_wagers=[100]),
        section_text("[[link.meter]]", kind="must_hit_by", id="mystery"),
        section_text(
            "[link.meter.must_hit_by]", minimum=5_000_00, maximum=10_000_00, rate="2%",
            wagers=[PROGRESSIVE], rule="H.1",
        ),
        table_text("T-1", DICE, game="keystone_dice", positions=8),
        table_text("T-2", TRIPS, "mystery", game="keystone_trips"),
    ),
    games=str(HOUSE),
    two_people_reject_above=10**9,
)  # fmt: skip

Wagered = Mapping[int, int]


@pytest.fixture
async def pit(redis: Redis) -> Pit:
    return await Pit.opened(redis, FLOOR, hidden=HIDDEN_VALUES)


def placed(
    wagered: Wagered, wager: str, patrons: Mapping[int, str] | None = None
) -> list[dict[str, object]]:
    return [
        {"position": position, "wagers": {wager: cents}}
        | ({"patron": patrons[position]} if patrons and position in patrons else {})
        for position, cents in wagered.items()
    ]


async def bet(
    pit: Pit, wagered: Wagered, *, table: str = "T-1", round_id: str = "R1", **patrons: str
) -> Reply:
    wager = BET if table == "T-1" else PROGRESSIVE
    named = {int(name[1:]): patron for name, patron in patrons.items()}
    return await pit.event(table, "wagers", round_id, positions=placed(wagered, wager, named))


async def roll(pit: Pit, rolled: str, wagered: Wagered, round_id: str = "R1") -> Sequence[Line]:
    reply = await pit.result(
        dict.fromkeys(wagered, ""), round_id=round_id, dealer=rolled, community=None
    )
    assert code(reply) == "accepted", reply
    return reply.lines or ()


async def deal(pit: Pit, hands: Mapping[int, str], round_id: str = "R1") -> Reply:
    reply = await pit.result(hands, table="T-2", round_id=round_id, dealer="", community=None)
    assert code(reply) == "accepted", reply
    return reply


async def corrected(
    pit: Pit, action: str, position: int, cents: int, after: Wagered, *, twice: bool = True
) -> Reply:
    fields = {
        "action": action, "position": position, "wager": BET, "amount": cents,
        "reason": "light without chip", "positions": placed(after, BET),
    }  # fmt: skip
    reply = await pit.event("T-1", "correct_wager", "R1", **fields)
    if twice:
        assert code(reply) == "unconfirmed", reply
        await confirm(pit)
        reply = await pit.event("T-1", "correct_wager", "R1", **fields)
    return reply


async def held(pit: Pit) -> tuple[int, int]:
    await pit.check_sound()
    return await pit.meter(DICE), await pit.reserve(DICE)


def rates(cents: int, of: tuple[int, int] = LOW) -> tuple[int, int]:
    return cents * of[0], cents * of[1]


async def test_each_wager_adds_and_takes_back_what_its_own_amount_added(pit: Pit) -> None:
    assert code(await bet(pit, {1: 500, 2: 100, 3: 250})) == "accepted"
    meter, reserve = rates(850)
    assert await held(pit) == (SEED + meter, reserve)
    after = {1: 500, 3: 250}
    assert code(await corrected(pit, "take_back", 2, 500, after, twice=False)) == "wrong_amount"
    assert code(await corrected(pit, "take_back", 2, 100, after)) == "accepted"
    meter, reserve = rates(750)
    assert await held(pit) == (SEED + meter, reserve)
    assert code(await corrected(pit, "add", 4, 100, after | {4: 100})) == "accepted"
    meter, reserve = rates(850)
    assert await held(pit) == (SEED + meter, reserve)
    assert code(await corrected(pit, "add", 5, 200, after | {4: 100, 5: 200}, twice=False)) == (
        "wrong_amount"
    )
    await pit.void()
    assert await held(pit) == (SEED, 0)


async def test_the_rates_above_the_threshold_come_back_in_proportion_too(pit: Pit) -> None:
    """By hand: six full wagers take the meter to $106; the next event has the other rates."""
    full = dict.fromkeys(range(1, 7), 500)
    assert code(await bet(pit, full)) == "accepted"
    await roll(pit, "other", full)
    meter, reserve = rates(3_000)
    assert SEED + meter >= THRESHOLD
    assert code(await bet(pit, {1: 500, 2: 100, 3: 250}, round_id="R1b")) == "accepted"
    await pit.void(round_id="R1b")
    assert await held(pit) == (SEED + meter, reserve)
    assert code(await bet(pit, {1: 500, 2: 100, 3: 250}, round_id="R2")) == "accepted"
    fields = {
        "action": "take_back", "position": 2, "wager": BET, "amount": 100,
        "reason": "light without chip", "positions": placed({1: 500, 3: 250}, BET),
    }  # fmt: skip
    assert code(await pit.event("T-1", "correct_wager", "R2", **fields)) == "unconfirmed"
    await confirm(pit)
    assert code(await pit.event("T-1", "correct_wager", "R2", **fields)) == "accepted"
    more, saved = rates(750, HIGH)
    assert await held(pit) == (SEED + meter + more, reserve + saved)


async def test_players_with_different_amounts_divide_the_tables_result(pit: Pit) -> None:
    """By hand: of $101.70, four players get a quarter each, or its half or fifth; the rest stays.

    Ann plays two positions, and has her share where her wager is larger.
    """
    wagered = {1: 500, 2: 100, 3: 250, 4: 500, 6: 100}
    assert code(await bet(pit, wagered, p4="ann", p6="ann")) == "accepted"
    meter, reserve = rates(1_450)
    meter += SEED
    lines = await roll(pit, "twelve", wagered)
    cents = meter // CENT
    assert cents == 10_290
    assert [(line.position, line.paid, line.percent) for line in lines] == [
        (6, 0, None), (4, 2_572, 100), (3, 1_286, 50), (2, 514, 20), (1, 2_572, 100),
    ]  # fmt: skip
    meter -= (2 * 2_572 + 1_286 + 514) * CENT
    assert await held(pit) == (meter, reserve)
    assert (await pit.store.snapshot()).meters[f"cycle:{DICE}"] == "1"
    rows = sorted(await pit.claims.waiting(), key=lambda row: row.turn)
    await pit.claims.decide(rows[1].claim, "reject", "amy", reason="the roll was misread")
    assert await held(pit) == (meter + 1_286 * CENT, reserve)
    asked = await pit.claims.request_reopening(rows[1].claim, "amy", reason="the camera shows it")
    assert asked.request is not None
    await pit.claims.confirm(rows[1].claim, "ben", asked.request.entry)
    assert await held(pit) == (meter, reserve)
    await pit.pay_all([row.claim for row in rows])
    await pit.check_sound()


@pytest.mark.parametrize("other", [500, 100])
async def test_only_full_wagers_together_win_the_whole_meter(pit: Pit, other: int) -> None:
    """Holder and table: 90% and 10% of the meter. With a $1 player, 4% stays and no cycle ends."""
    assert code(await bet(pit, {2: 500, 5: other}, table="T-2")) == "accepted"
    reply = await deal(pit, {2: "suited_trips", 5: "other"})
    cycle = (await pit.store.snapshot()).meters[f"cycle:{TRIPS}"]
    assert cycle == ("2" if other == 500 else "1")
    percents = [(line.position, line.percent) for line in reply.lines or () if line.percent]
    assert percents == [(2, 90), (5, 10 if other == 500 else 2), (2, 10)]
    envy = next(line for line in reply.lines or () if line.envy_of)
    assert envy.paid == (10_000 if other == 500 else 2_000)
    await pit.check_sound()


async def test_both_amounts_feed_a_must_hit_by_meter(pit: Pit) -> None:
    assert code(await bet(pit, {2: 500, 5: 100}, table="T-2")) == "accepted"
    assert await pit.meter("mystery") == 500_000 * CENT + 600 * 200
    await pit.check_sound()


async def test_another_amount_is_refused(pit: Pit) -> None:
    reply = await bet(pit, {1: 200})
    assert reply.error is not None
    assert reply.error.message == "dice_bet is offered at 500 or 250 or 100 cents, not 200"


@pytest.fixture
def full_percentages(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Break the product: a smaller wager wins the full percentage."""
    meter_terms.cache_clear()
    yield monkeypatch
    meter_terms.cache_clear()


@pytest.mark.parametrize("hand", ["suited_trips", "straight_flush"])
async def test_the_audit_finds_the_full_percentage_of_a_smaller_wager(
    redis: Redis, full_percentages: pytest.MonkeyPatch, hand: str
) -> None:
    full_percentages.setattr(bonus.law.meter_terms, "part_of_percent", lambda percent, *_: percent)
    pit = await Pit.opened(redis, FLOOR)
    await bet(pit, {2: 100}, table="T-2")
    await deal(pit, {2: hand})
    percent = 90 if hand == "suited_trips" else 10
    problems = " ".join((await pit.audit()).problems)
    assert f"{percent}% of {TRIPS} is not what {hand} wins with 100 cents" in problems


SUM_BESIDE: Final = ('straight_flush = "10% of meter"', 'straight_flush = "10% of meter + $20"')


@pytest.mark.parametrize(
    ("item", "wagered", "hands"),
    [
        (f"{TRIPS}_jackpot", {2: 100}, {2: "straight_flush"}),
        (f"{TRIPS}_community_share", {2: 500, 5: 100}, {2: "suited_trips", 5: "other"}),
        (f"{TRIPS}_envy_share", {2: 500, 5: 100}, {2: "straight_flush", 5: "other"}),
    ],
)
async def test_the_audit_compares_the_wager_of_every_percentage(  # noqa: PLR0917
    redis: Redis,
    full_percentages: pytest.MonkeyPatch,
    tmp_path: Path,
    item: str,
    wagered: Wagered,
    hands: Mapping[int, str],
) -> None:
    """A full percentage for a $1 wager, whose line says $5, would be the approved percentage."""
    full_percentages.setattr(bonus.law.meter_terms, "part_of_percent", lambda percent, *_: percent)
    for file in HOUSE.glob("*.toml"):
        (tmp_path / file.name).write_text(file.read_text("utf-8").replace(*SUM_BESIDE), "utf-8")
    pit = await Pit.opened(redis, FLOOR.replace(str(HOUSE), str(tmp_path)))
    await bet(pit, wagered, table="T-2")
    await deal(pit, hands)

    def forged(_: int, fields: Fields) -> Fields:
        if fields[b"kind"] != b"result":
            return fields
        reply = msgspec.json.decode(fields[b"reply"], type=Reply)
        lines = [
            msgspec.structs.replace(line, wagered=500) if line.item == item else line
            for line in reply.lines or ()
        ]
        changed = msgspec.structs.replace(reply, lines=tuple(lines))
        return fields | {b"reply": msgspec.json.encode(changed)}

    await rewrite(pit, forged)
    position = max(wagered)
    problems = " ".join((await pit.audit()).problems)
    assert f"{item} of position {position} is for a wager of 500 cents" in problems, problems


async def test_the_audit_finds_a_wager_taken_back_with_another_amount(pit: Pit) -> None:
    await bet(pit, {1: 500, 2: 100})
    await corrected(pit, "take_back", 2, 100, {1: 500})
    (number,) = [int(one["id"]) for one in await pit.entries() if one["kind"] == "correct_wager"]

    def forged(entry: int, fields: Fields) -> Fields:
        event = msgspec.json.decode(fields[b"event"], type=dict[str, object])
        changed = fields | {b"event": msgspec.json.encode(event | {"amount": 250})}
        return changed if entry == number else fields

    await rewrite(pit, forged)
    problems = " ".join((await pit.audit()).problems)
    assert f"it takes back 250 cents, but {BET} of position 2 is 100 cents" in problems


def test_people_approve_the_amounts(redis: Redis) -> None:
    pit = Pit(redis, FLOOR)
    configuration = LinkConfiguration.of(pit.floor, pit.link)
    words = next(line for line in configuration.in_words if line.startswith(f"meter {TRIPS}"))
    assert "a $1 wager wins 100/500 of each percentage of it" in words
    before = Pit(redis, FLOOR.replace("smaller_wagers = [100]", ""))
    changes = configuration.changed_from(LinkConfiguration.of(before.floor, before.link))
    assert f"meter {TRIPS} smaller wagers, in cents: none → 100" in changes
    terms = read_terms(terms_text(pit.link.meter[0]))
    assert terms.smaller_wagers == (250, 100)


def test_people_approve_each_percentage_that_can_come_into_force(
    redis: Redis, tmp_path: Path
) -> None:
    """Nobody can choose paytable B: a $1 wager would win 0.201% of the meter for a straight flush.

    The $100 and $20 of the Envy Bonus for suited trips are no percentages.
    """
    for file in HOUSE.glob("*.toml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    trips = tmp_path / "keystone_trips.toml"
    text = trips.read_text("utf-8").replace(
        'rule = "KT.4(a)"', 'rule = "KT.4(a)"\nchoices = ["A", "B"]'
    )
    for cell in ("90% of meter", "10% of meter", "30 for 1"):
        other = "1.01% of meter" if cell == "10% of meter" else cell
        text = text.replace(f' = "{cell}"\n', f' = ["{cell}", "{other}"]\n')
    for cell in ("$500 for 1", "15%"):
        text = text.replace(f' = "{cell}"\n', f' = ["{cell}", "{cell}"]\n')
    text = text.replace(
        'suited_trips = ["10% of meter", "1.01% of meter"]', 'suited_trips = "10% of meter"'
    )
    trips.write_text(text, "utf-8")
    floor = FLOOR.replace(str(HOUSE), str(tmp_path)).replace(
        "smaller_wagers = [100]", 'smaller_wagers = [100]\npaytable = "A"'
    )
    pit = Pit(redis, floor)
    configuration = LinkConfiguration.of(pit.floor, pit.link)
    before = Pit(redis, floor.replace("smaller_wagers = [100]", ""))
    changes = configuration.changed_from(LinkConfiguration.of(before.floor, before.link))
    (shown,) = (one for one in changes if one.startswith(f"meter {TRIPS} percentages"))
    assert "trips progressive suited trips 90%" in shown
    assert "trips progressive straight flush 10%," in shown
    assert "trips envy suited" not in shown


def test_patrons_read_what_a_smaller_wager_wins(redis: Redis) -> None:
    dice, trips, _ = Pit(redis, FLOOR).link.meter
    rules = pays_of((dice,), PatronWords()).rules
    assert rules[-2:] == (
        "A $2.50 wager wins 1/2 of these payouts.", "A $1 wager wins 1/5 of these payouts.",
    )  # fmt: skip
    rules = pays_of((trips,), PatronWords()).rules
    at = rules.index("A $1 wager wins 1/5 of each percentage of the meter.")
    assert rules[at + 1] == (
        "A $1 wager wins these amounts: Suited trips (Envy Bonus) $20; Trips $30."
    )
    assert {won.game for won in winners_of(dice, PatronWords())} == {"$5 wager"}


@pytest.mark.parametrize("language", ["es", "vi", "zh-Hans"])
def test_patrons_read_the_amounts_of_a_smaller_wager_in_their_language(
    redis: Redis, language: Language
) -> None:
    _, trips, _ = Pit(redis, FLOOR).link.meter
    words = patron_words(Branding(languages=(language,)), language)
    (rule,) = (one for one in pays_of((trips,), words).rules if "$30" in one)
    assert "$20" in rule
    assert "wager" not in rule


async def test_a_proposal_of_another_largest_wager_says_what_smaller_ones_then_win(
    redis: Redis,
) -> None:
    pit = await Pit.opened(redis, FLOOR)
    await pit.link_acts.close("pit", "sue", "a larger wager")
    await pit.change(Adjustment(meter=DICE, amount=15_000, reason="the seed of the larger wager"))
    change = ParameterChange(meter=DICE, parameter="wager", value=1_250, reason="larger")
    proposed = await pit.link_acts.propose("pit", "sue", change)
    assert proposed.after == (
        "$12.50; then a $2.50 wager wins 250/1250 of each percentage of the meter, not 250/500;"
        " then a $1 wager wins 100/1250 of each percentage of the meter, not 100/500; tables no"
        " longer take a $5 wager"
    )
    await pit.link_acts.confirm("pit", proposed.proposal, "tim")
    await pit.link_acts.open("pit", "tim")
    await pit.adopt()
    assert code(await bet(pit, {1: 500})) == "wrong_amount"
    assert code(await bet(pit, {1: 1_250, 2: 100})) == "accepted"
    await roll(pit, "twelve", {1: 1_250, 2: 100})
    await pit.check_sound()
