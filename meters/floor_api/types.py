"""What the floor's API shows and takes, one frozen type each; money in cents."""

from typing import Annotated, Literal

import msgspec

from bonus.printable import PRINTABLE_WORDS

ClaimState = Literal["pending", "validated", "paid", "rejected"]
ProposalState = Literal["open", "confirmed", "withdrawn"]
Parameter = Literal[
    "wager", "paytable", "magic_card_every", "lucky_every", "limit", "contribution_max"
]

Words = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=PRINTABLE_WORDS)]
"""What somebody types, printable and not blank."""

PAGE_MAX = 200
"""How many wins one page has at most."""


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all rows share."""


class Wagered(_Row, frozen=True, kw_only=True):
    """What one position had wagered at lock-out, in cents by wager."""

    position: int
    patron: str | None
    wagers: dict[str, int]


class EnvyOwed(_Row, frozen=True, kw_only=True):
    """An Envy Bonus that a win brings to another position; the amount in cents."""

    position: int
    patron: str | None
    item: str
    amount: int


class ClaimRow(_Row, frozen=True, kw_only=True):
    """A progressive win that waits, or waited, for a floorperson (duties D5, D8 and D16).

    Attributes:
        claim: names it for ever.
        order: the number of the ledger's entry, by which wins at nearly the same time are told
            apart (duty D7).
        turn: its turn among the `turns` wins of its round that wait for a floorperson, from 1.
        link: the link's id; `link_name` what people call it.
        meter: the meter's id; `meter_name` what patrons read.
        asset: the number by which the facility knows the table.
        item: the wager won, `item_name` in words.
        hand: the hand, `hand_name` in words.
        cards: the position's cards, with the dealer's and the community cards where they count.
        wagered: the wager, in cents.
        amount: what is won, in cents.
        meter_after: what the meter held after it, in cents.
        percent: what part of the meter it is, or null for a win at odds.
        paid_from: ``hand_pay``, ``table_inventory`` or ``game_account``.
        rule: the subsection that pays it.
        wagers: all wagers accepted at lock-out, as evidence.
        envy: who else is owed an Envy Bonus for this hand.
        envy_not_due: whether somebody has said that they are not.
        envy_amount: what they sum to, in cents.
        envy_state: where they are, or null where the hand brings none: ``pending`` until the win is
            decided, ``validated`` while they are owed, ``paid`` once somebody paid them.
        envy_by: who brought them there, at `envy_at`; null where nobody has.
        envy_reason: why they were found not to be due after the win was decided.
        only_envy: whether nothing but these Envy Bonuses is owed: no win of the hand waited for a
            floorperson, and `amount` is 0.
        state: where it is.
        at: when it was won; UTC.
        decided_by: who decided last, at `decided_at`.
        validated_by: who validated it, at `validated_at`.
        paid_by: who paid it, at `paid_at`.
        reason: why it was rejected.
        slip: the number of the payout slip.
        tax_documents: whether the floor file asks for tax documents with such an amount.
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
    """Cards that were entered and are not in what the table asks for.

    Attributes:
        what: ``hand``, ``dealer`` or ``community``.
        position: the position of a hand.
        before: the cards that were entered.
        after: what the result has in their place; empty for a void.
        taken_back: whether the dealer had taken them back.
        reason: why, where somebody said so.
    """

    what: Literal["hand", "dealer", "community"]
    position: int | None
    before: tuple[str, ...]
    after: tuple[str, ...]
    taken_back: bool
    reason: str | None


class AskRow(_Row, frozen=True, kw_only=True):
    """A correction that a table applies only once a floorperson has confirmed it.

    Attributes:
        ask: names it.
        link: the link's id; `link_name` what people call it.
        table: the table's id.
        asset: the number by which the facility knows the table.
        round: the round.
        what: ``void`` after cards were entered, or ``result`` with hands entered differently.
        reason: why the round is void; null for a result.
        cards: what was entered, and what is settled in its place.
        at: since when it waits; UTC.
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
    """Which wins are looked for; what is None narrows nothing.

    Attributes:
        link: of this link.
        meter: of this meter of the link.
        table: at this table.
        state: in this state.
        words: in the claim, the patron, the hand, the slip, the reason or a name of who decided.
        since: won at or after this moment, RFC 3339 in UTC.
        until: won before this moment.
        meter_awards: only percentages of a meter, not wins at odds.
        before: only wins of a lower order, as the page before ended (`WinPage.next`).
        limit: how many at most.
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
    """Wins, latest first, and where the next page begins, or null where there is none."""

    wins: tuple[ClaimRow, ...]
    next: str | None


class MeterAccounting(_Row, frozen=True, kw_only=True):
    """A progressive's accounting meters, which only ever rise (duty D2); amounts in cents.

    Attributes:
        wagers: accepted wagers, those of rounds that were void later among them.
        wagered: their amount.
        voided_wagers: how many of them went back with a void round.
        voided: their amount.
        hits: percentages of the meter that were won.
        wins: everything that was won, at odds and Envy Bonuses too.
        won: its amount.
        rejected: what of it a floorperson found not to be won, or not to be due.
        paid_by_system: what was paid at the table without an attendant's hand pay.
        paid_by_attendant: what was hand paid.
        paid: both together.
        overflow: what the meter could not take for its limit, in all.
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

    `paytables` are those that the chapter offers for its kind, empty where there is no choice;
    `overflow` is what waits to be added to the meter when it is next won whole.
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
    """A parameter that is to be changed.

    `value` is a letter for a paytable; cents for a wager, a limit or the largest contribution, of
    which the last two are removed by 0.
    """

    meter: str
    parameter: Parameter
    value: int | str


class Adjustment(_Row, frozen=True, kw_only=True, tag_field="kind", tag="adjustment"):
    """A correction of a meter after a malfunction: so many cents are added, or taken off (D15)."""

    meter: str
    amount: Annotated[int, msgspec.Meta(ge=-(10**11), le=10**11)]
    reason: Words


class ProposalRow(_Row, frozen=True, kw_only=True):
    """What one person proposed and another confirms; `before` and `after` in words."""

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
    """That the floor file of a running service is not as it was approved for a link (duty D12).

    Attributes:
        digest: of what would be approved; it is sent back with the approval.
        changed: in what it differs from what was approved last, in words.
        approved_by: who approved that, at `approved_at`; null where the store has lost it.
        barred: why it cannot be approved as it is, or null.
    """

    digest: str
    changed: tuple[str, ...]
    approved_by: str | None
    approved_at: str | None
    barred: str | None


class LinkView(_Row, frozen=True, kw_only=True):
    """A link as it stands: whether it is open, its meters, and what was proposed.

    `rounds_open` counts the rounds whose wagers are in and that have no result yet;
    `tables_offline` names the tables whose agents are not connected (duty D14); `seal` is over the
    ledger's entries up to `sealed_entry`, at which an audit found that all holds (duty D17);
    `unapproved` is null while the floor file is as approved.
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
    """Something that a person, or the service, did: an entry of a link's ledger (duty D17).

    `what` is ``seed``, ``validate``, ``reject``, ``pay``, ``close``, ``open``, ``propose``,
    ``withdraw``, ``parameter``, ``adjust``, ``inoperable``, ``approve``, ``restore``; of a table,
    ``void`` after cards were entered, and ``result`` where hands were entered differently before,
    and what became of one that a floorperson was asked for: ``confirm_correction`` or
    ``refuse_correction``. `of` is the claim, the meter, the proposal, the round or the link.
    """

    entry: int
    at: str
    by: str
    what: str
    of: str
    table: str
    told: str
