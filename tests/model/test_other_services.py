"""Reports of a service about a link that another one operates; some are always made."""

from pathlib import Path

import msgspec
import pytest

import meters.service.publishing_turn
from meters.service.publishing_turn import OtherServices
from tests.model.pit import AT, PROGRESSIVE, Pit
from tests.model.running import operating, running
from tests.model.tampering import move_balance
from tests.servers import eventually_async

pytestmark = pytest.mark.duty("D14")


def beat(number: int, state: str = "operable") -> bytes:
    return msgspec.json.encode({"state": state, "reason": "", "beat": number, "at": AT})


def noted(data: Path) -> bool:
    return any(data.glob("**/*.outage.json"))


@pytest.fixture
def pit(keeping_played: Pit) -> Pit:
    return keeping_played


@pytest.mark.duty("D13")
async def test_what_is_wrong_with_this_service_alone_is_said_once_no_other_is_heard(
    pit: Pit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger records nothing about a time at which the other service operated the link."""
    monkeypatch.setattr(meters.service.publishing_turn, "HEARD_FOR_S", 3_600.0)
    async with operating(pit, tmp_path) as link:
        link.service.hear_beat(beat(1), retained=False)
        link.unfit = "the self-check failed here"
        await eventually_async(lambda: link.service.problem == link.unfit, what="inoperable")
        before = len(link.posted)
        await link.service._check()
        link.service.publish_heartbeat()
        assert link.beats()[-1].state == "operable"
        assert link.posted[before:] == []
        assert link.meter(PROGRESSIVE).state == "pending"
        assert not noted(tmp_path)

        monkeypatch.setattr(meters.service.publishing_turn, "HEARD_FOR_S", 0.0)
        await link.goes_down("the self-check failed here")
        await eventually_async(
            lambda: link.meter(PROGRESSIVE).state == "inoperable", what="the meter"
        )
        assert noted(tmp_path)


@pytest.mark.duty("D10")
async def test_what_an_audit_finds_in_the_books_is_said_against_any_other(
    pit: Pit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other may not have checked yet, or may have no mark of what was lost."""
    monkeypatch.setattr(meters.service.publishing_turn, "HEARD_FOR_S", 3_600.0)
    await move_balance(pit, "meter:progressive", 1)
    async with running(pit, tmp_path) as link:
        link.service.hear_beat(beat(1), retained=False)
        await link.goes_down("meter:progressive")


async def test_only_a_fresh_beat_of_another_that_operates_the_link_counts() -> None:
    others = OtherServices()
    assert not others.may_operate
    others.note_own(beat(1))
    assert not others.hear(beat(1), retained=False), "our own, given back"
    assert not others.hear(beat(2), retained=True), "of any age"
    assert not others.hear(b"junk", retained=False)
    assert others.hear(beat(3, "inoperable"), retained=False)
    assert not others.hear(beat(3, "inoperable"), retained=True)
    assert not others.operate
    assert not others.hear(beat(4, "closed"), retained=False)
    assert others.operate


async def test_a_new_listener_does_not_know_yet() -> None:
    others = OtherServices()
    others.listen_first()
    assert others.may_operate
    assert not others.operate


async def test_of_two_that_stop_together_each_says_that_the_link_is_inoperable(
    pit: Pit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other's last heartbeat does not prove that it continues. The final report stays."""
    monkeypatch.setattr(meters.service.publishing_turn, "HEARD_FOR_S", 3_600.0)
    async with operating(pit, tmp_path) as link:
        publisher = link.service.publisher
        link.service.hear_beat(beat(1), retained=False)
        publisher.fall_silent()
        before = len(link.beats())
        link.service.publish_heartbeat()
        assert len(link.beats()) == before
        known = [publisher.others.are_known]
        link.service.hear_beat(beat(2), retained=False)
        known.append(publisher.others.are_known)
        assert known == [False, True], "the other goes on"

        publisher.fall_silent()
        monkeypatch.setattr(meters.service.publishing_turn, "HEARD_FOR_S", 0.0)
        assert publisher.others.are_known, "nobody was heard for long enough"
        link.service.publish_heartbeat()
        publisher.publish_end()
        assert [each.reason for each in link.beats()[before:]] == ["the service was stopped"]
        posted = len(link.posted)
        await link.service.reload()
        assert [topic for topic, *_ in link.posted[posted:] if not topic.endswith("/ledger")] == []
        assert link.meter(PROGRESSIVE).state == "inoperable"


async def test_an_operable_link_publishes_its_meters_again_if_another_reports_it_inoperable(
    pit: Pit, tmp_path: Path
) -> None:
    """The retained meter values may be the other's last report."""
    async with operating(pit, tmp_path) as link:
        before = link.meter(PROGRESSIVE)
        count = len(link.posted)
        link.service.hear_beat(beat(9, "inoperable"), retained=False)
        await eventually_async(
            lambda: any(
                topic.endswith("/meter/progressive") for topic, _, _ in link.posted[count:]
            ),
            what="the meter again",
        )
        assert link.meter(PROGRESSIVE).at > before.at
