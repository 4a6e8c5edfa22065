"""The load's own books: what every meter must hold, by the replies alone."""

from dataclasses import dataclass, field
from typing import Final

import msgspec

from bonus.settling.settlement_lines import METER_OF_ITEM
from bonus.wagers import MICROS_PER_CENT, MeterKind
from meters.wire.messages import Reply
from tests.bench.floor import METERS, POSITIONS, WAGERS_AN_EVENT, terms_of
from tests.bench.orders import LinkBooks

_PERCENT: Final = b'"percent"'
_WHOLE_METER: Final = 100
_FULL_REPLY: Final = msgspec.json.Decoder(Reply)


def contribution_micros(meter: MeterKind) -> int:
    """What one `wagers` event adds to a meter: cents times basis points are micros."""
    terms = terms_of(meter)
    return POSITIONS * terms.wager_cents * terms.primary_bps


@dataclass(slots=True)
class Tally:
    """One link, counted as its replies come.

    Attributes:
        wagers: `wagers` events accepted.
        voids: voids accepted.
        rounds: results accepted.
        claims: claims that they opened.
        taken_micros: what percentage awards took off each meter, less what it was reseeded with.
    """

    wagers: int = 0
    voids: int = 0
    rounds: int = 0
    claims: int = 0
    taken_micros: dict[MeterKind, int] = field(default_factory=lambda: dict.fromkeys(METERS, 0))

    def note_result(self, reply: bytes, claims: int) -> bool:
        """Count a settled round; whether a percentage of a meter was won.

        Each share is floored to the cent, and after the whole meter it is reseeded at once
        (readings T15, T17).
        """
        self.rounds += 1
        self.claims += claims
        if _PERCENT not in reply:
            return False
        reseeded: set[MeterKind] = set()
        for line in _FULL_REPLY.decode(reply).lines or ():
            if line.percent is None:
                continue
            meter = METER_OF_ITEM[line.item]
            self.taken_micros[meter] += line.paid * MICROS_PER_CENT
            if line.percent == _WHOLE_METER and meter not in reseeded:
                reseeded.add(meter)
                self.taken_micros[meter] -= terms_of(meter).reseed_cents * MICROS_PER_CENT
        return True

    def meter_micros(self, meter: MeterKind) -> int:
        """What a meter holds now, from its seed on."""
        seeded = terms_of(meter).seed_cents * MICROS_PER_CENT
        contributed = (self.wagers - self.voids) * contribution_micros(meter)
        return seeded + contributed - self.taken_micros[meter]

    def books(self) -> LinkBooks:
        """All of it, as the benchmark compares it with the audit."""
        return LinkBooks(
            wagers=(self.wagers - self.voids) * WAGERS_AN_EVENT,
            rounds=self.rounds,
            meters_micros={meter.value: self.meter_micros(meter) for meter in METERS},
        )
