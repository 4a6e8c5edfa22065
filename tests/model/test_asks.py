"""Corrections that a floorperson must confirm: requested, confirmed or refused, used up once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import cast

import msgspec
import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from meters.acts.claim_types import AskRow
from meters.ledger.table_corrections import CorrectedWager, Correction
from meters.wire.messages import DealtPosition, EnteredCards, Reply
from tests.model.model_floor import CARDS
from tests.model.pit import (
    AT,
    DEALER,
    FIVE_CARD,
    FLOOR,
    PROGRESSIVE,
    RAGS,
    Pit,
    code,
    event_bytes,
    refused,
)
from tests.model.test_entered import BEFORE, HAND, count_of

OTHER = HAND | {"cards": ["2h", "3h", "4h"]}

pytestmark = [pytest.mark.duty("D17"), pytest.mark.usefixtures("left_sound")]


__all__ = ["code"]

CONFIRMED = FLOOR.replace("[facility]", "[facility]\nconfirm_corrections = true")
Bets = Mapping[int, str]


async def opened(pit: Pit, table: str = "T-1", round_id: str = "R1") -> None:
    await pit.wagers({1: PROGRESSIVE}, table=table, round_id=round_id)


async def void(pit: Pit, table: str = "T-1", round_id: str = "R1", **fields: object) -> Reply:
    given: dict[str, object] = {"reason": "misdeal", "entered": [HAND], "confirm": True}
    given |= fields
    return await pit.event(table, "void", round_id, **given)


async def result(pit: Pit, table: str = "T-1", round_id: str = "R1", **fields: object) -> Reply:
    given: dict[str, object] = {
        "positions": [{"position": 1, "cards": RAGS.split(), "folded": False}],
        "dealer": DEALER.split(), "entered_before": [BEFORE], "confirm": True,
    } | fields  # fmt: skip
    return await pit.event(table, "result", round_id, **given)


def positions(bets: Bets, patrons: Mapping[int, str] | None = None) -> list[dict[str, object]]:
    """Return the wagers of positions as an event has them, each of one dollar."""
    return [
        {"position": position, "wagers": dict.fromkeys(names.split(), 100)}
        | ({"patron": patrons[position]} if patrons and position in patrons else {})
        for position, names in bets.items()
        if names
    ]


async def correct(
    pit: Pit, action: str, position: int, after: Bets, *, wager: str = PROGRESSIVE,
    table: str = "T-1", round_id: str = "R1", **fields: object,
) -> Reply:  # fmt: skip
    """Try to correct a wager; `after` has all wagers of the round then."""
    given = {
        "action": action, "position": position, "wager": wager, "amount": 100,
        "reason": "light without chip", "positions": positions(after),
    } | fields  # fmt: skip
    return await pit.event(table, "correct_wager", round_id, **given)


async def the_ask(pit: Pit) -> AskRow:
    (ask,) = await pit.asks.asks()
    return ask


async def confirm(pit: Pit, ask: AskRow | None = None, *, by: str = "Ada") -> AskRow:
    ask = ask or await the_ask(pit)
    return await pit.asks.decide(ask.ask, "confirm_correction", by)


async def refuse(pit: Pit, reason: str = "Deal on") -> AskRow:
    ask = await the_ask(pit)
    return await pit.asks.decide(ask.ask, "refuse_correction", "Ada", reason=reason)


async def test_a_void_after_cards_waits_for_a_floorperson(pit: Pit) -> None:
    """Attempts use up seqs and change nothing else. The floorperson sees what was entered."""
    await opened(pit)
    before = (await pit.store.snapshot()).accounts, await pit.entries()
    assert code(await void(pit)) == "unconfirmed"
    first = await the_ask(pit)
    assert code(await void(pit)) == "unconfirmed"
    pit.restart()
    assert code(await void(pit)) == "unconfirmed"
    assert await the_ask(pit) == first, "a repeat is no new ask, and waits since the first try"
    assert first.at != AT
    assert ((await pit.store.snapshot()).accounts, await pit.entries()) == before
    assert (first.table, first.asset, first.round, first.what) == ("T-1", "104211", "R1", "void")
    assert first.reason == "misdeal"
    (cards,) = first.cards
    assert (cards.position, cards.before, cards.after) == (1, ("As", "Ks", "Qs"), ())

    await confirm(pit)
    assert await pit.asks.asks() == []
    assert code(await void(pit)) == "accepted"
    *_, act, entry = await pit.entries()
    assert (act["kind"], act["by"], act["table"]) == ("confirm_correction", "Ada", "T-1")
    assert (entry["kind"], entry["by"]) == ("void", "table:T-1, confirmed by Ada")
    assert [row.what for row in await pit.link_acts.acts("pit", None, 2)] == [
        "void", "confirm_correction",
    ]  # fmt: skip
    assert await pit.redis.hgetall(pit.store.keys.asks) == {}


async def test_another_makers_agent_needs_no_confirmation_unless_the_floor_file_says_so(
    pit: Pit,
) -> None:
    await opened(pit)
    assert code(await void(pit, confirm=False)) == "accepted"
    assert [one["by"] for one in await pit.entries() if one["kind"] == "void"] == ["table:T-1"]
    strict = Pit(pit.redis, CONFIRMED)
    strict.seq = pit.seq
    await opened(strict, round_id="R2")
    assert code(await void(strict, round_id="R2", confirm=False)) == "unconfirmed"
    await confirm(strict)
    assert code(await void(strict, round_id="R2", confirm=False)) == "accepted"


@pytest.mark.parametrize(
    ("attempt", "changed"),
    [
        (void, {"reason": "another"}),
        (void, {"entered": [OTHER]}),
        (void, {"entered": [HAND, OTHER | {"position": 2}]}),
        (result, {"dealer": ["2c", "7d", "9s"]}),
        (result, {"positions": [{"position": 1, "cards": ["3h", "6s", "Jd"]}]}),
        (result, {"community": ["4c", "8d"]}),
        (result, {"entered_before": [BEFORE | {"reason": "Other"}]}),
    ],
)
async def test_a_confirmation_serves_for_exactly_what_was_shown(
    pit: Pit, attempt: Callable[..., Awaitable[Reply]], changed: dict[str, object]
) -> None:
    """A different correction is another request, and the earlier confirmation is lost."""
    await opened(pit)
    await attempt(pit)
    shown = await confirm(pit)
    assert code(await attempt(pit, **changed)) == "unconfirmed"
    assert (await the_ask(pit)).ask != shown.ask
    assert code(await attempt(pit)) == "unconfirmed", "the first is no longer confirmed"
    with refused("unknown_ask"):
        await confirm(pit, shown)


def test_the_digest_of_a_correction_names_all_of_it() -> None:
    cards = EnteredCards(what="hand", position=1, cards=["As", "Ks", "Qs"])
    one = Correction("void", "R1", "misdeal", (cards,))
    others = {
        "what": "result",
        "round": "R2",
        "reason": "fouled deck",
        "entered": (msgspec.structs.replace(cards, taken_back=True),),
        "positions": (DealtPosition(position=1),),
        "dealer": ("2c",),
        "community": ("2c",),
        "wager": CorrectedWager(1, PROGRESSIVE, 100),
    }
    assert others.keys() == set(one.__struct_fields__)
    digests = {
        msgspec.structs.replace(one, **{name: other}).digest for name, other in others.items()
    }
    assert len(digests | {one.digest}) == len(others) + 1


async def test_a_refusal_is_reported_once_with_who_and_why(pit: Pit) -> None:
    await opened(pit)
    await void(pit)
    await refuse(pit, "The cards are on the table")
    assert await pit.asks.asks() == []
    payload = event_bytes(
        pit.seq["T-1"] + 1, "void", "R1", reason="misdeal", entered=[HAND], confirm=True
    )
    pit.seq["T-1"] += 1
    reply = await pit.send("T-1", payload)
    assert reply is not None
    answer = msgspec.json.decode(reply, type=Reply)
    assert code(answer) == "correction_refused"
    assert answer.error is not None
    assert answer.error.message == "Ada refused this correction: The cards are on the table"
    pit.restart()
    assert await pit.send("T-1", payload) == reply, "a repeat is answered word for word"
    assert code(await void(pit)) == "unconfirmed", "tried again, it is asked again"
    assert (await pit.entries())[-1]["kind"] == "refuse_correction"
    await confirm(pit)
    assert code(await void(pit)) == "accepted"


def hand(**fields: object) -> dict[str, object]:
    dealt = [{"position": 1, "cards": HAND["cards"]} | fields]
    return {"kind": "result", "positions": dealt, "dealer": DEALER.split()}


PAST: dict[str, dict[str, object]] = {
    "a void without the cards": {"kind": "void", "reason": "misdeal"},
    "a void with other cards": {"kind": "void", "reason": "misdeal", "entered": [OTHER]},
    "a void for another reason": {"kind": "void", "reason": "another", "entered": [HAND]},
    "a result with other cards": hand(cards=RAGS.split()),
    "a result that declares no win": hand(cards=None, no_win=True),
    "a result in which the hand folded": hand(folded=True),
    "a result without the hand's cards": hand(cards=None, folded=True),
    "a result that corrects another hand": hand(cards=RAGS.split())
    | {"entered_before": [BEFORE | {"position": 2}]},
}


@pytest.mark.parametrize(
    ("ended", "strict"),
    [("refused", True), ("answered", False), ("withdrawn", True), ("replaced", False)],
)
@pytest.mark.parametrize("past", PAST.values(), ids=PAST)
async def test_nothing_gets_past_a_floorperson_who_was_asked(
    pit: Pit, past: dict[str, object], ended: str, *, strict: bool
) -> None:
    """After a request with cards, the round waits for a confirmation until it ends."""
    if strict:
        pit = Pit(pit.redis, CONFIRMED)
    await opened(pit)
    assert code(await void(pit, confirm=not strict)) == "unconfirmed"
    if ended == "withdrawn":
        assert code(await pit.event("T-1", "withdrawal", "R1")) == "accepted"
    elif ended == "replaced":
        assert code(await void(pit, reason="other", confirm=not strict)) == "unconfirmed"
    else:
        await refuse(pit)
        if ended == "answered":
            assert code(await void(pit, confirm=not strict)) == "correction_refused"
    fields = {name: value for name, value in past.items() if name != "kind"}
    kind = str(past["kind"])
    for worker_restarts in (False, True, False):
        if worker_restarts:
            pit.restart()
        reply = await pit.event("T-1", kind, "R1", **fields)
        told = ended == "refused" and not worker_restarts and fields == {"reason": "misdeal"}
        assert code(reply) in ({"correction_refused", "unconfirmed"} if told else {"unconfirmed"})
    shown = {(one.position, one.before) for one in (await the_ask(pit)).cards}
    assert (1, ("As", "Ks", "Qs")) in shown, "the floorperson sees what was entered first"
    assert (await pit.audit()).problems == ()
    await confirm(pit, by="Bob")
    assert code(await pit.event("T-1", kind, "R1", **fields)) == "accepted"
    assert (await pit.entries())[-1]["by"] == "table:T-1, confirmed by Bob"
    (row, _) = await pit.link_acts.acts("pit", None, 2)
    assert row.what == kind
    await opened(pit, round_id="R2")
    assert (await pit.void(round_id="R2")).status == "accepted", "the next round is free"


@pytest.mark.parametrize(
    ("floor", "played", "orders", "ordered"),
    [
        (FLOOR, (FIVE_CARD, RAGS, DEALER), ("4c 8d", "8d 4c"), False),
        (CARDS.text, ("flop_progressive", "As Ks", ""), ("Qs Js 2d Ts 3h", "Qs Js Ts 2d 3h"), True),
    ],
)
async def test_another_order_of_the_community_cards_is_a_correction_where_it_counts(
    redis: Redis, floor: str, played: Sequence[str], orders: Sequence[str], *, ordered: bool
) -> None:
    wager, hand, dealer = played
    dealt, entered = orders
    pit = await Pit.opened(redis, floor)
    await pit.wagers({1: wager})
    cards = {"what": "community", "cards": dealt.split()}
    assert code(await void(pit, entered=[cards])) == "unconfirmed"
    await refuse(pit)
    fields: dict[str, object] = {
        "positions": [{"position": 1, "cards": hand.split(), "folded": False}],
        "dealer": dealer.split(),
        "community": entered.split(),
    }
    reply = await pit.event("T-1", "result", "R1", **fields)
    assert code(reply) == ("unconfirmed" if ordered else "accepted")
    if ordered:
        await confirm(pit)
        assert code(await pit.event("T-1", "result", "R1", **fields)) == "accepted"
    await pit.check_sound()


async def test_what_a_table_withdraws_cannot_be_confirmed(pit: Pit) -> None:
    await opened(pit)
    await void(pit)
    ask = await the_ask(pit)
    entries = await pit.entries()
    assert code(await pit.event("T-1", "withdrawal", "R1")) == "accepted"
    assert await pit.asks.asks() == []
    assert await pit.entries() == entries
    with refused("unknown_ask"):
        await confirm(pit, ask)
    assert code(await pit.event("T-1", "withdrawal", "R1")) == "accepted", "nothing asked, no harm"


async def test_the_second_decision_is_answered_with_who_was_first(pit: Pit) -> None:
    await opened(pit)
    await void(pit)
    ask = await the_ask(pit)
    await confirm(pit, ask)
    with refused("wrong_state", "already confirmed by Ada"):
        await pit.asks.decide(ask.ask, "refuse_correction", "Bob", reason="No")
    assert [one["kind"] for one in await pit.entries()].count("confirm_correction") == 1


@pytest.mark.parametrize("swapped", [False, True])
async def test_a_confirmation_races_with_a_replaced_ask(pit: Pit, *, swapped: bool) -> None:
    """Whichever comes first, the applied correction is the confirmed one, and the other is not."""
    for number in range(20):
        name = f"R{number}"
        await opened(pit, round_id=name)
        await void(pit, round_id=name)
        ask = await the_ask(pit)
        race = [confirm(pit, ask), void(pit, round_id=name, entered=[OTHER])]
        await asyncio.gather(*(race[::-1] if swapped else race), return_exceptions=True)
        assert code(await void(pit, round_id=name, entered=[OTHER])) == "unconfirmed"
        await confirm(pit)
        assert code(await void(pit, round_id=name, entered=[OTHER])) == "accepted"


async def test_tries_within_one_batch_are_as_if_they_came_alone(pit: Pit) -> None:
    """Two attempts, a copy, and a void that no longer names the cards."""
    await opened(pit)
    fields = {"reason": "misdeal", "entered": [HAND], "confirm": True}
    tries = [event_bytes(seq, "void", "R1", **fields) for seq in (2, 2, 3)]
    plain = event_bytes(4, "void", "R1", reason="misdeal")
    replies = (await pit.take([("T-1", each) for each in (*tries, plain)])).replies
    codes = [code(msgspec.json.decode(reply, type=Reply)) for _, reply in replies]
    assert codes == ["unconfirmed", "unconfirmed", "out_of_order"], "the others are sent again"
    assert replies[0] == replies[1]
    pit.seq["T-1"] = 2
    assert code(await void(pit)) == "unconfirmed"
    assert code(await pit.event("T-1", "void", "R1", reason="misdeal")) == "unconfirmed"


async def test_tries_do_not_flood_log_and_figures_as_refusals(pit: Pit) -> None:
    await opened(pit)
    with capture_logs() as lines:
        for _ in range(30):
            await void(pit)
    assert [one["event"] for one in lines] == ["confirmation asked"]
    assert count_of(pit, "pitlink_refusals_total", "unconfirmed") == 0
    assert count_of(pit, "pitlink_events_total", "void", "unconfirmed") == 30


async def test_an_ask_of_an_inoperable_link_or_changed_in_the_store_is_not_confirmed(
    pit: Pit,
) -> None:
    await opened(pit)
    await void(pit)
    ask, key = await the_ask(pit), pit.store.keys.asks
    pit.inoperable = "the ledger does not hold"
    with refused("link_inoperable"):
        await confirm(pit, ask)
    pit.inoperable = None
    text = cast("bytes", await pit.redis.hget(key, "T-1"))
    await pit.redis.hset(key, "T-1", text.replace(b"As", b"2s"))
    assert await pit.asks.asks() == []
    with refused("unknown_ask"):
        await confirm(pit, ask)
    await pit.redis.hset(key, "T-1", text)


async def test_what_was_confirmed_before_a_loss_is_taken_again_without_asking(pit: Pit) -> None:
    """The outbox says that it was accepted. The entry with who confirmed it is lost."""
    await opened(pit)
    pit.restart(replays=True)
    assert code(await void(pit)) == "accepted"
    assert count_of(pit, "pitlink_table_corrections_unconfirmed_total", "T-1") == 1
    pit.restart()
    for number, (confirmed, counted) in enumerate(((True, 1), (False, 2))):
        await opened(pit, round_id=f"N{number}")
        await void(pit, round_id=f"N{number}", confirm=confirmed)
        if confirmed:
            await confirm(pit)
            assert code(await void(pit, round_id=f"N{number}")) == "accepted"
        assert count_of(pit, "pitlink_table_corrections_unconfirmed_total", "T-1") == counted
