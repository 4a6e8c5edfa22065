"""Audit of the operators' log and the users (duty D17).

The audit checks that every log entry is unchanged, that the log agrees with its mark (a file
outside Redis with the last entry that was seen), and that the users in Redis are exactly those that
the log describes.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import msgspec
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bonus.json_input import UNREADABLE
from meters.ledger.chain import link_entry, seal_entry
from meters.ledger.checkpoint import Mark
from meters.process.private_files import replace_private_file
from meters.store.ledger_mark import LedgerMark
from meters.store.redis_clients import AnyRedis, redis_of
from meters.store.user_keys import USERS_TAG, UserKeys
from meters.users.expected_users import ExpectedUsers
from meters.users.log_macs import MAC, LogHead, LogSecrets, MacCheck
from meters.users.operators_log import LogSeal
from meters.users.user_store import readable

PROBLEMS_MAX: Final = 20
"""A report names at most this many problems: a log with so many was clearly altered."""

_PAGE: Final = 100
"""Count of entries in one read. They are checked in one turn of the event loop, so that tables and
people wait for at most a few milliseconds."""
_CHAIN: Final = b"chain"
_READ_MOST: Final = 20
"""The most times that one audit reads the log and the users, while entries are added."""

Entry = tuple[bytes, dict[bytes, bytes]]
"""Id in the Redis stream, and fields, of an entry of the operators' log."""


@dataclass(frozen=True, slots=True)
class LogFinding:
    """Result of an audit of the operators' log.

    `first` and `entries` are the numbers of the first and the last entry that the audit read.
    `chain` is the chain digest of the last entry: people can compare it with a copy that they kept.
    `seal` is SHA-256 over all entries: people can compare it with the published seal.
    """

    entries: int
    chain: str
    problems: tuple[str, ...]
    seal: str = ""
    first: int = 1


class LogMark(LedgerMark):
    """The mark of the log: a file outside Redis with the last entry that was seen."""

    def __init__(self, data: Path) -> None:
        # No link can have this id.
        super().__init__(data, "@people", "operators.log-mark.json")

    @property
    def log_seal(self) -> LogSeal:
        return LogSeal(sealed_entry=self.seen.sealed, seal=self.seen.seal)

    def problem(self, entries: int, had: int) -> str | None:
        """Return a message if the log has fewer entries than its mark."""
        if entries >= had:
            return None
        return (
            f"the operators' log holds {entries} entries and has held {had}: it lost some, or this"
            " is another log. Find out why. Then restore a backup. To go on without the lost"
            f" entries instead, remove {self.path}"
        )


class LogCheckpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The state of the operators' log after an audit that found no problem.

    `chain` is the digest of the last audited entry; `seal` is the digest over all entries up to it.
    `mac_by` names the secret of the last MAC. `mac_checked` names the secret of the last MAC that
    was checked; empty if no MAC was checked. `due` has the users that the entries describe. An
    audit that continues from the checkpoint applies later entries to this same object.
    """

    entries: int
    chain: str
    seal: str
    mac_by: str
    mac_checked: str
    due: ExpectedUsers


_CHECKPOINT: Final = msgspec.json.Decoder(LogCheckpoint)


class LogCheckpointFile:
    """The file from which a later audit of the log continues. It is beside the mark of the log.

    Nothing is ever deleted from the operators' log. Without this file, each audit would read more
    entries than the audit before. A running service reads the older entries again in small parts.
    `pitlink audit` reads all entries, unless it has `--since` or `--since-last`.
    """

    def __init__(self, mark_path: Path) -> None:
        self._path = mark_path.with_name("operators.log-checkpoint.json")

    def read(self, seen: Mark) -> LogCheckpoint | None:
        """Return the checkpoint; None if no checkpoint can be used, so the audit takes longer.

        A checkpoint after the sealed entry is not used, because the seal does not cover it.
        """
        try:
            found = _CHECKPOINT.decode(self._path.read_bytes())
        except (OSError, *UNREADABLE):
            return None
        return found if 0 < found.entries <= seen.sealed else None

    def write(self, checkpoint: LogCheckpoint) -> None:
        replace_private_file(self._path, [msgspec.json.encode(checkpoint)])


@dataclass(slots=True)
class _Walk:
    macs: MacCheck
    covered: int = 0
    entries: int = 0
    chain: str = ""
    seal: str = ""
    problems: list[str] = field(default_factory=list)
    due: ExpectedUsers = field(default_factory=ExpectedUsers)

    def check_entry(self, entry: Entry, seen: Mark | None) -> None:
        id_, fields = entry[0].decode(), dict(entry[1])
        expected = f"{self.entries + 1}-0"
        number = int(id_.partition("-")[0])
        if id_ != expected:
            self.add(
                f"entry {id_} is in the place of {expected}: entries are missing, or were added"
            )
        stored_chain = fields.pop(_CHAIN, b"").decode("utf-8", "replace")
        content = tuple(fields.items())
        mac = fields.pop(MAC, b"").decode("utf-8", "replace")
        head = LogHead(self.entries, self.chain)
        unsound = self.macs.check(head, id_, tuple(fields.items()), mac)
        if unsound and number > self.covered:
            self.add(f"entry {number} {unsound}")
        elif unsound:
            # The secret is missing here, but another service can have it, and can have sealed the
            # entries.
            self.macs.last = mac.partition(":")[0] or self.macs.last
        made = link_entry(self.chain, id_, content)
        if stored_chain != made:
            self.add(f"entry {number}, or the one before it, was altered: the chain breaks")
        self.entries, self.chain = number, stored_chain
        self.seal = seal_entry(self.seal, id_, content)
        if seen:
            self.compare_with(seen)
        if problem := self.due.apply_entry(number, readable(fields)):
            self.add(f"entry {number} {problem}")

    def compare_with(self, seen: Mark) -> None:
        for difference in seen.differences(self.entries, self.chain, self.seal):
            self.add(difference)

    def add(self, problem: str) -> None:
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(f"the operators' log: {problem}")


@dataclass(frozen=True, slots=True)
class _Stored:
    """The users in Redis and the head of the operators' log, read at one moment."""

    entries: int
    chain: str
    mac_by: str
    listed: list[str]
    administrators: list[str]
    pins_set: dict[str, float]
    users: dict[str, dict[str, str]]
    accounts: dict[str, list[tuple[int, float]]]


class LogAudit:
    """Audit of the operators' log. Each run continues after the last entry of the run before.

    The first run continues from `checkpoint`. After a problem, the whole log is read again.
    """

    def __init__(
        self,
        everywhere: AnyRedis,
        secrets: LogSecrets | None = None,
        checkpoint: LogCheckpoint | None = None,
    ) -> None:
        self._keys, self._redis = UserKeys(), redis_of(everywhere, USERS_TAG)
        self._secrets = secrets or LogSecrets()
        self._begin_again()
        if checkpoint and self._walk.macs.resume(checkpoint.mac_by, checkpoint.mac_checked):
            walk, self._first = self._walk, checkpoint.entries + 1
            walk.entries, walk.chain = checkpoint.entries, checkpoint.chain
            walk.seal, walk.due = checkpoint.seal, checkpoint.due

    async def run(self, seen: Mark | None = None, *, again: int = 0) -> LogFinding:
        """Check the operators' log to its end, and compare the users in Redis with the log.

        An entry from before the first MAC needs no MAC. If an earlier audit has sealed an entry, a
        wrong MAC of the entry is no problem. `seen` is the mark of the log. `again` is the number
        of old entries, already checked by an earlier run, that this run reads once more.

        Raises:
            ValueError: an entry's id or chain digest is not valid text, or a Redis key has a wrong
                data type.
        """
        with as_altered():
            if self._walk.problems:
                self._begin_again()
            finding = await self._run(seen, again)
            if finding.problems and self._first > 1:
                # The log can be right, and the file of the checkpoint wrong. Only an audit of the
                # whole log shows which of them is wrong.
                self._begin_again()
                finding = await self._run(seen, again)
            return finding

    @property
    def checkpoint(self) -> LogCheckpoint | None:
        """The state after the last run; None if the log has no entries, or has problems."""
        walk, macs = self._walk, self._walk.macs
        if walk.problems or not walk.entries:
            return None
        return LogCheckpoint(walk.entries, walk.chain, walk.seal, macs.last, macs.checked, walk.due)

    def _begin_again(self) -> None:
        self._walk, self._first = _Walk(MacCheck(self._secrets)), 1
        self._again: _Walk | None = None

    async def _run(self, seen: Mark | None, again: int) -> LogFinding:
        walk = self._walk
        walk.covered = seen.sealed if seen else 0
        if walk.entries:
            if seen:
                walk.compare_with(seen)
            await self._read_again(again)
        stored = await self._read_on(seen)
        problems = list(walk.problems)
        if (walk.entries, walk.chain) != (stored.entries, stored.chain):
            problems.append(
                f"the operators' log: its last entry is {walk.entries}, but Redis's record of the"
                f" last entry names {stored.entries}, or another digest"
            )
        if stored.mac_by and stored.mac_by != walk.macs.last:
            problems.append(
                "the operators' log: Redis's record of the last entry names another secret than its"
                " last MAC, so no service can write into the log"
            )
        problems += walk.due.differences(stored.listed, stored.users, stored.administrators)
        problems += walk.due.other_accounts(stored.accounts)
        problems += walk.due.unkept_setters(stored.pins_set, time.time() * 1_000)
        problems = problems[:PROBLEMS_MAX]
        return LogFinding(walk.entries, walk.chain, tuple(problems), walk.seal, self._first)

    async def _read_on(self, seen: Mark | None) -> _Stored:
        """Check new log entries, then read the users; repeat both if an entry was added."""
        names: list[str] = []
        for _ in range(_READ_MOST):
            await self._walk_to(self._walk, None, seen)
            stored = await self._read_users(sorted({*names, *self._walk.due.users}))
            read_all = {*stored.listed} <= stored.users.keys()
            if read_all and stored.entries in {0, self._walk.entries}:
                break
            names = stored.listed
        return stored

    async def _read_users(self, names: list[str]) -> _Stored:
        keys = self._keys
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hmget(keys.log_head, ["entries", "chain", "mac_by"])
            pipe.zrange(keys.users, 0, -1)
            pipe.zrange(keys.pins_set, 0, -1, withscores=True)
            pipe.smembers(keys.administrators)
            for name in names:
                pipe.hgetall(keys.user(name))
            for name in names:
                pipe.zrange(keys.account(name), 0, -1, withscores=True)
            head, listed, pins_set, administrators, *rows = await pipe.execute()
        entries, chain, mac_by = head
        rows, accounts = rows[: len(names)], rows[len(names) :]
        return _Stored(
            int(entries or 0),
            (chain or b"").decode("utf-8", "replace"),
            (mac_by or b"").decode("utf-8", "replace"),
            [name.decode() for name in listed],
            [name.decode() for name in administrators],
            {member.decode(): at_ms for member, at_ms in pins_set},
            {name: readable(row) for name, row in zip(names, rows, strict=True)},
            {
                name: [(_number(member), order) for member, order in row]
                for name, row in zip(names, accounts, strict=True)
            },
        )

    async def _read_again(self, count: int) -> None:
        """Read some old entries again: somebody can have changed them after the first reading."""
        again = self._again = self._again or _Walk(MacCheck(self._secrets))
        again.covered = self._walk.covered
        await self._walk_to(again, min(again.entries + count, self._walk.entries), None)
        self._walk.problems += again.problems
        if again.entries >= self._walk.entries:
            if again.seal != self._walk.seal and not again.problems:
                self._walk.add("older entries have changed since they were first read")
            if again.due != self._walk.due and not again.problems:
                # The checkpoint's file, which has the users, can have been changed.
                self._walk.add("its entries describe other users than earlier audits found")
            self._again = None

    async def _walk_to(self, walk: _Walk, last: int | None, seen: Mark | None) -> None:
        redis: Redis = self._redis
        until = "+" if last is None else f"{last}-0"
        after = f"({walk.entries}-0" if walk.entries else "-"
        while last is None or walk.entries < last:
            rows = await redis.xrange(self._keys.log, min=after, max=until, count=_PAGE)
            page = cast("list[Entry]", rows)
            for entry in page:
                walk.check_entry(entry, seen)
            if not page:
                return
            after = f"({page[-1][0].decode()}"


@contextmanager
def as_altered() -> Iterator[None]:
    """Raise `ValueError` instead of Redis's error about the data type of a key."""
    try:
        yield
    except ResponseError as error:
        if "WRONGTYPE" not in str(error):
            raise
        raise ValueError(f"a Redis key has a wrong data type: {error}") from None


def _number(member: bytes) -> int:
    return int(member) if member.isdigit() else 2**63
