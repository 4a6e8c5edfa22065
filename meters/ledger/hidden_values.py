"""The hidden values of must-hit-by meters: their records in the ledger, and who wins with them.

A hidden value is the amount at which a cycle of the meter is won. When the value is drawn, the
ledger gets its commitment: a SHA-256 digest of the value and a random salt. When the meter is won,
the ledger gets both, so that everybody can check that the value was fixed before the first wager.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from bonus.wagers import MICROS_PER_CENT
from meters.ledger.money_terms import TermsText
from meters.wire.messages import HiddenValueDrawn, OpenedValue, WageredPosition

SALT_BYTES: Final = 32


HIDDEN_VALUE_DRAWN: Final = msgspec.json.Decoder(HiddenValueDrawn)


@dataclass(slots=True)
class HiddenCycle:
    """The present cycle of a must-hit-by meter, as the ledger shows it.

    `start_micros` is the meter's amount at the beginning of the cycle, and `peak_micros` its
    highest amount since.
    """

    commitment: str
    sealed: str
    start_micros: int
    peak_micros: int


def commitment_of(meter: str, cycle: int, value: OpenedValue) -> str:
    """Return the digest that commits the service to a hidden value.

    >>> commitment_of("mystery", 1, OpenedValue(5_123_456, "00" * 32))[:16]
    '570d76165872fc6b'
    """
    text = f"pitlink must-hit-by\n{meter}\n{cycle}\n{value.micros}\n{value.salt}\n"
    return hashlib.sha256(text.encode()).hexdigest()


class FeedingWager(NamedTuple):
    """A wager that feeds a must-hit-by meter, with its contribution in micros."""

    position: int
    wager: str
    cents: int
    micros: int


def feeding_wagers(
    terms: TermsText, positions: Iterable[WageredPosition]
) -> Sequence[FeedingWager]:
    """Return the wagers that feed a must-hit-by meter, in paying order.

    The highest position comes first (reading G1). Wagers of one position come in the order in
    which the floor file lists them.
    """
    return [
        FeedingWager(one.position, wager, cents, cents * terms.primary_bps)
        for one in sorted(positions, key=lambda one: -one.position)
        for wager in terms.wagers
        if (cents := one.wagers.get(wager))
    ]


@dataclass(frozen=True, slots=True)
class ReachedValue:
    """The win of a must-hit-by meter by one of several wagers.

    Attributes:
        place: the place of the winning wager among the wagers, from 0.
        micros: the contributions of the wagers up to the winning one.
        cents: the amount of the win: the hidden value without fractions of a cent.
        from_reserve_micros: what the next cycle gets from the reserve: rejected wins wait there.
        start_micros: the meter's amount when the next cycle begins.
    """

    place: int
    micros: int
    cents: int
    from_reserve_micros: int
    start_micros: int


def hit_by(
    terms: TermsText,
    wagers: Sequence[FeedingWager],
    hidden_micros: int,
    meter_micros: int,
    reserve_micros: int,
) -> ReachedValue | None:
    """Return the win of the first wager whose contribution takes the meter to its hidden value.

    The next cycle begins at the minimum, with what is over. Money in the reserve is added up to the
    middle between minimum and maximum, so that the reserve alone never ends a cycle.
    """
    added = 0
    for place, wager in enumerate(wagers):
        added += wager.micros
        if meter_micros + added < hidden_micros:
            continue
        cents = hidden_micros // MICROS_PER_CENT
        least_micros = terms.reseed_cents * MICROS_PER_CENT
        start = meter_micros + added - cents * MICROS_PER_CENT + least_micros
        middle = (terms.reseed_cents + terms.maximum_cents) * MICROS_PER_CENT // 2
        released = min(reserve_micros, max(0, middle - start))
        return ReachedValue(place, added, cents, released, start + released)
    return None
