"""Must-hit-by meters on a real Redis: who wins, how much, and what everybody can check."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

import msgspec
import pytest
import zstandard
from redis.asyncio import Redis

from bonus.wagers import MUST_HIT_BY
from meters.acts.meter_changes import Adjustment
from meters.intake.batches import LinkIntake
from meters.ledger.accounts import meter_account
from meters.ledger.hidden_values import commitment_of
from meters.ledger.script_steps import ASKS
from meters.store.floor_file_approval import Configuration
from meters.store.hidden_value_seal import HiddenValueError, HiddenValues
from meters.store.link_store import LinkStore, TermsError
from meters.wire.messages import HiddenValueDrawn, OpenedValue, Reply
from tests.approving import approve
from tests.floor_text import (
    ONE_REJECTS,
    floor_text,
    link_text,
    meter_text,
    section_text,
    table_text,
)
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import (
    CENT,
    FIVE_CARD,
    PROGRESSIVE,
    RAGS,
    SERVICES_SECRET,
    Pit,
    event_bytes,
    refused,
    to,
)

MINIMUM, MAXIMUM = 500, 6_000  # cents
ADDED: Final = 50 * CENT  # half of each dollar
MYSTERY: Final = section_text(
    "[[link.meter]]",
    kind=MUST_HIT_BY,
    id="mystery",
    must_hit_by={
        "minimum": MINIMUM, "maximum": MAXIMUM, "rate": "50%",
        "wagers": [PROGRESSIVE, FIVE_CARD], "rule": "H.1",
    },
)  # fmt: skip
FLOOR: Final = floor_text(
    link_text(
        "pit",
        meter_text(PROGRESSIVE),
        meter_text(FIVE_CARD),
        MYSTERY,
        table_text("T-1", PROGRESSIVE, FIVE_CARD, "mystery", asset="104211"),
        table_text("T-2", PROGRESSIVE, FIVE_CARD, "mystery", asset="104212"),
        table_text("T-3", PROGRESSIVE, asset="104213"),
    ),
    two_people_reject_above=ONE_REJECTS,
)
_DRAWN: Final = msgspec.json.Decoder(HiddenValueDrawn)


def chosen(*above_start: int) -> HiddenValues:
    """Draw these values one after the other: so many micros above the start of each cycle."""
    rest = iter(above_start)

    def below(_: int) -> int:
        return next(rest, 10_000_000) - 1

    return HiddenValues([SERVICES_SECRET], below)


async def opened(redis: Redis, *above_start: int, workers: int = 1) -> Pit:
    # A store draws a value at each start, and uses it only for a new meter.
    return await Pit.opened(redis, FLOOR, workers=workers, hidden=chosen(*above_start))


async def drawn(pit: Pit) -> list[HiddenValueDrawn]:
    return [
        _DRAWN.decode(entry["event"])
        for entry in await pit.entries()
        if entry["kind"] == "hidden_value"
    ]


def won(reply: Reply) -> list[tuple[int, str, int]]:
    return [(one.position, one.item, one.amount) for one in reply.claims or ()]


async def test_the_wager_that_reaches_the_hidden_value_wins_it(redis: Redis) -> None:
    """Its fraction of a cent, and what it had over, begin the next cycle."""
    pit = await opened(redis, 3 * ADDED - 12_345)
    for number in (1, 2):
        reply = await pit.wagers({4: PROGRESSIVE}, round_id=f"R{number}")
        assert won(reply) == []
        await pit.void(round_id=f"R{number}")
        await pit.wagers({4: PROGRESSIVE}, table="T-2", round_id=f"R{number}")
        await pit.result({4: ""}, table="T-2", round_id=f"R{number}", folded=[4])
    reply = await pit.wagers({4: PROGRESSIVE}, round_id="R3", patrons={4: "Ann"})
    value = MINIMUM * CENT + 3 * ADDED - 12_345
    cents = value // CENT
    assert won(reply) == [(4, "mystery_jackpot", cents)]
    assert await pit.meter("mystery") == MINIMUM * CENT + MINIMUM * CENT + 3 * ADDED - cents * CENT
    (row,) = await pit.claims.waiting()
    assert (row.patron, row.hand, row.paid_from, row.amount) == (
        "Ann",
        MUST_HIT_BY,
        "hand_pay",
        cents,
    )
    assert [hit.claim for hit in pit.published] == [row.claim]
    await pit.check_sound()
    await pit.result({4: RAGS}, round_id="R3")
    reply = await pit.wagers({4: PROGRESSIVE}, round_id="R4")
    assert reply.status == "accepted", "no card of the win must stay on the table"
    await pit.pay(row.claim)
    await pit.check_sound()


async def test_the_ledger_commits_to_each_value_before_its_first_wager(redis: Redis) -> None:
    pit = await opened(redis, ADDED, 2 * ADDED)
    entries = [entry["kind"] for entry in await pit.entries()]
    assert entries == ["seed", "seed", "seed", "hidden_value"]
    await pit.wagers({1: PROGRESSIVE})
    assert [entry["kind"] for entry in await pit.entries()][-2:] == ["hidden_value", "wagers"]
    first, second = await drawn(pit)
    assert first.opened is None
    assert second.opened is not None
    assert second.opened.micros == MINIMUM * CENT + ADDED
    assert commitment_of("mystery", 1, second.opened) == first.commitment
    assert (first.cycle, second.cycle) == (1, 2)


@pytest.mark.parametrize(
    ("above", "winner"),
    [(1, (7, PROGRESSIVE)), (ADDED, (7, PROGRESSIVE)), (ADDED + 1, (7, FIVE_CARD)),
     (3 * ADDED, (3, FIVE_CARD)), (4 * ADDED, (1, PROGRESSIVE))],
)  # fmt: skip
async def test_wagers_of_one_event_come_in_paying_order(
    redis: Redis, above: int, winner: tuple[int, str]
) -> None:
    pit = await opened(redis, above)
    reply = await pit.wagers(
        {1: PROGRESSIVE, 3: FIVE_CARD, 7: f"{FIVE_CARD} {PROGRESSIVE}"}, patrons={3: "Ben"}
    )
    (claim,) = reply.claims or ()
    assert claim.position == winner[0]
    held = (await pit.audit()).problems
    assert held == ()
    replay = await pit.rebuild()
    assert replay is not None
    await pit.check_sound()


async def test_two_wagers_of_one_event_can_win_one_after_the_other(redis: Redis) -> None:
    pit = await opened(redis, ADDED, ADDED, 9 * ADDED)
    reply = await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE, 3: PROGRESSIVE})
    start = MINIMUM + 50
    assert won(reply) == [(3, "mystery_jackpot", start), (2, "mystery_jackpot", start)]
    assert await pit.meter("mystery") == MINIMUM * CENT + ADDED
    assert [one.cycle for one in await drawn(pit)] == [1, 2, 3]
    claims = [claim.claim for claim in reply.claims or ()]
    assert len({*claims}) == 2
    await pit.check_sound()
    await pit.pay_all(claims)
    await pit.check_sound()


async def test_a_void_takes_no_win_back(redis: Redis) -> None:
    """The house returns what the round added, because the cycle of its wagers is over."""
    pit = await opened(redis, 2 * ADDED)
    reply = await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE, 3: PROGRESSIVE})
    (claim,) = reply.claims or ()
    before = await pit.meter("mystery")
    await pit.void()
    assert await pit.meter("mystery") == before
    await pit.check_sound()
    await pit.pay(claim.claim)
    await pit.check_sound()


async def test_a_void_in_the_same_cycle_lowers_the_meter(redis: Redis) -> None:
    pit = await opened(redis, 3 * ADDED)
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    await pit.void()
    assert await pit.meter("mystery") == MINIMUM * CENT
    reply = await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, round_id="R2")
    assert won(reply) == []
    await pit.check_sound()


async def test_a_wager_that_a_correction_adds_can_win(redis: Redis) -> None:
    pit = await opened(redis, 2 * ADDED)
    await pit.wagers({1: PROGRESSIVE})
    fields = {
        "action": "add", "position": 5, "wager": FIVE_CARD, "amount": 100, "reason": "no light",
        "positions": [
            {"position": 1, "wagers": {PROGRESSIVE: 100}},
            {"position": 5, "wagers": {FIVE_CARD: 100}},
        ],
    }  # fmt: skip
    asked = await pit.event("T-1", "correct_wager", "R1", **fields)
    assert asked.error is not None
    await pit.asks.decide(f"pit.T-1-{asked.seq}", "confirm_correction", "amy")
    reply = await pit.event("T-1", "correct_wager", "R1", **fields)
    assert won(reply) == [(5, "mystery_jackpot", MINIMUM + 100)]
    await pit.check_sound()


async def test_a_rejected_win_waits_for_the_next_cycles(redis: Redis) -> None:
    """More on the meter could take it to its hidden value, and no wager would win it."""
    pit = await opened(redis, ADDED, ADDED)
    reply = await pit.wagers({1: PROGRESSIVE})
    (claim,) = reply.claims or ()
    before = await pit.meter("mystery")
    await pit.decide(claim.claim, "reject")
    assert await pit.meter("mystery") == before
    assert await pit.reserve("mystery") == claim.amount * CENT
    await pit.check_sound()
    await pit.result({1: ""}, folded=[1])
    await pit.wagers({1: PROGRESSIVE}, round_id="R2")
    assert await pit.reserve("mystery") == 0
    assert await pit.meter("mystery") == (MINIMUM + claim.amount) * CENT
    await pit.check_sound()


async def test_the_reserve_never_takes_a_cycle_above_its_middle(redis: Redis) -> None:
    pit = await opened(redis, 90 * ADDED, 40 * ADDED, 40 * ADDED)
    middle = (MINIMUM + MAXIMUM) * CENT // 2
    for cycle in range(3):
        claim, number = None, 0
        while claim is None:
            number += 1
            reply = await pit.wagers({1: PROGRESSIVE}, round_id=f"R{cycle}-{number}")
            await pit.result({1: ""}, round_id=f"R{cycle}-{number}", folded=[1])
            claim = next(iter(reply.claims or ()), None)
        await pit.decide(claim.claim, "reject")
        assert await pit.meter("mystery") <= middle
    assert await pit.reserve("mystery") > 0
    assert await pit.meter("mystery") == middle
    await pit.check_sound()


async def test_two_services_judge_again_when_the_other_was_faster(redis: Redis) -> None:
    """Each remembers the meter, and the script tells it when the meter has moved on."""
    pit = await opened(redis, 5 * ADDED, workers=2)
    for number in range(1, 7):
        table, worker = f"T-{number % 2 + 1}", number // 2 % 2
        pit.seq[table] += 1
        positions = [{"position": 1, "wagers": {PROGRESSIVE: 100}}]
        name = f"R{number}"
        payload = event_bytes(pit.seq[table], "wagers", name, positions=positions)
        reply = await pit.send(table, payload, worker=worker)
        assert reply is not None
        assert (b"claims" in reply) == (number == 5)
        await pit.result({1: ""}, table=table, round_id=name, folded=[1])
    await pit.check_sound()


async def test_tables_and_wagers_outside_do_not_feed_it(redis: Redis) -> None:
    pit = await opened(redis, ADDED)
    reply = await pit.wagers({1: PROGRESSIVE}, table="T-3")
    assert won(reply) == []
    assert await pit.meter("mystery") == MINIMUM * CENT


async def test_redis_and_archive_show_a_value_only_after_its_win(
    redis: Redis, tmp_path: Path
) -> None:
    pit = await opened(redis, 12_345_678)
    kept = Kept(pit, tmp_path)
    await kept.days.open()

    async def seen() -> bytes:
        found = b"".join([await redis.dump(key) or b"" async for key in redis.scan_iter()])
        for entry in await pit.entries():
            found += "".join(entry.values()).encode()
        await kept.days.keep(A_DAY)
        outcome = await kept.run(live_days=400)
        for path in (file.path for file in outcome.written):
            content = zstandard.ZstdDecompressor().stream_reader(
                path.read_bytes(), read_across_frames=True
            )
            found += content.read()
        return found

    await pit.wagers({1: PROGRESSIVE})
    await pit.result({1: ""}, folded=[1])
    value, before = str(MINIMUM * CENT + 12_345_678).encode(), await seen()
    assert before.count((await drawn(pit))[0].sealed.encode()) >= 2, "in Redis and in the archive"
    assert value not in before
    for number in range(2, 6):
        everybody = dict.fromkeys(range(1, 8), PROGRESSIVE)
        await pit.wagers(everybody, round_id=f"R{number}")
        await pit.result(dict.fromkeys(everybody, ""), round_id=f"R{number}", folded=[*everybody])
    assert await pit.claims.waiting()
    after = await seen()
    assert after.count(value) >= 2, "in Redis and in the archive"


async def test_commands_of_redis_show_a_value_only_at_its_win(redis: Redis) -> None:
    """Whoever sees them learns a moment before that a wager is about to win."""
    pit = await opened(redis, 2 * ADDED - 12_345)
    micros = MINIMUM * CENT + 2 * ADDED - 12_345
    whole, cents = msgspec.msgpack.encode(1), micros // CENT
    shows = (whole + msgspec.msgpack.encode(cents), str(micros).encode())
    asks = msgspec.msgpack.encode(("mystery", ASKS))[1:]
    async with redis.monitor() as monitor:

        async def seen() -> list[bytes]:
            await redis.echo(end := uuid4().hex)
            found: list[bytes] = []
            while not found or end.encode() not in found[-1]:
                command = (await monitor.next_command())["command"]
                found.append(command.encode("latin-1").decode("unicode_escape").encode("latin-1"))
            return found

        await pit.wagers({1: PROGRESSIVE})
        await pit.result({1: ""}, folded=[1])
        before = await seen()
        assert [each for each in before if b"mystery" in each]
        assert not [each for each in before if any(one in each for one in (*shows, asks))]
        assert won(await pit.wagers({1: PROGRESSIVE}, round_id="R2"))[0][2] == cents
        at_win = await seen()
    (asked,) = [place for place, each in enumerate(at_win) if asks in each]
    shown = [place for place, each in enumerate(at_win) if shows[0] in each]
    assert shown[0] > asked


async def test_a_false_amount_on_the_meter_opens_its_value_and_is_reported(redis: Redis) -> None:
    """A win is the only way: the ledger has it, and each later audit says that it is false."""
    pit = await opened(redis, 80 * ADDED)
    await pit.wagers({1: PROGRESSIVE})
    await pit.result({1: ""}, folded=[1])
    key, name = pit.store.keys.accounts, meter_account("mystery")
    true_micros = int(await redis.hget(key, name) or 0)
    await redis.hset(key, name, str(MAXIMUM * CENT - 1))
    reply = await pit.wagers({1: PROGRESSIVE}, round_id="R2")
    assert won(reply) == [(1, "mystery_jackpot", MINIMUM + 80 * 50)]
    await redis.hset(key, name, str(true_micros))
    for _ in range(2):
        problems = (await pit.audit()).problems
        assert any("no wager reached the hidden value" in each for each in problems), problems


async def test_a_false_amount_below_the_value_shows_only_that_it_is_higher(redis: Redis) -> None:
    """If the true amount is back before the next audit, nothing is left of it."""
    pit = await opened(redis, 80 * ADDED)
    key, name = pit.store.keys.accounts, meter_account("mystery")
    true_micros = int(await redis.hget(key, name) or 0)
    await redis.hset(key, name, str(true_micros + 70 * ADDED))
    assert won(await pit.wagers({1: PROGRESSIVE})) == []
    assert (await pit.audit()).problems != ()
    await redis.hincrby(key, name, -70 * ADDED)
    assert (await pit.audit()).balanced


async def test_without_the_secret_a_service_takes_no_wagers(redis: Redis) -> None:
    pit = await opened(redis, 9 * ADDED)
    stranger = LinkStore(redis, pit.link, HiddenValues(["another-secret-that-opens-nothing-here"]))
    with pytest.raises(TermsError, match="no secret of this service opens"):
        await stranger.open("service")
    pit.intakes[0] = LinkIntake(stranger)
    with pytest.raises(HiddenValueError, match="no secret of this service opens"):
        await pit.wagers({1: PROGRESSIVE})
    with pytest.raises(TermsError, match="no secret of this service opens"):
        await LinkStore(redis, pit.link).open("service")


async def test_a_restarted_service_goes_on_with_the_same_value(redis: Redis) -> None:
    pit = await opened(redis, 3 * ADDED)
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    await pit.result({1: "", 2: ""}, folded=[1, 2])
    pit.restart()
    assert won(await pit.wagers({6: PROGRESSIVE}, round_id="R2")) == [
        (6, "mystery_jackpot", MINIMUM + 150)
    ]
    await pit.check_sound()


async def test_nobody_adjusts_it(redis: Redis) -> None:
    pit = await opened(redis, 9 * ADDED)
    with refused("bad_value", "only at its end"):
        await pit.change(Adjustment(meter="mystery", amount=-100, reason="as planned"))
    await pit.link_acts.close("pit", "sue", "night")
    for parameter, value in (("limit", 10_000), ("wager", 100), ("paytable", "A")):
        with refused("bad_value"):
            await pit.change(to("mystery", parameter, value))  # type: ignore[arg-type]


async def test_its_money_is_subtracted_after_it_has_left_the_tables(redis: Redis) -> None:
    pit = Pit(redis, FLOOR, hidden=chosen(9 * ADDED))
    await approve(Configuration(pit.floor, pit.store))
    await pit.open()
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    await pit.result({1: "", 2: ""}, folded=[1, 2])
    ended = Pit(redis, FLOOR.replace(', "mystery"]', "]"))
    await approve(Configuration(ended.floor, ended.store))
    await ended.open()
    assert ended.link.must_hit_by_of(ended.link.table[0]) == ()
    await ended.link_acts.close("pit", "sue", "the jackpot ends")
    with refused("bad_value", "only at its end"):
        await ended.change(Adjustment(meter="mystery", amount=100, reason="as planned"))
    await ended.change(Adjustment(meter="mystery", amount=-MINIMUM - 100, reason="as planned"))
    assert await ended.meter("mystery") == 0
    await ended.check_sound()


def _value_not_committed(drawn_value: HiddenValueDrawn) -> HiddenValueDrawn:
    opened_value = drawn_value.opened
    if opened_value is None:
        return drawn_value
    return msgspec.structs.replace(
        drawn_value, opened=OpenedValue(opened_value.micros - 1, opened_value.salt)
    )


@pytest.mark.parametrize(
    ("cheat", "found"), [(_value_not_committed, "not the one that the ledger committed to")]
)
async def test_a_service_that_cheats_is_found(
    redis: Redis,
    cheat: Callable[[HiddenValueDrawn], HiddenValueDrawn],
    found: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pit = await opened(redis, ADDED, 9 * ADDED)
    draw = HiddenValues.draw

    def cheating(self: HiddenValues, *args: object, **fields: object) -> object:
        made = draw(self, *args, **fields)  # type: ignore[arg-type]
        return type(made)(cheat(made.record), made.value)

    monkeypatch.setattr(HiddenValues, "draw", cheating)
    await pit.wagers({1: PROGRESSIVE})
    problems = (await pit.audit()).problems
    assert any(found in problem for problem in problems), problems


async def test_a_win_that_a_service_withheld_is_found(redis: Redis) -> None:
    """The next winner's value shows that an earlier wager had reached it."""
    pit = await opened(redis, 2 * ADDED, 9 * ADDED)
    judge = pit.intakes[0]._must_hit_by
    await pit.wagers({1: PROGRESSIVE})
    await pit.void()
    cycle = judge._cycles["mystery"]
    true_value = cycle.value
    cycle.value = OpenedValue(true_value.micros + 2 * ADDED, true_value.salt)
    assert won(await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, round_id="R2")) == []
    await pit.void(round_id="R2")
    cycle.value = true_value
    assert won(await pit.wagers({5: PROGRESSIVE, 6: PROGRESSIVE}, round_id="R3"))
    problems = (await pit.audit()).problems
    assert any("it was won then, not now" in problem for problem in problems), problems


async def test_a_meter_that_reaches_its_maximum_is_found(redis: Redis) -> None:
    pit = await opened(redis, (MAXIMUM - MINIMUM) * CENT)
    judge = pit.intakes[0]._must_hit_by
    await pit.wagers({1: PROGRESSIVE})
    await pit.result({1: ""}, folded=[1])
    judge._cycles["mystery"].value = OpenedValue(10**12, "00")
    everybody: Sequence[int] = range(1, 8)
    number = 1
    while await pit.meter("mystery") < MAXIMUM * CENT:
        number += 1
        await pit.wagers(
            dict.fromkeys(everybody, f"{PROGRESSIVE} {FIVE_CARD}"), round_id=f"R{number}"
        )
        await pit.result(dict.fromkeys(everybody, ""), round_id=f"R{number}", folded=everybody)
    problems = (await pit.audit()).problems
    assert any("reached its maximum, and nobody won it" in each for each in problems), problems
