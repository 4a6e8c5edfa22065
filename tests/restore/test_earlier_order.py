"""Gaming days that an earlier release archived, with its order of shared contributions."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from redis.asyncio import Redis

from meters.archive.archive_audit import audit_link
from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from meters.books import expected_wagers
from meters.books.expected_transfers import ExpectedBooks, Transfer
from meters.books.ledger_mark import Mark
from meters.restore.ledger_copy import ArchivedLedger
from tests.model.days import A_DAY, Days
from tests.model.test_shared_parameters import HOUSE_FLOOR
from tests.restore.pit import KeptPit

pytestmark = [pytest.mark.duty("D11"), pytest.mark.duty("D19")]

_DAYS = 10


def _fed_by(books: ExpectedBooks, _: Iterable[Transfer]) -> Mapping[str, Sequence[str]]:
    """Return the meters in the order of an earlier release: that in which they were seeded."""
    return {wager: [*books.terms] for meter in books.terms for wager in books.wagers_of(meter)}


@pytest.mark.parametrize("first_run", [1, _DAYS])
@pytest.mark.parametrize("live_days", [1, 7])
async def test_days_of_an_earlier_release_are_audited_and_restored(
    redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first_run: int, live_days: int
) -> None:
    """The first run of `pitlink archive` began with the first entry, and later runs did not."""
    pit = KeptPit(redis, tmp_path, f"{HOUSE_FLOOR}\n[archive]\nlive_days = {live_days}\n")
    days, files = Days(pit), ArchiveFiles(tmp_path / "archive", pit.link.id)
    await days.open()
    await pit.open()
    with monkeypatch.context() as earlier:
        earlier.setattr(expected_wagers, "_fed_by", _fed_by)
        for day in range(1, _DAYS + 2):
            await pit.wagers({1: "keystone_bonus"}, round_id=f"R{day}")
            await days.keep(A_DAY)
            await pit.void(round_id=f"R{day}")
            if day >= first_run:
                await Archiver(pit.store, files, live_days).run(lambda *_: None)
    assert next(iter(files.files()[0].day.closing.rounds["T-1"])).meter == "keystone_mega"
    for since in (None, files.files()[1].head.day, files.files()[-2].head.day):
        found = await audit_link(pit.store, files, Mark(pit.link.id), lambda *_: None, since=since)
        assert found.problems == ()
    assert (await pit.audit()).problems == ()
    await redis.flushall()
    copy = ArchivedLedger(tmp_path / "archive", pit.link.id)
    assert (await pit.restoring(copy, "T-2").run()).finding.problems == ()
