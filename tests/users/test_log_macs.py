"""Entries of the operators' log that no service wrote, although their digests are correct.

Everything is done with the Redis password for users, and without the secrets of the services'
bundles.
"""

import asyncio
import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, cast

import pytest
from redis.asyncio import Redis

import meters.users
from bonus.errors import UserError
from meters.floor.roles import Role
from meters.ledger.chain import link_entry
from meters.ledger.checkpoint import Mark
from meters.users.log_audit import PROBLEMS_MAX, LogAudit, LogFinding, LogMark
from meters.users.log_macs import LogSecrets
from meters.users.sign_in_attempts import Caller
from meters.users.user_store import UsersError
from tests.users.staff import BY_COMMAND, PIN, WRONG, Register, register_with
from tests.users.tampering import (
    Entry,
    Fields,
    append,
    entries,
    forge_administrator,
    replace_log,
    truncate,
)

FIRST, SECOND = "first-" + "a" * 40, "second-" + "b" * 40
THE_SAME = LogSecrets(lambda: [FIRST])

pytestmark = pytest.mark.duty("D17")


@pytest.fixture
async def staffed(redis: Redis) -> Register:
    register = register_with(redis, FIRST)
    await register.add("Ada", Role.ADMINISTRATOR)
    await register.add("Flo")
    await register.users.set_pin("Flo", WRONG, BY_COMMAND)
    await register.users.set_pin("Flo", PIN, BY_COMMAND, own=True)
    await register.sign_in("Flo")
    assert await problems(register) == ()
    return register


async def found(register: Register, *secrets: str, seen: Mark | None = None) -> LogFinding:
    return await LogAudit(register.redis, LogSecrets(lambda: secrets or (FIRST,))).run(seen)


async def problems(register: Register, *secrets: str, seen: Mark | None = None) -> tuple[str, ...]:
    return (await found(register, *secrets, seen=seen)).problems


async def something_of_everything(register: Register) -> int:
    """Have each script that writes the log write an entry; return the number of entries."""
    users, sessions = register.users, register.sessions
    await register.add("Ada", Role.ADMINISTRATOR)
    await register.add("Flo")
    for _ in range(4):
        await register.refused("Flo")
    assert await register.refused("Flo") == "locked_out"
    await users.unlock("Flo", BY_COMMAND)
    opened = await register.sign_in("Flo")
    await sessions.choose_pin(opened.token, opened.person, PIN, WRONG, Caller("::1"))
    opened = await register.sign_in("Flo", WRONG, old=opened.token)
    await register.user_directory.log.note("slip_printed", by="Flo", about="c1", client="::1")
    await sessions.sign_out(opened.token, "::1")
    await users.disable("Flo", BY_COMMAND)
    await users.enable("Flo", BY_COMMAND)
    await users.set_pin("Flo", PIN, BY_COMMAND)
    return len(await register.log())


STARTED: Final = {b"at": b"x", b"what": b"service_started", b"by": b"service"}


async def started(register: Register) -> None:
    await register.user_directory.log.note("service_started", by="service")


def joined(chain: bytes, id_: bytes, fields: Fields) -> bytes:
    """Return the text of which an entry's digest and MAC are made, from their description."""
    parts = [id_, *(part for pair in fields.items() for part in pair)]
    return chain + b"".join(b"%d:%s" % (len(part), part) for part in parts)


async def test_every_script_chains_and_authenticates_what_it_writes(redis: Redis) -> None:
    register, chain = register_with(redis, FIRST), b""
    assert await something_of_everything(register) == 18
    for number, (id_, fields) in enumerate(await entries(register), start=1):
        stored = fields.pop(b"chain")
        text = joined(chain, id_, fields)
        chain = hashlib.sha1(text, usedforsecurity=False).hexdigest().encode()
        assert (id_, stored) == (f"{number}-0".encode(), chain)
        assert fields[b"mac"].partition(b":")[0].decode() == THE_SAME.newest
    finding = await found(register)
    assert (finding.entries, finding.chain, finding.problems) == (18, chain.decode(), ())
    assert {row.what for row in await register.log()} == {
        "user_added", "sign_in_refused", "locked_out", "user_unlocked", "sign_in", "pin_chosen",
        "sign_out", "slip_printed", "user_disabled", "user_enabled", "pin_set",
    }  # fmt: skip


async def test_mac_is_an_hmac_of_the_entry_by_a_key_for_its_place(staffed: Register) -> None:
    chain = b""
    for number, (id_, fields) in enumerate(await entries(staffed), start=1):
        stored, after = fields.pop(b"mac").partition(b":")[2], fields.pop(b"chain")
        key = hmac.digest(FIRST.encode(), b"%d:%s" % (number - 1, chain), "sha256")
        text = joined(chain, id_, fields)
        assert stored == hmac.new(key, text, "sha1").hexdigest().encode()
        chain = after


@pytest.mark.duty("D17", proof=True)
@pytest.mark.parametrize(
    ("mac", "said"),
    [
        (None, "has no MAC"),
        (b"", "has no MAC"),
        (b"x", "has the MAC of an unknown secret"),
        (b"\xff:\xff", "has the MAC of an unknown secret"),
        (f"{THE_SAME.newest}:\xfc".encode(), "has a MAC that does not match it"),
        (f"{THE_SAME.newest}:".encode() + b"0" * 40, "has a MAC that does not match it"),
    ],
)
async def test_administrator_added_with_an_entry_in_due_form_is_named(
    staffed: Register, mac: bytes | None, said: str
) -> None:
    """What services add after it is sound."""
    number = await forge_administrator(staffed, mac)
    for _ in range(2):
        (problem,) = await problems(staffed)
        assert problem == f"the operators' log: entry {number} {said}: no service wrote it"
        await staffed.sign_in("Flo")


async def test_a_copied_mac_or_entry_is_named(staffed: Register) -> None:
    """A MAC is of one entry; its exact copy is named as the next entry and in another store.

    The key of a step is valid for its own entries alone: the last step has two.
    """
    await staffed.sign_in("Flo", old=(await staffed.sign_in("Flo")).token)
    rows = await entries(staffed)
    assert [fields[b"what"] for _, fields in rows[-2:]] == [b"sign_out", b"sign_in"]
    for _, fields in rows:
        for forge in (forge_administrator(staffed, fields[b"mac"]), append(staffed, fields)):
            await check_mac_differs(staffed, await forge)
            await truncate(staffed, len(rows))
    await staffed.redis.flushall()
    other = register_with(staffed.redis, FIRST)
    await other.add("Zoë")
    await check_mac_differs(other, await append(other, rows[1][1]))


async def check_mac_differs(register: Register, number: int) -> None:
    said = f"entry {number} has a MAC that does not match"
    assert any(said in one for one in await problems(register))


async def test_rewritten_log_is_named_at_each_entry(staffed: Register) -> None:
    """All digests are recalculated. No mark has seen the log."""
    rows = await entries(staffed)
    await staffed.redis.delete(staffed.keys.log, staffed.keys.log_head)
    for id_, fields in rows:
        await append(staffed, fields | ({b"by": b"Eve"} if id_ == b"2-0" else {}))
    found = [one for one in await problems(staffed) if "MAC" in one]
    assert [one.split()[4] for one in found] == [str(n) for n in range(2, len(rows) + 1)]


@pytest.mark.slow
async def test_services_and_commands_write_together(redis: Redis) -> None:
    """Each continues from the other's head. No entry is lost, and all are valid."""
    crowd = [register_with(redis, FIRST) for _ in range(4)]
    await crowd[0].add("Flo")
    noted = [
        one.user_directory.log.note("slip_printed", by="Flo") for one in crowd for _ in range(25)
    ]
    await asyncio.gather(*noted)
    finding = await found(crowd[0])
    assert (finding.problems, finding.entries) == ((), 101)


async def test_refused_step_has_changed_nothing(redis: Redis) -> None:
    """An act refused because the log has advanced is repeated, and takes effect once."""
    one, other = register_with(redis, FIRST), register_with(redis, FIRST)
    await one.add("Flo")
    for name in ("Ann", "Ben", "Eve"):
        await other.add(name)
        await one.users.disable(name, BY_COMMAND)
    assert [row for row in await one.acts() if row[2] == "Ben"] == [
        ("user_added", BY_COMMAND.name, "Ben"),
        ("user_disabled", BY_COMMAND.name, "Ben"),
    ]
    generations = await one.redis.hget(one.keys.user("ben"), "generation")
    assert (generations, await problems(one)) == (b"2", ())


async def calls(redis: Redis) -> int:
    stats = cast("dict[str, dict[str, int]]", await redis.info("commandstats"))
    return sum(stats.get(f"cmdstat_{name}", {}).get("calls", 0) for name in ("evalsha", "eval"))


async def test_one_service_alone_asks_redis_once_for_each_act(staffed: Register) -> None:
    note = staffed.user_directory.log.note
    await note("slip_printed", by="Flo")
    before = await calls(staffed.redis)
    for _ in range(5):
        await note("slip_printed", by="Flo")
    assert await calls(staffed.redis) - before == 5


async def test_log_from_before_the_keys_is_taken_over(redis: Redis, tmp_path: Path) -> None:
    """Its entries have no MAC. After the first entry with one, each must have one."""
    earlier = register_with(redis)
    await earlier.add("Ada", Role.ADMINISTRATOR)
    await earlier.add("Flo")
    assert await problems(earlier) == ()
    mark, before = LogMark(tmp_path), await found(earlier)
    mark.note_seal(before.entries, before.seal)
    await earlier.sign_in("Flo")  # not sealed
    service = register_with(redis, FIRST)
    await started(service)
    for seen in (None, mark.seen):
        assert await problems(service, seen=seen) == ()
    number = await forge_administrator(service)
    for seen in (None, mark.seen):
        assert await problems(service, seen=seen) == (
            f"the operators' log: entry {number} has no MAC: no service wrote it",
        )


async def test_what_an_audit_has_sealed_needs_no_mac(staffed: Register, tmp_path: Path) -> None:
    """This is the case if a service without keys wrote the log for some time."""
    await append(staffed, STARTED)
    finding = await LogAudit(staffed.redis).run()
    assert finding.problems
    assert all("there are no log-secrets in services/" in one for one in finding.problems)
    mark = LogMark(tmp_path)
    mark.note_seal(finding.entries, finding.seal)
    await started(staffed)
    assert len(await problems(staffed)) == 1
    assert await problems(staffed, seen=mark.seen) == ()
    audit = LogAudit(staffed.redis, THE_SAME)
    for _ in range(3):
        assert (await audit.run(mark.seen, again=100)).problems == ()


async def test_renewed_secret_leaves_earlier_entries_sound_and_nothing_later(
    staffed: Register,
) -> None:
    """After the first entry with its successor the earlier secret is no longer valid."""
    renewed = register_with(staffed.redis, SECOND, FIRST)
    await started(renewed)
    await renewed.sign_in("Flo")
    assert await problems(staffed, SECOND, FIRST) == ()
    await staffed.redis.hdel(staffed.keys.log_head, "mac_by")
    thief = register_with(staffed.redis, FIRST)
    await thief.users.add("Eve", Role.ADMINISTRATOR, PIN, BY_COMMAND)
    number = len(await entries(staffed))
    assert await problems(staffed, SECOND, FIRST) == (
        f"the operators' log: entry {number} has the MAC of a secret that had been renewed",
    )


async def test_step_of_an_earlier_secret_does_not_pass_for_one_of_the_newest(
    staffed: Register,
) -> None:
    """The thief has its key, which is valid for that step's entries, and not with other names."""
    rows = await entries(staffed)
    (id_, fields), before = rows[-1], rows[-2][1][b"chain"].decode()
    key = hmac.digest(FIRST.encode(), f"{len(rows) - 1}:{before}".encode(), "sha256")
    text = joined(fields[b"chain"], b"%d-0" % (len(rows) + 1), STARTED)
    newest = LogSecrets(lambda: [SECOND, FIRST]).newest
    mac = f"{newest}:{hmac.new(key, text, 'sha1').hexdigest()}".encode()
    number = await append(staffed, STARTED | {b"mac": mac})
    assert id_ == f"{number - 1}-0".encode()
    (problem,) = await problems(staffed, SECOND, FIRST)
    assert "has a MAC that does not match" in problem


async def test_service_that_lacks_the_renewed_secret_writes_nothing_until_it_has_it(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its entries would look forged. It reads its bundle again by itself."""
    monkeypatch.setattr("meters.users.log_macs._READ_AGAIN_S", 0.0)
    bundle = [FIRST]

    def read() -> Sequence[str]:
        if not bundle:
            raise UserError("it is being copied")
        return bundle

    late = register_with(staffed.redis, read=read)
    await late.user_directory.log.note("slip_printed", by="Flo")
    await started(register_with(staffed.redis, SECOND, FIRST))
    before = await entries(staffed)
    for refuse in (late, register_with(staffed.redis)):
        with pytest.raises(UsersError, match=r"copy the whole of services/") as refused:
            await refuse.add("Eve")
        assert refused.value.code == "other_keys"
    bundle.clear()
    with pytest.raises(UsersError):
        await late.add("Eve")
    assert await entries(staffed) == before
    bundle[:] = [SECOND, FIRST]
    await late.add("Eve")
    assert await problems(staffed, SECOND, FIRST) == ()


async def test_what_a_renewed_service_has_sealed_is_sound_to_one_that_lacks_its_secret(
    staffed: Register, tmp_path: Path
) -> None:
    """Two services of one data directory are renewed in turn. A forged head is named."""
    late, mark = LogAudit(staffed.redis, THE_SAME), LogMark(tmp_path)
    assert (await late.run(mark.seen)).problems == ()
    await started(register_with(staffed.redis, SECOND, FIRST))
    sealed = await found(staffed, SECOND, FIRST)
    mark.note_seal(sealed.entries, sealed.seal)
    assert (await late.run(mark.seen)).problems == ()
    await staffed.redis.hset(staffed.keys.log_head, "mac_by", "0" * 16)
    (problem,) = (await late.run(mark.seen)).problems
    assert "names another secret" in problem


async def test_log_is_continued_if_the_keys_were_lost(staffed: Register) -> None:
    """Entries under the lost keys are accepted once somebody has recorded this in Redis."""
    register = register_with(staffed.redis, SECOND)
    with pytest.raises(UsersError):
        await register.add("Eve")
    await staffed.redis.hdel(staffed.keys.log_head, "mac_by")
    await register.add("Eve")
    assert await problems(staffed, SECOND) == ()
    await append(staffed, STARTED)
    assert len(await problems(staffed, SECOND)) == 1


async def test_head_that_names_a_secret_that_wrote_nothing_is_named(staffed: Register) -> None:
    """Services write nothing after it, because it may be newer than what they have."""
    await staffed.redis.hset(staffed.keys.log_head, "mac_by", "0" * 16)
    with pytest.raises(UsersError):
        await register_with(staffed.redis, FIRST).add("Eve")
    (problem,) = await problems(staffed)
    assert "names another secret than its last MAC" in problem


async def test_truncated_and_forged_log_is_behind_its_mark(
    staffed: Register, tmp_path: Path
) -> None:
    """Entries from before MACs can be forged by somebody who removes all later ones."""
    mark, before = LogMark(tmp_path), await found(staffed)
    mark.note(before.entries, before.chain)
    mark.note_seal(before.entries, before.seal)
    await staffed.redis.delete(staffed.keys.log, staffed.keys.log_head)
    for _ in range(before.entries + 1):
        await append(staffed, STARTED)
    assert any(
        "are not those that were sealed" in one for one in await problems(staffed, seen=mark.seen)
    )


SCRIPTS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted(Path(meters.users.__path__[0], "scripts").glob("*.lua"))
}
WRITERS = [name for name, text in SCRIPTS.items() if re.search(r"^ *note\(", text, re.MULTILINE)]


def test_the_scripts_that_write_the_log_are_known() -> None:
    assert len(WRITERS) >= 7
    for name in SCRIPTS.keys() - set(WRITERS):
        assert "note(" not in SCRIPTS[name], name


@pytest.mark.parametrize("script", WRITERS)
def test_every_writer_reads_the_head_before_it_writes(script: str) -> None:
    text = SCRIPTS[script]
    first = text.index("local elsewhere = moved(")
    writes = [
        text.find(f"'{command}'") for command in ("HSET", "DEL", "ZADD", "HDEL", "SADD", "SET")
    ]
    writes += [
        text.find(f"{name}(") for name in ("note", "decide_attempt", "set_by", "keep_setter")
    ]
    assert first < min(place for place in writes if place >= 0)


Change = Callable[[list[Entry]], list[Entry]]

BROKEN: Final = "the chain breaks"


def with_field(number: int, name: bytes, value: bytes) -> Change:
    def change(rows: list[Entry]) -> list[Entry]:
        id_, fields = rows[number - 1]
        assert fields.get(name) != value
        return [*rows[: number - 1], (id_, fields | {name: value}), *rows[number:]]

    return change


def relinked(rows: list[Entry]) -> list[Entry]:
    fields = {name: value for name, value in rows[3][1].items() if name != b"chain"}
    fields[b"by"] = b"Flo"
    made = link_entry(rows[2][1][b"chain"].decode(), "4-0", tuple(fields.items()))
    return [*rows[:3], (b"4-0", fields | {b"chain": made.encode()}), *rows[4:]]


@pytest.mark.duty("D17", proof=True)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(with_field(4, b"by", b"Flo"), ["entry 4", BROKEN], id="a name"),
        pytest.param(with_field(4, b"at", b"2026-01-01"), ["entry 4", BROKEN], id="a time"),
        pytest.param(with_field(4, b"chain", b"0" * 40), ["entry 4", BROKEN], id="the chain"),
        pytest.param(relinked, ["entry 5, or the one before it"], id="a name and its chain"),
        pytest.param(with_field(4, b"more", b"1"), ["entry 4", BROKEN], id="a field more"),
        pytest.param(with_field(4, b"chain", b""), ["entry 4", BROKEN], id="no chain"),
        pytest.param(lambda rows: rows[1:], ["2-0 is in the place of 1-0"], id="without the first"),
        pytest.param(
            lambda rows: [*rows[:3], *rows[4:]], ["5-0 is in the place of 4-0"], id="without one"
        ),
        pytest.param(lambda rows: rows[:-1], ["its last entry is 17", "names 18"], id="no last"),
        pytest.param(lambda _: [], ["its last entry is 0", "names 18"], id="emptied"),
        pytest.param(
            lambda rows: [*rows, (b"19-0", rows[-1][1])], ["entry 19", BROKEN], id="one more"
        ),
        pytest.param(
            lambda rows: [*rows[:2], (b"2-1", rows[1][1]), *rows[2:]],
            ["2-1 is in the place of 3-0"],
            id="one between",
        ),
        pytest.param(
            lambda rows: [(id_, {**fields, b"chain": b""}) for id_, fields in rows],
            ["or another digest"],
            id="all chains taken off",
        ),
    ],
)
async def test_whatever_is_altered_is_found(
    register: Register, change: Change, said: list[str]
) -> None:
    await something_of_everything(register)
    await replace_log(register, change(await entries(register)))
    text = "; ".join((await LogAudit(register.redis).run()).problems)
    assert all(part in text for part in said), text


async def test_a_shortened_log_or_a_lost_head_is_found_for_good(register: Register) -> None:
    """The head continues to count, so later entries hide nothing."""
    count = await something_of_everything(register)
    rows = await entries(register)
    await replace_log(register, rows[:-1])
    await started(register)
    (problem, *_) = (await LogAudit(register.redis).run()).problems
    assert f"{count + 1}-0 is in the place of {count}-0" in problem
    await replace_log(register, rows)
    await register.redis.delete(register.keys.log_head)
    assert (await LogAudit(register.redis).run()).problems
    await started(register)
    (problem,) = (await LogAudit(register.redis).run()).problems
    assert BROKEN in problem


async def test_no_more_is_reported_than_helps(register: Register) -> None:
    for _ in range(PROBLEMS_MAX + 5):
        await started(register)
    rows = await entries(register)
    await replace_log(register, [(id_, fields | {b"chain": b"?"}) for id_, fields in rows])
    assert len((await LogAudit(register.redis).run()).problems) == PROBLEMS_MAX
