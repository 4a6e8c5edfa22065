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

from meters.books.two_people import COMMAND
from meters.floor.floor_file import parse_floor
from meters.floor_api.change_signal import ChangeSignal
from meters.selfcheck.approval_checks import Configuration
from meters.users.operators_log import LogSeal
from meters.users.roles import Role
from meters.users.users import Actor
from meters.web.app import create_app
from tests.approving import approve
from tests.model.pit import FLOOR, PROGRESSIVE, Pit
from tests.model.test_asks import code, opened, result, void
from tests.servers import RedisServer
from tests.web.stand import STAFF, Staff, Stand
from tests.web.test_api import error_of

ROUNDS: Final = 15
"""A rule that a race breaks at all is broken in nearly every round."""
MANY: Final = 8
SET: Final = "264907"
CHOSEN: Final = "905183"
PROPOSALS: Final = "/api/v1/links/pit/proposals"
CHANGE: Final = {"kind": "adjustment", "meter": PROGRESSIVE, "amount": 1, "reason": "cable"}
APPROVE: Final = "/api/v1/links/pit/approve"
ROYAL: Final = "As Ks Qs"
BOTH_ORDERS: Final = pytest.mark.parametrize("first", [True, False], ids=["before", "after"])


class RealStand(Stand):
    """The application over the real books of a link, which is played event by event."""

    def __init__(self, redis: RedisServer) -> None:
        super().__init__(FLOOR, redis=redis)
        self.pit = Pit(self.redis, FLOOR)
        self._rounds = itertools.count(1)

    def app(self) -> Litestar:
        return create_app(
            self.floor, self.board, claims=self.pit.claims, asks=self.pit.asks,
            links=self.pit.link_acts, changes=ChangeSignal(), user_directory=self.user_directory,
            log_seal=lambda: LogSeal(sealed_entry=0, seal=""),
            health=self.health, metrics=self.metrics,
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
    """Yield a web side with its staff, and one more administrator."""
    async with RealStand(shared_redis_server).running(*STAFF) as stand:
        await stand.add("Bea", Role.ADMINISTRATOR)
        yield stand


async def together(
    alone: Awaitable[httpx.Response], others: Sequence[Awaitable[httpx.Response]], *, first: bool
) -> tuple[httpx.Response, list[httpx.Response]]:
    """Send one request together with others, either before or after them."""
    asked = [alone, *others] if first else [*others, alone]
    answers = await asyncio.gather(*asked)
    return (answers[0], answers[1:]) if first else (answers[-1], answers[:-1])


async def known_to_ada(stand: Stand, people: AsyncExitStack, *names: str) -> list[Staff]:
    """Have Ada set the PINs of others, sign in as them, and choose new PINs."""
    found = []
    async with stand.signed_in("Ada") as ada:
        for name in names:
            assert (await ada.post(f"/api/v1/users/{name}/pin", {"pin": SET})).status_code == 200
            person = await people.enter_async_context(stand.signed_in(name, SET))
            body = {"pin": SET, "new_pin": CHOSEN}
            assert (await person.post("/api/v1/me/pin", body)).status_code == 204
            found.append(person)
    return found


@pytest.mark.duty("D4")
async def known_through_bea(stand: Stand, people: AsyncExitStack, name: str) -> Staff:
    """Have Ada set Bea's PIN, and Bea that of another, who signs in and chooses a new PIN."""
    await known_to_ada(stand, people, "Bea")
    async with stand.signed_in("Bea", CHOSEN) as bea:
        assert (await bea.post(f"/api/v1/users/{name}/pin", {"pin": SET})).status_code == 200
    person = await people.enter_async_context(stand.signed_in(name, SET))
    body = {"pin": SET, "new_pin": CHOSEN}
    assert (await person.post("/api/v1/me/pin", body)).status_code == 204
    return person


@BOTH_ORDERS
async def test_nobody_pays_what_they_validate_at_the_same_time(
    stand: RealStand, *, first: bool
) -> None:
    async with AsyncExitStack() as people:
        (flo,) = [await people.enter_async_context(stand.signed_in("Flo"))]
        finn = await people.enter_async_context(stand.signed_in("Finn"))
        for number in range(ROUNDS):
            path = f"/api/v1/claims/{await stand.win()}"
            pays = [flo.post(f"{path}/pay", {"slip": f"S-{number}-{i}"}) for i in range(MANY)]
            validated, paid = await together(flo.post(f"{path}/validate"), pays, first=first)
            assert validated.status_code == 200, validated.text
            assert {answer.status_code for answer in paid} == {409}
            assert (await finn.post(f"{path}/pay", {"slip": f"S-{number}"})).status_code == 200


@pytest.mark.duty("D4")
@pytest.mark.slow
@BOTH_ORDERS
async def test_nobody_pays_under_another_name_what_they_validate_at_the_same_time(
    stand: RealStand, *, first: bool
) -> None:
    """An administrator who knows the PINs of two users cannot act as both."""
    async with AsyncExitStack() as people:
        flo, finn = await known_to_ada(stand, people, "Flo", "Finn")
        sue = await people.enter_async_context(stand.signed_in("Sue"))
        breaches = 0
        for number in range(ROUNDS):
            path = f"/api/v1/claims/{await stand.win()}"
            pays = [finn.post(f"{path}/pay", {"slip": f"S-{number}-{i}"}) for i in range(MANY)]
            validated, paid = await together(flo.post(f"{path}/validate"), pays, first=first)
            assert validated.status_code == 200, validated.text
            breaches += any(answer.status_code == 200 for answer in paid)
            late = await finn.post(f"{path}/pay", {"slip": f"S-{number}-late"})
            if late.status_code == 409 and error_of(late) == "same_person":
                assert "Ada set your PIN and that of Flo" in late.text
                assert (await sue.post(f"{path}/pay", {"slip": f"S-{number}"})).status_code == 200
        assert breaches == 0


@pytest.mark.duty("D4")
@pytest.mark.slow
@BOTH_ORDERS
async def test_nobody_is_two_people_through_an_administrator_that_they_added(
    stand: RealStand, *, first: bool
) -> None:
    """Ada sets Finn's PIN, and Flo's under the name of an administrator whose PIN she set."""
    async with AsyncExitStack() as people:
        (finn,) = await known_to_ada(stand, people, "Finn")
        flo = await known_through_bea(stand, people, "Flo")
        one, other = (flo, finn) if first else (finn, flo)
        path = f"/api/v1/claims/{await stand.win()}"
        assert (await one.post(f"{path}/validate")).status_code == 200
        refused = await other.post(f"{path}/pay", {"slip": "S-1"})
        assert (refused.status_code, error_of(refused)) == (409, "same_person")
        sue = await people.enter_async_context(stand.signed_in("Sue"))
        assert (await sue.post(f"{path}/pay", {"slip": "S-1"})).status_code == 200


@pytest.mark.duty("D4")
async def test_nobody_confirms_what_those_propose_whose_pins_go_back_to_them(
    stand: RealStand,
) -> None:
    """Ada sets Bea's PIN, and under her name Sue's, who proposes what Ada would confirm."""
    async with AsyncExitStack() as people:
        sue = await known_through_bea(stand, people, "Sue")
        ada = await people.enter_async_context(stand.signed_in("Ada"))
        path = f"{PROPOSALS}/{(await sue.post(PROPOSALS, CHANGE)).json()['proposal']}/confirm"
        refused = await ada.post(path)
        assert (refused.status_code, error_of(refused)) == (409, "same_person")


@pytest.mark.duty("D4")
@BOTH_ORDERS
async def test_a_win_is_validated_or_rejected_and_never_both(
    stand: RealStand, *, first: bool
) -> None:
    async with stand.signed_in("Flo") as flo, stand.signed_in("Finn") as finn:
        for _ in range(ROUNDS):
            claim = await stand.win()
            path = f"/api/v1/claims/{claim}"
            rejects = [finn.post(f"{path}/reject", {"reason": "misread"}) for _ in range(2)]
            validated, rejected = await together(flo.post(f"{path}/validate"), rejects, first=first)
            statuses = [answer.status_code for answer in (validated, *rejected)]
            assert sorted(statuses) == [200, 409, 409]
            state = (await stand.pit.claims.find(claim)).state
            assert state == ("validated" if validated.status_code == 200 else "rejected")
            if state == "validated":  # the table is held until it is paid
                assert (
                    await finn.post(f"{path}/pay", {"slip": claim.replace(".", "-")})
                ).status_code == 200


@pytest.mark.duty("D4")
@pytest.mark.slow
@BOTH_ORDERS
async def test_nobody_confirms_under_another_name_what_they_propose(
    stand: RealStand, *, first: bool
) -> None:
    """The proposer and the user whose PIN they set are refused. A third person can confirm."""
    async with AsyncExitStack() as people:
        (sue,) = await known_to_ada(stand, people, "Sue")
        ada = await people.enter_async_context(stand.signed_in("Ada"))
        sam = await people.enter_async_context(stand.signed_in("Sam"))
        for number in range(ROUNDS):
            by, other = (ada, sue) if number % 2 else (sue, ada)
            proposal = (await by.post(PROPOSALS, CHANGE)).json()["proposal"]
            path = f"{PROPOSALS}/{proposal}"
            theirs = [each.post(f"{path}/confirm") for each in (by, other) for _ in range(2)]
            confirmed, refused = await together(sam.post(f"{path}/confirm"), theirs, first=first)
            assert confirmed.status_code == 200, confirmed.text
            assert {answer.status_code for answer in refused} == {409}


@pytest.mark.duty("D4")
@pytest.mark.slow
@BOTH_ORDERS
async def test_a_pin_that_is_set_meanwhile_makes_nobody_a_second_person(
    stand: RealStand, *, first: bool
) -> None:
    """While their own confirmation is processed, a person signs in as another and confirms."""
    async with stand.signed_in("Ada") as ada, stand.signed_in("Sam") as sam:

        async def as_sue(path: str) -> httpx.Response:
            async with AsyncExitStack() as people:
                (sue,) = await known_to_ada(stand, people, "Sue")
                return await sue.post(f"{path}/confirm")

        for _ in range(ROUNDS):
            path = f"{PROPOSALS}/{(await ada.post(PROPOSALS, CHANGE)).json()['proposal']}"
            hers = [ada.post(f"{path}/confirm") for _ in range(2)]
            under_a_name, refused = await together(as_sue(path), hers, first=first)
            answers = [under_a_name, *refused]
            assert {answer.status_code for answer in answers} == {409}
            assert {error_of(answer) for answer in answers} == {"same_person"}
            assert (await sam.post(f"{path}/confirm")).status_code == 200


@pytest.mark.duty("D4")
@pytest.mark.slow
@BOTH_ORDERS
async def test_who_is_disabled_changes_no_user_at_the_same_time(
    stand: RealStand, *, first: bool
) -> None:
    """Two administrators disable each other, and only the first request succeeds."""
    async with stand.signed_in("Bea") as bea:
        for number in range(ROUNDS):
            name = f"Cy{number}"
            await stand.add(name, Role.ADMINISTRATOR)
            async with stand.signed_in(name) as cy, stand.signed_in("Ada") as ada:
                cys = [cy.post("/api/v1/users/Ada/disable")]
                adas, (of_cy,) = await together(
                    ada.post(f"/api/v1/users/{name}/disable"), cys, first=first
                )
                assert sorted((adas.status_code, of_cy.status_code)) == [200, 401]
            await bea.post("/api/v1/users/Ada/enable")
            await bea.post(f"/api/v1/users/{name}/disable")
            await bea.post(f"/api/v1/users/{name}/enable")
            await bea.post(f"/api/v1/users/{name}/disable")


@pytest.mark.duty("D4")
@pytest.mark.slow
@BOTH_ORDERS
async def test_who_is_disabled_sets_no_pin_and_adds_nobody_at_the_same_time(
    stand: RealStand, *, first: bool
) -> None:
    """Hashing a PIN takes a moment, in which the session may end."""
    async with stand.signed_in("Bea") as bea:
        for number in range(ROUNDS):
            async with stand.signed_in("Ada") as ada:
                body = {"name": f"New{number}", "role": "dealer", "pin": SET}
                hers = [
                    ada.post("/api/v1/users", body),
                    ada.post("/api/v1/users/Flo/pin", {"pin": SET}),
                ]
                done, others = await together(
                    bea.post("/api/v1/users/Ada/disable"), hers, first=first
                )
                assert done.status_code == 200
                entries = await stand.user_directory.log.page(None, 6)
                disabled = next(row.entry for row in entries if row.what == "user_disabled")
                after = [row for row in entries if row.entry > disabled and row.by == "Ada"]
                assert after == []
                assert {answer.status_code for answer in others} <= {200, 201, 401}
            await bea.post("/api/v1/users/Ada/enable")


@pytest.mark.duty("D4")
@pytest.mark.slow
@BOTH_ORDERS
async def test_nobody_approves_the_floor_file_that_they_may_have_changed(
    stand: RealStand, *, first: bool
) -> None:
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

            approved, (refused,) = await together(sam.post(APPROVE, body), [as_sue()], first=first)
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


@pytest.mark.duty("D17")
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
