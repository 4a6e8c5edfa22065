"""Bodies of requests: money is JSON integers alone, and texts are printable."""

import json
from typing import Final

import httpx

from tests.web.stand import Stand

PROPOSALS: Final = "links/pit-2/proposals"


async def _post(stand: Stand, name: str, path: str, body: str) -> httpx.Response:
    async with stand.signed_in(name) as staff:
        headers = {"Content-Type": "application/json"}
        return await staff.client.post(f"/api/v1/{path}", content=body, headers=headers)


async def refused(stand: Stand, name: str, path: str, *bodies: str) -> list[str]:
    """Check that each body is refused and nothing done; return the messages."""
    said = []
    for body in bodies:
        answer = await _post(stand, name, path, body)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (400, "bad_request"), body
        said.append(error["message"])
    assert (stand.claims.acts, stand.links.done) == ([], [])
    return said


async def test_money_is_a_json_integer(staffed: Stand) -> None:
    """A number of any length is no defect."""
    kind = '"kind": "adjustment", "meter": "progressive", "reason": "y"'
    amounts = ('"100"', "1e3", "100.0", "1E2", '"-5"', "true", "[100]")
    bodies = (f'{{{kind}, "amount": {amount}}}' for amount in amounts)
    assert all("amount" in each for each in await refused(staffed, "Sue", PROPOSALS, *bodies))
    kind = '"kind": "parameter", "meter": "progressive", "parameter": "limit"'
    limits = (f'{{{kind}, "value": {value}}}' for value in ("1e3", "100.0", "true"))
    await refused(staffed, "Sue", PROPOSALS, *limits)
    kind = '"kind": "adjustment", "meter": "progressive", "reason": "y"'
    long = await _post(staffed, "Sue", PROPOSALS, f'{{{kind}, "amount": {"9" * 40}}}')
    assert long.status_code in {400, 409}


async def test_a_choice_is_a_json_boolean_and_each_field_is_named_once(staffed: Stand) -> None:
    """A proxy or log that reads the first of two fields would see another slip than was stored."""
    choices = (f'{{"reason": "misread", "envy_not_due": {yes}}}' for yes in ('"true"', "1", '"on"'))
    await refused(staffed, "Flo", "claims/c1/reject", *choices)
    await refused(
        staffed,
        "Finn",
        "claims/c1/pay",
        '{"slip": "A-1", "slip": "A-2"}',
        '{"slip": "A-1", "envy_paid": false, "envy_paid": true}',
        '{"slip": "A-1", "sl\\u0069p": "A-2"}',
        '{"slip": "A:1", "slip" : "A-2"}',
    )


async def test_a_text_that_cannot_be_printed_is_refused(staffed: Stand) -> None:
    for who, path, field in (
        ("Flo", "claims/c1/reject", "reason"), ("Finn", "claims/c1/pay", "slip"),
        ("Sue", "links/pit-2/close", "reason"), ("Ada", "users/Flo/pin", "pin"),
    ):  # fmt: skip
        characters = ("\x1b", "\r", "\n", "\x9b", "\u202e", "\u200b")
        bodies = (json.dumps({field: f"a{each}b"}) for each in characters)
        assert all(each.isprintable() for each in await refused(staffed, who, path, *bodies))
    name = await staffed.try_to_sign_in("Fl\x1bo")
    assert name.status_code == 400


async def test_what_an_error_repeats_of_a_request_is_printable(staffed: Stand) -> None:
    """Somebody asks with `curl` for an address that was sent to them."""
    async with staffed.signed_in("Flo") as staff:
        for path in ("signage/%s", "api/v1/meters/stream?link=%s", "api/v1/claims/%s", "%s"):
            answer = await staff.client.get("/" + path % "x%C2%9B31m%E2%80%AEy%1B")
            assert answer.status_code == 404, path
            assert answer.text.isprintable(), answer.text
