"""Redis keys of links, all defined here.

The keys of a link have the same hash tag, so a Redis Cluster keeps them on one primary.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

_ROOT: Final = "pitlink"


@dataclass(frozen=True)
class LinkKeys:
    """The Redis keys of one link."""

    link: str

    def _key(self, name: str) -> str:
        return f"{_ROOT}:{{{self.link}}}:{name}"

    @cached_property
    def accounts(self) -> str:
        """Hash: the balance of each account in micros, by account name."""
        return self._key("accounts")

    @cached_property
    def tallies(self) -> str:
        """Hash: counts and sums that never decrease (duty D2)."""
        return self._key("tallies")

    @cached_property
    def meters(self) -> str:
        """Hash: each meter's cycle, version, pending claims and terms; the last entry's number."""
        return self._key("meters")

    @cached_property
    def ledger(self) -> str:
        """Stream: the ledger. Entry n has the id ``n-0``."""
        return self._key("ledger")

    @cached_property
    def waiting(self) -> str:
        """Sorted set: claims without a decision, by the number of the entry that opened each."""
        return self._key("waiting")

    @cached_property
    def wins(self) -> str:
        """Sorted set, all scores 0: ``{meter}:{entry}:{claim}`` for each win.

        A win that is paid as a percentage of the meter has a second member, with ``!`` instead of
        the first colon.
        """
        return self._key("wins")

    @cached_property
    def slips(self) -> str:
        """Hash: for each payout slip's number, the claim that was paid with the slip.

        The numbers are folded: in the form in which numbers are compared. A restore can reserve a
        number for a claim. Then the value is the claim, a colon, and the restore's ledger entry.
        """
        return self._key("slips")

    @cached_property
    def acts(self) -> str:
        """Sorted set: numbers of the ledger entries about acts of people or of the service."""
        return self._key("acts")

    @cached_property
    def dealt(self) -> str:
        """Hash: the last results, found by a digest of their cards. A new one replaces the oldest.

        ``d:{digest}`` has the table and the entry of a result. ``s:{entry % DEALT_KEPT}`` has the
        digest that is stored at this place.
        """
        return self._key("dealt")

    @cached_property
    def asks(self) -> str:
        """Hash: the correction request that each table has sent to a floorperson, by table.

        ``{table}!`` is the decision on the request. The decision is kept until the table repeats
        its request.
        """
        return self._key("asks")

    @cached_property
    def checkpoint(self) -> str:
        """Hash: the books at the end of the archived part of the ledger, and who archived it.

        The entries up to that point are only in the archive.
        """
        return self._key("carried")

    @cached_property
    def approved(self) -> str:
        """Hash: the floor file's last approved settings, their approver, and the ledger entry."""
        return self._key("approved")

    @cached_property
    def proposals(self) -> str:
        """Sorted set: proposals without a decision, in the order of their ledger entries."""
        return self._key("proposals")

    @cached_property
    def restoring(self) -> str:
        """Hash: who restores the store now, and since when. Deleted when the restore ends."""
        return self._key("restoring")

    @cached_property
    def event_group(self) -> str:
        """Stream of one entry: the secret name by which services without keys share events."""
        return self._key("event_group")

    @cached_property
    def services(self) -> str:
        """Hash: the processes that use each service's keys, or wait for these keys."""
        return self._key("services")

    def proposal(self, proposal: str) -> str:
        """Return the key of a hash: a proposal and the decision on it."""
        return self._key(f"proposal:{proposal}")

    def table(self, table: str) -> str:
        """Return the key of a hash: the state of a table.

        The state is the last `seq`, the open round, the claims that hold the table, and the
        replies.
        """
        return self._key(f"table:{table}")

    def claim(self, claim: str) -> str:
        """Return the key of a hash: the record, amount and state of a claim."""
        return self._key(f"claim:{claim}")
