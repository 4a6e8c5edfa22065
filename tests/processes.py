"""Real `pitlink` processes for the tests, ended when the test ends."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Final, Self

import pytest
from typer.testing import CliRunner

import meters.process.logs
from bonus.errors import UserError
from meters.cli.main import command_line
from tests.approving import approve_before_serve
from tests.waiting import LONG_S, Found, dies_with_us, eventually

STOP_WITHIN_S: Final = LONG_S


def pitlink_command(*arguments: str) -> list[str]:
    """Return the command line of `pitlink` in the environment that runs the tests."""
    script = Path(sys.executable).with_name("pitlink")
    if script.exists():
        return [str(script), *arguments]
    return [sys.executable, "-c", "from meters.cli.main import run; run()", *arguments]


def bench_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tests", "bench", *arguments]


def run_pitlink(
    *arguments: str,
    program: Callable[..., list[str]] = pitlink_command,
    stdin: str | bytes | None = None,
    timeout_s: float = 2 * LONG_S,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        dies_with_us(program(*arguments)),
        input=stdin.encode() if isinstance(stdin, str) else (stdin or b""),
        capture_output=True,
        timeout=timeout_s,
        env=dict(env) if env is not None else None,
        cwd=cwd,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


class _SetsUpLogsError(BaseException):
    """A command would set up the logs of its process, and so those of all later tests."""


def _set_up_no_logs(*_: object) -> None:
    raise _SetsUpLogsError


def invoke_pitlink(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run `pitlink` in this process; return its exit status, output and errors as a process would.

    This starts no interpreter, unless the command sets up the logs of its process: then the command
    runs again in a process of its own. Do not use this for commands that run until a signal.
    """
    umask = os.umask(0o077)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(meters.process.logs, "log_to", _set_up_no_logs)
            done = CliRunner().invoke(
                command_line(arguments), list(arguments), input=stdin, prog_name="pitlink"
            )
    except _SetsUpLogsError:
        return run_pitlink(*arguments, stdin=stdin)
    finally:
        os.umask(umask)
    status, errors = done.exit_code, done.stderr
    if isinstance(done.exception, UserError):
        status, errors = done.exception.exit_status, f"{errors}pitlink: {done.exception}\n"
    elif done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, status, done.stdout, errors)


_DEAF: Final = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD})
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Program that runs a command while the signals that should end it are ignored and blocked."""


class Pitlink:
    """Running `pitlink` process whose output goes to files; ended on exit.

    If it is `deaf`, it starts with SIGINT, SIGTERM and SIGCHLD ignored and blocked. If it is
    `approved`, a person approves the floor file before `pitlink serve`, if the floor is empty. With
    `stdin`, its standard input stays open.
    """

    def __init__(
        self,
        *arguments: str,
        program: Callable[..., list[str]] = pitlink_command,
        stdin: bool = False,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        deaf: bool = False,
        approved: bool = True,
    ) -> None:
        if approved:
            approve_before_serve(arguments, cwd)
        command = program(*arguments)
        if deaf:
            command = [sys.executable, "-c", _DEAF, *command]
        self._home = Path(tempfile.mkdtemp(prefix="plt-"))
        with self._open("out") as out, self._open("err") as err:
            self.process = subprocess.Popen(
                dies_with_us(command),
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=dict(env) if env is not None else None,
                cwd=cwd,
            )

    def _open(self, name: str) -> IO[bytes]:
        return (self._home / name).open("wb")

    @property
    def output(self) -> str:
        return (self._home / "out").read_text(errors="replace")

    @property
    def errors(self) -> str:
        return (self._home / "err").read_text(errors="replace")

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def write_line(self, line: str | bytes) -> None:
        assert self.process.stdin is not None, "started without stdin=True"
        data = line.encode() if isinstance(line, str) else line
        self.process.stdin.write(data.rstrip(b"\n") + b"\n")
        self.process.stdin.flush()

    def close_input(self) -> None:
        assert self.process.stdin is not None, "started without stdin=True"
        self.process.stdin.close()

    def wait(self, *, within_s: float = LONG_S) -> int:
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"pitlink did not end within {within_s} s\n{self.output[-2000:]}\n"
                f"{self.errors[-4000:]}"
            ) from None

    def until(
        self, check: Callable[[], Found], *, within_s: float = LONG_S, what: str = "the condition"
    ) -> Found:
        """Wait like `eventually`. If the process ends, fail immediately with its output."""

        def look() -> Found:
            found = check()
            if not found and not self.running:
                status = self.process.returncode
                pytest.fail(f"pitlink ended with {status}:\n{self.output}\n{self.errors}")
            return found

        return eventually(look, within_s=within_s, what=what)

    def stop(self, *, within_s: float = STOP_WITHIN_S) -> int:
        if self.running:
            self.process.terminate()
        return self.wait(within_s=within_s)

    def kill(self) -> None:
        if self.running:
            self.process.kill()
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.kill()
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        shutil.rmtree(self._home, ignore_errors=True)
