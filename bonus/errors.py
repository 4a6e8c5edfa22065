"""Errors for people who use the software: a plain message without a traceback."""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

_ALIKE: Final = 0.7
"""Lowest similarity, 0 to 1, at which a known word is suggested for a misspelled word."""


class UserError(Exception):
    """Error of a command that cannot do what its user asked; the message says why.

    The exit status is 2 for wrong usage, and 1 for every other error.
    """

    def __init__(self, message: str, *, exit_status: int = 1) -> None:
        super().__init__(message)
        self.exit_status = exit_status


def nearest(word: str, known: Collection[str]) -> str:
    """Return the end of a message about an unknown word.

    The end names the most similar known word, or else all known words. Without known words, it is
    empty.
    """
    plain = word.lower().replace(" ", "_").replace("-", "_")
    if close := get_close_matches(plain, known, 1, _ALIKE):
        return f": is {close[0]} meant?"
    return f": it is one of {', '.join(known)}" if known else ""
