"""A link restored from sealed days equals the link restored entry by entry."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, run_state_machine_as_test
from redis.asyncio import Redis

from meters.archive import archive_days
from meters.archive.day_file import ArchiveError, DayFile
from meters.floor.floor_file import Floor as FloorFile
from meters.ledger import claim_evidence
from meters.ledger.checkpoint import read_checkpoint
from meters.ledger.claim_evidence import Evidence
from meters.ledger.entry_messages import RestoreEntry
from meters.ledger.redis_layout import LinkKeys
from meters.restore.copy_reading import ArchivedLedger, CopyReader, LinkCopy
from meters.restore.outboxes import RestoreError
from meters.store.link_acts import note_restore
from tests.archive.day_content import DayContent, edit
from tests.model.days import A_DAY, Days
from tests.model.machine import Floor
from tests.model.model_floor import MIXED, POKER, ModelFloor
from tests.model.pit import PROGRESSIVE
from tests.model.test_archive_damage import cut_short
from tests.restore.pit import KeptPit
from tests.restore.stores import hold_books, keys_of, read_store
from tests.restore.test_restoring import DRAWN, EVERYTHING
from tests.servers import RedisServer

pytestmark = pytest.mark.duty("D11")


@pytest.fixture(autouse=True)
def _few_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Redis keep so few wins that some of a short test are deleted."""
    monkeypatch.setattr(claim_evidence, "WINS_KEPT", 2)


class EachEntryReader(CopyReader):
    def _sealed_days(self) -> Sequence[DayFile]:
        return ()


def short_live(floor: FloorFile, live_days: int = 1) -> FloorFile:
    return msgspec.structs.replace(
        floor, archive=msgspec.structs.replace(floor.archive, live_days=live_days)
    )


async def read_both_ways(floor: FloorFile, directory: Path) -> tuple[LinkCopy, LinkCopy]:
    link = floor.link[0]
    copy = ArchivedLedger(directory, link.id)
    made = [
        await reader(floor, link, copy, copy.last, lambda *_: None).read()
        for reader in (CopyReader, EachEntryReader)
    ]
    return made[0], made[1]


def hold_both_alike(sealed: LinkCopy, each: LinkCopy, keys: LinkKeys) -> None:
    """Check that both ways gave the same data, except wins that `pitlink archive` deletes."""
    assert (sealed.trimmed, sealed.chain) == (each.trimmed, each.chain)
    made, was = keys_of(sealed.rows), keys_of(each.rows)
    after = each.trimmed.closing.entries if each.trimmed else 0
    for store in (made, was):
        acts = store.pop(keys.acts, {})
        store[keys.acts] = {act: one for act, one in acts.items() if int(act) > after}
    gone = _gone(each, keys)
    missing = {claim for claim in _claims(was, keys) if claim not in _claims(made, keys)}
    assert missing <= gone, sorted(missing - gone)
    was = {key: fields for key, fields in was.items() if key not in map(keys.claim, missing)}
    wins = was.pop(keys.wins, {})
    left = {member: one for member, one in wins.items() if _claim_of(member) not in missing}
    assert made.pop(keys.wins, {}) == left
    hold_books(made, was, keys)
    for key in made.keys() | was.keys():
        assert made.get(key, {}) == was.get(key, {}), (key, made.get(key), was.get(key))


def _gone(each: LinkCopy, keys: LinkKeys) -> set[str]:
    assert each.trimmed
    rows, closing = each.rows, each.trimmed.closing
    remain = {*closing.books.waiting, *rows.at(keys.waiting)}
    for claims in rows.at(keys.repeated_claims).values():
        remain.update(claims.decode().split())
    lists: dict[str, list[tuple[int, str]]] = {}
    for member in rows.at(keys.wins):
        head, _, claim = member.rpartition(":")
        lists.setdefault(head[:-16], []).append((int(head[-16:]), claim))
    for wins in lists.values():
        remain.update(claim for _, claim in sorted(wins)[-claim_evidence.WINS_KEPT :])
    every = {_claim_of(member): int(member.rpartition(":")[0][-16:]) for member in
             rows.at(keys.wins)}  # fmt: skip
    return {claim for claim, entry in every.items() if entry <= closing.entries} - remain


def _claims(store: Mapping[str, object], keys: LinkKeys) -> set[str]:
    prefix = keys.claim("")
    return {key.removeprefix(prefix) for key in store if key.startswith(prefix)}


def _claim_of(member: str) -> str:
    return member.rpartition(":")[2]


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
        floor, home = short_live(self.pit.floor), Path(self.home.name)
        if len([*home.glob("*/*.zst")]) > 2:
            sealed, each = self.runner.run(read_both_ways(floor, home))
            if sealed.trimmed:
                hold_both_alike(sealed, each, self.pit.store.keys)
                SealedFloor.compared += 1


@pytest.mark.slow
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
    pit = KeptPit(redis, tmp_path, f"{DRAWN}\n[archive]\nlive_days = 2\n")
    days = Days(pit)
    await days.open()
    await pit.open()
    for day in range(4):
        await _play_a_day(pit, day)
        await days.keep(A_DAY)
        await pit.archive()
    return pit


async def _play_a_day(pit: KeptPit, day: int) -> None:
    won = await pit.round({3: PROGRESSIVE}, {3: "As Ks Qs"}, round_id=f"R{day}")
    for claim in won.claims or ():
        await pit.pay(claim.claim, f"A-{day}")


@pytest.fixture(params=["here", "in other processes"])
def verified(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the files verified in this process, or in others as those of a large archive."""
    if request.param != "here":
        monkeypatch.setattr(archive_days, "_WORTHWHILE_BYTES", 0)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def _forge(change: Callable[[DayContent], object]) -> Callable[[Sequence[DayFile]], None]:
    """Return a function that changes a day, and makes the digests of all days right again."""

    def forged(files: Sequence[DayFile]) -> None:
        edit(change)(files[1].path)
        previous, before = files[0].head.digest, DayContent.read(files[0].path).states[1]
        for file in files[1:]:
            content = DayContent.read(file.path)
            content.states[0], before = before, content.states[1]
            opening, closing = (read_checkpoint(text.encode()) for text in content.states)
            day = replace(
                DayFile(file.path).day, previous=previous, opening=opening, closing=closing
            )
            digests = {"opening": opening.digest, "closing": closing.digest}
            content.head.update(digests, previous=previous, digest=day.digest)
            content.write(file.path)
            previous = day.digest

    return forged


def _forge_close(files: Sequence[DayFile]) -> None:
    """Change the balances at the close of the last day. No entry has the digest of its file yet."""
    _forge(lambda day: _edit_close(day, '"contributed_micros":', '"contributed_micros":1'))(
        files[-2:]
    )
    files[-1].path.chmod(0o444)
    DayFile(files[-1].path).verify()


def _swap(files: Sequence[DayFile]) -> None:
    first, second = (file.path.read_bytes() for file in files[:2])
    for file, content in zip(files, (second, first), strict=False):
        file.path.chmod(0o644)
        file.path.write_bytes(content)


def _edit_close(day: DayContent, old: str, new: str) -> None:
    assert old in day.states[1]
    day.states[1] = day.states[1].replace(old, new)


def _pay_another(day: DayContent) -> None:
    _edit_close(day, '"pay_by":"', '"pay_by":"eve')


@pytest.mark.slow
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
        (lambda files: edit(_pay_another)(files[2].path), "22.*its digest does not fit"),
        (lambda files: files[1].path.unlink(), "22.* does not follow .*20"),
        (_swap, "does not belong"),
        (lambda files: cut_short(files[1].path), "21.*lengths"),
        (_forge(_pay_another), "21.*was archived"),
        (_forge_close, "23.*the state at its close differs from its entries"),
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
    damage(archived.files.files())
    await archived.redis.flushall()
    with pytest.raises((ArchiveError, RestoreError), match=reason):
        await archived.restoring(archived.archived).look()
    assert await archived.redis.keys() == []


def _die(_: Path) -> None:
    os.abort()


@pytest.mark.slow
async def test_a_process_that_dies_while_it_verifies_is_replaced_by_this_one(
    archived: KeptPit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_days, "_WORTHWHILE_BYTES", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(archive_days, "_verify", _die)
    files = archived.files.files()
    with archive_days.Verification(files) as verified:
        assert [len([*verified.lines(file)]) for file in files] == [
            file.head.last - file.head.first + 1 for file in files
        ]
    edit(lambda day: day.entries[3].update(by="eve"))(files[1].path)
    with archive_days.Verification(files) as verified:
        assert [*verified.lines(files[0])]
        with pytest.raises(ArchiveError, match=r"21.*as it was written"):
            list(verified.lines(files[1]))


_RECORD = {
    "claim": "", "link": "", "table": "", "asset": "", "position": 1, "patron": None, "item": "",
    "hand": "", "cards": [], "dealer": [], "community": [], "paid_from": "", "rule": "",
    "wagered": 1, "round": "", "turn": 1, "turns": 1, "wagers": [], "envy": [], "meter": "main",
}  # fmt: skip


@pytest.mark.parametrize("order", [1, -1])
def test_the_latest_wins_of_each_meter_and_those_of_tables_remain(order: int) -> None:
    """Two of each list: all wins of a meter, and its wins of a percentage."""
    claims = {}
    for entry in range(1, 10)[::order]:
        percent = {"percent": 10 if entry in {2, 3, 4} else None}
        claims[f"c{entry}"] = {"entry": str(entry), "record": json.dumps(_RECORD | percent)}
    assert Evidence(claims).remaining(["c1"]) == {f"c{entry}" for entry in (1, 3, 4, 8, 9)}


async def test_slips_acts_and_rounds_over_the_close_come_from_sealed_days_too(
    redis: Redis, tmp_path: Path
) -> None:
    """After each of two restores, slips are used as before, and each version number is higher."""
    pit = KeptPit(redis, tmp_path, f"{DRAWN}\n[archive]\nlive_days = 1\n")
    days, keys = Days(pit), pit.store.keys
    await days.open()
    await pit.open()
    for day in range(4):
        won = await pit.round({3: EVERYTHING}, {3: "As Ks Qs"}, round_id=f"R{day}")
        paid, *others = (one.claim for one in won.claims or ())
        await pit.pay(paid, f"A-{day}")
        await pit.pay_all(others)
        await pit.claims.correct_slip(
            paid, "cal", slip=f"B-{day}", replaces=f"A-{day}", reason="digits swapped"
        )
        kept = {f"k{day}": f"{pit.link.id}.T-9-{day}-1"}
        restore = RestoreEntry(day, "", day, copied=False, events=0, kept=kept)
        await note_restore(pit.store, restore, "tess")
        await pit.wagers({1: PROGRESSIVE}, table="T-2", round_id=f"Q{day}")
        await days.keep(A_DAY)
        await pit.archive()
        won = await pit.result({1: "As Ks Qs"}, table="T-2", round_id=f"Q{day}")
        await pit.pay_all(one.claim for one in won.claims or ())
    sealed, each = await read_both_ways(pit.floor, pit.home / "archive")
    assert sealed.trimmed
    hold_both_alike(sealed, each, keys)
    for _ in range(2):
        before = await read_store(redis, keys)
        await pit.lost_and_restored(pit.archived)
        after = await read_store(redis, keys)
        assert before[keys.slips].items() <= after[keys.slips].items()
        for meter in pit.floor.link[0].meter:
            name = f"version:{meter.meter_id}"
            assert int(after[keys.meters][name]) > int(before[keys.meters][name])
        await pit.goes_on()
