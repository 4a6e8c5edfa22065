"""Audits of the operators' log that continue from a checkpoint (duty D17)."""

import asyncio
from pathlib import Path
from typing import cast

import msgspec
import pytest
from redis.asyncio import Redis

import meters.service.log_auditing
from meters.service.log_auditing import LogAuditing
from meters.users.log_audit import LogAudit, LogFinding, check_log
from meters.users.log_checkpoint import LogCheckpoint, LogCheckpointFile
from meters.users.log_macs import LogSecrets
from meters.users.log_mark import LogMark
from meters.users.roles import Role
from tests.servers import eventually_async
from tests.users.staff import BY_COMMAND, WRONG, Register, register_with
from tests.users.tampering import Fields, append, rewrite
from tests.users.test_log_macs import FIRST, SECOND, THE_SAME

pytestmark = pytest.mark.duty("D17")


class Audited:
    """A log that an audit found correct, with its mark and its checkpoint."""

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
        return await check_log(self.register.redis, seen, known, self.file.read(seen))


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
    whole, later = await check_log(register.redis, None, THE_SAME), await audited.later()
    assert (whole.problems, later.problems) == ((), ())
    assert (later.entries, later.chain, later.seal) == (whole.entries, whole.chain, whole.seal)
    assert (whole.first, later.first) == (1, kept.entries + 1)


async def test_an_altered_later_entry_is_named(audited: Audited) -> None:
    await audited.register.sign_in("Ada")

    def blame(rows: list[Fields]) -> list[Fields]:
        return [*rows[:-1], rows[-1] | {b"by": b"Eve"}]

    await rewrite(audited.register, blame)
    found = await audited.later()
    assert found.problems
    assert found.first == 1, "after a problem, the whole log is read"


async def test_an_altered_user_is_named(audited: Audited) -> None:
    keys, redis = audited.register.keys, audited.register.redis
    await redis.hset(keys.user("flo"), "role", "administrator")
    assert any("role is 'administrator'" in one for one in (await audited.later()).problems)


async def test_a_wrong_checkpoint_is_no_false_alarm(audited: Audited) -> None:
    """The audit reads the whole log instead."""
    kept = cast("LogCheckpoint", audited.file.read(audited.mark.seen))
    del kept.users["flo"]
    audited.file.write(kept)
    found = await audited.later()
    assert (found.problems, found.first) == ((), 1)


async def test_a_user_who_is_altered_in_redis_and_in_the_checkpoint_is_found(
    audited: Audited,
) -> None:
    """The service reads the old entries again while it runs."""
    keys, redis = audited.register.keys, audited.register.redis
    await redis.hset(keys.user("flo"), "role", "administrator")
    await redis.sadd(keys.administrators, "flo")
    kept = cast("LogCheckpoint", audited.file.read(audited.mark.seen))
    kept.users["flo"].role = "administrator"
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


async def test_a_checkpoint_that_no_seal_confirms_is_not_used(
    audited: Audited, tmp_path: Path
) -> None:
    file = audited.file
    assert file.read(audited.mark.seen)
    assert file.read(LogMark(tmp_path / "other").seen) is None
    path = audited.mark.path.with_name("operators.log-checkpoint.json")
    path.write_bytes(path.read_bytes()[:-9])
    assert file.read(audited.mark.seen) is None
    path.unlink()
    assert file.read(audited.mark.seen) is None


async def test_after_a_renewal_without_the_old_secret_the_whole_log_is_read(
    audited: Audited,
) -> None:
    """Without the old secret, the audit could not see that a MAC is missing."""
    assert (await audited.later(SECOND, FIRST)).first > 1
    assert (await audited.later(SECOND)).first == 1


async def test_a_service_writes_the_checkpoint_and_continues_from_it(
    audited: Audited, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meters.service.log_auditing, "MARK_EVERY_S", 0.01)
    monkeypatch.setattr(meters.service.log_auditing, "AUDIT_EVERY_S", 0.02)
    monkeypatch.setattr(meters.service.log_auditing, "CHECKPOINT_EVERY", 2)
    before = cast("LogCheckpoint", audited.file.read(audited.mark.seen))
    await audited.register.sign_in("Ada")
    await audited.register.sign_in("Ada")
    shown: list[bool] = []
    auditing = LogAuditing(
        audited.register.redis, LogMark(tmp_path), lambda *_, **__: True, shown.append, THE_SAME
    )
    task = asyncio.create_task(auditing.run())

    async def is_written() -> bool:
        kept = audited.file.read(LogMark(tmp_path).seen)
        return kept is not None and kept.entries == before.entries + 2

    await eventually_async(is_written, what="a later checkpoint")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert set(shown) == {True}
