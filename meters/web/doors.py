"""What the web side asks of the service: the claims desk and the links' health."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec

Act = Literal["validate", "reject", "pay"]
ClaimState = Literal["pending", "validated", "paid", "rejected"]


class ClaimRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A progressive win that waits, or waited, for a floorperson (duties D5, D8 and D16).

    `amount` is in cents; `percent` is what part of the meter it is, or null for a win at odds;
    `asset` is the number by which the facility knows the table; `order` is the number of the
    ledger's entry, by which wins at nearly the same time are told apart (duty D7).
    """

    claim: str
    order: str
    link: str
    meter: str
    table: str
    asset: str
    round: str
    position: int
    patron: str | None
    item: str
    hand: str
    cards: tuple[str, ...]
    dealer: tuple[str, ...] = ()
    community: tuple[str, ...] = ()
    amount: int
    percent: int | None
    paid_from: str
    state: ClaimState
    at: str
    decided_by: str | None = None
    decided_at: str | None = None
    reason: str | None = None
    slip: str | None = None


class ClaimError(Exception):
    """A decision that cannot be taken.

    Attributes:
        code: for programs: ``unknown_claim``, ``wrong_state``, or another.
        message: the reason, plainly.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ClaimDesk(Protocol):
    """Where floorpersons decide what waits."""

    async def waiting(self) -> Sequence[ClaimRow]:
        """The claims that are not yet paid or rejected, oldest first."""
        ...

    async def decide(
        self, claim: str, act: Act, actor: str, reason: str | None, slip: str | None
    ) -> ClaimRow:
        """Take one decision, and give the claim as it then is.

        Args:
            claim: which.
            act: what is done with it.
            actor: who does it, for the ledger.
            reason: why it is rejected.
            slip: the number of the payout slip.

        Raises:
            ClaimError: nothing changed, and why.
        """
        ...


class Health(Protocol):
    """Whether the links can be played."""

    def inoperable(self) -> Mapping[str, str]:
        """The links that cannot be played, each with its reason; empty when all is well."""
        ...
