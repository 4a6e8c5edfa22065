"""A link in the floor page's API: state, meters and proposals, in cents and in UTC (duty D3)."""

from collections.abc import Mapping
from datetime import date
from typing import Final, Literal

from bonus.wagers import MICROS_PER_CENT, read_percent
from meters.acts.act_rows import ActRow
from meters.acts.claim_types import FloorRow
from meters.acts.meter_changes import LinkParameters, ProposalRow, is_adjustable
from meters.floor.floor_file import Meter
from meters.ledger.accounts import meter_account, overflow_account, reserve_account
from meters.ledger.claim_records import record_of
from meters.ledger.link_state import Snapshot
from meters.store.floor_file_approval import Unapproved
from meters.store.link_store import LinkStore


class MeterAccounting(FloorRow, frozen=True, kw_only=True):
    """The accounting meters of a progressive meter, which only rise (duty D2).

    Attributes:
        wagers: the number of accepted wagers, also in rounds that were voided later.
        wagered: the amount of these wagers, in cents.
        voided_wagers: the number of wagers that were returned: of void rounds, or taken back by a
            correction.
        voided: the amount of these wagers, in cents.
        hits: the number of wins of a percentage of the meter.
        wins: the number of all wins, including wins at odds and Envy Bonuses.
        won: the amount of these wins, in cents.
        rejected: the part of `won` that floorpersons rejected, or declared as not due. If a win is
            rejected several times, each time counts.
        reopened: the part of `rejected` that two people reopened.
        paid_by_system: the amount paid at the table, without a hand pay.
        paid_by_attendant: the amount of hand pays.
        paid: `paid_by_system` plus `paid_by_attendant`.
        overflow: the total that the meter could not accept because of its payout limit. It also
            includes amounts that left the overflow later, because a round was voided, a wager was
            taken back, or a rejected win was reopened.
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

    Attributes:
        kind: the name of the meter in the rules of its game.
        wager: the amount of each wager on the meter, in cents.
        wagers: the present wager and the wagers that can be proposed; empty if every amount is
            possible.
        paytable: null if the rules leave no choice.
        paytables: the present paytable and the paytables that can be proposed; empty if there is no
            choice.
        magic_card_every: the average number of rounds per Magic Card; 0 for never, null if the
            meter has no draws.
        lucky_every: the average number of rounds per Lucky Bonus; 0 for never, null if the meter
            has no draws.
        must_hit_by: the amount in cents by which the meter is won, whatever the cards; null for a
            meter that hands win.
        contribution_max: the most, in cents, that the wagers of one round at one table can add to
            the meter and its reserve; null without this bound.
        overflow: the money above the payout limit; it refills the meter as soon as there is room.
        highest: the highest amount of the meter: now, or immediately before one of its last 25 wins
            of a percentage.
        pending: the number of wins of a percentage that nobody has validated or rejected.
        accounting: what its accounting meters show (duty D2).
        adjustable: false for a must-hit-by meter that tables feed.
        threshold: the amount of the meter in cents from which wagers have the last two rates; null
            if the rates do not change.
        overflow_to: the name of the meter that gets what is above the limit; null if it waits in
            `overflow`.
        smaller_wagers: the smaller amounts of a wager in cents, which win a proportional part of
            each percentage; empty if all wagers have one amount.
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
    must_hit_by: int | None = None
    contribution_max: int | None
    amount: int
    highest: int = 0
    reserve: int
    overflow: int
    cycle: int
    pending: int
    accounting: MeterAccounting
    adjustable: bool = True
    threshold: int | None = None
    primary_above_bps: int = 0
    reserve_above_bps: int = 0
    overflow_to: str | None = None
    smaller_wagers: tuple[int, ...] = ()


class UnapprovedRow(FloorRow, frozen=True, kw_only=True):
    """The service's floor file, which differs from the file that was approved for a link (D12).

    Attributes:
        digest: the digest of the service's floor file, which an approval must send.
        changed: the differences from the last approved floor file, in words and dollars.
        facility: the differences that concern the whole facility, not only this link.
        approved_by: the user who approved the last approved floor file, at `approved_at`; null if
            Redis has no approval.
        approved_at: the time of that approval, in UTC.
        barred: why the new floor file cannot be approved now.
        terms: all settings of the link in the service's floor file, in words and dollars.
        first: true if the whole floor is empty. Then one person approves.
        confirmed: true if two people have confirmed all differences as changes of parameters. Then
            one person approves. In all other cases, two people approve.
        first_by: the user who approved exactly this floor file first, at `first_at`.
        first_at: the time of this first approval, in UTC.
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

    Attributes:
        state: ``closed`` if people closed it.
        reason: why the link is inoperable, or was closed; empty if it operates.
        changeable: true if people can close or change the link. An inoperable link is changeable
            if the only reason is that the service has no broker, or if `wrong_parameters` is true.
        wrong_parameters: true if the link is inoperable only because parameters of its meters do
            not fit the games of its tables.
        closed_by: the user who closed the link, at `closed_at`.
        closed_at: the time of the closing, in UTC.
        rounds_open: the number of rounds with accepted wagers but without a result.
        tables: the number of tables.
        tables_online: the number of tables whose agents are connected.
        tables_offline: the tables whose agents are not connected (duty D14).
        sealed_entry: the last ledger entry up to which an audit found no error (duty D17).
        seal: the digest over the entries up to `sealed_entry`.
        meters: its meters, in the order of the floor file.
        proposals: the proposed changes that nobody has confirmed or withdrawn.
        unapproved: null if the service's floor file is approved for the link.
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


class LinkDone(FloorRow, frozen=True, kw_only=True):
    """What was last done with a link.

    Attributes:
        sealed_entry: the last ledger entry of the last audit that found no error.
        sealed_at: the time of this entry, in UTC.
        seal: the digest over all entries up to `sealed_entry`.
        read_day: the last gaming day at whose close the meters were read.
        read_at: the time of this meter reading, in UTC.
        archived_day: the last archived gaming day.
        correction: the last correction among the last 200 acts; null if there is none. Corrections
            are adjustments of a meter, voids after cards were entered, and corrections of a wager,
            a hand or a slip number.
        acts: the last acts, latest first.
    """

    link: str
    link_name: str
    sealed_entry: int
    sealed_at: str | None
    seal: str
    read_day: date | None
    read_at: str | None
    archived_day: date | None
    correction: ActRow | None
    acts: tuple[ActRow, ...]


def unapproved_row(unapproved: Unapproved) -> UnapprovedRow:
    approved = unapproved.approved
    return UnapprovedRow(
        digest=unapproved.digest,
        changed=unapproved.changed,
        facility=unapproved.facility,
        approved_by=approved.by if approved else None,
        approved_at=approved.at if approved else None,
        barred=unapproved.barred,
        terms=unapproved.terms,
        first=unapproved.first,
        confirmed=unapproved.confirmed,
        first_by=unapproved.first_by,
        first_at=unapproved.waiting.at if unapproved.first_by else None,
    )


def view_meter(
    parameters: LinkParameters, meter: Meter, books: Snapshot, highest_cents: int
) -> MeterParameters:
    id_, terms = meter.meter_id, meter.terms
    draws = meter.has_draws
    return MeterParameters(
        meter=id_,
        name=meter.title,
        kind=meter.kind,
        wager=meter.wager,
        smaller_wagers=meter.smaller_wagers,
        paytable=meter.paytable,
        wagers=parameters.wagers(meter),
        paytables=parameters.paytables(meter),
        magic_card_every=meter.magic_card_every if draws else None,
        lucky_every=meter.lucky_every if draws else None,
        seed=terms.seed_cents,
        reseed=terms.reseed_cents,
        primary_bps=terms.primary_bps,
        reserve_bps=terms.reserve_bps,
        limit=meter.limit,
        must_hit_by=meter.must_hit_by.maximum if meter.must_hit_by else None,
        contribution_max=meter.contribution_max,
        amount=_cents(books, meter_account(id_)),
        highest=highest_cents,
        reserve=_cents(books, reserve_account(id_)),
        overflow=_cents(books, overflow_account(id_)),
        cycle=int(books.meters.get(f"cycle:{id_}", "0")),
        pending=int(books.meters.get(f"pending:{id_}", "0")),
        accounting=_accounting(id_, books),
        adjustable=is_adjustable(parameters.link, meter),
        threshold=terms.threshold_cents or None,
        primary_above_bps=terms.primary_above_bps,
        reserve_above_bps=terms.reserve_above_bps,
        overflow_to=next(
            (one.title for one in parameters.link.meter if one.meter_id == meter.overflow_to), None
        ),
    )


def _cents(books: Snapshot, account: str) -> int:
    return books.accounts.get(account, 0) // MICROS_PER_CENT


def _accounting(meter: str, books: Snapshot) -> MeterAccounting:
    def tally(name: str) -> int:
        return books.tallies.get(f"{name}:{meter}", 0)

    by_system, by_attendant = tally("table_paid_cents"), tally("hand_paid_cents")
    return MeterAccounting(
        wagers=tally("wagers"),
        wagered=tally("wagered_cents"),
        voided_wagers=tally("voided_wagers"),
        voided=tally("voided_cents"),
        hits=tally("hits"),
        wins=tally("wins"),
        won=tally("won_cents"),
        rejected=tally("rejected_cents") + tally("envy_taken_back_cents"),
        reopened=tally("reopened_cents") + tally("envy_reopened_cents"),
        paid_by_system=by_system,
        paid_by_attendant=by_attendant,
        paid=by_system + by_attendant,
        overflow=tally("overflow_micros") // MICROS_PER_CENT,
    )


_WINS: Final = 25


class HighestAmounts:
    """For each meter of a link, the highest amount before one of its last 25 percentage wins.

    An amount from which the meter fell without a win does not count. A void, a wager taken back, an
    adjustment or a reopened win can lower the meter.
    """

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._known: dict[str, tuple[int, int]] = {}

    async def at(self, books: Snapshot) -> dict[str, int]:
        """Return the highest amount of each meter in cents; at least its present amount."""
        ids = [meter.meter_id for meter in self._store.link.meter]
        return {
            each: max(_cents(books, meter_account(each)), await self._before_wins(each))
            for each in ids
        }

    async def _before_wins(self, meter: str) -> int:
        page = await self._store.wins(meter, None, _WINS, meter_awards=True)
        latest = page[0][0] if page else 0
        if self._known.get(meter, (-1, 0))[0] != latest:
            claims = await self._store.claims([claim for _, claim in page])
            self._known[meter] = latest, max((_before_cents(one) for one in claims), default=0)
        return self._known[meter][1]


def _before_cents(fields: Mapping[str, str]) -> int:
    """Return the amount of a meter before a win, in cents; 0 if the win is archived."""
    percent = record_of(fields).percent if fields else None
    return int(fields["amount"]) * 100 // read_percent(percent) if percent else 0
