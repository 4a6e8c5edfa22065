"""A panel survives any request: it refuses it with a message, and the table is unchanged."""

from random import Random
from typing import Final

import msgspec
import pytest

from tests.fuzz.junk import mutated
from tests.fuzz.table_targets import ROUND
from tests.panel.stand import PanelStand
from tests.panel.test_access import own

INPUTS: Final = 400
PATHS: Final = ("/api/v1/events", "/api/v1/events/", "/api/v1/../events", "/%2e%2e/x", "/?key=%00")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
async def test_any_body_is_taken_or_refused_and_nothing_fails(panel: PanelStand, seed: int) -> None:
    random, refused = Random(seed), 0
    async with panel.client() as client:
        for _ in range(INPUTS):
            before = panel.agent.table_state
            body = mutated(random, ROUND)
            answer = await client.post("/api/v1/events", content=body, headers=own(panel))
            assert answer.status_code in {200, 202, 400, 409, 413}, (body[:200], answer.text)
            reply = msgspec.json.decode(answer.content, type=dict[str, object])
            assert (reply.get("ok") is True) == (answer.status_code == 200)
            if answer.status_code in {400, 409}:
                refused += 1
                after = panel.agent.table_state
                assert msgspec.structs.replace(after, differs=before.differs) == before
    assert refused > INPUTS // 4


@pytest.mark.slow
async def test_any_path_and_header_is_answered_without_an_error_of_ours(panel: PanelStand) -> None:
    random = Random(3)
    async with panel.client() as client:
        for number in range(200):
            path = random.choice(PATHS) + "a" * random.randrange(2_000)
            headers = own(panel) | {"cookie": "k=" + "%ff" * random.randrange(200)}
            method = random.choice(("GET", "POST", "PUT", "DELETE", "OPTIONS"))
            answer = await client.request(method, path, content=b"x" * number, headers=headers)
            assert 200 <= answer.status_code < 500, (method, path[:60], answer.status_code)
    assert panel.agent.table_state.phase == "open"
