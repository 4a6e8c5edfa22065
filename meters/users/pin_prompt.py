"""Prompt for a PIN in a `pitlink` command.

A PIN is never an argument of a command, because other accounts of the machine can see arguments.
"""

import getpass
import sys

from bonus.errors import UserError
from meters.users.errors import UsersError
from meters.users.pins import check_pin


def ask_new_pin() -> str:
    """Ask for a new PIN, and return it. On a terminal, ask twice to find a typing error.

    Raises:
        UserError: the PIN is not valid, or the second input differs from the first.
    """
    pin = ask_pin()
    try:
        check_pin(pin)
    except UsersError as error:
        raise UserError(error.message) from None
    if sys.stdin.isatty() and getpass.getpass("The same again: ") != pin:
        raise UserError("the two PINs differ")
    return pin


def ask_pin() -> str:
    """Ask for a PIN on a terminal. Without a terminal, read the PIN from standard input.

    Raises:
        UserError: there is no input.
    """
    if sys.stdin is None:
        raise UserError("the PIN is read from standard input, and there is none")
    try:
        if sys.stdin.isatty():
            return getpass.getpass("PIN: ")
        return sys.stdin.readline().rstrip("\r\n")
    except EOFError:
        raise UserError("no PIN was given") from None
