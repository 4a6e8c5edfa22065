"""Audits, reports and checks that open only the archive files that they need (duty D19)."""

import itertools
from datetime import date
from pathlib import Path

import pytest

from meters.audit.archive_audit import check_archive_files
from meters.audit.audit_files import CheckedLink
from tests.age.opened_files import opened_files
from tests.archive.day_content import edit
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import PROGRESSIVE
from tests.model.test_archive_damage import forge

pytestmark = pytest.mark.duty("D19")

FIRST, SECOND, THIRD = (date(2126, 11, day) for day in (20, 21, 22))


async def test_an_audit_since_a_day_opens_no_earlier_file(kept: Kept) -> None:
    for _ in range(5):
        await kept.week(1)
        await kept.run()
    with opened_files(kept.archive.directory) as opened:
        finding = await kept.audit(since=date(2126, 11, 24))
    assert finding.problems == ()
    # The entries of the last day record the digest of the file of the day before.
    assert opened.days == ["2126-11-23", "2126-11-24"]
    edit(lambda day: day.entries[0].update(by="x"))(kept.archive.paths()[-1])
    assert not (await kept.audit(since=date(2126, 11, 24))).balanced


async def test_a_report_of_old_days_opens_only_the_next_file(kept: Kept) -> None:
    """A report of days that Redis still has is audited to the end of the ledger."""
    await kept.week(6)
    await kept.run()
    with opened_files(kept.archive.directory) as opened:
        finding = await kept.audit(since=SECOND, until=THIRD)
    files = kept.archive.files()
    assert opened.days == ["2126-11-21", "2126-11-22", "2126-11-23"]
    assert (finding.first, finding.entries) == (files[1].head.first, files[2].head.last)
    assert (finding.problems, finding.stored) == ((), (await kept.audit()).entries)
    live = await kept.audit(since=SECOND, until=date(2126, 11, 25))
    assert (live.problems, live.entries) == ((), live.stored)
    edit(lambda day: day.entries[0].update(by="x"))(files[2].path)
    assert not (await kept.audit(since=SECOND, until=THIRD)).balanced
    assert (await kept.audit(since=SECOND, until=SECOND)).balanced


async def test_a_report_finds_that_its_last_file_was_forged(kept: Kept) -> None:
    """The digests in the forged file are right, but the next file has that of the true one."""
    await kept.week(6)
    await kept.run()
    file = kept.archive.files()[2]
    eve = {"by": b"eve"}
    forge(file, lambda _, fields: eve if fields["kind"] == b"validate" else {})
    assert not (await kept.audit(since=SECOND, until=THIRD)).balanced
    assert not (await kept.audit(since=THIRD, until=date(2126, 11, 23))).balanced


async def test_a_report_goes_on_until_each_of_its_wins_is_decided(kept: Kept) -> None:
    await kept.week(1)
    claim = await kept.play(decide=False)
    await kept.week(2, rounds=1)
    waiting = [row.claim for row in await kept.pit.claims.waiting()]
    assert claim in waiting
    await kept.pit.reject_what_waits()
    await kept.week(3, rounds=1)
    await kept.run()
    files = kept.archive.files()
    finding = await kept.audit(since=SECOND, until=SECOND)
    assert (finding.problems, finding.entries) == ((), files[3].head.last)


@pytest.mark.parametrize("back", [False, True])
async def test_a_report_goes_on_if_the_slip_of_its_win_was_corrected_later(
    kept: Kept, *, back: bool
) -> None:
    """If it was corrected back, Redis has no number that the reported days lack."""
    pit = kept.pit
    reply = await pit.round({1: PROGRESSIVE}, {1: "As Ks Qs"}, round_id="R-slip")
    (claim,) = (one.claim for one in reply.claims or ())
    await pit.pay(claim, "A-1")
    slips = ["A-1", "A-2", "A-1"] if back else ["A-1", "A-2"]
    for was, slip in itertools.pairwise(slips):
        if slip == slips[-1]:
            await kept.days.keep(A_DAY, A_DAY)
        await pit.claims.correct_slip(claim, "cal", slip=slip, replaces=was, reason="misread")
    await kept.days.keep(A_DAY, A_DAY, A_DAY)
    await kept.run()
    finding = await kept.audit(since=FIRST, until=FIRST)
    assert finding.entries >= kept.archive.files()[2].head.last
    assert finding.problems == ()


async def _check(
    kept: Kept, before: CheckedLink, *, reads: int = 0
) -> tuple[CheckedLink, list[str], list[str]]:
    """Check the archive; return what is remembered, the problems, and the opened days."""
    progress: list[int] = []
    with opened_files(kept.archive.directory) as opened:
        checked, wrong = await check_archive_files(
            kept.pit.store, kept.archive, before, lambda done, _: progress.append(done), reads=reads
        )
    assert progress == [*range(1, len(progress) + 1)]
    assert not reads or len(progress) <= reads + 2
    return checked, wrong, opened.days


async def test_a_check_opens_only_new_files_until_an_earlier_one_changes(
    kept: Kept, tmp_path: Path
) -> None:
    assert await _check(kept, CheckedLink()) == (CheckedLink(), [], [])
    await kept.week(3)
    await kept.run()
    checked, wrong, opened = await _check(kept, CheckedLink())
    assert (checked.first, checked.through) == (1, "2126-11-22")
    assert (wrong, opened) == ([], ["2126-11-20", "2126-11-21", "2126-11-22"])
    await kept.week(1)
    await kept.run()
    checked, wrong, opened = await _check(kept, checked)
    assert (wrong, opened) == ([], ["2126-11-22", "2126-11-23"])
    first, *_ = kept.archive.paths()
    away = first.rename(tmp_path / first.name)
    lost, wrong, _ = await _check(kept, checked)
    assert "began with entry 1 and now begin with" in wrong[0]
    # The problem remains until the file is back. Then every file is opened once.
    assert (await _check(kept, lost))[1] == wrong
    away.rename(first)
    found, wrong, opened = await _check(kept, lost)
    assert (wrong, len(opened), found) == ([], 4, checked)
    for path in kept.archive.paths():
        path.unlink()
    _, (problem,), _ = await _check(kept, checked)
    assert "has no file, and the ledger was archived up to entry" in problem


async def test_a_limited_number_of_files_is_read_each_night_and_all_in_turn(kept: Kept) -> None:
    """The last file is read every night too. The cost is limited, however many years there are."""
    await kept.week(days=5, rounds=1)
    files = (await kept.run()).written
    edit(lambda day: day.entries[0].update(at="x"))(files[2].path)
    before, found = CheckedLink(), []
    for _ in range(4):
        before, wrong, _ = await _check(kept, before, reads=1)
        found.append(bool(wrong))
    # A damaged file is read again each time until it is repaired.
    assert found == [False, False, True, True]
    assert (await _check(kept, before))[1] == wrong
    assert (await _check(kept, CheckedLink()))[1] == []


async def test_the_archive_of_a_new_day_opens_no_file_that_left_redis(kept: Kept) -> None:
    await kept.week(4)
    await kept.run()
    await kept.week(1)
    with opened_files(kept.archive.directory) as opened:
        assert len((await kept.run()).written) == 1
    # The first is the last day that Redis no longer has, the last is the new file.
    assert opened.days == ["2126-11-22", "2126-11-23", "2126-11-24"]
