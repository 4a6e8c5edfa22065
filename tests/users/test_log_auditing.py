"""A running service keeps the mark of the operators' log, and publishes its seal."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Self, cast

import msgspec
import pytest
from redis.asyncio import Redis

from meters.floor.roles import Role
from meters.service.log_auditing import LogAuditing
from meters.service.pace import Pace
from meters.users.log_audit import LogAudit, LogCheckpoint, LogCheckpointFile, LogFinding, LogMark
from meters.users.log_macs import LogSecrets
from meters.wire import topics
from meters.wire.messages import LedgerSeal
from tests.servers import eventually_async
from tests.users.staff import BY_COMMAND, WRONG, Register, register_with
from tests.users.tampering import Fields, append, rewrite
from tests.users.test_log_macs import FIRST, SECOND, THE_SAME

pytestmark = pytest.mark.duty("D17")


SOON: Final = Pace(mark_every_s=0.01, audit_every_s=0.02, checkpoint_every=2)


class Service:
    def __init__(self, register: Register, data: Path, secrets: LogSecrets | None = None) -> None:
        self.data = data
        self.posted: list[tuple[str, LedgerSeal, bool]] = []
        self.shown: list[bool] = []
        self.connected = True
        self.auditing = LogAuditing(
            register.redis, LogMark(data), self._post, self.shown.append, secrets, pace=SOON
        )

    def _post(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> bool:
        self.connected = not self.connected  # every second time there is no broker
        if not self.connected:
            return False
        self.posted.append((topic, msgspec.json.decode(payload, type=LedgerSeal), retain))
        return True

    async def sealed(self, register: Register) -> None:
        async def is_sealed() -> bool:
            found = await LogAudit(register.redis).run(LogMark(self.data).seen)
            seen = LogMark(self.data).seen
            assert found.problems == ()
            return (seen.entries, seen.sealed, seen.seal) == (
                found.entries, found.entries, found.seal,
            )  # fmt: skip

        await eventually_async(is_sealed, what="the seal")

    async def noted(self, register: Register) -> None:
        count = len(await register.log())
        await eventually_async(
            lambda: LogMark(self.data).seen.entries == count, what="the mark of the last entry"
        )

    async def shows_a_problem(self, what: str) -> None:
        await eventually_async(lambda: self.shown[-1] is False, what=what)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        task = asyncio.create_task(self.auditing.run())
        yield self
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.fixture
async def service(register: Register, tmp_path: Path) -> AsyncIterator[Service]:
    await register.add("Flo")
    async with Service(register, tmp_path).running() as service:
        yield service


async def test_seal_is_kept_and_published_outside_redis(
    register: Register, service: Service
) -> None:
    await service.sealed(register)
    await register.sign_in("Flo")
    await service.sealed(register)
    found = await LogAudit(register.redis).run()

    await eventually_async(
        lambda: service.posted and service.posted[-1][1].entries == found.entries,
        what="the seal on the broker",
    )
    shown = LogMark(service.data).log_seal
    assert (shown.sealed_entry, shown.seal) == (found.entries, found.seal)
    topic, seal, retained = service.posted[-1]
    assert (topic, retained) == (topics.OPERATORS_LOG, True)
    assert (seal.entries, seal.seal) == (found.entries, found.seal)
    assert set(service.shown) == {True}


def blame(rows: list[Fields]) -> list[Fields]:
    return [*rows[:-1], rows[-1] | {b"by": b"Eve"}]


async def test_entry_that_was_rewritten_before_it_was_sealed_is_named(
    register: Register, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two audits only the mark has seen it. It accepts no rewritten log."""
    await service.sealed(register)
    service.auditing._pace = replace(SOON, audit_every_s=3_600.0)
    await register.users.disable("Flo", BY_COMMAND)

    await service.noted(register)
    seen = LogMark(service.data).seen
    await rewrite(register, lambda rows: [*blame(rows), rows[0] | {b"what": b"service_started"}])

    await service.shows_a_problem("that it was rewritten")
    assert LogMark(service.data).seen == seen
    assert (await LogAudit(register.redis).run(seen)).problems


async def test_altered_user_is_shown_and_nothing_more_is_sealed_or_taken_back(
    register: Register, service: Service
) -> None:
    """The mark advances, so the earlier log is then one that lost entries."""
    await service.sealed(register)
    sealed, key = LogMark(service.data).seen, register.keys.user("flo")
    await register.redis.hset(key, "role", "administrator")

    await service.shows_a_problem("that it was altered")
    await register.sign_in("Flo")
    await service.noted(register)
    count = len(service.shown)

    await eventually_async(lambda: len(service.shown) > count + 2, what="another audit")
    assert service.shown[-1] is False
    seen = LogMark(service.data).seen
    assert (seen.sealed, seen.seal) == (sealed.sealed, sealed.seal)
    await rewrite(register, lambda rows: rows[:-1])
    await register.redis.hset(key, "role", "floorperson")
    await register.redis.hdel(key, "signed_in_at")
    found = await LogAudit(register.redis).run()
    assert found.problems == ()
    lost = LogMark(service.data).problem(found.entries, LogMark(service.data).seen.entries)
    assert lost is not None
    assert "lost some" in lost


@pytest.mark.parametrize(
    "key", ["log", "log_head", "users", "administrators", "pins_set", "user:flo", "account:flo"]
)
async def test_key_of_another_kind_does_not_blind_the_audit(register: Register, key: str) -> None:
    await register.add("Flo")
    keys = register.keys
    which = {"user:flo": keys.user("flo"), "account:flo": keys.account("flo")}
    await register.redis.set(which.get(key) or getattr(keys, key), "x")
    with pytest.raises(ValueError, match="a Redis key has a wrong data type"):
        await LogAudit(register.redis).run()


async def test_what_cannot_be_read_is_shown_at_once_and_leaves_no_trace_in_the_mark(
    register: Register, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This is no store that failed for a time, which the links report. It is audited immediately.

    Without the head, the mark would miss entries that are written and removed again.
    """
    await service.sealed(register)
    redis, keys, number = register.redis, register.keys, len(await register.log()) + 1
    late = {"at": "yesterday", "what": "pin_set", "by": "Ada", "about": "Flo", "pin_by": "Ada"}
    head = cast("dict[str, bytes]", await redis.hgetall(keys.log_head))
    log = await redis.dump(keys.log)
    assert log is not None
    damages: dict[str, Callable[[], Awaitable[object]]] = {
        "the head counts more entries": lambda: redis.hset(keys.log_head, "entries", number + 999),
        "the head has no number": lambda: redis.hset(keys.log_head, "entries", "many"),
        "an entry has no moment": lambda: redis.xadd(keys.log, late, id=f"{number}-0"),  # type: ignore[arg-type]
        "the log is of another kind": lambda: redis.set(keys.log, "x"),
    }
    for what, damage in damages.items():
        await damage()
        await service.shows_a_problem(what)
        await redis.restore(keys.log, 0, log, replace=True)
        await redis.hset(keys.log_head, mapping=head)  # type: ignore[arg-type]
        await eventually_async(lambda: service.shown[-1], what=f"the end of the problem: {what}")
        await service.sealed(register)
        assert LogMark(service.data).seen.entries == number - 1
    service.auditing._pace = replace(SOON, audit_every_s=3_600.0)
    await redis.delete(keys.log_head)
    await service.shows_a_problem("the head is gone")


@pytest.mark.parametrize(
    "junk",
    [
        {"what": "sign_in"}, {"what": "danced", "at": "2026-11-20T02:14:07Z"}, {b"\xff": b"\xff"},
        {"at": "yesterday"}, {"more": "x"},
    ],
)  # fmt: skip
@pytest.mark.duty("D17")
async def test_an_entry_that_cannot_be_read_hides_no_other(
    register: Register, junk: dict[str | bytes, str | bytes]
) -> None:
    await register.add("Flo")
    before = await register.user_directory.log.page(None, 10)
    whole: dict[str | bytes, str | bytes] = {
        "at": "2026-11-20T02:14:07Z", "what": "sign_out", "by": "Flo", "about": "Flo", "client": "",
    }  # fmt: skip
    entry = junk if set(junk) == {"what"} else whole | junk
    await register.redis.xadd(register.keys.log, entry, id=f"{len(before) + 1}-0")  # type: ignore[arg-type]
    await register.redis.zadd(register.keys.account("flo"), {str(len(before) + 1): len(before) + 1})
    unreadable, *others = await register.user_directory.log.page(None, 10)
    assert (unreadable.entry, unreadable.what, unreadable.by) == (len(before) + 1, "unreadable", "")
    assert others == before
    assert (await register.user_directory.log.of_account("Flo", 10))[1:] == before


@pytest.mark.parametrize(
    "damage", [{"role": b"\xff"}, {"role": b"king"}, {"choose_by": b"soon"}, {"name": None}]
)
async def test_a_user_that_cannot_be_read_hides_no_other(
    register: Register, damage: dict[str, bytes | None]
) -> None:
    for name in ("Ann", "Flo"):
        await register.add(name)
    ((field, value),) = damage.items()
    if value is None:
        await register.redis.hdel(register.keys.user("ann"), field)
    else:
        await register.redis.hset(register.keys.user("ann"), field, value)
    assert [row.name for row in await register.users.rows()] == ["Flo"]


class Audited:
    def __init__(self, register: Register, data: Path) -> None:
        self.register = register
        self.mark = LogMark(data)
        self.file = LogCheckpointFile(self.mark.path)

    async def keep(self, secrets: LogSecrets = THE_SAME) -> LogCheckpoint:
        audit = LogAudit(self.register.redis, secrets)
        finding = await audit.run()
        assert finding.problems == ()
        self.mark.note(finding.entries, finding.chain)
        self.mark.note_seal(finding.entries, finding.seal)
        kept = audit.checkpoint
        assert kept is not None
        self.file.write(kept)
        return kept

    async def later(self, *secrets: str) -> LogFinding:
        known = LogSecrets(lambda: secrets or (FIRST,))
        seen = self.mark.seen
        return await LogAudit(self.register.redis, known, self.file.read(seen)).run(seen)


@pytest.fixture
async def audited(redis: Redis, tmp_path: Path) -> Audited:
    register = register_with(redis, FIRST)
    await register.add("Ada", Role.ADMINISTRATOR)
    await register.add("Flo")
    await register.users.set_pin("Flo", WRONG, BY_COMMAND)
    await register.sign_in("Ada")
    audited = Audited(register, tmp_path)
    await audited.keep()
    return audited


async def test_an_audit_from_the_checkpoint_finds_what_a_whole_one_finds(audited: Audited) -> None:
    register = audited.register
    kept = await audited.keep()
    token = (await register.sign_in("Ada")).token
    await register.sign_in("Ada", old=token)
    await register.users.disable("Flo", BY_COMMAND)
    whole, later = await LogAudit(register.redis, THE_SAME).run(), await audited.later()
    assert (whole.problems, later.problems) == ((), ())
    assert (later.entries, later.chain, later.seal) == (whole.entries, whole.chain, whole.seal)
    assert (whole.first, later.first) == (1, kept.entries + 1)


async def test_an_altered_later_entry_is_named(audited: Audited) -> None:
    await audited.register.sign_in("Ada")
    await rewrite(audited.register, blame)
    found = await audited.later()
    assert found.problems
    assert found.first == 1, "after a problem, the whole log is read"


async def test_a_wrong_checkpoint_is_no_false_alarm(audited: Audited) -> None:
    """The audit reads the whole log instead."""
    kept = cast("LogCheckpoint", audited.file.read(audited.mark.seen))
    del kept.due.users["flo"]
    audited.file.write(kept)
    found = await audited.later()
    assert (found.problems, found.first) == ((), 1)


async def test_an_altered_user_is_named_also_if_the_checkpoint_is_altered_too(
    audited: Audited,
) -> None:
    """The service reads the old entries again while it runs."""
    keys, redis = audited.register.keys, audited.register.redis
    await redis.hset(keys.user("flo"), "role", "administrator")
    assert any("role is 'administrator'" in one for one in (await audited.later()).problems)
    await redis.sadd(keys.administrators, "flo")
    kept = cast("LogCheckpoint", audited.file.read(audited.mark.seen))
    kept.due.users["flo"].role = "administrator"
    audit = LogAudit(redis, THE_SAME, kept)
    assert (await audit.run(audited.mark.seen)).problems == ()
    found = await audit.run(audited.mark.seen, again=100)
    assert any("role is 'administrator'" in one for one in found.problems)


@pytest.mark.parametrize("checked", [True, False])
async def test_an_entry_without_a_mac_is_named_after_a_checkpoint(
    audited: Audited, *, checked: bool
) -> None:
    """A checkpoint that says that no MAC was checked is not used."""
    if not checked:
        kept = cast("LogCheckpoint", audited.file.read(audited.mark.seen))
        audited.file.write(msgspec.structs.replace(kept, mac_checked=""))
    sign_out = {b"what": b"sign_out", b"by": b"Ada", b"about": b"Ada", b"client": b""}
    await append(audited.register, {b"at": b"2026-11-26T02:14:07.250Z"} | sign_out)
    assert any("no MAC" in problem for problem in (await audited.later()).problems)


async def test_a_checkpoint_that_no_seal_confirms_or_of_another_secret_is_not_used(
    audited: Audited, tmp_path: Path
) -> None:
    """Without the old secret, the audit could not see that a MAC is missing."""
    assert (await audited.later(SECOND, FIRST)).first > 1
    assert (await audited.later(SECOND)).first == 1
    file = audited.file
    assert file.read(audited.mark.seen)
    assert file.read(LogMark(tmp_path / "other").seen) is None
    path = audited.mark.path.with_name("operators.log-checkpoint.json")
    path.write_bytes(path.read_bytes()[:-9])
    assert file.read(audited.mark.seen) is None
    path.unlink()
    assert file.read(audited.mark.seen) is None


async def test_a_service_writes_the_checkpoint_and_continues_from_it(
    audited: Audited, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cast("LogCheckpoint", audited.file.read(audited.mark.seen))
    await audited.register.sign_in("Ada")
    await audited.register.sign_in("Ada")

    async def is_written() -> bool:
        kept = audited.file.read(LogMark(tmp_path).seen)
        return kept is not None and kept.entries == before.entries + 2

    async with Service(audited.register, tmp_path, THE_SAME).running() as service:
        await eventually_async(is_written, what="a later checkpoint")
    assert set(service.shown) == {True}
