from collections import Counter
from dataclasses import dataclass
from typing import Self


@dataclass
class Totals:
    """Totals of a link's ledger over all meters. Voided rounds do not count."""

    rounds: int = 0
    voids: int = 0
    wagers: int = 0
    wagered_cents: int = 0
    contributions_micros: int = 0
    wins: int = 0
    won_cents: int = 0

    @classmethod
    def of(cls, tallies: Counter[str], contributed_micros: int) -> Self:
        """Make the totals from the accounting meters: counts and sums that only rise."""

        def net(laid: str, voided: str) -> int:
            laid_sum = sum(of for name, of in tallies.items() if name.startswith(laid))
            return laid_sum - sum(of for name, of in tallies.items() if name.startswith(voided))

        return cls(
            rounds=tallies["rounds"],
            voids=tallies["voids"],
            wagers=net("wagers:", "voided_wagers:"),
            wagered_cents=net("wagered_cents:", "voided_cents:"),
            contributions_micros=contributed_micros,
            wins=tallies["wins"],
            won_cents=tallies["won_cents"],
        )
