"""Installation of the machine of the services, and of the machine of a table.

If an installation was interrupted, a repeated run continues it.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
from cryptography import x509

from bonus.errors import UserError, nearest
from meters.floor.floor_file import NOT_APPROVED, Floor
from meters.floor.key_bundle import AUTHORITY_FILE, table_identity
from meters.process.printing import print_text
from meters.process.private_files import read_bytes
from meters.setup import units
from meters.setup.config_files import (
    BROKER,
    MONITORING,
    PROXY,
    REDIS,
    SERVERS,
    ConfigFiles,
    FilePlan,
    FileState,
    WantedFile,
    digest_of,
    read_piece,
)
from meters.setup.floor_text import Answers, installed_floor, read_floor_text
from meters.setup.key_installation import (
    SERVICE_USER,
    check_authority,
    directories_of,
    install_keys,
    make_keys,
    table_keys,
)
from meters.setup.places import BROKER_KEYS, DATA, FLOOR_FILE, MADE_KEYS, REDIS_KEYS, SYSTEM, below

INSTALL_PAGE: Final = "deploy/docs/run/install.md"
BY_HAND_PAGE: Final = "deploy/docs/run/install-by-hand.md"
_KEYS: Final = {REDIS: REDIS_KEYS, BROKER: BROKER_KEYS}
_EXAMPLE_SITE: Final = "{$PITLINK_SITE:pit.example}"
_EXAMPLE_DOCUMENTS: Final = "https://pit.example/docs/"
_WITHIN_S: Final = 600


class Setup:
    """Installation of a floor. `may_write` decides if a file is written; it can ask a person."""

    def __init__(
        self, root: Path, answers: Answers, text: str, may_write: Callable[[FilePlan], bool]
    ) -> None:
        self.answers: Final = answers
        self.files: Final = ConfigFiles(root, may_write)
        self._root = root
        self._text = text

    def write_files(self) -> Floor:
        """Write the floor file, the keys and the files of the servers. Return the floor.

        Raises:
            UserError: the floor file or the keys do not fit, or a file cannot be written.
        """
        check_authority(self._root)
        plan = self.files.plan(WantedFile(FLOOR_FILE, self._text))
        kept = plan.before if plan.state is FileState.FOREIGN else plan.data
        # If a person wrote the floor file, it must fit before anything is written.
        installed_floor((kept or b"").decode(errors="replace"), str(plan.place))
        self.files.write(plan)
        if (data := read_bytes(plan.place)) is None:
            raise UserError(f"without {plan.place}, nothing else can be installed")
        floor = installed_floor(data.decode(errors="replace"), str(plan.place))
        made = below(self._root, MADE_KEYS)
        changed = make_keys(floor, made)
        print_text(f"{made}  {'made ' + ', '.join(changed) if changed else 'unchanged'}")
        install_keys(self._root, directories_of(made, ()))
        for wanted in _server_files(self.answers):
            self.files.write(self.files.plan(wanted))
        return floor

    def start_units(self) -> None:
        """Start the servers, the services and the timers.

        A server is restarted only if its files have changed since its last start by this command.

        Raises:
            UserError: a unit did not start.
        """
        started = self.files.record.servers
        for server in SERVERS:
            paths = [one.path for one in _server_files(self.answers) if one.server == server]
            places = [below(self._root, path) for path in paths]
            if server in _KEYS:
                places += sorted(below(self._root, _KEYS[server]).glob("*"))
            now = digest_of(places)
            if started.get(server) == now:
                units.start([server])
                continue
            print_text(f"starting {server}")
            units.restart(server)
            started[server] = now
            self.files.save_record()
        print_text("starting the services and the timers")
        units.start([*units.SERVICES, *units.TIMERS])


def _server_files(answers: Answers) -> Sequence[WantedFile]:
    site = f"{{$PITLINK_SITE:{', '.join(answers.hosts)}}}"
    caddy = read_piece("Caddyfile").replace(_EXAMPLE_SITE, site)
    documents = f"https://{answers.hosts[0]}/docs/"
    names = ("prometheus.yml", "alerts.yml", "services.yml", "tables.yml")
    return [
        WantedFile(Path("/etc/redis/redis.conf"), read_piece("redis.conf"), REDIS),
        WantedFile(Path("/etc/mosquitto/mosquitto.conf"), read_piece("mosquitto.conf"), BROKER),
        WantedFile(Path("/etc/caddy/Caddyfile"), caddy, PROXY),
        *(
            WantedFile(
                Path("/etc/prometheus", name),
                read_piece(f"prometheus/{name}").replace(_EXAMPLE_DOCUMENTS, documents),
                MONITORING,
                is_example=name == "tables.yml",
            )
            for name in names
        ),
    ]


def next_steps(floor: Floor, answers: Answers) -> Sequence[str]:
    """Return lines that tell how to start the agent of each table."""
    tables = [(link.id, table.id) for link in floor.link for table in link.table]
    if answers.machines == "one":
        command = f"systemctl enable --now pitlink-table@{tables[0][1]}"
        several = (
            f"If several agents run on this machine, each needs its own port ({INSTALL_PAGE})."
        )
        return [f"Start the agent of each table, such as: {command}. {several}"]
    return [
        f"Table {table}: install pitlink on its machine. Copy"
        f" {MADE_KEYS / 'tables' / f'{link}.{table}'} and {FLOOR_FILE} there, and nothing else."
        f" There, run: pitlink setup --table {table} --keys {link}.{table} --floor"
        f" {FLOOR_FILE.name}"
        for link, table in tables
    ]


def install_table(root: Path, table: str, keys: Path, floor_file: Path) -> None:
    """Install the floor file and the keys of a table, and start its agent.

    Raises:
        UserError: the floor file or the keys do not belong to this table, or a person changed the
            floor file on this machine.
    """
    text = read_floor_text(floor_file)
    floor = installed_floor(text, str(floor_file), of_table=True)
    found = floor.find_table(table)
    if found is None:
        known = [each.id for link in floor.link for each in link.table]
        raise UserError(f"{floor_file}: there is no table {table}{nearest(table, known)}")
    link, _ = found
    _check_bundle(keys, table_identity(link.id, table).username)
    files = ConfigFiles(root, lambda _: True)
    plan = files.plan(WantedFile(FLOOR_FILE, text))
    if plan.state is FileState.FOREIGN:
        raise UserError(
            f"{plan.place} was written or changed by a person, and differs from {floor_file}: move"
            " it away, or copy the new file there yourself"
        )
    if plan.state is FileState.DONE:
        files.remember(plan)
    else:
        files.put(plan)
    install_keys(root, [table_keys(keys, link.id, table)])
    unit = f"pitlink-table@{table}"
    if root != SYSTEM or not units.systemd_runs():
        print_text(f"The agent was not started. With systemd: systemctl enable --now {unit}")
        return
    units.restart(unit)
    print_text(f"The address of the panel: journalctl -u {unit} -o cat | grep Panel")


def _check_bundle(keys: Path, username: str) -> None:
    data = read_bytes(keys / "table.crt")
    if data is None or not all((keys / name).is_file() for name in (AUTHORITY_FILE, "table.key")):
        raise UserError(
            f"{keys} has no keys of a table, or not all of them: copy the directory that"
            " `pitlink setup` named on the machine of the services"
        )
    try:
        subject = x509.load_pem_x509_certificate(data).subject.rfc4514_string()
    except ValueError:
        raise UserError(f"{keys / 'table.crt'} is not a certificate: copy it again") from None
    if subject != f"CN={username}":
        found = subject.removeprefix("CN=")
        raise UserError(
            f"the keys in {keys} are for {found}, not {username}: copy the directory of {username}"
        )


class _User(msgspec.Struct, frozen=True):
    name: str
    role: str
    enabled: bool


def add_administrator(name: str, pin: str) -> str:
    """Add an administrator unless an enabled one exists. Return a message."""
    listed = _run("user", "list", "--json", "--config", str(FLOOR_FILE))
    if listed.returncode == 0:
        for user in msgspec.json.decode(listed.stdout, type=list[_User]):
            if user.role == "administrator" and user.enabled:
                return f"there is an administrator already, {user.name}: nobody is added"
    done = _run(
        "user", "add", name, "--role", "administrator", "--config", str(FLOOR_FILE), pin=pin
    )
    if done.returncode != 0:
        raise UserError(done.stderr.strip().removeprefix("pitlink: "))
    return done.stdout.strip()


def approve_floor(name: str, pin: str, *, answer: str) -> tuple[bool, str]:
    """Run `pitlink approve` with a PIN and an answer. Return its success, and its output."""
    command = ("approve", "--by", name, "--config", str(FLOOR_FILE))
    done = _run(*command, pin=f"{pin}\n{answer}")
    return done.returncode == 0, f"{done.stdout}{done.stderr}"


def waits_for_approval() -> bool:
    return NOT_APPROVED in _run("check", "--config", str(FLOOR_FILE)).stdout


def run_check() -> bool:
    done = _run("check", "--config", str(FLOOR_FILE))
    print_text(f"{done.stdout}{done.stderr}".rstrip())
    return done.returncode == 0


def typed(*words: str) -> str:
    """Return a `pitlink` command for the services' system user, as root types it."""
    return " ".join(["runuser", "-u", SERVICE_USER, "--", "pitlink", *words])


def _run(*arguments: str, pin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run `pitlink` as the services' system user. A PIN goes to its standard input.

    The command never has root's terminal: with the terminal, the services' system user could type
    commands as root, read what root types, and control what root sees.
    """
    try:
        return subprocess.run(
            [str(Path(sys.executable).with_name("pitlink")), *arguments],
            input=f"{pin or ''}\n",
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_WITHIN_S,
            user=SERVICE_USER,
            group=SERVICE_USER,
            extra_groups=[],
            cwd=DATA,
            env={**os.environ, "HOME": str(DATA)},
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise UserError(
            f"{typed(arguments[0])} did not end within {_WITHIN_S} s: look at the services' log"
        ) from None
