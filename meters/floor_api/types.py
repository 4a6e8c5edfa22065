"""Data of the floor page's API, one frozen type each; money in cents."""

from typing import Annotated, Literal

import msgspec

from bonus.printable import PRINTABLE_WORDS

ClaimState = Literal["pending", "validated", "paid", "rejected"]
ProposalState = Literal["open", "confirmed", "withdrawn"]
Parameter = Literal[
    "wager", "paytable", "magic_card_every", "lucky_every", "limit", "contribution_max"
]

Words = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=PRINTABLE_WORDS)]
"""Text that a person types: printable and not blank."""

PAGE_MAX = 200
"""The largest number of wins on one page."""


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings common to all rows."""


class Wagered(_Row, frozen=True, kw_only=True):
    """The wagers of one position at lock-out, in cents by wager."""

    position: int
    patron: str | None
    wagers: dict[str, int]


class EnvyOwed(_Row, frozen=True, kw_only=True):
    """An Envy Bonus for another position because of a win; the amount in cents."""

    position: int
    patron: str | None
    item: str
    amount: int


class ClaimRow(_Row, frozen=True, kw_only=True):
    """A progressive win that waits, or waited, for a floorperson (duties D5, D8 and D16).

    Attributes:
        claim: its permanent name.
        order: the number of its ledger entry, which puts wins at nearly the same time in order
            (duty D7).
        turn: its turn among the `turns` wins of its round that wait for a floorperson, from 1.
        link: the link's id; `link_name` is its name for people.
        meter: the meter's id; `meter_name` is its name for patrons.
        asset: the facility's number for the table.
        item: the wager that won; `item_name` in words.
        hand: the hand; `hand_name` in words.
        cards: the position's cards; the dealer's and the community cards follow if they count.
        wagered: the wager, in cents.
        amount: the win, in cents.
        meter_after: the meter balance after it, in cents.
        percent: the percentage of the meter, or null for a win at odds.
        paid_from: ``hand_pay``, ``table_inventory`` or ``game_account``.
        rule: the subsection that pays it.
        wagers: all wagers accepted at lock-out, as evidence.
        envy: the other positions that are owed an Envy Bonus for this hand.
        envy_not_due: whether somebody has declared the Envy Bonuses as not due.
        envy_amount: their sum, in cents.
        envy_state: their state, or null if the hand brings none: ``pending`` until the win is
            decided, ``validated`` while they are owed, ``paid`` once somebody paid them.
        envy_by: the user who made the last decision about them, at `envy_at`; null if nobody has.
        envy_reason: why they were declared not due after the win was decided.
        only_envy: whether only these Envy Bonuses are owed: no win of the hand waited for a
            floorperson, and `amount` is 0.
        state: its state.
        at: the time of the win; UTC.
        decided_by: the user of the last decision, at `decided_at`.
        validated_by: the user who validated it, at `validated_at`.
        paid_by: the user who paid it, at `paid_at`.
        reason: why it was rejected.
        slip: the number of the payout slip.
        tax_documents: whether the floor file requires tax documents for such an amount.
    """

    claim: str
    order: str
    turn: int = 1
    turns: int = 1
    link: str
    link_name: str = ""
    meter: str
    meter_name: str = ""
    table: str
    asset: str
    round: str
    position: int
    patron: str | None
    item: str
    item_name: str = ""
    hand: str
    hand_name: str = ""
    cards: tuple[str, ...]
    dealer: tuple[str, ...] = ()
    community: tuple[str, ...] = ()
    wagered: int = 0
    amount: int
    meter_after: int = 0
    percent: int | None
    paid_from: str
    rule: str = ""
    wagers: tuple[Wagered, ...] = ()
    envy: tuple[EnvyOwed, ...] = ()
    envy_not_due: bool = False
    envy_amount: int = 0
    envy_state: ClaimState | None = None
    envy_by: str | None = None
    envy_at: str | None = None
    envy_reason: str | None = None
    only_envy: bool = False
    state: ClaimState
    at: str
    decided_by: str | None = None
    decided_at: str | None = None
    validated_by: str | None = None
    validated_at: str | None = None
    paid_by: str | None = None
    paid_at: str | None = None
    reason: str | None = None
    slip: str | None = None
    tax_documents: bool = False


class AskedCards(_Row, frozen=True, kw_only=True):
    """Cards that were entered and are not in the table's correction request.

    Attributes:
        what: ``hand``, ``dealer`` or ``community``.
        position: the position of a hand.
        before: the cards that were entered.
        after: the cards of the result instead; empty for a void.
        taken_back: whether the dealer had taken them back.
        reason: the reason for it, if somebody entered one.
    """

    what: Literal["hand", "dealer", "community"]
    position: int | None
    before: tuple[str, ...]
    after: tuple[str, ...]
    taken_back: bool
    reason: str | None


class AskRow(_Row, frozen=True, kw_only=True):
    """A correction request: the service applies it only after a floorperson has confirmed it.

    Attributes:
        ask: its name.
        link: the link's id; `link_name` is its name for people.
        table: the table's id.
        asset: the facility's number for the table.
        round: the round.
        what: ``void`` after cards were entered, or ``result`` with hands entered differently.
        reason: why the round is void; null for a result.
        cards: the cards that were entered, and those that are settled instead.
        at: the time since which it waits; UTC.
    """

    ask: str
    link: str
    link_name: str
    table: str
    asset: str
    round: str
    what: Literal["void", "result"]
    reason: str | None
    cards: tuple[AskedCards, ...]
    at: str


class WinSearch(_Row, frozen=True, kw_only=True):
    """A search for wins; a field that is None does not narrow it.

    Attributes:
        link: of this link.
        meter: of this meter of the link.
        table: at this table.
        state: in this state.
        words: in the claim, the patron, the hand, the slip, the reason or the name of a user who
            decided.
        since: won at or after this time, RFC 3339 in UTC.
        until: won before this time.
        meter_awards: only percentages of a meter, not wins at odds.
        before: only wins of a lower order than this one, where the previous page ended
            (`WinPage.next`).
        limit: the largest number of wins to return.
    """

    link: str | None = None
    meter: str | None = None
    table: str | None = None
    state: ClaimState | None = None
    words: str | None = None
    since: str | None = None
    until: str | None = None
    meter_awards: bool = False
    before: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=PAGE_MAX)] = 25


class WinPage(_Row, frozen=True, kw_only=True):
    """Wins, latest first, and the start of the next page, or null if this is the last one."""

    wins: tuple[ClaimRow, ...]
    next: str | None


class MeterAccounting(_Row, frozen=True, kw_only=True):
    """Accounting meters of a progressive, which only rise (duty D2); amounts in cents.

    Attributes:
        wagers: accepted wagers, including those of rounds that were void later.
        wagered: their amount.
        voided_wagers: the number of them that were returned because the round was void.
        voided: their amount.
        hits: percentages of the meter that were won.
        wins: all wins, including those at odds and Envy Bonuses.
        won: their amount.
        rejected: the part of it that a floorperson found not won, or not due.
        paid_by_system: the amount paid at the table without an attendant's hand pay.
        paid_by_attendant: the amount of hand pays.
        paid: both together.
        overflow: the total that the meter could not accept because of its payout limit.
    """

    wagers: int
    wagered: int
    voided_wagers: int
    voided: int
    hits: int
    wins: int
    won: int
    rejected: int
    paid_by_system: int
    paid_by_attendant: int
    paid: int
    overflow: int


class MeterParameters(_Row, frozen=True, kw_only=True):
    """A meter with its parameters (duty D3); amounts in cents, rates in basis points.

    `paytables` are those that the chapter has for its kind, empty if there is no choice. `overflow`
    is the amount that will be added to the meter when it is next won whole.
    """

    meter: str
    name: str
    kind: str
    wager: int
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
    reserve: int
    overflow: int
    cycle: int
    pending: int
    accounting: MeterAccounting


class ParameterChange(_Row, frozen=True, kw_only=True, tag_field="kind", tag="parameter"):
    """A change of a parameter.

    `value` is a letter for a paytable, and cents for a wager, a payout limit or the largest
    contribution. A value of 0 removes the payout limit or the largest contribution.
    """

    meter: str
    parameter: Parameter
    value: int | str


class Adjustment(_Row, frozen=True, kw_only=True, tag_field="kind", tag="adjustment"):
    """A correction of a meter after a malfunction: cents to add; negative to subtract (D15)."""

    meter: str
    amount: Annotated[int, msgspec.Meta(ge=-(10**11), le=10**11)]
    reason: Words


class ProposalRow(_Row, frozen=True, kw_only=True):
    """A proposal of one person that another confirms; `before` and `after` are texts."""

    proposal: str
    link: str
    kind: Literal["parameter", "adjustment"]
    meter: str
    parameter: Parameter | None
    before: str
    after: str
    amount: int | None
    reason: str | None
    by: str
    at: str
    state: ProposalState
    decided_by: str | None = None
    decided_at: str | None = None


class UnapprovedRow(_Row, frozen=True, kw_only=True):
    """A running service's floor file that differs from the one approved for a link (duty D12).

    Attributes:
        digest: the digest of the floor file to approve; it is sent back with the approval.
        changed: the differences from the last approved floor file, in words.
        approved_by: the user who approved the last one, at `approved_at`. Null if the store has
            lost it.
        barred: why the new floor file cannot be approved now, or null.
    """

    digest: str
    changed: tuple[str, ...]
    approved_by: str | None
    approved_at: str | None
    barred: str | None


class LinkView(_Row, frozen=True, kw_only=True):
    """State of a link: whether it is open, its meters, and its proposals.

    `rounds_open` counts the rounds with accepted wagers and no result yet. `tables_offline` names
    the tables whose agents are not connected (duty D14). `seal` covers the ledger's entries up to
    `sealed_entry`, at which an audit found no error (duty D17). `unapproved` is null while the
    floor file is as approved.
    """

    link: str
    name: str
    state: Literal["operable", "inoperable", "closed"]
    reason: str
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


class ActRow(_Row, frozen=True, kw_only=True):
    """An act of a person or of the service: an entry of a link's ledger (duty D17).

    `what` is ``seed``, ``validate``, ``reject``, ``pay``, ``close``, ``open``, ``propose``,
    ``withdraw``, ``parameter``, ``adjust``, ``inoperable``, ``approve`` or ``restore``. For a table
    it is ``void`` after cards were entered, or ``result`` if hands were entered differently before.
    For a decided correction request it is ``confirm_correction`` or ``refuse_correction``. `of` is
    the claim, the meter, the proposal, the round or the link.
    """

    entry: int
    at: str
    by: str
    what: str
    of: str
    table: str
    told: str
