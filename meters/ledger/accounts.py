"""The accounts in a link's ledger, and transfers. The balances of all accounts sum to zero.

======================  ==========================================================================
``table:{table}``       contributions of the table's wagers, as a negative balance
``meter:{meter}``       the meter balance
``reserve:{meter}``     the balance of the meter's reserve (649a.12(i)(4))
``overflow:{meter}``    the amount above the meter's limit (duty D3)
``claim:{claim}``       the amount of a win that is not paid or rejected yet
``envy:{claim}``        Envy Bonuses that are owed for the claim's hand and are not paid yet
``house``               what the house pays, such as seeds, adjustments and wins at odds
``paid``                payments to patrons
======================  ==========================================================================
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
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
    """A transfer of micros. The meter's `cycle` begins at 1, and each reseed adds 1."""

    source: str
    target: str
    micros: int
    cycle: int


class Moved(msgspec.Struct, frozen=True, gc=False):
    """The transfers of a ledger entry, and what follows from them alone.

    `changes` has each account with the micros that it gains, whether its balance must never be
    negative, and whether the account ends when it is empty. `contributed_micros` is the sum that
    came from tables. `meters` are the meters with a changed account. `percents` has each claim that
    gets money from a meter, with this meter. `wrong_micros` are amounts of 0 or less, which no
    transfer can have.
    """

    transfers: tuple[Transfer, ...]
    changes: tuple[tuple[str, int, bool, bool], ...]
    contributed_micros: int
    meters: frozenset[str]
    percents: tuple[tuple[str, str], ...]
    wrong_micros: tuple[int, ...]


_TRANSFERS: Final = msgspec.json.Decoder(tuple[Transfer, ...])
_KEPT: Final = 4_096
"""Count of texts whose decoded transfers are kept: tables often repeat their wagers."""
_TABLES: Final = table_account("")
_OF_METERS: Final = frozenset({"meter", "reserve", "overflow"})
_NEVER_NEGATIVE: Final = ("meter:", "reserve:", "overflow:", "claim:", ENVY, PAID)
_GONE_WHEN_EMPTY: Final = (claim_account(""), ENVY)


def transfers_in(text: bytes) -> tuple[Transfer, ...]:
    """Decode the field `transfers` of a ledger entry."""
    return _TRANSFERS.decode(text)


@lru_cache(_KEPT)
def moved_by(text: bytes) -> Moved:
    transfers = transfers_in(text)
    signed = [
        each for one in transfers for each in ((one.source, -one.micros), (one.target, one.micros))
    ]
    parts = [(one.source.split(":"), one.target.split(":")) for one in transfers]
    return Moved(
        transfers,
        tuple(
            (
                account,
                micros,
                account.startswith(_NEVER_NEGATIVE),
                account.startswith(_GONE_WHEN_EMPTY),
            )
            for account, micros in signed
        ),
        -sum(micros for account, micros in signed if account.startswith(_TABLES)),
        frozenset(name[-1] for part in parts for name in part if name[0] in _OF_METERS),
        tuple(
            (target[-1], source[-1])
            for source, target in parts
            if (source[0], target[0]) == ("meter", "claim")
        ),
        tuple(one.micros for one in transfers if one.micros <= 0),
    )


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
