"""Links, meters and their changes in the floor page's API, in cents and in UTC."""

from typing import Annotated, Literal

import msgspec

from meters.acts.claim_types import FloorRow, Words
from meters.ledger.money_terms import Parameter

ProposalState = Literal["open", "confirmed", "withdrawn"]


class MeterAccounting(FloorRow, frozen=True, kw_only=True):
    """The accounting meters of a progressive meter. They only rise (duty D2).

    Attributes:
        wagers: the number of accepted wagers, those of rounds that were voided later included;
            `wagered` is their amount.
        voided_wagers: the number of wagers that were returned because their round was void;
            `voided` is their amount.
        hits: the number of wins of a percentage of the meter.
        wins: the number of all wins, including wins at odds and Envy Bonuses; `won` is their
            amount.
        rejected: the part of `won` that floorpersons rejected, or declared as not due. A win counts
            each time that it is rejected.
        reopened: the part of `rejected` that two people reopened.
        paid_by_system: the amount paid at the table, without a hand pay.
        paid_by_attendant: the amount of hand pays.
        paid: `paid_by_system` plus `paid_by_attendant`.
        overflow: the total that the meter could not accept because of its payout limit. Amounts
            that left the overflow later are included: voided rounds, and rejected wins that were
            reopened.
    """

    wagers: int
    wagered: int
    voided_wagers: int
    voided: int
    hits: int
    wins: int
    won: int
    rejected: int
    reopened: int
    paid_by_system: int
    paid_by_attendant: int
    paid: int
    overflow: int


class MeterParameters(FloorRow, frozen=True, kw_only=True):
    """A meter with its parameters (duty D3). Rates are in basis points.

    `wagers` has the present wager and those that can be proposed, and is empty if every amount is
    possible; `paytables` likewise, and is empty if there is no choice. `overflow` waits above the
    payout limit, and refills the meter as soon as there is room. `highest` is the largest of the
    present amount of the meter and its amounts before each of its last 25 wins.
    """

    meter: str
    name: str
    kind: str
    wager: int
    wagers: tuple[int, ...] = ()
    paytable: str | None
    paytables: tuple[str, ...]
    magic_card_every: int | None
    lucky_every: int | None
    seed: int
    reseed: int
    primary_bps: int
    reserve_bps: int
    limit: int | None
    contribution_max: int | None
    amount: int
    highest: int = 0
    reserve: int
    overflow: int
    cycle: int
    pending: int
    accounting: MeterAccounting


class ParameterChange(FloorRow, frozen=True, kw_only=True, tag_field="kind", tag="parameter"):
    """A proposed change of one parameter of a meter.

    For a paytable, `value` is a letter. For a wager, a payout limit or the largest contribution, it
    is in cents; 0 removes the payout limit or the largest contribution.
    """

    meter: str
    parameter: Parameter
    value: int | str
    reason: Words


class Adjustment(FloorRow, frozen=True, kw_only=True, tag_field="kind", tag="adjustment"):
    """A correction of a balance after a malfunction (duty D15); a negative one is subtracted."""

    meter: str
    amount: Annotated[int, msgspec.Meta(ge=-(10**11), le=10**11)]
    reason: Words


class ProposalRow(FloorRow, frozen=True, kw_only=True):
    """A change that one person proposes and another confirms, from `before` to `after`."""

    proposal: str
    link: str
    kind: Literal["parameter", "adjustment"]
    meter: str
    parameter: Parameter | None
    before: str
    after: str
    amount: int | None
    reason: str
    by: str
    at: str
    state: ProposalState
    decided_by: str | None = None
    decided_at: str | None = None


class UnapprovedRow(FloorRow, frozen=True, kw_only=True):
    """The service's floor file, which differs from the file that was approved for a link (D12).

    Attributes:
        digest: the digest of the service's floor file, which an approval must send.
        changed: the differences from the last approved floor file, in words and dollars.
        facility: the differences that concern the whole facility, not only this link.
        approved_by: the user who approved the last approved floor file, at `approved_at`; null if
            Redis has lost that approval.
        barred: why the new floor file cannot be approved now.
        terms: all settings of the link in the service's floor file, in words and dollars.
        first: true if the whole floor is empty. Then one person approves.
        confirmed: true if the floor file only has values that two people have confirmed as changes
            of parameters. Then one person approves. In all other cases, two people approve.
        first_by: the user who approved exactly this floor file first, at `first_at`.
    """

    digest: str
    changed: tuple[str, ...]
    facility: tuple[str, ...] = ()
    approved_by: str | None
    approved_at: str | None
    barred: str | None
    terms: tuple[str, ...] = ()
    first: bool = False
    confirmed: bool = False
    first_by: str | None = None
    first_at: str | None = None


class LinkView(FloorRow, frozen=True, kw_only=True):
    """The state of a link, with its meters and its proposed changes.

    `rounds_open` counts rounds with accepted wagers but without a result. `tables_offline` names
    the tables whose agents are not connected (duty D14). `seal` is a digest over the ledger's
    entries up to `sealed_entry`, in which an audit found no error (duty D17). `changeable` is true
    if people can open, close or change the link: also while it is inoperable only because the
    service has no broker. `wrong_parameters` is true if the link is inoperable only because
    parameters of its meters do not fit the games of its tables. `unapproved` is null if the
    service's floor file is approved for the link.
    """

    link: str
    name: str
    state: Literal["operable", "inoperable", "closed"]
    reason: str
    changeable: bool
    wrong_parameters: bool = False
    closed_by: str | None
    closed_at: str | None
    rounds_open: int
    tables: int
    tables_online: int
    tables_offline: tuple[str, ...] = ()
    sealed_entry: int
    seal: str
    meters: tuple[MeterParameters, ...]
    proposals: tuple[ProposalRow, ...]
    unapproved: UnapprovedRow | None = None


class ActRow(FloorRow, frozen=True, kw_only=True):
    """An entry of a link's ledger about what a person or the service did (duty D17).

    `what` is the kind of the act. For a link, a meter or a claim it is ``seed``, ``validate``,
    ``request_reject``, ``request_reopen``, ``reject``, ``reopen``, ``pay``, ``correct_slip``,
    ``close``, ``open``, ``propose``, ``withdraw``, ``parameter``, ``adjust``, ``inoperable``,
    ``approve_first``, ``approve`` or ``restore``. For a table it is ``void`` after cards were
    entered, or ``result`` if a hand was entered again with other cards. For a decided correction
    request it is ``confirm_correction`` or ``refuse_correction``. It is ``unreadable`` if somebody
    damaged the entry, which the audit reports. `of` is the id of the claim, the meter, the
    proposal, the round or the link.

    `hand_record` is, for a decision on a claim, a name that all claims of the hand have in common;
    empty for claims that are only in the archive.
    """

    entry: int
    at: str
    by: str
    what: str
    of: str
    table: str
    told: str
    hand_record: str = ""
