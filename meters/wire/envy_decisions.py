"""Claim names for decisions about Envy Bonuses, an extension of the contract.

The contract has jackpot messages only for wins. Each decision about an Envy Bonus is sent as an
additional jackpot message. The claim name in this message is the claim under which the Envy Bonus
is owed, plus the ending ``-envy``. A reader that does not know the extension sees an unknown claim.
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
    """Return the claim under which the Envy Bonus in a message is owed.

    The result is None if the message is about a win.

    >>> envy_owed_under("pit.T-1-42-1-envy"), envy_owed_under("pit.T-1-42-1")
    ('pit.T-1-42-1', None)
    """
    return named.removesuffix(_ENDING) if named.endswith(_ENDING) else None


def envy_claim_name(result: str, holder: int) -> str:
    """Return the claim name of the Envy Bonuses for a hand that has no win of its own.

    `result` is the table and the number of the result, `TABLE-SEQ`. `holder` is the hand's
    position.

    >>> envy_claim_name("pit.T-1-42", 3)
    'pit.T-1-42-e3'
    """
    return f"{result}-e{holder}"
