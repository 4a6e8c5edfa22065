"""Notes of audits and archive checks, made by the commands, as check and metrics show them."""

import asyncio
import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from meters.archive.archive_days import ArchiveFiles
from meters.audit.audit_files import (
    ARCHIVE_NOTE,
    AUDIT_NOTE,
    WHOLE_AUDIT_NOTE,
    ArchiveNote,
    AuditNote,
    backup_note,
    read_note,
)
from meters.floor.floor_file import parse_floor
from meters.process.clock import now_text
from meters.selfcheck import record_checks
from meters.selfcheck.record_checks import note_checks
from meters.service.service_metrics import Metrics
from meters.store.ledger_mark import LedgerMark
from tests.archive.day_content import edit
from tests.floor_text import floor_text, link_text, section_text
from tests.processes import run_pitlink
from tests.reports.conftest import MakeShop
from tests.reports.shop import Shop

pytestmark = pytest.mark.duty("D17", "D19")


@pytest.fixture
async def shop(make_shop: MakeShop, tmp_path: Path) -> Shop:
    shop: Shop = make_shop("2026-01-17 12:00")
    await shop.open()
    for day in (17, 18, 19):
        await shop.at(f"2026-01-{day} 13:00")
        await shop.round()
    await shop.at("2026-01-20 12:00")
    (tmp_path / "floor.toml").write_text(shop.text)
    await shop.archive()
    return shop


async def _pitlink(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    config = str(home / "floor.toml")
    return await asyncio.to_thread(run_pitlink, *command, "--config", config)


def _metric(shop: Shop, name: str, **labels: str) -> float | None:
    return Metrics(shop.floor).registry.get_sample_value(name, labels)


def _noted(home: Path, name: str) -> AuditNote:
    note = read_note(home / name, AuditNote)
    assert note is not None
    return note


@pytest.mark.slow
async def test_an_audit_says_that_there_is_no_mark(shop: Shop, tmp_path: Path) -> None:
    """This is the case if the floor file is read through a link in another directory."""
    assert json.loads((await _pitlink(tmp_path, "audit", "--json")).stdout)["unmarked"] == ["pit"]
    without = await _pitlink(tmp_path, "audit")
    assert (without.returncode, without.stderr) == (0, "")
    said = "no mark of this ledger is in"
    assert said in without.stdout
    head = (await shop.pit.store.state()).head
    LedgerMark(tmp_path, "pit").note(head.entry, head.chain)
    assert said not in (await _pitlink(tmp_path, "audit")).stdout


@pytest.mark.slow
async def test_the_audit_of_each_night_begins_with_the_last_audited_day(
    shop: Shop, tmp_path: Path
) -> None:
    """The whole audit is recorded separately. Both are in the metrics and in the check."""
    assert _metric(shop, "pitlink_audit_noted_timestamp_seconds", scope="last") == 0
    whole = await _pitlink(tmp_path, "audit", "--json")
    assert (whole.returncode, whole.stderr) == (0, "")
    assert json.loads(whole.stdout)["since_entries"] == {"pit": 1}
    first = _noted(tmp_path, WHOLE_AUDIT_NOTE)
    assert (first.whole, first.problems, first.through) == (True, (), {"pit": "2026-01-19"})

    nightly = await _pitlink(tmp_path, "audit", "--since-last", "--json")
    assert nightly.returncode == 0
    files = ArchiveFiles(tmp_path, "pit").files()
    assert json.loads(nightly.stdout)["since_entries"] == {"pit": files[-1].head.first}
    assert json.loads(nightly.stdout)["seals"] == json.loads(whole.stdout)["seals"]
    assert not _noted(tmp_path, AUDIT_NOTE).whole
    assert _noted(tmp_path, WHOLE_AUDIT_NOTE) == first
    for scope in ("last", "whole"):
        assert _metric(shop, "pitlink_audit_noted_in_order", scope=scope) == 1
    at_s = _metric(shop, "pitlink_audit_noted_timestamp_seconds", scope="whole")
    assert at_s == pytest.approx(first.at_s)
    checked = await _pitlink(tmp_path, "check")
    assert f"ok    last whole audit: {first.at}: all in order" in checked.stdout


@pytest.mark.slow
async def test_an_audit_that_found_something_is_noted_and_the_next_begins_before_it(
    shop: Shop, tmp_path: Path
) -> None:
    assert (await _pitlink(tmp_path, "audit")).returncode == 0
    await shop.at("2026-01-21 12:00")
    await shop.archive()
    accounts = shop.pit.store.keys.accounts
    await shop.pit.redis.hincrby(accounts, "meter:progressive", 1)
    failed = await _pitlink(tmp_path, "audit", "--since-last")
    assert failed.returncode == 1
    note = _noted(tmp_path, AUDIT_NOTE)
    assert any("progressive" in problem for problem in note.problems)
    assert note.through == {"pit": "2026-01-19"}
    assert _metric(shop, "pitlink_audit_noted_in_order", scope="last") == 0
    checked = await _pitlink(tmp_path, "check")
    assert "warn  last audit: " in checked.stdout
    await shop.pit.redis.hincrby(accounts, "meter:progressive", -1)
    again = await _pitlink(tmp_path, "audit", "--since-last", "--json")
    files = {str(file.head.day): file.head.first for file in ArchiveFiles(tmp_path, "pit").files()}
    assert json.loads(again.stdout)["since_entries"] == {"pit": files["2026-01-19"]}
    assert _noted(tmp_path, AUDIT_NOTE).through == {"pit": "2026-01-20"}


@pytest.mark.slow
async def test_the_audit_of_a_night_begins_with_the_first_day_if_no_audit_found_it_correct(
    shop: Shop, tmp_path: Path
) -> None:
    """The first audit found a problem, or the note of the last audit is gone."""
    files = ArchiveFiles(tmp_path, "pit").files()
    edit(lambda day: day.entries[0].update(at="x"))(files[0].path)
    for command in (["audit"], ["audit", "--since-last"], ["audit", "--since-last"]):
        assert (await _pitlink(tmp_path, *command)).returncode == 1
        assert _noted(tmp_path, AUDIT_NOTE).problems
    (tmp_path / AUDIT_NOTE).unlink()
    assert (await _pitlink(tmp_path, "audit", "--since-last")).returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", ["damaged", "lost"])
async def test_a_file_that_is_not_as_it_was_ends_the_archive_with_1_and_is_noted(
    shop: Shop, tmp_path: Path, how: str
) -> None:
    """The message names it and what to do. Check and metrics report it until it is back."""
    good = await _pitlink(tmp_path, "archive")
    assert (good.returncode, good.stderr) == (0, "")
    assert _metric(shop, "pitlink_archive_sound") == 1
    path = ArchiveFiles(tmp_path, "pit").files()[0].path
    copy = path.read_bytes()
    if how == "lost":
        path.unlink()
    else:
        # Files were read completely a day ago.
        note = read_note(tmp_path / ARCHIVE_NOTE, ArchiveNote)
        assert note is not None
        long_ago = msgspec.structs.replace(note, read_at="2026-01-01T00:00:00Z")
        (tmp_path / ARCHIVE_NOTE).write_bytes(msgspec.json.encode(long_ago))
        edit(lambda day: day.entries[0].update(at="x"))(path)
    bad = await _pitlink(tmp_path, "archive")
    assert bad.returncode == 1
    assert "put a copy back (deploy/docs/run/archive.md" in bad.stderr
    assert (str(path) if how == "damaged" else "2026-01-18") in bad.stderr
    note = read_note(tmp_path / ARCHIVE_NOTE, ArchiveNote)
    assert note is not None
    assert len(note.problems) == 1
    assert _metric(shop, "pitlink_archive_sound") == 0
    checked = await _pitlink(tmp_path, "check")
    assert "warn  last check of the archive: " in checked.stdout
    assert "warn  archive of pit: " in checked.stdout
    path.unlink(missing_ok=True)
    path.write_bytes(copy)
    assert (await _pitlink(tmp_path, "archive")).returncode == 0
    assert _metric(shop, "pitlink_archive_sound") == 1
    assert "ok    archive of pit: every file is there" in (await _pitlink(tmp_path, "check")).stdout


async def test_two_ways_to_begin_an_audit_are_one_too_many(shop: Shop, tmp_path: Path) -> None:
    assert shop.pit.link.id == "pit"
    done = await _pitlink(tmp_path, "audit", "--since", "2026-01-18", "--since-last")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_missing_or_old_backup_or_audit_is_a_warning(tmp_path: Path) -> None:
    """Nothing is missing before a service has used the data directory.

    A new floor needs a backup when its first gaming day is closed, archived and audited.
    """
    floor = parse_floor(
        floor_text(
            link_text("pit"),
            section_text("[archive]", directory=tmp_path),
            service={"data": tmp_path},
        )
    )

    def warnings() -> dict[str, str]:
        return {one.what: one.seen for one in note_checks(floor) if one.warns and not one.holds}

    assert warnings() == {}
    LedgerMark(tmp_path, "pit").note(1, "x")
    assert warnings() == {
        "last audit": "none recorded yet: run `pitlink audit`, and look at its timer",
        "last backup": "none recorded yet: make a backup (deploy/docs/run/backup.md)",
    }
    audit = tmp_path / AUDIT_NOTE
    audit.write_bytes(msgspec.json.encode(AuditNote(at=now_text(), whole=False)))
    assert warnings() == {}
    days = {"pit": "2026-01-18"}
    audit.write_bytes(msgspec.json.encode(AuditNote(at=now_text(), whole=False, through=days)))
    assert [*warnings()] == ["last backup"]
    backup = backup_note(tmp_path)
    backup.parent.mkdir()
    backup.touch()
    notes = {
        AUDIT_NOTE: AuditNote(at=now_text(), whole=False),
        WHOLE_AUDIT_NOTE: AuditNote(at=now_text(), whole=True),
        ARCHIVE_NOTE: ArchiveNote(at=now_text(), read_at=now_text(), links={}),
    }
    for name, note in notes.items():
        (tmp_path / name).write_bytes(msgspec.json.encode(note))
    assert warnings() == {}
    then = (datetime.now(UTC) - timedelta(days=40)).timestamp()
    os.utime(backup, (then, then))
    for name, note in notes.items():
        old = msgspec.structs.replace(note, at=datetime.fromtimestamp(then, UTC).isoformat())
        (tmp_path / name).write_bytes(msgspec.json.encode(old))
    assert [*warnings()] == [
        "last audit", "last whole audit", "last backup", "last check of the archive",
    ]  # fmt: skip
    assert "more than 26 hours ago: make a backup" in warnings()["last backup"]


def test_a_note_is_old_when_its_alert_fires() -> None:
    alerts = (Path(__file__).parents[2] / "deploy/prometheus/alerts.yml").read_text()
    for metric, due in (
        ('pitlink_audit_noted_timestamp_seconds{scope="last"}', record_checks.AUDIT_DUE),
        ('pitlink_audit_noted_timestamp_seconds{scope="whole"}', record_checks.WHOLE_AUDIT_DUE),
        ("pitlink_backup_timestamp_seconds", record_checks.BACKUP_DUE),
        ("pitlink_archive_look_timestamp_seconds", record_checks.LOOK_DUE),
    ):
        assert f"time() - (max({metric}) > 0) > {due.total_seconds():.0f}" in alerts
