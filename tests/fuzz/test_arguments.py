"""Any arguments of `pitlink` are refused as wrong usage or with a message, and start nothing."""

from importlib.metadata import entry_points
from pathlib import Path
from random import Random
from typing import Final

import pytest
from typer.testing import CliRunner

from bonus.errors import UserError
from meters.cli.main import command_line

COMMANDS: Final = (*(each.name for each in entry_points(group="pitlink.commands")), "no-such", "")
WORDS: Final = (
    "-", "--", "-1", "--help-me", "--config", "--config=", "--json", "--at", "--at=:", "--port",
    "99999999999999999999", "0x10", "1e400", "nan", "\ud800", "é" * 300, "a\nb", "'; drop", "%s",
    "../../etc", "TCP-01", "--panel", "--events", "--seconds", "add", "Ada Lane", "--role", "king",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_any_arguments_are_refused_without_a_traceback(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"[facility\n\xff")
    for _ in range(100):
        words = [random.choice(WORDS) for _ in range(random.randrange(6))]
        # The floor file cannot be read and the option does not exist, so nothing may start.
        typed = [random.choice(COMMANDS), *words, "--config", str(broken), "--no-such-option"]
        done = CliRunner().invoke(command_line(typed), typed)
        assert done.exit_code in {1, 2}, (typed, done.output)
        assert done.exception is None or isinstance(done.exception, SystemExit | UserError), typed
        assert "Traceback" not in done.output
