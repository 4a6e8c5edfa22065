"""Bodies of requests: money is JSON integers alone, and texts are printable."""

import httpx
import pytest

from tests.web.stand import CLAIM, Stand


async def _post(stand: Stand, name: str, path: str, body: str) -> httpx.Response:
    """Post a body unchanged, as a signed-in user."""
    async with stand.signed_in(name) as staff:
        headers = {"Content-Type": "application/json"}
        return await staff.client.post(f"/api/v1/{path}", content=body, headers=headers)


@pytest.mark.parametrize("amount", ['"100"', "1e3", "100.0", "1E2", '"-5"', "true", "[100]"])
async def test_money_is_a_json_integer(staffed: Stand, amount: str) -> None:
    body = f'{{"kind": "adjustment", "meter": "progressive", "amount": {amount}, "reason": "y"}}'
    answer = await _post(staffed, "Sue", "links/pit-2/proposals", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
    assert "amount" in answer.json()["error"]["message"]
    assert staffed.links.done == []


@pytest.mark.parametrize("value", ["1e3", "100.0", "true"])
async def test_a_parameter_in_cents_is_a_json_integer(staffed: Stand, value: str) -> None:
    kind = '"kind": "parameter", "meter": "progressive", "parameter": "limit"'
    body = f'{{{kind}, "value": {value}}}'
    answer = await _post(staffed, "Sue", "links/pit-2/proposals", body)
    assert answer.status_code == 400
    assert staffed.links.done == []


@pytest.mark.parametrize("yes", ['"true"', "1", '"on"'])
async def test_a_choice_is_a_json_boolean(staffed: Stand, yes: str) -> None:
    staffed.claims.put(CLAIM)
    body = f'{{"reason": "misread", "envy_not_due": {yes}}}'
    assert (await _post(staffed, "Flo", "claims/c1/reject", body)).status_code == 400
    assert staffed.claims.acts == []


@pytest.mark.parametrize(
    ("who", "path", "field"),
    [
        ("Flo", "claims/c1/reject", "reason"),
        ("Finn", "claims/c1/pay", "slip"),
        ("Sue", "links/pit-2/close", "reason"),
        ("Ada", "users/Flo/pin", "pin"),
    ],
)
@pytest.mark.parametrize(
    "character", ["\x1b", "\r", "\n", "\x9b", "\u202e", "\u200b"], ids=lambda one: f"{ord(one):x}"
)
async def test_a_text_that_cannot_be_printed_is_refused(
    staffed: Stand, who: str, path: str, field: str, character: str
) -> None:
    staffed.claims.put(CLAIM)
    async with staffed.signed_in(who) as staff:
        answer = await staff.post(f"/api/v1/{path}", {field: f"a{character}b"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
    assert answer.json()["error"]["message"].isprintable()
    assert staffed.claims.acts == []
    assert staffed.links.done == []


@pytest.mark.parametrize(
    "body",
    [
        '{"slip": "A-1", "slip": "A-2"}',
        '{"slip": "A-1", "envy_paid": false, "envy_paid": true}',
        '{"slip": "A-1", "sl\\u0069p": "A-2"}',
        '{"slip": "A:1", "slip" : "A-2"}',
    ],
)
async def test_a_body_names_each_field_once(staffed: Stand, body: str) -> None:
    """A proxy or log that reads the first of two fields would see another slip than was stored."""
    staffed.claims.put(CLAIM)
    answer = await _post(staffed, "Finn", "claims/c1/pay", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
    assert staffed.claims.acts == []


async def test_a_number_of_any_length_is_no_defect(staffed: Stand) -> None:
    kind = '"kind": "adjustment", "meter": "progressive", "reason": "y"'
    body = f'{{{kind}, "amount": {"9" * 40}}}'
    answer = await _post(staffed, "Sue", "links/pit-2/proposals", body)
    assert answer.status_code in {400, 409}


async def test_a_name_to_sign_in_with_is_printable(staffed: Stand) -> None:
    async with httpx.AsyncClient(base_url=staffed.url, timeout=10) as client:
        answer = await client.post("/api/v1/sign-in", json={"name": "Fl\x1bo", "pin": "730482"})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "path", ["signage/%s", "api/v1/meters/stream?link=%s", "api/v1/claims/%s", "%s"]
)
async def test_what_an_error_repeats_of_a_request_is_printable(staffed: Stand, path: str) -> None:
    """Somebody asks with `curl` for an address that was sent to them."""
    async with staffed.signed_in("Flo") as staff:
        answer = await staff.client.get("/" + path % "x%C2%9B31m%E2%80%AEy%1B")
    assert answer.status_code == 404
    assert answer.text.isprintable(), answer.text
