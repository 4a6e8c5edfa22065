"""Every pitlink command in a file of deploy/ is one that the program accepts."""

from collections.abc import Iterator
from typing import Final

import pytest
from typer.testing import CliRunner

from meters.cli.main import command_line
from tests.deploy.tree import DEPLOY, ROOT, typed_in_containers, typed_in_text

TEXTS: Final = (
    *sorted((DEPLOY / "systemd").iterdir()),
    DEPLOY / "docs/run/operations.md",
    DEPLOY / "container" / "make-keys",
)


def typed() -> Iterator[tuple[str, list[str]]]:
    """Yield each command and its place."""
    for path in TEXTS:
        for words in typed_in_text(path):
            yield str(path.relative_to(ROOT)), words
    for words in typed_in_containers():
        yield "containers", words


def refusal(words: list[str]) -> str:
    """Return why the program would refuse a command line; empty if it accepts the line.

    With `--help` nothing is run, but the arguments before it are still parsed.
    """
    done = CliRunner().invoke(command_line(words), [*words, "--help"])
    return "" if done.exit_code == 0 else done.output


def test_each_command_is_accepted_as_written() -> None:
    commands = list(typed())
    refused = {f"{where}: {words}": why for where, words in commands if (why := refusal(words))}
    assert len(commands) > 12
    assert not refused


@pytest.mark.parametrize("words", [["serv"], ["serve", "--confg", "f"], ["user", "ad", "Ada"]])
def test_a_wrong_command_would_be_found(words: list[str]) -> None:
    assert "No such" in refusal(words)


def test_each_file_of_the_tree_that_a_page_names_is_there() -> None:
    lacking = []
    for path in (DEPLOY / "docs/run/operations.md", DEPLOY / "compose.yaml", DEPLOY / "up", *TEXTS):
        for word in path.read_text().replace("`", " ").replace('"', " ").split():
            name = word.strip(".,;:()").removesuffix("/")
            if name.startswith("deploy/") and not (ROOT / name).exists() and "*" not in name:
                lacking.append(f"{path.relative_to(ROOT)}: {name}")
    assert not lacking
