"""The ledger's accounts, by name; the books of a link are all its accounts, and sum to zero.

======================  ==========================================================================
``table:{table}``       what a table's wagers have contributed, below zero by it
``meter:{meter}``       what a meter holds
``reserve:{meter}``     what its reserve holds (649a.12(i)(4))
``overflow:{meter}``    what it could not hold (duty D3)
``claim:{claim}``       a win that waits for a floorperson
``envy:{claim}``        Envy Bonuses that are owed for its hand until somebody has paid them
``house``               what the house has put in: seeds, reseeds, odds and Envy payouts
``paid``                what patrons have been paid
======================  ==========================================================================
"""

from typing import Final

HOUSE: Final = "house"
PAID: Final = "paid"
ENVY: Final = "envy:"
"""How the accounts of what is owed for Envy begin."""


def meter_account(meter: str) -> str:
    """What a meter holds."""
    return f"meter:{meter}"


def reserve_account(meter: str) -> str:
    """What a meter's reserve holds."""
    return f"reserve:{meter}"


def overflow_account(meter: str) -> str:
    """What a meter could not hold."""
    return f"overflow:{meter}"


def table_account(table: str) -> str:
    """What a table's wagers have contributed, below zero by it."""
    return f"table:{table}"


def claim_account(claim: str) -> str:
    """A win that waits for a floorperson."""
    return f"claim:{claim}"


def envy_account(claim: str) -> str:
    """Envy Bonuses that are owed for the hand of a claim until somebody has paid them."""
    return f"{ENVY}{claim}"
