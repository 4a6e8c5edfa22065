"""`pitlink user`, with a separate Redis and with the embedded one."""

import asyncio
import json
import os
import pty
import pwd
import re
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import redis
from redis.asyncio import Redis

from meters.floor.floor_file import read_floor
from meters.floor.roles import Role
from meters.users.pins import PinHashing
from meters.users.sign_in_attempts import Caller
from meters.users.users import Actor, UserDirectory
from tests.floor_text import Value, floor_text, link_text
from tests.processes import invoke_pitlink, pitlink_command
from tests.servers import RedisServer, run_pitlink
from tests.waiting import Found

PIN = "730482"
END = "\x04"
"""The key that ends the input at a terminal."""


@pytest.fixture
def floor(tmp_path: Path, shared_redis_server: RedisServer) -> Path:
    path = tmp_path / "floor.toml"
    address = f"{shared_redis_server.url}?db=11"
    path.write_text(_floor(address, tmp_path))
    with redis.Redis.from_url(address) as client:
        client.flushdb()
    return path


def _floor(redis: str, home: Path, **more: str) -> str:
    link = link_text("tcp-main", name="Three Card Poker Jackpot")
    service: dict[str, Value] = {"redis": redis, "data": home / "data"}
    return floor_text(link, service=service | more, name="Keystone")


def user(floor: Path, *words: str, pin: str = "") -> subprocess.CompletedProcess[str]:
    return invoke_pitlink("user", *words, "--config", str(floor), stdin=f"{pin}\n" if pin else "")


def with_users(floor: Path, ask: Callable[[UserDirectory], Awaitable[Found]]) -> Found:
    async def asked() -> Found:
        store = Redis.from_url(read_floor(floor).service.redis)
        try:
            return await ask(UserDirectory(store, 5, PinHashing(time_cost=1, memory_kib=8)))
        finally:
            await store.aclose()

    return asyncio.run(asked())


def add_ada(floor: Path) -> None:
    doer = Actor("the test")
    with_users(
        floor, lambda user_directory: user_directory.users.add("Ada", Role.ADMINISTRATOR, PIN, doer)
    )


def listed(floor: Path) -> list[tuple[str, str, bool]]:
    rows = json.loads(user(floor, "list", "--json").stdout)
    return [(row["name"], row["role"], row["enabled"]) for row in rows]


@pytest.mark.slow
def test_users_are_added_disabled_enabled_and_listed(floor: Path) -> None:
    empty = user(floor, "list")
    assert (empty.returncode, "was never opened" in empty.stderr) == (1, True)
    added = user(floor, "add", "Ada Lovelace", "--role", "administrator", pin=PIN)
    assert added.returncode == 0
    assert added.stdout.splitlines() == [
        "Ada Lovelace is added as administrator",
        "Ada Lovelace must sign in on the floor page within 24 hours, and choose another PIN.",
        "the Redis that the floor file names is new: this is its first user",
    ]
    assert user(floor, "add", "Flo", "--role", "floorperson", pin=PIN).returncode == 0
    assert user(floor, "disable", "FLO").stdout == "Flo is disabled\n"
    assert listed(floor) == [("Ada Lovelace", "administrator", True), ("Flo", "floorperson", False)]
    table = user(floor, "list").stdout
    assert "Ada Lovelace" in table
    assert "disabled" in table
    assert user(floor, "enable", "flo").stdout == "Flo is enabled\n"
    assert user(floor, "pin", "flo", pin="264907").stdout.startswith("Flo has another PIN\n")


@pytest.mark.slow
@pytest.mark.parametrize("words", [("add", "Bob", "--role", "dealer"), ("pin", "Ada")])
def test_a_pin_is_generated_and_printed_once(floor: Path, words: tuple[str, ...]) -> None:
    add_ada(floor)
    done = user(floor, *words, "--generate")
    assert done.returncode == 0
    line = r"^The PIN is ([0-9]{8})\. It is not shown again\.$"
    (pin,) = re.findall(line, done.stdout, re.MULTILINE)

    async def signs_in(user_directory: UserDirectory) -> bool:
        return (
            await user_directory.sessions.sign_in(words[1], pin, Caller(""), None)
        ).person.must_choose

    assert with_users(floor, signs_in)


@pytest.mark.parametrize(
    ("words", "pin", "status", "message"),
    [
        (("add", "Bob", "--role", "dealer"), "123456", 1, "counts up or down"),
        (("add", "Bob", "--role", "dealer"), "", 1, "6 to 12 digits"),
        (("add", "B", "--role", "dealer"), PIN, 1, "2 to 40 characters"),
        (("add", "ada", "--role", "dealer"), PIN, 1, "there is a user ada already"),
        (("add", "Bob", "--role", "boss"), PIN, 2, "boss"),
        (("add", "Bob"), PIN, 2, "--role"),
        (("add", "Bob", "--role", "dealer", "--pin", PIN), PIN, 2, "--pin"),
        (("disable", "Ada"), "", 1, "last administrator"),
        (("disable", "Ghost"), "", 1, "there is no user Ghost"),
        (("enable", "Ada"), "", 1, "Ada is enabled already"),
        (("pin", "Ada"), "12345", 1, "6 to 12 digits"),
    ],
)
def test_invalid_input_is_reported_in_a_line_and_changes_nothing(
    floor: Path, words: tuple[str, ...], pin: str, status: int, message: str
) -> None:
    add_ada(floor)
    done = user(floor, *words, pin=pin)
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    if pin:
        assert pin not in done.stderr
    assert [
        row.name for row in with_users(floor, lambda user_directory: user_directory.users.rows())
    ] == ["Ada"]


@pytest.mark.slow
def test_who_did_it_is_whom_the_system_knows_and_not_what_the_environment_says(floor: Path) -> None:
    boss = dict(os.environ) | dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"), "Boss")
    words = ("user", "add", "Ada", "--role", "administrator", "--config", str(floor))
    assert run_pitlink(*words, stdin=f"{PIN}\n", env=boss).returncode == 0
    (row,) = json.loads(user(floor, "list", "--json").stdout)
    us = f"command line ({pwd.getpwuid(os.getuid()).pw_name})"
    assert (row["added_by"], row["pin_by"]) == (us, us)


def test_a_missing_store_is_reported(tmp_path: Path) -> None:
    floor = tmp_path / "floor.toml"
    floor.write_text(_floor(f"unix://{tmp_path}/none.sock", tmp_path))
    done = user(floor, "list")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Redis cannot be reached: Error 2" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("typed", "status", "message"),
    [
        ([PIN, PIN], 0, ""),
        ([PIN, "730481", PIN, PIN], 0, "the two PINs differ: try again"),
        (["111111", PIN, PIN], 0, "a PIN of repeated or mirrored digits is one of the first"),
        (["12345", PIN, PIN], 0, "a PIN has 6 to 12 digits: try again"),
        ([PIN, END], 1, "no PIN was given"),
    ],
)
def test_a_terminal_is_asked_twice_until_the_pin_is_valid_and_shows_nothing(
    floor: Path, typed: list[str], status: int, message: str
) -> None:
    """The end of the input ends the command."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        pitlink_command("user", "add", "Bob", "--role", "dealer", "--config", str(floor)),
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown, again = "", False
    for text in typed:
        shown += _read_until(ours, "again: " if again else "PIN (6 to 12 digits): ")
        os.write(ours, (text if text == END else f"{text}\n").encode())
        again = not again and text == PIN
    shown += _read_until(ours, "")
    assert process.wait(30) == status
    os.close(ours)
    assert message in shown
    assert ("Bob is added as dealer" in shown) == (status == 0)
    assert not any(pin in shown for pin in typed)


def _read_until(terminal: int, end: str) -> str:
    shown = ""
    while not (end and shown.endswith(end)):
        try:
            part = os.read(terminal, 1024)
        except OSError:
            break
        if not part:
            break
        shown += part.decode()
    return shown


@pytest.mark.slow
def test_an_unknown_role_is_reported_and_not_mistaken_for_an_unreachable_store(floor: Path) -> None:
    """A holder of the store's credential wrote it. The user is left out, and named."""
    assert user(floor, "add", "Flo", "--role", "dealer", pin=PIN).returncode == 0
    with redis.Redis.from_url(read_floor(floor).service.redis) as client:
        client.hset("pitlink:{@people}:user:flo", "role", "king")
    done = run_pitlink("user", "list", "--config", str(floor))
    assert done.returncode == 0
    assert "user not readable" in done.stdout + done.stderr
    assert "user=Flo" in done.stdout + done.stderr
