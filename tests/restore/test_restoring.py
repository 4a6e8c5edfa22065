"""A lost store is restored from a copy of its ledger and from its tables' outboxes."""

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis

from controllers.agent.outbox import Outbox, SavedTable
from meters.audit.archive_audit import audit_link
from meters.audit.link_audit import RESTORING, LinkAudit
from meters.ledger.script_steps import Status
from meters.restore import store_writing
from meters.restore.findings import StoreCondition
from meters.restore.link_restore import LinkRestore
from meters.restore.outbox_replay import OutboxReplay
from meters.restore.outboxes import RestoreError, read_outboxes
from meters.store.event_refusals import refused_by_script
from meters.store.floor_file_approval import Configuration
from meters.store.ledger_mark import LedgerMark
from meters.store.link_store import LinkStore
from meters.wire.messages import Reply
from tests.floor_text import table_text
from tests.model.days import Days
from tests.model.pit import BONUS, FIVE_CARD, FLOOR, PROGRESSIVE, RAGS, code, to
from tests.model.running import operating, running
from tests.model.test_asks import confirm, correct, refuse, result, void
from tests.restore.pit import KeptPit
from tests.restore.stores import Copy, Kept, hold_restored, read_store

ROYAL: Final = "As Ks Qs"
STRAIGHT: Final = "9c 8s 7h"
EVERYTHING: Final = f"{PROGRESSIVE} {FIVE_CARD} five_of_six_progressive {BONUS}"
DRAWN: Final = FLOOR.replace(
    'kind = "five_card_hand_bonus"\nwager = 100',
    'kind = "five_card_hand_bonus"\nwager = 100\nmagic_card_every = 1\nlucky_every = 1',
)
"""A draw falls in every round. A second draw would be another card."""

Field = tuple[str, bytes]
Parts = Iterator[list[Field]]


PRIME: Final = table_text(
    "P-1", asset="104213", game="three_card_prime", positions=6,
    paytables={"bad_beat": "B", "pair_bonus": "A", "all_six": "E"},
)  # fmt: skip


@pytest.fixture
async def pit(redis: Redis, tmp_path: Path) -> KeptPit:
    pit = KeptPit(redis, tmp_path, DRAWN)
    await pit.open()
    return pit


async def play(pit: KeptPit, *rounds: int) -> None:
    """Play rounds at both tables in turn: wins, voids, refusals, and one open round."""
    for number in rounds:
        table, name = f"T-{number % 2 + 1}", f"R{number}"
        await pit.wagers({1: EVERYTHING, 4: PROGRESSIVE}, table=table, round_id=name)
        again = await pit.wagers({1: EVERYTHING}, table=table, round_id=f"{name}-again")
        assert code(again) == "round_open"
        if number % 5 == 4:
            assert (await pit.void(table=table, round_id=name)).status == "accepted"
        else:
            hand = ROYAL if number % 3 == 2 else STRAIGHT
            won = await pit.result({1: hand, 4: RAGS}, table=table, round_id=name)
            assert won.status == "accepted"
    wrong = await pit.event("T-1", "wagers", "R-x", positions=[{"position": 9, "wagers": {"x": 1}}])
    assert wrong.status == "refused"
    await pit.wagers({2: EVERYTHING}, table="T-2", round_id=f"open-{rounds[-1]}")
    assert (await pit.audit()).balanced


@pytest.mark.slow
@pytest.mark.duty("D11")
@pytest.mark.parametrize("deleted", [0, 2])
async def test_an_archive_gives_the_store_the_days_that_it_had(pit: KeptPit, deleted: int) -> None:
    """Days that had left Redis stay in the archive alone, whose first days may be missing."""
    pit = KeptPit(pit.redis, pit.home, f"{DRAWN}\n[archive]\nlive_days = 1\n")
    days = Days(pit)
    await days.open()
    for day in range(1, 5):
        await play(pit, 2 * day)
        await pit.void(table="T-2", round_id=f"open-{2 * day}")
        await days.keep(timedelta(days=1))
    await pit.reject_what_waits()
    await pit.archive()
    noted = await pit.redis.hmget(pit.store.keys.meters, ["archived", "archived_at"])
    await play(pit, 9)
    await days.keep(timedelta(days=1))
    await pit.archive()
    await play(pit, 10)
    keys = pit.store.keys
    was, first = await read_store(pit.redis, keys), (await pit.store.entries(0, 1))[0][0]
    assert first > 1
    await pit.note()
    for file in pit.files.files()[:deleted]:
        file.path.unlink()
    restored = await pit.lost_and_restored(pit.archived)
    assert restored.replayed.differing == []
    # The entry that the last day was archived is in no archived day.
    assert restored.found.seen - restored.entries == 1
    made = await read_store(pit.redis, keys)
    assert [made[keys.meters][name] for name in ("archived", "archived_at")] == noted
    assert made[keys.meters]["reading_at"] == was[keys.meters]["reading_at"]
    assert made[keys.accounts] == was[keys.accounts]
    assert made[keys.tallies] == was[keys.tallies]
    assert int(made[keys.checkpoint]["entries"]) < first
    assert all(int(act) > int(made[keys.checkpoint]["entries"]) for act in made[keys.acts])
    assert (await pit.store.entries(0, 1))[0][0] == int(made[keys.checkpoint]["entries"]) + 1
    mark = LedgerMark(pit.home, pit.link.id).seen
    problems = ["the archive begins with 2126-11-22"] if deleted else []
    for again in (False, True):
        found = await audit_link(pit.store, pit.files, mark, lambda *_: None)
        assert [one.partition(",")[0] for one in found.problems] == problems
        if not again:
            assert await pit.archive() == [], "the file is there: it is noted"
            assert (await pit.store.entries(0, 1))[0][0] == first


@pytest.mark.duty("D11")
@pytest.mark.parametrize("older", [False, True], ids=["lost", "an older file"])
@pytest.mark.parametrize("copied", ["nothing", pytest.param("some", marks=pytest.mark.slow), "all"])
async def test_a_store_is_as_it_was_whatever_is_left_of_it(
    pit: KeptPit, copied: str, *, older: bool
) -> None:
    await play(pit, 1)
    file, known = await Kept.of(pit.redis), sum(pit.seq.values())
    await pit.void(table="T-2", round_id="open-1")
    await play(pit, 2, 3)
    copy = await Copy.of(pit.store) if copied == "some" else None
    await pit.void(table="T-2", round_id="open-3")
    await play(pit, 4, 5, 6)
    copy = await Copy.of(pit.store) if copied == "all" else copy
    was, seen = await read_store(pit.redis, pit.store.keys), pit.mark.seen
    await (file.put_back(pit.redis) if older else pit.redis.flushall())
    found, due = await pit.restoring(copy).look()
    assert (found.held.standing is StoreCondition.EMPTY, found.seen, due) == (
        not older, seen.entries, True,
    )  # fmt: skip
    restored = await pit.restoring(copy).run()
    assert restored.finding.problems == ()
    assert (restored.entries, restored.replayed.differing) == (seen.entries, [])
    if older:
        assert restored.found.writes == (copied != "nothing")
    if older and copied == "nothing":
        assert restored.replayed.events == sum(pit.seq.values()) - known
    hold_restored(await read_store(pit.redis, pit.store.keys), was, pit.store.keys)
    assert LedgerMark(pit.home, pit.link.id).seen.entries == seen.entries + 1
    assert not (await pit.restoring(copy).look())[1], "nothing is left to be done"


@pytest.mark.duty("D4")
@pytest.mark.parametrize("copied", [False, True], ids=["outboxes", "archive"])
async def test_a_restore_approves_nothing(pit: KeptPit, *, copied: bool) -> None:
    """People approve a lost link again. Until it is restored, it is still to be restored."""
    await play(pit, 1)
    copy = await Copy.of(pit.store) if copied else None
    await pit.redis.flushall()
    with pytest.raises(RestoreError, match="pit: Redis has no approval of the link"):
        await pit.restoring(copy).run(approved=False)
    assert await read_store(pit.redis, pit.store.keys) == {}, "nothing was done"
    configuration = Configuration(pit.floor, pit.store)
    await configuration.approve("amy", configuration.filed.digest)
    found, due = await pit.restoring(copy).look()
    assert (found.held.standing, due) == (StoreCondition.EMPTY, True)
    restored = await pit.restoring(copy).run(approved=False)
    assert restored.finding.problems == ()
    assert not (await pit.restoring(copy).look())[1]


@pytest.mark.duty("D4", proof=True)
@pytest.mark.parametrize("forged", ["mark", "archive"])
async def test_a_new_link_that_one_person_restores_waits_for_two_people(
    pit: KeptPit, tmp_path: Path, forged: str
) -> None:
    """The restorer could have written its ledger mark, and an archive with approvals."""
    await pit.round({1: PROGRESSIVE}, {1: RAGS})
    new = KeptPit(pit.redis, tmp_path / "new", DRAWN.replace('id = "pit"', 'id = "new"'))
    copy = None
    if forged == "archive":
        await new.open()
        copy = await Copy.of(new.store)
        await pit.redis.delete(*await pit.redis.keys("pitlink:{new}:*"))
    (tmp_path / "marks" / "new.ledger-mark.json").write_text('{"link":"new","entries":9}')
    floor, store = new.floor, LinkStore(pit.redis, new.link)

    async def restore() -> None:
        mark = LedgerMark(tmp_path, "new")
        restoring = LinkRestore(floor, store, mark, copy, {}, without=["T-1", "T-2"])
        found = await restoring.inspect(lambda *_: None)
        assert restoring.is_due(found)
        await restoring.carry_out(found, "tess", lambda *_: None)

    configuration = Configuration(floor, store)
    for person in ("tess", "sue"):
        with pytest.raises(RestoreError, match="new: Redis has no approval"):
            await restore()
        assert not (await store.snapshot()).is_opened
        await configuration.approve(person, configuration.filed.digest)
    await restore()
    assert (await store.snapshot()).is_opened


@pytest.mark.section("649a.11(c)(5)(iv)")
async def test_a_decision_that_was_lost_keeps_no_wagers_out_and_is_made_again(pit: KeptPit) -> None:
    """Wagers accepted after it are accepted again. Then the books hold the table.

    No outbox knows decisions, so the win waits a second time.
    """
    (claim,) = (await pit.round({1: PROGRESSIVE}, {1: ROYAL})).claims or ()
    older = await Kept.of(pit.redis)
    await pit.decide(claim.claim, "validate")
    await pit.decide(claim.claim, "pay")
    await pit.wagers({1: PROGRESSIVE}, table="T-2")
    await pit.round({1: PROGRESSIVE}, {1: RAGS}, round_id="R2")
    restored = await pit.lost_and_restored(older=older)
    assert (restored.replayed.events, restored.replayed.differing) == (3, [])
    await pit.goes_on()
    held = await pit.wagers({1: PROGRESSIVE}, round_id="R3")
    assert code(held) == "held"
    await pit.decide(claim.claim, "validate")
    await pit.decide(claim.claim, "pay")
    assert (await pit.wagers({1: PROGRESSIVE}, round_id="R3")).status == "accepted"
    assert (await pit.audit()).problems == ()


@pytest.mark.duty("D17")
async def test_a_refused_void_waits_again_without_its_cards(pit: KeptPit) -> None:
    """Redis loses the request and its refusal. The table's outbox has both."""
    pit.restart()
    for table in ("T-1", "T-2"):
        await pit.wagers({1: PROGRESSIVE}, table=table)
    older = await Kept.of(pit.redis)
    assert code(await void(pit)) == "unconfirmed"
    await refuse(pit)
    assert code(await void(pit)) == "correction_refused"
    (was,) = await pit.store.table_states(["T-1"])
    restored = await pit.lost_and_restored(older=older)
    assert restored.replayed.differing == []
    assert await pit.store.table_states(["T-1"]) == [was]
    pit.restart()
    assert code(await void(pit, entered=[], confirm=False)) == "unconfirmed"


@pytest.mark.duty("D11")
@pytest.mark.parametrize("kind", ["void", "result", "void without cards", "wager"])
async def test_a_correction_is_applied_again_if_only_its_confirmation_is_kept(
    pit: KeptPit, kind: str
) -> None:
    """The entry of the restore says that corrections before it can lack their confirmation."""
    pit.restart()
    for table in ("T-1", "T-2"):
        await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, table=table)

    async def corrects() -> Reply:
        match kind:
            case "void":
                return await void(pit)
            case "result":
                hands = [
                    {"position": at, "cards": RAGS.split() if at == 1 else [], "folded": at == 2}
                    for at in (1, 2)
                ]
                return await result(pit, positions=hands)
            case "wager":
                return await correct(pit, "take_back", 1, {2: PROGRESSIVE})
            case _:
                return await void(pit, entered=[], confirm=False)

    if kind == "void without cards":
        assert code(await void(pit)) == "unconfirmed"
        await refuse(pit)
        assert code(await void(pit)) == "correction_refused"
    assert code(await corrects()) == "unconfirmed"
    await confirm(pit)
    older = await Kept.of(pit.redis)
    assert code(await corrects()) == "accepted"
    restored = await pit.lost_and_restored(older=older)
    assert restored.replayed.differing == []
    await pit.goes_on()
    assert (await pit.audit()).problems == ()


async def test_lists_of_an_older_file_that_the_archive_has_empty_are_emptied(pit: KeptPit) -> None:
    """A win waited in it and a proposal was open. Both were decided before the day closed."""
    (claim,) = (await pit.round({1: PROGRESSIVE}, {1: ROYAL})).claims or ()
    await pit.link_acts.close(pit.link.id, "sue", "a change")
    raised = to(PROGRESSIVE, "paytable", "B")
    proposed = await pit.link_acts.propose(pit.link.id, "sue", raised)
    older = await Kept.of(pit.redis)
    await pit.link_acts.withdraw(pit.link.id, proposed.proposal, "sue")
    await pit.decide(claim.claim, "reject")
    copy, was = await Copy.of(pit.store), await read_store(pit.redis, pit.store.keys)
    restored = await pit.lost_and_restored(copy, "T-2", older=older)
    assert restored.found.writes
    assert (restored.finding.problems, restored.waiting) == ((), ())
    hold_restored(await read_store(pit.redis, pit.store.keys), was, pit.store.keys)


async def test_an_archive_is_used_only_for_its_own_books_that_lack_something(pit: KeptPit) -> None:
    """A store that is ahead of the archive is left as it is."""
    await play(pit, 1)
    copy = await Copy.of(pit.store)
    await pit.void(table="T-2", round_id="open-1")
    found, due = await pit.restoring(copy).look()
    assert (found.writes, due) == (False, False)
    await pit.redis.flushall()
    await pit.open()
    with pytest.raises(RestoreError, match="is not that of the archive"):
        await pit.restoring(copy).look()


async def test_what_people_decided_since_waits_again_and_is_counted(pit: KeptPit) -> None:
    await play(pit, 2)
    copy = await Copy.of(pit.store)
    waiting = [row.claim for row in await pit.claims.waiting()]
    await pit.decide(waiting[0], "validate")
    await pit.note()
    restored = await pit.lost_and_restored(copy)
    assert restored.found.seen - restored.entries == 1
    assert [fields["state"] for fields in restored.waiting] == ["pending"] * len(waiting)
    assert restored.finding.balanced
    await pit.goes_on()
    assert (await pit.decide(waiting[0], "validate")).state == "validated"


async def test_a_link_that_was_opened_since_is_opened_again(pit: KeptPit) -> None:
    await pit.link_acts.close(pit.link.id, "sue", "shift change")
    copy = await Copy.of(pit.store)
    await pit.link_acts.open(pit.link.id, "tim")
    await play(pit, 1)
    accounts = await pit.accounts()
    restored = await pit.lost_and_restored(copy)
    assert restored.replayed.differing == []
    assert await pit.accounts() == accounts
    acts = await pit.link_acts.acts(pit.link.id, None, 2)
    assert [(act.what, act.by) for act in acts] == [("restore", "tess"), ("open", "tess")]
    assert "wagers were accepted after the link had been closed" in acts[1].told


@pytest.mark.duty("D7")
async def test_what_comes_out_differently_is_reported_and_not_smoothed_over(pit: KeptPit) -> None:
    """Two tables win the meter, and the clocks of the tables show the opposite order."""
    copy = await Copy.of(pit.store)
    for table in ("T-1", "T-2"):
        await pit.wagers({3: PROGRESSIVE}, table=table)
    pit.clock += timedelta(seconds=10)
    first = await pit.result({3: ROYAL}, table="T-2")
    pit.clock -= timedelta(seconds=2)
    second = await pit.result({3: ROYAL}, table="T-1")
    amounts = [(reply.claims or ())[0].amount for reply in (first, second)]
    assert amounts[0] > amounts[1]
    restored = await pit.lost_and_restored(copy)
    assert [(one.table, one.seq) for one in restored.replayed.differing] == [("T-1", 2), ("T-2", 2)]
    assert b'"amount":%d' % amounts[1] in restored.replayed.differing[0].sent
    assert b'"amount":%d' % amounts[0] in restored.replayed.differing[0].now
    assert restored.finding.balanced
    (act,) = await pit.link_acts.acts(pit.link.id, None, 1)
    assert "events with another reply than before: T-1 2, T-2 2" in act.told


THIRD: Final = f"{DRAWN}{table_text('T-3', PROGRESSIVE, asset='104213')}"


@pytest.mark.duty("D11")
async def test_the_events_of_a_table_that_left_the_link_are_not_lost_silently(
    pit: KeptPit, tmp_path: Path
) -> None:
    """They come back with the floor file that had the table on the link."""
    before, after = KeptPit(pit.redis, tmp_path, THIRD), KeptPit(pit.redis, tmp_path, DRAWN)
    await before.open()
    await before.round({1: PROGRESSIVE}, {1: RAGS}, table="T-3", round_id="R1")
    older = await Kept.of(pit.redis)
    await before.round({1: PROGRESSIVE}, {1: ROYAL}, table="T-3", round_id="R2")
    await before.reject_what_waits()
    was = (await pit.store.snapshot()).accounts
    await after.open()
    copy = await Copy.of(after.store)
    await after.lost_and_restored(copy, "T-1", "T-2")
    await older.put_back(pit.redis)
    with pytest.raises(RestoreError, match=r"T-3\.sqlite has events of table T-3 that the ledger"):
        await after.restoring(None, "T-1", "T-2").run()
    await before.restoring(None, "T-1", "T-2").run()
    await before.reject_what_waits()
    await after.open()
    assert (await after.store.snapshot()).accounts == was
    assert (await after.audit()).problems == ()


@pytest.mark.duty("D11")
@pytest.mark.parametrize("copied", [False, True], ids=["backup", "archive"])
async def test_the_outbox_of_a_table_that_left_the_link_is_missed(
    pit: KeptPit, tmp_path: Path, *, copied: bool
) -> None:
    before, after = KeptPit(pit.redis, tmp_path, THIRD), KeptPit(pit.redis, tmp_path, DRAWN)
    await before.open()
    older = await Kept.of(pit.redis)
    copy = await Copy.of(before.store) if copied else None
    await before.round({1: PROGRESSIVE}, {1: RAGS}, table="T-3", round_id="R1")
    await after.open()
    before.outbox_path("T-3").unlink()
    assert not (await after.restoring(copy).look())[1], "nothing is lost yet"
    await (pit.redis.flushall() if copied else older.put_back(pit.redis))
    with pytest.raises(RestoreError, match="the events of table T-3 after 0 are in no outbox"):
        await after.restoring(copy, "T-1", "T-2").run()
    await before.restoring(copy, "T-1", "T-2", "T-3").run()


async def test_a_restore_that_waited_for_its_answer_writes_over_nothing(pit: KeptPit) -> None:
    """Meanwhile, somebody else has restored the link, and the floor plays on."""
    await pit.round({1: PROGRESSIVE}, {1: RAGS}, table="T-1", round_id="R1")
    copy = await Copy.of(pit.store)
    await pit.redis.flushall()
    with read_outboxes([pit.home / "tables"], pit.link.id) as outboxes:
        mark = LedgerMark(pit.home, pit.link.id)
        store = LinkStore(pit.redis, pit.link)
        asked = LinkRestore(pit.floor, store, mark, copy, outboxes, without=["T-2"])
        found = await asked.inspect(lambda *_: None)
        await pit.restoring(copy, "T-2").run()
        await pit.goes_on()
        await pit.round({1: PROGRESSIVE}, {1: RAGS}, table="T-1", round_id="R2")
        was = await read_store(pit.redis, pit.store.keys)
        with pytest.raises(RestoreError, match="pit: Redis has changed since"):
            await asked.carry_out(found, "tess", lambda *_: None)
    assert await read_store(pit.redis, pit.store.keys) == was


@pytest.mark.parametrize("missing", ["lost", "empty", "torn", "seq_reused", "seq_passed"])
async def test_a_missing_outbox_is_reported_and_must_be_declared_lost_by_name(
    pit: KeptPit, missing: str
) -> None:
    copy = await Copy.of(pit.store)
    await play(pit, 1, 2)
    path = pit.outbox_path("T-2")
    if missing == "torn":
        with sqlite3.connect(path) as outbox:
            outbox.execute("DELETE FROM event WHERE seq = 2")
    elif missing in {*Status}:
        # The agent had an older copy of its outbox: the service had another event with this number.
        reply = refused_by_script(2, Status(missing))
        with sqlite3.connect(path) as outbox:
            outbox.execute("UPDATE event SET reply = ? WHERE seq = 2", (reply,))
    else:
        path.unlink()
    if missing == "empty":
        begun = Outbox.open(path, pit.link.id, "T-2")
        begun.go_on_from(4, SavedTable())
        begun.close()
    await pit.redis.flushall()
    with pytest.raises(RestoreError, match=r"T-2: .* are in no outbox that was found"):
        await pit.restoring(copy).run(approved=False)
    assert await read_store(pit.redis, pit.store.keys) == {}, "nothing was done"
    restored = await pit.restoring(copy, "T-2").run()
    assert restored.finding.balanced
    assert restored.found.seen > restored.entries
    (act,) = await pit.link_acts.acts(pit.link.id, None, 1)
    assert act.told.endswith("lost events of these tables were abandoned: T-2")
    states = await pit.store.table_states(["T-1", "T-2"])
    assert [state.last_seq for state in states] == [pit.seq["T-1"], 0]


async def test_an_older_outbox_that_lacks_nothing_after_redis_is_taken_again(
    pit: KeptPit, tmp_path: Path
) -> None:
    """Redis has just the event whose number this outbox used again, and lost a win after it."""
    await pit.round({1: PROGRESSIVE}, {1: RAGS}, round_id="R1")
    path = pit.outbox_path("T-1")
    older = path.read_bytes()
    await pit.wagers({1: PROGRESSIVE}, round_id="R2")
    kept = await Kept.of(pit.redis)
    path.write_bytes(older)
    pit.seq["T-1"] -= 1
    reply = await pit.wagers({2: PROGRESSIVE}, round_id="R2")
    assert code(reply) == "seq_reused"
    await pit.void(round_id="R2")
    await pit.round({1: PROGRESSIVE}, {1: "As Ks Qs"}, round_id="R3")
    before = await pit.accounts()
    restored = await pit.lost_and_restored(None, "T-2", older=kept)
    assert (restored.replayed.events, len(restored.waiting)) == (3, 1)
    assert await pit.accounts() == before


async def test_a_table_without_progressive_wagers_is_missed_by_nobody(
    redis: Redis, tmp_path: Path
) -> None:
    """It sends nothing and has no outbox, so none has to be declared lost."""
    pit = KeptPit(redis, tmp_path, DRAWN + PRIME)
    await pit.open()
    copy = await Copy.of(pit.store)
    await play(pit, 1, 2)
    restored = await pit.lost_and_restored(copy)
    assert {one.table for one in restored.found.tables} == {"T-1", "T-2"}


async def test_an_outbox_of_other_books_in_use_or_damaged_is_refused(
    pit: KeptPit, redis: Redis
) -> None:
    await play(pit, 1, 2)
    path = pit.outbox_path("T-1")
    agent = Outbox.open(path, pit.link.id, "T-1")
    with pytest.raises(RestoreError, match="its agent runs: stop the agent, and start it after"):
        await pit.restoring().look()
    agent.close()
    kept = path.read_bytes()
    last = pit.seq["T-1"]
    with sqlite3.connect(path) as outbox:
        outbox.execute("UPDATE event SET payload = ? WHERE seq = ?", (b"{}", last))
    with pytest.raises(RestoreError, match=f"its event {last} differs from event {last} of table"):
        await pit.restoring().look()
    path.write_bytes(b"no outbox")
    with pytest.raises(RestoreError, match="it is damaged: file is not a database"):
        await pit.restoring().look()
    path.write_bytes(kept)
    path.with_name("copy.sqlite").write_bytes(kept)
    with pytest.raises(RestoreError, match="are both of table T-1"):
        await pit.restoring().look()


async def test_an_outbox_is_read_with_the_journal_of_its_killed_agent(
    pit: KeptPit, tmp_path: Path
) -> None:
    """The outbox and its journal are left unchanged."""
    await play(pit, 1)
    agent = Outbox.open(pit.outbox_path("T-1"), pit.link.id, "T-1")
    agent.write_event(pit.seq["T-1"] + 1, b'{"seq":2}', b"", b"")
    killed = tmp_path / "killed"
    killed.mkdir()
    for path in pit.outbox_path("T-1").parent.glob("T-1.sqlite*"):
        (killed / path.name).write_bytes(path.read_bytes())
    agent.close()
    before = {path.name: path.read_bytes() for path in killed.iterdir()}
    assert before["T-1.sqlite-wal"]
    with read_outboxes([killed], pit.link.id) as outboxes:
        assert outboxes["T-1"].answered == pit.seq["T-1"], "the last is unanswered"
        assert len(list(outboxes["T-1"].after(0))) == pit.seq["T-1"]
        assert outboxes["T-1"].payload(pit.seq["T-1"] + 1) == b'{"seq":2}'
    assert {name: (killed / name).read_bytes() for name in before} == before


async def test_an_interrupted_restoring_opens_no_link_and_is_begun_again(
    keeping_redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pit = KeptPit(keeping_redis, tmp_path, DRAWN)
    await pit.open()
    await play(pit, 1, 2)
    copy = await Copy.of(pit.store)
    await pit.void(table="T-2", round_id="open-2")
    await play(pit, 3)
    was = await read_store(pit.redis, pit.store.keys)
    await pit.redis.flushall()
    copy.fails_at = copy.last
    with pytest.raises(OSError, match="the disk failed"):
        await pit.restoring(copy).run()
    assert (await pit.restoring(copy).look())[0].held.standing is StoreCondition.HALF
    with pytest.raises(RestoreError, match="use the same archive again"):
        await pit.restoring().look()
    # Without its mark, a service would accept any store as complete.
    async with running(pit, tmp_path / "other", adopts=True) as link:
        assert RESTORING in await link.goes_down("pitlink restore")

    async def fails(*_: object) -> None:
        raise OSError("the cable was pulled")

    with monkeypatch.context() as patch:
        patch.setattr(OutboxReplay, "_refuse", fails)
        with pytest.raises(OSError, match="the cable was pulled"):
            await pit.restoring(copy).run()
    assert RESTORING in (await LinkAudit(pit.store).run()).problems
    restored = await pit.restoring(copy).run()
    assert not restored.found.writes, "what was written stands"
    hold_restored(await read_store(pit.redis, pit.store.keys), was, pit.store.keys)
    async with operating(pit, tmp_path) as link:
        pass


async def test_books_without_meters_are_damage_and_no_loss(pit: KeptPit) -> None:
    await play(pit, 1)
    await pit.redis.delete(pit.store.keys.meters)
    with pytest.raises(RestoreError, match="the link but no meters, so the data is damaged"):
        await pit.restoring().look()


async def test_a_store_that_is_written_halfway_is_never_mistaken_for_a_whole_one(
    pit: KeptPit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The meters are written last. If writing stops at any key, the restoring starts again."""
    await play(pit, 1, 2)
    copy = await Copy.of(pit.store)
    was = await read_store(pit.redis, pit.store.keys)
    monkeypatch.setattr(store_writing, "_COMMANDS_AT_ONCE", 1)
    parts = store_writing._parts
    for fails_at in range(1, len(was) - 1):
        await pit.redis.flushall()
        left = iter(range(fails_at))

        def failing(fields: Iterable[Field], size: int, left: Iterator[int] = left) -> Parts:
            if next(left, None) is None:
                raise OSError("the cable was pulled")
            return parts(fields, size)

        with monkeypatch.context() as patch:
            patch.setattr(store_writing, "_parts", failing)
            with pytest.raises(OSError, match="the cable was pulled"):
                await pit.restoring(copy).run()
        assert (await pit.restoring(copy).look())[0].held.standing is StoreCondition.HALF
    await pit.restoring(copy).run()
    hold_restored(await read_store(pit.redis, pit.store.keys), was, pit.store.keys)
