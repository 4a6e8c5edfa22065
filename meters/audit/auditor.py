"""The auditor's work: it audits a link each time that the service orders an audit (D19).

The auditor calculates, and the service compares. A report has the meter balances that follow from
the ledger at an entry that the service has chosen.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
from redis.exceptions import RedisError

from meters.audit.audit_files import AuditCheckpointFile
from meters.audit.link_audit import LinkAudit
from meters.ledger.checkpoint import Mark
from meters.ledger.ledger_replay import Replay
from meters.ledger.link_state import MeterBalances
from meters.store.failures import failure_text
from meters.store.link_store import LinkStore

_PROBLEMS_TOLD: Final = 3
_TO_BE_FOUND: Final = "the new entries have a problem, which the next audit names"


class AuditOrder(msgspec.Struct, frozen=True, array_like=True):
    """An order to audit a link.

    `seen` is the ledger mark. The report has the meter balances after the ledger entry `entry`. If
    `compares` is false, the auditor only reads entries, so that the next audit has few entries to
    read. `again` is the count of older entries to read once more. After each `checkpoint_every` new
    entries, the auditor writes its checkpoint again.
    """

    number: int
    link: str
    seen: Mark
    entry: int
    compares: bool
    again: int
    checkpoint_every: int


class AuditorReport(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The result of an order.

    `entries` is the last replayed ledger entry. `seal` is the digest over all entries up to this
    one. `stored` is the last entry in Redis. `failure` says why there was no audit; it is empty
    after an audit. `unreserved` are slip numbers that paid a claim and have no reservation, each
    with the claim: the service reserves them. `note` is what a technician should know.
    """

    number: int
    failure: str = ""
    entries: int = 0
    stored: int = 0
    seal: str = ""
    problems: tuple[str, ...] = ()
    replayed: MeterBalances | None = None
    unreserved: Mapping[str, str] = {}
    note: str = ""


class LinkAuditor:
    """The auditor of one link. Each audit continues the previous audit.

    The first audit continues from the checkpoint in the directory `data`, if there is one and the
    ledger confirms it.
    """

    def __init__(self, store: LinkStore, data: Path) -> None:
        self._store = store
        self._file = AuditCheckpointFile(data, store.link.id)
        self._audit: LinkAudit | None = None
        self._checkpointed = 0
        self._resumed = False

    async def carry_out(self, order: AuditOrder) -> AuditorReport:
        """Audit the link. If Redis fails, or its data cannot be read, the report says so."""
        try:
            note = await self._keep_checkpoint(order)
            report = await (self._compare(order) if order.compares else self._follow(order))
        except (RedisError, OSError, ValueError) as error:
            return AuditorReport(order.number, failure_text(error))
        return msgspec.structs.replace(report, note=note)

    async def _follow(self, order: AuditOrder) -> AuditorReport:
        audit = self._audit
        good = audit is not None and await audit.follow(order.seen, again=order.again)
        return AuditorReport(order.number, problems=() if good else (_TO_BE_FOUND,))

    async def _compare(self, order: AuditOrder) -> AuditorReport:
        seen = order.seen
        self._audit = audit = self._audit or await self._first_audit(seen)
        finding = await audit.run(seen, again=order.again, at=order.entry)
        if finding.problems and self._resumed:
            # The file of the audit checkpoint can be wrong. Only a whole audit finds this out.
            self._audit = audit = LinkAudit(self._store)
            finding = await audit.run(seen, again=order.again, at=order.entry)
        self._resumed = False
        return AuditorReport(
            order.number,
            entries=finding.entries,
            stored=finding.stored,
            seal=finding.seal,
            problems=finding.problems[:_PROBLEMS_TOLD],
            replayed=finding.replayed,
            unreserved=finding.unreserved,
        )

    async def _first_audit(self, seen: Mark) -> LinkAudit:
        state = await self._file.read(self._store, seen)
        if state is None:
            return LinkAudit(self._store)
        self._checkpointed = state.checkpoint.entries
        self._resumed = True
        return LinkAudit(self._store, Replay.resumed(state))

    async def _keep_checkpoint(self, order: AuditOrder) -> str:
        """Write the checkpoint of the last audit, if it is due and its entries are sealed.

        After a start, an auditor uses no checkpoint of entries without a seal. Return why the
        checkpoint cannot be written, or an empty text.
        """
        ended = self._audit.entries if self._audit else 0
        if not self._checkpointed + order.checkpoint_every <= ended <= order.seen.sealed:
            return ""
        if self._audit is None or (state := self._audit.checkpoint) is None:
            return ""
        self._checkpointed = ended
        try:
            # Only the next audit changes the state, and that audit waits for the end of this call.
            await asyncio.to_thread(self._file.write, state)
        except OSError as error:
            return f"the audit checkpoint cannot be written: {error}"
        return ""
