"""How a table is told what became of Envy Bonuses: a jackpot message for each, an extension.

The contract knows messages about wins alone. One about an Envy Bonus names the claim under which it
is owed, with an ending: to who does not know it, it is a claim of nobody's.
"""

from typing import Final

_ENDING: Final = "-envy"


def envy_message_claim(claim: str) -> str:
    """The claim that a message about Envy Bonuses names.

    >>> envy_message_claim("pit.T-1-42-1")
    'pit.T-1-42-1-envy'
    """
    return f"{claim}{_ENDING}"


def envy_owed_under(named: str) -> str | None:
    """The claim under which the Envy Bonus of a message is owed; None where it is about a win.

    >>> envy_owed_under("pit.T-1-42-1-envy"), envy_owed_under("pit.T-1-42-1")
    ('pit.T-1-42-1', None)
    """
    return named.removesuffix(_ENDING) if named.endswith(_ENDING) else None


def envy_claim_name(result: str, holder: int) -> str:
    """The claim of Envy Bonuses for a hand of which no win waits; `result` is `TABLE-SEQ`.

    >>> envy_claim_name("pit.T-1-42", 3)
    'pit.T-1-42-e3'
    """
    return f"{result}-e{holder}"
