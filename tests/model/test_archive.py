"""Closed gaming days are written to files, read back, and then leave Redis (duties D17, D19)."""

import json
from datetime import date
from pathlib import Path
from typing import cast

import pytest

from meters.archive.archiver import Archiver, delete, expired
from meters.archive.day_file import ArchiveError
from meters.audit.link_audit import LinkAudit
from meters.floor.floor_file import parse_floor
from meters.ledger import claim_evidence
from meters.ledger.claim_evidence import CLAIM_ACTS
from meters.ledger.floor_approvals import HalfApproval
from meters.ledger.ledger_replay import Replay
from meters.ledger.link_state import IndexPart, Snapshot
from meters.ledger.redis_layout import SCHEMA
from meters.store.approval_book import ApprovalBook
from meters.store.floor_file_approval import Configuration
from meters.store.link_store import LinkStore
from meters.wire.messages import EnteredCards
from tests.approving import approve as people_approve
from tests.lua.books import keyspace
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import FLOOR, PROGRESSIVE, RAGS, Pit, to
from tests.model.tampering import rewrite


@pytest.mark.duty("D17")
async def test_closed_days_are_written_and_what_is_older_leaves_redis(kept: Kept) -> None:
    """Three days are closed and one is open. The floor file keeps the last closed day in Redis."""
    await kept.week()
    await kept.play(decide=False)
    whole = await kept.pit.audit()
    before = await kept.pit.store.entries(0, 10_000)
    outcome = await kept.run()
    files = kept.archive.files()
    assert [file.head.day.isoformat() for file in outcome.written] == [
        "2126-11-20", "2126-11-21", "2126-11-22",
    ]  # fmt: skip
    assert [file.path for file in files] == [file.path for file in outcome.written]
    assert (outcome.trimmed_to, outcome.trimmed) == (files[1].head.last, files[1].head.last)
    assert await kept.live() == [*range(files[1].head.last + 1, before[-1][0] + 1 + 3)], (
        "and each day's archiving is an entry"
    )
    written = [entry for file in files for entry in file.entries()]
    assert written == before[: len(written)], "each file has its entries as they were"
    live, spanning = await kept.pit.audit(), await kept.audit()
    for finding in (live, spanning):
        assert (finding.problems, finding.variances) == ((), ())
        assert (finding.totals, finding.meters) == (whole.totals, whole.meters)
    assert live.seal == spanning.seal


@pytest.mark.slow
@pytest.mark.duty("D16")
async def test_decided_wins_leave_with_their_day_and_what_is_looked_at_stays(kept: Kept) -> None:
    """The last 25 wins of each progressive, replies that a table may need, and open claims stay."""
    waits = await kept.play(decide=False)
    await kept.week(1, rounds=28)
    await kept.week(2, rounds=1)
    held = {key for key in await keyspace(kept.pit.redis) if ":claim:" in key}
    files = (await kept.run()).written
    left = {key for key in await keyspace(kept.pit.redis) if ":claim:" in key}
    gone = {key.rpartition(":")[2] for key in held - left}
    assert gone
    paid = {
        json.loads(fields["event"])["claim"]
        for file in files for _, fields in file.entries() if fields["kind"] in CLAIM_ACTS
    }  # fmt: skip
    assert gone <= paid, "none left that is in no file"
    assert kept.pit.store.keys.claim(waits) in left
    closing = files[-1].day.closing
    assert {claim.rpartition(":")[2] for claim in left} >= closing.claims.keys()
    index = cast("list[bytes]", await kept.pit.redis.zrange(kept.pit.store.keys.wins, 0, -1))
    wins = [win.decode() for win in index]
    assert not [win for win in wins if win.rpartition(":")[2] in gone]
    assert len([win for win in wins if win.startswith(f"{PROGRESSIVE}!")]) >= 25
    assert (await kept.pit.decide(waits, "validate")).state == "validated"
    assert (await kept.audit()).balanced


async def test_a_running_audit_continues_when_the_beginning_leaves(kept: Kept) -> None:
    """It reads what it has already covered again, from the checkpoint."""
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
    assert await configuration.unapproved() is None
    await kept.pit.redis.hset(kept.pit.store.keys.approved, "by", "somebody")
    forged = Configuration(kept.pit.floor, kept.pit.store)
    assert "is not the one in ledger entry" in (await forged.problem() or "")


@pytest.mark.duty("D12")
async def test_a_link_whose_parameters_two_people_have_changed_is_archived(kept: Kept) -> None:
    """The terms in the floor file may differ from those in the store for years."""
    await kept.week()
    pit = kept.pit
    await pit.link_acts.close(pit.link.id, "Sue", "a limit")
    await pit.change(to(PROGRESSIVE, "limit", 50_000_000))
    as_filed = LinkStore(pit.redis, pit.floor.link[0])
    outcome = await Archiver(as_filed, kept.archive, 1).run(lambda _, __: None)
    assert (len(outcome.written), outcome.trimmed > 0) == (3, True)
    assert (await kept.audit()).balanced


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
    assert (await kept.audit()).problems == (), "a file may be there that is not noted yet"
    await kept.run()
    files = kept.archive.files()
    assert len(files) == 3
    assert (await kept.live())[0] == files[1].head.last + 1
    assert (await kept.audit()).totals == whole.totals
    assert {path.suffix for path in kept.archive.directory.iterdir()} == {".zst", ".json"}


@pytest.mark.duty("D17")
@pytest.mark.parametrize("why", ["the ledger does not hold", "another release", "a full disk"])
async def test_what_cannot_be_archived_is_neither_archived_nor_trimmed(
    kept: Kept, tmp_path: Path, why: str
) -> None:
    await kept.week()
    if why == "the ledger does not hold":
        said = r"has a problem, so the next gaming day was not archived, .* entry 4"
        await rewrite(
            kept.pit, lambda number, fields: fields | ({b"by": b"x"} if number == 4 else {}),
            chained=False,
        )  # fmt: skip
    elif why == "another release":
        said = "another release wrote it"
        await kept.pit.redis.hset(kept.pit.store.keys.meters, "schema", str(SCHEMA + 1))
    else:
        said = "cannot be written"
        (tmp_path / "archive").write_text("a file where the directory should be")
    before = await kept.live()
    with pytest.raises(ArchiveError, match=said):
        await kept.run()
    assert await kept.live() == before
    assert why == "a full disk" or kept.archive.files() == []


async def test_files_are_deleted_only_when_kept_long_enough_and_the_ledger_says_so(
    kept: Kept,
) -> None:
    """The rest is audited from the opening balances in the first remaining file."""
    await kept.week(4)
    whole = (await kept.pit.audit()).totals
    await kept.run()
    assert expired(kept.archive, date(2133, 11, 20), 7) == []
    old = expired(kept.archive, date(2133, 11, 22), 7)
    assert [file.head.day.isoformat() for file in old] == ["2126-11-20", "2126-11-21"]
    assert len(expired(kept.archive, date(2196, 2, 29), 1)) == 3, "never the last"
    with pytest.raises(ArchiveError, match="Redis still has entries of this file"):
        await delete(kept.pit.store, kept.archive.files()[:4])
    assert len(kept.archive.files()) == 4
    await delete(kept.pit.store, old)
    assert [file.head.day.isoformat() for file in kept.archive.files()] == [
        "2126-11-22", "2126-11-23",
    ]  # fmt: skip
    finding = await kept.audit()
    assert (finding.problems, finding.totals) == ((), whole)
    kept.archive.files()[0].path.unlink()
    finding = await kept.audit()
    assert any("earlier days are missing" in problem for problem in finding.problems)


@pytest.mark.duty("D17")
async def test_a_round_that_is_open_at_the_close_can_win_after_it(kept: Kept) -> None:
    """The wagers are archived and trimmed, so an audit from here on has only the result."""
    pit = kept.pit
    await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, table="T-1")
    await pit.wagers({1: PROGRESSIVE}, table="T-2")
    await kept.days.keep(A_DAY)
    await kept.run(live_days=0)
    await pit.result({1: "As Ks Qs", 2: RAGS}, table="T-1")
    # The hand without a wager brings an Envy Bonus, which is owed without a win.
    await pit.result({1: RAGS, 4: "As Ks Qs"}, table="T-2", dealer="2c 7d 9h")
    assert len(await pit.claims.waiting()) == 2
    assert (await pit.audit()).problems == ()


@pytest.mark.duty("D4")
async def test_an_approval_that_is_archived_and_lost_in_redis_is_known_by_the_checkpoint(
    kept: Kept,
) -> None:
    """So people who approve again do not forget which tables the link had."""
    await kept.week()
    await kept.run()
    store = kept.pit.store
    without = parse_floor(FLOOR.rpartition("[[link.table]]")[0])
    assert (await kept.live())[0] > 1
    await store.redis.delete(store.keys.approved)
    await people_approve(Configuration(without, store))
    approved = await ApprovalBook(store).current()
    assert approved is not None
    assert approved.left.keys() == {"table T-2", "asset 104212"}
    assert (await kept.pit.audit()).problems == ()


@pytest.fixture
def one_win_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Redis keep the last win of each meter, besides those that a table may ask for."""
    monkeypatch.setattr(claim_evidence, "WINS_KEPT", 1)


class _KilledError(Exception):
    pass


async def _killed(*_: object) -> None:
    raise _KilledError


@pytest.mark.usefixtures("one_win_stays")
async def test_wins_that_redis_has_not_forgotten_yet_are_no_problem(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive was killed after it had trimmed the ledger, or works while an audit reads."""
    store, wins = kept.pit.store, kept.pit.store.keys.wins
    await kept.week(2, rounds=20)
    await kept.week(1, rounds=1)
    with monkeypatch.context() as patch:
        patch.setattr(Archiver, "_forget_wins", _killed)
        with pytest.raises(_KilledError):
            await kept.run()
    before = await store.redis.zcard(wins)
    assert (await kept.pit.audit()).problems == ()
    await kept.run()
    assert await store.redis.zcard(wins) < before
    await kept.week(1, rounds=20)
    await kept.week(1, rounds=1)
    snapshot, audit = store.snapshot, LinkAudit(store)

    async def archived_after(*, indexes: bool, part: IndexPart | None) -> Snapshot:
        taken = await snapshot(indexes=indexes, part=part)
        await kept.run()
        return taken

    with monkeypatch.context() as patch:
        patch.setattr(store, "snapshot", archived_after)
        assert (await audit.run()).problems == ()
    assert (await kept.audit()).problems == ()


@pytest.mark.usefixtures("one_win_stays")
async def test_a_win_of_an_earlier_day_stays_when_it_is_decided_or_corrected_later(
    kept: Kept,
) -> None:
    """Only a later checkpoint can let Redis forget it: every audit begins with the last one."""
    pit = kept.pit
    hands = {1: RAGS, 3: "As Ks Qs", 5: "2h 5c 9d"}
    await pit.round({1: PROGRESSIVE, 5: PROGRESSIVE}, hands, round_id="envy")
    (envy,) = await pit.claims.waiting()
    won = await pit.round(
        {3: PROGRESSIVE}, {3: "As Ks Qs"}, community="2d 3c", round_id="won", table="T-2"
    )
    (claim,) = won.claims or ()
    await pit.pay(claim.claim, "A-1")
    await kept.week(3, rounds=1)
    await kept.run()
    await pit.claims.correct_slip(claim.claim, "cal", slip="B-1", replaces="A-1", reason="digits")
    for _ in range(20):
        await kept.play()
    await pit.pay_envy(envy.claim)
    await kept.run()
    assert (await pit.audit()).problems == ()
    for _ in range(3):
        await kept.week(1, rounds=1)
        assert len((await kept.run()).written) == 1
    assert (await pit.audit()).problems == (await kept.audit()).problems == ()


@pytest.mark.usefixtures("one_win_stays")
async def test_wins_of_a_table_that_left_stay_while_its_list_names_them(kept: Kept) -> None:
    """The service that goes on and the archive come to the same state at each close."""
    running = LinkAudit(kept.pit.store)
    await kept.week(1, rounds=20)
    await kept.pit.round({3: PROGRESSIVE}, {3: RAGS}, table="T-2", round_id="last")
    assert (await running.run(again=20)).problems == ()
    pit = Pit(kept.pit.redis, FLOOR.replace('id = "T-1"', 'id = "T-8"').replace("104211", "8"))
    await people_approve(Configuration(pit.floor, pit.store))
    await kept.days.keep(A_DAY)
    for _ in range(3):
        await kept.days.keep(A_DAY)
        await Archiver(pit.store, kept.archive, 1).run(lambda *_: None)
        assert (await running.run(again=2_000)).problems == ()


async def test_a_replay_from_a_checkpoint_has_what_two_people_have_half_done(kept: Kept) -> None:
    """The first of two approvals, and cards that a dealer entered in a round that is open."""
    await kept.week()
    replay = Replay()
    for number, fields in await kept.pit.store.entries(0, 1_000):
        replay.apply_entry(number, fields)
    replay._half = HalfApproval("d", "", "amy", ("a change",))
    replay.tables.known["T-1"] = (EnteredCards(what="hand", position=1, cards=["As", "Ks"]),)
    again = Replay.after(replay.checkpoint)
    assert (again._half, again.tables.known) == (replay._half, replay.tables.known)
    assert again.closing_digest == replay.closing_digest
