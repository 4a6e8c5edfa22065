"""Defects that the simulation found, each as the shortest test that shows it."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

import meters.service.announcer
from meters.books.approvals import Approval, ApprovalBook
from meters.books.audit import LinkAudit
from meters.books.link_state import LedgerHead, LinkState, MeterState, OpenDay
from meters.books.store import LinkStore
from meters.displays.display_state import DisplayState
from meters.metrics import Metrics
from meters.service.announcer import Announcer
from tests.servers import RedisServer
from tests.sim.floor import simulated_floor


async def test_a_link_whose_floor_file_is_approved_has_the_state_of_its_ledger(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    async with Redis.from_url(redis_server.url) as redis:
        store = LinkStore(redis, simulated_floor(tmp_path).link[0])
        await store.open("service")
        await ApprovalBook(store).approve_alone(
            Approval("d", '{"tables": {}}', "service", ()), "", of_empty_link=False
        )
        finding = await LinkAudit(store).run()
    assert finding.problems == ()


class Spoken:
    def __init__(self, data: Path) -> None:
        floor = simulated_floor(data)
        self.board = DisplayState()
        self.posted: list[bytes] = []
        self.announcer = Announcer(
            LinkStore(Redis(), floor.link[0]), self.board, Metrics(floor), self._post
        )

    def _post(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> bool:
        assert retain, topic
        self.posted.append(payload)
        return True

    def publish_meters(self) -> None:
        meter = MeterState("high", 500_000, 1, 1, pending=False)
        state = LinkState((meter,), None, 0, 0, LedgerHead(1, ""), OpenDay("", ""))
        self.announcer.publish_meters(state, self.announcer.topics.heard)

    @property
    def shown(self) -> list[str]:
        return [row.state for row in self.board.rows()]


async def test_a_clock_set_back_leaves_no_meter_shown_as_inoperable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hours = iter(["12", "12", "11"])
    monkeypatch.setattr(
        meters.service.announcer, "now_text", lambda: f"2026-11-20T{next(hours)}:00:00Z"
    )
    spoken = Spoken(tmp_path)
    spoken.publish_meters()
    spoken.announcer.publish_inoperable()
    assert spoken.shown == ["inoperable"]
    spoken.announcer.publish_all_again()
    spoken.publish_meters()
    assert spoken.shown == ["open"]
    assert b'"at":"2026-11-20T12:00:00Z"' in spoken.posted[-1]


@pytest.mark.duty("D14")
async def test_a_link_that_fails_as_its_broker_comes_back_is_shown_as_inoperable(
    tmp_path: Path,
) -> None:
    spoken = Spoken(tmp_path)
    spoken.publish_meters()
    spoken.announcer.publish_all_again()
    spoken.announcer.publish_inoperable()
    assert spoken.shown == ["inoperable"]
    assert b'"state":"inoperable"' in spoken.posted[-1]
