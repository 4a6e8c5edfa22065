"""The routes for programs, over real HTTP."""

import re

import httpx
import msgspec
import pytest

from meters import board as board_module
from meters.web import stream as stream_module
from meters.web.app import create_app
from meters.web.doors import ClaimRow
from tests.web.events import listening
from tests.web.stand import CLAIM, FLOOR_KEY, Stand

KEY = {"Authorization": f"Bearer {FLOOR_KEY}"}
CONTRACT_FIELDS = (
    "link", "meter", "kind", "name", "wager", "amount", "version", "cycle", "state", "at"
)  # fmt: skip


async def send(
    stand: Stand, path: str, body: object, headers: dict[str, str] | None = None
) -> httpx.Response:
    async with httpx.AsyncClient(base_url=stand.url, timeout=10) as client:
        return await client.post(path, json=body, headers=KEY if headers is None else headers)


def error_of(response: httpx.Response) -> str:
    """The code of an error body, which has nothing but what the contract says."""
    body = msgspec.json.decode(response.content, type=dict[str, dict[str, str]])
    assert list(body) == ["error"]
    assert list(body["error"]) == ["code", "message"]
    assert body["error"]["message"]
    return body["error"]["code"]


@pytest.mark.reading("T21")
async def test_meters_lists_the_fields_of_the_contract_and_no_reserve(stand: Stand) -> None:
    stand.put(112_362, 7)
    stand.put(720_000, 3, link="pit-2")
    response = await stand.get("/api/v1/meters")
    rows = response.json()
    assert [tuple(row) for row in rows] == [CONTRACT_FIELDS] * 2
    assert rows[0] == {
        "link": "tcp-main", "meter": "progressive", "kind": "progressive",
        "name": "Progressive", "wager": 100, "amount": 112_362, "version": 7, "cycle": 1,
        "state": "open", "at": "2026-11-20T02:14:07.250Z",
    }  # fmt: skip
    assert response.headers["cache-control"] == "no-store"


async def test_stream_tells_first_the_page_version_then_all_that_is_current(stand: Stand) -> None:
    stand.put(112_362, 7)
    stand.put(720_000, 3, link="pit-2")
    stand.hit()
    async with listening(stand.url) as events:
        assert events.response.headers["content-type"].startswith("text/event-stream")
        told = [await events.next() for _ in range(6)]
    assert [event for event, _ in told] == [
        "page", "meter", "meter", "controller", "controller", "jackpot",
    ]  # fmt: skip
    assert [data["amount"] for event, data in told if event == "meter"] == [112_362, 720_000]
    assert tuple(told[1].data) == CONTRACT_FIELDS
    assert (told[5].data["link"], told[5].data["table"]) == ("tcp-main", "TCP-03")


async def test_stream_tells_what_changes_and_never_a_lower_version(stand: Stand) -> None:
    stand.put(1000, 7)
    async with listening(stand.url) as events:
        assert (await events.next_of("meter")).data["version"] == 7
        assert not stand.put(900, 6)
        stand.put(1100, 8)
        assert (await events.next_of("meter")).data["version"] == 8


async def test_stream_tells_the_controller_again_and_again(stand: Stand) -> None:
    async with listening(stand.url, "/api/v1/meters/stream?link=pit-2") as events:
        beats = [(await events.next_of("controller")).data for _ in range(3)]
    assert {beat["link"] for beat in beats} == {"pit-2"}
    assert int(beats[0]["beat"]) < int(beats[1]["beat"]) < int(beats[2]["beat"])


async def test_stream_sends_a_comment_when_nothing_happens(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "HEARTBEAT_S", 0.05)
    stand.hush()
    async with listening(stand.url) as events:
        while not (await events.next_line()).startswith(": "):
            pass


async def test_stream_of_an_unknown_link_is_refused(stand: Stand) -> None:
    response = await stand.get("/api/v1/meters/stream?link=nowhere")
    assert (response.status_code, error_of(response)) == (404, "not_found")


async def test_one_stream_too_many_is_turned_away(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_module, "WATCHERS_MAX", 0)
    response = await stand.get("/api/v1/meters/stream")
    assert (response.status_code, error_of(response)) == (503, "too_many_streams")


async def test_claims_lists_what_waits(stand: Stand) -> None:
    response = await stand.get("/api/v1/claims")
    assert msgspec.json.decode(response.content, type=list[ClaimRow]) == [CLAIM]


async def test_a_claim_is_validated_then_paid(stand: Stand) -> None:
    validated = await send(stand, "/api/v1/claims/c1/validate", {"actor": "Ann"})
    assert (validated.status_code, validated.json()["state"]) == (200, "validated")
    paid = await send(stand, "/api/v1/claims/c1/pay", {"actor": "Bob", "slip": "S-17"})
    assert (paid.status_code, paid.json()["state"]) == (200, "paid")
    assert stand.desk.acts == [
        ("c1", "validate", "Ann", None, None),
        ("c1", "pay", "Bob", None, "S-17"),
    ]


async def test_a_claim_is_rejected_with_its_reason(stand: Stand) -> None:
    body = {"actor": "Ann", "reason": "misread card"}
    rejected = await send(stand, "/api/v1/claims/c1/reject", body)
    assert rejected.json()["state"] == "rejected"
    assert stand.desk.acts == [("c1", "reject", "Ann", "misread card", None)]


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="no key"),
        pytest.param({"Authorization": "Bearer wrong"}, id="wrong key"),
        pytest.param({"Authorization": "Bearer"}, id="empty key"),
        pytest.param({"Authorization": FLOOR_KEY}, id="no scheme"),
        pytest.param({"Authorization": f"Basic {FLOOR_KEY}"}, id="another scheme"),
        pytest.param({"Authorization": f"Bearer {FLOOR_KEY}x"}, id="longer key"),
        pytest.param({"Authorization": f"Bearer {FLOOR_KEY[:-1]}"}, id="shorter key"),
    ],
)
@pytest.mark.parametrize("act", ["validate", "reject", "pay"])
async def test_nothing_is_decided_without_the_key(
    stand: Stand, act: str, headers: dict[str, str]
) -> None:
    body = {"actor": "Ann"} | {"reject": {"reason": "x"}, "pay": {"slip": "x"}}.get(act, {})
    response = await send(stand, f"/api/v1/claims/c1/{act}", body, headers)
    assert (response.status_code, error_of(response)) == (401, "unauthorized")
    assert response.headers["www-authenticate"] == "Bearer"
    assert stand.desk.acts == []


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        pytest.param("c9/validate", {"actor": "A"}, 404, "unknown_claim", id="unknown claim"),
        pytest.param("c1/pay", {"actor": "A", "slip": "1"}, 409, "wrong_state", id="not validated"),
        pytest.param("c1/validate", {}, 400, "bad_request", id="no actor"),
        pytest.param("c1/validate", {"actor": ""}, 400, "bad_request", id="empty actor"),
        pytest.param("c1/validate", {"actor": 7}, 400, "bad_request", id="actor no text"),
        pytest.param("c1/reject", {"actor": "A"}, 400, "bad_request", id="no reason"),
        pytest.param("c1/pay", {"actor": "A"}, 400, "bad_request", id="no slip"),
        pytest.param(
            "c1/validate", {"actor": "A", "slip": "1"}, 400, "bad_request", id="unknown field"
        ),
        pytest.param("c1/validate", [], 400, "bad_request", id="no object"),
        pytest.param("c1/grant", {"actor": "A"}, 404, "not_found", id="unknown act"),
        pytest.param(
            "c1/reject", {"actor": "A", "reason": "x" * 40_000}, 413, "request_entity_too_large",
            id="too long",
        ),
    ],
)  # fmt: skip
async def test_a_bad_decision_is_refused_and_changes_nothing(
    stand: Stand, path: str, body: object, status: int, code: str
) -> None:
    response = await send(stand, f"/api/v1/claims/{path}", body)
    assert (response.status_code, error_of(response)) == (status, code)
    assert stand.desk.acts == []


async def test_what_is_not_json_is_refused(stand: Stand) -> None:
    async with httpx.AsyncClient(base_url=stand.url) as client:
        response = await client.post("/api/v1/claims/c1/validate", content=b"\xff{", headers=KEY)
    assert (response.status_code, error_of(response)) == (400, "bad_request")


async def test_a_defect_is_told_without_its_text(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail() -> list[ClaimRow]:
        raise RuntimeError("secret of the store")

    monkeypatch.setattr(stand.desk, "waiting", fail)
    response = await stand.get("/api/v1/claims")
    assert (response.status_code, error_of(response)) == (500, "internal_error")
    assert "secret" not in response.text
    assert "nosniff" in response.headers["x-content-type-options"]


async def test_readiness_follows_the_links(stand: Stand) -> None:
    assert (await stand.get("/readyz")).status_code == 200
    stand.health.reasons = {"pit-2": "the store does not answer"}
    response = await stand.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {"ready": False, "links": {"pit-2": "the store does not answer"}}
    assert (await stand.get("/healthz")).status_code == 200


async def test_metrics_speaks_prometheus(stand: Stand) -> None:
    stand.metrics.count_event("tcp-main", "wagers", "accepted", 3)
    response = await stand.get("/metrics", accept="text/plain")
    assert response.headers["content-type"].startswith("text/plain; version=")
    line = 'pitlink_events_total{link="tcp-main",status="accepted",type="wagers"} 3.0'
    assert line in response.text.splitlines()
    modern = await stand.get("/metrics", accept="application/openmetrics-text")
    assert modern.text.endswith("# EOF\n")


@pytest.mark.parametrize("path", ["/schema", "/schema/openapi.json"])
async def test_schema_is_one_whole_document_that_names_every_route(stand: Stand, path: str) -> None:
    response = await stand.get(path)
    document = response.json()
    assert document["openapi"].startswith("3.")
    assert set(document["paths"]) == {
        "/api/v1/meters", "/api/v1/meters/stream", "/api/v1/claims",
        "/api/v1/claims/{claim}/validate", "/api/v1/claims/{claim}/reject",
        "/api/v1/claims/{claim}/pay", "/healthz", "/readyz", "/metrics",
    }  # fmt: skip
    text = response.text
    names = document["components"]["schemas"]
    for reference in re.findall(r'"\$ref":\s*"#/components/schemas/([^"]+)"', text):
        assert reference in names
    operations = re.findall(r'"operationId":\s*"([^"]+)"', text)
    assert len(operations) == len(set(operations)) == 9
    row = next(schema for name, schema in names.items() if name.endswith("MeterRow"))
    assert tuple(row["properties"]) == CONTRACT_FIELDS
    pay = document["paths"]["/api/v1/claims/{claim}/pay"]["post"]
    assert pay["security"] == [{"floor_key": []}]
    assert "floor_key" in document["components"]["securitySchemes"]


@pytest.mark.parametrize("path", ["/signage", "/api/v1/meters", "/nowhere", "/schema"])
async def test_every_answer_has_the_security_headers(stand: Stand, path: str) -> None:
    headers = (await stand.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


async def test_an_unknown_path_is_told_as_every_error(stand: Stand) -> None:
    response = await stand.get("/nowhere")
    assert (response.status_code, error_of(response)) == (404, "not_found")


def test_an_empty_floor_key_is_refused() -> None:
    stand = Stand()
    with pytest.raises(ValueError, match="empty"):
        create_app(stand.floor, stand.board, stand.desk, stand.health, stand.metrics, floor_key="")
