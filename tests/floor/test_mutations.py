"""A randomly damaged floor file is accepted, or refused with one of its lines: nothing else."""

import re
import tomllib
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from meters.floor.floor_file import FloorError, parse_floor
from meters.floor.source_lines import SourceLines
from tests.floor.example import FLOOR, SHIPPED

TEXTS: Final = (FLOOR, SHIPPED.read_text())
BITS: Final = st.sampled_from(
    [
        *("'", '"', '"""', "'''", "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "#", "\\"),
        *("\n", "\r", "\t", "\0", "\u2028", "\\u0000", "\\ud800", "é", "“"),
        *("1", "-1", "1.5", "1e999", "nan", "inf", "true", "99999999999999999999999"),
        *("1979-05-27", "07:32:00", "[[link]]", "[link]", "[service]", "wager", "id = "),
        *("paytables = { }", "mini_royal = { ante_bonus = true }", "version = 0"),
    ]
)
VALUES: Final = st.recursive(
    st.sampled_from(
        ["1979-05-27", "1.5", "nan", "inf", "true", "-1", "0", str(10**30), '""', '"x"']
    )
    | st.integers().map(str)
    | st.text("abcXYZ 019-_.:/@", max_size=40).map('"{}"'.format),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda them: f"[{', '.join(them)}]")
        | st.lists(inner, max_size=3).map(
            lambda them: "{" + ", ".join(f"k{n} = {one}" for n, one in enumerate(them)) + "}"
        )
    ),
    max_leaves=6,
)


# The time of an example depends on the machine rather than on the code.
PATIENT: Final = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Return an example after a few changes: pieces cut, doubled, moved or inserted."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 60)))
        put = draw(st.just("") | BITS | st.just(text[start:end] * 2) | st.text(max_size=8))
        text = text[:start] + put + text[end:]
    return text


@st.composite
def other_valued(draw: st.DrawFn) -> str:
    """Return an example with other values for a few of its keys."""
    lines = draw(st.sampled_from(TEXTS)).split("\n")
    keys = [number for number, line in enumerate(lines) if re.match(r"\w+ = ", line)]
    for number in draw(st.lists(st.sampled_from(keys), min_size=1, max_size=3)):
        key = lines[number].split(" = ")[0]
        lines[number] = f"{key} = {draw(VALUES)}"
    return "\n".join(lines)


def check_taken_or_refused(text: str) -> None:
    try:
        parse_floor(text, "floor.toml")
    except FloorError as error:
        message = str(error)
    else:
        return
    found = re.match(r"floor\.toml:(\d+): .", message)
    assert found is not None, message
    assert 1 <= int(found[1]) <= text.count("\n") + 1, message


@PATIENT
@given(mutated())
@example(FLOOR.replace("wager = 100", "wager = 1" + "0" * 5_000))
@example("link = " + "[" * 5_000)
def test_any_mutation_is_taken_or_refused_with_its_line(text: str) -> None:
    check_taken_or_refused(text)


@PATIENT
@given(other_valued())
def test_any_value_is_taken_or_refused_with_its_line(text: str) -> None:
    check_taken_or_refused(text)


@pytest.mark.parametrize(
    "number",
    [n for n, line in enumerate(FLOOR.split("\n"), 1) if re.fullmatch(r"\w+ = .+[^\[]", line)],
)
def test_a_value_of_a_wrong_type_is_reported_with_its_line(number: int) -> None:
    lines = FLOOR.split("\n")
    key = lines[number - 1].split(" = ")[0]
    lines[number - 1] = f"{key} = 07:32:00"
    with pytest.raises(FloorError, match=rf"floor\.toml:{number}: {key} "):
        parse_floor("\n".join(lines), "floor.toml")


def paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:  # noqa: ANN401
    """Return the path of every value in a TOML text, as the standard library parses it."""
    found = {path}
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for step, inner in items:
        found |= paths(inner, (*path, step))
    return found


@pytest.mark.parametrize("text", TEXTS, ids=["all in it", "shipped"])
def test_every_value_has_a_line_of_its_own(text: str) -> None:
    """The lines are not those of enclosing sections, except for a whole list of tables."""
    places = SourceLines(text)
    for path in paths(tomllib.loads(text)):
        if path and not (isinstance(path[-1], str) and (*path, 0) in places.known):
            assert path in places.known, path


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        pytest.param('a = """\n[b]\nc = 1\n"""\nd = 2', ("d",), 5, id="a text over lines"),
        pytest.param("a = '''\nb = 1'''\nc = 2", ("c",), 3, id="a plain text over lines"),
        pytest.param('a = """x\\"""" # b\nc = 2', ("c",), 2, id="an escaped quote at the end"),
        pytest.param('a = """x""""\nc = 2', ("c",), 2, id="a quote before the end"),
        pytest.param('a = "# no comment" # [b]\nc = 2', ("c",), 2, id="a hash in a text"),
        pytest.param("a = [ # ]\n  1,\n\n  2 ]", ("a", 1), 4, id="a list over lines"),
        pytest.param("a = [[1],\n[2,\n3]]", ("a", 1, 1), 3, id="a list in a list"),
        pytest.param("[a . 'b.c']\nd = 1", ("a", "b.c", "d"), 2, id="a quoted name in a header"),
        pytest.param("a.b.c = 1\na.b.d = 2", ("a", "b", "d"), 2, id="dotted keys"),
        pytest.param("a = { b = 1, c = { d = 2 } }", ("a", "c", "d"), 1, id="a table in a table"),
        pytest.param("[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]\nc = 1", ("a", 1, "b", 0, "c"), 5, id="lists"),
        pytest.param("[a]\nb = 1979-05-27 07:32:00\nc = 1", ("a", "c"), 3, id="a time"),
        pytest.param("# \u2028 x\na = 1", ("a",), 2, id="an exotic line end is none"),
        pytest.param("\r\na = 1\r\n\r\nb = 2", ("b",), 4, id="Windows line ends"),
    ],
)  # fmt: skip
def test_places(text: str, path: tuple[str | int, ...], line: int) -> None:
    tomllib.loads(text)
    assert SourceLines(text).line_of(path) == line
