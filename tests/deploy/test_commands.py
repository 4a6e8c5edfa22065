"""The commands of pitlink and the files that texts of deploy/ and all pages name."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from meters.cli.main import command_line
from tests.deploy.tree import DEPLOY, PAGES, ROOT, code_spans, typed_in_containers, typed_in_text

TEXTS: Final = (*sorted((DEPLOY / "systemd").iterdir()), *PAGES, DEPLOY / "container" / "make-keys")
ROOMS: Final = ("bonus", "controllers", "deploy", "meters", "tests")

_PATH: Final = re.compile(r"(?:[\w.-]+/)*[\w.-]+")
_AS_ROOT: Final = re.compile(
    r"^ *(?:cp|mv|tee|rsync|chown(?! -R)|chmod|install (?!-d )).* "
    r"(?:/etc/redis|/var/lib/(?:redis|pitlink(?:-table)?))/",
    re.MULTILINE,
)
"""Commands with which root writes where the account of a server can put a link."""
_SOURCE: Final = re.compile(r"(?:[\w-]+/)*\w+\.(?:py|lua|js)")


def typed() -> Iterator[tuple[str, list[str]]]:
    for path in TEXTS:
        for words in typed_in_text(path):
            yield str(path.relative_to(ROOT)), words
    for words in typed_in_containers():
        yield "containers", words


def refusal(words: list[str]) -> str:
    """Return why a command line is refused: before `--help`, all is read and nothing is done."""
    done = CliRunner().invoke(command_line(words), [*words, "--help"])
    return "" if done.exit_code == 0 else done.output


def missing_paths(page: Path) -> Iterator[str]:
    """Yield the files of the tree that a page's code spans name and that do not exist.

    A path begins at the top of the tree. The path of a source file may leave out its first
    directories.
    """
    for span in code_spans(page.read_text(encoding="utf-8")):
        name = span.partition("::")[0].partition("#")[0].rstrip("/")
        if not _PATH.fullmatch(name):
            continue
        room, slash, _ = name.partition("/")
        if slash and room in ROOMS:
            exists = (ROOT / name).exists()
        elif _SOURCE.fullmatch(name):
            exists = any(next((ROOT / room).rglob(name), None) for room in ROOMS)
        else:
            continue
        if not exists:
            yield name


@pytest.mark.slow
def test_each_command_is_accepted_as_written() -> None:
    commands = list(typed())
    refused = {f"{where}: {words}": why for where, words in commands if (why := refusal(words))}
    assert len(commands) > 100
    assert not refused


def test_wrong_commands_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "`pitlink\nserv` or `pitlink serve \\| report`\n\n"
        "1. Step:\n\n   ```sh\n   pitlink user ad Ada \\\n     --by B\n   ```\n"
    )
    found = list(typed_in_text(page))
    assert found == [["user", "ad", "Ada", "--by", "B"], ["serv"], ["serve"]]
    assert ["No such" in refusal(words) for words in found] == [True, True, False]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_file_that_a_page_names_exists(page: Path) -> None:
    assert list(missing_paths(page)) == []


def test_missing_files_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`deploy/no` `web/no.py` `deploy/up` `go/on` `tests/deploy/tree.py::x`")
    assert list(missing_paths(page)) == ["deploy/no", "web/no.py"]


def test_each_file_that_a_text_of_deploy_names_exists() -> None:
    missing = []
    for path in (DEPLOY / "compose.yaml", DEPLOY / "up", *TEXTS):
        for word in path.read_text().replace("`", " ").replace('"', " ").split():
            name = word.strip(".,;:()").removesuffix("/").partition("#")[0]
            if name.startswith("deploy/") and not (ROOT / name).exists() and "*" not in name:
                missing.append(f"{path.relative_to(ROOT)}: {name}")
    assert not missing


@pytest.mark.duty("D20")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_lets_root_write_where_another_account_could_lead_it(page: Path) -> None:
    """`install` gives its mode to the path, so also to a file of root to which a link leads."""
    assert _AS_ROOT.findall(page.read_text(encoding="utf-8")) == []


def test_commands_with_which_root_would_write_there_are_found() -> None:
    assert _AS_ROOT.search("   install -m 0644 deploy/redis.conf /etc/redis/redis.conf\n")
    assert not _AS_ROOT.search("install -d -o redis -m 0750 /var/lib/redis/x\n")
