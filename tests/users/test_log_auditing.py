"""A running service keeps the mark of the operators' log, and publishes its seal."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

import meters.service.log_auditing
from meters.service.log_auditing import LogAuditing
from meters.users.log_audit import check_log
from meters.users.log_mark import LogMark
from meters.wire import topics
from meters.wire.messages import LedgerSeal
from tests.servers import eventually_async
from tests.users.staff import BY_COMMAND, Register
from tests.users.tampering import Fields, rewrite

pytestmark = pytest.mark.duty("D17")


class Service:
    """Collects what a service's audit of the log records, publishes and shows."""

    def __init__(self, register: Register, data: Path) -> None:
        self.data = data
        self.posted: list[tuple[str, LedgerSeal, bool]] = []
        self.shown: list[bool] = []
        self.connected = True
        self.auditing = LogAuditing(register.redis, LogMark(data), self._post, self.shown.append)

    def _post(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> bool:
        self.connected = not self.connected  # every second time there is no broker
        if not self.connected:
            return False
        self.posted.append((topic, msgspec.json.decode(payload, type=LedgerSeal), retain))
        return True

    async def sealed(self, register: Register) -> None:
        """Wait until the whole log is sealed, here and on the broker."""

        async def is_sealed() -> bool:
            found = await check_log(register.redis, LogMark(self.data).seen)
            seen = LogMark(self.data).seen
            assert found.problems == ()
            return (seen.entries, seen.sealed, seen.seal) == (
                found.entries, found.entries, found.seal,
            )  # fmt: skip

        await eventually_async(is_sealed, what="the seal")

    async def noted(self, register: Register) -> None:
        """Wait until the mark has seen the whole log."""
        count = len(await register.log())
        await eventually_async(
            lambda: LogMark(self.data).seen.entries == count, what="the mark of the last entry"
        )

    async def shows_a_problem(self, what: str) -> None:
        await eventually_async(lambda: self.shown[-1] is False, what=what)


@pytest.fixture
async def service(
    register: Register, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Service]:
    monkeypatch.setattr(meters.service.log_auditing, "MARK_EVERY_S", 0.01)
    monkeypatch.setattr(meters.service.log_auditing, "AUDIT_EVERY_S", 0.02)
    await register.add("Flo")
    service = Service(register, tmp_path)
    task = asyncio.create_task(service.auditing.run())
    yield service
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_seal_is_kept_and_published_outside_redis(
    register: Register, service: Service
) -> None:
    await service.sealed(register)
    await register.sign_in("Flo")
    await service.sealed(register)
    found = await check_log(register.redis)

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


async def test_entry_that_was_rewritten_before_it_was_sealed_is_named(
    register: Register, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two audits only the mark has seen it. It accepts no rewritten log."""
    await service.sealed(register)
    monkeypatch.setattr(meters.service.log_auditing, "AUDIT_EVERY_S", 3_600)
    await register.users.disable("Flo", BY_COMMAND)

    await service.noted(register)
    seen = LogMark(service.data).seen

    def blame(rows: list[Fields]) -> list[Fields]:
        return [*rows[:-1], rows[-1] | {b"by": b"Ada"}, rows[0] | {b"what": b"service_started"}]

    await rewrite(register, blame)

    await service.shows_a_problem("that it was rewritten")
    assert LogMark(service.data).seen == seen
    assert (await check_log(register.redis, seen)).problems


async def test_altered_user_is_shown_and_nothing_more_is_sealed(
    register: Register, service: Service
) -> None:
    await service.sealed(register)
    sealed = LogMark(service.data).seen
    await register.redis.hset(register.keys.user("flo"), "role", "administrator")

    await service.shows_a_problem("that it was altered")
    await register.user_directory.log.note("service_started", by="service")
    count = len(service.shown)

    await eventually_async(lambda: len(service.shown) > count + 2, what="another audit")
    assert service.shown[-1] is False
    seen = LogMark(service.data).seen
    assert (seen.sealed, seen.seal) == (sealed.sealed, sealed.seal)


async def test_what_is_done_while_a_user_is_altered_can_not_be_taken_back(
    register: Register, service: Service
) -> None:
    """The mark advances, so the earlier log is then one that lost entries."""
    await service.sealed(register)
    key = register.keys.user("flo")
    await register.redis.hset(key, "role", "administrator")

    await service.shows_a_problem("that it was altered")
    await register.sign_in("Flo")
    await service.noted(register)
    await rewrite(register, lambda rows: rows[:-1])
    await register.redis.hset(key, "role", "floorperson")
    await register.redis.hdel(key, "signed_in_at")
    found = await check_log(register.redis)
    assert found.problems == ()
    lost = LogMark(service.data).problem(found.entries, LogMark(service.data).seen.entries)
    assert lost is not None
    assert "lost some" in lost


async def test_head_that_was_raised_for_a_while_leaves_no_trace_in_the_mark(
    register: Register, service: Service
) -> None:
    await service.sealed(register)
    entries = len(await register.log())
    await register.redis.hset(register.keys.log_head, "entries", entries + 1_000)

    await service.shows_a_problem("that it was altered")
    await register.redis.hset(register.keys.log_head, "entries", entries)
    await service.sealed(register)
    assert LogMark(service.data).seen.entries == entries


@pytest.mark.parametrize("what", ["a moment", "a number"])
async def test_log_that_can_not_be_read_is_shown(
    register: Register, service: Service, what: str
) -> None:
    """This does not count as a store that failed for a time, which the links report."""
    await service.sealed(register)
    if what == "a number":
        await register.redis.hset(register.keys.log_head, "entries", "many")
    else:
        entry = {"at": "yesterday", "what": "pin_set", "by": "Ada", "about": "Flo", "pin_by": "Ada"}
        number = len(await register.log()) + 1
        await register.redis.xadd(register.keys.log, entry, id=f"{number}-0")  # type: ignore[arg-type]

    await service.shows_a_problem("that it cannot be read")


async def test_log_whose_head_is_gone_is_audited_immediately(
    register: Register, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the head, the mark misses entries that are written and removed again."""
    await service.sealed(register)
    monkeypatch.setattr(meters.service.log_auditing, "AUDIT_EVERY_S", 3_600)
    await register.redis.delete(register.keys.log_head)

    await service.shows_a_problem("that the head is gone")


@pytest.mark.parametrize(
    "key",
    ["log", "log_head", "users", "administrators", "pins_set", "user:flo", "account:flo"],
)
async def test_key_of_another_kind_does_not_blind_the_audit(
    register: Register, service: Service, key: str
) -> None:
    """This is not a failed store, which the links would report."""
    await service.sealed(register)
    keys = register.keys
    which = {"user:flo": keys.user("flo"), "account:flo": keys.account("flo")}
    await register.redis.set(which.get(key) or getattr(keys, key), "x")

    await service.shows_a_problem("that a key is of another kind")
    with pytest.raises(ValueError, match="a key is of another kind"):
        await check_log(register.redis)


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
    "damage",
    [{"role": b"\xff"}, {"role": b"king"}, {"choose_by": b"soon"}, {"name": None}],
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
