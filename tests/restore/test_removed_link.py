"""Restoring a floor of which a link is no longer in the floor file: its slips stay used."""

from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis

from meters.ledger.entry_messages import RestoreEntry
from meters.store.link_acts import note_restore
from meters.store.slip_register import SLIPS_KEY
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import FLOOR, PROGRESSIVE, Pit
from tests.processes import run_pitlink
from tests.restore.pit import KeptPit
from tests.servers import RedisServer

pytestmark = [pytest.mark.slow, pytest.mark.duty("D16")]

SERVICE: Final = '[service]\nredis = "{url}"\ndata = "data"\n[[link]]'


async def test_archived_slips_of_a_link_that_is_no_longer_on_the_floor_are_reserved(
    tmp_path: Path,
) -> None:
    """Nothing makes its books again, which a payment on another link would look at."""
    with RedisServer() as server:
        async with Redis(unix_socket_path=str(server.socket_path)) as redis:
            removed = FLOOR.replace('id = "pit"', 'id = "pot"')
            kept = Kept(Pit(redis, removed), tmp_path / "pitlink-archive")
            await kept.open()
            claim = await kept.play(decide=False)
            await kept.pit.claims.decide(claim, "validate", "amy")
            await kept.pit.claims.decide(claim, "pay", "ben", slip="A-1001")
            # A number that an earlier restore of the link keeps is in no payment.
            restore = RestoreEntry(0, "", 0, copied=False, events=0, kept={"a1000": claim})
            await note_restore(kept.pit.store, restore, "tess")
            await kept.days.keep(A_DAY)
            assert (await kept.run()).written
            await redis.flushall()
            floor = tmp_path / "floor.toml"
            floor.write_text(FLOOR.replace("[[link]]", SERVICE.format(url=server.url), 1))
            command = ("restore", "--config", str(floor), "--by", "tess", "--services-stopped")
            for again in (False, True):
                done = run_pitlink(*command, "--yes")
                assert done.returncode == 0, (done.stdout, done.stderr)
                message = "pot, which the floor file no longer names: the numbers of its 2 payout"
                assert (message in done.stdout) is not again
                reserved = dict.fromkeys((b"a1000", b"a1001"), f"1 {claim}".encode())
                assert await redis.hgetall(SLIPS_KEY) == reserved


async def test_slips_of_such_a_link_are_reserved_from_its_data_in_redis(tmp_path: Path) -> None:
    """In a Redis Cluster, only the list of used numbers can be lost. No day is archived yet."""
    with RedisServer() as server:
        async with Redis(unix_socket_path=str(server.socket_path)) as redis:
            pits = [KeptPit(redis, tmp_path / "data", FLOOR.replace('"pit"', f'"{each}"'))
                    for each in ("pit", "pot")]  # fmt: skip
            for pit in pits:
                await pit.open()
                await pit.note()
            (tmp_path / "data" / "tables").mkdir(exist_ok=True)
            claims = pits[1].claims
            await pits[1].round({3: PROGRESSIVE}, {3: "As Ks Qs"}, community="Js Ts")
            (claim,) = [row.claim for row in await claims.waiting()]
            await claims.decide(claim, "validate", "amy")
            await claims.decide(claim, "pay", "ben", slip="A-1001")
            await redis.delete(SLIPS_KEY)
            for outbox in (tmp_path / "data" / "tables").iterdir():
                outbox.unlink()
            floor = tmp_path / "floor.toml"
            floor.write_text(FLOOR.replace("[[link]]", SERVICE.format(url=server.url), 1))
            done = run_pitlink(
                "restore", "--config", str(floor), "--by", "tess", "--services-stopped", "--yes"
            )
            assert done.returncode == 0, (done.stdout, done.stderr)
            assert "the numbers of its 1 payout slips are reserved" in done.stdout
            assert await redis.hgetall(SLIPS_KEY) == {b"a1001": f"1 {claim}".encode()}
