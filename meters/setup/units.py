"""Start of the systemd units of an installed floor, and checks before the start.

If a check fails, or a unit does not start or stop, the functions raise `UserError`.
"""

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import httpx
from redis import Redis
from redis.exceptions import RedisError

from bonus.errors import UserError
from meters.setup.config_files import BROKER, MONITORING, PROXY, REDIS, SERVERS

SERVICES: Final = ("pitlink-serve@1", "pitlink-serve@2")
FIRST_AUDIT: Final = "pitlink-audit.service"
"""Unit of the daily audit. It does nothing if an audit has ended since the last close of a day."""
TIMERS: Final = ("pitlink-audit.timer", "pitlink-audit-whole.timer", "pitlink-archive.timer")
_REDIS_PORT: Final = 6379
PORTS: Final[Mapping[int, str]] = {
    _REDIS_PORT: REDIS,
    8883: BROKER,
    8884: BROKER,
    80: PROXY,
    443: PROXY,
    9090: MONITORING,
    8081: SERVICES[0],
    8082: SERVICES[1],
}
"""The TCP ports of an installed floor. Each has the unit that listens there."""

SERVICE_PORTS: Final = tuple(port for port, unit in PORTS.items() if unit in SERVICES)

_ANSWERS_WITHIN_S: Final = 5
_SEARCHED: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_STARTED_WITHIN_S: Final = 180
_READY_WITHIN_S: Final = 90
_ASKED_EVERY_S: Final = 0.5
_SHOWN_MAX: Final = 2_000


def systemd_runs() -> bool:
    return Path("/run/systemd/system").is_dir()


def check_programs(servers: Sequence[str] = SERVERS) -> None:
    missing = [name for name in servers if shutil.which(name, path=_SEARCHED) is None]
    if missing:
        names = " ".join(missing)
        raise UserError(f"not installed on this machine: {names}. Run: apt-get install {names}")


def check_units() -> None:
    for unit in (*SERVICES, *TIMERS):
        if _systemctl("cat", unit).returncode != 0:
            raise UserError(
                f"systemd has no unit {unit}: the Debian package of pitlink has it; without the"
                " package, copy the units (deploy/docs/run/install-by-hand.md)"
            )


def check_ports(ports: Mapping[int, str] = PORTS) -> None:
    """Raise `UserError` if a port of a stopped unit is used by another program."""
    for port, unit in ports.items():
        if is_used(port) and _systemctl("is-active", "--quiet", unit).returncode != 0:
            raise UserError(
                f"port {port}, which {unit} needs, is used by another program. `ss -ltnp sport ="
                f" :{port}` shows the program: stop it, then repeat the command"
            )


def check_redis(port: int = _REDIS_PORT) -> None:
    """Raise `UserError` if another program has data in this machine's Redis.

    Without an append-only file, Redis would lose the data at the restart. With our settings, it
    would not let the other program in.
    """
    # A Redis with the settings of pitlink accepts only TLS, so nothing is asked.
    with (
        contextlib.suppress(RedisError),
        Redis(port=port, socket_timeout=_ANSWERS_WITHIN_S) as redis,
    ):
        if redis.config_get("appendonly")["appendonly"] == "no" and redis.info("keyspace"):
            raise UserError(
                f"the Redis at port {port} has data of another program, which would lose the data."
                " pitlink needs a Redis of its own: move the other program to another Redis. If"
                " nobody needs the data, run `redis-cli flushall`. Then repeat the command"
            )


def check_address(host: str) -> None:
    """Raise `UserError` unless an IP address belongs to this machine."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(kind, socket.SOCK_STREAM) as server:
        try:
            server.bind((host, 0))
        except OSError as error:
            raise UserError(
                f"{host} is not an address of this machine ({error.strerror}): `ip address` shows"
                " its addresses"
            ) from None


def is_used(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind(("", port))
            server.listen()
        except OSError:
            return True
    return False


def restart(unit: str) -> None:
    _act("enable", unit)
    _act("restart", unit)


def start(units: Sequence[str]) -> None:
    _act("enable", *units)
    _act("start", *units)


def stop(unit: str) -> None:
    _act("stop", unit)


def run_audit() -> None:
    """Run the daily audit to its end, so that the first check can report the audit."""
    _act("start", FIRST_AUDIT)


def wait_until_ready(ports: Sequence[int]) -> str | None:
    """Wait until every service can operate. Return the problem if this takes too long."""
    ends = time.monotonic() + _READY_WITHIN_S
    while (problem := _problem(ports)) is not None and time.monotonic() < ends:
        time.sleep(_ASKED_EVERY_S)
    return problem


def _problem(ports: Sequence[int]) -> str | None:
    for port in ports:
        url = f"http://127.0.0.1:{port}/readyz"
        try:
            # The user can have a proxy, for example for apt. A proxy does not reach our loopback.
            answer = httpx.get(url, timeout=_ANSWERS_WITHIN_S, trust_env=False)
        except httpx.HTTPError as error:
            return f"{url}: {error}"
        if not answer.is_success:
            return f"{url}: {answer.text[:_SHOWN_MAX]}"
    return None


def _act(verb: str, *units: str) -> None:
    try:
        done = _systemctl(verb, *units)
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode != 0:
        said = f" ({done.stderr.strip().splitlines()[0]})" if done and done.stderr.strip() else ""
        shown = " ".join(f"-u {unit}" for unit in units)
        raise UserError(
            f"`systemctl {verb} {' '.join(units)}` failed{said}. `journalctl -n 30 {shown}` says"
            " why. Correct the fault, then repeat the command: it continues at this step"
        )


def _systemctl(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemctl", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_STARTED_WITHIN_S,
    )
