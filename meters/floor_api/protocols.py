"""What the desks and what stands behind them offer: claims, asks, links, changes, health."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from meters.books.correction_requests import AskAct
from meters.books.link_state import Act, EnvyAct
from meters.books.two_people import NO_SETTERS, PinSetters
from meters.floor_api.types import (
    ActRow,
    Adjustment,
    AskRow,
    ClaimRow,
    LinkView,
    ParameterChange,
    ProposalRow,
    WinPage,
    WinSearch,
)


class ActError(Exception):
    """An act that was refused; nothing changed.

    Attributes:
        code: for programs: ``unknown_claim``, ``wrong_state``, or another.
        message: the reason, plainly.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ClaimActions(Protocol):
    """Where floorpersons decide what waits, and where past wins are looked up."""

    async def waiting(self) -> Sequence[ClaimRow]:
        """The claims of which the win or its Envy is not yet paid or rejected, oldest first."""
        ...

    async def find(self, claim: str) -> ClaimRow:
        """One claim, decided or not.

        Raises:
            ActError: ``unknown_claim``, ``link_inoperable``.
        """
        ...

    async def decide(
        self,
        claim: str,
        act: Act,
        actor: str,
        *,
        reason: str | None = None,
        slip: str | None = None,
        envy_not_due: bool = False,
        envy_paid: bool = False,
        setters: PinSetters = NO_SETTERS,
    ) -> ClaimRow:
        """Take one decision, and give the claim as it then is.

        Args:
            claim: which.
            act: what is done with it.
            actor: who does it, for the ledger.
            reason: why it is rejected.
            slip: the number of the payout slip.
            envy_not_due: with a rejection: the hand was not what was entered, so that the Envy
                Bonuses that it brought to others are not due either.
            envy_paid: with a payment: the Envy Bonuses of the hand were paid as well.
            setters: who set whose PIN lately, as far as it concerns the actor.

        Raises:
            ActError: nothing changed: ``unknown_claim``; ``wrong_state``, which says who was
                first; ``same_person`` where who validated would also pay, or may; ``bad_value``
                where the slip's number is none; ``slip_used``; ``envy_decided``;
                ``books_differ`` or ``books_full``; ``link_inoperable``.
        """
        ...

    async def decide_envy(
        self,
        claim: str,
        act: EnvyAct,
        actor: str,
        *,
        reason: str | None = None,
        setters: PinSetters = NO_SETTERS,
    ) -> ClaimRow:
        """Settle the Envy Bonuses that are owed for a hand, and give the claim as it then is.

        Args:
            claim: under which they are owed.
            act: whether the table has paid them, or they are not due.
            actor: who says so, for the ledger.
            reason: why they are not due.
            setters: who set whose PIN lately, as far as it concerns the actor.

        Raises:
            ActError: nothing changed: ``unknown_claim``; ``wrong_state``, which says who was
                first; ``books_differ`` or ``books_full``; ``link_inoperable``.
        """
        ...

    async def wins(self, search: WinSearch) -> WinPage:
        """Past and present wins, latest first (duty D16).

        Raises:
            ActError: ``unknown_link``, ``unknown_meter``, ``link_inoperable``.
        """
        ...


class AskDesk(Protocol):
    """Where corrections are confirmed that tables ask a floorperson for."""

    async def asks(self) -> Sequence[AskRow]:
        """Give what nobody has decided, oldest first.

        Raises:
            ActError: ``link_inoperable``: the store cannot be read.
        """
        ...

    async def decide(self, ask: str, act: AskAct, actor: str, *, reason: str = "") -> AskRow:
        """Confirm or refuse a correction, and give what was decided about.

        Args:
            ask: which.
            act: what is done with it.
            actor: who does it, for the ledger.
            reason: why it is refused.

        Raises:
            ActError: nothing changed: ``unknown_ask`` where the table no longer asks for it;
                ``wrong_state``, which says who was first; ``link_inoperable``.
        """
        ...


class LinkActions(Protocol):
    """Where supervisors open and close links, change parameters and correct meters."""

    async def links(self) -> Sequence[LinkView]:
        """Every link as it stands.

        Raises:
            ActError: ``link_inoperable``: the store cannot be read.
        """
        ...

    async def close(self, link: str, actor: str, reason: str) -> LinkView:
        """Close a link: its tables take no new progressive wager; rounds in hand are finished.

        Raises:
            ActError: ``unknown_link``, ``wrong_state``, ``link_inoperable``.
        """
        ...

    async def open(self, link: str, actor: str) -> LinkView:
        """Open a closed link again.

        Raises:
            ActError: as ``close``.
        """
        ...

    async def approve(
        self, link: str, actor: str, digest: str, setters: PinSetters = NO_SETTERS
    ) -> LinkView:
        """Approve what the floor file says of a link, as it was shown (duties D10, D12).

        Raises:
            ActError: ``unknown_link``; ``stale`` where the digest is not that of the floor file,
                or another was approved meanwhile; ``no_change``; ``barred`` where the books could
                not be opened under it; ``same_person`` where the actor's PIN was set by command
                lately; ``link_inoperable`` for another reason.
        """
        ...

    async def propose(
        self,
        link: str,
        actor: str,
        change: ParameterChange | Adjustment,
        setters: PinSetters = NO_SETTERS,
    ) -> ProposalRow:
        """Propose what another person must confirm (duties D4, D12, D15).

        Raises:
            ActError: ``unknown_link``, ``unknown_meter``, ``bad_value``, ``no_change``,
                ``not_closed``, ``rounds_open``, ``link_inoperable``.
        """
        ...

    async def confirm(
        self, link: str, proposal: str, actor: str, setters: PinSetters = NO_SETTERS
    ) -> ProposalRow:
        """Confirm what another person has proposed, and carry it out.

        Raises:
            ActError: as ``propose``, and ``unknown_proposal``, ``wrong_state``, ``same_person``;
                ``stale`` where the meter was won or changed since; ``below_seed`` where it holds
                less than the seed of a new wager; ``meter_short`` where it holds less than is to
                be taken off it; ``meter_full``.
        """
        ...

    async def withdraw(self, link: str, proposal: str, actor: str) -> ProposalRow:
        """Take back what was proposed, by whomever.

        Raises:
            ActError: ``unknown_link``, ``unknown_proposal``, ``wrong_state``.
        """
        ...

    async def acts(self, link: str, before: int | None, limit: int) -> Sequence[ActRow]:
        """What people did with a link, from its ledger, latest first (duty D17).

        Raises:
            ActError: ``unknown_link``, ``link_inoperable``.
        """
        ...


class Changes(Protocol):
    """Tells when something that a floorperson sees has changed."""

    async def next(self, seen: int) -> int:
        """Wait until the count of changes is another than `seen`, and give it."""
        ...


class Health(Protocol):
    """Whether the links can be played."""

    def inoperable(self) -> Mapping[str, str]:
        """The links that cannot be played, each with its reason; empty when all is well."""
        ...
