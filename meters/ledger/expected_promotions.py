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

_BPS_OF_ALL: Final = 10_000
_RULES_DIFFER: Final = timedelta(hours=1)
"""An entry can be this much outside the hours of its promotion. Governments change the rules of a
time zone, and a machine that gets the new rules too late adds the money an hour too early or too
late. The audit of a machine with the new rules must not stop the link for this."""


def promotion_moved(
    books: ExpectedBooks, fields: Mapping[str, bytes], added: PromotionAdded, last: PromotionState,
    approval: str,
) -> Draft:  # fmt: skip
    """Return the transfers of a promotion, with what is wrong about the fields of its entry.

    `last` is the state of the promotion before the entry, and `approval` the entry of the last
    approval of the floor file.

    Raises:
        KeyError: the ledger has no such meter.
        ValueError: no service writes such a day or time.
    """
    draft = Draft(books)
    draft.faults += _faults(books, fields, added, last, approval)
    micros, cycle = added.amount * MICROS_PER_CENT, books.cycles[added.meter]
    draft.fill(HOUSE, added.meter, micros, cycle)
    books.tallies[f"promotion_cents:{added.meter}"] += added.amount
    return draft


def _faults(
    books: ExpectedBooks, fields: Mapping[str, bytes], added: PromotionAdded, last: PromotionState,
    approval: str,
) -> Iterator[str]:  # fmt: skip
    named, by = f"promotion {added.promotion}", fields["by"].decode()
    moment = datetime.fromisoformat(fields["at"].decode())
    if moment.tzinfo is None:
        raise ValueError(f"the time of {named} has no time zone")
    if by != SERVICE:
        yield f"{by} added {named}, which only the service adds"
    if (fields["table"], fields["round"], fields["seq"]) != (b"", b"", b"0"):
        yield f"{named} names a table, a round or an event"
    can_go_on = last.can_go_on(added, approval)
    goes_on = added.count in {"goes_on", "ends"}
    if goes_on and not can_go_on:
        yield f"{named} goes on, but must begin to count the wagers"
    day, begins_again = added.day.isoformat(), added.count == "begins" and last.meter
    # A count begins again on the same day after an approval, or after a clock was set back.
    is_new = not can_go_on or fields["at"].decode() < last.at
    if not goes_on and not (day > last.day or (day == last.day and begins_again and is_new)):
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
    elif (
        not on.starts - _RULES_DIFFER
        <= moment
        < on.ends + _RULES_DIFFER + (approved.late if goes_on else timedelta())
    ):
        yield f"{named} was added outside its hours of {added.day}"


def _wrong_amount(
    books: ExpectedBooks, added: PromotionAdded, last: PromotionState, approved: PromotionTerms
) -> Iterator[str]:
    named, due_cents = f"promotion {added.promotion}", approved.adds or 0
    if (added.count is None) == (approved.raises is not None):
        yield f"{named} must add {approved.added_in_words}"
    if added.count:
        now_cents, begins = _wagered_cents(books, added.meter), added.count == "begins"
        from_cents, before_cents = last.from_cents, last.added_cents
        if begins:
            from_cents, before_cents = now_cents, 0
        due_cents = (now_cents - from_cents) * approved.raises_bps // _BPS_OF_ALL - before_cents
        due_cents = max(0, due_cents)
        counted = added.wagered_before, added.wagered, added.added
        if counted != (due := (from_cents, now_cents - from_cents, before_cents + due_cents)):
            yield f"{named} counts {counted} cents as wagered before, since and added, not {due}"
        if added.count == "goes_on" and not due_cents:
            yield f"{named} added nothing"
    if (added.meter, added.amount) != (approved.meter, due_cents):
        yield (
            f"{named} added {money(added.amount)} to {added.meter}, and must add"
            f" {money(due_cents)} to {approved.meter}"
        )


def _wagered_cents(books: ExpectedBooks, meter: str) -> int:
    """Return the cents of all wagers on a meter that were not taken back."""
    return books.tallies[f"wagered_cents:{meter}"] - books.tallies[f"voided_cents:{meter}"]
