"""One wager corrected before the first card: added or taken back, confirmed, and exact in money."""

from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from meters.archive.day_file import ArchiveError
from meters.books.stored_tables import STATE
from meters.intake import validation
from meters.wire.messages import Reply
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import DRAWN
from tests.model.kept import Kept
from tests.model.pit import AT, BONUS, CENT, FIVE_CARD, FLOOR, PROGRESSIVE, Pit, code, event_bytes
from tests.model.tampering import Fields, rewrite
from tests.model.test_asks import (
    Bets,
    assert_sound,
    confirm,
    correct,
    opened,
    positions,
    refuse,
    the_ask,
    void,
)
from tests.model.test_entered import HAND, count_of

pytestmark = pytest.mark.duty("D17")


async def corrected(
    pit: Pit, action: str, position: int, after: Bets, *, wager: str = PROGRESSIVE
) -> Reply:
    """Correct a wager with a floorperson's confirmation."""
    assert code(await correct(pit, action, position, after, wager=wager)) == "unconfirmed"
    await confirm(pit)
    reply = await correct(pit, action, position, after, wager=wager)
    assert code(reply) == "accepted", reply
    await assert_sound(pit)
    return reply


async def test_two_lights_and_one_chip_cost_nobody_the_round(pit: Pit) -> None:
    """The light without a chip is taken back, and the round goes on with its draw."""
    await pit.wagers({1: PROGRESSIVE, 2: f"{PROGRESSIVE} {BONUS}"})
    before = await pit.accounts(), await pit.entries()
    assert code(await correct(pit, "take_back", 1, {2: f"{PROGRESSIVE} {BONUS}"})) == "unconfirmed"
    assert (await pit.accounts(), await pit.entries()) == before
    ask = await the_ask(pit)
    assert (ask.what, ask.reason, ask.cards) == ("take_back_wager", "light without chip", ())
    assert ask.wager is not None
    assert (ask.wager.position, ask.wager.wager, ask.wager.amount) == (1, PROGRESSIVE, 100)
    await confirm(pit)
    with capture_logs() as lines:
        assert code(await correct(pit, "take_back", 1, {2: f"{PROGRESSIVE} {BONUS}"})) == "accepted"
    (line,) = [one for one in lines if one["event"] == "wager corrected"]
    assert (line["action"], line["confirmed_by"]) == ("take_back", "Ada")
    (entry,) = [one for one in await pit.entries() if one["kind"] == "correct_wager"]
    assert entry["by"] == "table:T-1, confirmed by Ada"
    assert msgspec.json.decode(entry["transfers"]) == [
        [f"meter:{PROGRESSIVE}", "table:T-1", 140_000, 1]
    ]
    (act, decided) = await pit.link_acts.acts("pit", None, 2)
    words = "round R1: Progressive of $1.00 at position 1 taken back"
    assert (act.what, act.told) == ("correct_wager", f"{words}: light without chip")
    assert (decided.what, decided.told) == ("confirm_correction", words)
    assert count_of(pit, "pitlink_table_wagers_corrected_total", "T-1") == 1
    await assert_sound(pit)
    reply = await pit.result({1: "4h 8s Qc", 2: "3h 6s Jc"})
    assert [(one.position, one.item) for one in reply.lines or ()] == [
        (2, PROGRESSIVE), (2, BONUS),
    ]  # fmt: skip
    await assert_sound(pit)


async def test_a_chip_without_a_light_is_in_play(pit: Pit) -> None:
    await opened(pit)
    before = await pit.meter(PROGRESSIVE)
    await corrected(pit, "add", 3, {1: PROGRESSIVE, 3: PROGRESSIVE})
    assert await pit.meter(PROGRESSIVE) == before + 140_000
    reply = await pit.result({1: "3h 6s Jc", 3: "As Ks Qs"})
    (claim,) = reply.claims or ()
    assert (claim.position, claim.item) == (3, PROGRESSIVE)
    assert await pit.audit() is not None
    record = (await pit.claims.waiting())[0]
    assert [one.position for one in record.wagers] == [1, 3]
    await assert_sound(pit)


WRONG: dict[str, tuple[tuple[str, int, Bets], dict[str, object], str]] = {
    "it is not there": (("take_back", 2, {1: PROGRESSIVE}), {}, "no_wager"),
    "it is there": (("add", 1, {1: PROGRESSIVE}), {}, "wager_twice"),
    "no such position": (("add", 9, {1: PROGRESSIVE, 9: PROGRESSIVE}), {}, "unknown_position"),
    "another amount": (
        ("add", 2, {1: PROGRESSIVE, 2: PROGRESSIVE}), {"amount": 500}, "wrong_amount",
    ),
    "no such wager": (("add", 2, {1: PROGRESSIVE, 2: "ante"}), {"wager": "ante"}, "unknown_wager"),
    "no chip": (("add", 2, {1: PROGRESSIVE, 2: BONUS}), {"wager": BONUS}, "electronic_wager"),
    "one more": (
        ("add", 2, {1: PROGRESSIVE, 2: PROGRESSIVE, 3: PROGRESSIVE}), {}, "wagers_differ",
    ),
    "one less": (("add", 2, {2: PROGRESSIVE}), {}, "wagers_differ"),
    "not done": (("add", 2, {1: PROGRESSIVE}), {}, "wagers_differ"),
    "another patron": (
        ("add", 1, {1: f"{PROGRESSIVE} {FIVE_CARD}"}),
        {"wager": FIVE_CARD,
         "positions": positions({1: f"{PROGRESSIVE} {FIVE_CARD}"}, {1: "p9"})},
        "wagers_differ",
    ),
    "a position twice": (
        ("add", 2, {}),
        {"positions": positions({1: PROGRESSIVE}) + positions({2: PROGRESSIVE}) * 2},
        "position_twice",
    ),
    "a blank reason": (
        ("take_back", 1, {}), {"reason": " "}, "unprintable_text",
    ),
    "another round": (("take_back", 1, {}), {"round_id": "R0"}, "unknown_round"),
}  # fmt: skip


@pytest.mark.parametrize(("tried", "fields", "refusal"), WRONG.values(), ids=WRONG)
async def test_a_wrong_correction_is_refused_and_nobody_is_asked(
    pit: Pit, tried: tuple[str, int, Bets], fields: dict[str, object], refusal: str
) -> None:
    await opened(pit)
    before = await pit.accounts(), await pit.entries()
    assert code(await correct(pit, *tried, **cast("dict[str, Any]", fields))) == refusal
    assert await pit.asks.asks() == []
    assert (await pit.accounts(), await pit.entries()) == before
    await assert_sound(pit)


@pytest.mark.section("649a.7(c)")
async def test_after_a_card_it_is_impossible(pit: Pit) -> None:
    """The service knows of cards from a request, even if that was refused; or the round is over."""
    await opened(pit)
    await void(pit)
    assert code(await correct(pit, "take_back", 1, {})) == "cards_entered"
    await refuse(pit)
    pit.restart()
    assert code(await correct(pit, "take_back", 1, {})) == "cards_entered"
    assert (await pit.result({1: "As Ks Qs"})).status == "accepted"
    assert code(await correct(pit, "take_back", 1, {})) == "round_over"
    await assert_sound(pit)


async def test_cards_that_become_known_meanwhile_stop_it(pit: Pit) -> None:
    """Another worker learns of the cards: this one still thinks that there are none."""
    pit = Pit(pit.redis, workers=2)
    await opened(pit)
    assert code(await correct(pit, "take_back", 1, {})) == "unconfirmed"
    await confirm(pit)
    pit.seq["T-1"] += 1
    payload = event_bytes(
        pit.seq["T-1"], "void", "R1", at=AT, reason="misdeal", entered=[HAND], confirm=True
    )
    assert await pit.send("T-1", payload, worker=1) is not None
    assert code(await correct(pit, "take_back", 1, {})) == "cards_entered"


async def test_without_any_wager_the_round_is_over(pit: Pit) -> None:
    await opened(pit)
    before = await pit.meter(PROGRESSIVE)
    await corrected(pit, "take_back", 1, {})
    assert await pit.meter(PROGRESSIVE) == before - 140_000
    state = await pit.store.state()
    assert state.rounds_open == 0
    assert code(await pit.void()) == "round_over"
    await pit.round({1: PROGRESSIVE}, {1: "3h 6s Jc"}, round_id="R2")
    await assert_sound(pit)


async def test_a_confirmation_is_for_one_correction(pit: Pit) -> None:
    await opened(pit)
    both = {1: PROGRESSIVE, 2: PROGRESSIVE}
    await corrected(pit, "add", 2, both)
    await corrected(pit, "take_back", 2, {1: PROGRESSIVE})
    assert code(await correct(pit, "add", 2, both)) == "unconfirmed"
    await confirm(pit)
    others: list[dict[str, Any]] = [
        {"reason": "another"}, {"positions": positions(both, {2: "p2"})}, {"wager": FIVE_CARD},
    ]  # fmt: skip
    for changed in others:
        after = {1: PROGRESSIVE, 2: FIVE_CARD} if "wager" in changed else both
        assert code(await correct(pit, "add", 2, after, **changed)) == "unconfirmed"
    await refuse(pit, "No chip there")
    after = {1: PROGRESSIVE, 2: FIVE_CARD}
    reply = await correct(pit, "add", 2, after, wager=FIVE_CARD)
    assert reply.error is not None
    assert reply.error.message == "Ada refused this correction: No chip there"
    await assert_sound(pit)
    assert (await pit.void()).status == "accepted"
    await assert_sound(pit)


@pytest.mark.duty("D15")
async def test_the_meter_of_each_wager_at_its_time_gives_it_back(pit: Pit) -> None:
    """The meter is won between lock-out and correction: the wager before stays with the house."""
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    await pit.round({1: PROGRESSIVE}, {1: "As Ks Qs"}, table="T-2")
    await corrected(pit, "add", 3, dict.fromkeys((1, 2, 3), PROGRESSIVE))
    meter, house = await pit.meter(PROGRESSIVE), (await pit.accounts())["house"]
    await corrected(pit, "take_back", 1, dict.fromkeys((2, 3), PROGRESSIVE))
    assert (await pit.meter(PROGRESSIVE), (await pit.accounts())["house"]) == (
        meter, house - 140_000,
    )  # fmt: skip
    await corrected(pit, "take_back", 3, {2: PROGRESSIVE})
    assert (await pit.meter(PROGRESSIVE), (await pit.accounts())["house"]) == (
        meter - 140_000, house - 140_000,
    )  # fmt: skip
    assert (await pit.void()).status == "accepted"
    assert (await pit.meter(PROGRESSIVE), (await pit.accounts())["house"]) == (
        meter - 140_000, house - 280_000,
    )  # fmt: skip
    assert (await pit.accounts())["table:T-1"] == 0
    await assert_sound(pit)


async def test_at_its_limit_a_meter_gives_its_overflow_first(redis: Redis) -> None:
    """The limit is 20 cents above the seed, and a wager adds 14 cents."""
    text = FLOOR.replace(meter_text(PROGRESSIVE), meter_text(PROGRESSIVE, limit=100_020))
    pit = await Pit.opened(redis, text)

    async def held() -> tuple[int, int]:
        accounts = await pit.accounts()
        over = accounts.get(f"overflow:{PROGRESSIVE}", 0)
        return accounts[f"meter:{PROGRESSIVE}"] // CENT - 100_000, over // CENT

    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    assert await held() == (20, 8)
    await corrected(pit, "add", 3, dict.fromkeys((1, 2, 3), PROGRESSIVE))
    assert await held() == (20, 22)
    await corrected(pit, "take_back", 1, dict.fromkeys((2, 3), PROGRESSIVE))
    assert await held() == (20, 8)
    await corrected(pit, "take_back", 3, {2: PROGRESSIVE})
    assert await held() == (14, 0)
    await corrected(pit, "take_back", 2, {})
    assert await held() == (0, 0)
    assert (await pit.accounts())["table:T-1"] == 0


async def test_a_chip_that_the_draw_can_decide_is_not_corrected(
    redis: Redis, tmp_path: Path
) -> None:
    """The draw is known, so a player must not choose the wager then."""
    (tmp_path / "drawn.toml").write_text(DRAWN)
    table = table_text("T-1", BONUS, game="drawn", positions=6)
    link = link_text("pit", meter_text(BONUS, magic_card_every=1), table)
    pit = await Pit.opened(redis, floor_text(link, games=str(tmp_path)))
    reply = await pit.wagers({1: "own"})
    assert reply.draw is not None
    assert reply.draw.magic_card
    for action, position, after in (("add", 2, {1: "own", 2: "own"}), ("take_back", 1, {})):
        reply = await correct(pit, action, position, after, wager="own")
        assert code(reply) == "drawn_wager"
    assert await pit.asks.asks() == []


async def test_a_closed_link_takes_no_wager_and_gives_one_back(pit: Pit) -> None:
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE})
    await pit.link_acts.close("pit", "sue", "shift change")
    after = dict.fromkeys((1, 2, 3), PROGRESSIVE)
    assert code(await correct(pit, "add", 3, after)) == "link_closed"
    await corrected(pit, "take_back", 2, {1: PROGRESSIVE})


@pytest.mark.parametrize("decided", [False, True])
@pytest.mark.parametrize("refusal", ["game_not_in_effect", "link_closed"])
async def test_a_request_ends_when_its_correction_is_refused(
    pit: Pit, monkeypatch: pytest.MonkeyPatch, refusal: str, *, decided: bool
) -> None:
    """The table no longer waits: nobody confirms it, and an earlier confirmation counts no more."""
    await opened(pit)
    both = {1: PROGRESSIVE, 2: PROGRESSIVE}
    assert code(await correct(pit, "add", 2, both)) == "unconfirmed"
    if decided:
        await confirm(pit)
    with monkeypatch.context() as patched:
        if refusal == "link_closed":
            await pit.link_acts.close("pit", "sue", "shift change")
        else:
            patched.setattr(validation, "problem_now", lambda *_: "it is not played today")
        assert code(await correct(pit, "add", 2, both)) == refusal
        if refusal == "link_closed":
            await pit.link_acts.open("pit", "sue")
    assert await pit.asks.asks() == []
    assert await pit.redis.hgetall(pit.store.keys.asks) == {}
    await assert_sound(pit)
    await corrected(pit, "add", 2, both)


async def test_the_ledger_makes_the_corrected_round_again(pit: Pit) -> None:
    """A rebuild has the round as Redis has it, and a later result of it counts."""
    await pit.wagers({1: PROGRESSIVE, 2: f"{PROGRESSIVE} {FIVE_CARD}"})
    await corrected(pit, "take_back", 2, {1: PROGRESSIVE, 2: FIVE_CARD})
    after = {1: PROGRESSIVE, 2: FIVE_CARD, 4: FIVE_CARD}
    await corrected(pit, "add", 4, after, wager=FIVE_CARD)
    keys, rebuild = pit.store.keys, await pit.rebuild()
    made = STATE.decode(rebuild.snapshot().at(keys.tables)["T-1"])
    held = STATE.decode(cast("bytes", await pit.redis.hget(keys.tables, "T-1")))
    assert msgspec.structs.replace(held, entry=0) == made
    assert len(made.contributed) == 3
    event = rebuild.snapshot().at(keys.rounds)["T-1"]
    (*_, entry) = await pit.entries()
    assert event == entry["event"].encode()
    tallies = (await pit.store.snapshot()).tallies
    made_tallies = rebuild.snapshot().at(keys.tallies)
    assert {name: int(count) for name, count in made_tallies.items() if int(count)} == tallies


async def test_a_correction_that_nobody_confirmed_is_named_and_not_archived(kept: Kept) -> None:
    """Only a restore can apply one, and notes itself after it.

    Otherwise its entry would leave Redis, and later audits would find nothing.
    """
    pit, intake = kept.pit, kept.pit.intakes[0]
    pit.intakes[0] = type(intake)(pit.store, pit.metrics, replays=True)
    await opened(pit)
    assert code(await correct(pit, "add", 2, {1: PROGRESSIVE, 2: PROGRESSIVE})) == "accepted"
    entry = (await pit.entries())[-1]["id"]
    problem = f"table T-1: entry {entry} corrects a wager, and no floorperson confirmed it"
    assert (await pit.audit()).problems == (problem,)
    pit.intakes[0] = intake
    assert (await pit.result({1: "3h 6s Jc", 2: "4h 8s Qc"})).status == "accepted"
    for _ in range(3):
        await kept.days.keep(timedelta(days=1))
    with pytest.raises(ArchiveError, match=problem):
        await kept.run()
    assert [one for one in (await pit.audit()).problems if problem in one]


@pytest.mark.parametrize(
    ("field", "was", "becomes", "fault"),
    [
        (b"event", b'"patron":"bob"', b'"patron":"eve"', "other wagers"),
        (b"event", b'"position":3,"wagers":', b'"position":4,"wagers":', "other wagers"),
        (b"event", b'"take_back"', b'"add"', "in the round already"),
        (b"reply", b'"draw":null', b'"draw":{"magic_card":"As"}', "draw"),
    ],
    ids=["patron", "position", "action", "draw"],
)
async def test_the_audit_finds_what_was_altered_in_a_correction(
    pit: Pit, field: bytes, was: bytes, becomes: bytes, fault: str
) -> None:
    bets = {1: PROGRESSIVE, 2: PROGRESSIVE, 3: PROGRESSIVE}
    patrons = {2: "bob"}
    await pit.event("T-1", "wagers", "R1", positions=positions(bets, patrons))
    del bets[1]
    after = positions(bets, patrons)
    await correct(pit, "take_back", 1, bets, positions=after)
    await confirm(pit)
    assert code(await correct(pit, "take_back", 1, bets, positions=after)) == "accepted"
    await assert_sound(pit)

    def change(_: int, entry: Fields) -> Fields:
        if entry[b"kind"] != b"correct_wager":
            return entry
        assert was in entry[field], entry[field]
        return entry | {field: entry[field].replace(was, becomes, 1)}

    await rewrite(pit, change)
    problems = (await pit.audit()).problems
    assert any(fault in one for one in problems), problems
