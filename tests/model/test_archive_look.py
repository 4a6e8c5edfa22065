"""The nightly check of an archive names every lost, exchanged or damaged file."""

import pytest

from meters.archive.integrity import check_archive_files
from meters.books.audit_notes import CheckedLink
from tests.archive.day_content import edit
from tests.model.kept import Kept

pytestmark = pytest.mark.duty("D17")


async def _look(
    kept: Kept, before: CheckedLink | None = None, *, reads: int = 7
) -> tuple[CheckedLink, list[str], list[tuple[int, int]]]:
    """Check the archive; return what is remembered, the problems, and the reports of progress."""
    progress: list[tuple[int, int]] = []
    checked, wrong = await check_archive_files(
        kept.pit.store,
        kept.archive,
        before or CheckedLink(),
        lambda done, of: progress.append((done, of)),
        reads=reads,
    )
    return checked, wrong, progress


async def test_an_archive_that_is_whole_is_in_order(kept: Kept) -> None:
    assert await _look(kept) == (CheckedLink(), [], [])
    await kept.week()
    await kept.run()
    checked, wrong, progress = await _look(kept)
    assert (checked.first, checked.read, checked.through) == (1, "2126-11-22", "2126-11-22")
    assert wrong == []
    assert progress == [(1, 3), (2, 3), (3, 3)]
    for file in kept.archive.files():
        file.path.unlink()
    _, (problem,), _ = await _look(kept)
    assert "has no file, and the ledger was archived up to entry" in problem


async def test_a_limited_number_of_files_is_read_each_night_and_all_in_turn(kept: Kept) -> None:
    """The last file is read every night too. The cost is limited, however many years there are."""
    await kept.week(days=5, rounds=1)
    files = (await kept.run()).written
    edit(lambda day: day.entries[0].update(at="x"))(files[2].path)
    before, found = CheckedLink(), []
    for _ in range(4):
        before, wrong, progress = await _look(kept, before, reads=1)
        assert progress[-1][1] <= 3
        found.append(bool(wrong))
    # A damaged file is read again each time until it is repaired.
    assert found == [False, False, True, True]
    assert (await _look(kept, before, reads=0))[1] == wrong
    assert (await _look(kept, reads=0))[1:] == ([], [])
