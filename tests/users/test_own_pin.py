"""PINs that people choose themselves, and who knows whose, in a real Redis."""

from typing import cast

import pytest

from meters.books.two_people import NO_SETTERS, PinSetters
from meters.users.errors import UsersError
from meters.users.pins import PinHashing
from meters.users.roles import Role
from meters.users.sessions import OpenedSession
from meters.users.sign_in_attempts import Caller
from meters.users.users import Actor
from tests.users.staff import BY_COMMAND, HERE, PIN, WRONG, Register

OWN = "905183"
ADA = Actor("Ada", HERE)


@pytest.fixture
async def staffed(register: Register) -> Register:
    """Return a register with an administrator and a user, both added by command."""
    await register.add("Ada", Role.ADMINISTRATOR)
    await register.add("Flo")
    return register


async def choose(register: Register, opened: OpenedSession, old: str = PIN, new: str = OWN) -> str:
    """Choose a PIN, and return the code of a refusal."""
    try:
        await register.sessions.choose_pin(opened.token, opened.person, old, new, Caller(HERE))
    except UsersError as error:
        return error.code
    return ""


async def pin_by(register: Register, name: str) -> str:
    return next(row.pin_by for row in await register.users.rows() if row.name == name)


async def test_a_pin_of_ones_own_ends_ones_other_sessions_alone(staffed: Register) -> None:
    here, elsewhere, sue = (
        await staffed.sign_in(), await staffed.sign_in(), await staffed.sign_in("Ada")
    )  # fmt: skip
    assert await choose(staffed, here) == ""
    assert await staffed.whose(here.token) == here.person
    assert await staffed.whose(elsewhere.token) is None
    assert await staffed.whose(sue.token) == sue.person
    assert await staffed.refused("Flo", PIN) == "wrong_name_or_pin"
    assert (await staffed.sign_in("Flo", OWN)).person.name == "Flo"
    entry = next(row for row in await staffed.log() if row.what == "pin_chosen")
    assert (entry.by, entry.about, entry.client) == ("Flo", "Flo", HERE)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (WRONG, OWN, "wrong_pin"), ("", OWN, "wrong_pin"), (PIN, PIN, "bad_pin"),
        (PIN, "111111", "bad_pin"), (PIN, "12345", "bad_pin"), (WRONG, "1", "bad_pin"),
    ],
)  # fmt: skip
async def test_what_is_refused_changes_nothing(
    staffed: Register, old: str, new: str, code: str
) -> None:
    here, elsewhere = await staffed.sign_in(), await staffed.sign_in()
    assert await choose(staffed, here, old, new) == code
    assert await staffed.whose(here.token) == here.person
    assert await staffed.whose(elsewhere.token) == elsewhere.person
    assert await pin_by(staffed, "Flo") == "Flo"
    assert await staffed.sign_in()


async def test_a_wrong_old_pin_is_a_failed_try_and_is_logged(staffed: Register) -> None:
    here = await staffed.sign_in()
    assert await staffed.refused() == "wrong_name_or_pin"
    codes = [await choose(staffed, here, WRONG) for _ in range(4)]
    assert codes == ["wrong_pin"] * 3 + ["locked_out"]
    assert await choose(staffed, here) == "locked_out"
    assert await staffed.refused("Flo", PIN) == "locked_out"
    assert await staffed.whose(here.token) == here.person
    assert (await staffed.acts())[-5:] == [
        *[("pin_refused", "Flo", "Flo")] * 4, ("locked_out", "Flo", "Flo"),
    ]  # fmt: skip


async def test_the_pin_that_one_has_is_no_failed_try(staffed: Register) -> None:
    here = await staffed.sign_in()
    assert [await choose(staffed, here, PIN, PIN) for _ in range(6)] == ["bad_pin"] * 6
    assert await choose(staffed, here) == ""


@pytest.mark.parametrize("what", ["disabled", "another PIN", "signed out"])
async def test_what_happens_while_the_old_pin_is_looked_at_counts(
    staffed: Register, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    here = await staffed.sign_in()
    real = PinHashing.matches

    async def slow(self: PinHashing, pin: str, kept: str | None) -> bool:
        right = await real(self, pin, kept)
        if what == "disabled":
            await staffed.users.disable("Flo", ADA)
        elif what == "another PIN":
            await staffed.users.set_pin("Flo", WRONG, ADA)
        else:
            await staffed.sessions.sign_out(here.token, HERE)
        return right

    with monkeypatch.context() as patched:
        patched.setattr(PinHashing, "matches", slow)
        assert await choose(staffed, here) == "session_ended"
    assert await staffed.whose(here.token) is None
    assert await staffed.refused("Flo", OWN) == "wrong_name_or_pin"
    assert "pin_chosen" not in [what for what, _, _ in await staffed.acts()]


async def test_the_store_keeps_who_set_a_pin(staffed: Register) -> None:
    users = staffed.users
    await users.add("Finn", Role.FLOORPERSON, PIN, BY_COMMAND)
    assert await pin_by(staffed, "Finn") == BY_COMMAND.name
    assert (await users.set_pin("flo", WRONG, ADA)).pin_by == "Ada"
    assert await choose(staffed, await staffed.sign_in("flo", WRONG), WRONG) == ""
    assert await pin_by(staffed, "Flo") == "Flo"
    assert (await users.add("Sue", Role.SUPERVISOR, PIN, ADA)).pin_by == "Ada"
    await users.disable("Sue", BY_COMMAND)
    assert (await users.enable("Sue", BY_COMMAND)).pin_by == "Ada"


async def setters(register: Register, name: str, pin: str = PIN) -> PinSetters:
    """Return who set whose PIN, as it concerns a person who signs in and acts."""
    opened = await register.sign_in(name, pin)
    person = await register.sessions.find(opened.token, keep_alive=False, acts=True)
    assert person is not None
    return person.setters


async def earlier(register: Register, by_ms: int) -> None:
    """Move the times at which all PINs were set into the past."""
    pins_set = register.keys.pins_set
    for member in cast("list[bytes]", await register.redis.zrange(pins_set, 0, -1)):
        await register.redis.zincrby(pins_set, -by_ms, member)


@pytest.mark.duty("D4")
async def test_who_set_a_pin_in_the_last_day_goes_along_with_every_act(staffed: Register) -> None:
    await staffed.add("Finn")
    users = staffed.users
    assert await setters(staffed, "Flo") == NO_SETTERS, "who adds users by command is none of them"
    await users.set_pin("Flo", WRONG, ADA)
    assert await setters(staffed, "Flo", WRONG) == PinSetters(("Ada",), {"Ada": "Ada"})
    assert await setters(staffed, "Ada") == PinSetters((), {"Flo": "Ada"})
    assert await setters(staffed, "Finn") == NO_SETTERS
    await users.set_pin("Finn", WRONG, ADA)
    both = PinSetters(("Ada",), {"Ada": "Ada", "Flo": "Ada"})
    assert await setters(staffed, "Finn", WRONG) == both
    opened = await staffed.sign_in("Finn", WRONG)
    assert opened.person.setters == NO_SETTERS, "who only looks needs none"
    assert await choose(staffed, opened, WRONG) == ""
    assert await setters(staffed, "Finn", OWN) == both, "a PIN of one's own does not change it"
    await earlier(staffed, 24 * 3_600_000 - 60_000)
    assert await setters(staffed, "Finn", OWN) == both
    await earlier(staffed, 60_000)
    assert await setters(staffed, "Finn", OWN) == NO_SETTERS
    assert await setters(staffed, "Ada") == NO_SETTERS


async def test_who_is_added_by_a_user_has_a_pin_that_was_set(staffed: Register) -> None:
    ada = await staffed.sign_in("Ada")
    await staffed.users.add("Sue", Role.SUPERVISOR, WRONG, Actor("Ada", HERE, ada.token))
    assert (await setters(staffed, "Sue", WRONG)).own == ("Ada",)


async def test_what_an_ended_session_asked_for_is_not_done(staffed: Register) -> None:
    users = staffed.users
    ada = Actor("Ada", HERE, (await staffed.sign_in("Ada")).token)
    flo = Actor("Flo", HERE, (await staffed.sign_in("Flo")).token)
    await staffed.sessions.sign_out(ada.token, HERE)
    before = await staffed.acts()
    for doer in (ada, flo):
        for act in (
            users.add("Sue", Role.SUPERVISOR, PIN, doer), users.set_pin("Flo", WRONG, doer),
            users.enable("Flo", doer), users.disable("Finn", doer),
        ):  # fmt: skip
            with pytest.raises(UsersError) as refused:
                await act
            assert refused.value.code == "session_ended"
    assert await staffed.acts() == before
