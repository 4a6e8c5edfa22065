"""Redis keys of links, each defined here only; a link's keys share its hash tag (Redis Cluster)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

_ROOT: Final = "pitlink"


@dataclass(frozen=True)
class LinkKeys:
    """The keys of one link."""

    link: str

    def _key(self, name: str) -> str:
        return f"{_ROOT}:{{{self.link}}}:{name}"

    @cached_property
    def accounts(self) -> str:
        """Hash: account name to balance in micros."""
        return self._key("accounts")

    @cached_property
    def tallies(self) -> str:
        """Hash: counts and sums that only rise (duty D2)."""
        return self._key("tallies")

    @cached_property
    def meters(self) -> str:
        """Hash: each meter's cycle, version and pending claims, the terms, the last entry."""
        return self._key("meters")

    @cached_property
    def ledger(self) -> str:
        """Stream: the ledger, entry n under the id ``n-0``."""
        return self._key("ledger")

    @cached_property
    def waiting(self) -> str:
        """Sorted set: claims that wait for a decision, by the entry that opened them."""
        return self._key("waiting")

    @cached_property
    def wins(self) -> str:
        """Sorted set, all of score 0: ``{meter}:{entry}:{claim}`` of each win.

        A percentage of the meter has a second member, with ``!`` instead of the first colon.
        """
        return self._key("wins")

    @cached_property
    def slips(self) -> str:
        """Hash: the number of each payout slip, folded, with the claim that was paid with it.

        A number that a restore keeps has the claim for which it was reserved, a colon, and the
        entry of the restore.
        """
        return self._key("slips")

    @cached_property
    def acts(self) -> str:
        """Sorted set: the entries about acts of people or of the service itself, by number."""
        return self._key("acts")

    @cached_property
    def dealt(self) -> str:
        """Hash: the last results by their cards, ``d:{digest}`` with table and entry, in a ring.

        ``s:{entry % DEALT_KEPT}`` is the digest at that place in the ring.
        """
        return self._key("dealt")

    @cached_property
    def asks(self) -> str:
        """Hash: each table's correction request to a floorperson, by table.

        ``{table}!`` is the decision on it, until the table sends it again.
        """
        return self._key("asks")

    @cached_property
    def checkpoint(self) -> str:
        """Hash: the books at the last entry that is only in the archive, and what archived it."""
        return self._key("carried")

    @cached_property
    def approved(self) -> str:
        """Hash: the last approved settings of the floor file, their approver, and the entry."""
        return self._key("approved")

    @cached_property
    def proposals(self) -> str:
        """Sorted set: undecided proposals, by the entry that proposed them."""
        return self._key("proposals")

    @cached_property
    def restoring(self) -> str:
        """Hash: a restore of the store in progress, by whom and since when; deleted at its end."""
        return self._key("restoring")

    @cached_property
    def event_group(self) -> str:
        """Stream of one entry: the secret name by which services without keys share events."""
        return self._key("event_group")

    @cached_property
    def services(self) -> str:
        """Hash: the process that holds each service's keys, and the one that waits for them."""
        return self._key("services")

    def proposal(self, proposal: str) -> str:
        """Return the key of a hash: a proposal, and the decision on it."""
        return self._key(f"proposal:{proposal}")

    def table(self, table: str) -> str:
        """Return the key of a hash: a table's last `seq`, open round, claims of a hold, replies."""
        return self._key(f"table:{table}")

    def claim(self, claim: str) -> str:
        """Return the key of a hash: a claim's record, amount and state."""
        return self._key(f"claim:{claim}")
