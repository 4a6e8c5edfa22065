"""Confirmation of a person's name in a `pitlink` command: by their PIN and their role."""

from bonus.errors import UserError
from meters.users.directory import UserDirectory
from meters.users.errors import UsersError
from meters.users.pin_prompt import ask_pin
from meters.users.roles import RIGHTS, Right, in_words, roles_in_words
from meters.users.sessions import SignedIn
from meters.users.sign_in_attempts import Caller


async def confirm_person(
    user_directory: UserDirectory, name: str, act: str, *, may_have_to_choose: bool = False
) -> SignedIn:
    """Ask for the PIN of a user, and return the user if they are allowed to change links.

    The user is signed in and out, so the operators' log records the sign-in, and wrong PINs are
    counted. `act` is what they do, as in "approves it". With `may_have_to_choose`, the act is also
    open to a user whose PIN another person set, and who has not chosen one of their own yet.

    Raises:
        UserError: the PIN or the name is wrong, sign-in is locked, the user's role does not allow
            the act, or the user must choose their own PIN first. Nothing was done.
    """
    pin = ask_pin(f"PIN of {name}: ")
    try:
        person = await _sign_in(user_directory, name, pin)
    except UsersError as error:
        raise as_user_error(error) from None
    if person.must_choose and not may_have_to_choose:
        raise UserError(f"{person.name} has to choose a PIN of their own first, on the floor page")
    if Right.LINKS not in RIGHTS[person.role]:
        role = in_words(person.role)
        raise UserError(f"{person.name} is {role}: {roles_in_words(Right.LINKS)} {act}")
    return person


async def _sign_in(user_directory: UserDirectory, name: str, pin: str) -> SignedIn:
    opened = await user_directory.sessions.sign_in(name, pin, Caller(""), None)
    person = await user_directory.sessions.find(opened.token, keep_alive=False, acts=True)
    await user_directory.sessions.sign_out(opened.token, "")
    if person is None:
        raise UsersError("session_ended", "your session has ended: start the command again")
    return person


def as_user_error(error: UsersError) -> UserError:
    if error.code == "store_failed" and error.__cause__ is not None:
        return UserError(f"Redis cannot be reached: {error.__cause__}")
    return UserError(error.message)
