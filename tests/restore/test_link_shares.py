"""A restore changes nobody's part of a community share for the whole link."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from meters.wire.messages import Reply
from tests.model.test_link_shares import WAGER, bet, deal, link_floor, shares
from tests.restore.pit import KeptPit
from tests.restore.stores import Copy, Kept


@pytest.fixture
async def pit(redis: Redis, tmp_path: Path) -> KeptPit:
    pit = KeptPit(redis, tmp_path, link_floor())
    await pit.open()
    return pit


async def waiting(pit: KeptPit) -> list[tuple[str, str, str, int, int]]:
    return sorted(
        (row.claim, row.table, row.round, row.position, row.amount)
        for row in await pit.claims.waiting()
    )


async def a_win(pit: KeptPit, number: int = 1) -> None:
    """T-1 wins while T-2 has two players; T-3 is between two rounds."""
    await bet(pit, "T-3", {6: "cat"}, f"C{number}")
    await bet(pit, "T-2", {2: "ann", 3: "bob"}, f"B{number}")
    await deal(pit, "T-3", f"C{number}", p6="other")
    await bet(pit, "T-1", {4: None}, f"A{number}")
    reply = await deal(pit, "T-1", f"A{number}", p4="suited_trips")
    assert [each[:3] for each in shares(reply)] == [
        ("T-2", f"B{number}", 3), ("T-2", f"B{number}", 2),
    ]  # fmt: skip


@pytest.mark.duty("D11")
@pytest.mark.parametrize("kept", ["nothing", "an older file"])
@pytest.mark.parametrize("copied", [False, True], ids=["outboxes", "archive"])
async def test_the_players_are_as_they_were(pit: KeptPit, kept: str, *, copied: bool) -> None:
    await a_win(pit)
    await deal(pit, "T-2", "B1", p2="other", p3="other")
    copy = await Copy.of(pit.store) if copied else None
    older = await Kept.of(pit.redis) if kept != "nothing" else None
    await a_win(pit, 2)
    await deal(pit, "T-2", "B2", p2="other", p3="other")
    was = await waiting(pit)
    restored = await pit.lost_and_restored(copy, older=older)
    assert restored.replayed.differing == []
    assert await waiting(pit) == was
    await pit.goes_on()
    assert (await pit.audit()).balanced


class OffPit(KeptPit):
    """A link whose tables' clocks can be wrong, by some seconds."""

    def __init__(self, redis: Redis, home: Path, floor_text: str, off: Mapping[str, int]) -> None:
        super().__init__(redis, home, floor_text)
        self._off = {table: timedelta(seconds=seconds) for table, seconds in off.items()}

    async def event(self, table: str, kind: str, round_id: str, **fields: object) -> Reply:
        right = self.clock
        self.clock += self._off.get(table, timedelta())
        try:
            return await super().event(table, kind, round_id, **fields)
        finally:
            self.clock = right + timedelta(seconds=1)


@pytest.mark.duty("D11")
@pytest.mark.parametrize("off", [{"T-1": 60}, {"T-2": -60}, {"T-3": 3}], ids=str)
async def test_the_players_are_as_they_were_if_a_clock_is_wrong(
    redis: Redis, tmp_path: Path, off: Mapping[str, int]
) -> None:
    """The restore gets the events in another order: the round of T-2 would be over, or T-3 open."""
    pit = OffPit(redis, tmp_path, link_floor(), off)
    await pit.open()
    await a_win(pit)
    await deal(pit, "T-2", "B1", p2="other", p3="other")
    was = await waiting(pit)
    restored = await pit.lost_and_restored()
    assert restored.replayed.differing == []
    assert await waiting(pit) == was


@pytest.mark.duty("D11")
async def test_a_share_without_its_player_is_reported(pit: KeptPit) -> None:
    await a_win(pit)
    pit.outbox_path("T-2").unlink()
    restored = await pit.lost_and_restored(None, "T-2")
    assert [(one.table, one.seq) for one in restored.replayed.differing] == [("T-1", 2)]
    assert {table for _, table, *_ in await waiting(pit)} == {"T-1"}


@pytest.mark.duty("D11")
@pytest.mark.parametrize("after", ["other", "suited_trips"])
async def test_no_event_passes_the_result(redis: Redis, tmp_path: Path, after: str) -> None:
    """Events of several tables are applied together, but nothing with the result of a share."""
    pit = KeptPit(redis, tmp_path, link_floor(tables=4))
    await pit.open()
    await bet(pit, "T-1", {4: None}, "A1")
    await bet(pit, "T-3", {6: "cat"}, "C1")
    await deal(pit, "T-3", "C1", p6="other")
    await bet(pit, "T-2", {2: "ann", 3: "bob"}, "B1")
    await deal(pit, "T-1", "A1", p4="suited_trips")
    await bet(pit, "T-4", {1: None}, "D1")
    await deal(pit, "T-4", "D1", p1=after)
    await deal(pit, "T-2", "B1", p2="other", p3="other")
    was = await waiting(pit)
    restored = await pit.lost_and_restored()
    assert restored.replayed.differing == []
    assert await waiting(pit) == was


@pytest.mark.duty("D11")
@pytest.mark.parametrize("action", ["add", "take_back"])
@pytest.mark.parametrize("first", ["win", "correction"])
async def test_a_correction_stays_on_its_side_of_the_result(
    redis: Redis, tmp_path: Path, action: str, first: str
) -> None:
    """The clock of T-2 is slow after the win, and fast before it."""
    pit = OffPit(redis, tmp_path, link_floor(tables=2), {"T-2": -60 if first == "win" else 60})
    await pit.open()
    at_2 = {2: "ann", 3: "bob"} if action == "take_back" else {2: "ann"}
    await bet(pit, "T-2", at_2, "B1")
    await bet(pit, "T-1", {4: None}, "A1")

    async def corrected() -> None:
        ann = {"position": 2, "patron": "ann", "wagers": {WAGER: 500}}
        carl = {"position": 3, "wagers": {WAGER: 500}}
        after = [ann, carl] if action == "add" else [ann]
        await pit.event(
            "T-2", "correct_wager", "B1", action=action, position=3, wager=WAGER, amount=500,
            reason="no chip", positions=after,
        )  # fmt: skip

    if first == "correction":
        await corrected()
    await deal(pit, "T-1", "A1", p4="suited_trips")
    if first == "win":
        await corrected()
    was = await waiting(pit)
    restored = await pit.lost_and_restored()
    assert restored.finding.problems == ()
    assert await waiting(pit) == was
