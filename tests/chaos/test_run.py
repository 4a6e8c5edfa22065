from itertools import islice, pairwise

import pytest

from tests.chaos.accounts import grown
from tests.chaos.copies import Copier
from tests.chaos.plan import AUDITORS, CENTRAL, WIRE, Blow, blows
from tests.chaos.run import run_chaos
from tests.mqtt_packets import publish_packet, text

TABLES = tuple(f"C-{number}" for number in range(1, 21))
SECONDS = 60.0


def plan(seed: int, length: int = 400) -> list[Blow]:
    return list(islice(blows(seed, TABLES), length))


def test_a_seed_repeats_its_plan() -> None:
    assert plan(7) == plan(7)
    assert plan(7) != plan(8)


def test_a_plan_has_every_fault_of_every_part_also_together_and_in_a_row() -> None:
    found = plan(1)
    kinds = {(fault.target, fault.kind) for blow in found for fault in blow.faults}
    for part in (*CENTRAL, *AUDITORS):
        assert {(part, "kill"), (part, "kill twice"), (part, "freeze")} <= kinds
    assert {(WIRE, "cut"), (WIRE, "hold")} <= kinds
    assert {target for target, _ in kinds} == {*CENTRAL, *AUDITORS, WIRE, *TABLES}
    targets = [tuple(fault.target for fault in blow.faults) for blow in found]
    assert CENTRAL in targets
    assert any(len(each) == 2 for each in targets)
    assert any(one == other for one, other in pairwise(targets))


def test_memory_that_grows_beyond_its_bound_is_a_problem() -> None:
    assert grown("service-1", 80_000_000, 200_000_000, 10) is None
    assert grown("service-1", 80_000_000, 400_000_000, 10**6) is not None
    assert grown("redis", 10_000_000, 400_000_000, 10**6) is None


def test_each_event_is_passed_on_three_times_and_nothing_else_is() -> None:
    event = publish_packet(text("pitlink/v1/one/table/C-1/out"), 7, b"x" * 300)
    other = publish_packet(text("pitlink/v1/one/table/C-1/status"), 8, b"{}")
    ping = b"\xc0\x00"
    copier = Copier()
    passed = b"".join(copier.feed(bytes([byte])) for byte in ping + event + other + event)
    assert passed == ping + 3 * event + other + 3 * event


@pytest.mark.slow
@pytest.mark.duty("D11")
def test_duty_d11_after_a_minute_of_faults_everything_holds() -> None:
    """Every accepted wager counts once, every claim is in one state, and no table is stuck."""
    report = run_chaos(SECONDS, tables=8, seed=3)
    assert report.problems == []
    assert report.faults.total() > 5
    assert report.wagers > 100
    assert report.claims.total() > 0
    assert any(item.startswith("keystone_") for item in report.percentages), report.percentages
    assert report.events_answered_again > report.events.total() / 2, (
        "each event is sent three times"
    )
