"""Acts that need two people, requested in parallel over HTTP, on real books and a real Redis.

In any order, one person never does both halves (duty D4): not under one name, and not under two
names whose PINs they know.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack
from typing import Final

import httpx
import pytest
import pytest_asyncio
from litestar import Litestar

from meters.floor.floor_file import parse_floor
from meters.floor.roles import Role
from meters.ledger.two_people import COMMAND
from meters.store.floor_file_approval import Configuration
from meters.users.operators_log import LogSeal
from meters.users.users import Actor
from meters.web.streams import ChangeSignal
from meters.web.web_app import create_app
from tests.approving import approve
from tests.model.pit import FLOOR, PROGRESSIVE, Pit
from tests.model.test_asks import code, opened, result, void
from tests.servers import RedisServer
from tests.web.stand import PIN, STAFF, Staff, Stand
from tests.web.test_api import error_of

ROUNDS: Final = 12
"""A rule that a race breaks at all is broken in nearly every round."""
SET: Final = "264907"
CHOSEN: Final = "905183"
PROPOSALS: Final = "/api/v1/links/pit/proposals"
CHANGE: Final = {"kind": "adjustment", "meter": PROGRESSIVE, "amount": 1, "reason": "cable"}
APPROVE: Final = "/api/v1/links/pit/approve"
ROYAL: Final = "As Ks Qs"


class RealStand(Stand):
    def __init__(self, redis: RedisServer) -> None:
        super().__init__(FLOOR, redis=redis)
        self.pit = Pit(self.redis, FLOOR)
        self._rounds = itertools.count(1)

    def app(self) -> Litestar:
        return create_app(
            self.floor, self.displays, claims=self.pit.claims, asks=self.pit.asks,
            links=self.pit.link_acts, history=self.history, tables=self.tables,
            changes=ChangeSignal(), user_directory=self.user_directory,
            log_seal=lambda: LogSeal(sealed_entry=0, seal=""),
            inoperable=self.health.inoperable, exposition=self.metrics.exposition,
        )  # fmt: skip

    async def start(self) -> None:
        await super().start()
        await self.pit.open()

    async def win(self) -> str:
        round_id = f"R{next(self._rounds)}"
        reply = await self.pit.round({1: PROGRESSIVE}, {1: ROYAL}, round_id=round_id)
        (claim,) = reply.claims or ()
        return claim.claim


@pytest_asyncio.fixture(loop_scope="session")
async def stand(shared_redis_server: RedisServer) -> AsyncIterator[RealStand]:
    async with RealStand(shared_redis_server).running(*STAFF) as stand:
        await stand.add("Bea", Role.ADMINISTRATOR)
        yield stand


async def together(
    alone: Awaitable[httpx.Response], others: Sequence[Awaitable[httpx.Response]], number: int
) -> tuple[httpx.Response, list[httpx.Response]]:
    """Send one request together with others: before them in every other round, else after them."""
    if number % 2:
        first, *answers = await asyncio.gather(alone, *others)
        return first, answers
    *answers, last = await asyncio.gather(*others, alone)
    return last, answers


async def known_to(
    stand: Stand, by: str, people: AsyncExitStack, *names: str, pin: str = PIN
) -> list[Staff]:
    """Have somebody set the PINs of others, sign in as them, and choose new PINs."""
    found = []
    async with stand.signed_in(by, pin) as administrator:
        for name in names:
            set_pin = await administrator.post(f"/api/v1/users/{name}/pin", {"pin": SET})
            assert set_pin.status_code == 200
            person = await people.enter_async_context(stand.signed_in(name, SET))
            body = {"pin": SET, "new_pin": CHOSEN}
            assert (await person.post("/api/v1/me/pin", body)).status_code == 204
            found.append(person)
    return found


@pytest.mark.duty("D4")
async def test_nobody_pays_under_another_name_what_they_validate_at_the_same_time(
    stand: RealStand,
) -> None:
    """An administrator who knows the PINs of two users cannot act as both, and no user twice."""
    async with AsyncExitStack() as people:
        flo, finn = await known_to(stand, "Ada", people, "Flo", "Finn")
        sue = await people.enter_async_context(stand.signed_in("Sue"))
        for number in range(ROUNDS):
            path = f"/api/v1/claims/{await stand.win()}"
            pays = [
                each.post(f"{path}/pay", {"slip": f"S-{number}-{i}"})
                for i, each in enumerate((flo, finn) * 4)
            ]
            validated, paid = await together(flo.post(f"{path}/validate"), pays, number)
            assert validated.status_code == 200, validated.text
            assert {answer.status_code for answer in paid} == {409}
            late = await finn.post(f"{path}/pay", {"slip": f"S-{number}"})
            assert (late.status_code, error_of(late)) == (409, "same_person")
            assert "Ada set your PIN and that of Flo" in late.text
            assert (await sue.post(f"{path}/pay", {"slip": f"S-{number}"})).status_code == 200


@pytest.mark.duty("D4")
async def test_nobody_is_two_people_through_an_administrator_whose_pin_they_set(
    stand: RealStand,
) -> None:
    """Ada sets Finn's PIN, and under the name of Bea, whose PIN she set too, Flo's and Sue's.

    Nor does she confirm what they propose whose PINs go back to her.
    """
    async with AsyncExitStack() as people:
        finn, _ = await known_to(stand, "Ada", people, "Finn", "Bea")
        flo, sue = await known_to(stand, "Bea", people, "Flo", "Sue", pin=CHOSEN)
        ada = await people.enter_async_context(stand.signed_in("Ada"))
        sam = await people.enter_async_context(stand.signed_in("Sam"))
        for one, other in ((flo, finn), (finn, flo)):
            path = f"/api/v1/claims/{await stand.win()}"
            assert (await one.post(f"{path}/validate")).status_code == 200
            refused = await other.post(f"{path}/pay", {"slip": "S-1"})
            assert (refused.status_code, error_of(refused)) == (409, "same_person")
            assert (await sam.post(f"{path}/pay", {"slip": one.me.name})).status_code == 200
        path = f"{PROPOSALS}/{(await sue.post(PROPOSALS, CHANGE)).json()['proposal']}/confirm"
        refused = await ada.post(path)
        assert (refused.status_code, error_of(refused)) == (409, "same_person")


@pytest.mark.duty("D4")
async def test_a_win_is_validated_or_rejected_and_never_both(stand: RealStand) -> None:
    async with stand.signed_in("Flo") as flo, stand.signed_in("Finn") as finn:
        for number in range(ROUNDS):
            claim = await stand.win()
            path = f"/api/v1/claims/{claim}"
            rejects = [finn.post(f"{path}/reject", {"reason": "misread"}) for _ in range(2)]
            validated, rejected = await together(flo.post(f"{path}/validate"), rejects, number)
            statuses = [answer.status_code for answer in (validated, *rejected)]
            assert sorted(statuses) == [200, 409, 409]
            state = (await stand.pit.claims.find(claim)).state
            assert state == ("validated" if validated.status_code == 200 else "rejected")
            if state == "validated":  # the table is held until it is paid
                paid = await finn.post(f"{path}/pay", {"slip": claim.replace(".", "-")})
                assert paid.status_code == 200


@pytest.mark.duty("D4")
@pytest.mark.slow
async def test_nobody_confirms_under_another_name_what_they_propose(stand: RealStand) -> None:
    """The proposer and the user whose PIN they set are refused. A third person can confirm.

    So is who signs in as another only while their own confirmation is processed.
    """
    async with AsyncExitStack() as people:
        (sue,) = await known_to(stand, "Ada", people, "Sue")
        ada = await people.enter_async_context(stand.signed_in("Ada"))
        sam = await people.enter_async_context(stand.signed_in("Sam"))

        async def as_sid(path: str) -> httpx.Response:
            async with AsyncExitStack() as more:
                (sid,) = await known_to(stand, "Ada", more, "Sid")
                return await sid.post(f"{path}/confirm")

        await stand.add("Sid", Role.SUPERVISOR)
        for number in range(ROUNDS):
            by, other = (ada, sue) if number % 3 else (sue, ada)
            path = f"{PROPOSALS}/{(await by.post(PROPOSALS, CHANGE)).json()['proposal']}"
            theirs = [each.post(f"{path}/confirm") for each in (by, other) for _ in range(2)]
            late, refused = await together(as_sid(path), theirs, number)
            for answer in (late, *refused):
                assert (answer.status_code, error_of(answer)) == (409, "same_person")
            theirs = [each.post(f"{path}/confirm") for each in (by, other) for _ in range(2)]
            confirmed, refused = await together(sam.post(f"{path}/confirm"), theirs, number)
            assert confirmed.status_code == 200, confirmed.text
            assert {answer.status_code for answer in refused} == {409}


@pytest.mark.duty("D4")
@pytest.mark.slow
async def test_nobody_approves_the_floor_file_that_they_may_have_changed(stand: RealStand) -> None:
    """A person with access to the machine may write the floor file and set a PIN there."""
    books, by_command = stand.pit.books, Actor(f"{COMMAND} (amy)")
    await approve(books.configuration)
    async with stand.signed_in("Sam") as sam:
        for number in range(ROUNDS):
            text = FLOOR.replace("104211", f"{104_300 + number}")
            books.configuration = Configuration(parse_floor(text), books.store)
            body = {"digest": books.configuration.filed.digest}

            async def as_sue(body: dict[str, str] = body) -> httpx.Response:
                await stand.user_directory.users.set_pin("Sue", SET, by_command)
                async with stand.signed_in("Sue", SET) as sue:
                    await sue.post("/api/v1/me/pin", {"pin": SET, "new_pin": CHOSEN})
                    return await sue.post(APPROVE, body)

            approved, (refused,) = await together(sam.post(APPROVE, body), [as_sue()], number)
            assert approved.status_code == 200, approved.text
            assert (refused.status_code, error_of(refused)) == (409, "same_person")
            assert "(amy) set your PIN" in refused.text


async def the_ask(client: Staff) -> dict[str, object]:
    (row,) = (await client.get("/api/v1/asks")).json()
    assert isinstance(row, dict)
    return row


@pytest.mark.duty("D17")
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
    # A refusal needs a reason, which the dealer reads.
    await opened(stand.pit, round_id="R2")
    await result(stand.pit, round_id="R2")
    async with stand.signed_in("Flo") as flo:
        path = f"/api/v1/asks/{(await the_ask(flo))['ask']}/refuse"
        for body in ({}, {"reason": ""}, {"reason": " "}, {"reason": "a\rb"}):
            assert (await flo.post(path, body)).status_code == 400
        assert (await flo.post(path, {"reason": "Read again"})).status_code == 200
        gone = await flo.post(path.replace("T-1", "T-9"), {"reason": "x"})
        assert (gone.status_code, error_of(gone)) == (404, "unknown_ask")
    reply = await result(stand.pit, round_id="R2")
    assert reply.error is not None
    assert reply.error.message == "Flo refused this correction: Read again"
