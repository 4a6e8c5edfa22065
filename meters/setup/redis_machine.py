"""Machine with one of several Redis servers and a sentinel: addresses, files and installation.

If something cannot be done, a `UserError` says what the person must do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Final, cast

from redis import Redis
from redis.exceptions import AuthenticationError, RedisError

from bonus.errors import UserError
from meters.floor.floor_file import Floor
from meters.floor.server_addresses import (
    HostPort,
    ReplicatedAddress,
    is_replicated,
    parse_replicated,
)
from meters.keys.server_files import REPLICA_ACCESS, SENTINEL_ACCESS
from meters.process.printing import print_text
from meters.setup import units
from meters.setup.config_files import (
    REDIS,
    ConfigFiles,
    FilePlan,
    FileState,
    WantedFile,
    digest_of,
    read_piece,
    read_text,
    without_added,
)
from meters.setup.key_installation import directories_of, install_keys, server_names
from meters.setup.places import FLOOR_FILE, MADE_KEYS, REDIS_KEYS, SYSTEM, below

SENTINEL: Final = "redis-sentinel"
"""Debian's package of the sentinel. The program and the unit have the name of the package."""

REDIS_PORT: Final = 6379
REDIS_CONF: Final = Path("/etc/redis/redis.conf")
REPLICATED_CONF: Final = Path("/etc/redis/pitlink-replicated.conf")
SENTINEL_CONF: Final = Path("/etc/redis/sentinel.conf")
_SERVER_USER: Final = "redis"
_SENTINELS_LEAST: Final = 3
_INCLUDE_REPLICATED: Final = f"include {REPLICATED_CONF}"
_BIND: Final = "bind 127.0.0.1"
_DEBIAN_EXAMPLE: Final = "sentinel monitor mymaster 127.0.0.1 6379 2"
"""Line of the file with which Debian's sentinel starts. The sentinel rewrites the file at once."""
_PART: Final = "redis"
_DATA: Final = Path("/var/lib/redis")
_APPEND_ONLY: Final = ("appendonlydir", "appendonly.aof")
"""Names of the append-only file in Redis 7 and later, and in earlier versions."""
_NEEDED: Final = ("ca.crt", "redis.key", "tls.conf", "users.acl", REPLICA_ACCESS, SENTINEL_ACCESS)
_ANSWERS_WITHIN_S: Final = 3
_PASSWORD: Final = "requirepass "  # noqa: S105  (the name of a setting)


@dataclass(frozen=True, slots=True)
class RedisMachine:
    """Machine with a Redis server and a sentinel.

    ``own`` is the IP address of this machine, ``primary`` the IP address of the present primary's
    machine. ``address`` is the address of the floor's Redis; it names all sentinels.
    """

    own: str
    primary: str
    address: ReplicatedAddress

    @classmethod
    def of(cls, floor: Floor, source: str, own: str, primary: str) -> "RedisMachine":
        """Return a machine of a floor whose Redis has sentinels and TLS.

        Raises:
            UserError: the floor file's address of Redis does not fit, or names no sentinel on one
                of the two machines.
        """
        url = floor.service.redis
        address = parse_replicated(url) if is_replicated(url) else None
        if address is None or not (address.tls and address.service):
            raise UserError(
                f"{source}: `pitlink setup --redis` is for a Redis with sentinels and TLS. Write"
                " the addresses of its machines under [service], for example redis ="
                ' "rediss+sentinel://10.0.0.8:26379,10.0.0.9:26379,10.0.0.10:26379/pitlink"'
            )
        hosts = [place.host for place in address.places]
        if len(set(hosts)) != len(hosts) or len(hosts) < _SENTINELS_LEAST:
            raise UserError(
                f"{source}: name one sentinel on each of at least {_SENTINELS_LEAST} machines. With"
                " fewer machines, no majority is left when one fails"
            )
        if names := [host for host in hosts if not _is_ip_address(host)]:
            raise UserError(
                f"{source}: sentinels report IP addresses. Write the IP address of each machine, in"
                f" its short form, instead of {', '.join(names)}"
            )
        for option, given in (("--redis", own), ("--primary", primary)):
            if given not in hosts:
                raise UserError(
                    f"{option} {given}: {source} has no sentinel there. Its sentinels are at"
                    f" {', '.join(hosts)}"
                )
        return cls(own, primary, address)

    @property
    def is_primary(self) -> bool:
        return self.own == self.primary

    @property
    def sentinel(self) -> HostPort:
        return next(place for place in self.address.places if place.host == self.own)

    @property
    def other_sentinels(self) -> Sequence[HostPort]:
        return [place for place in self.address.places if place.host != self.own]

    def files(self, present: Mapping[Path, str], *, renews: bool) -> Sequence[WantedFile]:
        """Return the configuration files of the Redis server and the sentinel.

        Both servers change their files while they run: Redis writes its role, and the sentinel
        writes the present primary. Both add lines, some with passwords; these lines replace
        settings in included files. In an installed file, only the lines with addresses, ports and
        the number of replicas are changed. If `renews` is true, other files or keys have changed:
        then the added lines are removed, and the servers restart.
        """
        bind, service = f"bind {self.own} 127.0.0.1", self.address.service
        quorum = len(self.address.places) // 2 + 1
        options = ("down-after-milliseconds", "failover-timeout", "parallel-syncs")
        names = [(f"{option} pitlink ", f"{option} {service} ") for option in options]
        redis = _with(read_piece("redis.conf"), (_BIND, bind))
        sentinel = _with(read_piece("redis/sentinel.conf"), (_BIND, bind), *names)
        changes: Sequence[tuple[WantedFile, str, Mapping[str, str | None]]] = (
            (
                WantedFile(REPLICATED_CONF, read_piece("redis/replicated.conf"), REDIS),
                f"include {REDIS_KEYS / REPLICA_ACCESS}",
                {"min-replicas-to-write": str(self.address.replicas)},
            ),
            (
                WantedFile(
                    REDIS_CONF, f"{redis}\n{_INCLUDE_REPLICATED}\n", REDIS, owner=_SERVER_USER
                ),
                _INCLUDE_REPLICATED,
                {
                    "replicaof": None if self.is_primary else f"{self.primary} {REDIS_PORT}",
                    "replica-announce-ip": self.own,
                },
            ),
            (
                WantedFile(SENTINEL_CONF, sentinel, SENTINEL, owner=_SERVER_USER),
                f"include {REDIS_KEYS / SENTINEL_ACCESS}",
                {
                    "sentinel monitor": f"{service} {self.primary} {REDIS_PORT} {quorum}",
                    "sentinel announce-ip": self.own,
                    "tls-port": str(self.sentinel.port),
                },
            ),
        )
        return [
            _installed(wanted, present.get(wanted.path, ""), mark, values, renews=renews)
            for wanted, mark, values in changes
        ]


def _installed(
    wanted: WantedFile, present: str, mark: str, values: Mapping[str, str | None], *, renews: bool
) -> WantedFile:
    """Return a file with some settings before the line `mark`, which only an installed file has.

    Other lines stay, even those that somebody added by hand. A setting with the value None is
    removed.
    """
    found = present.splitlines()
    lines = [f"{name} {value}" for name, value in values.items() if value is not None]
    # Redis puts some values in quotation marks.
    told = [line.replace('"', "") for line in found if _sets(line, values)]
    is_installed = mark in found
    is_right = is_installed and sorted(told) == sorted(lines)
    if is_right and not (renews and without_added(present) != present):
        return replace(wanted, text=present)
    text = without_added(present) if is_installed else wanted.text
    kept = [line for line in text.splitlines() if not _sets(line, values)]
    at = kept.index(mark)
    text = "\n".join([*kept[:at], *lines, *kept[at:], ""])
    return replace(wanted, text=text, is_known=is_installed or _DEBIAN_EXAMPLE in found)


def _sets(line: str, names: Iterable[str]) -> bool:
    return any(line.startswith(f"{name} ") for name in names)


def _is_ip_address(host: str) -> bool:
    try:
        return str(ip_address(host)) == host
    except ValueError:
        return False


def _with(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{old!r} is missing")
        text = text.replace(old, new)
    return text


def install_redis(
    root: Path, machine: RedisMachine, keys: Path, may_write: Callable[[FilePlan], bool]
) -> None:
    """Install the keys and files of a Redis server and its sentinel, and start both.

    The servers are restarted only if a file or the keys have changed since their last start by this
    command. ``keys`` is a directory of `pitlink keys`, or a directory with its `redis/`.
    """
    starts = root == SYSTEM and units.systemd_runs()
    _check(root, machine, keys / _PART, starts=starts)
    install_keys(root, directories_of(keys, [_PART]))
    started = digest_of(sorted(below(root, REDIS_KEYS).glob("*")))
    paths = (REPLICATED_CONF, REDIS_CONF, SENTINEL_CONF)
    present = {path: read_text(below(root, path)) for path in paths}

    def may_write_stopped(plan: FilePlan) -> bool:
        """Stop the sentinel before its file is written: the sentinel would write over the text."""
        agreed = may_write(plan)
        if agreed and starts and plan.wanted.server == SENTINEL:
            units.stop(SENTINEL)
        return agreed

    files = ConfigFiles(root, may_write_stopped)
    servers = files.record.servers
    is_changed = starts and servers.get(SENTINEL) != started
    plans = [files.plan(each) for each in machine.files(present, renews=is_changed)]
    if not is_changed and any(plan.state is not FileState.DONE for plan in plans):
        is_changed = True
        plans = [files.plan(each) for each in machine.files(present, renews=True)]
    if is_changed:
        # After an interruption, the next run starts the servers again.
        servers.pop(SENTINEL, None)
        files.save_record()
    for plan in plans:
        if not files.write(plan):
            raise UserError(
                f"Redis and its sentinel need {plan.place}. Neither was restarted. Complete the"
                " file, or let this command write it. Then repeat the command"
            )
    if not starts:
        print_text(
            f"The servers were not started. With systemd: systemctl restart {REDIS} {SENTINEL}"
        )
    elif is_changed:
        for server in (REDIS, SENTINEL):
            print_text(f"starting {server}")
            units.restart(server)
        servers[SENTINEL] = started
        files.save_record()
    print_text("\n".join(_next_steps(machine)))


def _check(root: Path, machine: RedisMachine, keys: Path, *, starts: bool) -> None:
    """Raise `UserError` if the installation could not work or would lose data; write nothing."""
    if root == SYSTEM:
        units.check_programs([REDIS, SENTINEL])
        units.check_address(machine.own)
    if starts:
        units.check_ports({REDIS_PORT: REDIS, machine.sentinel.port: SENTINEL})
        units.check_redis()
    _check_keys(keys, machine)
    if root == SYSTEM:
        check_primary(machine, keys, is_empty=_data(root) is None)
    _check_no_data(root, machine)


def _check_keys(keys: Path, machine: RedisMachine) -> None:
    if not (keys / "redis.crt").is_file():
        raise UserError(
            f"there is no {keys / 'redis.crt'}: copy {MADE_KEYS / _PART} to {keys.absolute()}, from"
            " the machine where `pitlink keys` was run"
        )
    for name in _NEEDED:
        if not (keys / name).is_file():
            raise _unfit(f"there is no {keys / name}: when the floor file names the sentinels,")
    known, service = server_names(keys / "redis.crt"), machine.address.service
    if missing := [place.host for place in machine.address.places if place.host not in known]:
        raise _unfit(f"{keys / 'redis.crt'} is not for {', '.join(missing)}:")
    if f"sentinel auth-user {service} " not in read_text(keys / SENTINEL_ACCESS):
        raise _unfit(f"{keys / SENTINEL_ACCESS} is not for {service}, which the floor file names:")
    if str(REDIS_KEYS) not in read_text(keys / "tls.conf"):
        options = f" --redis-home {REDIS_KEYS}"
        raise _unfit(f"{keys / 'tls.conf'} does not name {REDIS_KEYS}:", options)


def _unfit(problem: str, options: str = "") -> UserError:
    again = f"pitlink keys --config {FLOOR_FILE} --out {MADE_KEYS} --renew redis{options}"
    return UserError(
        f"{problem} run `{again}` on the machine with {MADE_KEYS}. If that is another machine, copy"
        f" its directory {_PART} here again"
    )


def _check_no_data(root: Path, machine: RedisMachine) -> None:
    """Raise `UserError` for a new replica whose Redis has data of its own."""
    conf = read_text(below(root, REDIS_CONF)).splitlines()
    if machine.is_primary or any(line.startswith("replicaof ") for line in conf):
        return
    if (path := _data(root)) is not None:
        raise UserError(
            f"this Redis has data ({path}) and was no replica, and a replica deletes its own data."
            f" If the data is the ledger of the floor, stop redis-sentinel and redis-server on all"
            f" other machines, and make this machine the primary: --primary {machine.own}. If it is"
            f" only a copy, or nobody needs it, run `systemctl stop {REDIS}` and move {path} away."
            " Then repeat the command"
        )


def _data(root: Path) -> Path | None:
    paths = [below(root, _DATA) / name for name in _APPEND_ONLY]
    return next((path for path in paths if path.exists()), None)


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


def check_primary(machine: RedisMachine, keys: Path, *, is_empty: bool) -> None:
    """Raise `UserError` if sentinels of other machines name another primary.

    Two primaries of one floor, or a replica of a replica, would look right until a machine fails.
    An empty primary would delete the data of its replicas. ``is_empty`` is true if the Redis of
    this machine has no data.
    """
    named = _answers(machine, keys)
    for place, host in named.items():
        if host != machine.primary:
            raise UserError(
                f"--primary {machine.primary}: the sentinel at {place} names another primary,"
                f" {host}. Give --primary {host}, or first correct the machine of that sentinel"
            )
    if named and machine.is_primary and is_empty:
        raise UserError(
            "this Redis is empty, and the sentinels name it as the primary: its replicas would"
            " delete their data. Stop redis-sentinel and redis-server on all machines. The machine"
            " with the most data in /var/lib/redis must be the primary: run this command with its"
            " address as --primary, first on that machine"
        )
    if not named and not machine.is_primary:
        others = ", ".join(str(place) for place in machine.other_sentinels)
        raise UserError(
            f"no sentinel answers at {others}: first run `pitlink setup --redis {machine.primary}"
            f" --primary {machine.primary}` on the machine of the primary. Its address must be"
            " reachable from here"
        )


def _answers(machine: RedisMachine, keys: Path) -> Mapping[HostPort, str]:
    """Return the primary that each sentinel names; raise `UserError` for a refused password."""
    lines = read_text(keys / SENTINEL_ACCESS).splitlines()
    given = [line.removeprefix(_PASSWORD) for line in lines if line.startswith(_PASSWORD)]
    found: dict[HostPort, str] = {}
    for place in machine.other_sentinels:
        try:
            with Redis(
                host=place.host,
                port=place.port,
                password="".join(given),
                socket_timeout=_ANSWERS_WITHIN_S,
                socket_connect_timeout=_ANSWERS_WITHIN_S,
                ssl=True,
                ssl_ca_certs=str(keys / "ca.crt"),
                ssl_certfile=str(keys / "redis.crt"),
                ssl_keyfile=str(keys / "redis.key"),
            ) as sentinel:
                row = cast(
                    "list[bytes] | None",
                    sentinel.execute_command(
                        "SENTINEL", "get-master-addr-by-name", machine.address.service
                    ),
                )
        except AuthenticationError:
            raise UserError(
                f"the sentinel at {place} has another password than the keys in {keys}: copy the"
                " directory redis to this machine again"
            ) from None
        except (RedisError, OSError):
            continue
        if row is not None:
            found[place] = row[0].decode()
    return found
