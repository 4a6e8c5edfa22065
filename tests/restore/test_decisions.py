"""`pitlink restore` and `pitlink upgrade` on reopened wins, open requests and corrected slips."""

import json
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis

from meters.books.schema import SCHEMA
from meters.books.slip_numbers import SLIPS_KEY
from meters.floor_api.errors import ActError
from meters.wire.clock import now
from tests.floor_text import section_text
from tests.model.days import Days
from tests.model.pit import CENT, PROGRESSIVE, STRICT, Pit, code
from tests.processes import run_pitlink
from tests.restore.pit import KeptPit
from tests.restore.stores import Keys, read_store
from tests.servers import RedisServer
from tests.stored_tables import held_by, make_earlier

pytestmark = [pytest.mark.slow, pytest.mark.duty("D11", "D4")]

REOPENED, AGAIN, TO_REJECT, TO_REOPEN = (f"pit.T-1-{seq}-1" for seq in (2, 4, 6, 8))
CORRECTED: Final = "pit.T-2-2-1"


async def _win(pit: Pit, round_id: str, table: str = "T-1") -> None:
    """Have a table win the whole meter; another player of the round is owed an Envy Bonus."""
    await pit.round(
        {1: PROGRESSIVE, 2: PROGRESSIVE}, {1: "As Ks Qs", 2: "3h 6s Jc"}, table=table,
        round_id=round_id,
    )  # fmt: skip


async def _reject(pit: Pit, claim: str, *, confirmed: bool = True) -> None:
    asked = (await pit.claims.reject(claim, "amy", reason="fouled", envy_not_due=True)).request
    assert asked is not None
    if confirmed:
        await pit.claims.confirm(claim, "ben", asked.entry)


async def _reopen(pit: Pit, claim: str, *, confirmed: bool = True) -> None:
    asked = (await pit.claims.request_reopening(claim, "amy", reason="the camera shows it")).request
    assert asked is not None
    if confirmed:
        await pit.claims.confirm(claim, "ben", asked.entry)


async def _decide(pit: Pit) -> None:
    """Have people decide on wins of T-1 and T-2 in every way that takes two people."""
    await _win(pit, "R1")
    await _reject(pit, REOPENED)
    await _win(pit, "R2")
    # The meter was won since the rejection, so the house pays this win.
    await _reopen(pit, REOPENED)
    await _reject(pit, AGAIN)
    await _reopen(pit, AGAIN)
    await _reject(pit, AGAIN)
    await _win(pit, "R3")
    await _reject(pit, TO_REJECT, confirmed=False)
    await _win(pit, "R4")
    await _reject(pit, TO_REOPEN)
    await _reopen(pit, TO_REOPEN, confirmed=False)
    await _win(pit, "R1", "T-2")
    await pit.decide(CORRECTED, "validate", by="amy")
    await pit.claims.decide(CORRECTED, "pay", "ben", slip="A-1001")
    await pit.claims.correct_slip(
        CORRECTED, "cal", slip="A-1002", replaces="A-1001", reason="digits swapped"
    )


async def _decided(pit: Pit) -> Keys:
    """Return what Redis holds about money and decisions, and the hand pays that hold tables."""
    keys, store = pit.store.keys, await read_store(pit.redis, pit.store.keys)
    named = (keys.accounts, keys.tallies, keys.waiting, keys.wins, keys.slips)
    kept = {key: fields for key, fields in store.items() if key.startswith(keys.claim(""))}
    held = {
        table: dict.fromkeys((await held_by(pit.store, table)).decode().splitlines(), b"")
        for table in pit.known
    }
    return {**kept, **held, **{key: store.get(key, {}) for key in named}}


async def _begin(server: RedisServer, redis: Redis, home: Path) -> tuple[KeptPit, Days]:
    service = section_text("[service]", redis=server.url, data=home)
    floor = STRICT.replace("[[link]]", f"{service}[[link]]", 1)
    (home / "floor.toml").write_text(floor)
    pit = KeptPit(redis, home, floor)
    await pit.open()
    days = Days(pit)
    days.clock.now = now()
    await days.open()
    await _decide(pit)
    return pit, days


def _run(home: Path, *command: str) -> str:
    done = run_pitlink(*command, "--config", str(home / "floor.toml"))
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def _audited(home: Path) -> object:
    found = json.loads(_run(home, "audit", "--json"))
    assert (found["balanced"], found["problems"]) == (True, [])
    return found["links"]


async def test_decisions_of_two_people_are_as_they_were_before_an_upgrade(
    keeping_server: RedisServer, keeping_redis: Redis, tmp_path: Path
) -> None:
    """A release of the schema version before did not note which hand pays hold a table."""
    pit, _ = await _begin(keeping_server, keeping_redis, tmp_path)
    was, balances = await _decided(pit), _audited(tmp_path)
    await make_earlier(pit.store, 2)
    await keeping_redis.delete(SLIPS_KEY)
    assert f"is of version {SCHEMA} now" in _run(tmp_path, "upgrade", "--yes")
    assert await _decided(pit) == was
    reserved = await pit.store.slip_register.held(["A-1001", "A-1002"])
    assert {one.claim for one in reserved.values()} == {CORRECTED}
    assert len(reserved) == 2
    assert _audited(tmp_path) == balances
    await _play_on(pit, tmp_path)


async def _play_on(pit: KeptPit, home: Path) -> None:
    waiting = {row.claim: row for row in await pit.claims.waiting()}
    # The Envy Bonuses of the paid win wait.
    assert [*waiting] == [REOPENED, TO_REJECT, CORRECTED]
    (fields,) = await pit.store.claims([REOPENED])
    assert int(fields["of_house"]) == waiting[REOPENED].amount * CENT
    live = Pit(pit.redis, STRICT)
    live.seq.update(pit.seq)
    await live.open()
    held = await live.wagers({1: PROGRESSIVE}, round_id="R9")
    assert code(held) == "held"
    await _reject(live, TO_REJECT)
    await live.decide(REOPENED, "validate", by="amy")
    with pytest.raises(ActError, match="belongs to the payment of"):
        await live.claims.decide(REOPENED, "pay", "cal", slip="A-1001")
    assert (await live.claims.decide(REOPENED, "pay", "cal", slip="A-1003")).state == "paid"
    assert (await live.wagers({1: PROGRESSIVE}, round_id="R9")).status == "accepted"
    _audited(home)
