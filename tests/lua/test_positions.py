"""Names of array positions in the scripts equal the order in which Python packs them."""

import inspect
import re
from typing import Final

import msgspec
import pytest
from redis.asyncio import Redis

from meters.ledger.script_steps import PACKED_ARRAYS, POSITIONS
from meters.store.script_loader import script_text
from tests.test_tree import ROOT

SCRIPTS: Final = sorted(
    (package, path.stem)
    for package in ("meters.store", "meters.users")
    for path in (ROOT / package.replace(".", "/") / "scripts").glob("*.lua")
)
GIVEN_BY_REDIS: Final = frozenset({"KEYS", "ARGV"})


def code_of(package: str, script: str) -> str:
    """Return a script with its includes, without comments and texts."""
    text = re.sub(r"\[==\[.*?\]==\]", "''", script_text(script, package), flags=re.DOTALL)
    return re.sub(r"'[^'\n]*'", "''", re.sub(r"--.*", "", text))


@pytest.mark.parametrize("prefix", PACKED_ARRAYS)
async def test_name_finds_in_redis_what_python_packed_as_it(redis: Redis, prefix: str) -> None:
    array = PACKED_ARRAYS[prefix]
    fields = list(inspect.signature(array).parameters)
    reads = ", ".join(f"array[{POSITIONS[f'{prefix}_{name.upper()}']}]" for name in fields)
    script = f"local array = cmsgpack.unpack(ARGV[1])\nreturn {{ {reads} }}"
    named_fields = msgspec.msgpack.encode(array(*fields))
    read = await redis.register_script(script)(args=[named_fields])
    assert [value.decode() for value in read] == fields


@pytest.mark.parametrize(("package", "script"), SCRIPTS)
def test_script_uses_only_names_that_it_has(package: str, script: str) -> None:
    code = code_of(package, script)
    declared = {
        name
        for names in re.findall(r"^local ([A-Z][\w, ]*?) =", code, re.MULTILINE)
        for name in names.split(", ")
    }
    used = set(re.findall(r"(?<![.\w])[A-Z][A-Z_]+\b", code))
    assert used - declared - POSITIONS.keys() == GIVEN_BY_REDIS & used


@pytest.mark.parametrize(("package", "script"), SCRIPTS)
def test_script_names_what_it_takes_by_number(package: str, script: str) -> None:
    lines = code_of(package, script).splitlines()
    bare = [
        line
        for line in lines
        if re.search(r"\b(KEYS|ARGV)\[\d+\]", line)
        and not re.match(r"local [A-Z][A-Z_]+(, [A-Z][A-Z_]+)* = ", line)
    ]
    assert bare == []
    packed = [line for line in lines if re.search(r"\b[a-z]\w*\[[2-9]\]", line)]
    assert [line for line in packed if "last[2]" not in line] == [], "an array by a bare number"
