"""Archived days that were changed, lost or exchanged are reported and not relied on (D17)."""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import cast

import msgspec
import pytest
import zstandard

from meters.archive.archive_days import ArchiveFiles
from meters.archive.day_file import ArchiveError, DayFile, DayWriter
from meters.audit.archive_audit import check_archive_files
from meters.audit.audit_files import CheckedLink
from meters.audit.link_audit import LinkAudit
from meters.ledger.chain import link_and_seal
from meters.ledger.checkpoint import Mark
from meters.ledger.ledger_replay import Replay
from tests.archive.day_content import DayContent, edit
from tests.model.kept import Kept
from tests.model.tampering import Fields, move_balance, rewrite


def cut_short(path: Path) -> None:
    path.chmod(0o644)
    os.truncate(path, path.stat().st_size - 16)


def _append(path: Path) -> None:
    path.chmod(0o644)
    with path.open("ab") as file:
        file.write(b"x")


def _hide_a_frame(path: Path) -> None:
    """Add a frame after the entries, and the length of the entries in the first line."""
    content = DayContent.read(path)
    added = zstandard.ZstdCompressor().compress(b'{"number":1}\n')
    content.write(path, added)


def alter_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-len(content) // 4] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)


def forge(file: DayFile, change: Callable[[int, Mapping[str, bytes]], Mapping[str, bytes]]) -> None:
    """Write a file again with other fields of its entries, and with correct digests."""
    day, replay, entries = file.day, Replay.after(file.day.opening), [*file.entries()]
    with DayWriter(file.path.with_suffix(".forged")) as writer:
        for number, fields in entries:
            made = {**fields, **change(number, fields)}
            made["chain"] = link_and_seal(replay.chain, "", number, made)[0].encode()
            replay.apply_entry(number, made)
            writer.add((number, made))
        writer.finish(replace(day, closing=replay.checkpoint), file.path).verify()


def _edit_state(day: DayContent, old: str, new: str) -> None:
    assert old in day.states[1]
    day.states[1] = day.states[1].replace(old, new)


_NOT_AS_WRITTEN, _NOT_ITS_BALANCES = (
    r"entry \d+ is not as it was written", "its entries do not fit its checkpoints",
)  # fmt: skip


@pytest.mark.duty("D17", "D20")
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (edit(lambda day: day.entries[0].update(by="x")), _NOT_AS_WRITTEN),
        (edit(lambda day: day.entries[0].update(more="x")), ""),
        (edit(lambda day: day.entries.pop(1)), r"entry \d+ follows entry \d+"),
        (edit(lambda day: day.entries.pop()), _NOT_ITS_BALANCES),
        (edit(lambda day: day.entries.clear()), _NOT_ITS_BALANCES),
        (edit(lambda day: day.states.clear()), ""),
        (edit(lambda day: day.states.append("{}")), ""),
        (
            edit(lambda day: _edit_state(day, '"state":"paid"', '"state":"void"')),
            "its digest does not fit its content",
        ),
        (
            edit(lambda day: _edit_state(day, '{"last":', '{"at":1,"last":')),
            "pitlink writes no such checkpoint",
        ),
        (edit(lambda day: day.head.update(digest="x")), ""),
        (edit(lambda day: day.head.update(day="2126-11-29")), ""),
        (edit(lambda day: day.head.update(link="other")), ""),
        (edit(lambda day: _edit_state(day, '"closed":false', '"closed":true')), ""),
        (edit(lambda day: day.head.update(closing="x")), "its digest does not fit its content"),
        (edit(lambda day: day.head.update(last=f"x{day.head['last']}")), ""),
        (edit(lambda day: day.head.clear()), ""),
        (_append, "its length has changed"),
        (_hide_a_frame, ""),
        (alter_a_byte, ""),
        (cut_short, ""),
        (Path.unlink, ""),
    ],
)
async def test_a_changed_file_stops_every_step_that_relies_on_it(
    kept: Kept, damage: Callable[[Path], None], reason: str
) -> None:
    """Nothing is trimmed on the basis of such a file. The audit and the nightly check name it."""
    await kept.week()
    path = (await kept.run(live_days=100)).written[1].path
    before = await kept.live()

    async def looked(checked: CheckedLink) -> tuple[CheckedLink, list[str]]:
        return await check_archive_files(
            kept.pit.store, kept.archive, checked, lambda *_: None, reads=7
        )

    checked, wrong = await looked(CheckedLink())
    assert wrong == []
    damage(path)
    noted, wrong = await looked(checked)
    assert any(day in wrong[0] for day in ("2126-11-21", "2126-11-22"))
    assert all("put a copy back" in problem for problem in wrong)
    assert (await looked(noted))[1] == wrong, "reported until it is repaired"
    with pytest.raises(ArchiveError, match=r"2126-11-2[12]"):
        await kept.run()
    assert await kept.live() == before
    problems = (await kept.audit()).problems
    assert any("2126-11-2" in problem for problem in problems)
    named = f"{re.escape(str(path))} is damaged: {reason}"
    assert not reason or any(re.fullmatch(named, problem) for problem in problems), problems


@pytest.mark.duty("D17")
@pytest.mark.parametrize("lost", [slice(0, 3), slice(1, 3), slice(2, 3)])
async def test_a_file_that_is_lost_while_redis_has_its_day_is_reported(
    kept: Kept, lost: slice
) -> None:
    """The ledger says that the day was archived. No later file would show the loss."""
    await kept.week()
    files = (await kept.run(live_days=100)).written
    for file in files[lost]:
        file.path.unlink()
    finding = await kept.audit()
    assert [problem.partition(" is missing")[0] for problem in finding.problems] == [
        str(file.path) for file in reversed(files[lost])
    ]


@pytest.mark.duty("D17")
async def test_a_checkpoint_that_was_changed_or_is_missing_is_found(kept: Kept) -> None:
    await kept.week()
    await kept.run()
    key = kept.pit.store.keys.checkpoint
    text = cast("bytes", await kept.pit.redis.hget(key, "text"))
    changed = text.replace(b'"meter:progressive":', b'"meter:progressive":1')
    await kept.pit.redis.hset(key, "text", changed)
    with pytest.raises(ValueError, match="is not the one that entry"):
        await kept.pit.audit()
    await kept.pit.redis.delete(key)
    finding = await kept.pit.audit()
    assert any("follows entry 0" in problem for problem in finding.problems)


@pytest.mark.duty("D17")
async def test_a_checkpoint_that_was_changed_together_with_its_digest_is_found(kept: Kept) -> None:
    """The chain shows it.

    If the chain was recalculated too, only what is kept outside Redis shows it: the mark, and the
    archive.
    """
    await kept.week()
    await kept.run(live_days=0)
    sealed = await kept.pit.audit()
    seen = Mark(kept.pit.link.id, 0, "", sealed.entries, sealed.seal)
    pit, key = kept.pit, kept.pit.store.keys.checkpoint
    checkpoint = await pit.store.checkpoint()
    stolen = {"meter:progressive": -100, "house": 100}
    changed = msgspec.structs.replace(
        checkpoint, books=replace(checkpoint.books, balances=Counter(checkpoint.books.balances))
    )
    for account, micros in stolen.items():
        changed.books.balances[account] += micros
    await pit.redis.hset(key, "text", changed.text)
    for account, micros in stolen.items():
        await move_balance(pit, account, micros)
    by = int(cast("bytes", await pit.redis.hget(key, "by")))
    before, after = checkpoint.digest.encode(), changed.digest.encode()

    def with_digest(number: int, fields: Fields) -> Fields:
        event = fields[b"event"]
        return fields | {b"event": event.replace(before, after)} if number == by else fields

    await rewrite(pit, with_digest, chained=False)
    (problem,) = (await pit.audit()).problems
    assert f"entry {by} is not as it was written" in problem

    await rewrite(pit, with_digest, digest=checkpoint.chain)
    assert (await pit.audit()).balanced, "Redis alone no longer shows it"
    (problem,) = (await LinkAudit(pit.store).run(seen)).problems
    assert "are not those that were sealed" in problem
    problems = (await kept.audit()).problems
    assert any(
        "was archived with a state that does not follow from the ledger" in one for one in problems
    )


@pytest.mark.duty("D17")
async def test_a_rewritten_file_with_correct_digests_is_not_the_one_archived(kept: Kept) -> None:
    """The ledger kept the digest of the original file."""
    await kept.week(2)
    await kept.run()
    last = kept.archive.files()[-1]
    other = {"at": b"2026-11-20T00:00:00.000Z"}
    forge(last, lambda number, _: other if number == last.head.first + 1 else {})
    finding = await kept.audit()
    assert any("is not the file that was archived" in problem for problem in finding.problems)


@pytest.mark.duty("D17")
@pytest.mark.parametrize("wrong", ["first", "last"])
async def test_a_file_that_names_other_entries_than_its_balances_is_refused(
    kept: Kept, wrong: str
) -> None:
    """Its digest is correct, because it covers the wrong number too."""
    await kept.week(2)
    await kept.run()
    file = kept.archive.files()[-1]
    day = replace(file.day, **{wrong: getattr(file.day, wrong) + 1})
    with DayWriter(file.path.with_suffix(".forged")) as writer:
        for entry in file.entries():
            writer.add(entry)
        with pytest.raises(ArchiveError, match="its entries do not fit its checkpoints"):
            writer.finish(day, file.path)


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
    kept.archive = ArchiveFiles(tmp_path / "elsewhere", kept.pit.link.id)
    (problem,) = (await kept.audit()).problems
    assert "only the later entries were audited" in problem
    await kept.week(1)
    with pytest.raises(ArchiveError, match="lacks the last files: name the directory that"):
        await kept.run()
    assert not (tmp_path / "elsewhere").exists(), "it is not created again"
    kept.archive = whole
    assert (await kept.audit()).balanced


@pytest.mark.parametrize(("live_days", "left"), [(100, 0), (100, 1), (2, 0), (2, 2)])
async def test_files_that_are_lost_are_written_again_as_they_were(
    kept: Kept, live_days: int, left: int
) -> None:
    """This works for days still in Redis: each digest is the one that the ledger kept."""
    await kept.week()
    files = (await kept.run(live_days)).written
    await kept.week(1)
    for file in files[left:]:
        file.path.unlink()
    with pytest.raises(ArchiveError, match="use --lost to write again"):
        await kept.run(live_days)
    again = await kept.run(live_days, lost=True)
    since = left if live_days == 100 else max(left, 1)
    assert [file.head.digest for file in kept.archive.files()[:-1]] == [
        file.head.digest for file in (*files[:left], *files[since:])
    ]
    assert len(again.written) == len(files) - since + 1
    finding = await kept.audit()
    gone = ["the archive begins with 2126-11-21"] if since > left else []
    assert [problem.partition(",")[0] for problem in finding.problems] == gone
    assert (await kept.run(live_days, lost=True)).written == [], "and nothing twice"


async def test_days_that_are_nowhere_are_reported_and_the_archive_continues_without_them(
    kept: Kept, tmp_path: Path
) -> None:
    await kept.week(4)
    files = (await kept.run()).written
    for file in files[1:]:
        file.path.unlink()
    with pytest.raises(ArchiveError, match=r"neither in Redis nor in .*: move the files elsewhere"):
        await kept.run(lost=True)
    files[0].path.rename(tmp_path / files[0].path.name)
    assert [file.head.digest for file in (await kept.run(lost=True)).written] == [
        files[3].head.digest
    ]
    await kept.week(1)
    assert len((await kept.run()).written) == 1


@pytest.mark.duty("D17")
async def test_a_day_whose_wins_differ_from_the_ledger_is_not_written_again(kept: Kept) -> None:
    await kept.week()
    files = (await kept.run(live_days=100)).written
    claim = next(iter(files[2].day.closing.ended))
    await kept.pit.redis.hset(kept.pit.store.keys.claim(claim), "by", "somebody")
    files[2].path.unlink()
    with pytest.raises(ArchiveError, match="by is 'somebody', the ledger says"):
        await kept.run(live_days=100, lost=True)
    assert len(kept.archive.files()) == 2


async def test_an_audit_since_a_day_begins_with_its_opening_books(kept: Kept) -> None:
    """The files before are not opened. Those within are replayed and checked."""
    await kept.week(4)
    await kept.run()
    whole, since = await kept.audit(), await kept.audit(since=date(2126, 11, 22))
    files = kept.archive.files()
    assert (whole.first, since.first) == (1, files[2].head.first)
    assert (since.problems, since.totals, since.seal) == ((), whole.totals, whole.seal)
    late = await kept.audit(since=date(2130, 1, 1))
    assert (late.first, late.problems) == (files[-1].head.first, ())
    edit(lambda day: day.entries[0].update(by="x"))(files[1].path)
    assert (await kept.audit(since=date(2126, 11, 22))).balanced
    assert not (await kept.audit()).balanced
    edit(lambda day: day.entries[0].update(by="x"))(files[2].path)
    assert not (await kept.audit(since=date(2126, 11, 22))).balanced
    # The replayed entries record the digest of this earlier file.
    edit(lambda day: day.head.update(digest="x"))(files[0].path)
    problems = (await kept.audit(since=date(2126, 11, 23))).problems
    assert any("is not the file that was archived" in problem for problem in problems)
