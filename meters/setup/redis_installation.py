"""Installation of a Redis server and its sentinel on one of the machines of Redis.

What it refuses is a UserError that says what the person must do.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.keys.redis_files import REPLICA_ACCESS, SENTINEL_ACCESS
from meters.process.printing import print_text
from meters.process.private_files import read_bytes
from meters.setup import units
from meters.setup.file_installer import FileInstaller
from meters.setup.file_states import FilePlan, FileState
from meters.setup.key_installation import directories_of, install_keys
from meters.setup.key_making import server_names
from meters.setup.places import FLOOR_FILE, MADE_KEYS, RECORD, REDIS_KEYS, SYSTEM, below
from meters.setup.present_primary import check_primary
from meters.setup.record import SetupRecord, digest
from meters.setup.redis_machine import (
    REDIS_CONF,
    REDIS_PORT,
    REPLICATED_CONF,
    SENTINEL,
    SENTINEL_CONF,
    RedisMachine,
)
from meters.setup.wanted_files import REDIS

_PART: Final = "redis"
_DATA: Final = Path("/var/lib/redis")
_APPEND_ONLY: Final = ("appendonlydir", "appendonly.aof")
"""Append-only file of Redis 7, and of earlier versions."""
_NEEDED: Final = (
    "ca.crt", "redis.key", "tls.conf", "users.acl", REPLICA_ACCESS, SENTINEL_ACCESS,
)  # fmt: skip
_COPY_AGAIN: Final = (
    f" on the machine with {MADE_KEYS}. If that is another machine, copy its directory {_PART} here"
    " again"
)


def install_redis(
    root: Path, machine: RedisMachine, keys: Path, may_write: Callable[[FilePlan], bool]
) -> None:
    """Install the keys and the files of a Redis server and its sentinel, and start both.

    The servers restart only if a file or the keys differ from those of their last start by this
    command. ``keys`` is a directory of `pitlink keys`, or one with its `redis/`.

    Raises:
        UserError: the keys are not those of this floor, the Redis has data that a replica would
            delete, a file cannot be written or is to be completed by a person, or a server did not
            start.
    """
    starts = root == SYSTEM and units.systemd_runs()
    _check(root, machine, keys / _PART, starts=starts)
    for one in install_keys(root, directories_of(keys, [_PART])):
        print_text(f"{one.place}  {one.act}")
    started = _digest(below(root, REDIS_KEYS))
    record = SetupRecord.read(below(root, RECORD))
    paths = (REPLICATED_CONF, REDIS_CONF, SENTINEL_CONF)
    present = {path: _text(below(root, path)) for path in paths}
    files = FileInstaller(root, _stopping(may_write) if starts else may_write)
    is_changed = starts and record.servers.get(SENTINEL) != started
    plans = [files.plan(each) for each in machine.files(present, renews=is_changed)]
    if not is_changed and any(plan.state is not FileState.DONE for plan in plans):
        is_changed = True
        plans = [files.plan(each) for each in machine.files(present, renews=True)]
    if is_changed:
        # After an interruption, the next run starts the servers again.
        files.forget_start(SENTINEL)
    for plan in plans:
        if not files.write(plan):
            raise UserError(
                f"Redis and its sentinel need {plan.place}. Neither was restarted. Complete the"
                " file, or let this command write it. Then repeat the command"
            )
    if not starts:
        print_text(f"systemd does not run here. With systemd: systemctl restart {REDIS} {SENTINEL}")
    elif is_changed:
        for server in (REDIS, SENTINEL):
            print_text(f"starting {server}")
            units.restart(server)
        files.remember_start(SENTINEL, started)
    print_text("\n".join(_next_steps(machine)))


def _stopping(may_write: Callable[[FilePlan], bool]) -> Callable[[FilePlan], bool]:
    """Return a function that also stops the sentinel, right before its file is written.

    A running sentinel would write its own file over the new one.
    """

    def stop_and_write(plan: FilePlan) -> bool:
        agreed = may_write(plan)
        if agreed and plan.wanted.server == SENTINEL:
            units.stop(SENTINEL)
        return agreed

    return stop_and_write


def _check(root: Path, machine: RedisMachine, keys: Path, *, starts: bool) -> None:
    """Refuse, before anything is written, what cannot work or would lose data."""
    if root == SYSTEM:
        _check_system(machine, starts=starts)
    _check_keys(keys, machine)
    if root == SYSTEM:
        check_primary(machine, keys, is_empty=_data(root) is None)
    _check_no_data(root, machine)


def _check_keys(keys: Path, machine: RedisMachine) -> None:
    """Refuse keys that do not fit the floor file."""
    again = f"pitlink keys --config {FLOOR_FILE} --out {MADE_KEYS} --renew redis"
    if not (keys / "redis.crt").is_file():
        raise UserError(
            f"there is no {keys / 'redis.crt'}: copy {MADE_KEYS / _PART} to {keys.absolute()}, from"
            " the machine where `pitlink keys` was run"
        )
    for name in _NEEDED:
        if not (keys / name).is_file():
            raise UserError(
                f"there is no {keys / name}: when the floor file names the sentinels, run"
                f" `{again}`{_COPY_AGAIN}"
            )
    known = server_names(keys / "redis.crt")
    if missing := [place.host for place in machine.address.places if place.host not in known]:
        raise UserError(
            f"{keys / 'redis.crt'} is not for {', '.join(missing)}: run `{again}`{_COPY_AGAIN}"
        )
    if f"sentinel auth-user {machine.address.service} " not in _text(keys / SENTINEL_ACCESS):
        raise UserError(
            f"{keys / SENTINEL_ACCESS} is not for {machine.address.service}, which the floor file"
            f" names: run `{again}`{_COPY_AGAIN}"
        )
    if str(REDIS_KEYS) not in _text(keys / "tls.conf"):
        raise UserError(
            f"{keys / 'tls.conf'} does not name {REDIS_KEYS}: run `{again} --redis-home"
            f" {REDIS_KEYS}`{_COPY_AGAIN}"
        )


def _check_no_data(root: Path, machine: RedisMachine) -> None:
    """Refuse to make a replica of a Redis that has data and was no replica before."""
    conf = _text(below(root, REDIS_CONF)).splitlines()
    if machine.is_primary or any(line.startswith("replicaof ") for line in conf):
        return
    if (path := _data(root)) is not None:
        raise UserError(
            f"this Redis has data ({path}) and was no replica, and a replica deletes its own data."
            f" If it is the ledger of the floor, stop redis-sentinel and redis-server on all other"
            f" machines, and make this machine the primary: --primary {machine.own}. If it is only"
            f" a copy, or nobody needs it, run `systemctl stop {REDIS}` and move {path} away. Then"
            " repeat the command"
        )


def _data(root: Path) -> Path | None:
    paths = [below(root, _DATA) / name for name in _APPEND_ONLY]
    return next((path for path in paths if path.exists()), None)


def _digest(keys: Path) -> str:
    files = sorted(keys.glob("*"))
    return digest(b"".join(digest(read_bytes(path) or b"").encode() for path in files))


def _check_system(machine: RedisMachine, *, starts: bool) -> None:
    """Refuse a machine on which the two servers could not start."""
    units.check_programs([REDIS, SENTINEL])
    units.check_address(machine.own)
    if starts:
        units.check_ports({REDIS_PORT: REDIS, machine.sentinel.port: SENTINEL})
        units.check_redis()


def _text(path: Path) -> str:
    return (read_bytes(path) or b"").decode(errors="replace")


def _next_steps(machine: RedisMachine) -> Sequence[str]:
    if not machine.is_primary:
        return ["On a machine of the services, `pitlink check` says when this replica is in step."]
    return [
        f"Replica {other.host}: install pitlink, {REDIS} and {SENTINEL} on its machine. Copy"
        f" {MADE_KEYS / _PART} to {MADE_KEYS.name}/{_PART} there, and {FLOOR_FILE}. There, run:"
        f" pitlink setup --redis {other.host} --primary {machine.own} --keys {MADE_KEYS.name}"
        f" --floor {FLOOR_FILE.name}"
        for other in machine.other_sentinels
    ]
