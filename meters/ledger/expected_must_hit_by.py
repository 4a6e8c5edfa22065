"""What the entries of must-hit-by meters must be, calculated from the ledger alone."""

from collections.abc import Iterable, Sequence

from bonus.wagers import MICROS_PER_CENT, jackpot_item
from meters.ledger.accounts import (
    HOUSE,
    claim_account,
    meter_account,
    reserve_account,
    table_account,
)
from meters.ledger.expected_transfers import Draft, ExpectedBooks, HeldWin
from meters.ledger.hidden_values import FeedingWager, HiddenCycle, commitment_of, hit_by
from meters.wire.messages import ClaimOpened, HiddenValueDrawn


def value_drawn(books: ExpectedBooks, drawn: HiddenValueDrawn) -> Draft:
    """Check the entry of a new hidden value, and of the value that ended the cycle before.

    Raises:
        KeyError: the ledger has no such meter.
    """
    draft, meter = Draft(books), drawn.meter
    cycle, waiting = books.cycles[meter], books.openings.get(meter, ())
    if drawn.cycle != cycle + len(waiting) + (drawn.opened is not None):
        draft.faults.append(f"a hidden value of {meter} for cycle {drawn.cycle}, not {cycle}")
    if drawn.opened is None:
        if meter in books.hidden or not books.terms[meter].must_hit_by:
            draft.faults.append(f"{meter} got a hidden value in the middle of a cycle")
        start_micros = draft.holds(meter_account(meter))
        books.hidden[meter] = HiddenCycle(
            drawn.commitment, drawn.sealed, start_micros, start_micros
        )
    else:
        books.openings.setdefault(meter, []).append(drawn)
    return draft


def _opening_faults(books: ExpectedBooks, drawn: HiddenValueDrawn) -> Iterable[str]:
    meter, value, before = drawn.meter, drawn.opened, books.hidden.get(drawn.meter)
    if value is None or before is None:
        yield f"{meter} had no hidden value"
        return
    if commitment_of(meter, books.cycles[meter], value) != before.commitment:
        yield f"the hidden value of {meter} is not the one that the ledger committed to"
    most_micros = books.terms[meter].maximum_cents * MICROS_PER_CENT
    if not before.start_micros < value.micros <= most_micros:
        yield f"the hidden value of {meter} was {value.micros} micros, which it cannot be"
    if before.peak_micros >= value.micros:
        yield f"{meter} was at {before.peak_micros} micros before: it was won then, not now"


def feed(
    books: ExpectedBooks,
    draft: Draft,
    table: str,
    meter: str,
    *,
    wagers: Sequence[FeedingWager],
    claims: Iterable[ClaimOpened],
) -> None:
    """Add the transfers of wagers that feed a must-hit-by meter, and of the wins among them.

    `wagers` are in paying order, and `claims` are those in the reply.
    """
    account, source = meter_account(meter), table_account(table)
    item, terms = jackpot_item(meter), books.terms[meter]
    opened = iter([one for one in claims if one.item == item])
    for drawn in books.openings.pop(meter, ()):
        draft.faults += _opening_faults(books, drawn)
        reserve, value = reserve_account(meter), drawn.opened
        hit = value and hit_by(
            terms, wagers, value.micros, draft.holds(account), draft.holds(reserve)
        )
        claim = next(opened, None)
        if not hit or claim is None:
            draft.faults.append(f"no wager reached the hidden value of {meter}, or it won nothing")
            break
        winner, wagers = wagers[hit.place], wagers[hit.place + 1 :]
        if (claim.position, claim.amount) != (winner.position, hit.cents):
            draft.faults.append(
                f"position {claim.position} won {claim.amount} cents of {meter}, not position"
                f" {winner.position} {hit.cents} cents"
            )
        cycle = books.cycles[meter]
        draft.move(source, account, hit.micros, cycle)
        draft.move(account, claim_account(claim.claim), hit.cents * MICROS_PER_CENT, cycle)
        books.cycles[meter] = cycle = cycle + 1
        draft.move(reserve, account, hit.from_reserve_micros, cycle)
        draft.move(HOUSE, account, terms.reseed_cents * MICROS_PER_CENT, cycle)
        books.hidden[meter] = HiddenCycle(
            drawn.commitment, drawn.sealed, hit.start_micros, hit.start_micros
        )
        books.claims[claim.claim] = HeldWin(
            meter, hit.cents, percent=True, hand_pay=True,
            after_cents=hit.start_micros // MICROS_PER_CENT, wager=winner.wager,
        )  # fmt: skip
        _count_hit(books, meter, hit.cents)
    if next(opened, None):
        draft.faults.append(f"a wager won {meter}, and no entry opened its hidden value")
    draft.move(source, account, sum(one.micros for one in wagers), books.cycles[meter])
    note_peak(books, meter, draft.holds(account), draft.faults)


def note_peak(books: ExpectedBooks, meter: str, micros: int, faults: list[str]) -> None:
    """Note the amount of a must-hit-by meter after a contribution."""
    if (cycle := books.hidden.get(meter)) is None:
        faults.append(f"wagers fed {meter}, which has no hidden value")
        return
    if micros >= books.terms[meter].maximum_cents * MICROS_PER_CENT:
        faults.append(f"{meter} reached its maximum, and nobody won it")
    cycle.peak_micros = max(cycle.peak_micros, micros)


def _count_hit(books: ExpectedBooks, meter: str, cents: int) -> None:
    tallies = books.tallies
    for name, number in (("wins", 1), ("won_cents", cents)):
        tallies[name] += number
        tallies[f"{name}:{meter}"] += number
    tallies[f"hits:{meter}"] += 1


def unmet_openings(books: ExpectedBooks) -> list[str]:
    """Return the meters whose opened hidden value no wager reached, as texts, and forget them."""
    found = [
        f"the hidden value of {meter} was opened, and the next entry has no wager that reached it"
        for meter in books.openings
    ]
    books.openings.clear()
    return found
