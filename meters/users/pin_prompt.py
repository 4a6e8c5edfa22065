"""The PIN that somebody types at a command: never an argument, since those are seen by others."""

import getpass
import sys

from bonus.errors import UserError
from meters.users.errors import UsersError
from meters.users.pins import check_pin


def ask_new_pin() -> str:
    """A PIN to be set, asked for twice on a terminal.

    Raises:
        UserError: it is none, or the second is another.
    """
    pin = ask_pin()
    try:
        check_pin(pin)
    except UsersError as error:
        raise UserError(error.message) from None
    if sys.stdin.isatty() and getpass.getpass("The same again: ") != pin:
        raise UserError("the two are not the same")
    return pin


def ask_pin() -> str:
    """A PIN, asked for on a terminal; elsewhere the first line of standard input.

    Raises:
        UserError: there is none.
    """
    if sys.stdin is None:
        raise UserError("the PIN is read from standard input, and there is none")
    try:
        if sys.stdin.isatty():
            return getpass.getpass("PIN: ")
        return sys.stdin.readline().rstrip("\r\n")
    except EOFError:
        raise UserError("no PIN was given") from None
