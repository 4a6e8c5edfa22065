"""A link restored from sealed days equals the link restored entry by entry."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, run_state_machine_as_test
from redis.asyncio import Redis

from meters.archive import archiver, verification
from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from meters.archive.day_file import ArchiveError, DayFile
from meters.books import ledger_blocks
from meters.books.stored_entries import Entry
from meters.floor_api.types import Adjustment
from meters.redis_client.link_keys import LinkKeys
from meters.restore import sealed_wins
from meters.restore.copy_reading import CopyReader
from meters.restore.errors import RestoreError
from meters.restore.ledger_copy import ArchivedLedger
from meters.restore.store_snapshot import StoreSnapshot
from tests.archive.day_content import DayContent, edit
from tests.model.days import A_DAY, Days
from tests.model.machine import Floor
from tests.model.model_floor import MIXED, POKER, ModelFloor
from tests.model.pit import PROGRESSIVE, RAGS
from tests.model.test_archive_damage import cut_short
from tests.restore.both_ways import hold_both_alike, read_both_ways, short_live
from tests.restore.pit import KeptPit
from tests.restore.stores import Keys, read_store
from tests.restore.test_restoring import DRAWN, EVERYTHING
from tests.servers import RedisServer

pytestmark = [pytest.mark.duty("D11"), pytest.mark.slow]


@pytest.fixture(autouse=True)
def _few_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Redis keep so few wins that some of a short test are deleted."""
    monkeypatch.setattr(archiver, "WINS_KEPT", 2)
    monkeypatch.setattr(sealed_wins, "_FORGET_FROM", 4)


class SealedFloor(Floor):
    """State machine that reads its archive both ways after each archived day."""

    url: ClassVar[str]
    compared: ClassVar[int] = 0

    @initialize(seed=st.integers(0, 2**32))
    def open(self, seed: int) -> None:
        super().open(seed)
        self.steps = 0

    @invariant()
    def check(self) -> None:
        """Compare both ways after five steps, which are a day."""
        self.steps += 1
        if self.steps % 5 == 0:
            self.close_the_day(archive=True)
            self.compare()

    def compare(self) -> None:
        """Compare both ways, if the archive has enough days."""
        floor, home = short_live(self.pit.floor), Path(self.home.name)
        if len([*home.glob("*/*.zst")]) > 2:
            sealed, each = self.runner.run(read_both_ways(floor, home))
            if sealed.trimmed:
                hold_both_alike(sealed, each, self.pit.store.keys)
                SealedFloor.compared += 1


@pytest.mark.parametrize("floor", [POKER, MIXED], ids=["poker", "mixed"])
def test_sealed_days_make_the_store_that_their_entries_make(
    memory_server: RedisServer, floor: ModelFloor
) -> None:
    members = {"url": memory_server.url, "floor": floor}
    machine = type("SealedFloorOnThisRedis", (SealedFloor,), members)
    SealedFloor.compared = 0
    run_state_machine_as_test(
        machine,
        settings=settings(
            phases=[Phase.generate],
            max_examples=12,
            stateful_step_count=60,
            derandomize=True,
            deadline=None,
            suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
        ),
    )
    assert SealedFloor.compared > 20


@pytest.fixture
async def archived(redis: Redis, tmp_path: Path) -> KeptPit:
    """Return a link with eight archived days: wins, decisions, acts on the link, corrections."""
    pit = KeptPit(redis, tmp_path, f"{DRAWN}\n[archive]\nlive_days = 2\n")
    days = Days(pit)
    await days.open()
    await pit.open()
    for day in range(8):
        await _play_a_day(pit, day)
        await days.keep(A_DAY)
        await _archive(pit)
    return pit


async def _play_a_day(pit: KeptPit, day: int) -> None:
    """Play rounds and have people act. Some wins and one round wait until a later day."""
    won = await pit.round(
        {3: EVERYTHING, 5: EVERYTHING}, {3: "As Ks Qs", 5: RAGS}, community="Js Ts",
        round_id=f"R{day}",
    )  # fmt: skip
    claims = [one.claim for one in won.claims or ()]
    await pit.claims.decide(claims[0], "validate", "amy", envy_paid=True)
    await pit.claims.decide(claims[0], "pay", "ben", envy_paid=True, slip=f"A-{day}")
    if day % 3 == 0:
        await pit.claims.correct_slip(
            claims[0], "cal", slip=f"B-{day}", replaces=f"A-{day}", reason="digits swapped"
        )
    for claim in claims[1:] if day != 1 else ():  # those of the second day wait for ever
        await pit.decide(claim, "reject")
    up = Adjustment(meter=PROGRESSIVE, amount=1_234, reason="malfunction")
    await (pit.change(up) if day % 2 else pit.link_acts.propose(pit.link.id, "sue", up))
    if day < 4:  # the last round stays open
        await pit.void(table="T-2", round_id=f"V{day - 1}")
        await pit.wagers({2: EVERYTHING}, table="T-2", round_id=f"V{day}")
    await pit.link_acts.close(pit.link.id, "sue", f"close {day}")
    await pit.link_acts.open(pit.link.id, "tim")


async def _archive(pit: KeptPit) -> None:
    files = ArchiveFiles(pit.home / "archive", pit.link.id)
    await Archiver(pit.store, files, pit.floor.archive.live_days).run(lambda *_: None)


async def _restored(pit: KeptPit) -> tuple[Keys, list[Entry], object]:
    """Restore the lost store from the archive alone. Return its keys, its ledger and its blocks."""
    await pit.redis.flushall()
    pit.mark.path.unlink(missing_ok=True)
    shutil.rmtree(pit.home / "tables", ignore_errors=True)
    (pit.home / "tables").mkdir()
    copy = ArchivedLedger(pit.home / "archive", pit.link.id)
    restored = await pit.restoring(copy, "T-1", "T-2").run()
    assert restored.finding.problems == ()
    await _archive(pit)
    keys, redis = pit.store.keys, pit.redis
    blocks = await redis.xrange(keys.ledger_blocks)
    ledger = await pit.store.entries(0, 10_000)
    await redis.delete(keys.ledger_blocks)
    store = await read_store(redis, keys)
    # The entries after those of the archive have the time of this restore.
    for name in ("chain", "archived_at"):
        del store[keys.meters][name]
    return store, [entry for entry in ledger if entry[0] <= copy.last], blocks


@pytest.fixture(params=["here", "in other processes"])
def verified(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the files verified in this process, or in others as those of a large archive."""
    if request.param != "here":
        monkeypatch.setattr(verification, "_WORTHWHILE_BYTES", 0)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


@pytest.mark.usefixtures("verified")
async def test_the_restored_store_is_the_same_key_by_key(
    archived: KeptPit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After `pitlink archive`, which deletes the same old wins in both."""
    monkeypatch.setattr(ledger_blocks, "PLAIN_ENTRIES", 5)
    monkeypatch.setattr(ledger_blocks, "BLOCK_ENTRIES", 4)
    store, ledger, blocks = await _restored(archived)
    monkeypatch.setattr(CopyReader, "_sealed_days", lambda _: ())
    store_before, ledger_before, blocks_before = await _restored(archived)
    assert (ledger, blocks) == (ledger_before, blocks_before)
    assert blocks
    meters, meters_before = (each.pop(archived.store.keys.meters) for each in (store, store_before))
    versions = {name for name in meters if name.startswith("version:")}
    assert all(int(meters[name]) >= int(meters_before[name]) for name in versions)
    assert {name: meters[name] for name in meters.keys() - versions} == {
        name: meters_before[name] for name in meters_before.keys() - versions
    }
    assert store == store_before


def _forge(change: Callable[[DayContent], object]) -> Callable[[Sequence[DayFile]], None]:
    """Return a function that changes a day, and makes the digests of all days right again."""

    def forged(files: Sequence[DayFile]) -> None:
        edit(change)(files[1].path)
        previous = files[0].digest
        for file in files[1:]:
            content = DayContent.read(file.path)
            day, claims = replace(DayFile(file.path).day, previous=previous), content.claims
            previous = day.digest((one["claim"], one["fields"]) for one in claims)
            content.head.update(previous=day.previous, digest=previous)
            content.write(file.path)

    return forged


def _forge_close(files: Sequence[DayFile]) -> None:
    """Change the balances at the close of the last day. No entry has the digest of its file yet."""
    file = files[-1]
    day, content = file.day, DayContent.read(file.path)
    balances = day.closing.balances | {"house": day.closing.balances["house"] - 100}
    forged = replace(day, closing=msgspec.structs.replace(day.closing, balances=balances))
    digest = forged.digest((one["claim"], one["fields"]) for one in content.claims)
    content.head.update(closing=forged.closing.text.decode(), digest=digest)
    content.write(file.path)
    file.path.chmod(0o444)
    DayFile(file.path).verify()


def _swap(files: Sequence[DayFile]) -> None:
    first, second = (file.path.read_bytes() for file in files[:2])
    for file, content in zip(files, (second, first), strict=False):
        file.path.chmod(0o644)
        file.path.write_bytes(content)


def _pay_another(day: DayContent) -> None:
    day.claims[0]["fields"] = day.claims[0]["fields"].replace("amy", "eve")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (
            lambda files: edit(lambda day: day.entries[3].update(by="eve"))(files[2].path),
            "22.*is not as it was written",
        ),
        (
            lambda files: edit(lambda day: day.entries[3].update(chain="0" * 40))(files[2].path),
            "22.*is not as it was written",
        ),
        (lambda files: edit(lambda day: day.entries.pop(3))(files[2].path), "22.*follows"),
        (lambda files: edit(_pay_another)(files[2].path), "22.*its digest is not"),
        (lambda files: files[1].path.unlink(), "22.* does not follow .*20"),
        (_swap, "does not belong"),
        (lambda files: cut_short(files[1].path), "21.*lengths"),
        (_forge(_pay_another), "21.*is not the file that was archived"),
        (_forge_close, "27.*the balances at its close differ from its entries"),
    ],
    ids=[
        "changed",
        "chain",
        "lacking",
        "win",
        "missing",
        "swapped",
        "truncated",
        "forged",
        "close",
    ],
)
@pytest.mark.usefixtures("verified")
async def test_a_damaged_file_is_named_and_nothing_is_written(
    archived: KeptPit, damage: Callable[[Sequence[DayFile]], None], reason: str
) -> None:
    damage(ArchiveFiles(archived.home / "archive", archived.link.id).files())
    await archived.redis.flushall()
    with pytest.raises((ArchiveError, RestoreError), match=reason):
        await archived.restoring(ArchivedLedger(archived.home / "archive", archived.link.id)).look()
    assert await archived.redis.keys() == []


def _die(_: Path) -> None:
    os.abort()


async def test_a_process_that_dies_while_it_verifies_is_replaced_by_this_one(
    archived: KeptPit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "_WORTHWHILE_BYTES", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(verification, "_verify", _die)
    files = ArchiveFiles(archived.home / "archive", archived.link.id).files()
    with verification.Verification(files) as verified:
        assert [len([*verified.lines(file)]) for file in files] == [
            file.head.last - file.head.first + 1 for file in files
        ]
    edit(lambda day: day.entries[3].update(by="eve"))(files[1].path)
    with verification.Verification(files) as verified:
        assert [*verified.lines(files[0])]
        with pytest.raises(ArchiveError, match=r"21.*as it was written"):
            list(verified.lines(files[1]))


@pytest.mark.parametrize("order", [1, -1])
def test_the_latest_wins_of_each_meter_and_those_of_tables_remain(order: int) -> None:
    """Two of each list: all wins of a meter, and its wins of a percentage."""
    keys, wins = LinkKeys("pit"), sealed_wins.DecidedWins()
    for entry in range(1, 10)[::order]:
        record = {"meter": "main", "percent": 10 if entry in {2, 3, 4} else None}
        fields = {"entry": str(entry), "record": json.dumps(record)}
        wins.add(f"c{entry}", json.dumps(fields))
        wins.forget([["c1"]])
    wins.forget([["c1"]], now=True)
    image = StoreSnapshot(keys)
    wins.put(image, keys)
    remain = {f"c{entry}" for entry in (1, 3, 4, 8, 9)}
    assert {key.removeprefix(keys.claim("")) for key, _ in image if key != keys.wins} == remain
    assert {member.partition("main")[2] for member in image.at(keys.wins)} == {
        *(f":{entry:016d}:c{entry}" for entry in (1, 3, 4, 8, 9)),
        *(f"!{entry:016d}:c{entry}" for entry in (3, 4)),
    }
