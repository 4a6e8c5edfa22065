"""Rules for a name, a PIN and a role."""

import asyncio
import threading
from contextlib import suppress

import pytest

from meters.users.errors import UsersError
from meters.users.names import clean_name, fold_name
from meters.users.pins import PinHashing, check_pin
from meters.users.roles import RIGHTS, Right, Role, in_words, roles_in_words
from tests.waiting import eventually_async


@pytest.mark.parametrize(
    "name",
    [
        "Al",
        "Services",
        "Ada Lovelace",
        "J. R. O'Neil-Smith",
        "Zoë",
        "D'Arcy",
        "Bob 2",
        "Jr.",
        "x" * 40,
    ],
)
def test_a_name_is_kept_as_it_is_written(name: str) -> None:
    assert clean_name(f" {name} ") == name


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "A", "x" * 41, "7 of 9", "-Bob", ".", "..", "Bob  Two", "Bob\tTwo", "Bob\nTwo",
        "Bob/Two", "Bob<b>", "Bob--Two", "Bob ' Two", "\u0412ob", "Bob\u0000", "Bob\u200bTwo",
        "Bob_2", "Łukasz", "service", "Service", "simulated floorperson", "command line (root)",
        "Pitlink 2", "Service.", "Simulated. X", "Pitlink-Sue", "command line", "Command Line root",
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsersError) as refused:
        clean_name(name)
    assert refused.value.code == "bad_name"


def test_a_name_is_one_in_every_case_and_composition() -> None:
    assert fold_name(" ZOË ") == fold_name("Zoe\u0308") == fold_name("zoë")
    assert clean_name("Zoe\u0308") == "Zoë"


@pytest.mark.parametrize(
    "pin",
    ["730482", "264907", "905183", "482913", "49405177", "7304821", "730482016395", "123450679284"],
)
def test_a_pin_that_is_not_guessed_first_is_taken(pin: str) -> None:
    check_pin(pin)
    assert pin.isdigit()


@pytest.mark.parametrize(
    "pin", ["", "12345", "31415", "3" * 13, "73042x", " 730482", "730482\n", "٧٣٠٤٨٢", "73042.8"]
)
def test_a_pin_has_six_to_twelve_digits(pin: str) -> None:
    with pytest.raises(UsersError, match=r"^a PIN has 6 to 12 digits$") as refused:
        check_pin(pin)
    assert refused.value.code == "bad_pin"


@pytest.mark.parametrize(
    ("pins", "why"),
    [
        ("111111 000001 121212 123123 007007 112233 111222 22222222223 696969 135531", "repeated"),
        ("123456 654321 567890 210987 456789012 123457 001234 987655 369258", "counts"),
        ("147258 159753 159357 789456 123987 741852 753951 147852369 12349876", "counts"),
        ("102030 506070 213141 142536 134679 235689 124578", "counts"),
        ("896521 14789632 125896", "keys next to each other"),
        ("199001 072590 250790 900725 196745 451967 31121999 12311999 20260704 84712011", "date"),
        ("314159 135790 135791 246810 31415926 1314520 15975364 7758521 7894561", "this PIN"),
    ],
)  # fmt: skip
def test_a_pin_that_is_tried_first_is_refused_with_the_reason_and_not_repeated(
    pins: str, why: str
) -> None:
    for pin in pins.split():
        with pytest.raises(UsersError, match=why) as refused:
            check_pin(pin)
        assert refused.value.code == "bad_pin"
        assert refused.value.message.endswith(
            "choose digits without a pattern, for example with dice"
        )
        assert pin not in refused.value.message


def test_most_pins_are_left_to_choose_from() -> None:
    def is_taken(pin: str) -> bool:
        with suppress(UsersError):
            check_pin(pin)
            return True
        return False

    sample = range(0, 10**6, 311)
    taken = sum(is_taken(f"{number:06}") for number in sample)
    assert 0.8 < taken / len(sample) < 0.9


async def test_a_pin_is_kept_as_argon2id_with_a_salt_of_its_own() -> None:
    pins = PinHashing()
    kept = [await pins.hash("314159"), await pins.hash("314159")]
    assert kept[0] != kept[1]
    assert all(each.startswith("$argon2id$v=19$m=65536,t=3,p=1$") for each in kept)
    assert await pins.matches("314159", kept[0])
    assert not await pins.matches("314158", kept[0])


async def test_without_a_stored_pin_as_much_is_calculated_and_nothing_matches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pins = PinHashing(time_cost=1, memory_kib=8)
    verified: list[str] = []
    real = pins._verify

    def watched(kept: str, pin: str) -> bool:
        verified.append(kept.rpartition("$")[0].rpartition("$")[0])
        return real(kept, pin)

    monkeypatch.setattr(pins, "_verify", watched)
    kept = await pins.hash("314159")
    assert await pins.matches("314159", kept)
    assert not await pins.matches("314159", None)
    assert verified[0] == verified[1] == "$argon2id$v=19$m=8,t=1,p=1"
    nobodys = pins._nobodys.split("$")[-2:]
    assert [len(part) for part in nobodys] == [len(part) for part in kept.split("$")[-2:]]


async def test_what_is_kept_wrongly_matches_no_pin() -> None:
    pins = PinHashing(time_cost=1, memory_kib=8)
    assert not await pins.matches("314159", "314159")


async def test_hashes_are_calculated_outside_the_loop_two_at_a_time_with_a_limited_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pins = PinHashing(time_cost=1, memory_kib=8)
    go_on = threading.Event()
    counting = threading.Lock()
    running = most = 0

    def slow(_kept: str, _pin: str) -> bool:
        nonlocal running, most
        with counting:
            running += 1
            most = max(most, running)
        go_on.wait(60)
        with counting:
            running -= 1
        return True

    monkeypatch.setattr(pins, "_verify", slow)
    tries = [asyncio.create_task(pins.matches("314159", None)) for _ in range(40)]
    done, _ = await asyncio.wait(tries, timeout=30, return_when="FIRST_COMPLETED")
    assert {type(task.exception()) for task in done} == {UsersError}
    await eventually_async(lambda: running == 2, what="two at once")
    go_on.set()
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    refused = [each for each in outcomes if isinstance(each, UsersError)]
    assert {each.code for each in refused} == {"busy"}
    assert len(outcomes) - len(refused) >= 32
    assert most == 2
    assert await pins.matches("314159", None)


def test_each_role_is_named_with_its_article() -> None:
    assert in_words(Role.AUDITOR) == "an auditor"
    assert roles_in_words(Right.CHANGE_USERS) == "an administrator"
    assert roles_in_words(Right.LINKS) == "a supervisor or an administrator"
    assert roles_in_words(Right.WINS) == (
        "a floorperson, a supervisor, an auditor or an administrator"
    )


@pytest.mark.duty("D4")
def test_nobody_both_adds_users_and_pays_wins() -> None:
    both = {role for role, rights in RIGHTS.items() if {Right.CHANGE_USERS, Right.DECIDE} <= rights}
    assert both == set()
    assert set(RIGHTS) == set(Role)
