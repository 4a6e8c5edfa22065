"""Corrections over HTTP, with real books: listed, confirmed or refused with a name."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.model.test_asks import code, opened, result, void
from tests.servers import RedisServer
from tests.web.stand import Staff
from tests.web.test_two_people import RealStand

pytestmark = pytest.mark.duty("D17")


@pytest_asyncio.fixture(loop_scope="session")
async def stand(shared_redis_server: RedisServer) -> AsyncIterator[RealStand]:
    stand = RealStand(shared_redis_server)
    await stand.start()
    await stand.add_staff()
    yield stand
    await stand.stop()


async def the_ask(client: Staff) -> dict[str, object]:
    (row,) = (await client.get("/api/v1/asks")).json()
    assert isinstance(row, dict)
    return row


async def test_a_correction_is_listed_confirmed_and_carried_out(stand: RealStand) -> None:
    await opened(stand.pit)
    assert code(await void(stand.pit)) == "unconfirmed"
    async with stand.signed_in("Flo") as flo, stand.signed_in("Dana") as dana:
        row = await the_ask(dana)
        assert (row["table"], row["round"], row["what"], row["reason"]) == (
            "T-1", "R1", "void", "misdeal",
        )  # fmt: skip
        path = f"/api/v1/asks/{row['ask']}"
        assert (await dana.post(f"{path}/confirm", {})).status_code == 403
        done = await flo.post(f"{path}/confirm", {})
        assert (done.status_code, done.json()) == (200, row)
        assert (await flo.get("/api/v1/asks")).json() == []
        again = await flo.post(f"{path}/confirm", {})
        assert (again.status_code, again.json()["error"]["code"]) == (409, "wrong_state")
        assert "already confirmed by Flo" in again.json()["error"]["message"]
    assert code(await void(stand.pit)) == "accepted"
    assert (await stand.pit.entries())[-1]["by"] == "table:T-1, confirmed by Flo"


async def test_a_refusal_needs_a_reason(stand: RealStand) -> None:
    await opened(stand.pit)
    await result(stand.pit)
    async with stand.signed_in("Flo") as flo:
        path = f"/api/v1/asks/{(await the_ask(flo))['ask']}/refuse"
        for body in ({}, {"reason": ""}, {"reason": " "}, {"reason": "a\rb"}):
            assert (await flo.post(path, body)).status_code == 400
        assert (await flo.post(path, {"reason": "Read again"})).status_code == 200
        gone = await flo.post(path.replace("T-1", "T-9"), {"reason": "x"})
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "unknown_ask")
    reply = await result(stand.pit)
    assert reply.error is not None
    assert reply.error.message == "Flo refused this correction: Read again"
