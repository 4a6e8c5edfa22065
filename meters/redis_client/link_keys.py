"""Every Redis key, named in one place; all keys of a link share its hash tag (Redis Cluster)."""

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
        """Sorted set: claims that wait for somebody, by the entry that opened them."""
        return self._key("waiting")

    @cached_property
    def wins(self) -> str:
        """Sorted set, all of score 0: ``{meter}:{entry}:{claim}`` of each win.

        A percentage of the meter stands there once more, with ``!`` for the first colon.
        """
        return self._key("wins")

    @cached_property
    def slips(self) -> str:
        """Hash: the number of each payout slip, folded, to the claim that was paid with it."""
        return self._key("slips")

    @cached_property
    def acts(self) -> str:
        """Sorted set: the entries of what people did, or the service by itself, by their number."""
        return self._key("acts")

    @cached_property
    def dealt(self) -> str:
        """Hash: the last results by what was dealt, ``d:{digest}`` to table and entry, in a ring.

        ``s:{entry % DEALT_KEPT}`` is the digest that the place in the ring has.
        """
        return self._key("dealt")

    @cached_property
    def asks(self) -> str:
        """Hash: the correction that each table asks a floorperson for, by table.

        ``{table}!`` is what was decided about it, until the table tries it again.
        """
        return self._key("asks")

    @cached_property
    def checkpoint(self) -> str:
        """Hash: the books at the last entry that is in the archive alone, and what archived it."""
        return self._key("carried")

    @cached_property
    def approved(self) -> str:
        """Hash: what of the floor file was last approved, by whom, and the entry that says so."""
        return self._key("approved")

    @cached_property
    def proposals(self) -> str:
        """Sorted set: what was proposed and is not decided, by the entry that proposed it."""
        return self._key("proposals")

    @cached_property
    def restoring(self) -> str:
        """Hash: that the store is being written anew, by whom and since when; gone at the end."""
        return self._key("restoring")

    @cached_property
    def event_group(self) -> str:
        """Stream of one entry: the secret name by which services without keys share events."""
        return self._key("event_group")

    @cached_property
    def services(self) -> str:
        """Hash: which process holds each service's keys, and which stays away because of it."""
        return self._key("services")

    def proposal(self, proposal: str) -> str:
        """Hash: what somebody proposed, and what became of it."""
        return self._key(f"proposal:{proposal}")

    def table(self, table: str) -> str:
        """Hash: a table's last `seq`, its open round, the claims that hold it, replies kept."""
        return self._key(f"table:{table}")

    def claim(self, claim: str) -> str:
        """Hash: a claim's record, amount and state."""
        return self._key(f"claim:{claim}")
