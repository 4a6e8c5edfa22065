"""One payout slip pays one claim of the whole facility, however its number is written."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as LostError

from meters.acts.act_refusals import ActError
from meters.acts.claims import Claims
from meters.acts.simulated_floorperson import simulated_slip
from meters.audit.link_audit import LinkAudit
from meters.ledger.slip_numbers import clean_slip, fold_slip
from meters.store.link_store import LinkStore
from meters.store.redis_clients import AnyRedis, redis_of
from meters.store.slip_register import SLIPS_KEY, SLIPS_TAG
from tests.model.pit import FLOOR, PROGRESSIVE, Pit, refused
from tests.servers import RedisServer

pytestmark = pytest.mark.duty("D16")

CLAIM, OTHER = "pit.T-1-2-1", "pot.T-1-2-1"
SECOND = "pit.T-2-2-1"


class Facility:
    """Two links of one facility, with claims that are validated and not yet paid."""

    def __init__(self, redis: AnyRedis, pits: Sequence[Pit] = ()) -> None:
        self.redis = redis_of(redis, SLIPS_TAG)
        self.pits = pits or [
            Pit(cast("Redis", redis), FLOOR.replace('id = "pit"', f'id = "{id_}"')) for id_ in LINKS
        ]
        self.stores = {pit.link.id: pit.store for pit in self.pits}
        self.books = {pit.link.id: pit.books for pit in self.pits}
        self.claims = Claims(self.pits[0].floor, self.books, lambda *_: None)

    async def open(self) -> None:
        for pit in self.pits:
            await pit.open()
            for table in ("T-1", "T-2"):
                await pit.round({3: PROGRESSIVE}, {3: "As Ks Qs"}, table=table, community="Js Ts")
        for claim in await self.claims.waiting():
            await self.claims.decide(claim.claim, "validate", "amy")

    async def pay(self, claim: str, slip: str) -> str:
        try:
            return (await self.claims.decide(claim, "pay", "ben", slip=slip)).state
        except ActError as error:
            return error.code

    async def reserved(self) -> dict[bytes, bytes]:
        return cast("dict[bytes, bytes]", await self.redis.hgetall(SLIPS_KEY))

    async def problems(self) -> list[str]:
        findings = [await LinkAudit(store).run() for store in self.stores.values()]
        assert not any(finding.variances for finding in findings)
        return [problem for finding in findings for problem in finding.problems]


LINKS = ("pit", "pot")


@pytest.fixture
async def facility(redis: Redis) -> Facility:
    facility = Facility(redis)
    await facility.open()
    return facility


@pytest.mark.duty("D16", proof=True)
async def test_one_slip_does_not_pay_claims_of_two_links(facility: Facility) -> None:
    """However its number is written; and a refused repeat does not free it."""
    assert await facility.pay(CLAIM, "S-0001") == "paid"
    assert await facility.pay(CLAIM, "S-0001") == "wrong_state"
    with refused("slip_used", f"already belongs to the payment of {CLAIM}"):
        await facility.claims.decide(OTHER, "pay", "ben", slip="S-0001")
    for again in ("S0001", "S--0001", "-S-0001", "S-0001-", "S-0-0-0-1", "s-1", " S-00001 "):
        assert [await facility.pay(each, again) for each in (OTHER, SECOND)] == ["slip_used"] * 2
    with pytest.raises(ActError, match="zeros in front are the same number"):
        await facility.claims.decide(OTHER, "pay", "ben", slip="S1")
    assert await facility.pay(OTHER, "S-0010") == "paid", "the zeros behind a digit count"
    assert await facility.problems() == []


@st.composite
def numbers(draw: st.DrawFn) -> list[str]:
    """Return the parts of a slip number: letters, and whole numbers without zeros in front."""
    digits, letters = st.integers(0, 10**6).map(str), st.text("ABIOSZ", min_size=1, max_size=3)
    first = draw(st.booleans())
    return [draw(digits if first ^ bool(each % 2) else letters) for each in range(4)]


@settings(max_examples=30, deadline=None)
@given(data=st.data(), parts=numbers())
def test_all_spellings_of_a_number_are_one_number(data: st.DataObject, parts: list[str]) -> None:
    """Hyphens anywhere, capitals or not, zeros in front: an accountant reads the same number."""
    spelled = ""
    for part in parts:
        zeros = "0" * data.draw(st.integers(0, 4)) if part.isdigit() else ""
        for sign in zeros + part:
            hyphens = "-" * data.draw(st.integers(0, 2))
            spelled += hyphens + (sign.lower() if data.draw(st.booleans()) else sign)
    spelled += "-" * data.draw(st.integers(0, 2))
    assert fold_slip(clean_slip(spelled)) == "".join(parts).lower()


@settings(max_examples=30, deadline=None)
@given(one=numbers(), other=numbers())
def test_other_letters_or_digits_are_another_number(one: list[str], other: list[str]) -> None:
    same = "".join(one) == "".join(other)
    assert (fold_slip("-".join(one)) == fold_slip("-".join(other))) is same


LIKE_ANOTHER = [
    ("A\u20111001", "U\\+2011 \\(non-breaking hyphen\\)"),
    ("A-10\u200b01", "U\\+200B \\(zero width space\\)"),
    ("\uff21-1001", "U\\+FF21 \\(fullwidth latin capital letter a\\)"),
    ("\u0410-1001", "U\\+0410 \\(cyrillic capital letter a\\)"),
    ("A-10\u06601", "U\\+0660"), ("A-1\u00b2", "U\\+00B2"), ("A\u00ad-1", "U\\+00AD"),
    ("A 1001", "this number has a space"), ("A-1001\n", "U\\+000A"), ("=A1", "U\\+003D"),
    ("A\x1b1", "U\\+001B"),
    ("A-1001\u00a0", "U\\+00A0"), ("", "is missing"), ("   ", "is missing"),
    ("-", "is missing"), (" -- ", "is missing"),
    ("A" * 101, "100 characters at most, but this number has 101"),
]  # fmt: skip


async def test_number_that_looks_like_another_is_refused_and_says_why(facility: Facility) -> None:
    for slip, reason in LIKE_ANOTHER:
        with refused("bad_value", reason):
            await facility.claims.decide(CLAIM, "pay", "ben", slip=slip)
    with refused("same_person", "another person must pay"):
        await facility.claims.decide(CLAIM, "pay", "amy", slip="A-1001")
    assert await facility.reserved() == {}, "a refused payment leaves its number free"
    assert await facility.pay(OTHER, "A-1001") == "paid"


async def test_of_payments_at_the_same_moment_with_one_slip_one_is_made(facility: Facility) -> None:
    claims = [row.claim for row in await facility.claims.waiting()]
    assert {claim.partition(".")[0] for claim in claims} == set(LINKS)
    for number in range(4):
        done = await asyncio.gather(
            *(facility.pay(claim, f"B-{number}") for claim in claims for _ in range(3))
        )
        assert done.count("paid") == 1, done
        claims = [row.claim for row in await facility.claims.waiting()]
    assert await facility.problems() == []


KILLED = """
import asyncio, os, sys
from redis.asyncio import Redis
from meters.store.link_store import LinkStore
from tests.model.test_slips import CLAIM, Facility

act = LinkStore.act

async def die(self, *args, **more):
    if sys.argv[2] == "after":
        await act(self, *args, **more)
    os._exit(9)

LinkStore.act = die
asyncio.run(Facility(Redis.from_url(sys.argv[1])).pay(CLAIM, "A-1"))
"""


async def killed(server: RedisServer, when: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, server.url, when, cwd=Path(__file__).parents[2]
    )
    assert await process.wait() == 9


@pytest.mark.slow
async def test_process_killed_between_reserving_and_paying_hinders_no_honest_retry(
    facility: Facility, memory_server: RedisServer
) -> None:
    await killed(memory_server, "before")
    assert await facility.reserved() == {b"a1": f"1 {CLAIM}".encode()}
    assert await facility.problems() == [], "a payment that was cut off is no difference"
    assert await facility.pay(OTHER, "A-1") == "slip_used", "the number is still unique"
    assert await facility.pay(CLAIM, "A-1") == "paid", "and the payment can be made"
    assert await facility.pay(OTHER, "A-1") == "slip_used"
    assert await facility.problems() == []


async def test_number_left_by_a_killed_payment_is_free_once_its_claim_is_paid_otherwise(
    facility: Facility, memory_server: RedisServer
) -> None:
    await killed(memory_server, "before")
    assert await facility.pay(CLAIM, "A-2") == "paid"
    assert await facility.problems() == []
    assert await facility.pay(OTHER, "A-1") == "paid"
    assert await facility.pay(SECOND, "A-1") == "slip_used"
    assert await facility.problems() == []


@pytest.mark.parametrize("lost", ["all", "later"])
async def test_number_that_paid_on_a_link_whose_books_are_lost_pays_nothing(
    facility: Facility, lost: str
) -> None:
    """The part of a cluster with that link was lost, or came back as it was before the payment."""
    assert await facility.pay(CLAIM, "A-1") == "paid"
    keys = facility.stores["pit"].keys
    gone = [keys.claim(CLAIM), keys.slips]
    if lost == "all":
        gone = [key async for key in facility.redis.scan_iter(match=f"{keys.meters[:-6]}*")]
    else:
        facility.books["pit"].problem = "Redis holds fewer ledger entries than it has held"
    assert await facility.redis.delete(*gone) > 1
    assert [await facility.pay(OTHER, slip) for slip in ("A-1", "a-1")] == ["slip_used"] * 2
    assert await facility.pay(OTHER, "A-2") == "paid"


async def test_store_that_did_not_answer_keeps_the_number_reserved(
    facility: Facility, monkeypatch: pytest.MonkeyPatch
) -> None:
    act = LinkStore.act

    async def lose_the_answer(*args: object, **more: object) -> None:
        await act(*args, **more)  # type: ignore[arg-type]
        raise LostError("gone")

    monkeypatch.setattr(LinkStore, "act", lose_the_answer)
    assert await facility.pay(CLAIM, "A-1") == "link_inoperable"
    monkeypatch.setattr(LinkStore, "act", act)
    assert await facility.pay(OTHER, "A-1") == "slip_used"
    assert await facility.problems() == []


async def test_reservation_that_was_freed_exchanged_or_invented_is_named(
    facility: Facility,
) -> None:
    assert await facility.pay(CLAIM, "A-1") == "paid"
    redis = facility.redis
    await redis.hset(SLIPS_KEY, "a1", f"1 {OTHER}")
    await redis.hset(SLIPS_KEY, "a9", "1 pot.T-9-9-9")
    assert await facility.problems() == [
        f"slip 'a1' is reserved for claim {OTHER}, the ledger says it paid claim {CLAIM}",
        "slip 'a9' is reserved for claim pot.T-9-9-9, which the ledger does not have",
    ]
    await redis.delete(SLIPS_KEY)
    assert await facility.problems() == [
        f"slip 'a1' is not reserved, the ledger says it paid claim {CLAIM}"
    ]


async def test_service_reserves_again_what_was_paid(facility: Facility) -> None:
    """Its audit does this before the link operates. Until then no number is used twice either."""
    assert await facility.pay(CLAIM, "A-1") == "paid"
    await facility.redis.delete(SLIPS_KEY)
    assert await facility.pay(OTHER, "A-1") == "slip_used"
    for store in facility.stores.values():
        finding = await LinkAudit(store).run(again=10)
        assert finding.balanced
        await store.slip_register.reserve_paid(finding.unreserved)
    assert await facility.reserved() == {b"a1": f"1 {CLAIM}".encode()}
    assert await facility.problems() == []


async def test_slip_that_paid_twice_is_a_variance(facility: Facility) -> None:
    """No later act can undo it. The links continue to operate."""
    assert await facility.pay(CLAIM, "A-1") == "paid"
    await facility.redis.delete(SLIPS_KEY)
    await facility.pits[1].claims.decide(OTHER, "pay", "ben", slip="A-1")
    variances: list[str] = []
    for store in facility.stores.values():
        finding = await LinkAudit(store).run(again=10)
        assert finding.problems == ()
        variances += finding.variances
        await store.slip_register.reserve_paid(finding.unreserved)
    assert variances == [f"slip 'a1' paid claim {CLAIM}, and claim {OTHER} as well"]


def test_a_simulated_slip_is_another_one_for_each_claim() -> None:
    """The names of these claims differ only in a dot, a hyphen or capitals."""
    claims = ["a-b.c-2-1", "a.b-c-2-1", "A.b-c-2-1", f"{'l' * 32}.{'t' * 32}-{2**53}-7"]
    slips = [simulated_slip(claim) for claim in claims]
    assert len({fold_slip(clean_slip(slip)) for slip in slips}) == len(claims)
