"""Closed gaming days go to files, are read back, and only then leave Redis (duties D17, D19)."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import cast

import msgspec
import pytest
from redis.asyncio import Redis

from meters.archive.archiver import Archiver, Outcome
from meters.archive.audit import audit_link
from meters.archive.day_file import ArchiveError, DayWriter
from meters.archive.days import Archive, every_entry
from meters.archive.retention import delete, expired
from meters.books.audit import Finding, LinkAudit
from meters.books.chain import link_entry
from meters.books.ledger import Replay
from meters.books.mark import Mark
from meters.books.store import LinkStore
from meters.desk.rows import ParameterChange
from meters.schema import SCHEMA
from meters.selfcheck.configuration import Configuration
from tests.lua.books import keyspace
from tests.model.days import Days
from tests.model.pit import BONUS, FIVE_CARD, FIVE_OF_SIX, PROGRESSIVE, RAGS, Pit
from tests.model.tampering import rewrite

A_DAY = timedelta(days=1)
EVERYTHING = " ".join((PROGRESSIVE, FIVE_CARD, FIVE_OF_SIX, BONUS))


class Kept:
    """A pit whose days are archived."""

    def __init__(self, pit: Pit, home: Path) -> None:
        self.pit = pit
        self.days = Days(pit)
        self.archive = Archive(home, pit.link.id)
        self.rounds = 0

    async def open(self) -> None:
        await self.days.open()
        await Configuration(self.pit.floor, self.pit.store).adopt("service")

    async def play(self, *, decide: bool = True) -> str:
        """A round with wins, one of them a percentage; the claim of that one."""
        self.rounds += 1
        reply = await self.pit.round(
            {3: EVERYTHING, 5: EVERYTHING}, {3: "As Ks Qs", 5: RAGS},
            community="Js Ts", round_id=f"R{self.rounds}",
        )  # fmt: skip
        claims = [claim.claim for claim in reply.claims or ()]
        for claim in claims if decide else ():
            row = await self.pit.decide(claim, "validate")
            if row.paid_from == "hand_pay":
                await self.pit.decide(claim, "pay")
        return claims[0]

    async def week(self, days: int = 3, rounds: int = 2) -> None:
        for _ in range(days):
            for _ in range(rounds):
                await self.play()
            await self.days.keep(A_DAY)

    async def run(self, live_days: int = 1, *, lost: bool = False) -> Outcome:
        archiver = Archiver(self.pit.store, self.archive, live_days)
        return await archiver.run(lambda _, __: None, lost=lost)

    async def live(self) -> list[int]:
        return [number for number, _ in await self.pit.store.entries(0, 10_000)]

    async def audit(self, seen: Mark | None = None, since: date | None = None) -> Finding:
        """What an audit across archive and Redis finds."""
        link = self.pit.link.id
        return await audit_link(
            self.pit.store, self.archive, seen or Mark(link), lambda *_: None, since=since
        )


@pytest.fixture
async def kept(pit_redis: Redis, tmp_path: Path) -> Kept:
    kept = Kept(Pit(pit_redis), tmp_path / "archive")
    await kept.pit.store.open("service")
    await kept.open()
    return kept


@pytest.mark.duty("D17")
async def test_closed_days_are_written_and_what_is_older_leaves_redis(kept: Kept) -> None:
    """Three days are closed and one is open: the last closed one stays, as the floor file says."""
    await kept.week()
    await kept.play(decide=False)
    whole = await kept.pit.audit()
    before = await kept.pit.store.entries(0, 10_000)
    outcome = await kept.run()
    files = kept.archive.files()
    assert [file.head.day.isoformat() for file in outcome.written] == [
        "2026-11-20", "2026-11-21", "2026-11-22",
    ]  # fmt: skip
    assert [file.path for file in files] == [file.path for file in outcome.written]
    assert (outcome.trimmed_to, outcome.trimmed) == (files[1].head.last, files[1].head.last)
    assert await kept.live() == [*range(files[1].head.last + 1, before[-1][0] + 1 + 3)], (
        "and each day's archiving is an entry"
    )
    every = [entry async for entry in every_entry(kept.pit.store, kept.archive)]
    assert every[: len(before)] == before
    live, spanning = await kept.pit.audit(), await kept.audit()
    for finding in (live, spanning):
        assert (finding.problems, finding.variances) == ((), ())
        assert (finding.totals, finding.meters) == (whole.totals, whole.meters)
    assert live.seal == spanning.seal


async def test_it_goes_on_day_by_day_and_does_nothing_twice(kept: Kept) -> None:
    await kept.week(2)
    await kept.run()
    again = await kept.run()
    assert (again.written, again.trimmed) == ([], 0)
    await kept.week(2)
    outcome = await kept.run()
    assert len(outcome.written) == 2
    assert outcome.trimmed > 0
    assert len(kept.archive.files()) == 4
    assert (await kept.audit()).balanced


@pytest.mark.duty("D16")
async def test_decided_wins_leave_with_their_day_and_what_is_looked_at_stays(kept: Kept) -> None:
    """The last 25 of each progressive, what a table may ask for again, and what waits."""
    waits = await kept.play(decide=False)
    await kept.week(1, rounds=28)
    await kept.week(2, rounds=1)
    held = {key for key in await keyspace(kept.pit.redis) if ":claim:" in key}
    files = (await kept.run()).written
    left = {key for key in await keyspace(kept.pit.redis) if ":claim:" in key}
    gone = {key.rpartition(":")[2] for key in held - left}
    assert gone
    archived = {claim for file in files for claim in file.claims()}
    assert gone <= archived, "none left that is in no file"
    assert kept.pit.store.keys.claim(waits) in left
    one = next(iter(gone))
    state = next(file.claims()[one]["state"] for file in files if one in file.claims())
    assert state in {"paid", "validated"}
    index = cast("list[bytes]", await kept.pit.redis.zrange(kept.pit.store.keys.wins, 0, -1))
    wins = [win.decode() for win in index]
    assert not [win for win in wins if win.rpartition(":")[2] in gone]
    assert len([win for win in wins if win.startswith(f"{PROGRESSIVE}!")]) >= 25
    assert (await kept.pit.decide(waits, "validate")).state == "validated"
    assert (await kept.audit()).balanced


async def test_a_running_audit_goes_on_when_the_beginning_leaves(kept: Kept) -> None:
    """What it has passed it reads again, from what is carried over."""
    await kept.week()
    audit, early, late = (LinkAudit(kept.pit.store) for _ in range(3))
    assert (await audit.run()).balanced
    assert (await early.run(again=3)).balanced
    assert (await early.run(again=3)).balanced
    await kept.run()
    await kept.play()
    for _ in range(5):
        for one in (audit, early, late):
            finding = await one.run(again=50)
            assert finding.problems == ()


@pytest.mark.duty("D12")
async def test_what_was_approved_is_proven_though_its_entry_has_left(kept: Kept) -> None:
    await kept.week()
    await kept.run()
    configuration = Configuration(kept.pit.floor, kept.pit.store)
    assert await configuration.problem() is None
    assert await configuration.is_approved()
    await kept.pit.redis.hset(kept.pit.store.keys.approved, "by", "somebody")
    forged = Configuration(kept.pit.floor, kept.pit.store)
    assert "is not what ledger entry" in (await forged.problem() or "")


@pytest.mark.duty("D12")
async def test_a_link_whose_parameters_two_people_have_changed_is_archived(kept: Kept) -> None:
    """The floor file then says otherwise than the store what the terms are, for years."""
    await kept.week()
    pit = kept.pit
    await pit.links_desk.close(pit.link.id, "Sue", "a limit")
    limit = ParameterChange(meter=PROGRESSIVE, parameter="limit", value=50_000_000)
    proposed = await pit.links_desk.propose(pit.link.id, "Sue", limit)
    await pit.links_desk.confirm(pit.link.id, proposed.proposal, "Sam")
    as_filed = LinkStore(pit.redis, pit.floor.link[0])
    outcome = await Archiver(as_filed, kept.archive, 1).run(lambda _, __: None)
    assert (len(outcome.written), outcome.trimmed > 0) == (3, True)
    assert (await kept.audit()).balanced


async def test_books_of_a_later_release_are_left_alone(kept: Kept) -> None:
    await kept.week()
    before = await kept.live()
    await kept.pit.redis.hset(kept.pit.store.keys.meters, "schema", str(SCHEMA + 1))
    with pytest.raises(ArchiveError, match="a later release wrote it"):
        await kept.run()
    assert (await kept.live(), kept.archive.files()) == (before, [])


@pytest.mark.parametrize("killed_at", ["before the note", "before the trim", "in the cut"])
async def test_ended_anywhere_it_is_done_again(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:
    await kept.week()
    whole = await kept.pit.audit()

    async def killed(*_: object) -> None:
        raise KeyboardInterrupt

    place = {
        "before the note": "_note_day", "before the trim": "_carry_over", "in the cut": "_cut",
    }[killed_at]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(Archiver, place, killed)
        with pytest.raises(KeyboardInterrupt):
            await kept.run()
    assert (await kept.pit.audit()).balanced
    await kept.run()
    files = kept.archive.files()
    assert len(files) == 3
    assert (await kept.live())[0] == files[1].head.last + 1
    assert (await kept.audit()).totals == whole.totals
    assert not [path for path in kept.archive.directory.iterdir() if path.suffix != ".sqlite"]


@pytest.mark.duty("D17")
async def test_a_ledger_that_does_not_hold_is_neither_archived_nor_trimmed(kept: Kept) -> None:
    await kept.week()
    await rewrite(
        kept.pit, lambda number, fields: fields | {b"by": b"x"} if number == 4 else fields,
        chained=False,
    )  # fmt: skip
    before = await kept.live()
    with pytest.raises(ArchiveError, match=r"does not hold, nothing of it was archived .* entry 4"):
        await kept.run()
    assert await kept.live() == before
    assert kept.archive.files() == []


def _edit(statement: str) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        path.chmod(0o644)
        with closing(sqlite3.connect(path)) as file, file:
            file.execute(statement)

    return edit


def _cut_short(path: Path) -> None:
    path.chmod(0o644)
    os.truncate(path, path.stat().st_size - 512)


@pytest.mark.duty("D17", "D20")
@pytest.mark.parametrize(
    "damage",
    [
        _edit("UPDATE entry SET by = 'x' WHERE number = (SELECT first FROM day)"),
        _edit("DELETE FROM entry WHERE number = (SELECT last FROM day)"),
        _edit("DELETE FROM claim"),
        _edit("UPDATE claim SET fields = replace(fields, 'paid', 'void')"),
        _edit("UPDATE day SET digest = 'x'"),
        _edit("UPDATE day SET day = '2026-11-29'"),
        _edit("UPDATE day SET link = 'other'"),
        _edit("UPDATE day SET closing = replace(closing, '\"closed\":false', '\"closed\":true')"),
        _edit("UPDATE day SET last = 'x' || last"),
        _edit("DELETE FROM day"),
        _cut_short,
        Path.unlink,
    ],
)
async def test_a_file_that_is_not_as_it_was_written_stops_what_would_rest_on_it(
    kept: Kept, damage: Callable[[Path], None]
) -> None:
    """It is never trimmed by, and an audit says which file it is."""
    await kept.week()
    files = (await kept.run(live_days=100)).written
    before = await kept.live()
    try:
        damage(files[1].path)
    except sqlite3.IntegrityError:
        return
    with pytest.raises(ArchiveError, match=r"2026-11-2[12]"):
        await kept.run()
    assert await kept.live() == before
    finding = await kept.audit()
    assert any("2026-11-2" in problem for problem in finding.problems)


@pytest.mark.duty("D17")
@pytest.mark.parametrize("lost", [slice(0, 3), slice(1, 3), slice(2, 3)])
async def test_a_file_that_is_lost_while_redis_has_its_day_still_is_told(
    kept: Kept, lost: slice
) -> None:
    """The ledger says that it was archived; nothing follows in the archive that would show it."""
    await kept.week()
    files = (await kept.run(live_days=100)).written
    for file in files[lost]:
        file.path.unlink()
    finding = await kept.audit()
    assert [problem.partition(" is missing")[0] for problem in finding.problems] == [
        str(file.path) for file in reversed(files[lost])
    ]


@pytest.mark.duty("D17")
async def test_books_carried_over_that_were_changed_are_found(kept: Kept) -> None:
    """Also where whoever did it puts their digest right in the archive's entry."""
    await kept.week()
    await kept.run()
    carried = kept.pit.store.keys.carried
    text = cast("bytes", await kept.pit.redis.hget(carried, "text"))
    changed = text.replace(b'"meter:progressive":', b'"meter:progressive":1')
    await kept.pit.redis.hset(carried, "text", changed)
    with pytest.raises(ValueError, match="are not those that entry"):
        await kept.pit.audit()
    await kept.pit.redis.delete(carried)
    finding = await kept.pit.audit()
    assert any("follows entry 0" in problem for problem in finding.problems)


@pytest.mark.duty("D17")
async def test_a_file_written_anew_with_every_digest_put_right_is_not_the_one_archived(
    kept: Kept,
) -> None:
    """The ledger kept the digest of the one that was."""
    await kept.week(2)
    await kept.run()
    last = kept.archive.files()[-1]
    replay = Replay.after(last.day.opening)
    with DayWriter(last.path.with_suffix(".forged")) as writer:
        for number, fields in last.entries():
            forged = dict(fields)
            if number == last.head.first + 1:
                forged["at"] = b"2026-11-20T00:00:00.000Z"
            content = [(name.encode(), value) for name, value in forged.items() if name != "chain"]
            forged["chain"] = link_entry(replay.chain, f"{number}-0", content).encode()
            writer.add((number, forged))
            replay.take(number, forged)
        day = replace(last.day, closing=replay.carried)
        writer.finish(day, last.claims(), last.path).verify()
    finding = await kept.audit()
    assert any("is not the file that was archived" in problem for problem in finding.problems)


@pytest.mark.duty("D17")
async def test_an_archive_rewritten_before_the_mark_is_found_by_the_mark(kept: Kept) -> None:
    await kept.week(2)
    finding = await kept.audit()
    seen = Mark(kept.pit.link.id, 0, "", finding.entries, finding.seal)
    await kept.run()
    assert (await kept.audit(seen)).balanced
    other = msgspec.structs.replace(seen, sealed=9)
    assert any("up to 9" in problem for problem in (await kept.audit(other)).problems)


async def test_an_audit_without_the_archive_says_that_it_is_not_whole(
    kept: Kept, tmp_path: Path
) -> None:
    await kept.week()
    await kept.run()
    whole = kept.archive
    kept.archive = Archive(tmp_path / "elsewhere", kept.pit.link.id)
    (problem,) = (await kept.audit()).problems
    assert "only what follows was audited" in problem
    kept.archive = whole
    assert (await kept.audit()).balanced


async def test_an_archive_that_is_not_there_is_not_begun_anew(kept: Kept, tmp_path: Path) -> None:
    await kept.week(2)
    await kept.run()
    await kept.week(1)
    kept.archive = Archive(tmp_path / "elsewhere", kept.pit.link.id)
    with pytest.raises(ArchiveError, match="say where they are"):
        await kept.run()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(("live_days", "left"), [(100, 0), (100, 1), (2, 0), (2, 2)])
async def test_files_that_are_lost_are_written_again_as_they_were(
    kept: Kept, live_days: int, left: int
) -> None:
    """As far as Redis has them: the digest of each is the one that the ledger kept."""
    await kept.week()
    files = (await kept.run(live_days)).written
    await kept.week(1)
    for file in files[left:]:
        file.path.unlink()
    with pytest.raises(ArchiveError, match="written again with --lost"):
        await kept.run(live_days)
    again = await kept.run(live_days, lost=True)
    since = left if live_days == 100 else max(left, 1)
    assert [file.digest for file in kept.archive.files()[:-1]] == [
        file.digest for file in (*files[:left], *files[since:])
    ]
    assert len(again.written) == len(files) - since + 1
    finding = await kept.audit()
    gone = ["the archive begins with 2026-11-21"] if since > left else []
    assert [problem.partition(",")[0] for problem in finding.problems] == gone
    assert (await kept.run(live_days, lost=True)).written == [], "and nothing twice"


async def test_days_that_are_nowhere_are_told_and_the_archive_goes_on_beside_them(
    kept: Kept, tmp_path: Path
) -> None:
    await kept.week(4)
    files = (await kept.run()).written
    for file in files[1:]:
        file.path.unlink()
    with pytest.raises(ArchiveError, match=r"neither in Redis nor in .*: keep its files elsewhere"):
        await kept.run(lost=True)
    files[0].path.rename(tmp_path / files[0].path.name)
    assert [file.digest for file in (await kept.run(lost=True)).written] == [files[3].digest]
    await kept.week(1)
    assert len((await kept.run()).written) == 1


@pytest.mark.duty("D17")
async def test_a_day_that_is_not_as_it_was_archived_is_not_written_again(kept: Kept) -> None:
    await kept.week()
    files = (await kept.run(live_days=100)).written
    claim = next(iter(files[2].claims()))
    await kept.pit.redis.hset(kept.pit.store.keys.claim(claim), "by", "somebody")
    files[2].path.unlink()
    with pytest.raises(ArchiveError, match="2026-11-22 is not in Redis as it was archived"):
        await kept.run(live_days=100, lost=True)
    assert len(kept.archive.files()) == 2


async def test_a_full_disk_leaves_all_as_it_was(kept: Kept, tmp_path: Path) -> None:
    await kept.week()
    (tmp_path / "archive").write_text("a file where the directory should be")
    before = await kept.live()
    with pytest.raises(ArchiveError, match="cannot be written"):
        await kept.run()
    assert await kept.live() == before


async def test_files_are_deleted_only_when_kept_long_enough_and_the_ledger_says_so(
    kept: Kept,
) -> None:
    """What is left is audited from the books that its first file opens with."""
    await kept.week(4)
    whole = (await kept.pit.audit()).totals
    await kept.run()
    assert expired(kept.archive, date(2033, 11, 20), 7) == []
    old = expired(kept.archive, date(2033, 11, 22), 7)
    assert [file.head.day.isoformat() for file in old] == ["2026-11-20", "2026-11-21"]
    assert len(expired(kept.archive, date(2096, 2, 29), 1)) == 3, "never the last"
    with pytest.raises(ArchiveError, match="Redis holds entries of it still"):
        await delete(kept.pit.store, kept.archive.files()[:4])
    assert len(kept.archive.files()) == 4
    await delete(kept.pit.store, old)
    assert [file.head.day.isoformat() for file in kept.archive.files()] == [
        "2026-11-22", "2026-11-23",
    ]  # fmt: skip
    finding = await kept.audit()
    assert (finding.problems, finding.totals) == ((), whole)
    kept.archive.files()[0].path.unlink()
    finding = await kept.audit()
    assert any("what was before is missing" in problem for problem in finding.problems)


async def test_a_day_is_kept_while_one_of_its_wins_waits(kept: Kept) -> None:
    """Whoever won has not come back: without that day no store could be made again."""
    await kept.week(1)
    waits = await kept.play(decide=False)
    await kept.week(2)
    await kept.run()
    later = date(2036, 1, 1)
    assert [str(file.head.day) for file in expired(kept.archive, later, 7)] == ["2026-11-20"]
    await kept.pit.decide(waits, "validate")
    await kept.pit.decide(waits, "pay")
    await kept.week(1)
    await kept.run()
    assert len(expired(kept.archive, later, 7)) < 3, "the other wins of that round wait still"
    for row in await kept.pit.desk.waiting():
        await kept.pit.decide(row.claim, "reject")
    await kept.week(1)
    await kept.run()
    assert len(expired(kept.archive, later, 7)) == 4


async def test_an_audit_since_a_day_begins_with_its_opening_books(kept: Kept) -> None:
    """What is before is held by its digests; what is in it is replayed, and held by the ledger."""
    await kept.week(4)
    await kept.run()
    whole, since = await kept.audit(), await kept.audit(since=date(2026, 11, 22))
    files = kept.archive.files()
    assert (whole.first, since.first) == (1, files[2].head.first)
    assert (since.problems, since.totals, since.seal) == ((), whole.totals, whole.seal)
    late = await kept.audit(since=date(2030, 1, 1))
    assert (late.first, late.problems) == (files[-1].head.first, ())
    _edit("UPDATE entry SET by = 'x' WHERE number = (SELECT first FROM day)")(files[1].path)
    assert (await kept.audit(since=date(2026, 11, 22))).balanced
    assert not (await kept.audit()).balanced
    _edit("UPDATE entry SET by = 'x' WHERE number = (SELECT first FROM day)")(files[2].path)
    assert not (await kept.audit(since=date(2026, 11, 22))).balanced
    _edit("UPDATE day SET digest = 'x'")(files[0].path)
    problems = (await kept.audit(since=date(2026, 11, 23))).problems
    assert any("does not follow" in problem for problem in problems)
