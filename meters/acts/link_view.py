"""Parts of the view of a link for supervisors: meters with their parameters (duty D3)."""

from collections.abc import Mapping
from typing import Final

from bonus.wagers import MICROS_PER_CENT, read_percent
from meters.acts.link_types import (
    MeterAccounting,
    MeterParameters,
    UnapprovedRow,
)
from meters.acts.meter_changes import LinkParameters
from meters.floor.floor_file import Meter
from meters.ledger.accounts import meter_account, overflow_account, reserve_account
from meters.ledger.claim_records import record_of
from meters.ledger.link_state import Snapshot
from meters.store.floor_file_approval import Unapproved
from meters.store.link_store import LinkStore


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
    """Return a meter as it was when `books` were read."""
    id_, terms = meter.meter_id, meter.terms
    draws = meter.has_draws
    return MeterParameters(
        meter=id_,
        name=meter.title,
        kind=meter.kind,
        wager=meter.wager,
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
        contribution_max=meter.contribution_max,
        amount=_cents(books, meter_account(id_)),
        highest=highest_cents,
        reserve=_cents(books, reserve_account(id_)),
        overflow=_cents(books, overflow_account(id_)),
        cycle=int(books.meters.get(f"cycle:{id_}", "0")),
        pending=int(books.meters.get(f"pending:{id_}", "0")),
        accounting=_accounting(id_, books),
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
    """The highest amount of each meter of a link before one of its last 25 wins of a percentage.

    Between two wins, only a void or a correction makes a meter fall.
    """

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._known: dict[str, tuple[int, int]] = {}

    async def at(self, books: Snapshot) -> dict[str, int]:
        """Return the highest amount of each meter in cents, at least the present one."""
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
