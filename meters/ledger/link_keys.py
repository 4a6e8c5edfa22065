"""Names of all Redis keys of links.

The keys of a link have the same hash tag, so a Redis Cluster keeps them on one primary.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

_ROOT: Final = "pitlink"

ANY_WIN: Final = ":"
"""Mark between meter and place in the members of the index of wins, for every win."""
METER_AWARD: Final = "!"
"""The same, for wins of a percentage of the meter. They have a member with each mark."""


@dataclass(frozen=True)
class LinkKeys:
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
        """Hash: each meter's cycle, version, pending claims and terms; the last ledger entry."""
        return self._key("meters")

    @cached_property
    def ledger(self) -> str:
        """Stream: the ledger. The ledger entries of one script call are one entry of the stream.

        Its id is ``n-0``, where n is the number of the last of these ledger entries.
        """
        return self._key("ledger")

    @cached_property
    def ledger_blocks(self) -> str:
        """Stream: blocks of old ledger entries, compressed. The last entries are in `ledger`.

        The id of a block is ``n-0``, where n is the number of its last ledger entry.
        """
        return self._key("ledger_blocks")

    @cached_property
    def tables(self) -> str:
        """Hash: the packed state of each table, by table: a `PackedTable`.

        It has the last sequence number (`seq`), the open round without its wagers event, and the
        hand pays for which the table must wait.
        """
        return self._key("tables")

    @cached_property
    def rounds(self) -> str:
        """Hash: the text of the wagers event of each open round, by table."""
        return self._key("rounds")

    @cached_property
    def replies(self) -> str:
        """Hash: the replies to the last events of each table.

        The field ``{table}:{seq % REPLIES_KEPT}`` has the event's sequence number, a blank, the
        digest of the event, and the reply. A new reply replaces the one before it in its field.
        """
        return self._key("replies")

    @cached_property
    def repeated_claims(self) -> str:
        """Hash: the claims whose state the service reports to a table again, by table."""
        return self._key("repeated_claims")

    @cached_property
    def waiting(self) -> str:
        """Sorted set: undecided claims, sorted by the number of the ledger entry of the win."""
        return self._key("waiting")

    @cached_property
    def wins(self) -> str:
        """Sorted set with all scores 0: ``{meter}:{entry}:{claim}`` for each win.

        A win that is paid as a percentage of the meter has a second member, with ``!`` instead of
        the first colon.
        """
        return self._key("wins")

    @cached_property
    def slips(self) -> str:
        """Hash: for each payout slip's number, the claim that was paid with the slip.

        The slip numbers are in a common form, in which they are compared. If a restore has reserved
        a number for a claim, the value is the claim, a colon, and the number of the restore's
        ledger entry.
        """
        return self._key("slips")

    @cached_property
    def acts(self) -> str:
        """Sorted set: numbers of ledger entries about what people or the service did."""
        return self._key("acts")

    @cached_property
    def dealt(self) -> str:
        """Hash: the last results, by a digest of their cards. A new result replaces the oldest one.

        ``d:{digest}`` has the table of the result, and the number of its ledger entry. `DEALT_KEPT`
        results are kept, each at the place ``s:{entry % DEALT_KEPT}``, which has its digest.
        """
        return self._key("dealt")

    @cached_property
    def asks(self) -> str:
        """Hash: the open correction request of each table, by table.

        The field ``{table}!`` has the floorperson's decision, until the table sends its request
        again.
        """
        return self._key("asks")

    @cached_property
    def checkpoint(self) -> str:
        """Hash: balances and claims at the end of the ledger's archived part, and who archived it.

        The ledger entries up to that point are only in the archive.
        """
        return self._key("checkpoint")

    @cached_property
    def approved(self) -> str:
        """Hash: the floor file's last approved settings, their approver, and the ledger entry.

        `first` is the ledger entry of the first of two approvals, while it waits for the second.
        """
        return self._key("approved")

    @cached_property
    def proposals(self) -> str:
        """Sorted set: proposed changes without a decision, in the order of their ledger entries."""
        return self._key("proposals")

    @cached_property
    def restoring(self) -> str:
        """Hash: who runs `pitlink restore` now, and since when. It is deleted at the end."""
        return self._key("restoring")

    @cached_property
    def event_group(self) -> str:
        """Stream with one entry: the secret group name of services without key bundles."""
        return self._key("event_group")

    @cached_property
    def services(self) -> str:
        """Hash: for each key bundle of a service, the processes that use it or wait for it."""
        return self._key("services")

    @property
    def sorted_sets(self) -> frozenset[str]:
        return frozenset({self.waiting, self.wins, self.acts, self.proposals})

    def proposal(self, proposal: str) -> str:
        """Return the key of a hash: a proposed change, and the decision on it."""
        return self._key(f"proposal:{proposal}")

    def claim(self, claim: str) -> str:
        """Return the key of a hash: the record, amount and state of a claim."""
        return self._key(f"claim:{claim}")
