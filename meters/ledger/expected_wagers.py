"""The transfers of accepted wagers, calculated from their event and the incrementation rates."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from bonus.wagers import MICROS_PER_CENT
from meters.ledger.accounts import meter_account, overflow_account, reserve_account, table_account
from meters.ledger.approved_configuration import ApprovedSettings
from meters.ledger.entry_messages import PlacedWagers
from meters.ledger.expected_transfers import Added, Draft, ExpectedBooks, Transfer, give_back
from meters.ledger.money_terms import TermsText
from meters.wire.messages import WagerCorrection


class KnownTransfers(msgspec.Struct, frozen=True, gc=False):
    """The transfers that a table's wagers must have, as they were calculated before.

    `positions` are JSON, and `text` the transfers as the ledger entry has them. `meters` has the
    id, the terms and the cycle of each meter, `added` the contribution to each. `tallies` are the
    accounting meters that rise, with the increase of each.
    """

    positions: bytes
    text: bytes
    approved: ApprovedSettings
    meters: tuple[tuple[str, TermsText, int], ...]
    transfers: tuple[Transfer, ...]
    added: tuple[Added, ...]
    tallies: tuple[tuple[str, int], ...]

    def are_of(self, books: ExpectedBooks, placed: PlacedWagers, text: bytes) -> bool:
        return (
            self.positions == placed.text
            and self.text == text
            and self.approved is books.approved
            and all(
                books.terms[meter] is terms and books.cycles[meter] == cycle
                for meter, terms, cycle in self.meters
            )
        )


class ExpectedWagers:
    """The calculation of the transfers that the wagers in a ledger must have.

    Players often repeat their wagers, so the transfers of each table's last wagers are kept. If a
    meter has a payout limit, they are not kept, because they depend on the balance of the meter.
    """

    def __init__(self) -> None:
        self._last: dict[str, KnownTransfers] = {}

    def moved(
        self, books: ExpectedBooks, table: str, placed: PlacedWagers, text: bytes,
        transfers: Sequence[Transfer],
    ) -> Draft:  # fmt: skip
        """Return the transfers of accepted wagers, according to the incrementation rates.

        The rates are those of 649a.12(e)(3), (h)(3), (i)(4) and (j)(3). `books` are those before
        the wagers. `text` are the transfers as the ledger entry has them. Decoded, as `transfers`,
        they show which meters the wagers fed.

        Raises:
            KeyError: a wager fed a meter without terms or without a cycle.
        """
        known = self._last.get(table)
        if known is not None and known.are_of(books, placed, text):
            draft = Draft(books)
            draft.transfers += known.transfers
            if table in books.rounds:
                draft.faults.append(_second_round(table))
        else:
            draft, known = _calculated(books, table, placed, text, _fed_by(books, transfers))
            if draft.faults or any(terms.limit_cents for _, terms, _ in known.meters):
                self._last.pop(table, None)
            else:
                self._last[table] = known
        for name, number in known.tallies:
            books.tallies[name] += number
        books.rounds[table] = known.added
        return draft


def correction_moved(
    books: ExpectedBooks, table: str, event: WagerCorrection, transfers: Sequence[Transfer]
) -> Draft:
    """Return the transfers of one wager that is added after lock-out, or taken back.

    A wager is taken back like those of a void round (reading T28). A round without any wager is
    over. `transfers` are those of the ledger entry, which show which meters an added wager fed.

    Raises:
        KeyError: the table has no open round, or the wager fed a meter without terms.
    """
    own, counts = f"{event.position}:{event.wager}", (((event.wager, event.amount), 1),)
    round_added = books.rounds[table]
    if event.adds:
        added = _Added(books, table, own)
        added.add(counts, _fed_by(books, transfers))
        books.rounds[table] = (*round_added, *added.round_added)
        for name, number in added.tallies:
            books.tallies[name] += number
        return added.draft
    of = own if any(one.wager == own for one in round_added) else ""
    draft, left = Draft(books), list[Added]()
    for one in round_added:
        if one.wager != of or event.wager not in books.wagers_of(one.meter):
            left.append(one)
            continue
        gone, rest = _without(books, one, event.amount)
        if rest.wagers < 0 or min(rest.micros.values(), default=0) < 0:
            draft.faults.append(f"{table} has no wager {own} on {one.meter} to take back")
        give_back(books, draft, table, gone)
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
    """Divide the contribution of some wagers: one wager, which takes the overflow first; the rest.

    All wagers on a meter have the same amount, and the rates do not change during a round.
    """
    meter, terms = added.meter, books.terms[added.meter]
    over = added.micros.get(overflow_account(meter), 0)
    pooled, reserved = wagered_cents * terms.primary_bps, wagered_cents * terms.reserve_bps
    from_over = min(pooled, over)
    off = {
        meter_account(meter): pooled - from_over,
        overflow_account(meter): from_over,
        reserve_account(meter): reserved,
    }
    left = {account: added.micros.get(account, 0) - micros for account, micros in off.items()}
    return (
        Added(meter, 1, wagered_cents, added.cycle, off, added.wager),
        Added(
            meter,
            added.wagers - 1,
            added.wagered_cents - wagered_cents,
            added.cycle,
            {account: micros for account, micros in left.items() if micros},
            added.wager,
        ),
    )


def _fed_by(books: ExpectedBooks, moved: Iterable[Transfer]) -> dict[str, list[str]]:
    """Return for each wager the meters to which it contributed. `moved` has their transfers.

    The present floor file does not say: the table can be missing, or a parameter can be different.
    """
    targets, fed = {one.target for one in moved}, dict[str, list[str]]()
    # The order must not depend on the entry with which a replay began. Checkpoints have the order.
    for meter in sorted(books.terms):
        if meter_account(meter) in targets or overflow_account(meter) in targets:
            for wager in books.wagers_of(meter):
                fed.setdefault(wager, []).append(meter)
    return fed


class _Added:
    """The calculation of what some wagers add. `own` is the wager that a correction adds, or empty.

    `meters` has the id, the terms and the cycle of each meter that was fed. `tallies` are the
    accounting meters that rise, with the increase of each.
    """

    def __init__(self, books: ExpectedBooks, table: str, own: str = "") -> None:
        self._books, self._table, self._own = books, table, own
        self.draft = Draft(books)
        self.meters: list[tuple[str, TermsText, int]] = []
        self.round_added: list[Added] = []
        self.tallies: list[tuple[str, int]] = []

    def add(
        self, counts: Iterable[tuple[tuple[str, int], int]], fed: Mapping[str, Sequence[str]]
    ) -> None:
        """Add wagers: each different wager by name and cents, with its number of positions."""
        books, draft, table = self._books, self.draft, self._table
        cents, count = Counter[str](), Counter[str]()
        for (wager, wagered_cents), times in counts:
            if wager not in fed:
                draft.faults.append(f"a wager {wager} fed no meter")
            for meter in fed.get(wager, ()):
                if wagered_cents != books.terms[meter].wager_cents:
                    draft.faults.append(f"a wager of {wagered_cents} cents fed {meter}")
                cents[meter] += times * wagered_cents
                count[meter] += times
        for meter, wagered_cents in cents.items():
            terms, cycle, before = books.terms[meter], books.cycles[meter], len(draft.transfers)
            to_meter = wagered_cents * terms.primary_bps
            to_reserve = wagered_cents * terms.reserve_bps
            most = terms.contribution_max_cents * MICROS_PER_CENT
            if most and to_meter + to_reserve > most:
                micros = to_meter + to_reserve
                draft.faults.append(f"{micros} micros in one event are too many: {meter}")
            draft.fill(table_account(table), meter, to_meter, cycle)
            draft.move(table_account(table), reserve_account(meter), to_reserve, cycle)
            added = {one.target: one.micros for one in draft.transfers[before:]}
            self.meters.append((meter, terms, cycle))
            self.round_added.append(
                Added(meter, count[meter], wagered_cents, cycle, added, self._own)
            )
            self.tallies += [
                (f"wagers:{meter}", count[meter]),
                (f"wagered_cents:{meter}", wagered_cents),
            ]


def _calculated(
    books: ExpectedBooks,
    table: str,
    placed: PlacedWagers,
    text: bytes,
    fed: Mapping[str, Sequence[str]],
) -> tuple[Draft, KnownTransfers]:
    added = _Added(books, table)
    if table in books.rounds:
        added.draft.faults.append(_second_round(table))
    added.add(placed.counts, fed)
    return added.draft, KnownTransfers(
        positions=placed.text,
        text=text,
        approved=books.approved,
        meters=tuple(added.meters),
        transfers=tuple(added.draft.transfers),
        added=tuple(added.round_added),
        tallies=tuple(added.tallies),
    )


def _second_round(table: str) -> str:
    return f"table {table} has a round already"
