"""Routes for links: show their state and history, and close, open, approve or change them.

Changes of a meter's parameter or balance need two people.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody

from meters.acts.act_rows import ActRow
from meters.acts.claim_types import Words
from meters.acts.link_view import LinkDone, LinkView
from meters.acts.links import Links
from meters.acts.meter_changes import Adjustment, ParameterChange, ProposalRow
from meters.floor.roles import Right
from meters.users.sessions import SignedIn
from meters.users.users import UserDirectory
from meters.web.error_answers import StaffRequest
from meters.web.route_parameters import EntriesBefore, LinkId, PageSize, ProposalId
from meters.web.security import Nothing, Signature, signer_of, staff_act, staff_read, with_bar

_READS: Final = (400, 401, 403, 404, 503)


class Closing(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The body of a request that closes a link."""

    reason: Words


class Approving(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Approval of a floor file.

    Attributes:
        digest: the digest in `unapproved`. If the service has another file now, it refuses this
            request.
    """

    digest: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


def link_routes(links: Links, user_directory: UserDirectory) -> list[HTTPRouteHandler]:
    return [
        *_reading_routes(links),
        *_switching_routes(links),
        *_changing_routes(links, user_directory),
    ]


def _reading_routes(links: Links) -> list[HTTPRouteHandler]:
    @staff_read("/api/v1/links", Right.WINS, *_READS, reads_setters=True)
    async def list_links(request: StaffRequest) -> Sequence[LinkView]:
        """List every link: its state, proposed changes, and the parameters of its meters (D3)."""
        return [_seen_by(request.user, view) for view in await links.links()]

    @staff_read("/api/v1/links/{link:str}/acts", Right.WINS, *_READS)
    async def list_acts(
        link: LinkId, before: EntriesBefore = None, limit: PageSize = 50
    ) -> Sequence[ActRow]:
        """List what people did with a link, latest first (duty D17)."""
        return await links.acts(link, before, limit)

    @staff_read("/api/v1/links/last-done", Right.WINS, *_READS)
    async def list_last_done(limit: PageSize = 5) -> Sequence[LinkDone]:
        """List each link's last audit, reading, archived day, correction and acts (D17, D19)."""
        return await links.last_done(limit)

    return [list_links, list_acts, list_last_done]


def _seen_by(person: SignedIn, view: LinkView) -> LinkView:
    rows = (with_bar(row, person, row.by, row.pin_set_by) for row in view.proposals)
    return msgspec.structs.replace(view, proposals=tuple(rows))


def _switching_routes(links: Links) -> list[HTTPRouteHandler]:
    @staff_act("/api/v1/links/{link:str}/close", Right.LINKS)
    async def close_link(link: LinkId, data: JSONBody[Closing], request: StaffRequest) -> LinkView:
        """Close a link. Its tables finish their open rounds but accept no new progressive wager."""
        return await links.close(link, request.user.name, data.reason)

    @staff_act("/api/v1/links/{link:str}/open", Right.LINKS)
    async def open_link(link: LinkId, data: JSONBody[Nothing], request: StaffRequest) -> LinkView:
        """Open a closed link: its tables accept progressive wagers again."""
        return await links.open(link, request.user.name)

    @staff_act("/api/v1/links/{link:str}/approve", Right.LINKS)
    async def approve_link(
        link: LinkId, data: JSONBody[Approving], request: StaffRequest
    ) -> LinkView:
        """Approve a link's settings in the floor file, as the page showed them (duty D12).

        One or two seconds after the last necessary approval, the service makes the link operable.
        """
        person = request.user
        return await links.approve(link, person.name, data.digest, person.setters)

    return [close_link, open_link, approve_link]


def _changing_routes(links: Links, user_directory: UserDirectory) -> list[HTTPRouteHandler]:
    @staff_act("/api/v1/links/{link:str}/proposals", Right.LINKS, status_code=201)
    async def propose_change(
        link: LinkId, data: JSONBody[ParameterChange | Adjustment], request: StaffRequest
    ) -> ProposalRow:
        """Propose to change a parameter or balance (D12, D15). Another user must confirm (D4)."""
        return await links.propose(link, request.user.name, data, request.user.setters)

    @staff_act("/api/v1/links/{link:str}/proposals/{proposal:str}/confirm", Right.LINKS, 429)
    async def confirm_change(
        link: LinkId, proposal: ProposalId, data: JSONBody[Signature], request: StaffRequest
    ) -> ProposalRow:
        """Make a change that another user proposed (duty D4).

        If a `colleague` is given, the colleague confirms the change.
        """
        person = await signer_of(request, data, user_directory)
        return await links.confirm(link, proposal, person.name, person.setters)

    @staff_act("/api/v1/links/{link:str}/proposals/{proposal:str}/withdraw", Right.LINKS)
    async def withdraw_change(
        link: LinkId, proposal: ProposalId, data: JSONBody[Nothing], request: StaffRequest
    ) -> ProposalRow:
        """Withdraw a proposed change."""
        return await links.withdraw(link, proposal, request.user.name)

    return [propose_change, confirm_change, withdraw_change]
