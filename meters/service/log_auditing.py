"""The operators' log (duty D17): its audits, and the entries about the service's starts and stops.

If a service is killed, the log has no entry about its stop, only the entry about its next start.
"""

import asyncio
import contextlib
from collections.abc import Callable
from importlib.metadata import version
from typing import Final, Literal, cast

import msgspec
import structlog
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError

from meters.ledger.entry_messages import SERVICE
from meters.process.clock import now_text
from meters.process.logs import ThrottledLog
from meters.service.link_publisher import Post
from meters.service.pace import Pace
from meters.store.redis_clients import AnyRedis, redis_of
from meters.store.user_keys import USERS_TAG, UserKeys
from meters.users.log_audit import (
    Entry,
    LogAudit,
    LogCheckpointFile,
    LogFinding,
    LogMark,
    as_altered,
)
from meters.users.log_macs import LogSecrets
from meters.users.operators_log import OperatorsLog
from meters.users.user_store import UsersError
from meters.wire import topics
from meters.wire.messages import LedgerSeal

log = structlog.get_logger()

_AGAIN_S: Final = 5.0
_STOP_WITHIN_S: Final = 2.0
NOT_HOLDING_MAX: Final = 3
_REFUSED: Final = "refused"


class LogAuditing:
    """Audits of the operators' log and of the users (duty D17), with the log's mark and seal.

    `mark` is a file outside Redis. It names the last entry that this service has seen. `show`
    receives True if all is correct. `secrets` has the secrets of the entries' MACs, if this service
    has a key bundle.
    """

    def __init__(
        self,
        redis: AnyRedis,
        mark: LogMark,
        post: Post,
        show: Callable[[bool], None],
        secrets: LogSecrets | None = None,
        *,
        pace: Pace,
    ) -> None:
        self._redis = redis_of(redis, USERS_TAG)
        self._checkpoint_file = LogCheckpointFile(mark.path)
        checkpoint = self._checkpoint_file.read(mark.seen)
        self._audit = LogAudit(redis, secrets, checkpoint)
        self._checkpointed = checkpoint.entries if checkpoint else 0
        self._mark = mark
        self._post = post
        self._show = show
        self._pace = pace
        self._said = ThrottledLog()
        self._problems: tuple[str, ...] = ()
        self._unposted = b""

    async def run(self) -> None:
        """Note the last log entry in the mark every second, and audit the log every minute."""
        audited_s: float | None = None
        loop = asyncio.get_running_loop()
        while True:
            try:
                self._publish()
                goes_on = await self._note_head()
                if (
                    not goes_on
                    or audited_s is None
                    or loop.time() - audited_s >= self._pace.audit_every_s
                ):
                    await self._check()
                    audited_s = loop.time()
            except (AuthenticationError, NoPermissionError) as error:
                if (more := self._said.due(_REFUSED)) is not None:
                    log.error("users refused at redis", reason=str(error), kept_back=more)  # noqa: TRY400
            except ValueError as error:
                self._report((f"the operators' log cannot be read: {error}",))
            except (RedisError, OSError) as error:
                # The links' checks report the failure. The log is audited when Redis works again.
                log.debug("operators' log not audited", reason=str(error))
            if (task := asyncio.current_task()) and task.cancelling():
                # Before Python 3.12, asyncio.wait_for, with which the Redis client sends, can lose
                # a cancellation.
                raise asyncio.CancelledError
            await asyncio.sleep(self._pace.mark_every_s)

    async def _note_head(self) -> bool:
        """Note the last log entry in the mark. Return False if the log must be audited now.

        If the log lacks the entry in the mark, or if the log's end is damaged, the mark stays as it
        is: it is the only proof of the entries after the last seal. Then the log must be audited,
        unless an audit has found a problem already.
        """
        keys, seen = UserKeys(), self._mark.seen
        with as_altered():
            head = await self._redis.hmget(keys.log_head, ["entries", "chain"])
        entries, chain = cast("list[bytes | None]", head)
        if entries is None:
            # A log with entries has a head (the data of its last entry). Without a head, the mark
            # would never change again, so the log must be audited.
            return not seen.entries or bool(self._problems)
        if seen.entries and await self._chain_at(seen.entries) != seen.chain.encode():
            return bool(self._problems)
        # Without this check, a false head would bring into the mark an entry that never existed.
        # Later, the mark would report this entry as lost.
        if await self._chain_at(int(entries)) != (chain or b""):
            return bool(self._problems)
        # The mark follows the log even while an audit reports a problem. Otherwise, an attacker
        # could alter a user, act as this user, and then reset the log to an earlier state.
        self._mark.note(int(entries), (chain or b"").decode())
        return True

    async def _chain_at(self, number: int) -> bytes | None:
        here = f"{number}-0"
        with as_altered():
            noted = cast("list[Entry]", await self._redis.xrange(UserKeys().log, here, here))
        return noted[0][1].get(b"chain", b"") if noted else None

    async def _check(self) -> None:
        seen = self._mark.seen
        finding = await self._audit.run(seen, again=self._pace.audited_again)
        lost = self._mark.problem(finding.entries, seen.entries)
        problems = (lost,) if lost else finding.problems
        self._report(problems)
        if problems:
            return
        if finding.entries > seen.sealed:
            await self._seal(finding)
        if finding.entries >= self._checkpointed + self._pace.checkpoint_every:
            await self._keep_checkpoint()

    async def _keep_checkpoint(self) -> None:
        state = self._audit.checkpoint
        if state is None:
            return
        self._checkpointed = state.entries
        try:
            # Only the next audit changes the state.
            await asyncio.to_thread(self._checkpoint_file.write, state)
        except OSError as error:
            log.warning("log checkpoint not written", reason=str(error))

    def _report(self, problems: tuple[str, ...]) -> None:
        if problems and problems != self._problems:
            log.error("operators' log altered", problems=problems[:NOT_HOLDING_MAX])
        self._problems = problems
        self._show(not problems)

    def _publish(self) -> None:
        if self._unposted and self._post(topics.OPERATORS_LOG, self._unposted, retain=True):
            self._unposted = b""

    async def _seal(self, finding: LogFinding) -> None:
        await asyncio.to_thread(self._mark.note_seal, finding.entries, finding.seal)
        message = LedgerSeal(entries=finding.entries, seal=finding.seal, at=now_text())
        self._unposted = msgspec.json.encode(message)
        self._publish()
        log.info("operators' log sealed", entries=finding.entries, seal=finding.seal)


async def note_start(operators: OperatorsLog) -> None:
    """Write to the operators' log that the service runs, as soon as Redis accepts writes."""
    while True:
        if await _note(operators, "service_started"):
            return
        await asyncio.sleep(_AGAIN_S)


async def note_stop(operators: OperatorsLog) -> None:
    """Write to the operators' log that the service stops, if Redis accepts writes soon."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_STOP_WITHIN_S):
            await _note(operators, "service_stopped")


async def _note(
    operators: OperatorsLog, what: Literal["service_started", "service_stopped"]
) -> bool:
    try:
        await operators.note(what, by=SERVICE, about=f"pitlink {version('pitlink')}")
    except UsersError as error:
        log.warning("operators' log not written", what=what, reason=str(error.__cause__ or error))
        return False
    return True
