"""Defects that the simulation found, each as the shortest test that shows it."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

import meters.service.link_publisher
from meters.audit.auditor import AuditorReport
from meters.ledger.approved_configuration import LinkConfiguration
from meters.ledger.floor_approvals import Approval
from meters.ledger.link_state import MeterBalances
from meters.service.auditor_client import AuditorError
from meters.service.ledger_auditing import _misreported
from meters.store.approval_book import ApprovalBook
from tests.model.pit import PROGRESSIVE, Pit
from tests.model.running import Running


async def test_a_link_whose_floor_file_is_approved_has_the_state_of_its_ledger(
    redis: Redis,
) -> None:
    pit = await Pit.opened(redis)
    filed = LinkConfiguration.of(pit.floor, pit.link)
    await ApprovalBook(pit.store).approve_alone(
        Approval(filed.digest, filed.text, "service", ()), "", of_empty_link=False
    )
    assert (await pit.audit()).problems == ()


@pytest.fixture
async def link(redis: Redis, tmp_path: Path) -> Running:
    """Return a link that publishes only what a test says."""
    return Running(await Pit.opened(redis), tmp_path)


async def publish_meters(link: Running) -> None:
    publisher = link.service.publisher
    publisher.publish_meters(await link.pit.store.state(), publisher.turns.heard)


def shown(link: Running) -> set[str]:
    return {row.state for row in link.displays.rows()}


async def test_a_clock_set_back_leaves_no_meter_shown_as_inoperable(
    link: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = 12
    monkeypatch.setattr(
        meters.service.link_publisher, "now_text", lambda: f"2026-11-20T{hour}:00:00Z"
    )
    await publish_meters(link)
    link.service.publisher.publish_inoperable()
    assert shown(link) == {"inoperable"}
    hour = 11
    link.service.publisher.turns.forget()
    await publish_meters(link)
    assert shown(link) == {"open"}
    assert link.meter(PROGRESSIVE).at == "2026-11-20T12:00:00Z"


@pytest.mark.duty("D14")
async def test_a_link_that_fails_as_its_broker_comes_back_is_shown_as_inoperable(
    link: Running,
) -> None:
    await publish_meters(link)
    link.service.publisher.turns.forget()
    link.service.publisher.publish_inoperable()
    assert shown(link) == {"inoperable"}
    assert link.meter(PROGRESSIVE).state == "inoperable"


@pytest.mark.duty("D19")
def test_a_report_about_a_ledger_that_was_empty_at_the_order_proves_nothing() -> None:
    """Another service wrote the first entries meanwhile: the next order asks for a proof."""
    empty = MeterBalances(0, "", {PROGRESSIVE: 0})
    assert _misreported(AuditorReport(1, replayed=empty), empty) is None
    grown = AuditorReport(1, entries=9, stored=9, seal="f" * 64, replayed=empty)
    with pytest.raises(AuditorError, match="the ledger began during the audit"):
        _misreported(grown, empty)
