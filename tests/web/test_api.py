import re
from collections.abc import Iterable
from typing import Final

import httpx
import msgspec
import pytest
from litestar.routes import HTTPRoute

from meters.acts.act_refusals import ActError
from meters.acts.claim_types import ClaimRow
from meters.web import display_state, streams
from tests.submission.filings import pages_of
from tests.web.events import listening
from tests.web.stand import Stand

CONTRACT_FIELDS = (
    "link", "meter", "kind", "name", "wager", "amount", "version", "cycle", "state", "at"
)  # fmt: skip


def error_of(response: httpx.Response) -> str:
    """Return the code of an error body, after a check that it has only the contract's fields."""
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


async def test_stream_sends_first_the_page_version_then_all_that_is_current(stand: Stand) -> None:
    stand.put(112_362, 7)
    stand.put(720_000, 3, link="pit-2")
    stand.hit()
    async with listening(stand.url) as events:
        assert events.response.headers["content-type"].startswith("text/event-stream")
        received = [await events.next() for _ in range(6)]
    assert [event for event, _ in received] == [
        "page", "meter", "meter", "controller", "controller", "jackpot",
    ]  # fmt: skip
    assert [data["amount"] for event, data in received if event == "meter"] == [112_362, 720_000]
    assert tuple(received[1].data) == CONTRACT_FIELDS
    assert (received[5].data["link"], received[5].data["table"]) == ("tcp-main", "TCP-03")


async def test_stream_sends_what_changes_and_never_a_lower_version(stand: Stand) -> None:
    stand.put(1000, 7)
    async with listening(stand.url) as events:
        assert (await events.next_of("meter")).data["version"] == 7
        assert not stand.put(900, 6)
        stand.put(1100, 8)
        assert (await events.next_of("meter")).data["version"] == 8
    async with listening(stand.url, "/api/v1/meters/stream?link=pit-2") as events:
        beats = [(await events.next_of("controller")).data for _ in range(3)]
        stand.put(900, 1, link="pit-2")
        stand.put(1200, 9)
        assert (await events.next_of("meter")).data["link"] == "pit-2"
    assert {beat["link"] for beat in beats} == {"pit-2"}
    assert int(beats[0]["beat"]) < int(beats[1]["beat"]) < int(beats[2]["beat"])


async def test_stream_sends_a_comment_when_nothing_happens(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "METERS_HEARTBEAT_S", 0.05)
    stand.hush()
    async with listening(stand.url) as events:
        while not (await events.next_line()).startswith(": "):
            pass


async def test_what_there_is_not_and_one_stream_too_many_have_the_form_of_every_error(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display_state, "WATCHERS_MAX", 0)
    for path, refused in (
        ("/nowhere", (404, "not_found")),
        ("/api/v1/meters/stream?link=nowhere", (404, "not_found")),
        ("/api/v1/meters/stream", (503, "too_many_streams")),
    ):
        response = await stand.get(path)
        assert (response.status_code, error_of(response)) == refused


@pytest.mark.duty("D17", proof=True)
async def test_the_person_who_printed_a_slip_is_in_the_log(stand: Stand) -> None:
    """The slip is one PDF that names them."""
    async with stand.signed_in("Audrey") as audrey:
        slip = await audrey.get("/api/v1/claims/c1/slip.pdf")
        missing = await audrey.get("/api/v1/claims/c9/slip.pdf")
        await audrey.get("/api/v1/claims/c1/slip.pdf")
        noted = (await audrey.get("/api/v1/log")).json()[:3]
    assert slip.headers["content-type"] == "application/pdf"
    assert slip.headers["content-disposition"] == 'inline; filename="slip-c1.pdf"'
    assert slip.headers["cache-control"] == "no-store"
    assert "Audrey" in pages_of(slip.content)[0]
    assert (missing.status_code, error_of(missing)) == (404, "unknown_claim")
    assert [(row["what"], row["by"], row["about"]) for row in noted] == [
        ("slip_printed", "Audrey", "c1"),
        ("slip_printed", "Audrey", "c1"),
        ("sign_in", "Audrey", "Audrey"),
    ]
    assert noted[0]["client"]


async def test_a_search_that_cannot_be_is_refused(stand: Stand) -> None:
    """A scrape of Prometheus may name what it wants more than once."""
    async with stand.signed_in("Audrey") as audrey:
        for query in (
            "state=won", "limit=0", "limit=201", "limit=x", "meter_awards=7",
            "limit=1e1", "limit=10.0", "limit=010", "limit=%2B10", "limit=10%20", "limit=",
            "limit=1_0", "limit=%D9%A1", "limit=1&limit=2", "state=paid&state=paid",
            "meter_awards=1",
        ):  # fmt: skip
            answer = await audrey.get(f"/api/v1/wins?{query}")
            assert answer.status_code == 400, query
            assert error_of(answer) == "bad_request"
    assert (await stand.get("/metrics?name[]=up&name[]=down")).status_code == 200


async def test_an_administrator_keeps_the_users_by_their_names(stand: Stand) -> None:
    async with stand.signed_in("Ada") as ada:
        added = await ada.post(
            "/api/v1/users", {"name": "Zoë O'Hara", "role": "dealer", "pin": "264907"}
        )
        assert (added.status_code, added.json()["added_by"]) == (201, "Ada")
        disabled = await ada.post("/api/v1/users/zo%C3%AB%20o'hara/disable")
        assert (disabled.json()["name"], disabled.json()["enabled"]) == ("Zoë O'Hara", False)
        again = await ada.post("/api/v1/users/Zo%C3%AB%20O'Hara/disable")
        assert (again.status_code, error_of(again)) == (409, "wrong_state")
        log = (await ada.get("/api/v1/log?limit=2")).json()
        older = (await ada.get(f"/api/v1/log?before={log[-1]['entry']}&limit=1")).json()
    assert [(row["what"], row["by"], row["about"], row["client"]) for row in log] == [
        ("user_disabled", "Ada", "Zoë O'Hara", "127.0.0.1"),
        ("user_added", "Ada", "Zoë O'Hara", "127.0.0.1"),
    ]
    assert older[0]["entry"] == log[-1]["entry"] - 1


async def refusals(
    stand: Stand, name: str, cases: Iterable[tuple[str, object, int, str]]
) -> list[str]:
    said = []
    before = await stand.user_directory.users.rows()
    async with stand.signed_in(name) as staff:
        for path, body, status, code in cases:
            response = await staff.post(f"/api/v1/{path}", body)
            assert (response.status_code, error_of(response)) == (status, code), (path, body)
            said.append(response.json()["error"]["message"])
    assert (stand.claims.acts, stand.links.done) == ([], [])
    after = await stand.user_directory.users.rows()
    assert [(row.name, row.enabled) for row in after] == [(row.name, row.enabled) for row in before]
    return said


async def test_a_bad_act_is_refused_and_changes_nothing(stand: Stand) -> None:
    change = {"kind": "adjustment", "meter": "progressive", "amount": 5, "reason": "y"}
    proposals = "links/pit-2/proposals"
    await refusals(stand, "Sue", (
        ("claims/c9/validate", {}, 404, "unknown_claim"),
        ("claims/c1/pay", {"slip": "1"}, 409, "wrong_state"),
        ("claims/c2/pay", {"slip": "1"}, 409, "wrong_state"),
        ("claims/c1/reject", {}, 400, "bad_request"),
        ("claims/c1/reject", {"reason": ""}, 400, "bad_request"),
        ("claims/c1/reject", {"reason": 7}, 400, "bad_request"),
        ("claims/c1/pay", {}, 400, "bad_request"),
        ("claims/c1/validate", {"slip": "1"}, 400, "bad_request"),
        ("claims/c1/validate", [], 400, "bad_request"),
        ("claims/c1/grant", {}, 404, "not_found"),
        ("claims/c1/reject", {"reason": "x" * 40_000}, 413, "request_entity_too_large"),
        ("links/pit-9/open", {}, 404, "unknown_link"),
        ("links/pit-2/close", {}, 400, "bad_request"),
        (f"{proposals}/P-9/confirm", {}, 404, "unknown_proposal"),
        (proposals, change | {"kind": "gift"}, 400, "bad_request"),
        (proposals, change | {"amount": 5.5}, 400, "bad_request"),
        ("users/Ghost/pin", {"pin": "264907"}, 403, "not_allowed"),
    ))  # fmt: skip


async def test_a_bad_change_of_users_is_refused(stand: Stand) -> None:
    user = {"name": "Xenia", "role": "dealer", "pin": "264907"}
    await refusals(stand, "Ada", (
        ("users", user | {"name": "ADA"}, 409, "name_taken"),
        ("users", user | {"name": "X"}, 400, "bad_name"),
        ("users", user | {"role": "boss"}, 400, "bad_request"),
        ("users", user | {"pin": "123456"}, 400, "bad_pin"),
        ("users", user | {"pin": 264907}, 400, "bad_request"),
        ("users/Ghost/disable", {}, 404, "unknown_user"),
        ("users/Ghost/pin", {"pin": "264907"}, 404, "unknown_user"),
        ("users/Flo/pin", {"pin": "111111"}, 400, "bad_pin"),
        ("users/Flo/enable", {}, 409, "wrong_state"),
        ("users/ada/disable", {}, 409, "yourself"),
    ))  # fmt: skip


STATUSES: Final = {
    "unknown_meter": 404, "same_person": 409, "not_closed": 409, "rounds_open": 409,
    "no_change": 409, "meter_short": 409, "stale": 409, "bad_value": 400, "envy_decided": 409,
    "limit_too_low": 409, "above_limit": 409, "link_inoperable": 503, "something_else": 422,
}  # fmt: skip


async def test_a_refused_act_has_its_status_and_a_defect_no_text(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail() -> list[ClaimRow]:
        raise errors.pop()

    monkeypatch.setattr(stand.claims, "waiting", fail)
    errors: list[Exception] = []
    for code, status in STATUSES.items():
        errors.append(ActError(code, "the reason"))
        response = await stand.get("/api/v1/claims")
        assert (response.status_code, error_of(response)) == (status, code)
    errors.append(RuntimeError("secret of the store"))
    response = await stand.get("/api/v1/claims")
    assert (response.status_code, error_of(response)) == (500, "internal_error")
    assert "secret" not in response.text
    assert "nosniff" in response.headers["x-content-type-options"]


async def test_readiness_follows_the_links(stand: Stand) -> None:
    assert (await stand.get("/readyz")).status_code == 200
    stand.health.reasons = {
        "pit-2": "Redis does not answer: Error 111 connecting to 10.0.0.5:6379."
    }
    response = await stand.get("/readyz")
    assert response.status_code == 503
    silent = "Redis does not answer"
    assert response.json() == {
        "ready": False,
        "links": {"pit-2": f"{silent}: Error 111 connecting to its address."},
    }
    assert (await stand.get("/healthz")).status_code == 200


async def test_metrics_speaks_prometheus(stand: Stand) -> None:
    stand.metrics.count("events", "tcp-main", "wagers", "accepted", by=3)
    response = await stand.get("/metrics", accept="text/plain")
    assert response.headers["content-type"].startswith("text/plain; version=")
    line = 'pitlink_events_total{link="tcp-main",status="accepted",type="wagers"} 3.0'
    assert line in response.text.splitlines()
    modern = await stand.get("/metrics", accept="application/openmetrics-text")
    assert modern.text.endswith("# EOF\n")


async def test_schema_is_one_whole_document_that_names_every_route(stand: Stand) -> None:
    response = await stand.get("/schema")
    assert (await stand.get("/schema/openapi.json")).text == response.text
    document = response.json()
    assert document["openapi"].startswith("3.")
    assert set(document["paths"]) == {
        route.path_format
        for route in stand.app().routes
        if isinstance(route, HTTPRoute)
        and route.path_format.startswith(("/api/", "/healthz", "/readyz", "/metrics"))
    }
    text = response.text
    names = document["components"]["schemas"]
    for reference in re.findall(r'"\$ref":\s*"#/components/schemas/([^"]+)"', text):
        assert reference in names
    operations = re.findall(r'"operationId":\s*"([^"]+)"', text)
    assert len(operations) == len(set(operations)) > 25
    row = next(schema for name, schema in names.items() if name.endswith("MeterRow"))
    assert tuple(row["properties"]) == CONTRACT_FIELDS
    empty = [
        operation["responses"]["204"]
        for path in document["paths"].values()
        for operation in path.values()
        if "204" in operation["responses"]
    ]
    assert [answer.get("content") for answer in empty] == [None, None]
    pay = document["paths"]["/api/v1/claims/{claim}/pay"]["post"]
    assert pay["security"] == [{"session": ["floorperson", "supervisor"]}]
    assert {"200", "401", "403", "404", "409", "503"} <= set(pay["responses"])
    scheme = document["components"]["securitySchemes"]["session"]
    assert (scheme["in"], scheme["name"]) == ("cookie", "__Host-pitlink")


async def test_schema_describes_every_route_parameter_and_field(stand: Stand) -> None:
    document = (await stand.get("/schema")).json()
    routes = {
        f"{method} {path}": one
        for path, methods in document["paths"].items()
        for method, one in methods.items()
    }
    assert [name for name, one in routes.items() if not one.get("description")] == []
    bare = [
        f"{name}: {parameter['name']}"
        for name, one in routes.items()
        for parameter in one.get("parameters", ())
        if not parameter.get("description")
    ]
    assert bare == []
    objects = document["components"]["schemas"].items()
    bare = [name for name, one in objects if one.get("properties") and not one.get("description")]
    assert bare == []
    bare = [
        f"{name}: {field}"
        for name, one in objects
        for field, described in one.get("properties", {}).items()
        if not described.get("description")
    ]
    assert bare == []


BAD: Final = (400, "bad_request")
PROPOSALS: Final = "links/pit-2/proposals"
ADJUST: Final = '{"kind": "adjustment", "meter": "progressive", "reason": "y", "amount": %s}'
LIMIT: Final = (
    '{"kind": "parameter", "meter": "progressive", "parameter": "limit", "reason": "y",'
    ' "value": %s}'
)
MISREAD: Final = '{"reason": "misread", "envy_not_due": %s}'
BODIES: Final = {
    PROPOSALS: (
        *(ADJUST % each for each in ('"100"', "1e3", "100.0", "1E2", '"-5"', "true", "[100]")),
        *(LIMIT % each for each in ("1e3", "100.0", "true")),
    ),
    "claims/c1/reject": [MISREAD % each for each in ('"true"', "1", '"on"')],
    "claims/c1/pay": (
        '{"slip": "A-1", "slip": "A-2"}',
        '{"slip": "A-1", "envy_paid": false, "envy_paid": true}',
        '{"slip": "A-1", "sl\\u0069p": "A-2"}',
        '{"slip": "A:1", "slip" : "A-2"}',
    ),
}


async def test_money_is_an_integer_a_choice_a_boolean_and_each_field_is_named_once(
    stand: Stand,
) -> None:
    """A proxy or log that reads the first of two fields would see another slip than was stored.

    A number of any length is no defect.
    """
    for path, bodies in BODIES.items():
        said = await refusals(stand, "Sue", ((path, body, *BAD) for body in bodies))
        if path == PROPOSALS:
            assert all("amount" in each for each in said[:7])
    async with stand.signed_in("Sue") as sue:
        long = await sue.post(f"/api/v1/{PROPOSALS}", ADJUST % ("9" * 40))
    assert long.status_code in {400, 409}


async def test_a_text_that_cannot_be_printed_is_refused(stand: Stand) -> None:
    for who, path, field in (
        ("Flo", "claims/c1/reject", "reason"), ("Finn", "claims/c1/pay", "slip"),
        ("Sue", "links/pit-2/close", "reason"), ("Ada", "users/Flo/pin", "pin"),
    ):  # fmt: skip
        characters = ("\x1b", "\r", "\n", "\x9b", "\u202e", "\u200b")
        cases = [(path, {field: f"a{each}b"}, *BAD) for each in characters]
        assert all(each.isprintable() for each in await refusals(stand, who, cases))
    name = await stand.try_to_sign_in("Fl\x1bo")
    assert name.status_code == 400
    # Somebody asks with `curl` for an address that was sent to them.
    for path in ("signage/%s", "api/v1/meters/stream?link=%s", "api/v1/claims/%s", "%s"):
        answer = await stand.get("/" + path % "x%C2%9B31m%E2%80%AEy%1B")
        assert answer.status_code in {401, 404}, path
        assert answer.text.isprintable(), answer.text
