"""One wager corrected before the first card: added or taken back, confirmed, and exact in money."""

from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from meters.archive.day_file import ArchiveError
from meters.intake import batches
from meters.wire.messages import Reply
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import DRAWN
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import AT, BONUS, FIVE_CARD, PROGRESSIVE, Pit, code, event_bytes
from tests.model.test_asks import Bets, confirm, correct, opened, positions, refuse, the_ask, void
from tests.model.test_entered import HAND, count_of

pytestmark = [pytest.mark.duty("D17"), pytest.mark.usefixtures("left_sound")]


async def corrected(
    pit: Pit, action: str, position: int, after: Bets, *, wager: str = PROGRESSIVE
) -> Reply:
    assert code(await correct(pit, action, position, after, wager=wager)) == "unconfirmed"
    await confirm(pit)
    reply = await correct(pit, action, position, after, wager=wager)
    assert code(reply) == "accepted", reply
    assert (await pit.audit()).problems == ()
    return reply


@pytest.mark.duty("D17", proof=True)
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
    assert (await pit.audit()).problems == ()
    reply = await pit.result({1: "4h 8s Qc", 2: "3h 6s Jc"})
    assert [(one.position, one.item) for one in reply.lines or ()] == [(2, PROGRESSIVE), (2, BONUS)]


WRONG: dict[str, tuple[tuple[str, int, Bets], dict[str, object], str]] = {
    "it is not there": (("take_back", 2, {1: PROGRESSIVE}), {}, "no_wager"),
    "it is there": (("add", 1, {1: PROGRESSIVE}), {}, "wager_twice"),
    "no such position": (("add", 9, {1: PROGRESSIVE, 9: PROGRESSIVE}), {}, "unknown_position"),
    "another amount": (
        ("add", 2, {1: PROGRESSIVE, 2: PROGRESSIVE}),
        {"amount": 500},
        "wrong_amount",
    ),
    "no such wager": (("add", 2, {1: PROGRESSIVE, 2: "ante"}), {"wager": "ante"}, "unknown_wager"),
    "no chip": (("add", 2, {1: PROGRESSIVE, 2: BONUS}), {"wager": BONUS}, "electronic_wager"),
    "one more": (("add", 2, {1: PROGRESSIVE, 2: PROGRESSIVE, 3: PROGRESSIVE}), {}, "wagers_differ"),
    "one less": (("add", 2, {2: PROGRESSIVE}), {}, "wagers_differ"),
    "not done": (("add", 2, {1: PROGRESSIVE}), {}, "wagers_differ"),
    "another patron": (
        ("add", 1, {1: f"{PROGRESSIVE} {FIVE_CARD}"}),
        {"wager": FIVE_CARD, "positions": positions({1: f"{PROGRESSIVE} {FIVE_CARD}"}, {1: "p9"})},
        "wagers_differ",
    ),
    "a position twice": (
        ("add", 2, {}),
        {"positions": positions({1: PROGRESSIVE}) + positions({2: PROGRESSIVE}) * 2},
        "position_twice",
    ),
    "a blank reason": (("take_back", 1, {}), {"reason": " "}, "unprintable_text"),
    "another round": (("take_back", 1, {}), {"round_id": "R0"}, "unknown_round"),
}


@pytest.mark.parametrize(("tried", "fields", "refusal"), WRONG.values(), ids=WRONG)
async def test_a_wrong_correction_is_refused_and_nobody_is_asked(
    pit: Pit, tried: tuple[str, int, Bets], fields: dict[str, object], refusal: str
) -> None:
    await opened(pit)
    before = await pit.accounts(), await pit.entries()
    assert code(await correct(pit, *tried, **cast("dict[str, Any]", fields))) == refusal
    assert await pit.asks.asks() == []
    assert (await pit.accounts(), await pit.entries()) == before


@pytest.mark.section("649a.7(c)", proof=True)
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
            patched.setattr(batches, "problem_now", lambda *_: "it is not played today")
        assert code(await correct(pit, "add", 2, both)) == refusal
        if refusal == "link_closed":
            await pit.link_acts.open("pit", "sue")
    assert await pit.asks.asks() == []
    assert await pit.redis.hgetall(pit.store.keys.asks) == {}
    await corrected(pit, "add", 2, both)


async def test_a_correction_that_nobody_confirmed_is_named_and_not_archived(kept: Kept) -> None:
    """Only a restore can apply one, and notes itself after it.

    Otherwise its entry would leave Redis, and later audits would find nothing.
    """
    pit = kept.pit
    pit.restart(replays=True)
    await opened(pit)
    assert code(await correct(pit, "add", 2, {1: PROGRESSIVE, 2: PROGRESSIVE})) == "accepted"
    entry = (await pit.entries())[-1]["id"]
    problem = f"table T-1: entry {entry} corrects a wager, and no floorperson confirmed it"
    assert (await pit.audit()).problems == (problem,)
    pit.restart()
    assert (await pit.result({1: "3h 6s Jc", 2: "4h 8s Qc"})).status == "accepted"
    await kept.days.keep(A_DAY, A_DAY, A_DAY)
    with pytest.raises(ArchiveError, match=problem):
        await kept.run()
    assert [one for one in (await pit.audit()).problems if problem in one]
