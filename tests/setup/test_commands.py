"""What `pitlink setup` runs as the account of the services, which may be somebody else's by now."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from bonus.errors import UserError
from meters.setup import floor_machine

_PITLINK = """#!/bin/sh
readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2
printf '\\033]0;root sees this\\007\\377'
[ "$1" = check ] || exec sleep 60
exit 3
"""


@pytest.mark.duty("D20")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a command as another account")
def test_a_command_of_the_services_has_nothing_of_the_terminal_of_root(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever has the account could read there what root types, and write what root sees."""
    # The directories of pytest are closed to other accounts.
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        program = place / "pitlink"
        program.write_text(_PITLINK)
        program.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(place / "python"))
        monkeypatch.setattr(floor_machine, "SERVICE_USER", "daemon")
        monkeypatch.setattr(floor_machine, "DATA", place)
        assert not floor_machine.run_check()
        monkeypatch.setattr(floor_machine, "_WITHIN_S", 0.1)
        with pytest.raises(UserError, match="did not end"):
            floor_machine.approve_floor("Ada", "730482", answer="yes")
    said = capfd.readouterr().out
    assert said.count("pipe:") == 3
    assert "\033" not in said
