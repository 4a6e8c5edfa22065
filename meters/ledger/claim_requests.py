"""Replay of requests: two people reject a large win, or reopen a rejected win (duty D4)."""

from collections import Counter
from dataclasses import replace

from bonus.wagers import MICROS_PER_CENT
from meters.ledger.accounts import (
    HOUSE,
    claim_account,
    envy_account,
    meter_account,
    overflow_account,
)
from meters.ledger.expected_transfers import Draft, ExpectedBooks, Requested


def reject_faults(books: ExpectedBooks, claim_id: str, by: str, request: int) -> list[str]:
    """Check that the right people rejected a win. Return the errors as texts.

    Two people must reject a win above an amount in the floor file. `books` are those before the
    rejection. `request` is the number of the ledger entry with the confirmed request; 0 if one
    person rejected the win.

    Raises:
        KeyError: the claim does not wait.
    """
    if request:
        return _request_faults(
            "request_reject", claim_id, by, books.requests.get(claim_id), request
        )
    least, claim = books.approved.two_people_reject_above_cents, books.claims[claim_id]
    if least is not None and claim.cents > least:
        return [f"claim {claim_id} was rejected by {by} alone, above {least} cents"]
    return []


def _request_faults(
    act: str, claim_id: str, by: str, requested: Requested | None, request: int
) -> list[str]:
    if requested is None or (requested.entry, requested.act) != (request, act):
        return [f"no {act} of claim {claim_id} is entry {request} of this gaming day"]
    if requested.by == by:
        return [f"{act} of claim {claim_id} was made and confirmed by {by}"]
    return []


def request_moved(books: ExpectedBooks, act: str, claim_id: str, by: str, entry: int) -> Draft:
    """Check a request about a claim, and note it. Return the errors. A request moves no money.

    Raises:
        KeyError: the claim does not wait, or was not rejected on the open gaming day.
    """
    draft = Draft(books)
    if act == "request_reject":
        if (state := books.claims[claim_id].state) != "pending":
            draft.faults.append(f"{act} of claim {claim_id}, which is {state}")
    else:
        _ = books.rejected[claim_id]
    books.requests[claim_id] = Requested(entry, act, by)
    return draft


def reopened_moved(books: ExpectedBooks, claim_id: str, by: str, request: int) -> Draft:
    """Return the transfers that reopen a rejected win.

    The amount comes back from where the rejection moved it: first from the meter's overflow, then
    from the meter, and the house pays what is missing. If the whole meter was won after the
    rejection, the house pays all. The meter never falls below the lower of two amounts: its reseed,
    and its balance after the win. Envy Bonuses that are not paid wait for the win again.

    Raises:
        KeyError: the claim was not rejected on the open gaming day.
    """
    was, draft = books.rejected.pop(claim_id), Draft(books)
    requested = books.requests.pop(claim_id, None)
    draft.faults += _request_faults("request_reopen", claim_id, by, requested, request)
    win, account = was.win, claim_account(claim_id)
    cycle, micros = books.cycles[win.meter], win.cents * MICROS_PER_CENT
    meter, overflow = meter_account(win.meter), overflow_account(win.meter)
    off_meter = off_overflow = 0
    if win.percent and cycle == was.cycle:
        least_cents = min(books.terms[win.meter].reseed_cents, win.after_cents)
        room = max(0, draft.holds(meter) - least_cents * MICROS_PER_CENT)
        back = was.meter_micros + was.overflow_micros
        off_overflow = min(back, draft.holds(overflow))
        off_meter = min(back - off_overflow, room)
    draft.move(meter, account, off_meter, cycle)
    draft.move(overflow, account, off_overflow, cycle)
    if of_house := micros - off_meter - off_overflow:
        draft.move(HOUSE, account, of_house, cycle)
        books.house_paid[claim_id] = of_house
    tallies = books.tallies
    if was.envy:
        cents: Counter[str] = Counter()
        for one in was.envy.bonuses:
            cents[one.meter] += one.cents
        for of, of_meter in cents.items():
            draft.move(HOUSE, envy_account(claim_id), of_meter * MICROS_PER_CENT, books.cycles[of])
            tallies[f"envy_reopened_cents:{of}"] += of_meter
        books.envy[claim_id] = replace(was.envy, state="pending", by=by)
    elif owed := books.envy.get(claim_id):
        books.envy[claim_id] = replace(owed, state="pending", by=by)
    tallies[f"reopened:{win.meter}"] += 1
    tallies[f"reopened_cents:{win.meter}"] += win.cents
    books.claims[claim_id] = replace(win, state="pending", by=by)
    return draft
