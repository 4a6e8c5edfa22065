"""The steps of `pitlink setup`, in their order. A repeated run continues after an interruption."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.floor.floor_file import Floor
from meters.process.printing import print_text
from meters.process.private_files import read_bytes
from meters.setup import units
from meters.setup.answers import Answers
from meters.setup.file_installer import FileInstaller
from meters.setup.file_states import FilePlan, FileState
from meters.setup.floor_text import installed_floor
from meters.setup.key_installation import directories_of, install_keys
from meters.setup.key_making import check_authority, make_keys
from meters.setup.places import BROKER_KEYS, FLOOR_FILE, MADE_KEYS, RECORD, REDIS_KEYS, below
from meters.setup.record import SetupRecord, digest
from meters.setup.wanted_files import BROKER, REDIS, SERVERS, WantedFile, server_files

INSTALL_PAGE: Final = "deploy/docs/run/install.md"
_KEYS: Final = {REDIS: REDIS_KEYS, BROKER: BROKER_KEYS}


@dataclass(frozen=True, slots=True)
class Setup:
    """Installation of one floor in a file system.

    `may_write` shows a file and asks the person if it may be written.
    """

    root: Path
    answers: Answers
    text: str
    may_write: Callable[[FilePlan], bool]

    def write_files(self) -> Floor:
        """Write the floor file, the keys and the files of the servers. Return the floor.

        Raises:
            UserError: the floor file or the keys on this machine do not fit, or a file cannot be
                written.
        """
        check_authority(self.root)
        files = FileInstaller(self.root, self.may_write)
        plan = files.plan(WantedFile(FLOOR_FILE, self.text))
        kept = plan.before if plan.state is FileState.FOREIGN else plan.data
        # A floor file of a person must fit before anything is written.
        installed_floor((kept or b"").decode(errors="replace"), str(plan.place))
        files.write(plan)
        floor = self._floor(plan)
        self._make_keys(floor)
        for wanted in server_files(self.answers):
            files.write(files.plan(wanted))
        return floor

    def record(self) -> SetupRecord:
        return SetupRecord.read(below(self.root, RECORD))

    def save(self, record: SetupRecord) -> None:
        record.write(below(self.root, RECORD))

    def start_units(self) -> None:
        """Start the servers, the services and the timers.

        A server restarts only if its files differ from those of its last start by this command.

        Raises:
            UserError: a unit did not start.
        """
        record = self.record()
        for server in SERVERS:
            now = self._digest(server)
            if record.servers.get(server) == now:
                units.start([server])
                continue
            print_text(f"starting {server}")
            units.restart(server)
            record.servers[server] = now
            self.save(record)
        print_text("starting the services and the timers")
        units.start([*units.SERVICES, *units.TIMERS])

    def _floor(self, plan: FilePlan) -> Floor:
        data = read_bytes(plan.place)
        if data is None:
            raise UserError(f"without {plan.place}, nothing else can be installed")
        return installed_floor(data.decode(errors="replace"), str(plan.place))

    def _make_keys(self, floor: Floor) -> None:
        made = below(self.root, MADE_KEYS)
        changed = make_keys(floor, made)
        print_text(f"{made}  {'made ' + ', '.join(changed) if changed else 'unchanged'}")
        for one in install_keys(self.root, directories_of(made, ())):
            print_text(f"{one.place}  {one.act}")

    def _digest(self, server: str) -> str:
        paths = [one.path for one in server_files(self.answers) if one.server == server]
        places = [below(self.root, path) for path in paths]
        if server in _KEYS:
            places += sorted(below(self.root, _KEYS[server]).glob("*"))
        return digest(b"".join(digest(read_bytes(place) or b"").encode() for place in places))


def next_steps(floor: Floor, answers: Answers) -> Sequence[str]:
    """Return lines that say how to start the agent of each table."""
    tables = [(link.id, table.id) for link in floor.link for table in link.table]
    if answers.machines == "one":
        command = f"systemctl enable --now pitlink-table@{tables[0][1]}"
        several = f"If several run on this machine, each needs its own port ({INSTALL_PAGE})."
        return [f"Start the agent of each table: {command}. {several}"]
    return [
        f"Table {table}: install pitlink on its machine. Copy"
        f" {MADE_KEYS / 'tables' / f'{link}.{table}'} and {FLOOR_FILE} there, and nothing else."
        f" There, run: pitlink setup --table {table} --keys {link}.{table} --floor"
        f" {FLOOR_FILE.name}"
        for link, table in tables
    ]
