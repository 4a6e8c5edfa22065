"""Prompt for a PIN in a `pitlink` command.

A PIN is never an argument of a command, because other accounts of the machine can see arguments.
"""

import getpass
import sys
from typing import Final

from bonus.errors import UserError
from meters.process.printing import print_error
from meters.users.errors import UsersError
from meters.users.pins import check_pin

_NEW: Final = "PIN (6 to 12 digits): "


def ask_new_pin() -> str:
    """Ask for a new PIN.

    On a terminal, ask twice to find a typing error, and start again if the PIN is not valid.

    Raises:
        UserError: there is no input, or it is not from a terminal and the PIN is not valid.
    """
    while True:
        pin = ask_pin(_NEW)
        problem = _problem(pin)
        if problem is None:
            return pin
        if not sys.stdin.isatty():
            raise UserError(problem)
        print_error(f"{problem}: try again")


def _problem(pin: str) -> str | None:
    try:
        check_pin(pin)
    except UsersError as error:
        return error.message
    if sys.stdin.isatty() and ask_pin("The same again: ") != pin:
        return "the two PINs differ"
    return None


def ask_pin(prompt: str = "PIN: ") -> str:
    """Ask for a PIN on a terminal. Without a terminal, read the PIN from standard input.

    Raises:
        UserError: there is no input.
    """
    if sys.stdin is None:
        raise UserError("the PIN is read from standard input, and there is none")
    try:
        if sys.stdin.isatty():
            return getpass.getpass(prompt)
        return sys.stdin.readline().rstrip("\r\n")
    except EOFError:
        raise UserError("no PIN was given") from None
