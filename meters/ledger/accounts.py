"""The accounts in a link's ledger, and transfers. The balances of all accounts sum to zero.

======================  ==========================================================================
``table:{table}``       contributions of the table's wagers, as a negative balance
``meter:{meter}``       the meter balance
``reserve:{meter}``     the balance of the meter's reserve (649a.12(i)(4))
``overflow:{meter}``    the amount above the meter's limit (duty D3)
``claim:{claim}``       the amount of a win that waits for a floorperson
``envy:{claim}``        Envy Bonuses that are owed for the claim's hand and are not paid yet
``house``               what the house pays: seeds, reseeds, adjustments, wins at odds, Envy Bonuses
``paid``                payments to patrons
======================  ==========================================================================
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

import msgspec

HOUSE: Final = "house"
PAID: Final = "paid"
ENVY: Final = "envy:"
"""The beginning of the name of each account for owed Envy Bonuses."""


def meter_account(meter: str) -> str:
    return f"meter:{meter}"


def reserve_account(meter: str) -> str:
    return f"reserve:{meter}"


def overflow_account(meter: str) -> str:
    return f"overflow:{meter}"


def table_account(table: str) -> str:
    return f"table:{table}"


def claim_account(claim: str) -> str:
    return f"claim:{claim}"


def envy_account(claim: str) -> str:
    return f"{ENVY}{claim}"


class Transfer(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A transfer of micros. `cycle` is 1 after the first seed of a meter, plus 1 per reseed."""

    source: str
    target: str
    micros: int
    cycle: int


_TRANSFERS: Final = msgspec.json.Decoder(tuple[Transfer, ...])


def transfers_in(text: bytes) -> tuple[Transfer, ...]:
    """Decode the transfers of a ledger entry."""
    return _TRANSFERS.decode(text)


@dataclass
class Totals:
    """Totals of a link's ledger over all meters. Wagers of voided rounds do not count."""

    rounds: int = 0
    voids: int = 0
    wagers: int = 0
    wagered_cents: int = 0
    contributions_micros: int = 0
    wins: int = 0
    won_cents: int = 0

    @classmethod
    def of(cls, tallies: Mapping[str, int], contributed_micros: int) -> Self:
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
