"""Archive files that an earlier release wrote, as SQLite databases, are used as before."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from meters.archive.archive_days import archived_links
from meters.archive.archiver import ArchiveResult
from meters.archive.day_file import ArchiveError, DayFile
from tests.archive.day_content import DayContent
from tests.model.kept import Kept

pytestmark = pytest.mark.duty("D10", "D17")


async def _upgraded(kept: Kept) -> ArchiveResult:
    """Archive three days; return the run. The first two are as an earlier release wrote them."""
    await kept.week()
    done = await kept.run(live_days=100)
    for file in done.written[:2]:
        DayContent.read(file.path).write_database(file.path)
    return done


async def test_a_file_of_an_earlier_release_has_the_same_content_and_digest(kept: Kept) -> None:
    files = (await _upgraded(kept)).written
    earlier = kept.archive.files()
    assert [file.path.suffix for file in earlier] == [".sqlite", ".sqlite", ".zst"]
    assert archived_links(kept.archive.directory.parent) == {kept.pit.link.id}
    for before, now in zip(earlier, files, strict=True):
        before.verify()
        assert (before.digest, before.head) == (now.digest, now.head)
    days = [(file.day, file.claims(), [*file.entries(3)]) for file in earlier]
    rewritten = [DayFile(file.path) for file in (await _written_again(kept)).written]
    assert [(file.day, file.claims(), [*file.entries(3)]) for file in rewritten] == days
    assert [file.path.suffix for file in rewritten] == [".zst"] * 3


async def _written_again(kept: Kept) -> ArchiveResult:
    for file in kept.archive.files():
        file.path.unlink()
    return await kept.run(live_days=100, lost=True)


async def test_an_archive_of_both_formats_is_audited_trimmed_and_continued(kept: Kept) -> None:
    await _upgraded(kept)
    before = await kept.audit()
    assert before.problems == ()
    await kept.run(live_days=1)
    await kept.week(1)
    assert [file.path.suffix for file in (await kept.run()).written] == [".zst"]
    after = await kept.audit()
    assert (after.problems, after.first) == ((), 1)
    assert after.entries > before.entries


def _statement(sql: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as file, file:
            file.execute(sql)

    return change


def _cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 512)


@pytest.mark.parametrize(
    "damage",
    [
        _statement("UPDATE entry SET by = 'x' WHERE number = (SELECT first FROM day)"),
        _statement("DELETE FROM entry WHERE number = (SELECT last FROM day)"),
        _statement("DELETE FROM claim"),
        _statement("UPDATE day SET digest = 'x'"),
        _statement("UPDATE day SET link = 'other'"),
        _statement("DELETE FROM day"),
        _statement("DROP TABLE claim"),
        _cut_short,
        Path.unlink,
    ],
)
async def test_a_damaged_file_of_an_earlier_release_is_named(
    kept: Kept, damage: Callable[[Path], None]
) -> None:
    await _upgraded(kept)
    damage(kept.archive.path("2126-11-21"))
    live = await kept.live()
    with pytest.raises(ArchiveError, match=r"2126-11-2[12]"):
        await kept.run()
    assert await kept.live() == live
    assert any("2126-11-2" in problem for problem in (await kept.audit()).problems)


async def test_a_day_in_two_files_is_refused(kept: Kept) -> None:
    files = (await _upgraded(kept)).written
    path = kept.archive.files()[0].path
    path.with_name(files[0].path.name).write_bytes(files[2].path.read_bytes())
    with pytest.raises(ArchiveError, match="does not belong here"):
        kept.archive.files()
