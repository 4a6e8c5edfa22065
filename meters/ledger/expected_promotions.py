"""What the entry of a promotion must be, calculated from the approved floor file and the ledger."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bonus.display import money
from bonus.wagers import MICROS_PER_CENT
from meters.floor.promotions import PromotionTerms
from meters.ledger.accounts import HOUSE
from meters.ledger.entry_messages import SERVICE, PromotionAdded
from meters.ledger.expected_transfers import Draft, ExpectedBooks
from meters.ledger.link_evidence import PromotionState

BPS_OF_ALL: Final = 10_000
_RULES_DIFFER: Final = timedelta(hours=1)
"""An entry can be this much outside the hours of its promotion. Governments change the rules of a
time zone, and a machine that gets the new rules too late adds the money an hour too early or too
late. The audit of a machine with the new rules must not stop the link for this."""


def promotion_moved(
    books: ExpectedBooks, fields: Mapping[str, bytes], added: PromotionAdded, last: PromotionState
) -> Draft:
    """Return the transfers of a promotion, with what is wrong about the fields of its entry.

    `last` is the state of the promotion before the entry.

    Raises:
        KeyError: the ledger has no such meter.
        ValueError: no service writes such a day or time.
    """
    draft = Draft(books)
    draft.faults += _faults(books, fields, added, last)
    micros, cycle = added.amount * MICROS_PER_CENT, books.cycles[added.meter]
    draft.fill(HOUSE, added.meter, micros, cycle)
    books.tallies[f"promotion_cents:{added.meter}"] += added.amount
    return draft


def _faults(
    books: ExpectedBooks, fields: Mapping[str, bytes], added: PromotionAdded, last: PromotionState
) -> Iterator[str]:
    named, by = f"promotion {added.promotion}", fields["by"].decode()
    moment = datetime.fromisoformat(fields["at"].decode())
    if moment.tzinfo is None:
        raise ValueError(f"the time of {named} has no time zone")
    if by != SERVICE:
        yield f"{by} added {named}, which only the service adds"
    if (fields["table"], fields["round"], fields["seq"]) != (b"", b"", b"0"):
        yield f"{named} names a table, a round or an event"
    if not last.goes_on(added) and added.day.isoformat() <= last.day:
        yield f"{named} was added for {added.day} after it was added for {last.day}"
    if books.terms[added.meter].must_hit_by:
        yield f"{named} added to {added.meter}, a must-hit-by meter"
    approved = books.approved.promotions.get(added.promotion)
    if approved is None:
        yield f"the approved floor file has no {named}"
        return
    yield from _wrong_amount(books, added, last, approved)
    on = approved.occurrence(added.day, ZoneInfo(approved.timezone))
    if on is None:
        yield f"{named} does not start on {added.day}"
    elif not on.starts - _RULES_DIFFER <= moment < on.ends + _RULES_DIFFER + approved.late:
        yield f"{named} was added outside its hours of {added.day}"


def _wrong_amount(
    books: ExpectedBooks, added: PromotionAdded, last: PromotionState, approved: PromotionTerms
) -> Iterator[str]:
    named, goes_on = f"promotion {added.promotion}", last.goes_on(added)
    due_cents = approved.adds or 0
    if approved.raises:
        now_cents = _wagered_cents(books, added.meter)
        from_cents = last.from_cents if goes_on else now_cents
        counted_cents = added.wagered_before, added.wagered
        if counted_cents != (from_cents, now_cents - from_cents):
            yield (
                f"{named} counts {counted_cents} cents of wagers before and since its start, not"
                f" {(from_cents, now_cents - from_cents)}"
            )
        due_cents = (now_cents - from_cents) * approved.raises_bps // BPS_OF_ALL
        due_cents -= last.added_cents if goes_on else 0
        if goes_on and added.amount < 1:
            yield f"{named} added nothing"
    elif (added.wagered_before, added.wagered) != (None, None):
        yield f"{named} counts wagers, and must add a sum"
    if (added.meter, added.amount) != (approved.meter, due_cents):
        yield (
            f"{named} added {money(added.amount)} to {added.meter}, and must add"
            f" {money(due_cents)} to {approved.meter}"
        )


def _wagered_cents(books: ExpectedBooks, meter: str) -> int:
    """Return the cents of all wagers on a meter that were not taken back."""
    return books.tallies[f"wagered_cents:{meter}"] - books.tallies[f"voided_cents:{meter}"]
