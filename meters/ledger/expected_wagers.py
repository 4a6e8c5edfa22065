"""The transfers of wagers that are accepted or corrected, and of void rounds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from bonus.wagers import MICROS_PER_CENT
from meters.ledger.accounts import (
    HOUSE,
    Transfer,
    meter_account,
    overflow_account,
    reserve_account,
    table_account,
)
from meters.ledger.approved_configuration import ApprovedFloor
from meters.ledger.entry_messages import PlacedWagers, must_hit_by_wins
from meters.ledger.expected_must_hit_by import feed, note_peak
from meters.ledger.expected_transfers import Added, Draft, ExpectedBooks
from meters.ledger.hidden_values import feeding_wagers
from meters.ledger.money_terms import TermsText
from meters.wire.messages import ClaimOpened, WagerCorrection, WageredPosition


class KnownTransfers(msgspec.Struct, frozen=True, gc=False):
    """The transfers that certain wagers cause.

    `meters` has the id, the terms and the cycle of each meter that the wagers fed. `added` has the
    contribution to each meter. `tallies` has each accounting meter that rises, and by how much.
    `hidden` has the must-hit-by meters among them, and by how many micros each rises.
    """

    approved: ApprovedFloor
    meters: tuple[tuple[str, TermsText, int], ...]
    transfers: tuple[Transfer, ...]
    added: tuple[Added, ...]
    tallies: tuple[tuple[str, int], ...]
    hidden: tuple[tuple[str, int], ...]

    def are_same_in(self, books: ExpectedBooks) -> bool:
        same = self.approved is books.approved
        for meter, terms, cycle in self.meters:
            same = same and books.terms[meter] is terms and books.cycles[meter] == cycle
        return same


class ExpectedWagers:
    """The calculation of the transfers that wagers in a ledger must cause.

    Players often repeat their wagers, so the transfers of each table's last wagers are kept, which
    makes a replay a third faster. If a meter has a payout limit or a threshold, the transfers are
    not kept, because they depend on the balance of the meter.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[bytes, bytes, KnownTransfers]] = {}

    def moved(
        self,
        books: ExpectedBooks,
        table: str,
        placed: PlacedWagers,
        text: bytes,
        transfers: Sequence[Transfer],
        *,
        reply: bytes,
    ) -> Draft:
        """Return the transfers of accepted wagers, according to the incrementation rates.

        The rates are those of 649a.12(e)(3), (h)(3), (i)(4) and (j)(3). `books` are the books
        before the wagers. `text` has the transfers of the ledger entry, and `transfers` are the
        decoded transfers. These show which meters the wagers fed. `reply` names the wins of
        must-hit-by meters.

        Raises:
            KeyError: a wager fed a meter without terms or without a cycle.
        """
        draft = Draft(books)
        if table in books.rounds:
            draft.faults.append(f"table {table} already has an open round")
        positions, known_text, known = self._last.get(table, (b"", b"", None))
        won = bool(books.openings)
        same = known and not won and (positions, known_text) == (placed.text, text)
        if known and same and known.are_same_in(books):
            draft.transfers += known.transfers
            for meter, micros in known.hidden:
                held = draft.holds(meter_account(meter)) + micros
                note_peak(books, meter, held, draft.faults)
        else:
            claims = must_hit_by_wins(reply)
            fed = _fed_by(books, transfers)
            known = _add(books, draft, table, placed.counts, fed, placed.positions, claims)
            depend = any(of.limit_cents or of.threshold_cents for _, of, _ in known.meters)
            if won or draft.faults or depend:
                self._last.pop(table, None)
            else:
                self._last[table] = placed.text, text, known
        for name, number in known.tallies:
            books.tallies[name] += number
        books.rounds[table] = known.added
        return draft


def correction_moved(
    books: ExpectedBooks,
    table: str,
    event: WagerCorrection,
    transfers: Sequence[Transfer],
    reply: bytes,
) -> Draft:
    """Return the transfers of one wager that is added after lock-out, or taken back.

    If a wager is taken back, its contribution is undone as in a void round (reading T28). If it was
    the last wager of the round, the round is over. `transfers` are those of the ledger entry: they
    show which meters an added wager fed.

    Raises:
        KeyError: the table has no open round, or the wager fed a meter without terms.
    """
    own, counts = f"{event.position}:{event.wager}", (((event.wager, event.amount), 1),)
    round_added, draft = books.rounds[table], Draft(books)
    if event.adds:
        placed = WageredPosition(position=event.position, wagers={event.wager: event.amount})
        claims, fed = must_hit_by_wins(reply), _fed_by(books, transfers)
        found = _add(books, draft, table, counts, fed, [placed], claims, own)
        books.rounds[table] = (*round_added, *found.added)
        for name, number in found.tallies:
            books.tallies[name] += number
        return draft
    of = own if any(one.wager == own for one in round_added) else ""
    left = list[Added]()
    for one in round_added:
        if one.wager != of or event.wager not in books.wagers_of(one.meter):
            left.append(one)
            continue
        terms = books.terms[one.meter]
        if not terms.takes(event.amount):
            draft.faults.append(
                f"{event.amount} cents taken back, which no wager on {one.meter} is"
            )
        gone, rest = _without(books, one, event.amount)
        if rest.wagers < 0 or min(rest.micros.values(), default=0) < 0:
            draft.faults.append(f"{table} has no wager {own} on {one.meter} to take back")
        _give_back(books, draft, table, gone)
        if rest.wagers > 0:
            left.append(rest)
    if len(left) == len(round_added) and not draft.transfers:
        draft.faults.append(f"{table} has no wager {own} to take back")
    if left:
        books.rounds[table] = left
    else:
        del books.rounds[table]
    return draft


def _without(books: ExpectedBooks, added: Added, wagered_cents: int) -> tuple[Added, Added]:
    """Divide the contribution of several wagers: a part for one wager, and a part for the others.

    The part for the one wager takes the money in the overflow first. All wagers of the contribution
    had the same rates, which the meter's balance decided if the meter has a threshold.
    """
    meter, terms = added.meter, books.terms[added.meter]
    over = added.micros.get(overflow_account(meter), 0)
    pooled, reserved = wagered_cents * terms.primary_bps, wagered_cents * terms.reserve_bps
    if terms.threshold_cents:
        whole = added.micros.get(meter_account(meter), 0) + over
        pooled = whole * wagered_cents // (added.wagered_cents or 1)
        reserved = wagered_cents * (terms.primary_bps + terms.reserve_bps) - pooled
    from_over = min(pooled, over)
    off = {
        meter_account(meter): pooled - from_over,
        overflow_account(meter): from_over,
        reserve_account(meter): reserved,
    }
    left = {account: added.micros.get(account, 0) - micros for account, micros in off.items()}
    passed = added.passed_to, added.passed_cycle
    return (
        Added(meter, 1, wagered_cents, added.cycle, off, added.wager, *passed),
        Added(
            meter,
            added.wagers - 1,
            added.wagered_cents - wagered_cents,
            added.cycle,
            {account: micros for account, micros in left.items() if micros},
            added.wager,
            *passed,
        ),
    )


def _fed_by(books: ExpectedBooks, moved: Iterable[Transfer]) -> dict[str, list[str]]:
    """Return for each wager the meters to which it contributed, according to the transfers `moved`.

    The present floor file does not say this: it can lack the table, or have another parameter.
    """
    # From the overflow of a meter, money can go on to a meter that the wagers did not feed.
    targets = {one.target for one in moved if one.source.startswith(table_account(""))}
    fed = dict[str, list[str]]()
    # Checkpoints contain the order, so it must not depend on the entry with which a replay began.
    for meter in sorted(books.terms):
        if meter_account(meter) in targets or overflow_account(meter) in targets:
            for wager in books.wagers_of(meter):
                fed.setdefault(wager, []).append(meter)
    return fed


def _add(  # noqa: PLR0917
    books: ExpectedBooks,
    draft: Draft,
    table: str,
    counts: Iterable[tuple[tuple[str, int], int]],
    fed: Mapping[str, Sequence[str]],
    positions: Sequence[WageredPosition],
    claims: Sequence[ClaimOpened],
    own: str = "",
) -> KnownTransfers:
    """Add the transfers of wagers to `draft`. `own` is the wager that a correction adds, or empty.

    `counts` has the number of positions with each wager, by name and amount in cents. `claims` are
    the wins of must-hit-by meters.
    """
    hidden = list[tuple[str, int]]()
    meters, round_added = list[tuple[str, TermsText, int]](), list[Added]()
    cents, count = Counter[str](), Counter[str]()
    for (wager, wagered_cents), times in counts:
        if wager not in fed:
            draft.faults.append(f"the wager {wager} fed no meter")
        for meter in fed.get(wager, ()):
            terms = books.terms[meter]
            if not terms.takes(wagered_cents):
                draft.faults.append(
                    f"a wager of a wrong amount, {wagered_cents} cents, fed {meter}"
                )
            cents[meter] += times * wagered_cents
            count[meter] += times
    # A meter gets its own contribution before what is above the limits of others.
    for meter in sorted(cents, key=lambda one: (books.terms[one].overflow_to and one) or ""):
        wagered_cents = cents[meter]
        terms, cycle, before = books.terms[meter], books.cycles[meter], len(draft.transfers)
        to_meter, to_reserve = (
            wagered_cents * bps for bps in terms.rates_bps(draft.holds(meter_account(meter)))
        )
        most = terms.contribution_max_cents * MICROS_PER_CENT
        if most and to_meter + to_reserve > most:
            micros = to_meter + to_reserve
            draft.faults.append(f"{micros} micros in one event for {meter}: the most is {most}")
        if terms.must_hit_by:
            wagers = feeding_wagers(terms, positions)
            feed(books, draft, table, meter, wagers=wagers, claims=claims)
            hidden.append((meter, to_meter))
            added = {meter_account(meter): to_meter}
        else:
            draft.fill(table_account(table), meter, to_meter, cycle)
            draft.move(table_account(table), reserve_account(meter), to_reserve, cycle)
            added = {
                one.target: one.micros
                for one in draft.transfers[before:]
                if one.source == table_account(table)
            }
        there = terms.overflow_to if overflow_account(meter) in added else ""
        meters.append((meter, terms, cycle))
        passed = there, books.cycles[there] if there else 0
        round_added.append(Added(meter, count[meter], wagered_cents, cycle, added, own, *passed))
    tallies = [
        tally
        for one in round_added
        for tally in (
            (f"wagers:{one.meter}", one.wagers),
            (f"wagered_cents:{one.meter}", one.wagered_cents),
        )
    ]
    return KnownTransfers(
        books.approved,
        tuple(meters),
        tuple(draft.transfers),
        tuple(round_added),
        tuple(tallies),
        tuple(hidden),
    )


def void_moved(books: ExpectedBooks, table: str) -> Draft:
    """Return the transfers that undo a void round (649a.13, reading T28).

    Raises:
        KeyError: the table has no open round.
    """
    draft = Draft(books)
    for added in books.rounds.pop(table):
        _give_back(books, draft, table, added)
    books.tallies["voids"] += 1
    return draft


def _give_back(books: ExpectedBooks, draft: Draft, table: str, added: Added) -> None:
    meter, there = added.meter, added.passed_to or added.meter
    on_meter, above, reserved = (
        added.micros.get(kind(meter), 0)
        for kind in (meter_account, overflow_account, reserve_account)
    )
    passed = above if added.passed_to else 0
    pooled = on_meter + above - passed
    # After the wager, the overflow can have refilled the meter. So both give back, the overflow
    # first.
    for micros, accounts, of, cycle in (
        (passed, (overflow_account(there), meter_account(there)), there, added.passed_cycle),
        (pooled, (overflow_account(meter), meter_account(meter)), meter, added.cycle),
        (reserved, (reserve_account(meter),), meter, added.cycle),
    ):
        left = micros
        for account in accounts:
            off = min(left, draft.holds(account)) if books.cycles[of] == cycle else 0
            draft.move(account, table_account(table), off, cycle)
            left -= off
        draft.move(HOUSE, table_account(table), left, cycle)
    books.tallies[f"voided_wagers:{added.meter}"] += added.wagers
    books.tallies[f"voided_cents:{added.meter}"] += added.wagered_cents
