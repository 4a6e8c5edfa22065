"""Composition of the command line from the packages' commands."""

import errno
import sys
from importlib.metadata import EntryPoint, version

import pytest
from typer.testing import CliRunner

import meters.cli.main
from bonus.errors import UserError

MODULE = "tests.rules.test_main"


def greet(name: str) -> None:
    """Greet somebody."""
    sys.stdout.write(f"good evening, {name}\n")


def refuse() -> None:
    """Refuse."""
    raise UserError("the floor file is missing", exit_status=1)


def misuse() -> None:
    """Refuse as wrong usage."""
    raise UserError("no such table", exit_status=2)


def interrupted() -> None:
    """Be interrupted."""
    raise KeyboardInterrupt


def locked_out() -> None:
    """Try to read the file of another user."""
    raise PermissionError(errno.EACCES, "Permission denied", "/var/lib/pitlink/marks")


@pytest.fixture(autouse=True)
def _commands(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        *(
            EntryPoint(name, f"{MODULE}:{name}", "pitlink.commands")
            for name in ("greet", "refuse", "misuse", "interrupted", "locked_out")
        ),
        EntryPoint("broken", "tests.rules.no_such_module:broken", "pitlink.commands"),
    ]
    monkeypatch.setattr(meters.cli.main, "entry_points", lambda *, group: points if group else [])


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["pitlink", *arguments])
    with pytest.raises(SystemExit) as ended:
        meters.cli.main.run()
    return int(ended.value.code or 0)


def test_a_command_gets_its_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "greet", "Ann") == 0
    assert capsys.readouterr().out == "good evening, Ann\n"


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("refuse", 1, "pitlink: the floor file is missing\n"),
        ("misuse", 2, "pitlink: no such table\n"),
    ],
)
def test_a_users_error_is_reported_plainly(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    status: int,
    message: str,
) -> None:
    assert run(monkeypatch, command) == status
    assert capsys.readouterr().err == message


def test_an_interrupt_ends_with_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "interrupted") == 130


def test_wrong_usage_ends_with_two(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "greet") == 2
    assert run(monkeypatch, "no-such-command") == 2
    assert run(monkeypatch) == 2


def test_a_broken_command_leaves_the_others_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "broken", "--loud") == 1
    assert capsys.readouterr().err.startswith("pitlink: broken is not available here: No module")
    assert run(monkeypatch, "greet", "Ann") == 0


def test_only_the_named_command_is_imported() -> None:
    app = meters.cli.main.command_line(["greet", "Ann"])
    assert [command.name for command in app.registered_commands] == ["greet"]
    assert len(meters.cli.main.command_line(["--help"]).registered_commands) == 6


def test_help_and_version() -> None:
    runner = CliRunner()
    shown = runner.invoke(meters.cli.main.command_line([]), ["--help"], env={"COLUMNS": "100"})
    assert shown.exit_code == 0
    for words in ("pitlink demo", "Greet somebody.", "not available here"):
        assert words in shown.output
    result = runner.invoke(meters.cli.main.command_line([]), ["--version"])
    assert result.output == f"pitlink {version('pitlink')}\n"


def test_a_file_of_another_user_is_named_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "locked_out") == 1
    said = capsys.readouterr().err
    assert said.startswith("pitlink: /var/lib/pitlink/marks: the system user who runs")
    assert said.count("\n") == 1
