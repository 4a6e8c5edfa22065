"""The operators' log cannot be altered without a trace (duty D17): each entry is chained.

The real scripts write the log. Then the test alters it in Redis, as a person with a client could.
"""

import hashlib
from collections.abc import Callable
from typing import Final

import pytest
from redis.asyncio import Redis

from meters.books.chain import link_entry
from meters.users.log_audit import PROBLEMS_MAX, check_log
from meters.users.roles import Role
from meters.users.sign_in_attempts import Caller
from tests.users.staff import BY_COMMAND, PIN, WRONG, Register
from tests.users.tampering import Entry, entries, replace_log

Change = Callable[[list[Entry]], list[Entry]]

BROKEN: Final = "the chain breaks"


async def something_of_everything(register: Register) -> int:
    """Write one entry with each script that writes the log; return the number of entries."""
    user_directory = register.user_directory
    await user_directory.users.add("Zoë", Role.FLOORPERSON, PIN, BY_COMMAND)
    await user_directory.users.disable("Zoë", BY_COMMAND)
    await user_directory.users.enable("Zoë", BY_COMMAND)
    opened = await register.sign_in("Zoë")
    await register.refused("Zoë")
    await user_directory.sessions.choose_pin(opened.token, opened.person, PIN, WRONG, Caller("::1"))
    opened = await register.sign_in("Zoë", WRONG, old=opened.token)
    await user_directory.log.note("slip_printed", by="Zoë", about="c1", client="::1")
    await user_directory.sessions.sign_out(opened.token, "::1")
    return len(await register.log())


def with_field(number: int, name: bytes, value: bytes) -> Change:
    """Return a function that gives one entry another value."""

    def change(rows: list[Entry]) -> list[Entry]:
        id_, fields = rows[number - 1]
        assert fields.get(name) != value
        return [*rows[: number - 1], (id_, fields | {name: value}), *rows[number:]]

    return change


@pytest.mark.duty("D17")
async def test_every_script_chains_what_it_writes(register: Register) -> None:
    """The test calculates the digest again from the description of the chain."""
    count = await something_of_everything(register)
    chain = b""
    for number, (id_, fields) in enumerate(await entries(register), start=1):
        stored = fields.pop(b"chain")
        parts = [id_, *(part for pair in fields.items() for part in pair)]
        text = chain + b"".join(str(len(part)).encode() + b":" + part for part in parts)
        chain = hashlib.sha1(text, usedforsecurity=False).hexdigest().encode()
        assert (id_, stored) == (f"{number}-0".encode(), chain)
    found = await check_log(register.redis)
    assert (found.entries, found.chain, found.problems) == (count, chain.decode(), ())
    assert count == 10, "also the end of the session that the second sign-in replaced"


def test_parts_are_not_taken_for_one_another() -> None:
    made = {
        link_entry("", "1-0", [(b"by", b"ab"), (b"about", b"")]),
        link_entry("", "1-0", [(b"by", b"a"), (b"about", b"b")]),
        link_entry("", "1-0", [(b"about", b""), (b"by", b"ab")]),
        link_entry("", "11-0", [(b"by", b"ab"), (b"about", b"")]),
        link_entry("0", "1-0", [(b"by", b"ab"), (b"about", b"")]),
    }
    assert len(made) == 5


@pytest.mark.duty("D17")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(with_field(4, b"by", b"Flo"), ["entry 4", BROKEN], id="a name"),
        pytest.param(with_field(4, b"at", b"2026-01-01"), ["entry 4", BROKEN], id="a time"),
        pytest.param(with_field(4, b"chain", b"0" * 40), ["entry 4", BROKEN], id="the chain"),
        pytest.param(with_field(4, b"more", b"1"), ["entry 4", BROKEN], id="a field more"),
        pytest.param(with_field(4, b"chain", b""), ["entry 4 has lost"], id="no chain"),
        pytest.param(lambda rows: rows[1:], ["2-0 is in the place of 1-0"], id="without the first"),
        pytest.param(
            lambda rows: [*rows[:3], *rows[4:]], ["5-0 is in the place of 4-0"], id="without one"
        ),
        pytest.param(lambda rows: rows[:-1], ["ends at entry 9", "says 10"], id="without the last"),
        pytest.param(lambda _: [], ["ends at entry 0", "says 10"], id="emptied"),
        pytest.param(
            lambda rows: [*rows, (b"11-0", rows[-1][1])], ["entry 11", BROKEN], id="one more"
        ),
        pytest.param(
            lambda rows: [*rows[:2], (b"2-1", rows[1][1]), *rows[2:]],
            ["2-1 is in the place of 3-0"],
            id="one between",
        ),
        pytest.param(
            lambda rows: [(id_, {**fields, b"chain": b""}) for id_, fields in rows],
            ["the end differs"],
            id="all chains taken off",
        ),
    ],
)
async def test_whatever_is_altered_is_found(
    register: Register, change: Change, said: list[str]
) -> None:
    await something_of_everything(register)
    await replace_log(register, change(await entries(register)))
    text = "; ".join((await check_log(register.redis)).problems)
    assert all(part in text for part in said), text


async def test_an_entry_altered_with_its_chain_breaks_the_next(register: Register) -> None:
    await something_of_everything(register)
    rows = await entries(register)
    fields = rows[3][1] | {b"by": b"Flo"}
    del fields[b"chain"]
    made = link_entry(rows[2][1][b"chain"].decode(), "4-0", tuple(fields.items()))
    rows[3] = (b"4-0", fields | {b"chain": made.encode()})
    await replace_log(register, rows)
    (problem,) = (await check_log(register.redis)).problems
    assert "entry 5, or the one before it" in problem


async def test_a_shortened_log_shows_what_is_missing_for_good(register: Register) -> None:
    """The head continues to count, so later entries hide nothing."""
    count = await something_of_everything(register)
    await replace_log(register, (await entries(register))[:-1])
    await register.user_directory.log.note("service_started", by="service")
    (problem, *_) = (await check_log(register.redis)).problems
    assert f"{count + 1}-0 is in the place of {count}-0" in problem


async def test_a_head_that_is_gone_breaks_the_chain(register: Register) -> None:
    await something_of_everything(register)
    await register.redis.delete(register.keys.log_head)
    assert (await check_log(register.redis)).problems
    await register.user_directory.log.note("service_started", by="service")
    (problem,) = (await check_log(register.redis)).problems
    assert BROKEN in problem


async def test_entries_of_before_the_chain_are_taken_as_they_are(register: Register) -> None:
    fields = {"at": "x", "what": "sign_in", "by": "Flo", "about": "Flo", "client": ""}
    for number in (1, 2):
        await register.redis.xadd(register.keys.log, fields, id=f"{number}-0")  # type: ignore[arg-type]
    assert (await check_log(register.redis)).problems == ()
    await register.user_directory.log.note("service_started", by="service")
    found = await check_log(register.redis)
    assert (found.entries, found.problems) == (3, ())


async def test_no_more_is_reported_than_helps(register: Register) -> None:
    for _ in range(PROBLEMS_MAX + 5):
        await register.user_directory.log.note("service_started", by="service")
    rows = await entries(register)
    await replace_log(register, [(id_, fields | {b"chain": b"?"}) for id_, fields in rows])
    assert len((await check_log(register.redis)).problems) == PROBLEMS_MAX


async def test_an_empty_log_holds(redis: Redis) -> None:
    assert (await check_log(redis)).problems == ()
