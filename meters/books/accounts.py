"""The accounts in a link's ledger. The balances of all accounts sum to zero.

======================  ==========================================================================
``table:{table}``       contributions of the table's wagers, as a negative balance
``meter:{meter}``       the meter balance
``reserve:{meter}``     the balance of the meter's reserve (649a.12(i)(4))
``overflow:{meter}``    the amount above the meter's limit (duty D3)
``claim:{claim}``       the amount of a win that waits for a floorperson
``envy:{claim}``        Envy Bonuses that are owed for the claim's hand and are not paid yet
``house``               payments of the house: seeds, reseeds, wins at fixed odds, Envy Bonuses
``paid``                payments to patrons
======================  ==========================================================================
"""

from typing import Final

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
