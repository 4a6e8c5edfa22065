"""Log lines: one form in each process, for every source, and of limited size."""

import json
import subprocess
import sys
from typing import Any, Final

import pytest

SPEAK: Final = """
import asyncio, logging, sys, warnings
import structlog
from meters.process.logs import LogForm, LogLevel
from meters.process.logs import log_to_stderr

form, level = sys.argv[1:]
log_to_stderr(LogForm(form) if form else None, LogLevel(level))
log = structlog.get_logger()
secret = "not-to-be-logged"
structlog.contextvars.bind_contextvars(service="pitlink-1")
log.debug("event judged", seq=1)
log.info("link operable", link="main")
logging.getLogger("uvicorn.error").warning("a %s request", "bad")
logging.getLogger("mqtt").debug("two lines\\nfor each message")
warnings.warn("old", DeprecationWarning)
log.warning("broker gone", reason="\\x1b[2Jgone\\n{}")
try:
    raise ValueError("1\\n2")
except ValueError:
    log.exception("request failed", path="/")
raise KeyError(sys.argv[1])
"""


def spoken(form: str, level: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", SPEAK, form, level],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr.splitlines()


def test_every_line_is_an_object_from_every_source() -> None:
    """Ours, a library's, a warning of Python's, an exception, and the error that ends a process."""
    said: list[dict[str, Any]] = [json.loads(line) for line in spoken("", "info")]
    assert [(line["level"], line["event"], line.get("message")) for line in said[:2]] == [
        ("info", "link operable", None),
        ("warning", "library", "a bad request"),
    ]
    warned, gone, failed, ended = said[2:]
    assert (warned["event"], warned["logger"]) == ("library", "py.warnings")
    assert gone["reason"] == "\x1b[2Jgone\n{}"
    assert "ValueError: 1\n2" in failed["exception"]
    assert (ended["level"], ended["event"]) == ("error", "process failed")
    assert {line["service"] for line in said} == {"pitlink-1"}
    assert {line["timestamp"][-1] for line in said} == {"Z"}


def test_text_is_for_people_and_writes_nothing_else_to_their_terminal() -> None:
    said = "\n".join(spoken("text", "debug"))
    assert "event judged" in said
    assert "a bad request" in said
    assert "\x1b" not in said
    assert "not-to-be-logged" not in said


@pytest.mark.parametrize(("level", "logged"), [("warning", 5), ("error", 2)])
def test_a_level_leaves_out_what_is_less_grave_of_the_libraries_too(
    level: str, logged: int
) -> None:
    assert len(spoken("json", level)) == logged
