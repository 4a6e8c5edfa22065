"""Mistakes of whoever uses the software, told plainly and without a traceback."""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

_ALIKE: Final = 0.7
"""How near two words must be, of 1, for one to be taken for the other."""


class UserError(Exception):
    """A command cannot do what its user asked, and the message says why.

    Attributes:
        exit_status: what the command ends with: 1 where the thing checked does not hold or the
            input was refused, 2 for wrong usage.
    """

    def __init__(self, message: str, *, exit_status: int = 1) -> None:
        super().__init__(message)
        self.exit_status = exit_status


def nearest(word: str, known: Collection[str]) -> str:
    """The one word that another is near to, where there is one; else all that are known."""
    plain = word.lower().replace(" ", "_").replace("-", "_")
    if close := get_close_matches(plain, known, 1, _ALIKE):
        return f": is {close[0]} meant?"
    return f": it is one of {', '.join(known)}" if known else ""
