"""What the entry of a promotion must be, calculated from the approved floor file and the ledger."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bonus.display import money
from bonus.wagers import MICROS_PER_CENT
from meters.ledger.accounts import HOUSE
from meters.ledger.entry_messages import PromotionAdded
from meters.ledger.expected_transfers import Draft, ExpectedBooks
from meters.ledger.two_people import is_person

_RULES_DIFFER: Final = timedelta(hours=1)
"""An entry can be this much outside the hours of its promotion. Governments change the rules of a
time zone, and a machine that gets the new rules too late adds the money an hour too early or too
late. The audit of a machine with the new rules must not stop the link for this."""


def promotion_moved(
    books: ExpectedBooks, added: PromotionAdded, *, at: str, by: str, last_day: str | None
) -> Draft:
    """Return the transfers of a promotion, with what is wrong about its entry.

    `last_day` is the day of its last start in the ledger, such as ``2026-12-04``.

    Raises:
        KeyError: the ledger has no such meter.
    """
    draft = Draft(books)
    draft.faults += _faults(books, added, at, by, last_day)
    micros, cycle = added.amount * MICROS_PER_CENT, books.cycles[added.meter]
    draft.fill(HOUSE, added.meter, micros, cycle)
    books.tallies[f"promotion_cents:{added.meter}"] += added.amount
    return draft


def _faults(
    books: ExpectedBooks, added: PromotionAdded, at: str, by: str, last_day: str | None
) -> Iterator[str]:
    named = f"promotion {added.promotion}"
    if is_person(by):
        yield f"{by} added {named}, which only the service adds"
    if last_day and added.day.isoformat() <= last_day:
        yield f"{named} was added for {added.day} after it was added for {last_day}"
    if books.terms[added.meter].must_hit_by:
        yield f"{named} added to {added.meter}, a must-hit-by meter"
    approved = books.approved.promotions.get(added.promotion)
    if approved is None:
        yield f"the approved floor file has no {named}"
        return
    if (added.meter, added.amount) != (approved.meter, approved.adds):
        yield (
            f"{named} added {money(added.amount)} to {added.meter}, and must add"
            f" {money(approved.adds)} to {approved.meter}"
        )
    on = approved.occurrence(added.day, ZoneInfo(approved.timezone))
    if on is None:
        yield f"{named} does not start on {added.day}"
    elif not on.starts - _RULES_DIFFER <= datetime.fromisoformat(at) < on.ends + _RULES_DIFFER:
        yield f"{named} was added outside its hours of {added.day}"
