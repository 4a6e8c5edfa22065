"""A request whose body is delayed does nothing if its session ends meanwhile."""

from typing import Final, Self

import pytest

from meters.users.roles import Role
from meters.users.users import Actor
from tests.web.raw import Raw
from tests.web.stand import PIN, Staff, Stand

_BODY: Final = b"{}"


@pytest.fixture
def stand(staffed: Stand) -> Stand:
    return staffed


class Held(Raw):
    """A POST whose headers the service has, while it waits for the body."""

    @classmethod
    async def post(cls, stand: Stand, staff: Staff, path: str) -> Self:
        """Send the headers, and wait until the service asks for the body.

        It does so only after it has looked up the session, because nothing reads the body before.
        """
        held = await cls.to(stand.port)
        headers = {
            "Host": f"127.0.0.1:{stand.port}", "Content-Type": "application/json",
            "Content-Length": str(len(_BODY)), "Expect": "100-continue", "Connection": "close",
            "Cookie": staff.client.headers["Cookie"],
            "X-CSRF-Token": staff.client.headers["X-CSRF-Token"],
        }  # fmt: skip
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        held.send("\r\n".join([*lines, "", ""]).encode())
        asked = await held.head()
        assert asked.startswith(b"HTTP/1.1 100"), asked
        return held

    async def finish(self) -> bytes:
        self.send(_BODY)
        answer = await self.rest()
        self.close()
        return answer


async def test_a_held_request_of_who_is_still_there_is_done(stand: Stand) -> None:
    async with stand.signed_in("Flo") as flo:
        held = await Held.post(stand, flo, "/api/v1/claims/c1/validate")
        assert (await held.finish()).startswith(b"HTTP/1.1 200")
    assert [act[:3] for act in stand.claims.acts] == [("c1", "validate", "Flo")]


@pytest.mark.parametrize("how", ["disabled", "signed out", "another PIN", "idle"])
async def test_a_held_request_does_nothing_once_the_session_has_ended(
    stand: Stand, how: str
) -> None:
    users, ada = stand.user_directory.users, Actor("Ada")
    async with stand.signed_in("Sue") as sue:
        claim = await Held.post(stand, sue, "/api/v1/claims/c1/validate")
        link = await Held.post(stand, sue, "/api/v1/links/pit-2/open")
        if how == "disabled":
            await users.disable("Sue", ada)
        elif how == "signed out":
            assert (await sue.post("/api/v1/sign-out")).status_code == 204
        elif how == "another PIN":
            await users.set_pin("Sue", "264907", ada)
        else:
            await stand.redis.hincrby(stand.session_key(sue), "touched", -300_000)
        for held in (claim, link):
            answer = await held.finish()
            assert answer.startswith(b"HTTP/1.1 401"), answer
            assert (b'"pin_needed"' if how == "idle" else b'"sign_in"') in answer
    assert stand.claims.acts == []
    assert stand.links.done == []


async def test_a_held_request_changes_no_user_once_the_session_has_ended(stand: Stand) -> None:
    await stand.user_directory.users.add(
        "Bea", Role.ADMINISTRATOR, PIN, Actor("the test"), own=True
    )
    async with stand.signed_in("Ada") as ada:
        held = await Held.post(stand, ada, "/api/v1/users/Flo/disable")
        await stand.user_directory.users.disable("Ada", Actor("Bea"))
        assert (await held.finish()).startswith(b"HTTP/1.1 401")
    assert all(row.enabled for row in await stand.user_directory.users.rows() if row.name == "Flo")
