"""Errors of the software's users, reported in plain words and without a traceback."""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

_ALIKE: Final = 0.7
"""Similarity, 0 to 1, from which a known word is suggested for a misspelled one."""


class UserError(Exception):
    """Error of a command that cannot do what its user asked; the message says why.

    Attributes:
        exit_status: exit status of the command: 1 if a check failed or the input was refused, 2
            for wrong usage.
    """

    def __init__(self, message: str, *, exit_status: int = 1) -> None:
        super().__init__(message)
        self.exit_status = exit_status


def nearest(word: str, known: Collection[str]) -> str:
    """Return a hint that names the known word most similar to ``word``, or all known words."""
    plain = word.lower().replace(" ", "_").replace("-", "_")
    if close := get_close_matches(plain, known, 1, _ALIKE):
        return f": is {close[0]} meant?"
    return f": it is one of {', '.join(known)}" if known else ""
