"""Cards are taken back at the panel with a reason, by any program."""

import msgspec

from tests.controllers.floors import line_of
from tests.controllers.scripted import ScriptedService
from tests.panel.stand import PanelStand

JSON = {"Content-Type": "application/json"}


async def test_cards_are_not_taken_back_at_the_panel_without_a_reason(
    panel: PanelStand, service: ScriptedService
) -> None:
    async with panel.client() as client:

        async def touch(body: bytes | dict[str, object]) -> tuple[int, str]:
            content = body if isinstance(body, bytes) else msgspec.json.encode(body)
            headers = JSON | {"Origin": panel.url}
            answer = await client.post("/api/v1/events", content=content, headers=headers)
            return answer.status_code, answer.json().get("error", {}).get("code", "")

        for line in ("wager 3 progressive", "lockout", "chips 1", "hand 3 As Ks Qs", "fold 3"):
            assert await touch(line_of(line)) == (200, "")
        assert await touch(line_of("retract fold 3")) == (200, ""), "a fold is no card"
        body: dict[str, object] = {"event": "retract", "position": 3}
        for what in ("hand", "dealer", "community"):
            for said in ({}, {"reason": ""}, {"reason": "  "}):
                status, code = await touch(body | said | {"what": what})
                assert status == 400, what
                assert code in {"reason_missing", "bad_event", "unprintable_text"}, what
        assert panel.agent.table_state.cards_at(3) == ("As", "Ks", "Qs")
        assert await touch(body | {"what": "hand", "reason": "Typed wrong"}) == (200, "")
        assert panel.agent.table_state.cards_at(3) is None
        for line in ("hand 3 2h 3h 4h", "dealer 5c 6c 7c", "settle"):
            assert await touch(line_of(line)) == (200, "")
    assert service.applied[-1]["entered_before"] == [
        {"what": "hand", "position": 3, "cards": ["As", "Ks", "Qs"], "taken_back": True,
         "reason": "Typed wrong"}
    ]  # fmt: skip
