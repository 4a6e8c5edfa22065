"""Changes of game files on a link in use: what an approval allows, and the audit after it."""

from pathlib import Path
from typing import Literal

import pytest
from redis.asyncio import Redis

from meters.acts.meter_changes import Adjustment
from meters.audit.link_audit import LinkAudit
from meters.ledger.approved_configuration import approved_terms
from meters.ledger.ledger_replay import Replay
from meters.store.floor_file_approval import Configuration, Unapproved
from meters.wire.messages import Reply
from tests.approving import approve
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import envy_text, game_text, wager_text
from tests.model.pit import Pit, not_approved, to

FIRST = game_text("first", ["m"], wager_text("own", "m"))
SECOND = game_text("second", ["m"], wager_text("other", "m"))
BESIDES = FIRST.replace('"10% of meter"', '"10% of meter + $100"')
OPEN_ROUND = (
    "table {table} has an open round: leave its asset number, game, game file, meters and positions"
    " as they were until the round is settled, or voided at the panel"
)
SUITED, STRAIGHT = ["9s", "8s"], ["7s", "6s", "5s"]


def floor_of(games: Path, *tables: tuple[str, str]) -> str:
    texts = [table_text(table, "m", game=game, positions=6) for table, game in tables]
    return floor_text(
        link_text("pit", meter_text("m"), *texts), games=str(games), two_people_reject_above=10**9
    )


ONE_TABLE = (("T-1", "first"),)


async def begun(redis: Redis, games: Path, *tables: tuple[str, str]) -> tuple[Pit, str]:
    text = floor_of(games, *(tables or ONE_TABLE))
    pit = await Pit.opened(redis, text)
    return pit, text


@pytest.fixture
def games(tmp_path: Path) -> Path:
    directory = tmp_path / "games"
    directory.mkdir()
    (directory / "first.toml").write_text(FIRST)
    return directory


async def wager(pit: Pit, table: str, name: str, round_id: str) -> None:
    positions = [{"position": 1, "wagers": {name: 100}}]
    reply = await pit.event(table, "wagers", round_id, positions=positions)
    assert reply.status == "accepted", reply


async def settle(pit: Pit, table: str, round_id: str) -> Reply:
    hands = [{"position": 1, "cards": SUITED}]
    reply = await pit.event(
        table, "result", round_id, positions=hands, dealer=[], community=STRAIGHT
    )
    assert reply.status == "accepted", reply
    return reply


async def win(pit: Pit, table: str, round_id: str) -> list[tuple[str, int]]:
    reply = await settle(pit, table, round_id)
    await pit.pay_all([claim.claim for claim in reply.claims or ()])
    return [(line.item, line.paid) for line in reply.lines or ()]


async def restarted(pit: Pit, text: str) -> tuple[Pit, Unapproved]:
    again = Pit(pit.store.redis, text)
    again.seq.update(pit.seq)
    return again, await not_approved(Configuration(again.floor, again.store))


async def barred(pit: Pit, text: str) -> str | None:
    """Return why the present files cannot be approved."""
    _, found = await restarted(pit, text)
    return found.barred


async def approved(pit: Pit, text: str) -> Pit:
    again, found = await restarted(pit, text)
    assert found.barred is None, found.barred
    await approve(Configuration(again.floor, again.store))
    await again.open()
    return again


async def test_a_meter_in_use_can_gain_a_game(keeping_redis: Redis, games: Path) -> None:
    pit, _ = await begun(keeping_redis, games)
    await wager(pit, "T-1", "own", "R1")
    await win(pit, "T-1", "R1")
    (games / "second.toml").write_text(SECOND)
    both = floor_of(games, ("T-1", "first"), ("T-2", "second"))
    _, found = await restarted(pit, both)
    assert "meter m wagers: own → other, own" in found.changed
    more = await approved(pit, both)
    for table, name in (("T-1", "own"), ("T-2", "other")):
        await wager(more, table, name, f"R2 {table}")
        assert [item for item, _ in await win(more, table, f"R2 {table}")] == [name]
    audit = LinkAudit(more.store)
    assert (await audit.run()).balanced


async def test_a_cell_can_gain_a_fixed_win(keeping_redis: Redis, games: Path) -> None:
    pit, text = await begun(keeping_redis, games)
    await wager(pit, "T-1", "own", "R1")
    assert await win(pit, "T-1", "R1") == [("own", 1_000)]
    (games / "first.toml").write_text(BESIDES)
    more = await approved(pit, text)
    await wager(more, "T-1", "own", "R2")
    assert [item for item, _ in await win(more, "T-1", "R2")] == ["own", "m_jackpot"]
    assert (await LinkAudit(more.store).run()).balanced


async def test_a_game_file_cannot_change_under_an_open_round(
    keeping_redis: Redis, games: Path
) -> None:
    pit, text = await begun(keeping_redis, games, *ONE_TABLE, ("T-2", "first"))
    await wager(pit, "T-2", "own", "R1")
    (games / "first.toml").write_text(BESIDES)
    assert await barred(pit, text) == OPEN_ROUND.format(table="T-2")
    await win(pit, "T-2", "R1")
    await approved(pit, text)


async def test_the_rates_of_a_meter_in_use_cannot_change(keeping_redis: Redis, games: Path) -> None:
    pit, text = await begun(keeping_redis, games)
    (games / "first.toml").write_text(FIRST.replace('primary = "5%"', 'primary = "6%"'))
    _, found = await restarted(pit, text)
    assert found.barred is not None
    assert "not by the floor file or a game file: undo the change in the file" in found.barred
    assert "meter m rate to the meter: 5.00% → 6.00%" in found.changed


async def test_an_audit_continues_with_the_names_of_the_last_approval(
    keeping_redis: Redis, games: Path
) -> None:
    pit, _ = await begun(keeping_redis, games)
    await wager(pit, "T-1", "own", "R1")
    await win(pit, "T-1", "R1")
    audit = LinkAudit(pit.store)
    assert (await audit.run()).balanced
    assert audit._replay is not None
    resumed = Replay.after(audit._replay.checkpoint)
    await wager(pit, "T-1", "own", "R2")
    await win(pit, "T-1", "R2")
    assert (await LinkAudit(pit.store, resumed).run()).balanced


@pytest.mark.parametrize(
    ("has", "loses"), [('meters = ["m"]', "meters = []"), ("positions = 6", "positions = 5")]
)
async def test_a_table_cannot_lose_a_meter_or_a_position_under_an_open_round(
    keeping_redis: Redis, games: Path, has: str, loses: str
) -> None:
    """A replay knows the wagers on a meter from the games that feed it.

    The result of a position that the table lost would be refused, and its win with it.
    """
    pit, text = await begun(keeping_redis, games)
    less = text.replace(has, loses)
    assert less != text
    await wager(pit, "T-1", "own", "R1")
    assert await barred(pit, less) == OPEN_ROUND.format(table="T-1")
    await win(pit, "T-1", "R1")
    more = await approved(pit, less)
    assert (await LinkAudit(more.store).run()).balanced


@pytest.mark.parametrize("act", [None, "reject"])
async def test_a_game_cannot_change_before_its_hand_pay_is_final(
    keeping_redis: Redis, games: Path, act: Literal["reject"] | None
) -> None:
    """A table that forgot the round finds the win of a reopened hand pay in its present game."""
    pit, text = await begun(keeping_redis, games)
    await wager(pit, "T-1", "own", "R1")
    (claim,) = (await settle(pit, "T-1", "R1")).claims or ()
    if act:
        await pit.decide(claim.claim, act)
    (games / "first.toml").write_text(FIRST.replace('"10% of meter"', '"200 for 1"'))
    assert await barred(pit, text) == (
        f"claim {claim.claim} of table T-1 was rejected, and can still be reopened: leave its asset"
        " number, game, game file, meters and positions as they were until this gaming day is"
        " closed"
        if act
        else f"table T-1 is held for claim {claim.claim}: leave its asset number, game, game"
        " file, meters and positions as they were until the claim is paid or rejected"
    )


async def test_a_restore_needs_no_game_file(keeping_redis: Redis, games: Path) -> None:
    """A game file can lose the terms of an earlier approval, and other games can have its meter."""
    both = envy_text(royal_flush="$500")
    both += '[[wager.envy.schedule]]\nwager = "$5"\npays = { royal_flush = "$2,500" }\n'
    first = game_text("first", ["m"], wager_text("own", "m", after=both))
    (games / "first.toml").write_text(first)
    other = wager_text("another", "m", seed="$500 for 1")
    (games / "another.toml").write_text(game_text("another", ["m"], other))
    pit, text = await begun(keeping_redis, games)
    await pit.link_acts.close("pit", "sue", "a new wager")
    more_on_it = Adjustment(meter="m", amount=50_000, reason="a new wager")
    dearer = to("m", "wager", 500)
    for change in (more_on_it, dearer):
        await pit.change(change)
    five = first.replace('wager = "$1"\npays = { royal_flush = "$500" }', "").replace(
        "[[wager.envy.schedule]]\n\n", ""
    )
    assert five.count("[[wager.envy.schedule]]") == 1
    (games / "first.toml").write_text(five)
    more = await approved(pit, text.replace("wager = 100", "wager = 500"))
    meters = (await more.store.snapshot()).meters
    rebuilt = (await more.rebuild()).rows().at(more.store.keys.meters)
    for field in ("terms:m", "file:m"):
        assert rebuilt[field].decode() == meters[field]
    filed = await more.redis.hget(more.store.keys.approved, "text")
    assert isinstance(filed, bytes)
    assert approved_terms(filed.decode()) == {"m": meters["terms:m"]}
