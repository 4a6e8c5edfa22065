"""Names in messages about decisions on Envy Bonuses. These messages extend the contract.

The contract has jackpot messages only for wins. A decision on Envy Bonuses is an additional one,
whose claim name is the claim under which the bonuses are owed, with the ending ``-envy``. For a
reader that does not know the extension, this is an unknown claim.
"""

from typing import Final

_ENDING: Final = "-envy"


def envy_message_claim(claim: str) -> str:
    """Return the claim name that a message about the Envy Bonuses of a claim uses.

    >>> envy_message_claim("pit.T-1-42-1")
    'pit.T-1-42-1-envy'
    """
    return f"{claim}{_ENDING}"


def envy_owed_under(named: str) -> str | None:
    """Return the claim whose Envy Bonuses a jackpot message is about; None for a win's message.

    >>> envy_owed_under("pit.T-1-42-1-envy"), envy_owed_under("pit.T-1-42-1")
    ('pit.T-1-42-1', None)
    """
    return named.removesuffix(_ENDING) if named.endswith(_ENDING) else None


def envy_claim_name(result: str, holder: int) -> str:
    """Return the claim name of the Envy Bonuses for a hand that has no win of its own.

    `result` names the link, the table and the result's sequence number. `holder` is the position of
    the hand that causes the bonuses.

    >>> envy_claim_name("pit.T-1-42", 3)
    'pit.T-1-42-e3'
    """
    return f"{result}-e{holder}"
