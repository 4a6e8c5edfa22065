import fcntl
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.system.debian_root import open_turn
from tests.waiting import LONG_S, dies_with_us, eventually


class Network:
    """Network with only a loopback interface, for a container and its servers."""

    def __enter__(self) -> Self:
        self._holder = subprocess.Popen(
            dies_with_us(["unshare", "--net", "sh", "-c", "ip link set lo up && echo && cat"]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline(), "a private network cannot be made"
        return self

    def __exit__(self, *raised: object) -> None:
        self._holder.communicate()

    @property
    def path(self) -> str:
        return f"/proc/{self._holder.pid}/ns/net"


class Container:
    """Container with the user, environment and command of its image, and a read-only root.

    A booted machine ends every process of its control group when it is turned off. A container
    would be one of them, so it waits for its turn. `mounts` has a directory of this machine for
    each directory of the image.
    """

    def __init__(
        self,
        home: Path,
        root: Path,
        config: Mapping[str, Any],
        mounts: Mapping[str, Path],
        network: Network,
    ) -> None:
        self._turn = open_turn()
        self._log = home / "container.log"
        self._config = config
        self._command = [
            "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--console=pipe",
            f"--machine=pitlink-{os.getpid()}", f"--directory={root}", "--read-only",
            f"--network-namespace-path={network.path}", "--drop-capability=all",
            "--no-new-privileges=yes", f"--user={config['User'].partition(':')[0]}",
            f"--chdir={config['WorkingDir']}",
            *(f"--setenv={each}" for each in config["Env"]),
            *(f"--bind={source}:{path}" for path, source in mounts.items()),
            *config["Entrypoint"], *config["Cmd"],
        ]  # fmt: skip

    def __enter__(self) -> Self:
        fcntl.flock(self._turn, fcntl.LOCK_EX)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                dies_with_us(self._command), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        try:
            self._pid = eventually(self._find_program, what="the program of the container")
        except BaseException:
            self._process.kill()
            self._process.wait()
            self._turn.close()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            if self._process.poll() is None:
                self.signal("SIGKILL")
            self._process.wait(LONG_S)
        finally:
            self._process.kill()
            self._process.wait()
            self._turn.close()

    @property
    def log(self) -> str:
        return self._log.read_text()

    def signal(self, name: str) -> None:
        os.kill(self._pid, signal.Signals[name])

    def wait(self) -> int:
        return self._process.wait(LONG_S)

    def is_healthy(self) -> bool:
        kind, *command = self._config["Healthcheck"]["Test"]
        assert kind == "CMD"
        return self.run(*command).returncode == 0

    def run(self, *command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command in the container, and return its output and errors as one text."""
        user, group = self._config["User"].split(":")
        return subprocess.run(
            ["nsenter", "--target", str(self._pid), "--all", "--setuid", user, "--setgid", group,
             "env", "--ignore-environment", *self._config["Env"], *command],
            input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=LONG_S, check=False,
        )  # fmt: skip

    def _find_program(self) -> int:
        """Return the process id of its program, or 0 if nspawn has not started the program yet."""
        if self._process.poll() is not None:
            raise RuntimeError(self.log)
        nspawn = self._process.pid
        for child in Path(f"/proc/{nspawn}/task/{nspawn}/children").read_text().split():
            # Before that, the child is nspawn too, or a helper of it without a command line.
            words = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"pitlink" in words and b"nspawn" not in words:
                return int(child)
        return 0
