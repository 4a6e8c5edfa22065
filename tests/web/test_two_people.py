"""Acts that need two people, requested in parallel over HTTP, on real books and a real Redis.

In any order, one person never does both halves (duty D4): not under one name, and not under two
names whose PINs they know.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
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
from meters.web.security import DEVICE_COOKIE
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
            links=self.pit.link_acts, history=self.history, reports=self.reports,
            tables=self.tables, changes=ChangeSignal(), user_directory=self.user_directory,
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


@pytest.mark.duty("D4", proof=True)
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
async def test_a_win_says_who_bars_a_user_from_its_second_act_before_they_try(
    stand: RealStand,
) -> None:
    """Everywhere the win is read, exactly for those whom the service would refuse."""
    async with AsyncExitStack() as people:
        flo, finn = await known_to(stand, "Ada", people, "Flo", "Finn")
        sue = await people.enter_async_context(stand.signed_in("Sue"))

        async def barred(person: Staff, claim: str) -> set[tuple[str | None, bool]]:
            listed = (await person.get("/api/v1/claims")).json()
            wins = (await person.get("/api/v1/wins")).json()["wins"]
            shown = (await person.get(f"/api/v1/claims/{claim}")).json()
            rows = [row for row in (*listed, *wins, shown) if row["claim"] == claim]
            assert len(rows) == 3
            return {(row["barred_by"], row["barred_until"] is not None) for row in rows}

        claim = await stand.win()
        path = f"/api/v1/claims/{claim}"
        assert await barred(finn, claim) == {(None, False)}, "everybody may do the first act"
        assert (await flo.post(f"{path}/validate")).status_code == 200
        assert await barred(finn, claim) == {("Ada", True)}
        assert await barred(flo, claim) == {(None, False)}, "who validated needs no other reason"
        assert await barred(sue, claim) == {(None, False)}
        until = (await finn.get(path)).json()["barred_until"]
        left = datetime.fromisoformat(until) - datetime.now(UTC)
        assert timedelta(hours=23, minutes=58) < left <= timedelta(hours=24, seconds=1)
        async with stand.client() as anonymous:
            (row,) = (await anonymous.get("/api/v1/claims")).json()
        assert (row["barred_by"], row["pin_set_by"]) == (None, [])
        refused = await finn.post(f"{path}/pay", {"slip": "S-1"})
        assert error_of(refused) == "same_person"
        assert "A third person, whose PIN none of these people set, must pay it" in refused.text
        assert (await sue.post(f"{path}/pay", {"slip": "S-1"})).status_code == 200


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
        for person, bar in ((ada, "Ada"), (sue, None), (sam, None)):
            (link,) = (await person.get("/api/v1/links")).json()
            assert [row["barred_by"] for row in link["proposals"]] == [bar]
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


@pytest.mark.duty("D4", proof=True)
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


def by(name: str, pin: str = PIN, **body: object) -> dict[str, object]:
    """Return the body of an act that a colleague signs on the device of another user."""
    return body | {"colleague": {"name": name, "pin": pin}}


@pytest.mark.duty("D4")
@pytest.mark.duty("D17")
async def test_a_colleague_pays_on_the_device_of_who_validated(stand: RealStand) -> None:
    """Once, however often it is pressed or sent again, and nothing of the colleague remains."""
    async with stand.signed_in("Flo") as flo:
        path = f"/api/v1/claims/{await stand.win()}"
        assert (await flo.post(f"{path}/validate")).status_code == 200
        session = await stand.redis.keys("*session*")
        flo.client.headers["Cookie"] += f"; {DEVICE_COOKIE}={'d' * 43}"
        for body, refused in (
            (by("Flo"), (409, "same_person")),
            (by("Finn", SET), (401, "wrong_name_or_pin")),
            (by("Nobody"), (401, "wrong_name_or_pin")),
            (by("Dana"), (403, "not_allowed")),
            (by("Ada"), (403, "not_allowed")),
            ({"colleague": {"name": "Finn"}}, (400, "bad_request")),
        ):
            answer = await flo.post(f"{path}/pay", {"slip": "S-1"} | body)
            assert (answer.status_code, error_of(answer)) == refused, body
            assert not {PIN, SET} & {*answer.text.split('"')}
        assert (await stand.pit.claims.find(path.rpartition("/")[2])).state == "validated"
        presses = [flo.post(f"{path}/pay", by("finn", slip="S-1")) for _ in range(3)]
        answers = sorted(await asyncio.gather(*presses), key=lambda each: each.status_code)
        assert [each.status_code for each in answers] == [200, 409, 409]
        assert (answers[0].json()["paid_by"], answers[0].json()["slip"]) == ("Finn", "S-1")
        again = await flo.post(f"{path}/pay", by("Finn", slip="S-1"))
        assert (again.status_code, error_of(again)) == (409, "wrong_state")
        assert not any("set-cookie" in each.headers for each in (*answers, again))
        assert (await flo.get("/api/v1/me")).json()["name"] == "Flo"
    assert (await stand.pit.entries())[-1]["by"] == "Finn"
    assert await stand.redis.keys("*session*") == session
    assert await stand.redis.zcard(stand.user_keys.devices("finn")) == 0
    log = await stand.user_directory.log.page(None, 3)
    assert [(row.what, row.by, row.about) for row in reversed(log)] == [
        ("sign_in", "Finn", "Finn"), ("sign_out", "Finn", "Finn"),
        ("signed_on_device", "Finn", "Flo"),
    ]  # fmt: skip


@pytest.mark.duty("D4")
async def test_wrong_pins_of_a_colleague_count_as_those_of_a_sign_in(stand: RealStand) -> None:
    """A session that has lapsed, or a connection that others can read, tries no PIN at all."""
    async with stand.signed_in("Flo") as flo:
        pay = f"/api/v1/claims/{await stand.win()}/pay"
        far = {"X-Forwarded-For": "198.51.100.7"}
        answer = await flo.client.post(pay, json=by("Finn", SET, slip="S-1"), headers=far)
        assert (answer.status_code, error_of(answer)) == (403, "https_needed")
        touched = await stand.idle(flo)
        answer = await flo.post(pay, by("Finn", SET, slip="S-1"))
        assert (answer.status_code, error_of(answer)) == (401, "pin_needed")
        await stand.redis.hset(stand.session_key(flo), "touched", touched + 300_000)
        assert (await stand.try_to_sign_in("Finn", SET)).status_code == 401
        answers = [await flo.post(pay, by("Finn", SET, slip="S-1")) for _ in range(4)]
        assert [each.status_code for each in answers] == [401, 401, 401, 429]
        answer = await flo.post(pay, by("Finn", slip="S-1"))
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "locked_out")
        assert int(answer.headers["retry-after"]) > 0
        assert (await stand.try_to_sign_in("Finn")).status_code == 429
        assert (await flo.get("/api/v1/me")).status_code == 200


@pytest.mark.duty("D4")
async def test_a_colleague_whose_pin_somebody_knows_is_no_second_person(stand: RealStand) -> None:
    async with AsyncExitStack() as people:
        (flo,) = await known_to(stand, "Ada", people, "Flo")
        path = f"/api/v1/claims/{await stand.win()}"
        assert (await flo.post(f"{path}/validate")).status_code == 200
        async with stand.signed_in("Ada") as ada:
            assert (await ada.post("/api/v1/users/Finn/pin", {"pin": SET})).status_code == 200
        answer = await flo.post(f"{path}/pay", by("Finn", SET, slip="S-1"))
        assert (answer.status_code, error_of(answer)) == (403, "choose_pin")
        async with stand.signed_in("Finn", SET) as finn:
            await finn.post("/api/v1/me/pin", {"pin": SET, "new_pin": CHOSEN})
        answer = await flo.post(f"{path}/pay", by("Finn", CHOSEN, slip="S-1"))
        assert (answer.status_code, error_of(answer)) == (409, "same_person")
        assert (await flo.post(f"{path}/pay", by("Sue", slip="S-1"))).status_code == 200


@pytest.mark.duty("D4")
async def test_a_colleague_confirms_on_the_device_of_who_asked(stand: RealStand) -> None:
    async with stand.signed_in("Sue") as sue:
        path = f"/api/v1/claims/{await stand.win()}"
        assert (await sue.post(f"{path}/reject", {"reason": "misread"})).status_code == 200
        asked = await sue.post(f"{path}/reopen", {"reason": "read right"})
        request = {"request": asked.json()["request"]["entry"]}
        own = await sue.post(f"{path}/confirm", request | by("Sue"))
        assert (own.status_code, error_of(own)) == (409, "same_person")
        row = (await sue.post(f"{path}/confirm", request | by("Flo"))).json()
        assert (row["state"], row["requested_by"], row["decided_by"]) == ("pending", "Sue", "Flo")
        path = f"{PROPOSALS}/{(await sue.post(PROPOSALS, CHANGE)).json()['proposal']}/confirm"
        for name, refused in (("Sue", (409, "same_person")), ("Flo", (403, "not_allowed"))):
            answer = await sue.post(path, by(name))
            assert (answer.status_code, error_of(answer)) == refused
        done = (await sue.post(path, by("Sam"))).json()
        assert (done["state"], done["by"], done["decided_by"]) == ("confirmed", "Sue", "Sam")


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
