"""Second settlement of the rounds of a demonstration, to check the settlement of the service.

The first `ROUNDS_WRITTEN_MAX` rounds are written to a file in the form that `pitlink settle` reads.
A table knows the payouts from its meters, but not the balances from which they were paid. So this
module calculates balances from which the same payouts follow; then both settlements must have the
same lines.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple, Self, TextIO

import msgspec

from bonus.errors import UserError
from bonus.law.games import Games
from bonus.law.meter_terms import MeterTerms
from bonus.rounds import (
    Line,
    MeterHolding,
    PercentWon,
    RoundError,
    SettlementText,
    is_divided,
    percent_won,
)
from bonus.settling.settle_round import settle_line
from bonus.settling.settlement import take_off
from bonus.wagers import (
    BAD_BEAT_PARTS,
    MICROS_PER_CENT,
    Percent,
    bad_beat_item,
    community_item,
    envy_share_item,
    jackpot_item,
)

_ENCODER: Final = msgspec.json.Encoder()

ROUNDS_FILE: Final = "rounds.jsonl"
"""One round on each line, in the form that `pitlink settle` reads."""

SETTLEMENTS_FILE: Final = "settlements.jsonl"
"""The second settlement of each of these rounds, one on each line."""

ROUNDS_WRITTEN_MAX: Final = 20_000
"""Later rounds are compared but not written: a demonstration can run for days."""


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """A round that was settled at a table.

    `fields` is the round in the format of the contract, without `meters`. `lines` are the service's
    lines for progressive wagers; `items` are all items that such a line can have. If `games` is
    None, the round is of a game of the chapters. `terms` and `limits_cents` (payout limits) are by
    kind of meter.
    """

    fields: Mapping[str, object]
    terms: Mapping[str, MeterTerms]
    lines: tuple[Line, ...]
    items: Collection[str]
    games: Games | None = None
    limits_cents: Mapping[str, int] = field(default_factory=dict)


class SettledRecord(NamedTuple):
    """A round and its second settlement, as lines of JSON.

    `same` is false if the second settlement is refused, or differs from the service's settlement.
    If the two differ, `settlement` still has the service's lines for progressive wagers.
    """

    round: bytes
    settlement: bytes
    same: bool


def settle_again(record: RoundRecord, shown_cents: Mapping[str, int]) -> SettledRecord:
    """Settle a recorded round a second time, to check it.

    `shown_cents` has displayed balances by kind of meter, for meters that paid no percentage.
    """
    meters: dict[str, dict[str, int | tuple[int, ...]]] = {}
    for kind, terms in record.terms.items():
        limit_cents = record.limits_cents.get(kind, 0)
        held = held_before(terms, record.lines, limit_cents) or MeterHolding(
            shown_cents.get(kind, terms.seed_cents) * MICROS_PER_CENT
        )
        meters[kind] = {
            "wager": terms.wager_cents,
            "smaller_wagers": terms.smaller_wagers,
            "amount": held.amount_micros // MICROS_PER_CENT,
        }
        if terms.has_reserve:
            meters[kind]["reserve"] = held.reserve_micros // MICROS_PER_CENT
        if held.limit_micros:
            meters[kind]["limit"] = held.limit_micros // MICROS_PER_CENT
            meters[kind]["overflow"] = held.overflow_micros // MICROS_PER_CENT
    fields = dict(record.fields)
    if meters:
        fields["meters"] = meters
    line = _ENCODER.encode(fields)
    try:
        settled = settle_line(line, record.games)
    except RoundError as error:
        refused = {"code": error.code, "message": error.message, "field": error.field}
        return SettledRecord(line, _ENCODER.encode({"error": refused}), same=False)
    lines = tuple(_merged(settled.lines, record))
    settlement = _ENCODER.encode(SettlementText(lines, settled.meters))
    return SettledRecord(line, settlement, same=lines == settled.lines)


def held_before(
    terms: MeterTerms, lines: Sequence[Line], limit_cents: int = 0
) -> MeterHolding | None:
    """Return the lowest balances (meter, reserve, overflow) that explain a round's payouts.

    All balances are whole cents; a `limit_cents` of 0 means that there is no payout limit. Return
    None if the meter paid no percentage, or if no balances explain the payouts.
    """
    takes = list(_takes(terms, lines))
    if not takes:
        return None
    whole = next((at for at, (take, _) in enumerate(takes) if take.reseeds), len(takes))
    reserves = range(1)
    if terms.has_reserve and takes[whole + 1 :]:
        # After a win of the whole meter, the meter begins again with its reseed amount and its
        # reserve. So the reserve decides from which balance later wins of the round are paid.
        reserves = _amounts(*takes[whole + 1])
    limit_micros = limit_cents * MICROS_PER_CENT
    for amount_cents in _amounts(*takes[0]):
        if limit_cents and amount_cents > limit_cents:
            break
        overflows: Iterable[int] = range(1)
        if limit_cents and amount_cents == limit_cents:
            overflows = _overflows(takes, terms, limit_cents)
        for reserve_cents, overflow_cents in product(reserves, overflows):
            held = MeterHolding(
                amount_cents * MICROS_PER_CENT,
                reserve_cents * MICROS_PER_CENT,
                overflow_cents * MICROS_PER_CENT,
                limit_micros,
            )
            if _explains(held, takes, terms):
                return held
    return None


def _overflows(
    takes: Sequence[tuple[PercentWon, int]], terms: MeterTerms, limit_cents: int
) -> Iterator[int]:
    """Yield the overflows in cents with which a meter at its limit can have paid `takes`.

    Each win is paid from the refilled meter. If the overflow was too small to refill the meter, the
    first win that was paid from less than the limit shows the size of the overflow.
    """
    yield 0
    gone_cents = 0
    for take, share_cents in takes:
        # A percentage that continues another one is of the same balance.
        for amount_cents in () if take.continues else _amounts(take, share_cents):
            if (overflow_cents := gone_cents - limit_cents + amount_cents) > 0:
                yield overflow_cents
        gone_cents += share_cents * take.paid
        if take.reseeds:
            gone_cents -= terms.reseed_cents
    yield max(0, gone_cents)


def _amounts(take: PercentWon, share_cents: int) -> range:
    """Return the meter balances in cents with which a share of a win can be `share_cents`."""
    least_cents = -(-share_cents * take.shares * 100 // take.percent)
    return range(least_cents, least_cents + 100 * take.shares // take.percent + 1)


def _explains(
    held: MeterHolding, takes: Sequence[tuple[PercentWon, int]], terms: MeterTerms
) -> bool:
    of_micros = held.amount_micros
    for take, share_cents in takes:
        if not take.continues:
            of_micros = held.amount_micros
        cents, held = take_off(held, take, terms, of_micros)
        if cents != share_cents:
            return False
    return True


def _takes(terms: MeterTerms, lines: Sequence[Line]) -> Iterator[tuple[PercentWon, int]]:
    """Yield the percentages that a meter paid, in paying order, each with one share in cents."""
    own = {jackpot_item(terms.kind)} if terms.tiers else {*terms.wagers, jackpot_item(terms.kind)}
    own |= {community_item(terms.kind), envy_share_item(terms.kind)}
    own |= {bad_beat_item(terms.kind, part) for part in BAD_BEAT_PARTS}
    paid = [line for line in lines if line.percent and line.item in own]
    of_hand: tuple[str, Percent] = "", 0
    for line in paid:
        shares = payees = 1
        if is_divided(line):
            sharing = [one for one in paid if (one.item, one.hand_of) == (line.item, line.hand_of)]
            alike = [one for one in sharing if one.wagered == line.wagered]
            if line is not alike[0]:
                continue
            shares, payees = len(sharing), len(alike)
        holder, won = of_hand
        before = won if line.can_continue and holder == line.balance_of else 0
        take = PercentWon(terms.kind, percent_won(line), shares, before, payees)
        of_hand = line.balance_of, take.after
        yield take, line.paid


def _merged(settled: Sequence[Line], record: RoundRecord) -> Iterator[Line]:
    given = list(record.lines)
    for line in settled:
        if line.item not in record.items:
            yield line
        elif given:
            yield given.pop(0)
    yield from given


class RoundFiles:
    def __init__(self, rounds: TextIO, settlements: TextIO) -> None:
        self._rounds = rounds
        self._settlements = settlements
        self.settled = 0
        self.different = 0

    @classmethod
    @contextmanager
    def under(cls, data: Path) -> Iterator[Self]:
        """Open new files in place of older ones; raise `UserError` if they cannot be written."""
        try:
            rounds = (data / ROUNDS_FILE).open("w", encoding="utf-8")
            settlements = (data / SETTLEMENTS_FILE).open("w", encoding="utf-8")
        except OSError as error:
            raise UserError(f"the rounds cannot be written under {data}: {error}") from None
        with rounds, settlements:
            yield cls(rounds, settlements)

    def write(self, record: RoundRecord, shown_cents: Mapping[str, int]) -> None:
        again = settle_again(record, shown_cents)
        self.settled += 1
        self.different += not again.same
        if self.settled > ROUNDS_WRITTEN_MAX:
            return
        for file, line in ((self._rounds, again.round), (self._settlements, again.settlement)):
            file.write(line.decode() + "\n")
            file.flush()
