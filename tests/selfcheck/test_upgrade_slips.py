"""`pitlink upgrade` on links whose claims were paid with slips by the release before."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, cast

import pytest
from redis.asyncio import Redis

from meters.books.ledger_mark import LedgerMark
from meters.books.slip_numbers import SLIPS_KEY
from meters.claims.claims import Claims
from meters.claims.slips import SlipNumbers
from meters.floor_api.errors import ActError
from tests.model.pit import FLOOR, PROGRESSIVE, Pit
from tests.servers import RedisServer, run_pitlink
from tests.stored_tables import held_by, make_earlier

pytestmark = [pytest.mark.slow, pytest.mark.duty("D16")]

BEFORE: Final = 2
SERVICE: Final = '[service]\nredis = "{url}"\ndata = "{data}"\n'
POT: Final = (('"pit"', '"pot"'), ('"T-', '"U-'), ("1042", "2042"))
CLAIMS: Final = ("pit.T-1-2-1", "pit.T-2-2-1", "pot.U-1-2-1", "pot.U-2-2-1")


def texts() -> tuple[str, str]:
    """Return texts for the floors of the two links: each floor file has one head and both links."""
    other = FLOOR
    for before, after in POT:
        other = other.replace(before, after)
    return FLOOR, other


class Before:
    """Two links as the release before left them: each win is a hand pay that is validated.

    That release kept the number of a slip by link, and reserved nothing.
    """

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self.pits = [Pit(redis, text) for text in texts()]
        self.claims = Claims(
            self.pits[0].floor,
            {pit.link.id: pit.store for pit in self.pits},
            lambda _: None,
            lambda *_: None,
            lambda _: asyncio.sleep(0),
        )

    async def play(self) -> None:
        for pit in self.pits:
            await pit.open()
            for table in pit.known:
                await pit.round({3: PROGRESSIVE}, {3: "As Ks Qs"}, table=table, community="Js Ts")
        waiting = [row.claim for row in await self.claims.waiting()]
        assert sorted(waiting) == [*CLAIMS]
        for claim in waiting:
            await self.claims.decide(claim, "validate", "amy")

    async def pay_as_before(self, monkeypatch: pytest.MonkeyPatch, *slips: str) -> None:
        """Pay the first claims with slips, then leave the store as that release did."""

        @asynccontextmanager
        async def unreserved(*_: object) -> AsyncIterator[None]:
            yield

        with monkeypatch.context() as patch:
            patch.setattr("meters.claims.claims.slip_of", str)
            patch.setattr(SlipNumbers, "reserved", unreserved)
            for claim, slip in zip(CLAIMS, slips, strict=False):
                await self.claims.decide(claim, "pay", "ben", slip=slip)
        for pit in self.pits:
            await make_earlier(pit.store, BEFORE)

    async def pay(self, claim: str, slip: str) -> str:
        """Pay a claim with this release; return its state, or the code of the refusal."""
        try:
            return (await self.claims.decide(claim, "pay", "ben", slip=slip)).state
        except ActError as error:
            return error.code

    async def reserved(self) -> dict[str, str]:
        rows = cast("dict[bytes, bytes]", await self.redis.hgetall(SLIPS_KEY))
        return {slip.decode(): text.decode().partition(" ")[2] for slip, text in rows.items()}


@pytest.fixture
async def before(tmp_path: Path) -> AsyncIterator[Before]:
    with RedisServer() as server:
        service = SERVICE.format(url=server.url, data=tmp_path / "data")
        first, other = (text.partition("[[link]]") for text in texts())
        (tmp_path / "floor.toml").write_text("".join([first[0], service, *first[1:], *other[1:]]))
        async with Redis(unix_socket_path=str(server.socket_path)) as redis:
            facility = Before(redis)
            await facility.play()
            yield facility


def pitlink(home: Path, *command: str) -> tuple[int, str]:
    done = run_pitlink(*command, "--config", str(home / "floor.toml"))
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("slips", "again"),
    [
        (("A-1001", "A-1002"), ("A-1001", "a-1002")),
    ],
)
async def test_numbers_of_before_the_upgrade_pay_nothing_after_it(
    before: Before, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slips: Sequence[str],
    again: Sequence[str],
) -> None:  # fmt: skip
    """On every link they are used up. Unpaid claims can be paid."""
    await before.pay_as_before(monkeypatch, *slips)
    status, said = pitlink(tmp_path, "upgrade", "--yes")
    assert status == 0, said
    assert sorted((await before.reserved()).values()) == [*CLAIMS[:2]]
    # The refusals do not depend on the links' own hashes.
    for slip in again:
        assert [await before.pay(claim, slip) for claim in CLAIMS[2:]] == ["slip_used"] * 2
    store = before.pits[1].store
    assert all([await held_by(store, table) for table in ("U-1", "U-2")])
    assert pitlink(tmp_path, "audit")[0] == 0
    assert await before.pay(CLAIMS[2], "A-1003") == "paid"
    assert await held_by(store, "U-1") == b""
    status, said = pitlink(tmp_path, "audit")
    assert status == 0, said


async def test_slip_that_paid_on_both_links_is_a_variance_after_the_upgrade(
    before: Before, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not a difference, which would stop the link permanently."""
    await before.pay_as_before(monkeypatch, "A-1001", "A-1002", "a--1001")
    for _ in range(2):
        status, said = pitlink(tmp_path, "upgrade", "--yes")
        assert status == 0, said
    assert await before.reserved() == {"a1001": CLAIMS[0], "a1002": CLAIMS[1]}
    status, said = pitlink(tmp_path, "audit")
    assert status == 0, said
    assert f"paid claim {CLAIMS[2]}, and claim {CLAIMS[0]} as well" in " ".join(said.split())


@pytest.mark.parametrize("found_by", ["redis", "mark", "archive"])
async def test_numbers_of_a_link_that_is_no_longer_on_the_floor_are_reserved(
    before: Before, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found_by: str
) -> None:
    """It was removed before the upgrade. With a list of users, Redis does not list its keys."""
    await before.pay_as_before(monkeypatch, "A-1001", "A-1002", "A-1003")
    floor = tmp_path / "floor.toml"
    whole = floor.read_text()
    first = whole.index('id = "pot"')
    floor.write_text(whole[: whole.rindex("[[link]]", 0, first)])
    if found_by != "redis":
        await before.redis.acl_setuser(
            "default",
            enabled=True,
            nopass=True,
            keys=["*"],
            categories=["+@all"],
            commands=["-scan"],
        )
    if found_by == "mark":
        LedgerMark(tmp_path / "data", "pot").note(1, "x")
    if found_by == "archive":
        day = tmp_path / "pitlink-archive" / "pot" / "2026-01-01.jsonl.zst"
        day.parent.mkdir(parents=True)
        day.touch()
    status, said = pitlink(tmp_path, "upgrade", "--yes")
    assert status == 0, said
    assert "link pot, which the floor file no longer names" in " ".join(said.split())
    assert (await before.reserved())["a1003"] == CLAIMS[2]
    assert await before.pay(CLAIMS[3], "A-1001") == "slip_used"
    # As where it was killed before it came to them: nothing else is due when it is given again.
    assert await before.redis.hdel(SLIPS_KEY, "a1003")
    assert "the numbers of its 1 payout slips are reserved" in pitlink(tmp_path, "upgrade")[1]
    assert (await before.reserved())["a1003"] == CLAIMS[2]
    assert "no longer names" not in pitlink(tmp_path, "upgrade")[1]
