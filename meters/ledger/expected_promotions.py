"""What the entry of a promotion must be, calculated from the approved floor file and the ledger."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bonus.display import money
from bonus.wagers import MICROS_PER_CENT
from meters.ledger.accounts import HOUSE
from meters.ledger.entry_messages import SERVICE, PromotionAdded
from meters.ledger.expected_transfers import Draft, ExpectedBooks

_RULES_DIFFER: Final = timedelta(hours=1)
"""An entry can be this much outside the hours of its promotion. Governments change the rules of a
time zone, and a machine that gets the new rules too late adds the money an hour too early or too
late. The audit of a machine with the new rules must not stop the link for this."""


def promotion_moved(
    books: ExpectedBooks, fields: Mapping[str, bytes], added: PromotionAdded, last_day: str | None
) -> Draft:
    """Return the transfers of a promotion, with what is wrong about the fields of its entry.

    `last_day` is the day of its last start in the ledger, such as ``2026-12-04``.

    Raises:
        KeyError: the ledger has no such meter.
        ValueError: no service writes such a day or time.
    """
    draft = Draft(books)
    draft.faults += _faults(books, fields, added, last_day)
    micros, cycle = added.amount * MICROS_PER_CENT, books.cycles[added.meter]
    draft.fill(HOUSE, added.meter, micros, cycle)
    books.tallies[f"promotion_cents:{added.meter}"] += added.amount
    return draft


def _faults(
    books: ExpectedBooks, fields: Mapping[str, bytes], added: PromotionAdded, last_day: str | None
) -> Iterator[str]:
    named, by = f"promotion {added.promotion}", fields["by"].decode()
    moment = datetime.fromisoformat(fields["at"].decode())
    if moment.tzinfo is None:
        raise ValueError(f"the time of {named} has no time zone")
    if by != SERVICE:
        yield f"{by} added {named}, which only the service adds"
    if (fields["table"], fields["round"], fields["seq"]) != (b"", b"", b"0"):
        yield f"{named} names a table, a round or an event"
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
    elif not on.starts - _RULES_DIFFER <= moment < on.ends + _RULES_DIFFER:
        yield f"{named} was added outside its hours of {added.day}"
