"""Prompts for a PIN in `pitlink` commands: for a new PIN, or for the PIN of the person who acts.

A PIN is never an argument of a command, because other accounts of the machine can see arguments.
"""

import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from bonus.errors import UserError
from meters.floor.roles import RIGHTS, Right, in_words, roles_in_words
from meters.process.printing import print_error
from meters.store.failures import command_failure_text
from meters.users.pins import check_pin
from meters.users.sessions import SignedIn
from meters.users.sign_in_attempts import Caller
from meters.users.user_store import UsersError
from meters.users.users import UserDirectory


def ask_new_pin() -> str:
    """Ask for a new PIN. On a terminal, ask twice, and again if the PIN is not valid.

    Raises:
        UserError: there is no input; or the PIN is not valid and not from a terminal.
    """
    while True:
        pin = ask_pin("PIN (6 to 12 digits): ")
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
    """Ask for a PIN on a terminal. Without a terminal, read the PIN from standard input."""
    if sys.stdin is None:
        raise UserError("the PIN is read from standard input, but the command has no input")
    try:
        if sys.stdin.isatty():
            return getpass.getpass(prompt)
        return sys.stdin.readline().rstrip("\r\n")
    except EOFError:
        raise UserError("no PIN was given") from None


async def confirm_person(
    user_directory: UserDirectory, name: str, act: str, *, may_have_to_choose: bool = False
) -> SignedIn:
    """Ask for the PIN of a user. Return the user if they may change links.

    The user is signed in and out, so the operators' log records the sign-in, and wrong PINs are
    counted. `act` is a text such as "approves it". With `may_have_to_choose`, the user may also act
    if another person set their PIN.

    Raises:
        UserError: the PIN or the name is wrong, sign-in is locked, the user's role does not allow
            the act, the user must first choose a PIN, or Redis failed. The act was not done.
    """
    pin = ask_pin(f"PIN of {name}: ")
    sessions = user_directory.sessions
    try:
        opened = await sessions.sign_in(name, pin, Caller(""), None)
        person = await sessions.find(opened.token, keep_alive=False, acts=True)
        await sessions.sign_out(opened.token, "")
    except UsersError as error:
        raise as_user_error(error) from None
    if person is None:
        raise UserError("your session has ended: start the command again")
    if person.must_choose and not may_have_to_choose:
        raise UserError(f"{person.name} has to choose a PIN of their own first, on the floor page")
    if Right.LINKS not in RIGHTS[person.role]:
        role = in_words(person.role)
        raise UserError(f"{person.name} is {role}: {roles_in_words(Right.LINKS)} {act}")
    return person


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise a `UserError` in plain words instead of a refusal or a failure of Redis."""
    try:
        yield
    except UsersError as error:
        raise as_user_error(error) from None
    except (RedisError, OSError) as error:
        raise UserError(command_failure_text(error)) from None


def as_user_error(error: UsersError) -> UserError:
    if error.code == "store_failed" and isinstance(error.__cause__, Exception):
        return UserError(command_failure_text(error.__cause__))
    if error.code == "wrong_name_or_pin":
        return UserError(f"{error.message}: `pitlink user list` shows the names")
    return UserError(error.message)
