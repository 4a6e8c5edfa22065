"""Every role, and requests without one, against every route, over real HTTP.

The routes are those of the application itself. A route that is missing in the table below fails the
test.
"""

import contextlib
import re
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import httpx
import msgspec
import pytest
import pytest_asyncio
from litestar.routes import HTTPRoute

from meters.acts.meter_changes import Adjustment
from meters.floor.roles import RIGHTS, Right, Role
from meters.users.user_store import UsersError
from meters.users.users import Actor
from meters.web.error_answers import ErrorBody
from meters.web.security import ACCESS, COOKIE, CSRF_HEADER, RouteAccess
from tests.web.in_memory import ASK, UNAPPROVED
from tests.web.stand import CLAIM, PIN, SMALL, STAFF, Stand

Prepare = Callable[[Stand], Awaitable[None]]


class Case(NamedTuple):
    access: Right | RouteAccess
    body: dict[str, object] | None = None
    prepare: Prepare | None = None
    status: int = 200


def claim(**changed: object) -> Prepare:
    async def put(stand: Stand) -> None:
        stand.claims.put(CLAIM, **changed)

    return put


validated = claim(state="validated", envy_state="validated", validated_by="Nobody here")


async def requested(stand: Stand) -> None:
    stand.claims.put(CLAIM, two_people_reject=True)
    await stand.claims.reject(CLAIM.claim, "Nobody here", reason="misread")


async def asked(stand: Stand) -> None:
    stand.asks.put()


async def closed(stand: Stand) -> None:
    await stand.links.close("pit-2", "Nobody here", "a test")


async def proposed(stand: Stand) -> None:
    change = Adjustment(meter="progressive", amount=100, reason="a test")
    row = await stand.links.propose("pit-2", "Nobody here", change)
    stand.links.put("pit-2", proposals=(msgspec.structs.replace(row, proposal="P-0"),))


async def unapproved(stand: Stand) -> None:
    stand.links.put_unapproved("pit-2")


async def disabled(stand: Stand) -> None:
    with contextlib.suppress(UsersError):
        await stand.user_directory.users.disable("Spare", Actor("the test"))


async def enabled(stand: Stand) -> None:
    with contextlib.suppress(UsersError):
        await stand.user_directory.users.enable("Spare", Actor("the test"))


_LINK: Final = "/api/v1/links/pit-2"
_SETTLE: Final = "POST /api/v1/settlements"
_IN_PATHS: Final = {
    "link": "pit-2", "claim": "c1", "ask": ASK.ask, "name": "Spare", "proposal": "P-0",
    "meter": "progressive", "entry": "15", "preview": "closed",
    "report": "day", "days": "2026-11-19",
}  # fmt: skip
_OPEN: Final = Case(RouteAccess.ANYBODY)
_GONE: Final = Case(RouteAccess.ANYBODY, status=404)
_SEEN: Final = Case(Right.WINS)
CASES: Final = {
    "GET /": Case(RouteAccess.ANYBODY, status=302),
    "GET /signage": _OPEN,
    "GET /signage/{link}": _OPEN,
    "GET /signage/{link}/pays": _OPEN,
    "GET /signage/{link}/pays/{table}": _GONE,
    "GET /signage/logo/{version}": _GONE,
    "GET /signage/message.html": _OPEN,
    "GET /signage/worker.js": _OPEN,
    "GET /signage/{link}/meter.json": _OPEN,
    "GET /signage/{link}/meter.png": _OPEN,
    "GET /signage/{link}/preview/{preview}": _OPEN,
    "GET /floor": _OPEN,
    "GET /docs": Case(RouteAccess.ANYBODY, status=302),
    "GET /docs/{name}": _GONE,
    "GET /settle": _OPEN,
    "GET /assets/{version}/{name}": _GONE,
    "GET /api/v1/meters": _OPEN,
    "GET /api/v1/meters/stream": _OPEN,
    "GET /api/v1/claims": _OPEN,
    "GET /healthz": _OPEN,
    "GET /readyz": _OPEN,
    "GET /metrics": _OPEN,
    "GET /schema": _OPEN,
    "GET /schema/openapi.json": _OPEN,
    "GET /schema/{path}": _GONE,
    "GET /api/v1/floor/stream": Case(Right.WAITING),
    "GET /api/v1/claims/{claim}": _SEEN,
    "GET /api/v1/claims/{claim}/slip.pdf": _SEEN,
    "GET /api/v1/wins": _SEEN,
    "GET /api/v1/links": _SEEN,
    "GET /api/v1/links/{link}/acts": _SEEN,
    "GET /api/v1/links/last-done": _SEEN,
    "GET /api/v1/links/{link}/meters/{meter}/history": _SEEN,
    "GET /api/v1/links/{link}/meters/{meter}/history.csv": _SEEN,
    "GET /api/v1/links/{link}/rounds/{entry}": _SEEN,
    "GET /api/v1/meters/sparks": _SEEN,
    "GET /api/v1/floor/day": _SEEN,
    "GET /api/v1/floor/tables": _SEEN,
    "GET /api/v1/rounds": _SEEN,
    "GET /api/v1/reports": _SEEN,
    "GET /api/v1/reports/{report}/{days}": _SEEN,
    "GET /api/v1/reports/{report}/{days}/rows.csv": _SEEN,
    "GET /api/v1/asks": Case(Right.WAITING),
    "POST /api/v1/asks/{ask}/confirm": Case(Right.DECIDE, {}, asked),
    "POST /api/v1/asks/{ask}/refuse": Case(Right.DECIDE, {"reason": "Deal on"}, asked),
    "POST /api/v1/claims/{claim}/validate": Case(Right.DECIDE, {}),
    "POST /api/v1/claims/{claim}/reject": Case(
        Right.DECIDE, {"reason": "misread", "envy_not_due": True}
    ),
    "POST /api/v1/claims/{claim}/reopen": Case(
        Right.DECIDE, {"reason": "misread"}, claim(state="rejected")
    ),
    "POST /api/v1/claims/{claim}/confirm": Case(Right.DECIDE, {"request": 7}, requested),
    "POST /api/v1/claims/{claim}/withdraw": Case(Right.DECIDE, {"request": 7}, requested),
    "POST /api/v1/claims/{claim}/correct-slip": Case(
        Right.DECIDE, {"slip": "S-2", "replaces": "S-1", "reason": "digits swapped"},
        claim(state="paid", slip="S-1"),
    ),
    "POST /api/v1/claims/{claim}/pay-envy": Case(Right.DECIDE, {}, validated),
    "POST /api/v1/claims/{claim}/reject-envy": Case(
        Right.DECIDE, {"reason": "left the table"}, validated
    ),
    "POST /api/v1/claims/{claim}/pay": Case(Right.DECIDE, {"slip": "S-1"}, validated),
    "POST /api/v1/links/{link}/close": Case(Right.LINKS, {"reason": "count"}),
    "POST /api/v1/links/{link}/open": Case(Right.LINKS, {}, closed),
    "POST /api/v1/links/{link}/approve": Case(
        Right.LINKS, {"digest": UNAPPROVED.digest}, unapproved
    ),
    "POST /api/v1/links/{link}/proposals": Case(
        Right.LINKS,
        {"kind": "adjustment", "meter": "progressive", "amount": -5, "reason": "cable"}, status=201,
    ),
    "POST /api/v1/links/{link}/proposals/{proposal}/confirm": Case(Right.LINKS, {}, proposed),
    "POST /api/v1/links/{link}/proposals/{proposal}/withdraw": Case(Right.LINKS, {}, proposed),
    "GET /api/v1/users": Case(Right.USERS),
    "GET /api/v1/log": Case(Right.USERS),
    "GET /api/v1/log/seal": _SEEN,
    "POST /api/v1/users": Case(
        Right.CHANGE_USERS, {"name": "Newcomer", "role": "dealer", "pin": "264907"}, status=201
    ),
    "POST /api/v1/users/{name}/disable": Case(Right.CHANGE_USERS, {}, enabled),
    "POST /api/v1/users/{name}/enable": Case(Right.CHANGE_USERS, {}, disabled),
    "POST /api/v1/users/{name}/unlock": Case(Right.CHANGE_USERS, {}),
    "POST /api/v1/users/{name}/pin": Case(Right.CHANGE_USERS, {"pin": "264907"}),
    "GET /api/v1/me": Case(RouteAccess.SIGNED_IN),
    "GET /api/v1/me/acts": Case(Right.WAITING),
    _SETTLE: Case(
        RouteAccess.SIGNED_IN,
        {"game": "three_card_prime", "positions": [], "dealer": ["2c", "3c", "4c"]},
    ),
    "POST /api/v1/me/pin": Case(
        RouteAccess.SIGNED_IN, {"pin": PIN, "new_pin": "905183"}, status=204
    ),
    "POST /api/v1/sign-out": Case(RouteAccess.SIGNED_IN, {}, status=204),
    "POST /api/v1/sign-in": Case(RouteAccess.ANYBODY, {"name": "Finn", "pin": PIN}),
}  # fmt: skip

RIGHTS_OF: Final = {
    Role.DEALER: "waiting",
    Role.FLOORPERSON: "waiting wins decide",
    Role.SUPERVISOR: "waiting wins decide links",
    Role.AUDITOR: "waiting wins users",
    Role.ADMINISTRATOR: "waiting wins links users people",
}
"""The table of roles, written a second time."""


@pytest_asyncio.fixture(loop_scope="session")
async def stand(stand: Stand) -> Stand:
    await stand.add("Spare", Role.DEALER)
    return stand


def routes(stand: Stand) -> dict[str, object]:
    return {
        f"{method} {route.path_format}": handler.opt.get(ACCESS)
        for route in stand.app().routes
        if isinstance(route, HTTPRoute)
        for method, (handler, _) in route.route_handler_map.items()
        if method != "OPTIONS"
    }


async def happened(stand: Stand) -> tuple[object, ...]:
    people = stand.user_directory
    return (
        [*stand.claims.acts], [*stand.asks.acts], [*stand.links.done],
        await people.users.rows(), await people.log.page(None, 1),
    )  # fmt: skip


async def reset(stand: Stand, case: Case) -> None:
    stand.claims.claims = {"c1": CLAIM, "c2": SMALL}
    stand.links.reset()
    if case.prepare is not None:
        await case.prepare(stand)


def path_of(route: str) -> str:
    path = route.partition(" ")[2]
    return re.sub(r"{(\w+)}", lambda part: _IN_PATHS.get(part[1], "none"), path)


async def send(client: httpx.AsyncClient, route: str, case: Case) -> tuple[int, str]:
    method = route.partition(" ")[0]
    async with client.stream(method, path_of(route), json=case.body) as response:
        if response.status_code < 400:
            return response.status_code, ""
        body = await response.aread()
        if not response.headers["content-type"].startswith("application/json"):
            return response.status_code, ""
        return response.status_code, msgspec.json.decode(body, type=ErrorBody).error.code


def test_every_route_states_who_may_use_it_and_is_in_the_table() -> None:
    stated = routes(Stand())
    assert stated == {route: case.access for route, case in CASES.items()}
    assert None not in stated.values()


def test_the_rights_of_the_roles_are_those_of_the_table() -> None:
    written = {role: {Right(each) for each in words.split()} for role, words in RIGHTS_OF.items()}
    assert written == RIGHTS
    assert {role.value for role in STAFF.values()} == {role.value for role in Role}


async def check_every_route(
    stand: Stand, client: httpx.AsyncClient, role: Role | None, *, lapsed: bool = False,
    chooses: bool = False,
) -> None:  # fmt: skip
    """Try every route, and check its answer, and that only an act that was done changes anything.

    Printing a slip is recorded with the person. Nothing is stored about a settled round.
    """
    rights = RIGHTS_OF[role].split() if role else []
    for route, case in CASES.items():
        if route.endswith(("/sign-in", "/sign-out")[: (role is None) + 2 * lapsed]):
            continue
        if chooses and route.endswith(("/sign-in", "/sign-out", "/me/pin")):
            continue
        acts = (route.startswith("POST ") and route != _SETTLE) or route.endswith("/slip.pdf")
        expected = (403, "not_allowed")
        if case.access is not RouteAccess.ANYBODY and (role is None or (lapsed and acts)):
            expected = (401, "pin_needed" if lapsed else "sign_in")
        elif chooses and isinstance(case.access, Right):
            expected = (403, "choose_pin")
        elif isinstance(case.access, RouteAccess) or case.access.value in rights:
            expected = (case.status, "")
        await reset(stand, case)
        before = await happened(stand)
        status, code = await send(client, route, case)
        assert (status, "" if status == 404 else code) == expected, route
        assert (await happened(stand) != before) == (acts and expected[0] < 400), route


@pytest.mark.duty("D20", proof=True)
@pytest.mark.parametrize("name", ["Dana", "Flo", "Sue", "Audrey", "Ada"])
async def test_each_role_does_what_its_rights_say_and_nothing_else(stand: Stand, name: str) -> None:
    async with stand.signed_in(name) as staff:
        await check_every_route(stand, staff.client, STAFF[name])


@pytest.mark.slow
async def test_without_a_session_only_the_public_routes_work(stand: Stand) -> None:
    for headers in ({}, {"Cookie": f"{COOKIE}=guessed", CSRF_HEADER: "guessed"}):
        async with stand.client(headers) as client:
            await check_every_route(stand, client, None)


@pytest.mark.slow
@pytest.mark.duty("D20")
async def test_a_lapsed_session_reads_what_it_could_and_only_ends(stand: Stand) -> None:
    async with stand.signed_in("Sue") as sue:
        await stand.idle(sue)
        me = await sue.get("/api/v1/me")
        assert (me.json()["lapsed"], "decide" in me.json()["rights"]) == (True, True)
        await check_every_route(stand, sue.client, Role.SUPERVISOR, lapsed=True)
        again = await sue.client.post("/api/v1/sign-in", json={"name": "Sue", "pin": PIN})
        assert (again.status_code, again.json()["lapsed"]) == (200, False)
    async with stand.signed_in("Sue") as sue:
        await stand.idle(sue)
        assert (await sue.post("/api/v1/sign-out")).status_code == 204
        assert (await sue.get("/api/v1/me")).status_code == 401


async def test_an_actor_in_the_body_is_refused_and_a_refusal_names_the_roles_that_may(
    stand: Stand,
) -> None:
    before = await happened(stand)
    async with stand.signed_in("Sue") as sue:
        for path in ("/api/v1/claims/c1/validate", f"{_LINK}/open"):
            answer = await sue.post(path, {"actor": "Flo"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
    assert (await happened(stand))[:3] == before[:3]
    async with stand.signed_in("Dana") as dana:
        answer = await dana.post("/api/v1/claims/c1/validate")
    assert answer.json()["error"]["message"] == (
        "this needs a floorperson or a supervisor: Dana is a dealer"
    )


async def test_the_public_list_names_nobody_and_has_no_evidence(stand: Stand) -> None:
    await validated(stand)
    lists = {"": (await stand.get("/api/v1/claims")).json()}
    for name in ("Dana", "Flo", "Audrey"):
        async with stand.signed_in(name) as staff:
            lists[name] = (await staff.get("/api/v1/claims")).json()
    for name, rows in lists.items():
        in_full, first = name in {"Flo", "Audrey"}, rows[0]
        assert (first["table"], first["amount"]) == ("TCP-03", 151_000)
        assert first["cards"] == ["As", "Ks", "Qs"]
        assert (first["validated_by"] == "Nobody here") == in_full, name
        assert (first["patron"] == "p3") == in_full, name
        assert bool(first["wagers"]) == bool(first["envy"]) == in_full, name
        assert ("p3" in str(rows)) == in_full, name
