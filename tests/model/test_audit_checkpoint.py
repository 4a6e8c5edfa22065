"""A service that starts again continues from its audit checkpoint (duties D10, D17, D19)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import pytest
from redis.asyncio import Redis

from meters.audit import claim_audit
from meters.audit.audit_files import AuditCheckpointFile, decode_checkpoint
from meters.audit.link_audit import LinkAudit
from meters.ledger.ledger_replay import AuditCheckpoint, Replay
from meters.ledger.slip_numbers import fold_slip
from meters.store.ledger_mark import LedgerMark
from meters.store.old_entries import keep_texts
from tests.model.kept import Kept
from tests.model.pit import PROGRESSIVE, STRICT, Pit
from tests.model.running import SOON, operating, running
from tests.model.tampering import Fields, move_balance, rewrite
from tests.servers import eventually_async

pytestmark = pytest.mark.duty("D10", "D17")

CLAIM = "pit.T-1-2-1"
ROYAL = "As Ks Qs"


EVERY_ENTRY: Final = replace(SOON, checkpoint_every=1, audited_again=0)
"""The checkpoint is written after each audit with new entries, and old entries are read slowly."""


def _path(data: Path) -> Path:
    return data / "marks" / "pit.audit-checkpoint.json"


async def _audited(pit: Pit, data: Path) -> AuditCheckpoint:
    async with operating(pit, data, pace=EVERY_ENTRY):
        # The start can add an entry. After the last entry's checkpoint, the file changes no more.
        last = (await pit.store.snapshot()).last_entry

        async def written() -> bool:
            state = await _read(pit, data)
            return state is not None and state.checkpoint.entries >= last

        await eventually_async(written, what="the checkpoint")
    return decode_checkpoint(_path(data).read_bytes())


async def _read(pit: Pit, data: Path) -> AuditCheckpoint | None:
    seen = LedgerMark(data, pit.link.id).seen
    return await AuditCheckpointFile(data, pit.link.id).read(pit.store, seen)


@pytest.fixture
def played(keeping_played: Pit) -> Pit:
    """Return a link with a round that is open, a win that waits, and an owed Envy Bonus."""
    return keeping_played


async def test_a_start_replays_only_the_entries_after_the_checkpoint(
    played: Pit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = await _audited(played, tmp_path)
    await played.void(table="T-2", round_id="R3")
    replayed: list[int] = []
    apply_entry = Replay.apply_entry

    def watched(replay: Replay, number: int, *rest: object) -> None:
        replayed.append(number)
        apply_entry(replay, number, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Replay, "apply_entry", watched)
    async with operating(played, tmp_path, pace=EVERY_ENTRY):
        pass
    last = (await played.store.snapshot()).last_entry
    assert replayed[0] == state.checkpoint.entries + 1
    assert replayed[-1] == last
    assert (await played.audit()).problems == ()


async def test_wagers_of_an_open_round_that_were_changed_before_the_start_are_found(
    played: Pit, tmp_path: Path
) -> None:
    """The service would settle the round with the wagers in the changed entry."""
    state = await _audited(played, tmp_path)
    entry = state.checkpoint.tables.rounds["T-2"].entry
    assert entry <= state.checkpoint.entries

    def change(number: int, fields: Fields) -> Fields:
        event = fields[b"event"].replace(b'"position":2', b'"position":5')
        return fields | ({b"event": event} if number == entry else {})

    await rewrite(played, change, chained=False)
    resumed = LinkAudit(played.store, Replay.resumed(state))
    expected = f"table T-2: the wagers of its open round were changed in ledger entry {entry}"
    assert (await resumed.run()).problems == (expected,)


async def test_a_start_finds_again_and_again_what_was_changed_before_it(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """Also if a table has been idle for so long that the ledger has none of its replies."""
    kept = await Kept.opened(keeping_redis, tmp_path)
    await kept.pit.round({3: PROGRESSIVE}, {3: ROYAL}, table="T-2", round_id="idle")
    await kept.week(4, rounds=1)
    await kept.run()
    state = await _audited(kept.pit, tmp_path)
    audit = LinkAudit(kept.pit.store, Replay.resumed(state))
    assert (await audit.run(again=5)).problems == ()
    keys = kept.pit.store.keys
    await kept.pit.redis.hset(keys.repeated_claims, "T-1", "mallory")
    audit = LinkAudit(
        kept.pit.store, Replay.resumed(decode_checkpoint(_path(tmp_path).read_bytes()))
    )
    for _ in range(3):
        assert "mallory" in "".join((await audit.run(again=5)).problems)


async def test_a_win_that_gets_an_earlier_slip_number_back_after_a_start_is_no_problem(
    played: Pit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replay does not know the number, and Redis has it already. A lost one is still found."""
    monkeypatch.setattr(claim_audit, "WHOLE_UP_TO", 0)
    claim, slips = "pit.T-1-2-5", played.store.keys.slips
    await played.pay(claim, "A-1")
    audit = LinkAudit(played.store, Replay.resumed(await _audited(played, tmp_path)))
    for slip, before in ((None, None), ("A-2", "A-1"), ("A-1", "A-2"), ("A-3", "A-1")):
        if slip and before:
            await played.claims.correct_slip(
                claim, "cal", slip=slip, replaces=before, reason="digits swapped"
            )
        assert (await audit.run(again=1)).problems == ()
    await played.redis.hdel(slips, fold_slip("A-2"))
    (problem,) = (await audit.run(again=1)).problems
    assert "is free in Redis" in problem


@pytest.mark.duty("D4", "D15")
@pytest.mark.parametrize("step", ["requested", "rejected", "reopening"])
async def test_requests_of_two_people_are_known_after_a_start(
    keeping_redis: Redis, tmp_path: Path, step: str
) -> None:
    pit = await Pit.opened(keeping_redis, STRICT)
    await pit.round({1: PROGRESSIVE, 2: PROGRESSIVE}, {1: ROYAL, 2: "3h 6s Jc"})
    asked = (await pit.claims.reject(CLAIM, "amy", reason="fouled")).request
    if step != "requested" and asked:
        await pit.claims.confirm(CLAIM, "ben", asked.entry)
    if step == "reopening":
        asked = (await pit.claims.request_reopening(CLAIM, "amy", reason="seen")).request
    state = await _audited(pit, tmp_path)
    assert (CLAIM in state.checkpoint.books.requests, CLAIM in state.checkpoint.books.rejected) == (
        step != "rejected", step != "requested",
    )  # fmt: skip
    if step == "rejected":
        asked = (await pit.claims.request_reopening(CLAIM, "amy", reason="seen")).request
    assert asked is not None
    await pit.claims.confirm(CLAIM, "ben", asked.entry)
    resumed = LinkAudit(pit.store, Replay.resumed(state))
    assert (await resumed.run()).problems == ()
    assert (await pit.audit()).problems == ()


async def test_a_day_that_was_archived_after_the_checkpoint_is_the_one_that_was_closed(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    kept = await Kept.opened(keeping_redis, tmp_path)
    await kept.week(2)
    await kept.play(decide=False)
    state = await _audited(kept.pit, tmp_path)
    await kept.run(live_days=100)
    assert (await LinkAudit(kept.pit.store, Replay.resumed(state)).run()).problems == ()
    day = "2126-11-21"
    assert day in state.closings
    forged = msgspec.structs.replace(state, closings=state.closings | {day: "0" * 64})
    (problem,) = (await LinkAudit(kept.pit.store, Replay.resumed(forged)).run()).problems
    assert "was archived with a state that does not follow" in problem
    assert day not in (await _audited(kept.pit, tmp_path)).closings
    # A checkpoint whose entries were archived and deleted from Redis is of no use. The service ran
    # by the real clock, so the open gaming day is today.
    kept.days.clock.now = max(kept.days.clock.now, datetime.now(UTC))
    await kept.days.keep(timedelta(days=3))
    await kept.run(live_days=0)
    assert await _read(kept.pit, tmp_path) is None
    async with operating(kept.pit, tmp_path, pace=EVERY_ENTRY):
        pass


def _with(state: AuditCheckpoint, **values: object) -> AuditCheckpoint:
    made = msgspec.structs.replace(state.checkpoint, **values)
    return msgspec.structs.replace(state, checkpoint=made)


def _moved(state: AuditCheckpoint, micros: Mapping[str, int]) -> AuditCheckpoint:
    books = state.checkpoint.books
    moved = {name: held + micros.get(name, 0) for name, held in books.balances.items()}
    return _with(state, books=replace(books, balances=moved))


def _of(change: Callable[[AuditCheckpoint], AuditCheckpoint]) -> Callable[[Path], None]:
    def changed(path: Path) -> None:
        # The replies of the tables may be in the first line too.
        path.write_bytes(msgspec.json.encode(change(decode_checkpoint(path.read_bytes()))))

    return changed


@pytest.mark.parametrize(
    "damage",
    [
        Path.unlink,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes().rpartition(b"\n")[0]),
        lambda path: path.write_bytes(b'{"link":"pit"}'),
        _of(lambda state: msgspec.structs.replace(state, link="other")),
        _of(lambda state: _with(state, entries=state.checkpoint.entries + 1)),
        _of(lambda state: _with(state, chain="0" * 40)),
    ],
)
async def test_a_file_that_does_not_fit_is_not_used(
    played: Pit, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """The start then replays all entries, and the file is written again."""
    await _audited(played, tmp_path)
    assert await _read(played, tmp_path) is not None
    damage(_path(tmp_path))
    assert await _read(played, tmp_path) is None
    await played.void(table="T-2", round_id="R3")
    await _audited(played, tmp_path)
    assert await _read(played, tmp_path) is not None


async def test_a_checkpoint_after_the_seal_is_not_used(played: Pit, tmp_path: Path) -> None:
    """The mark of another machine, or of a backup, can have an earlier seal."""
    state = await _audited(played, tmp_path)
    mark = LedgerMark(tmp_path, "pit")
    mark.reset(state.checkpoint.entries - 1, "0" * 40, "0" * 64)
    assert await _read(played, tmp_path) is None


@pytest.mark.duty("D19")
@pytest.mark.parametrize(
    ("key", "was", "becomes"),
    [
        ("rounds", b'"position":2', b'"position":4'),
        ("replies", b"accepted", b"rejected"),
        ("replies", b"#", b"#1"),
        (CLAIM, b'"position":3', b'"position":5'),
        ("pit.T-1-2-2", b"fp-2", b"mallory"),
    ],
    ids=["a round", "a reply", "the entry of a reply", "a claim that waits", "a decided claim"],
)
async def test_what_was_changed_in_redis_before_the_start_is_found_at_the_start(
    played: Pit, tmp_path: Path, key: str, was: bytes, becomes: bytes
) -> None:
    """The checkpoint has the open rounds, the kept replies and the claims."""
    await _audited(played, tmp_path)
    keys = played.store.keys
    name = keys.claim(key) if "." in key else getattr(keys, key)
    if "." not in key and was != b"#":
        await keep_texts(played.store, await played.store.last_entry())
    before = cast("dict[bytes, bytes]", await played.redis.hgetall(name))
    after = {field: text.replace(was, becomes) for field, text in before.items()}
    assert after != before
    await played.redis.hset(name, mapping=cast("dict[Any, Any]", after))
    async with running(played, tmp_path, pace=EVERY_ENTRY) as link:
        assert await link.goes_down("the ledger")
        assert all(b'"operable"' not in payload for _, payload, _ in link.posted)


async def test_a_damaged_digit_in_the_file_stops_nothing(played: Pit, tmp_path: Path) -> None:
    """The first audit finds a difference, and then replays all entries."""
    await _audited(played, tmp_path)

    more = {f"meter:{PROGRESSIVE}": 10_000}
    _of(lambda state: _moved(state, more))(_path(tmp_path))
    async with operating(played, tmp_path, pace=EVERY_ENTRY) as link:
        assert all(b"differ" not in payload for _, payload, _ in link.posted)


async def _change_an_entry(pit: Pit, _: Path) -> str:
    by = {b"by": b"x"}
    await rewrite(pit, lambda number, one: one | (by if number == 5 else {}), chained=False)
    return "entry 5 is not as it was written"


async def _forge_checkpoint_and_balances(pit: Pit, data: Path) -> str:
    """Take a cent off a meter. `pitlink audit` finds it at once."""
    stolen = {f"meter:{PROGRESSIVE}": -100, "house": 100}
    _of(lambda state: _moved(state, stolen))(_path(data))
    for account, micros in stolen.items():
        await move_balance(pit, account, micros)
    assert (await pit.audit()).problems
    return f"meter:{PROGRESSIVE}"


@pytest.mark.duty("D19")
@pytest.mark.parametrize("change", [_change_an_entry, _forge_checkpoint_and_balances])
async def test_what_was_changed_before_the_checkpoint_is_found_when_it_is_read_again(
    played: Pit, tmp_path: Path, change: Callable[[Pit, Path], Awaitable[str]]
) -> None:
    await _audited(played, tmp_path)
    said = await change(played, tmp_path)
    async with operating(played, tmp_path, pace=EVERY_ENTRY) as link:
        link.service.auditing._pace = replace(EVERY_ENTRY, audited_again=7)
        await link.goes_down(said)


async def test_a_checkpoint_that_cannot_be_written_stops_nothing(
    played: Pit, tmp_path: Path
) -> None:
    _path(tmp_path).mkdir(parents=True)
    async with operating(played, tmp_path, pace=EVERY_ENTRY) as link:
        await played.void(table="T-2", round_id="R3")
        sealed = (await played.store.snapshot()).last_entry
        await eventually_async(lambda: link.service.seen.sealed >= sealed, what="the seal")
        assert link.service.problem is None
