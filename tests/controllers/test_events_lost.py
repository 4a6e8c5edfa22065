"""A table whose service lost answered events: it notices, reports it, and accepts nothing."""

import pytest

from tests.controllers.scripted import LiveTable
from tests.controllers.test_agent import ROUND

# The store comes back without the table's last event, while no device sends anything. The table's
# own status shows that it has checked; a short fault may pass unnoticed.
LOST = """
    status: open; service is state "inoperable"; status: locked_out; service is last_seq 1
    service is state "operable"; fault: events_lost
"""
STORIES = {
    "it asks where it stands when the link comes back, and publishes it": f"""
        start; {ROUND}; {LOST}; state: events_lost; status: events_lost
        wager 3 progressive -> events_lost
    """,
    "wagers that were lit are not locked, because none would be accepted, and go back": f"""
        start; {ROUND}; wager 3 progressive; {LOST}; lockout -> events_lost; phase: open
        withdraw 3 progressive; numbers: 1, 2; service is last_seq 2; until wager 3 progressive
        lockout
    """,
    "an event that is out of order waits until the events are back": f"""
        start; {ROUND}; wager 3 progressive; service is last_seq 1; begin lockout
        fault: events_lost; waits: 1; service is last_seq 2; answered
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
async def test_a_table_whose_service_lost_its_events(table: LiveTable, story: str) -> None:
    await table.live(story)
