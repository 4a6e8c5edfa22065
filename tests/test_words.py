"""The words of docstrings, comments, messages and documents: plain, and one word for one thing."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.test_tree import ROOMS, ROOT, files, parsed

SAY: Final = {
    r"anew": "again; from the start",
    r"beside": "next to; besides; as well as",
    r"save (?:for|from|that|by|in|where|when)": "except",
    r"who(?:so)?ever": "anyone who",
    r"of itself": "by itself",
    r"reckon\w*": "calculate; count",
    r"befalls?": "happens to",
    r"befallen": "happened to",
    r"bears?": "has; carries",
    r"g[ai]ve[sn]? up": "delete; stop",
    r"giving up": "deleting; stopping",
    r"h[eo]ld(?:s|ing)? to": "keeps to; is checked against",
    r"(?:come|comes|came) to (?:be|nothing|the same|this|that)": "results in; becomes",
    r"stands? (?:in|as|at|for good|there|beside|where|on|under|behind)": "is; remains",
    r"stood": "was",
    r"tells": "reports; says; distinguishes",
    r"(?<!are )(?<!was )told": "reported; said",
    r"(?:he|him|his|himself)": "they; them; their",
    r"nought|naught": "zero; nothing",
    r"hitherto|thereby|wherein|whereof|whereby|lest|ought|amid": "a plain word",
}
"""Words that are not used, by regular expression, each with what to say."""

OURS: Final = {r"stores?": "Redis; the data in Redis", r"books": "the ledger; the data of the link"}
"""Words of the code that no message says to people, each with what to say."""
_OURS: Final = re.compile(rf"(?<!no-)\b(?:{'|'.join(OURS)})\b(?!\.)", re.IGNORECASE)

QUESTION: Final = frozenset(
    {"what", "who", "whom", "whose", "where", "when", "whether", "how", "which", "why", "whoever"}
)
"""Words with which no docstring begins."""

PUBLIC: Final = frozenset({"displays not told", "the simulation began anew"})
"""Texts that other programs or old ledgers know: an event of the log, a reason that is stored."""

_WRONG: Final = re.compile(rf"\b(?:{'|'.join(SAY)})\b", re.IGNORECASE)
_CODE: Final = re.compile(
    r"```.*?```|``[^`\n]+``|`[^`\n]+`|\"[^\"\n]*\"|^ +\w+:(?= )", re.DOTALL | re.MULTILINE
)
"""Code, quotes, and the names of arguments, in which any word may be."""
_COMMENTS: Final = {
    ".py": re.compile(r"(?:^|\s)#\s(?P<said>[^\n]*)", re.MULTILINE),
    ".lua": re.compile(r"--(?P<said>[^\n]*)"),
    ".js": re.compile(r"(?://|/\*|^ \*)(?P<said>[^\n]*)", re.MULTILINE),
    ".css": re.compile(r"/\*(?P<said>.*?)\*/", re.DOTALL),
    ".toml": re.compile(r"(?:^|\s)#(?P<said>[^\n]*)", re.MULTILINE),
}


@functools.cache
def docstrings(path: Path) -> tuple[tuple[int, str], ...]:
    """Return the docstrings of Python code, of fields and constants too, each with its line."""
    return tuple(
        (child.lineno, child.value.value)
        for node in ast.walk(parsed(path))
        if isinstance(body := getattr(node, "body", None), list)
        for child in body
        if isinstance(child, ast.Expr)
        and isinstance(child.value, ast.Constant)
        and isinstance(child.value.value, str)
    )


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of Python code that are no docstrings, each with its line."""
    lines = {line for line, _ in docstrings(path)}
    for node in ast.walk(parsed(path)):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if " " in node.value and node.lineno not in lines and node.value not in PUBLIC:
            yield node.lineno, node.value


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield what a file says to people, each text with its line."""
    if path.suffix == ".py":
        yield from docstrings(path)
        if path.relative_to(ROOT).parts[0] in ROOMS:
            yield from messages(path)
    if path.suffix == ".md":
        yield 1, path.read_text(encoding="utf-8")
    elif path.suffix in _COMMENTS:
        text = path.read_text(encoding="utf-8")
        for found in _COMMENTS[path.suffix].finditer(text):
            yield text.count("\n", 0, found.start("said")) + 1, found["said"]


def wrong_words(path: Path) -> Iterator[str]:
    """Yield each wrong word of a file, with its line and what to say."""
    for line, text in texts(path):
        plain = _CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
        for found in _WRONG.finditer(plain):
            at = line + plain.count("\n", 0, found.start())
            say = next(
                say for word, say in SAY.items() if re.fullmatch(word, found[0], re.IGNORECASE)
            )
            yield f"{path.relative_to(ROOT)}:{at} {found[0]!r}: say {say}"


def test_words_are_plain() -> None:
    read = [path for path in files() if path != Path(__file__).resolve()]
    assert [wrong for path in read for wrong in wrong_words(path)] == []


def test_messages_use_no_words_of_the_code() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {found[0]!r}: say {say}"
        for path in files()
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in ROOMS
        for line, text in messages(path)
        if (found := _OURS.search(_CODE.sub("", text)))
        for word, say in OURS.items()
        if re.fullmatch(word, found[0], re.IGNORECASE)
    ]
    assert wrong == []


def test_docstrings_do_not_begin_with_a_question_word() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {text.strip().split()[0]!r}"
        for path in files()
        if path.suffix == ".py"
        for line, text in docstrings(path)
        if text.strip() and re.split(r"\W", text.strip())[0].lower() in QUESTION
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Start the audit anew.", True),
        ("The ledger told the rest.", True),
        ("A person keeps his PIN secret.", True),
        ("Nothing is written save for the head.", True),
        ("Saves the file next to the mark.", False),
        ("The code `told` is public.", False),
    ],
)
def test_wrong_words_are_found(text: str, *, wrong: bool) -> None:
    assert bool(_WRONG.search(_CODE.sub("", text))) is wrong
