"""Text from the store never controls a terminal, whichever command prints it."""

import ast
import io
import json
import re
import unicodedata
from typing import Final

import pytest
from rich.table import Table

from bonus.printable import (
    PRINTABLE,
    PRINTABLE_WORDS,
    UNPRINTABLE,
    escape_in_json,
    escape_unprintable,
    unprintable_problem,
    unseen_problem,
    without_addresses,
)
from meters.process.console import PlainConsole, progress_bar
from meters.process.printing import print_error, print_json, print_text
from tests.test_tree import ROOMS, ROOT, nodes, of_room

HOSTILE: Final = "a\x1b[2Jb\x9b31mc\x07\r\u202egnp\u2066\u200b\x7f"
_PRINTERS: Final = {
    "meters/process/printing.py",
    "meters/process/console.py",
    "controllers/panel/table_program.py",
}
"""Files that may write to a terminal or pipe: the agent its address."""

INVISIBLE: Final = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    "\U00013441\U00013442\U00016fe4\U0001d159"
)
"""Letters, marks and signs that show as blank but are not spaces."""


def test_the_class_has_every_control_and_format_character_of_unicode() -> None:
    """It has no others except those that Unicode reserves for the same kind or shows as blank."""
    in_class = re.compile(f"[{UNPRINTABLE}]")
    for code in range(0x110000):
        character = chr(code)
        category = unicodedata.category(character)
        if category in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
            assert in_class.match(character), hex(code)
        elif in_class.match(character):
            kept = category == "Cn" or 0xE0000 <= code <= 0xE0FFF
            assert kept or character in INVISIBLE, hex(code)
    assert all(in_class.match(character) for character in INVISIBLE)


@pytest.mark.parametrize(
    ("texts", "printable", "seen"),
    [
        (["misdeal", "Zoë's 3rd, 10€", "\u2660\ufe0f Jackpot", "\u4e00", "a\xa0b"], True, True),
        (["", " ", "\u2003\u3000", "\ufe0f", " \ufe00\ufe0e "], True, False),
        (["a\x1b", "a\n", "\ta", "a\u2028", "\ud800", "a\U000e0041", "\u3164"], False, False),
        (["a\ufffe", "a\ufdd0", "a\U0010ffff", "\u180b", "a\U0001d159"], False, False),
    ],
    ids=["ordinary text", "blank", "control and invisible characters", "no characters"],
)
def test_text_is_printable_if_it_has_no_control_character(
    texts: list[str], *, printable: bool, seen: bool
) -> None:
    for text in texts:
        escaped = escape_unprintable(text)
        assert escaped == text if printable else escaped.isprintable() and escaped.isascii()
        found = (unprintable_problem(text) is None, bool(re.search(PRINTABLE, text)))
        assert found == (printable, printable)
        found = (unseen_problem(text) is None, bool(re.search(PRINTABLE_WORDS, text)))
        assert found == (seen, seen)


def test_json_says_the_same_when_it_is_escaped() -> None:
    text = json.dumps({"reason": HOSTILE + "\U000e0041"}, ensure_ascii=False)
    escaped = escape_in_json(f"[\n{text}\n]")
    assert escaped.replace("\n", "").isprintable()
    assert json.loads(escaped) == [json.loads(text)]


def test_text_is_printed_with_its_control_characters_escaped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_text(f"one\n{HOSTILE}")
    print_error(HOSTILE)
    print_json(json.dumps(HOSTILE, ensure_ascii=False).encode())
    said = capsys.readouterr()
    assert said.out.startswith("one\na\\x1b[2Jb\\x9b31mc")
    for line in (said.out + said.err).splitlines():
        assert line.isprintable()


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("Error 111 connecting to 10.0.0.5:6379.", "Error 111 connecting to its address."),
        ("Error 2 connecting to unix:/run/redis.sock.", "Error 2 connecting to its address"),
        ("[2001:db8::5]:8883 is away", "its address is away"),
        ("fd00::17 and 2001:db8:0:0:0:0:0:9 differ", "its address and its address differ"),
        ("redis-1.pit.example:26379 is no sentinel", "its address is no sentinel"),
        (
            "certificate is not valid for 'redis.pit.example'",
            "certificate is not valid for 'its address'",
        ),
        ("since 02:14:07 Redis is version 6.0; it must be at least 6.2", ""),
        ("entry 6 is not the one that was seen: SHA-256 12:ab", ""),
    ],
)
def test_strangers_read_a_reason_without_addresses(reason: str, shown: str) -> None:
    assert without_addresses(reason) == (shown or reason)


def test_a_console_prints_colors_and_nothing_that_its_text_holds() -> None:
    """This holds in lines, in tables and in markup, because text is never read as markup."""
    sink = io.StringIO()
    console = PlainConsole()
    console.file = sink
    console._color_system = None
    table = Table("Name")
    table.add_row(f"[bold]{HOSTILE}[/bold]")
    console.print(table)
    console.print(f"[red]{HOSTILE}\nsecond")
    console.print_line(f"{HOSTILE}\nthird")
    said = sink.getvalue()
    assert "[bold]" in said
    assert "[red]" in said
    assert r"\nthird" in said
    for line in said.split("\n"):
        assert line.isprintable(), line


def test_commands_print_nowhere_else() -> None:
    """No other file writes to standard output or standard error, or creates its own console."""
    prints = re.compile(
        r"(sys\.(__)?std(out|err)(__)?(\.buffer)?\.write(lines)?|print|(rich\.)?(console\.)?Console"
        r"|rich\.print|pprint|typer\.secho)\b"
    )
    assert not [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in of_room(*ROOMS)
        if path.relative_to(ROOT).as_posix() not in _PRINTERS
        and prints.search(path.read_text(encoding="utf-8"))
        for node in nodes(path)
        if isinstance(node, ast.Call) and prints.fullmatch(ast.unparse(node.func))
    ]


def test_a_progress_bar_says_the_rate_and_the_time_left() -> None:
    clock = [0.0]
    progress = progress_bar()
    progress.get_time = lambda: clock[0]
    task = progress.add_task("tcp-one", total=None)
    files = progress.add_task("tcp-one: files", total=None, unit="files")
    for clock[0], done in ((1.0, 40_000), (2.0, 43_000), (4.0, 49_000)):
        progress.update(task, completed=done, total=109_000)
        progress.update(files, completed=done // 10_000, total=11)
    shown = PlainConsole(width=100)
    with shown.capture() as captured:
        shown.print(progress)
    first, second = captured.get().splitlines()
    assert "49,000 of 109,000, 3,000 entries/s" in first, "the first jump is no rate"
    assert "0:00:20 left" in first
    assert "4 of 11 files" in second
