"""Audits of the operators' log and of the users, while the service runs (duty D17)."""

import asyncio
from collections.abc import Callable
from typing import Final, cast

import msgspec
import structlog
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError

from meters.logs.throttled import ThrottledLog
from meters.redis_client.shards import AnyRedis, redis_of
from meters.redis_client.user_keys import USERS_TAG, UserKeys
from meters.service.announcer import Post
from meters.service.ledger_auditing import AUDIT_EVERY_S, AUDITED_AGAIN
from meters.service.link import SERVICE
from meters.users.errors import UsersError
from meters.users.log_audit import Entry, LogAudit, LogFinding, as_altered
from meters.users.log_macs import LogSecrets
from meters.users.log_mark import LogMark
from meters.users.store import UserStore
from meters.wire import topics
from meters.wire.clock import now_text
from meters.wire.messages import LedgerSeal

log = structlog.get_logger()

MARK_EVERY_S: Final = 1.0
"""Interval at which the number of the log's last entry is noted outside the store."""
NOT_HOLDING_MAX: Final = 3
_REFUSED: Final = "refused"


class LogAuditing:
    """Audits of the operators' log, with the mark of the log and the published seal.

    Args:
        redis: the Redis with the users' keys.
        mark: the mark of the log: what was last seen of the log, kept outside Redis.
        post: publishes a message on the broker.
        show: receives True if the log and the users are correct, otherwise False.
        secrets: the secrets for the MACs of the log's entries; None if there are no MACs.
    """

    def __init__(
        self,
        redis: AnyRedis,
        mark: LogMark,
        post: Post,
        show: Callable[[bool], None],
        secrets: LogSecrets | None = None,
    ) -> None:
        self._redis = redis_of(redis, USERS_TAG)
        self._store = UserStore(redis, secrets)
        self._audit = LogAudit(redis, secrets)
        self._mark = mark
        self._post = post
        self._show = show
        self._said = ThrottledLog()
        self._problems: tuple[str, ...] = ()
        self._unposted = b""

    async def run(self) -> None:
        """Write the end of the log to the mark every second and audit the log every minute.

        This continues until the task is canceled.
        """
        audited_s: float | None = None
        loop = asyncio.get_running_loop()
        while True:
            try:
                self._publish()
                goes_on = await self._note_head()
                if not goes_on or audited_s is None or loop.time() - audited_s >= AUDIT_EVERY_S:
                    await self._check()
                    audited_s = loop.time()
            except (AuthenticationError, NoPermissionError) as error:
                if (more := self._said.due(_REFUSED)) is not None:
                    log.error("users refused at redis", reason=str(error), kept_back=more)  # noqa: TRY400
            except ValueError as error:
                self._report((f"the operators' log cannot be read: {error}",))
            except (RedisError, UsersError, OSError) as error:
                # The links report that the store fails; the log is audited when the store is back.
                log.debug("operators' log not audited", reason=str(error))
            if (task := asyncio.current_task()) and task.cancelling():
                # Before Python 3.12 asyncio.wait_for, which redis uses to send, may lose a
                # cancellation.
                raise asyncio.CancelledError
            await asyncio.sleep(MARK_EVERY_S)

    async def _note_head(self) -> bool:
        """Write the end of the log to the mark; return False if an audit is needed now.

        An audit is needed if the log no longer has the entry that the mark names, or if the end of
        the log is damaged. Then the mark is not changed: a mark that followed a rewritten log would
        forget the entries after the last seal. A log that is already known to be altered waits for
        its regular audit.
        """
        keys, seen = UserKeys(), self._mark.seen
        with as_altered():
            head = await self._redis.hmget(keys.log_head, ["entries", "chain"])
        entries, chain = cast("list[bytes | None]", head)
        if entries is None:
            # A log that had entries has a head. Without a head the mark would never change again,
            # so the log is audited.
            return not seen.entries or bool(self._problems)
        if seen.entries and await self._chain_at(seen.entries) != seen.chain.encode():
            # A log that is known to be altered is audited from time to time, like any log.
            return bool(self._problems)
        # Without this check, a false head would make the mark report the loss of entries that never
        # existed.
        if await self._chain_at(int(entries)) != (chain or b""):
            return bool(self._problems)
        # The mark follows a log that continues, even while an audit reports a problem. Otherwise an
        # attacker could alter a user, act as this user, and then reset the log to an earlier state.
        self._mark.note(int(entries), (chain or b"").decode())
        return True

    async def _chain_at(self, number: int) -> bytes | None:
        """Return the chain value of an entry in the log; None if the log has no such entry."""
        here = f"{number}-0"
        with as_altered():
            noted = cast("list[Entry]", await self._redis.xrange(UserKeys().log, here, here))
        return noted[0][1].get(b"chain", b"") if noted else None

    async def _check(self) -> None:
        seen = self._mark.seen
        finding = await self._audit.run(seen, again=AUDITED_AGAIN)
        lost = self._mark.problem(finding.entries, seen.entries)
        problems = (lost,) if lost else finding.problems
        self._report(problems)
        if problems:
            return
        for folded in finding.unnoted:
            keys = self._store.keys
            await self._store.record(
                "note_user", [keys.user(folded), *keys.log_and_head], [now_text(), SERVICE]
            )
        if finding.entries > seen.sealed:
            await self._seal(finding)

    def _report(self, problems: tuple[str, ...]) -> None:
        """Log new problems once, and report whether the log is correct."""
        if problems and problems != self._problems:
            log.error("operators' log altered", problems=problems[:NOT_HOLDING_MAX])
        self._problems = problems
        self._show(not problems)

    def _publish(self) -> None:
        """Publish the last seal as soon as a broker is connected."""
        if self._unposted and self._post(topics.OPERATORS_LOG, self._unposted, retain=True):
            self._unposted = b""

    async def _seal(self, finding: LogFinding) -> None:
        """Store and publish the seal of a log in which an audit found no error."""
        await asyncio.to_thread(self._mark.note_seal, finding.entries, finding.seal)
        message = LedgerSeal(entries=finding.entries, seal=finding.seal, at=now_text())
        self._unposted = msgspec.json.encode(message)
        self._publish()
        log.info("operators' log sealed", entries=finding.entries, seal=finding.seal)
