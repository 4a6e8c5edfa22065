"""The load's own count of what every meter must hold, from the replies alone."""

from dataclasses import dataclass, field
from typing import Final

import msgspec

from bonus.law.games import chapter_games
from bonus.wagers import MICROS_PER_CENT
from meters.wire.messages import Reply
from tests.bench.floor import METERS, POSITIONS, WAGERS_AN_EVENT, terms_of

_PERCENT: Final = b'"percent"'
_WHOLE_METER: Final = 100
_FULL_REPLY: Final = msgspec.json.Decoder(Reply)


def contribution_micros(meter: str) -> int:
    """Return what one `wagers` event adds to a meter: cents times basis points are micros."""
    terms = terms_of(meter)
    return POSITIONS * terms.wager_cents * terms.primary_bps


@dataclass(slots=True)
class Tally:
    """Count of one link, updated as its replies arrive."""

    wagers: int = 0
    voids: int = 0
    rounds: int = 0
    claims: int = 0
    taken_micros: dict[str, int] = field(default_factory=lambda: dict.fromkeys(METERS, 0))

    def note_result(self, reply: bytes, claims: int) -> bool:
        """Count a settled round; return whether a percentage of a meter was won.

        Each share is rounded down to the cent. After the whole meter is won it is reseeded
        immediately (readings T15, T17).
        """
        self.rounds += 1
        self.claims += claims
        if _PERCENT not in reply:
            return False
        reseeded: set[str] = set()
        for line in _FULL_REPLY.decode(reply).lines or ():
            if line.percent is None:
                continue
            meter = chapter_games().meters.meter_of[line.item]
            self.taken_micros[meter] += line.paid * MICROS_PER_CENT
            if line.percent == _WHOLE_METER and meter not in reseeded:
                reseeded.add(meter)
                self.taken_micros[meter] -= terms_of(meter).reseed_cents * MICROS_PER_CENT
        return True

    def meter_micros(self, meter: str) -> int:
        seeded = terms_of(meter).seed_cents * MICROS_PER_CENT
        contributed = (self.wagers - self.voids) * contribution_micros(meter)
        return seeded + contributed - self.taken_micros[meter]

    @property
    def counted(self) -> tuple[int, int]:
        """Wagers less those of voided rounds, and rounds: as the audit counts them."""
        return (self.wagers - self.voids) * WAGERS_AN_EVENT, self.rounds

    @property
    def meters_micros(self) -> dict[str, int]:
        return {meter: self.meter_micros(meter) for meter in METERS}
